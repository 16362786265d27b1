"""Tests of `Accumulator`: choices by index, limits, issues, errors, snapshots, properties."""

from __future__ import annotations

import ast
import copy
import json

from pathlib import Path
from types import MappingProxyType

import pytest

from hypothesis import given, settings
from hypothesis import strategies as st

from streamkit import (
    ISSUES,
    Accumulator,
    ChatCompletion,
    Completion,
    InputRefused,
    InvalidChunk,
    LimitExceeded,
    Limits,
    Rule,
    StreamkitError,
    UpstreamError,
    _merge,
    from_dict,
    rebuild,
    to_dict,
    to_json,
)
from streamkit._kinds import dict_entries, is_chunk, kind_of
from streamkit._rules import CHUNK, DELTA

from . import (
    COMPLETION_HEAD,
    HEAD,
    Dumped,
    accumulate,
    chunk,
    codes,
    deltas,
    entries,
    final,
    outcome_of,
    sse,
    texts,
    without_nulls,
)
from .strategies import (
    alike_chunks,
    chat_lanes,
    completion_lanes,
    hostile_chunks,
    interleaved,
    json_values,
    streams,
)


STOP = chunk({"index": 0, "delta": {}, "finish_reason": "stop"})


# -- What is a chunk, and of which kind ----------------------------------------------


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"choices": []}, True),
        ({"choices": None}, True),
        ({"usage": {}}, True),
        ({"usage": {}, "type": "message_delta"}, False),
        ({"error": {}}, True),
        ({"error": None}, False),
        ({"object": "chat.completion.chunk"}, True),
        ({"object": "text_completion"}, True),
        ({"object": "response"}, False),
        ({"object": 5}, False),
        ({"type": "keepalive"}, False),
        ({}, False),
    ],
    ids=str,
)
def test_what_is_a_chunk(payload, expected):
    """Choices, usage, an error, or an object's name make a chunk."""
    assert is_chunk(payload) is expected


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ({"object": "chat.completion.chunk", "choices": [{"text": "a"}]}, "chat"),
        ({"object": "chat.completion"}, "chat"),
        ({"object": "text_completion", "choices": [{"delta": {}}]}, "chat"),
        ({"object": "text_completion", "choices": [{"delta": None, "message": {}}]}, "chat"),
        ({"object": "text_completion", "choices": [{"text": "a", "delta": {}}]}, "completion"),
        ({"object": "text_completion", "choices": []}, "completion"),
        ({"object": "text_completion"}, "completion"),
        ({"choices": [{"text": "", "delta": {}}]}, "completion"),
        ({"choices": [{"text": None, "delta": {}}]}, "chat"),
        ({"choices": [{"message": {}}]}, "chat"),
        ({"choices": [{"delta": None, "message": {}}]}, "chat"),
        ({"choices": [{"index": 0}]}, None),
        ({"choices": ["odd", {"text": "a"}]}, "completion"),
        ({"choices": "odd"}, None),
        ({"object": None, "usage": {}}, None),
        ({"object": 5}, None),
    ],
    ids=str,
)
def test_the_first_chunk_that_tells_decides_the_kind(first, expected):
    """`object` naming chat, else text, else delta or message, else `object`."""
    assert kind_of(first) == expected
    accumulator = accumulate([{"choices": []}, {**first, "usage": {"x": 1}}])
    assert accumulator.kind == expected
    cls = Completion if expected == "completion" else ChatCompletion
    assert type(accumulator.snapshot()) is cls


def test_a_kind_once_decided_stays():
    """Later chunks do not change it, nor does what the caller said."""
    assert accumulate([*texts({"text": "a"}), *deltas({"content": "b"})]).kind == "completion"
    assert accumulate(texts({"text": "a"}), kind="chat").kind == "chat"


@pytest.mark.parametrize(
    ("value", "expected"),
    [([{"a": 1}, "odd", None, {}], [{"a": 1}, {}]), ("odd", []), (None, []), ({"a": {}}, [])],
    ids=str,
)
def test_the_objects_in_a_list(value, expected):
    """Whatever is no object in a list is left out; what is no list has none."""
    assert dict_entries(value) == expected


# -- Choices -------------------------------------------------------------------------


def contents(chunks, **options):
    response = accumulate(chunks, **options).snapshot()
    return {each.index: each.message.content for each in response.choices}


def say(index, content):
    return {"index": index, "delta": {"content": content}}


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([chunk(say(0, "a")), chunk(say(1, "x")), chunk(say(0, "b"))], {0: "ab", 1: "x"}),
        ([chunk(say(0, "a"), say(1, "x")), chunk(say(1, "y"), say(0, "b"))], {0: "ab", 1: "xy"}),
        ([chunk(say(2, "c")), chunk(say(0, "a"))], {0: "a", 2: "c"}),
        ([chunk(say(None, "a"), say(None, "b"))], {0: "a", 1: "b"}),
        ([chunk({"delta": {"content": "a"}}), chunk(say(0, "b"))], {0: "ab"}),
        ([chunk(say(1, "b"), {"delta": {"content": "c"}})], {1: "bc"}),
        ([chunk(say(0, "a"), say(0, "b"))], {0: "ab"}),
        ([{**HEAD, "choices": None}, chunk(say(0, "a"))], {0: "a"}),
        ([HEAD, chunk(say(0, "a"))], {0: "a"}),
    ],
    ids=[
        "interleaved",
        "one chunk",
        "gap",
        "no index",
        "missing",
        "position",
        "twice",
        "null",
        "no",
    ],
)
def test_index_is_identity(chunks, expected):
    """Choices are told apart by index, else by position in that chunk; output is sorted."""
    assert contents(chunks) == expected
    assert list(contents(chunks)) == sorted(expected)


def test_choices_so_far_are_a_read_only_mapping():
    """In order of arrival, by index; each is its own accumulator."""
    accumulator = accumulate([chunk(say(1, "b")), chunk(say(0, "a"))])
    assert type(accumulator.choices) is MappingProxyType
    assert list(accumulator.choices) == [1, 0]
    assert accumulator.choices[1].snapshot().message.content == "b"


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        (say(-1, "x"), "index_range"),
        (say(True, "x"), "index_range"),
        (say(0.0, "x"), "index_range"),
        (say("0", "x"), "index_range"),
        (say([], "x"), "index_range"),
        (say(65_536, "x"), "index_range"),
        ("odd", "bad_choice"),
        (None, "bad_choice"),
        ([], "bad_choice"),
    ],
    ids=repr,
)
def test_what_is_no_choice_is_refused(entry, code):
    """It is left out with an issue and its path; strict mode raises."""
    chunks = [chunk(say(0, "a")), chunk(say(1, "b"), entry)]
    accumulator = accumulate(chunks)
    (issue,) = accumulator.issues
    assert (issue.code, issue.event) == (code, 1)
    assert contents(chunks) == {0: "a", 1: "b"}
    with pytest.raises(InvalidChunk) as caught:
        accumulate(chunks, strict=True)
    assert caught.value.path == "$.choices[1]"
    assert [each.message.content for each in caught.value.partial.choices] == ["a", "b"]


@pytest.mark.parametrize("value", ["odd", 5, {"index": 0}], ids=repr)
def test_choices_of_another_type_are_refused(value):
    """The chunk's other fields are used."""
    accumulator = accumulate([{**HEAD, "choices": value}])
    assert codes(accumulator) == ["bad_type"]
    assert accumulator.snapshot().id == HEAD["id"]
    with pytest.raises(InvalidChunk) as caught:
        accumulate([{**HEAD, "choices": value}], strict=True)
    assert caught.value.path == "$.choices"


# -- Usage in odd places -------------------------------------------------------------


ONE, TWO = {"total_tokens": 1}, {"total_tokens": 2}


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([chunk({"index": 0, "usage": ONE})], ONE),
        ([chunk({"index": 0, "usage": ONE}), chunk({"index": 1, "usage": TWO})], TWO),
        ([chunk({"index": 0, "usage": None})], None),
        ([chunk({"index": 0, "usage": {}})], None),
        ([chunk({"index": 0, "usage": ONE}), chunk(usage=TWO)], TWO),
        ([chunk(usage=ONE), chunk({"index": 0, "usage": TWO})], ONE),
        ([chunk(x_groq={"id": "a", "usage": ONE})], ONE),
        ([chunk(x_groq={"usage": ONE}), chunk({"index": 0, "usage": TWO})], TWO),
        ([chunk(x_groq={"usage": {}})], None),
        ([chunk(x_groq={"usage": None})], None),
        ([chunk(x_groq="odd")], None),
    ],
    ids=str,
)
def test_usage_is_the_responses_else_a_choices_else_groqs(chunks, expected):
    """A choice's usage is lifted, and not left in the choice."""
    response = final(chunks)
    assert response.get("usage") == expected
    assert all("usage" not in each for each in response["choices"])


# -- What is no chunk ----------------------------------------------------------------


@pytest.mark.parametrize("payload", [None, {"type": "ping"}, {"type": "keepalive"}], ids=repr)
def test_signs_of_life_are_skipped(payload):
    """They are no chunks and no issues, in strict mode neither."""
    accumulator = accumulate([payload, STOP, payload], strict=True)
    assert codes(accumulator) == []
    assert accumulator.finish().chunks == 1


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ("odd", "bad_chunk"),
        (5, "bad_chunk"),
        ([STOP], "bad_chunk"),
        (Dumped([]), "bad_chunk"),
        ({}, "not_a_chunk"),
        ({"type": "response.created"}, "not_a_chunk"),
        ({"error": None}, "not_a_chunk"),
        ({"type": ["odd"]}, "not_a_chunk"),
    ],
    ids=repr,
)
def test_what_is_no_chunk_is_refused(payload, code):
    """It does not count as a chunk; strict mode raises."""
    outcome = outcome_of([payload, STOP])
    assert codes(outcome) == [code]
    assert (outcome.issues[0].event, outcome.chunks, outcome.complete) == (0, 1, True)
    with pytest.raises(InvalidChunk) as caught:
        accumulate([STOP, payload], strict=True)
    assert caught.value.path == "$"
    assert caught.value.partial.choices[0].finish_reason == "stop"


# -- Errors --------------------------------------------------------------------------


ERROR = {"error": {"message": "overloaded", "code": 503}}


@pytest.mark.parametrize(
    "failing",
    [
        ERROR,
        {**HEAD, **ERROR, "choices": []},
        {**HEAD, **ERROR, "choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]},
        {"error": "overloaded"},
    ],
    ids=["alone", "empty choices", "a choice", "text"],
)
def test_an_error_ends_the_stream(failing):
    """The text so far is kept, the outcome is not complete, and the error is the server's."""
    outcome = outcome_of([chunk(say(0, "a")), STOP, failing])
    assert outcome.complete is False
    assert type(outcome.error) is UpstreamError
    assert outcome.error.payload == failing["error"]
    assert outcome.error.body == failing
    assert "overloaded" in str(outcome.error)
    assert outcome.response.choices[0].message.content == "a"
    assert "error" not in to_dict(outcome.response)


def test_an_error_raises_in_strict_mode():
    """With the response so far, its own chunk included; further chunks are refused."""
    accumulator = accumulate([chunk(say(0, "a"))], strict=True)
    with pytest.raises(UpstreamError) as caught:
        accumulator.add({**HEAD, **ERROR, "choices": [say(0, "b")]})
    assert caught.value.partial.choices[0].message.content == "ab"
    assert accumulator.has_failed
    with pytest.raises(InputRefused, match="overloaded"):
        accumulator.add(STOP)
    assert accumulator.finish().error is caught.value


def test_the_first_of_several_errors_counts():
    """What came first ended it; chunks after it are still merged."""
    accumulator = accumulate([ERROR, {"error": "again"}, chunk(say(0, "a"))])
    assert accumulator.error.payload == ERROR["error"]
    assert accumulator.snapshot().choices[0].message.content == "a"


def test_an_error_alone_is_no_response():
    """No response was ever begun, so none is returned."""
    outcome = outcome_of([ERROR])
    assert outcome.response is None
    assert codes(outcome) == ["empty_stream"]
    assert type(outcome.error) is UpstreamError


def test_an_error_of_null_is_none():
    """Some servers send it on every chunk."""
    outcome = outcome_of([{**STOP, "error": None}], strict=True)
    assert (outcome.error, outcome.complete) == (None, True)
    assert "error" not in to_dict(outcome.response)


def test_an_error_is_not_the_callers():
    """Changing the chunk afterwards does not change the error."""
    failing = copy.deepcopy(ERROR)
    outcome = outcome_of([failing])
    failing["error"]["message"] = "spoiled"
    assert outcome.error.payload == ERROR["error"]


# -- Limits --------------------------------------------------------------------------


CALL = {"index": 1, "id": "b", "function": {"name": "f"}}


@pytest.mark.parametrize(
    ("limits", "chunks", "value"),
    [
        ({"chunks": 1}, [chunk(say(0, "a")), STOP], 2),
        ({"text": 3}, deltas({"content": "ab"}, {"reasoning": "cd"}), 4),
        ({"text": 3}, texts({"text": "ab"}, {"text": "cd"}), 4),
        ({"choices": 1}, [chunk(say(0, "a")), chunk(say(1, "b"))], 2),
        (
            {"tool_calls": 1},
            deltas({"content": "ab", "tool_calls": [{**CALL, "index": 0}]}, {"tool_calls": [CALL]}),
            2,
        ),
        (
            {"logprobs": 1},
            entries(
                {"delta": {"content": "ab"}},
                {"logprobs": {"content": [{"token": "a", "logprob": -1}] * 2}},
            ),
            2,
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("strict", [False, True])
def test_limits_are_sticky_and_leave_what_came_readable(limits, chunks, value, strict):
    """Crossing one raises; the response so far stays, and further chunks are refused."""
    accumulator = accumulate(chunks[:1], limits=Limits(**limits), strict=strict)
    with pytest.raises(LimitExceeded) as caught:
        accumulator.add_plain(chunks[1], offset=40)
    assert (caught.value.limit, caught.value.value) == (next(iter(limits)), value)
    assert caught.value.offset == 40
    first = accumulator.snapshot().choices[0]
    assert (getattr(first, "text", None) or first.message.content).startswith("a")
    assert caught.value.partial == accumulator.snapshot()
    with pytest.raises(InputRefused):
        accumulator.add(chunks[0])
    outcome = accumulator.finish(done=True)
    assert outcome.error is caught.value
    assert outcome.complete is False
    assert outcome.response == accumulator.snapshot()


@pytest.mark.parametrize("name", ["chunks", "text", "choices", "index", "tool_calls", "logprobs"])
def test_a_limit_can_be_switched_off(name):
    """None is no bound."""
    logprobs = {"index": 0, "logprobs": {"content": [1]}}
    chunks = [*deltas({"content": "a", "tool_calls": [CALL]}), chunk(logprobs), STOP]
    chunks += [chunk(say(70_000, "b"))] if name == "index" else []
    assert codes(accumulate(chunks, limits=Limits(**{name: None}))) == []


def test_the_index_limit_refuses_the_entry_only():
    """An index beyond it is an issue, not the end of the stream."""
    chunks = [chunk(say(6, "x"), say(5, "a"))]
    assert contents(chunks, limits=Limits(index=5)) == {5: "a"}


def test_issues_are_bounded_and_counted():
    """The first are kept; the count goes on."""
    outcome = outcome_of(["odd"] * 5, limits=Limits(issues=2))
    assert codes(outcome) == ["bad_chunk", "bad_chunk"]
    assert outcome.issue_counts == {"bad_chunk": 5, "empty_stream": 1}


# -- Nesting -------------------------------------------------------------------------


def nested(depth, wrap):
    value = "deep"
    for _ in range(depth):
        value = wrap(value)
    return value


@pytest.mark.parametrize("wrap", [lambda it: {"a": it}, lambda it: [it]], ids=["object", "list"])
def test_nesting_too_deep_is_an_issue(wrap):
    """The recursion limit is never met by the caller; later chunks are merged."""
    deep = chunk(x=nested(100_000, wrap))
    accumulator = accumulate([chunk(say(0, "a")), deep])
    assert codes(accumulator) == ["too_deep"]
    assert not accumulator.has_failed


def test_nesting_too_deep_raises_in_strict_mode():
    """As `InvalidChunk`, after which chunks are refused."""
    accumulator = accumulate([chunk(say(0, "a"))], strict=True)
    with pytest.raises(InvalidChunk, match="too_deep") as caught:
        accumulator.add(deltas({"x": nested(100_000, lambda it: [it])})[0])
    assert caught.value.partial.choices[0].message.content == "a"
    with pytest.raises(InputRefused):
        accumulator.add(STOP)


@pytest.mark.parametrize("wrap", [lambda it: {"a": it}, lambda it: [it]], ids=["object", "list"])
def test_what_could_be_merged_can_be_read(wrap):
    """`snapshot` never raises, and what it returns can be written, however deep it is."""
    for depth in range(100, 1100, 50):
        accumulator = accumulate([chunk(say(0, "a"), x=nested(depth, wrap))])
        assert to_json(accumulator.snapshot())


# -- The outcome ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chunks", "done", "cut", "complete", "issues"),
    [
        ([STOP], None, False, True, []),
        ([STOP], True, False, True, []),
        ([STOP], False, False, True, ["done_missing"]),
        ([STOP], True, True, False, []),
        ([STOP], None, True, False, []),
        ([chunk(say(0, "a"))], None, False, False, ["finish_missing"]),
        ([chunk(say(0, "a"))], True, False, True, ["finish_missing"]),
        ([chunk(say(0, "a"))], False, False, False, ["finish_missing", "done_missing"]),
        ([STOP, chunk(say(1, "a"))], None, False, False, ["finish_missing"]),
        ([chunk(usage=ONE)], None, False, False, []),
        ([chunk(usage=ONE)], True, False, True, []),
        ([], None, False, False, ["empty_stream"]),
        ([], True, False, False, ["empty_stream"]),
        ([], False, False, False, ["empty_stream"]),
        ([STOP, ERROR], True, False, False, []),
    ],
)
def test_completeness(chunks, done, cut, complete, issues):
    """Complete: no error, nothing cut, and `[DONE]` or a finish reason for every choice."""
    outcome = accumulate(chunks).finish(done=done, cut=cut)
    assert (outcome.complete, outcome.done) == (complete, done)
    assert codes(outcome) == issues
    assert outcome.issue_counts == dict.fromkeys(issues, 1)


def test_unfinished_choices_are_named():
    """The first ten of them, in order."""
    outcome = outcome_of([chunk(say(number, "a")) for number in range(12, 0, -1)])
    assert (
        outcome.issues[0].message
        == f"no finish reason for choice {', '.join(map(str, range(1, 11)))}"
    )


def test_finishing_ends_it():
    """The outcome is made once; afterwards chunks are refused, and nothing changes."""
    accumulator = accumulate([STOP])
    assert accumulator.has_finished
    outcome = accumulator.finish()
    assert accumulator.finish(done=False) is outcome
    assert accumulator.has_failed
    with pytest.raises(InputRefused, match=r": the stream has finished$"):
        accumulator.add(STOP)
    assert outcome.error is None
    assert outcome.response == accumulator.snapshot()


def test_has_finished_wants_choices():
    """No choice at all is no finished stream."""
    assert not accumulate([]).has_finished
    assert not accumulate([chunk(usage=ONE)]).has_finished
    assert not accumulate([chunk(say(0, "a"))]).has_finished


def test_before_the_first_chunk_there_is_no_response():
    """Pings and odd payloads begin nothing."""
    assert Accumulator().snapshot() is None
    assert accumulate(["odd", {"type": "ping"}]).snapshot() is None


def test_a_whole_response_is_passed_through():
    """A body that is not streamed comes out as it was, with an issue."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "model-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hi", "refusal": None},
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
        "usage": {"total_tokens": 3},
    }
    outcome = outcome_of([body])
    assert to_dict(outcome.response) == body
    assert codes(outcome) == ["already_final"]


def test_strict_is_known():
    """Whether what cannot be used raises."""
    assert Accumulator(strict=True).is_strict
    assert not Accumulator().is_strict


# -- Half surrogates -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("chunks", "expected", "issues"),
    [
        (deltas({"content": "\ud83d"}, {"content": "\ude00"}), "\U0001f600", []),
        (deltas({"content": "a\ud83d"}), "a\ufffd", ["lone_surrogate"]),
        (deltas({"content": "\ude00a"}), "\ufffda", ["lone_surrogate"]),
    ],
    ids=["pair", "end", "start"],
)
def test_half_surrogates(chunks, expected, issues):
    """A pair over two chunks is one character; an unpaired half is U+FFFD and an issue."""
    outcome = outcome_of([*chunks, STOP])
    assert outcome.response.choices[0].message.content == expected
    assert codes(outcome) == issues


# -- Cumulative senders --------------------------------------------------------------


@pytest.mark.parametrize(
    ("chunks", "read"),
    [
        (deltas({"content": "He"}, {"content": "Hello"}), lambda it: it.message.content),
        (texts({"text": "He"}, {"text": "Hello"}), lambda it: it.text),
        (
            deltas(
                {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "He"}}]},
                {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "Hello"}}]},
            ),
            lambda it: it.message.tool_calls[0].function.arguments,
        ),
    ],
    ids=["chat", "completion", "arguments"],
)
def test_cumulative(chunks, read):
    """Opt-in only: without it every piece is new text."""
    assert read(accumulate(chunks, cumulative=True).snapshot().choices[0]) == "Hello"
    assert read(accumulate(chunks).snapshot().choices[0]) == "HeHello"


# -- The catalogue of codes ----------------------------------------------------------


def detail(**fields):
    return deltas({"role": "assistant"}, fields)


EMITTED = {
    "bad_type": deltas({"content": 5}),
    "bad_choice": [chunk("odd")],
    "bad_chunk": ["odd"],
    "index_range": [chunk(say(-1, "a"))],
    "not_a_chunk": [{"type": "odd"}],
    "too_deep": [chunk(x=nested(100_000, lambda it: [it]))],
    "id_changed": [chunk(), chunk(id="chatcmpl-2")],
    "model_changed": [chunk(), chunk(model="model-2")],
    "role_changed": detail(role="tool"),
    "value_changed": [chunk(x="a"), chunk(x="b")],
    "arguments_encoded": deltas({"function_call": {"arguments": {}}}),
    "arguments_repeated": deltas(
        *[{"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}] * 2
    ),
    "index_reused": deltas(
        *({"tool_calls": [{"index": 0, "id": id, "function": {"name": "f"}}]} for id in "ab")
    ),
    "tool_call_id_changed": deltas(
        *({"tool_calls": [{"index": 0, "id": id, "function": {}}]} for id in "ab")
    ),
    "logprobs_uneven": texts({"logprobs": {"tokens": ["a", "b"], "token_logprobs": [-1]}}),
    "text_offset_order": texts({"logprobs": {"tokens": ["a", "b"], "text_offset": [1, 0]}}),
    "lone_surrogate": deltas({"content": "\ud83d"}),
    "already_final": [chunk(object="chat.completion")],
    "empty_stream": [],
    "finish_missing": deltas({"content": "a"}),
    # These need a framing, or several streams.
    "done_missing": sse([STOP], done=False),
    "several_streams": sse([STOP]) + sse([{**STOP, "id": "chatcmpl-2"}]),
    "data_after_done": sse([STOP]) + sse([STOP]),
}


@pytest.mark.parametrize(("code", "source"), EMITTED.items(), ids=EMITTED)
def test_every_code_is_emitted(code, source):
    """Each code of the merging half comes up for what the catalogue says."""
    rules = {"x": Rule.LAST_REPORTED}
    outcome = rebuild if isinstance(source, bytes) else outcome_of
    emitted = codes(outcome(source, rules=rules))
    assert code in emitted
    assert set(emitted) <= ISSUES.keys()


def codes_in(source):
    """Return the first arguments of the calls in *source* that report an issue."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        first = node.args[0]
        if name in {"issue", "refuse", "_refuse", "add", "Issue"} and isinstance(
            first, ast.Constant
        ):
            yield first.value


def test_the_table_above_has_every_code_of_the_merging_half():
    """A code that is new in the source needs a case here, and a row in the catalogue."""
    package = Path(_merge.__file__).parent
    rooms = (
        *("accumulator", "cells", "choice", "logprobs", "merge", "rebuild", "state"),
        *("streams", "tools"),
    )
    source = "\n".join((package / f"_{room}.py").read_text("utf-8") for room in rooms)
    reported = {Rule.FIRST_REPORTED, Rule.LAST_REPORTED}
    changes = {
        f"{name}_changed"
        for table in (CHUNK, DELTA)
        for name, rule in table.fields.items()
        if rule in reported
    }
    assert {*codes_in(source), *changes} == EMITTED.keys()
    assert EMITTED.keys() <= ISSUES.keys()


# -- The caller's data ---------------------------------------------------------------


def spoil(value):
    """Change every container in *value*."""
    if isinstance(value, dict):
        for item in [*value.values()]:
            spoil(item)
        value.clear()
    elif isinstance(value, list):
        for item in [*value]:
            spoil(item)
        value.append("spoiled")


class Mapped(dict):
    """A dict of another library: what `json.loads(object_pairs_hook=…)` may make."""


def test_dicts_of_another_class_are_copied_as_well():
    """Nothing of the caller's is kept, whatever class of dict it is."""
    inner = Mapped(a=[1])
    accumulator = accumulate([chunk(x=[inner])])
    before = to_json(accumulator.snapshot())
    inner["a"].append(2)
    assert to_json(accumulator.snapshot()) == before


@pytest.mark.parametrize("wrap", [Mapped, MappingProxyType], ids=lambda it: it.__name__)
def test_choices_may_be_any_mapping(wrap):
    """A chunk may be any mapping, and so may what is in it."""
    assert contents([chunk(wrap({"index": 0, "delta": wrap({"content": "a"})}))]) == {0: "a"}


def test_events_can_be_numbered_by_the_caller():
    """A reader of bytes knows better which event a chunk came from, and where."""
    accumulator = Accumulator()
    accumulator.add_plain("odd", event=7, offset=100)
    accumulator.add_plain("odd")
    assert [(issue.event, issue.offset) for issue in accumulator.issues] == [(7, 100), (8, None)]


# -- Properties ----------------------------------------------------------------------


def run(chunks, **options):
    return to_json(accumulate(chunks, **options).finish().response)


@pytest.mark.parametrize(
    ("lanes", "head"),
    [(chat_lanes(), HEAD), (completion_lanes(), COMPLETION_HEAD)],
    ids=["chat", "completion"],
)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_any_interleaving_gives_the_same_response(lanes, head, data):
    """Choices may mix in any order that keeps each one's own."""
    drawn = data.draw(lanes)
    in_order = [{**head, "choices": [entry]} for lane in drawn for entry in lane]
    mixed = [{**head, "choices": [entry]} for entry in data.draw(interleaved(drawn))]
    together = [{**head, "choices": data.draw(interleaved(drawn))}]
    assert run(in_order) == run(mixed) == run(together)


def outcome_slowly(chunks, **options):
    """Return the outcome of *chunks*, each merged by the rules."""
    accumulator = Accumulator(**options)
    for plain in chunks:
        accumulator.add_plain(plain)
    return accumulator.finish()


HELLO = chunk({**say(0, "a"), "finish_reason": None})
WITHOUT = {name: value for name, value in HELLO.items() if name != "created"}


@pytest.mark.parametrize(
    "last",
    [
        {**HELLO, "usage": ONE},
        {**HELLO, "created": 5},
        {**HELLO, "created": "odd"},
        {**HELLO, "model": "other"},
        {**HELLO, "choices": []},
        {**HELLO, "choices": ["odd"]},
        chunk({**say(0, "b"), "finish_reason": "stop"}),
        chunk({**say(0, "b"), "finish_reason": None, "x": "kept"}),
        chunk({**say(1, "b"), "finish_reason": None}),
        chunk({**say(True, "b"), "finish_reason": None}),
        chunk({**say(None, "b"), "finish_reason": None}),
        chunk({"index": 0, "delta": {"x": "kept"}, "finish_reason": None}),
        chunk({"index": 0, "delta": {"content": 5}, "finish_reason": None}),
        chunk({"index": 0, "delta": None, "finish_reason": None}),
        chunk({"index": 0, "delta": {}, "finish_reason": None}),
        {**WITHOUT, "usage": ONE},
        chunk({"delta": {"content": "b"}, "finish_reason": None, "x": "kept"}),
    ],
    ids=str,
)
def test_a_chunk_that_is_nearly_like_those_before(last):
    """What differs from a run of alike chunks is not overlooked."""
    chunks = [HELLO] * 5 + [last, HELLO]
    assert outcome_of(chunks) == outcome_slowly(chunks)


@pytest.mark.parametrize("delta", ["", 0, False, []], ids=repr)
def test_an_empty_delta_of_another_type_after_empty_deltas(delta):
    """It is refused like any other, and strict mode raises."""
    chunks = [*deltas({"content": "a"}, {}, {}), chunk({"index": 0, "delta": delta})]
    assert outcome_of(chunks) == outcome_slowly(chunks)


@settings(deadline=None, max_examples=200)
@given(alike_chunks())
def test_alike_chunks_are_merged_as_if_one_by_one(chunks):
    """The short way for chunks that repeat gives what the rules give, issues included."""
    assert outcome_of(chunks) == outcome_slowly(chunks)


@settings(deadline=None, max_examples=200)
@given(alike_chunks())
def test_alike_events_are_merged_as_if_one_by_one(chunks):
    """The same for bytes."""
    outcome = rebuild(sse(chunks, done=False))
    expected = outcome_slowly(chunks)
    assert outcome.response == expected.response
    assert [each for each in codes(outcome) if each != "done_missing"] == codes(expected)


@pytest.mark.parametrize("form", [sse, list], ids=["bytes", "dicts"])
def test_a_long_run_is_counted(form):
    """Chunks that go the short way count, and later issues have the right event."""
    chunks = [*deltas({"role": "assistant"}), *deltas(*[{"content": "a"}] * 300), chunk("odd")]
    outcome = rebuild(form(chunks))
    assert outcome.chunks == 302
    assert next(each.event for each in outcome.issues if each.code == "bad_choice") == 301
    assert accumulate(chunks).chunks == 302


def test_a_run_that_crosses_a_limit_stops_at_the_right_chunk():
    """In the middle of alike chunks, text and chunks are counted one by one."""
    chunks = deltas(*[{"content": "ab"}] * 20)
    for limits in (Limits(text=21), Limits(chunks=10)):
        accumulator = accumulate([], limits=limits)
        with pytest.raises(LimitExceeded):
            for plain in chunks:
                accumulator.add(plain)
        outcome = accumulator.finish()
        assert outcome.chunks == 11
        assert outcome.response.choices[0].message.content.startswith("ab" * 10)
        slowly = Accumulator(limits=limits)
        with pytest.raises(LimitExceeded):
            for plain in chunks:
                slowly.add_plain(plain)
        assert slowly.finish().response == outcome.response


@settings(deadline=None, max_examples=80)
@given(streams())
def test_chunks_are_neither_changed_nor_kept(chunks):
    """Adding changes no chunk; changing chunks afterwards changes no response."""
    before, chunks = chunks, copy.deepcopy(chunks)
    accumulator = accumulate(chunks)
    assert chunks == before
    response = to_json(accumulator.snapshot())
    spoil(chunks)
    assert to_json(accumulator.snapshot()) == response
    spoil(to_dict(accumulator.snapshot()))
    assert to_json(accumulator.finish().response) == response


@settings(deadline=None, max_examples=80)
@given(streams(), st.lists(st.booleans(), min_size=60, max_size=60))
def test_snapshots_never_change_and_never_matter(chunks, reads):
    """Each is of its time; the last equals the final response; taking them changes nothing."""
    accumulator = Accumulator()
    taken = []
    for plain, read in zip(chunks, reads, strict=False):
        accumulator.add(plain)
        if read:
            snapshot = accumulator.snapshot()
            taken.append((snapshot, to_json(snapshot)))
    for plain in chunks[len(reads) :]:
        accumulator.add(plain)
    last = accumulator.snapshot()
    assert last == accumulator.finish().response
    assert all(to_json(snapshot) == text for snapshot, text in taken)
    assert to_json(last) == run(chunks)


@settings(deadline=None, max_examples=60)
@given(streams())
def test_models_dumps_and_dicts_give_the_same_response(chunks):
    """Whatever form the chunks are handed in, the response is the same."""
    models = [from_dict(plain) for plain in chunks if plain["object"] != "text_completion"]
    assert run([Dumped(plain) for plain in chunks]) == run(chunks)
    if models:
        # Models of log probabilities write null for what was left out.
        as_models, as_dicts = json.loads(run(models)), json.loads(run(chunks))
        assert without_nulls(as_models) == without_nulls(as_dicts)


@settings(deadline=None, max_examples=60)
@given(streams())
def test_a_whole_stream_is_accepted_by_strict_mode(chunks):
    """Strict mode raises for no stream that is well-formed, and gives the same response."""
    assert run(chunks, strict=True) == run(chunks)


@settings(deadline=None, max_examples=300)
@given(
    st.lists(hostile_chunks, max_size=5),
    st.booleans(),
    st.sampled_from([None, "chat", "completion"]),
)
def test_any_json_raises_nothing_but_streamkits_errors(payloads, strict, kind):
    """And whatever came, the response so far is readable, encodes, and the chunks are whole."""
    before = repr(payloads)
    accumulator = Accumulator(kind, strict=strict, limits=Limits(text=200, logprobs=5, choices=2))
    try:
        for payload in payloads:
            accumulator.add(payload)
            assert_readable(accumulator.snapshot())
    except StreamkitError as error:
        assert strict or isinstance(error, LimitExceeded)
    assert_readable(accumulator.snapshot())
    outcome = accumulator.finish()
    assert_readable(outcome.response)
    assert set(outcome.issue_counts) <= ISSUES.keys()
    assert repr(payloads) == before


def assert_readable(response):
    if response is not None:
        text = to_json(response)
        assert text.encode()
        assert json.loads(text)["object"] in {"chat.completion", "text_completion"}
        assert repr(response)


@settings(deadline=None, max_examples=150)
@given(st.lists(json_values, max_size=4))
def test_any_json_in_a_fields_place(values):
    """The same where whole fields are arbitrary, under a caller's own rules too."""
    rules = {"x": Rule.EXTEND, "choices.x": Rule.CONCAT, "choices.delta.x": Rule.TOOL_CALLS}
    accumulator = Accumulator(rules=rules)
    for value in values:
        accumulator.add(chunk({"index": 0, "delta": {"x": value}, "x": value}, x=value))
        assert_readable(accumulator.snapshot())
