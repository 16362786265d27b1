"""The message that the next request sends back."""

from __future__ import annotations

import copy
import json

import pytest

from hypothesis import given, settings

from streamkit import (
    ChatCompletion,
    Completion,
    InvalidChunk,
    Outcome,
    finalize,
    from_dict,
    rebuild,
    to_dict,
    to_json,
    to_message,
    to_openai,
)
from streamkit.interchange import to_otel_messages
from streamkit.testing import chunk_up

from . import odd_responses, response_of, responses


CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
REASONING = {"reasoning_content": "why", "reasoning_details": [{"type": "reasoning.text"}]}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"content": "Hi"}, {"content": "Hi"}),
        ({"content": None}, {"content": ""}),
        ({"content": "", "refusal": None}, {"content": ""}),
        ({"content": None, "refusal": "No."}, {"content": "", "refusal": "No."}),
        ({"content": None, "tool_calls": [CALL]}, {"content": None, "tool_calls": [CALL]}),
        ({"content": "", "tool_calls": [CALL]}, {"content": None, "tool_calls": [CALL]}),
        ({"content": "So:", "tool_calls": [CALL]}, {"content": "So:", "tool_calls": [CALL]}),
        ({"content": "a", "tool_calls": []}, {"content": "a"}),
        ({"tool_calls": [{**CALL, "index": 0}]}, {"content": None, "tool_calls": [CALL]}),
        (
            {"tool_calls": [{**CALL, "extra_content": {"google": {"thought_signature": "s"}}}]},
            {
                "content": None,
                "tool_calls": [{**CALL, "extra_content": {"google": {"thought_signature": "s"}}}],
            },
        ),
        (
            {"function_call": {"name": "f", "arguments": "{}", "x": 1}},
            {"content": None, "function_call": {"name": "f", "arguments": "{}"}},
        ),
        (
            {"content": None, "audio": {"id": "audio_1", "data": "AA==", "transcript": "Hi"}},
            {"audio": {"id": "audio_1"}},
        ),
        ({"content": "a", "audio": {"id": "b"}}, {"content": "a", "audio": {"id": "b"}}),
        ({"content": None, "audio": {"data": "AA=="}}, {"content": ""}),
        ({"content": "a", "annotations": [{"type": "url_citation"}], "x": 1}, {"content": "a"}),
        ({"content": "a", "name": "Ann"}, {"content": "a", "name": "Ann"}),
        ({"content": "a", **REASONING}, {"content": "a"}),
        ({"tool_calls": [CALL], **REASONING}, {"content": None, "tool_calls": [CALL], **REASONING}),
        (
            {"tool_calls": [CALL], "reasoning_content": ""},
            {"content": None, "tool_calls": [CALL], "reasoning_content": ""},
        ),
        (
            {"content": [{"type": "text", "text": "a"}]},
            {"content": [{"type": "text", "text": "a"}]},
        ),
    ],
)
def test_rows(message, expected):
    """Each row of the rules; the role comes first, and the caller's data stays what it was."""
    given = {"role": "assistant", **message}
    before = copy.deepcopy(given)
    found = to_message(given)
    assert found == {"role": "assistant", **expected}
    assert next(iter(found)) == "role"
    assert given == before


def test_reasoning():
    """Reasoning is sent back with tool calls, or as the caller wants it."""
    plain, calling = {"content": "a", **REASONING}, {"tool_calls": [CALL], **REASONING}
    assert to_message(plain, reasoning=True).keys() > REASONING.keys()
    assert not to_message(calling, reasoning=False).keys() & REASONING.keys()


def test_keep():
    """Further fields are kept by name, unless they are null."""
    message = {"role": "assistant", "content": "a", "annotations": [{}], "x": None}
    assert to_message(message, keep=["annotations", "x", "y"])["annotations"] == [{}]
    assert "x" not in to_message(message, keep=["x"])


def test_sources():
    """A response, its choice, its message, and their plain forms are all the same."""
    response = response_of({"role": "assistant", "content": "Hi", "tool_calls": [CALL]})
    choice = response.choices[0]
    sources = [response, choice, choice.message]
    expected = {"role": "assistant", "content": "Hi", "tool_calls": [CALL]}
    for source in [*sources, *map(to_dict, sources)]:
        assert to_message(source) == expected


@pytest.mark.parametrize("name", ["choices", "message", "object", "role"])
def test_odd_fields(name):
    """A field that has the name of another object's does not confuse the two."""
    odd = {name: {"role": "x", "content": "x"}}
    in_message = {} if name == "role" else odd
    response = response_of({"content": "Hi", **in_message}, **({} if name == "message" else odd))
    choice = response.choices[0]
    for source in (response, choice, choice.message, to_dict(choice.message)):
        assert to_message(source)["content"] == "Hi"


def test_objects_of_openai():
    """The openai package's own objects are read, too."""
    from streamkit import to_openai

    pytest.importorskip("openai")
    response = to_openai(response_of({"content": "Hi", "tool_calls": [CALL]}))
    expected = {"role": "assistant", "content": "Hi", "tool_calls": [CALL]}
    assert to_message(response) == to_message(response.choices[0].message) == expected


def test_index():
    """One of several choices is chosen by its index, not by its place."""
    entries = [{"index": index, "delta": {"content": str(index)}} for index in (4, 2)]
    response = finalize([{"choices": entries}])
    assert to_message(response, index=4)["content"] == "4"
    with pytest.raises(InvalidChunk, match="no choice has the index 0"):
        to_message(response)


def test_nothing_is_shared():
    """What is done to the message leaves the source alone."""
    source = {"role": "assistant", "content": [{"type": "text", "text": "a"}]}
    to_message(source)["content"][0]["text"] = "b"
    assert source["content"][0]["text"] == "a"


@pytest.mark.parametrize(
    "wrong",
    [None, 5, "Hi", [], {}, {"choices": 5}, Outcome(response=None, complete=False)],
)
def test_wrong_sources(wrong):
    """What has no message is refused by an error that says so."""
    with pytest.raises((TypeError, InvalidChunk), match=r"source must be|no choice has"):
        to_message(wrong)


@pytest.mark.parametrize(
    "call",
    [to_message, to_openai, to_otel_messages, to_json, chunk_up],
    ids=lambda call: call.__name__,
)
def test_outcomes_have_what_is_wanted(call):
    """Who passes an outcome is told that it has the response."""
    outcome = rebuild([{"choices": [{"index": 0, "delta": {"content": "Hi"}}]}])
    with pytest.raises(TypeError, match="not Outcome; pass its `response`"):
        call(outcome)


def test_legacy_completions_have_no_message():
    """A text completion is no turn of a chat."""
    response = finalize([{"choices": [{"index": 0, "text": "Hi"}]}])
    assert type(response) is Completion
    for source in (response, response.choices[0]):
        with pytest.raises(TypeError, match="must be a chat response"):
            to_message(source)


def test_chunks_have_no_message():
    """Nor is a chunk, whose choices have deltas."""
    chunk = from_dict({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}}]})
    with pytest.raises(InvalidChunk, match="choice 0 has no message"):
        to_message(chunk)


def test_keep_is_no_string():
    """One name alone would be taken for its letters."""
    with pytest.raises(TypeError, match="keep must be a collection"):
        to_message({"content": "a"}, keep="annotations")


def test_too_deep():
    """The caller's own data may nest too deep."""
    part = {}
    for _ in range(100_000):
        part = {"x": part}
    with pytest.raises(InvalidChunk, match="nested too deep"):
        to_message({"content": [part]})


@settings(deadline=None)
@given(responses)
def test_the_api_takes_it(response):
    """The openai package's own type of an assistant message has room for all of it."""
    pytest.importorskip("openai")
    from openai.types.chat import ChatCompletionAssistantMessageParam as Wanted
    from pydantic import TypeAdapter

    if not isinstance(response, ChatCompletion):
        return
    adapter = TypeAdapter(Wanted)
    for choice in response.choices:
        message = to_message(response, index=choice.index, reasoning=False)
        adapter.validate_python(message)
        assert message.keys() <= Wanted.__annotations__.keys()
        assert message["content"] is not None or "tool_calls" in message


@settings(deadline=None)
@given(odd_responses)
def test_any_response(response):
    """Whatever servers send, the message is plain JSON data."""
    if isinstance(response, ChatCompletion):
        for choice in response.choices:
            json.dumps(to_message(choice))
