"""Tests of one choice: what deltas, `message` and `text` become, and `ChoiceAccumulator`."""

from __future__ import annotations

import pytest

from streamkit import (
    Accumulator,
    ChatCompletionChunk,
    Choice,
    ChoiceAccumulator,
    ChoiceDelta,
    ChunkChoice,
    CompletionChoice,
    InvalidChunk,
    LimitExceeded,
    Limits,
    Rule,
    from_dict,
    rebuild,
    to_dict,
    to_json,
)

from . import (
    Dumped,
    accumulate,
    choice,
    codes,
    deltas,
    entries,
    final,
    message,
    sse,
    texts,
)


# -- Chat: the message ---------------------------------------------------------------


CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("each", "expected"),
    [
        ([{}], {"role": "assistant"}),
        ([{"delta": None}], {"role": "assistant"}),
        ([{"delta": {"role": "tool"}}], {"role": "tool"}),
        ([{"delta": {"content": ""}}], {"role": "assistant", "content": ""}),
        (
            [{"delta": {"content": "a"}}, {"finish_reason": "stop"}, {"delta": {"content": "b"}}],
            {"role": "assistant", "content": "ab"},
        ),
        # `message` without any delta is the whole message.
        (
            [{"message": {"role": "assistant", "content": "Hi", "x": 1}}],
            {"role": "assistant", "content": "Hi", "x": 1},
        ),
        (
            [{"message": {"content": None, "tool_calls": [{**CALL, "index": 0}, "odd"]}}],
            {"role": "assistant", "tool_calls": [CALL, "odd"]},
        ),
        ([{"message": {"tool_calls": []}}], {"role": "assistant"}),
        ([{"message": {"tool_calls": "odd"}}], {"role": "assistant", "tool_calls": "odd"}),
        # Beside a delta it fills only what no delta carried.
        (
            [
                {"delta": {"content": "He"}, "message": {"content": "He"}},
                {"delta": {"content": "llo"}, "message": {"content": "Hello", "x": 1}},
            ],
            {"role": "assistant", "content": "Hello", "x": 1},
        ),
        (
            [{"delta": {"content": ""}}, {"message": {"content": "Hi"}}],
            {"role": "assistant", "content": "Hi"},
        ),
        (
            [{"delta": {"content": ""}}, {"message": {"content": ""}}],
            {"role": "assistant", "content": ""},
        ),
        (
            [{"delta": {"tool_calls": [CALL]}, "message": {"tool_calls": [CALL, CALL]}}],
            {"role": "assistant", "tool_calls": [CALL]},
        ),
        ([{"message": {"x": []}}], {"role": "assistant", "x": []}),
        # `text` on a chat choice is used only if no content came.
        ([{"text": "a"}, {"text": "b"}], {"role": "assistant", "content": "ab"}),
        (
            [{"text": "a", "delta": {"content": "a"}}, {"text": "b", "delta": {"content": "b"}}],
            {"role": "assistant", "content": "ab"},
        ),
        ([{"text": "a", "delta": {"content": ""}}], {"role": "assistant", "content": "a"}),
        ([{"text": "a", "message": {"content": "b"}}], {"role": "assistant", "content": "b"}),
    ],
    ids=str,
)
def test_the_message_of_a_chat(each, expected):
    """Deltas first, then what `message` fills, then `text`, then the role's default."""
    assert message(entries({}, *each)) == expected


def test_text_leaves_no_trace_in_a_chat():
    """`text` became the content, or said the same: it is no field of a chat choice."""
    assert "text" not in choice(entries({"text": "a", "delta": {"content": "a"}}))


# -- Completion: the text ------------------------------------------------------------


@pytest.mark.parametrize(
    ("each", "expected"),
    [
        ([{"text": "a"}, {"text": None}, {}, {"text": "b"}], {"text": "ab"}),
        ([{}], {"text": ""}),
        ([{"text": ""}], {"text": ""}),
        (
            [{"text": "a", "delta": {"content": "a"}}, {"text": "b", "delta": {"content": "b"}}],
            {"text": "ab"},
        ),
        ([{"delta": {"role": "assistant", "content": "a"}}], {"text": "a"}),
        ([{"delta": {"content": [{"type": "text", "text": "a"}]}}], {"text": ""}),
        ([{"message": {"content": "a"}}], {"text": "a"}),
        ([{"delta": {"content": "a", "reasoning": "b", "x": ""}}], {"text": "a", "reasoning": "b"}),
        (
            [{"stop": "kept", "delta": {"content": "a", "stop": "other"}}],
            {"text": "a", "stop": "kept"},
        ),
        ([{"text": "a", "delta": {"reasoning": "b"}}], {"text": "a", "reasoning": "b"}),
        ([{"delta": {"content": "a", "piece_id": "b"}}], {"text": "a"}),
    ],
    ids=str,
)
def test_the_text_of_a_completion(each, expected):
    """`text` first; `delta.content` only if it never came, then other fields with it."""
    assert choice(texts(*each), kind="completion") == {"index": 0, **expected}


@pytest.mark.parametrize("make", [entries, texts], ids=["chat", "completion"])
def test_finish_reason_and_logprobs_are_always_present(make):
    """A cut stream has null, never an invented value."""
    answer = final(make({"text": "a"}))["choices"][0]
    assert answer["finish_reason"] is None
    assert answer["logprobs"] is None


# -- Wrong types ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["delta", "message"])
@pytest.mark.parametrize("value", ["odd", 5, [], True], ids=repr)
def test_a_delta_or_message_of_another_type_is_refused(name, value):
    """The choice's other fields are used; strict mode raises with the path."""
    chunks = entries({"delta": {"content": "a"}}, {name: value, "finish_reason": "stop"})
    accumulator = accumulate(chunks)
    assert codes(accumulator) == ["bad_type"]
    (answer,) = accumulator.snapshot().choices
    assert (answer.message.content, answer.finish_reason) == ("a", "stop")
    with pytest.raises(InvalidChunk) as caught:
        accumulate(chunks, strict=True)
    assert caught.value.path == f"$..{name}"


# -- Runs of alike chunks ------------------------------------------------------------


RUNS = {
    "content": deltas(*[{"content": "a"}] * 20),
    "an unknown string": deltas(*[{"x": "a", "content": "b"}] * 20),
    "a string after parts": deltas(
        {"content": [{"type": "text", "text": "a"}]}, *[{"content": "b"}] * 20
    ),
    "text": texts(*[{"text": "a"}] * 20),
    "text and token": texts(*[{"text": "a", "token": 5}] * 20),
    "a token first of another type": texts(
        {"text": "a", "tokens": "odd"}, *[{"text": "a", "token": 5}] * 20
    ),
    "text and delta": entries(*[{"text": "a", "delta": {"content": "b"}}] * 20),
    "arguments": deltas(*[{"tool_calls": [{"index": 0, "function": {"arguments": "x"}}]}] * 20),
    "log probabilities": entries(
        *[{"logprobs": {"content": [{"token": "a", "logprob": -1, "bytes": [97]}]}}] * 20
    ),
    "no log probabilities": entries(*[{"logprobs": None, "delta": {"content": "a"}}] * 20),
    "the legacy call": deltas(*[{"function_call": {"arguments": "x"}}] * 20),
    "finish and go on": [
        *deltas(*[{"content": "a"}] * 9),
        *entries(*[{"delta": {"content": "b"}, "finish_reason": "stop"}] * 9),
        *deltas(*[{"content": "c"}] * 9),
    ],
}


@pytest.mark.parametrize("chunks", RUNS.values(), ids=RUNS)
def test_runs_of_alike_chunks(chunks):
    """As bytes, as dicts, or merged one by one by the rules: the same response."""
    slowly = Accumulator()
    for chunk in chunks:
        slowly.add_plain(chunk)
    expected = to_json(slowly.finish().response)
    assert to_json(rebuild(sse(chunks)).response) == expected
    assert to_json(accumulate(chunks).snapshot()) == expected


RULED = {
    "choices.delta.x": Rule.CONTENT,
    "choices.delta.tool_calls": Rule.CONCAT,
    "choices.logprobs": Rule.LAST,
    "choices.token": Rule.LAST,
    "choices.delta.content": Rule.LAST,
}


@pytest.mark.parametrize("chunks", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("path", RULED)
def test_runs_under_a_callers_rule(path, chunks):
    """The same under other rules."""
    rules = {path: RULED[path]}
    slowly = Accumulator(rules=rules)
    for chunk in chunks:
        slowly.add_plain(chunk)
    expected = to_json(slowly.finish().response)
    assert to_json(rebuild(sse(chunks), rules=rules).response) == expected
    assert to_json(accumulate(chunks, rules=rules).snapshot()) == expected


@pytest.mark.parametrize(
    ("entry", "read"),
    [
        ({"text": "a"}, lambda alone: alone.text_at(("text",), {})),
        ({"delta": {"content": "a"}}, lambda alone: alone.text_at(("delta", "content"), {})),
    ],
    ids=["text", "content"],
)
def test_the_text_that_a_string_is_appended_to(entry, read):
    """None before the first string came, then the same text for good."""
    alone = ChoiceAccumulator()
    assert read(alone) is None
    alone.add(entry)
    assert read(alone).so_far() == "a"
    alone.add(entry)
    assert read(alone).so_far() == "aa"


def test_there_is_no_text_where_parts_or_calls_are_missing():
    """Parts have no one text, and arguments belong to a call under that index."""
    alone = ChoiceAccumulator()
    path = ("delta", "tool_calls", 0, "function", "arguments")
    chunk = entries({"delta": {"tool_calls": [{"index": 0}]}})[0]
    assert alone.text_at(path, chunk) is None
    alone.add({"delta": {"content": [], "tool_calls": [{"index": 1, "id": "a"}], "x": 5}})
    assert alone.text_at(("delta", "content"), {}) is None
    assert alone.text_at(("delta", "x"), {}) is None
    assert alone.text_at(path, chunk) is None
    alone.add({"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "a"}}]}})
    assert alone.text_at(path, chunk).so_far() == "a"


def test_the_lists_that_grow():
    """Numbers and log probabilities, once the first came."""
    alone = ChoiceAccumulator(kind="completion")
    assert alone.numbers_at("token") is None
    assert alone.logprobs is None
    alone.add({"token": 5, "logprobs": {"content": [1]}})
    assert alone.numbers_at("token") == [5]
    odd = ChoiceAccumulator(kind="completion", rules={"choices.tokens": Rule.LAST})
    odd.add({"tokens": "odd"})
    assert odd.numbers_at("token") is None
    assert alone.logprobs.count == 1


# -- ChoiceAccumulator ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "cls"),
    [("chat", Choice), ("completion", CompletionChoice)],
    ids=["chat", "completion"],
)
def test_a_choice_alone_is_of_its_kind(kind, cls):
    """Before anything came it is an empty choice with its index."""
    alone = ChoiceAccumulator(3, kind=kind)
    assert type(alone.snapshot()) is cls
    assert alone.snapshot().index == alone.index == 3
    assert alone.finish_reason is None
    assert alone.issues == ()


def test_a_choice_alone_merges_like_one_of_a_stream():
    """The same entries give the same choice, alone or within an `Accumulator`."""
    each = [
        {"index": 0, "delta": {"role": "assistant", "content": "a"}, "logprobs": None},
        {"index": 0, "delta": {"content": "b", "tool_calls": [{**CALL, "index": 0}]}},
        {"index": 0, "delta": {}, "finish_reason": "stop", "x": [1]},
    ]
    alone = ChoiceAccumulator()
    for entry in each:
        alone.add(entry)
    assert alone.snapshot() == accumulate(entries(*each)).snapshot().choices[0]
    assert alone.finish_reason == "stop"


def test_a_choice_alone_takes_models_and_dumps():
    """Entries may be streamkit's models or anything with `model_dump()`."""
    alone = ChoiceAccumulator()
    alone.add(ChunkChoice(delta=ChoiceDelta(content="a")))
    alone.add(Dumped({"delta": {"content": "b"}}))
    alone.add(from_dict({"choices": [{"delta": {"content": "c"}}]}).choices[0])
    assert alone.snapshot().message.content == "abc"


@pytest.mark.parametrize("entry", [None, "a", 5, [], Dumped([])], ids=repr)
def test_what_is_no_choice_is_a_type_error(entry):
    """Only mappings and models are choices."""
    with pytest.raises(TypeError, match="choice must be a mapping or a model"):
        ChoiceAccumulator().add(entry)


@pytest.mark.parametrize("kind", ["Chat", "", "responses", 5], ids=repr)
def test_an_unknown_kind_is_a_type_error(kind):
    """There are two kinds."""
    with pytest.raises(TypeError, match="kind must be 'chat' or 'completion'"):
        ChoiceAccumulator(kind=kind)


def test_a_choice_alone_counts_its_entries():
    """Issues say in which entry, counted from 0, something was noticed."""
    alone = ChoiceAccumulator()
    alone.add({"delta": {"role": "assistant"}})
    alone.add({"delta": {"role": "tool"}})
    (issue,) = alone.issues
    assert (issue.code, issue.event) == ("role_changed", 1)


def test_a_strict_choice_raises():
    """Strict mode raises where a value would be left out."""
    with pytest.raises(InvalidChunk) as caught:
        ChoiceAccumulator(strict=True).add({"delta": {"content": 5}})
    assert caught.value.path == "$..content"


def test_a_choice_alone_is_bounded():
    """Its limits hold, and what came stays readable."""
    alone = ChoiceAccumulator(limits=Limits(text=3))
    alone.add({"delta": {"content": "abc"}})
    with pytest.raises(LimitExceeded):
        alone.add({"delta": {"content": "d"}})
    assert alone.snapshot().message.content.startswith("abc")


def test_a_cumulative_choice():
    """Opt-in: each piece repeats all before it."""
    alone = ChoiceAccumulator(cumulative=True)
    for piece in ("He", "Hello"):
        alone.add({"delta": {"content": piece}})
    assert alone.snapshot().message.content == "Hello"


def test_entries_are_neither_changed_nor_kept():
    """Changing an entry afterwards changes nothing in the choice."""
    entry = {"delta": {"content": "a", "x": [1]}, "y": {"z": [1]}, "message": {"m": [1]}}
    alone = ChoiceAccumulator()
    alone.add(entry)
    assert entry == {"delta": {"content": "a", "x": [1]}, "y": {"z": [1]}, "message": {"m": [1]}}
    before = to_json(alone.snapshot())
    entry["delta"]["x"].append(2)
    entry["y"]["z"].append(2)
    entry["message"]["m"].append(2)
    assert to_json(alone.snapshot()) == before


def test_a_snapshot_of_a_choice_does_not_change():
    """It is of its time, and changing its dict changes nothing."""
    alone = ChoiceAccumulator()
    alone.add({"delta": {"content": "a", "x": [1]}})
    snapshot = alone.snapshot()
    before = to_json(snapshot)
    to_dict(snapshot)["message"]["x"].append("spoiled")
    alone.add({"delta": {"content": "b", "x": [2]}})
    assert to_json(snapshot) == before
    assert alone.snapshot().message.extra == {"x": [1, 2]}


def test_a_chunk_model_without_choices_is_a_chunk():
    """A model that says nothing about choices adds none."""
    accumulator = accumulate([ChatCompletionChunk(id="chatcmpl-1", choices=None), *deltas({})])
    assert list(accumulator.choices) == [0]


def test_a_choice_nested_too_deep_is_refused():
    """As a chunk that is; what came before it stays."""
    value = []
    for _ in range(100_000):
        value = [value]
    choice = ChoiceAccumulator()
    choice.add({"delta": {"content": "a"}})
    choice.add({"x": value})
    assert [issue.code for issue in choice._context.log.issues] == ["too_deep"]
    assert choice.snapshot().message.content == "a"
