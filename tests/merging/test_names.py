"""Tests of field names that cannot be written as they are: half surrogates, and no strings."""

from __future__ import annotations

import json

import pytest

from streamkit import Accumulator, InvalidChunk, finalize, rebuild, to_dict, to_json

from . import accumulate, chunk, codes, deltas, entries, outcome_of, sse


STOP = chunk({"index": 0, "delta": {}, "finish_reason": "stop"})
HALF, MENDED = "x\ud83d", "x\ufffd"
CALL = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}

NAMED = {
    "a field of the chunk": [chunk(**{HALF: "a"}), chunk(**{HALF: "b"})],
    "a field of the choice": entries({HALF: "a"}, {HALF: "b"}),
    "a field of the delta": deltas({HALF: "a"}, {HALF: "b"}),
    "a key of an object": deltas({"o": {HALF: "a"}}, {"o": {HALF: "b"}}),
    "an object in an object": deltas({"o": {HALF: {"k": "a"}}}, {"o": {HALF: {"k": "b"}}}),
    "an object in a list": deltas({"o": [{HALF: "a"}]}, {"o": [{HALF: "b"}]}),
    "a key of a call": deltas({"tool_calls": [{**CALL, HALF: "a"}]}),
    "an object of a call": deltas({"tool_calls": [{**CALL, HALF: {HALF: "a"}}]}),
    "a key of a function": deltas({"tool_calls": [{**CALL, "function": {"name": "f", HALF: "a"}}]}),
    "a key of a part": deltas({"content": [{"type": "text", "text": "a", HALF: "b"}]}),
    "a key of a message": entries({"delta": None, "message": {HALF: "a"}}),
    "a filter's category": entries({"content_filter_results": {HALF: {"filtered": True}}}),
}


@pytest.mark.parametrize("chunks", NAMED.values(), ids=NAMED)
def test_half_surrogates_in_names(chunks):
    """They become U+FFFD, one name stays one, and the issue says so; from bytes likewise."""
    outcome = outcome_of([*chunks, STOP])
    text = json.dumps(to_dict(outcome.response), ensure_ascii=False)
    assert text.encode().count(MENDED.encode()) >= 1
    assert codes(outcome) == ["lone_surrogate"]
    assert to_json(rebuild(sse([*chunks, STOP])).response) == to_json(outcome.response)


def test_a_field_under_half_a_surrogate_is_one_field():
    """What comes under the same name goes on, as it does under any other."""
    message = finalize(deltas({HALF: "a"}, {HALF: "b"}, {HALF: ""})).choices[0].message
    assert message.extra == {MENDED: "ab"}


@pytest.mark.parametrize("name", ["id", "model"])
def test_the_same_half_again_is_no_change(name):
    """An id, or a model, that was mended is compared as it was mended."""
    chunks = [{**chunk(), name: value} for value in ("a\ud83d", "a\ud83d", "a\ufffd", "b")]
    assert outcome_of(chunks).issue_counts[f"{name}_changed"] == 1


def test_the_same_half_again_in_reasoning_details():
    """An entry goes on under an id that had to be mended."""
    detail = {"type": "t", "index": 0, "id": "\ud83d", "text": "a"}
    message = finalize(deltas(*[{"reasoning_details": [detail]}] * 2)).choices[0].message
    expected = [{"type": "t", "index": 0, "id": "\ufffd", "text": "aa"}]
    assert message.extra["reasoning_details"] == expected


@pytest.mark.parametrize("name", [1, 1.5, None, True, ("a", "b"), b"x"], ids=repr)
@pytest.mark.parametrize("value", ["a", 5, ["a"], {"a": 1}], ids=repr)
@pytest.mark.parametrize("make", [lambda it: [chunk() | it], lambda it: entries(it), deltas])
def test_names_that_are_no_strings(name, value, make):
    """Such a field is no JSON: it is left out with an issue; strict mode raises."""
    chunks = [*make({name: value}), *deltas({"content": "a"})]
    outcome = outcome_of(chunks)
    assert outcome.issue_counts["bad_type"] == 1
    assert outcome.response == outcome_of([*make({}), *deltas({"content": "a"})]).response
    with pytest.raises(InvalidChunk, match="a field's name is"):
        accumulate(chunks, strict=True)


def test_a_null_under_such_a_name():
    """Null is absent, whatever it is called."""
    chunks = Accumulator()
    for _ in range(4):
        chunks.add({**chunk(), 1: None, "choices": [{"delta": {"content": "a", 2: None}}]})
    assert chunks.snapshot().choices[0].message.content == "aaaa"
    assert chunks.issues == ()
