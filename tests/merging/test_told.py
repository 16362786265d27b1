"""What merging tells, to the word, and its odd corners: mutations of them had survived."""

from __future__ import annotations

import pytest

from streamkit import (
    Accumulator,
    ChatCompletionChunk,
    Choice,
    ChoiceAccumulator,
    CompletionChoice,
    InvalidChunk,
    LimitExceeded,
    Limits,
    Rule,
    to_dict,
)
from streamkit._json import MAX_DEPTH

from . import accumulate, chunk, codes, deltas, entries, message, outcome_of, texts


def calls(*fragments):
    """Return one chunk for each fragment of a tool call."""
    return deltas(*({"tool_calls": [fragment]} for fragment in fragments))


def nested(depth):
    value = 1
    for _ in range(depth):
        value = {"a": value}
    return value


WHOLE = {"id": "a", "function": {"name": "f", "arguments": "{}"}}

# The chunks, of which the last is the one told of; the code, and the message.
TOLD = [
    (["odd"], "bad_chunk", "expected an object, got 'odd' @ $"),
    ([{"type": "odd"}], "not_a_chunk", "no choices, no usage: {'type': 'odd'} @ $"),
    ([{"choices": "odd"}], "bad_type", "got 'odd' @ $.choices"),
    ([chunk("odd")], "bad_choice", "got 'odd' @ $.choices[0]"),
    ([chunk({"index": -1})], "index_range", "the index is -1 @ $.choices[0]"),
    ([chunk(x=nested(1000))], "too_deep", "nested too deep to be merged @ $"),
    ([chunk(object="chat.completion")], "already_final", "a whole response was passed through"),
    (deltas("odd"), "bad_type", "expected an object, got 'odd' @ $..delta"),
    (entries({"message": "odd"}), "bad_type", "expected an object, got 'odd' @ $..message"),
    (deltas({"function_call": {"arguments": {"a": 1}}}),
     "arguments_encoded", "arguments came as {'a': 1}"),
    (calls({"custom": {"input": 5}}), "arguments_encoded", "input came as 5"),
    (calls(WHOLE, WHOLE), "arguments_repeated", "of call 'a'"),
    (calls({"index": 7, **WHOLE}, {"index": 7, **WHOLE, "id": "b"}),
     "index_reused", "another call under index 7"),
    (calls({"index": 0, "id": "a"}, {"index": 0, "id": "b"}),
     "tool_call_id_changed", "from 'a' to 'b'"),
    (calls("odd"), "bad_type", "expected an object, got 'odd' @ $..tool_calls[0]"),
    (calls({"index": -1, "id": "a"}), "index_range", "the index is -1 @ $..tool_calls[0]"),
    (texts({"logprobs": {"tokens": ["a"], "token_logprobs": [0, 0]}}),
     "logprobs_uneven", "2 token_logprobs for 1 tokens"),
    (texts({"logprobs": {"tokens": ["a", "b"], "text_offset": [1, 0]}}),
     "text_offset_order", "text_offset goes backwards"),
    (deltas({"audio": {"data": 5}}), "bad_type", "expected str, got 5 @ $..audio.data"),
]  # fmt: skip


@pytest.mark.parametrize(("chunks", "code", "told"), TOLD)
def test_an_issue(chunks, code, told):
    """Its message, with the path of what was left out, its chunk, and where that starts."""
    accumulator = Accumulator()
    for number, each in enumerate(chunks, 3):
        accumulator.add_plain(each, event=number, offset=10 * number)
    (issue,) = accumulator.issues
    assert (issue.code, issue.message, issue.event) == (code, told, number)
    assert issue.offset == 10 * number


@pytest.mark.parametrize(("chunks", "code", "told"), TOLD)
def test_a_refusal_in_strict_mode(chunks, code, told):
    """The message is the issue's, and the path is there by itself."""
    text, at, path = told.partition(" @ ")
    if at:
        with pytest.raises(InvalidChunk) as caught:
            accumulate(chunks, strict=True)
        assert caught.value.path == path
        assert caught.value.errors == (told,)
        assert str(caught.value).startswith(f"{code}: {text} @ {path}")


@pytest.mark.parametrize(
    ("chunks", "told"),
    [
        ([], [("empty_stream", "there is no usable chunk")]),
        (
            deltas({"content": "\ud83d"}),
            [
                ("lone_surrogate", "half a surrogate pair became U+FFFD"),
                ("finish_missing", "no finish reason for choice 0"),
                ("done_missing", "the recording has no [DONE]"),
            ],
        ),
    ],
    ids=["nothing", "cut"],
)
def test_issues_of_the_end(chunks, told):
    """They are of the stream as a whole."""
    issues = accumulate(chunks).finish(done=False).issues
    assert [(issue.code, issue.message) for issue in issues] == told
    assert {(issue.event, issue.offset) for issue in issues} == {(None, None)}


# -- The chunk -----------------------------------------------------------------------


def test_values_are_decided_by_rules_before_defaults():
    """What says nothing, and zero, give way to the default; no key comes twice or is lost."""
    rules = {"id": Rule.LAST}
    chunks = [{"id": 0, "created": "", "model": 0, "choices": [{"text": "a"}]}]
    assert to_dict(accumulate(chunks, rules=rules).snapshot()) == {
        "id": "",
        "object": "text_completion",
        "created": 0,
        "model": "",
        "choices": [{"index": 0, "text": "a", "finish_reason": None, "logprobs": None}],
    }


def test_fields_beside_an_error():
    """Those of an error alone are the error's; those of a chunk that has one are the chunk's."""
    error = {"error": {"message": "m"}, "type": "error", "x": 1}
    response = outcome_of([*deltas({"content": "a"}), error]).response
    assert response.extra == {}
    response = outcome_of([*deltas({"content": "a"}), {**error, "choices": []}]).response
    assert response.extra == {"type": "error", "x": 1}


def test_an_error_behind_a_beginning():
    """Empty fields have begun no response; a field that says something has."""
    error = {"error": {"message": "m"}}
    assert outcome_of([{"id": "", "choices": []}, error]).response is None
    assert outcome_of([{"id": "a", "choices": []}, error]).response.id == "a"


def test_what_is_no_choice_does_not_hide_the_next():
    """It is left out alone."""
    for odd in ("odd", {"index": -1}):
        accumulator = accumulate([chunk(odd, {"index": 0, "delta": {"content": "a"}})])
        assert accumulator.snapshot().choices[0].message.content == "a"


@pytest.mark.parametrize("field", ["x", "choices.x", "choices.delta.x", "usage"])
def test_half_a_pair_in_a_callers_field(field):
    """Whatever the level, it is U+FFFD and an issue."""
    value = "\ud83d"
    fields = {"x": value, "usage": value, "delta": {"x": value}}
    accumulator = accumulate([chunk({"index": 0, **fields}, x=value)], rules={field: Rule.CONCAT})
    assert "\\ufffd" in ascii(accumulator.snapshot())
    assert "lone_surrogate" in codes(accumulator.finish())


def test_a_snapshot_does_not_forget_a_half():
    """One that was replaced for good is told of, however often the response was read."""
    accumulator = accumulate([chunk(x="\ud83d")])
    accumulator.snapshot()
    assert "lone_surrogate" in codes(accumulator.finish())


def test_a_snapshot_of_a_half_is_no_issue_yet():
    """Its other half may come."""
    accumulator = accumulate(deltas({"content": "\ud83d"}))
    accumulator.snapshot()
    accumulator.add(*deltas({"content": "\ude00"}))
    assert "lone_surrogate" not in codes(accumulator.finish())


class Foreign:
    """An object of a caller's own, with a `value` that is not streamkit's to call."""

    def value(self):
        raise AssertionError("not ours")


def test_an_object_with_a_value_of_its_own_is_kept():
    """Whatever it is, nothing of it is called."""
    foreign = Foreign()
    each = {"x": foreign, "y": [foreign]}
    response = accumulate([chunk({"index": 0, "delta": each, **each}, **each)]).snapshot()
    (answer,) = response.choices
    assert response.extra == answer.extra == answer.message.extra == each


# -- Runs of alike chunks ------------------------------------------------------------


def counted(monkeypatch, chunks, **options):
    """Return how many of *chunks* were merged by the rules, and the accumulator."""
    merged = []
    add_plain = Accumulator.add_plain
    monkeypatch.setattr(
        Accumulator,
        "add_plain",
        lambda self, payload, **more: merged.append(payload) or add_plain(self, payload, **more),
    )
    accumulator = accumulate(chunks, **options)
    return len(merged), accumulator


def test_alike_chunks_go_the_short_way(monkeypatch):
    """After a few that are alike, no rule is looked up for each field again."""
    merged, accumulator = counted(monkeypatch, deltas(*[{"content": "a"}] * 50))
    assert merged < 10
    assert accumulator.snapshot().choices[0].message.content == "a" * 50


@pytest.mark.parametrize(
    ("chunks", "options", "told"),
    [
        (deltas(*[{"content": "a", "refusal": 5}] * 20), {}, {"bad_type": 20}),
        (deltas(*({"content": "a" * count} for count in range(20))), {"cumulative": True}, {}),
        ([ChatCompletionChunk(choices=[])] * 20, {}, {}),
    ],
    ids=["an issue each", "cumulative", "no dict"],
)
def test_chunks_that_the_rules_have_to_look_at(monkeypatch, chunks, options, told):
    """There is no short way for what repairs, replaces, or is no dict."""
    merged, accumulator = counted(monkeypatch, chunks, **options)
    assert merged == 20
    assert accumulator.context.log.counts == told


def test_a_bound_is_crossed_by_one():
    """As many chunks as it says are merged, the short way and the long."""
    for chunks in (deltas(*[{"content": "a"}] * 20), texts(*({"x": n} for n in range(20)))):
        assert accumulate(chunks, limits=Limits(chunks=20)).chunks == 20
        with pytest.raises(LimitExceeded):
            accumulate(chunks, limits=Limits(chunks=19))


# -- The choice ----------------------------------------------------------------------


def test_a_choice_within_a_stream_can_be_fed_and_read_by_itself():
    """It knows its rules and its kind, chat where the stream has not told."""
    for chunks, kind in (
        ([chunk({"index": 0})], Choice),
        ([{"choices": [{"index": 0}]}], Choice),
        (texts({"text": ""}), CompletionChoice),
    ):
        each = accumulate(chunks, rules={"choices.x": Rule.CONCAT}).choices[0]
        for piece in ("a", "b"):
            each.add({"x": piece})
        assert type(each.snapshot()) is kind
        assert each.snapshot().extra == {"x": "ab"}


def test_a_choice_alone_tells():
    """The same words as a stream's, and the number of the entry."""
    alone = ChoiceAccumulator()
    for entry in ({}, {}, {"x": nested(1000)}):
        alone.add(entry)
    (issue,) = alone.issues
    assert (issue.code, issue.message) == ("too_deep", "nested too deep to be merged @ $")
    assert issue.event == 2
    with pytest.raises(TypeError, match=r"^choice must be a mapping or a model, not int$"):
        alone.add(5)


def test_a_choice_alone_keeps_as_many_issues_as_it_may():
    """The bound is its limits'."""
    alone = ChoiceAccumulator(limits=Limits(issues=2))
    for _ in range(5):
        alone.add({"delta": "odd"})
    assert len(alone.issues) == 2


def test_a_choice_fed_alone_is_noticed():
    """By whoever reads the stream around it, each time."""
    accumulator = accumulate(deltas({"content": "a"}))
    for count in (1, 2):
        accumulator.choices[0].add({"delta": {"content": "b"}})
        assert accumulator.context.fed_alone == count


def test_half_a_pair_in_a_choice_alone():
    """It shows as U+FFFD, in any of its fields."""
    alone = ChoiceAccumulator(kind="completion", rules={"choices.x": Rule.CONCAT})
    alone.add({"x": "\ud83d", "text": "\ud83d", "delta": {"reasoning": "\ud83d"}})
    assert alone.snapshot().text == "\ufffd"
    assert alone.snapshot().extra == {"x": "\ufffd", "reasoning": "\ufffd"}


# -- Cells ---------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [dict, lambda **fields: {"tool_calls": [fields]}])
def test_objects_merge_as_deep_as_they_may_be(wrap):
    """And no deeper: what is merged can be written."""
    assert codes(accumulate(deltas(wrap(id="a", x=nested(MAX_DEPTH))))) == []
    assert codes(accumulate(deltas(wrap(id="a", x=nested(MAX_DEPTH + 1))))) == ["too_deep"]


@pytest.mark.parametrize("index", [[], {}, 99_999, -1, "0"], ids=repr)
def test_reasoning_under_what_is_no_index(index):
    """Each entry is one of its own."""
    chunks = deltas(*({"reasoning_details": [{"index": index, "text": each}]} for each in "ab"))
    details = message(chunks, limits=Limits())["reasoning_details"]
    assert [each["text"] for each in details] == ["a", "b"]


def test_half_a_pair_in_reasoning():
    """It is U+FFFD, and told."""
    outcome = outcome_of(deltas({"reasoning_details": [{"index": 0, "text": "a\ud83d"}]}))
    assert codes(outcome)[0] == "lone_surrogate"
