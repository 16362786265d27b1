"""What merging tells, to the word, and its odd corners: mutations of them had survived."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from streamkit import (
    Accumulator,
    ChatCompletionChunk,
    Choice,
    ChoiceAccumulator,
    CompletionChoice,
    InvalidChunk,
    Issue,
    LimitExceeded,
    Limits,
    Outcome,
    Rule,
    finalize,
    to_dict,
)
from streamkit._issues import IssueLog
from streamkit._json import MAX_DEPTH
from streamkit._logprobs import LISTS_IN_STEP
from streamkit._merge import APPLY, merge_fields
from streamkit._rules import Table
from streamkit._state import Context
from streamkit._tools import Call, ToolCalls

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
    ([{"choices": [], 5: 6}], "bad_type", "a field's name is 5 @ $.."),
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
    (calls({"id": 5, "type": "function"}),
     "bad_type", "expected str, got 5 @ $..tool_calls..id"),
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


class Unreadable(Mapping):
    """A mapping of a caller's own that cannot be read."""

    def __getitem__(self, name):
        return {"index": 0}[name]

    def __iter__(self):
        raise OSError("closed")

    def __len__(self):
        return 1


UNREADABLE = [
    (chunk(x=Unreadable()), "it cannot be read: OSError @ $", OSError),
    (
        Unreadable(),
        "expected an object, got a 'Unreadable' that cannot be read: OSError @ $",
        OSError,
    ),
    (chunk(x=nested(1000)), "nested too deep to be merged @ $", RecursionError),
]


@pytest.mark.parametrize(("odd", "told", "cause"), UNREADABLE)
def test_what_cannot_be_read(odd, told, cause):
    """It is left out, and told; strict mode raises, with what was raised as the cause."""
    accumulator = accumulate([*deltas({"content": "a"}), odd])
    (issue,) = accumulator.issues
    assert issue.code == ("too_deep" if cause is RecursionError else "bad_chunk")
    assert (issue.message, issue.event) == (told, 1)
    with pytest.raises(InvalidChunk) as caught:
        accumulate([odd], strict=True)
    assert type(caught.value.__cause__) is cause
    assert caught.value.path == "$"


def test_a_run_that_was_merged_elsewhere_is_counted():
    """The next chunk has the number behind its last."""
    accumulator = Accumulator()
    accumulator.count_run(3, 7)
    accumulator.add("odd")
    assert (accumulator.chunks, accumulator.issues[0].event) == (3, 8)


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


# -- Rules ---------------------------------------------------------------------------


class ByName(Table):
    """A table that is asked by name alone."""

    def rule_for(self, name, value):
        raise AssertionError(f"{name} has a rule of its own")


def test_what_is_kept_already_is_passed_over(monkeypatch):
    """A null too, and what follows in the same object is merged; no type is looked at."""
    table = ByName(dict.fromkeys("xyz", Rule.LAST), *[Rule.DROP] * 4)
    context, state = Context(IssueLog(), Limits()), {}
    merge_fields(state, {"x": None, "y": "a", "z": 5}, table, context)
    assert state == {"y": "a", "z": 5}
    merge_fields(state, {"y": 5, "z": "a"}, table, context)
    assert state == {"y": 5, "z": "a"}
    monkeypatch.delitem(APPLY, Rule.LAST)
    merge_fields(state, {"y": 5, "z": "a"}, table, context)


@pytest.mark.parametrize(
    ("rule", "values", "expected"),
    [
        (Rule.LAST, [True, 1], 1),
        (Rule.LAST, [1, True], True),
        (Rule.LAST, [1, 1.0], 1.0),
        (Rule.EXTEND, [[1], [1]], [1, 1]),
        (Rule.CONCAT, ["a", "a"], "aa"),
    ],
    ids=str,
)
def test_what_is_equal_and_not_the_same(rule, values, expected):
    """The type counts, and the rule where it adds up."""
    response = accumulate([chunk(x=value) for value in values], rules={"x": rule}).snapshot()
    assert repr(response.extra["x"]) == repr(expected)


def test_rules_that_are_no_mapping():
    """The message shows them."""
    told = r"^rules must be a mapping from path to Rule, not \['x'\]$"
    with pytest.raises(TypeError, match=told):
        Accumulator(rules=["x"])


def test_text_is_no_sequence_of_chunks():
    """The message says what it is."""
    with pytest.raises(TypeError, match=r"^chunks must be an iterable of chunks, not bytes; "):
        finalize(b"")


def test_issues_of_two_halves_are_counted_and_in_order():
    """What belongs to no event comes last; each code is counted over both."""
    own = (Issue("b", "of the merging", 1), Issue("d", "of the end"))
    outcome = Outcome(response=None, complete=False, issues=own, issue_counts={"b": 1, "x": 1})
    both = outcome.among([Issue("a", "first", 0), Issue("c", "later", 2)], {"a": 1, "x": 2}, 3)
    assert [issue.code for issue in both.issues] == ["a", "b", "c"]
    assert both.issue_counts == {"a": 1, "b": 1, "x": 3}
    assert outcome.among([], {}, None).issues == own


def test_a_dump_is_asked_for_json():
    """Enums and dates are as the wire has them, where the dump can do that."""

    class Modes:
        def model_dump(self, *, mode="python"):
            return {"choices": [], "x": mode}

    assert accumulate([Modes()]).snapshot().extra == {"x": "json"}


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


def test_half_a_pair_in_a_transcript():
    """The same."""
    outcome = outcome_of(deltas({"audio": {"transcript": "a\ud83d"}}))
    assert codes(outcome)[0] == "lone_surrogate"


def test_half_a_pair_in_reasoning():
    """It is U+FFFD, and told."""
    outcome = outcome_of(deltas({"reasoning_details": [{"index": 0, "text": "a\ud83d"}]}))
    assert codes(outcome)[0] == "lone_surrogate"


# -- Tool calls ----------------------------------------------------------------------


def test_a_fragment_that_says_nothing_hides_no_other():
    """And is no call, whatever its index."""
    chunks = deltas({"tool_calls": [{"index": 1}, {"index": 0, **WHOLE}, {"index": 2}]})
    assert [each["id"] for each in message(chunks)["tool_calls"]] == ["a"]


def test_calls_are_in_order_of_index():
    """From 0, whichever came first."""
    chunks = calls({"index": 1, **WHOLE, "id": "b"}, {"index": 0, **WHOLE})
    assert [each["id"] for each in message(chunks)["tool_calls"]] == ["a", "b"]


@pytest.mark.parametrize("place", ["function", "custom"])
def test_half_a_pair_in_a_call(place):
    """It is U+FFFD, and told; the arguments are looked at for their end all the same."""
    name = "arguments" if place == "function" else "input"
    pieces = [{"name": "f", name: '{"a":"\ud83d'}, {name: '"}'}, {"name": "f", name: "{}"}]
    accumulator = accumulate(calls(*({"index": 0, place: piece} for piece in pieces)))
    made = to_dict(accumulator.snapshot())["choices"][0]["message"]["tool_calls"]
    assert made[0][place][name].startswith('{"a":"\ufffd"}')
    assert len(made) == (2 if place == "function" else 1)
    assert "lone_surrogate" in codes(accumulator.finish())


def test_arguments_are_followed_piece_by_piece():
    """An escape over two pieces is one, though nobody asked between them."""
    pieces = ['{"a":"\\', '"{"}']
    first = [{"index": 0, "function": {"arguments": piece}} for piece in pieces]
    again = {"index": 0, "function": {"name": "f", "arguments": "{}"}}
    made = message(calls(*first, again))["tool_calls"]
    assert [each["function"]["arguments"] for each in made] == ['{"a":"\\"{"}', "{}"]


def test_calls_that_a_fragment_may_have_changed():
    """The last one, the one under its index, and the one with its id; each once."""
    context, made = Context(IssueLog(), Limits()), ToolCalls()
    made.add([{"index": at, "id": f"call_{at}", "type": "function"} for at in range(4)], context)
    for entry, touched in (
        ("odd", [3]),
        ({"index": []}, [3]),
        ({"id": []}, [3]),
        ({"index": 1}, [3, 1]),
        ({"id": "call_2"}, [3, 2]),
        ({"index": 3, "id": "call_3"}, [3]),
        ({"index": 0, "id": "call_1"}, [3, 0, 1]),
    ):
        assert [call.index for call in made.touched_by([entry])] == touched


def test_a_call_of_which_nothing_came():
    """Its texts are empty, whatever asks for them."""
    call = Call(None)
    assert (call.id, call.type, call.name, call.arguments) == ("", "", "", None)


def test_arguments_under_an_index():
    """None where there is no call, or one without a function."""
    context, made = Context(IssueLog(), Limits()), ToolCalls()
    made.add([{"index": 0, **WHOLE}, {"index": 1, "custom": {"input": "a"}}], context)
    assert made.arguments_at(0).so_far() == "{}"
    assert made.arguments_at(1) is made.arguments_at(2) is None


# -- Log probabilities ---------------------------------------------------------------


def test_an_empty_list_hides_no_other():
    """The columns behind it are extended."""
    rows = [{"tokens": ["a"]}, {"text_offset": [], "tokens": ["b"]}]
    logprobs = accumulate(texts(*({"logprobs": row} for row in rows))).choices[0].logprobs
    assert logprobs.value(Context(IssueLog(), Limits())) == {"tokens": ["a", "b"]}


def test_a_null_among_log_probabilities_is_kept():
    """A list that never came is null, as the server said."""
    for lists in ({"tokens": ["a"]}, {"content": []}):
        logprobs = accumulate(texts({"logprobs": {**lists, "x": None}})).choices[0].logprobs
        assert logprobs.value(Context(IssueLog(), Limits())) == {**lists, "x": None}


def test_what_the_fast_road_asks_of_log_probabilities():
    """Which lists are whole, and whether offsets can follow without an issue."""
    row = {"tokens": ["a"], "text_offset": [5], "token_logprobs": [-1]}
    accumulator = accumulate(texts({"logprobs": row}))
    logprobs = accumulator.choices[0].logprobs
    orders = [[5, 6], [4], [7, 6], [6]]
    assert [logprobs.are_in_order(each) for each in orders] == [True, False, False, True]
    accumulator.add(*texts({"logprobs": {"tokens": ["b"], "token_logprobs": [-1]}}))
    whole = [logprobs.has_whole(name) for name in ("tokens", "text_offset", "x")]
    assert whole == [True, False, False]
    accumulator.add(*texts({"logprobs": {"tokens": ["c"], "text_offset": [None]}}))
    assert logprobs.are_in_order([0])
    accumulator.add(*texts({"logprobs": {"tokens": ["d", "e"], "text_offset": [1, 0]}}))
    assert codes(accumulator) == ["text_offset_order"]
    assert logprobs.are_in_order([0, -1])


def test_a_list_that_comes_late_counts_before_it_is_padded():
    """It is as long as all others; what would cross the bound is not kept."""
    first = {"tokens": ["a"], **{f"x{number}": [number] for number in range(LISTS_IN_STEP - 1)}}
    accumulator = Accumulator(limits=Limits(logprobs=3))
    for row in texts({"logprobs": first}, {"logprobs": first}):
        accumulator.add_plain(row)
    with pytest.raises(LimitExceeded) as caught:
        accumulator.add(*texts({"logprobs": {**first, "late": [1]}}))
    assert caught.value.value == 6
    assert accumulator.choices[0].logprobs.count == 2


def test_lists_on_their_own_are_counted_as_they_grow():
    """Each entry of each, decoded or raw."""
    lists = ({"content": [1]}, {"content": [1], "refusal": [1, 2]})
    logprobs = accumulate(entries(*({"logprobs": each} for each in lists))).choices[0].logprobs
    assert (logprobs.count, logprobs.count_with(2)) == (4, 6)
    for raw, count in ((b"1,2", 2), (b"3", 1)):
        logprobs.extend_raw(raw, count)
    assert logprobs.count == 7
    assert logprobs.value(Context(IssueLog(), Limits()))["content"] == [1, 1, 1, 2, 3]


def test_an_offset_behind_a_gap():
    """It is compared with no offset from before the gap."""
    rows = [{"tokens": ["a"], "text_offset": [5]}, {"tokens": ["a"]}]
    rows += [{"tokens": ["a"], "text_offset": [0]}, {"tokens": ["a"], "text_offset": [1]}]
    assert codes(accumulate(texts(*({"logprobs": row} for row in rows)))) == []
    rows[1] = {"tokens": ["a"], "token_logprobs": [-1]}
    rows.append({"tokens": ["a"], "text_offset": [0], "token_logprobs": [-1]})
    told = codes(accumulate(texts(*({"logprobs": row} for row in rows))))
    assert told == ["text_offset_order"]


def test_entries_of_a_column_are_a_readers_own():
    """Changing what was read changes nothing of what is kept."""
    accumulator = accumulate(texts({"logprobs": {"tokens": ["a"], "top_logprobs": [{"a": -1}]}}))
    accumulator.snapshot().choices[0].logprobs.top_logprobs[0]["a"] = "spoiled"
    assert accumulator.snapshot().choices[0].logprobs.top_logprobs == [{"a": -1}]
