"""Responses as OpenTelemetry has them: attributes, the event, and what the model wrote."""

from __future__ import annotations

import attrs
import pytest

from hypothesis import given, settings

from streamkit import (
    ChatCompletion,
    Completion,
    LimitExceeded,
    Outcome,
    Timing,
    UpstreamError,
    finalize,
    from_dict,
    rebuild,
)
from streamkit.interchange import (
    SEMCONV_VERSION,
    to_otel_attributes,
    to_otel_event,
    to_otel_messages,
)

from . import odd_responses, response_of, responses


CHUNKS = [
    {
        "id": "chatcmpl-1",
        "model": "demo-1",
        "system_fingerprint": "fp_1",
        "service_tier": "default",
        "choices": [
            {"index": 1, "delta": {"content": "b"}, "finish_reason": "tool_calls"},
            {"index": 0, "delta": {"content": "a"}},
        ],
    },
    {
        "choices": [],
        "usage": {
            "prompt_tokens": 9,
            "completion_tokens": 12,
            "total_tokens": 21,
            "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": 0, "image_tokens": None},
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
    },
]
COMPLETE = [{"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]}]


def parts_of(message):
    """Return the parts that *message* is made of."""
    (found,) = to_otel_messages(response_of(message))
    return found["parts"]


# -- Attributes ----------------------------------------------------------------------


def test_version():
    """The names are of a version that is named."""
    assert SEMCONV_VERSION == "0.1.0"


def test_attributes():
    """What the server said is there under the conventions' names, and nothing else."""
    assert to_otel_attributes(finalize(CHUNKS)) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.response.finish_reasons": ["error", "tool_calls"],
        "gen_ai.response.id": "chatcmpl-1",
        "gen_ai.response.model": "demo-1",
        "gen_ai.usage.input_tokens": 9,
        "gen_ai.usage.output_tokens": 12,
        "gen_ai.usage.cache_read.input_tokens": 4,
        "gen_ai.usage.reasoning.output_tokens": 5,
        "gen_ai.usage.audio.input_tokens": 0,
    }


def test_provider():
    """The provider is what the caller says, and OpenAI's has attributes of its own."""
    response = finalize(CHUNKS)
    plain, other = to_otel_attributes(response), to_otel_attributes(response, provider="groq")
    assert other == {**plain, "gen_ai.provider.name": "groq"}
    assert to_otel_attributes(response, provider="openai") == {
        **plain,
        "gen_ai.provider.name": "openai",
        "openai.api.type": "chat_completions",
        "openai.response.service_tier": "default",
        "openai.response.system_fingerprint": "fp_1",
    }


def test_completion():
    """A legacy completion is another operation."""
    response = finalize([{"choices": [{"index": 0, "text": "Hi", "finish_reason": "length"}]}])
    assert to_otel_attributes(response, provider="openai", content=True) == {
        "gen_ai.operation.name": "text_completion",
        "gen_ai.provider.name": "openai",
        "gen_ai.response.finish_reasons": ["length"],
        "gen_ai.output.messages": [
            {
                "role": "assistant",
                "parts": [{"type": "text", "content": "Hi"}],
                "finish_reason": "length",
            }
        ],
    }


def test_nothing_is_made_up():
    """A response that says nothing has no attributes but the operation."""
    assert to_otel_attributes(ChatCompletion()) == {"gen_ai.operation.name": "chat"}
    odd = from_dict({"object": "chat.completion", "choices": []})
    odd = attrs.evolve(odd, usage={"prompt_tokens": 1}, id=5)
    assert to_otel_attributes(odd) == {"gen_ai.operation.name": "chat"}


def test_odd_counts():
    """A count that is none is left out."""
    usage = {"prompt_tokens": True, "completion_tokens": -1, "prompt_tokens_details": 5}
    response = finalize([*COMPLETE, {"choices": [], "usage": usage}])
    assert not any(name.startswith("gen_ai.usage") for name in to_otel_attributes(response))


# -- Outcomes ------------------------------------------------------------------------


def test_outcome():
    """An outcome tells that it was a stream, and a complete one has no error."""
    outcome = rebuild(COMPLETE)
    assert to_otel_attributes(outcome) == {
        **to_otel_attributes(outcome.response),
        "gen_ai.request.stream": True,
    }


def test_whole_response():
    """A whole response that was passed through was no stream."""
    message = {"role": "assistant", "content": "Hi"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    outcome = rebuild([{"object": "chat.completion", "choices": [choice]}])
    assert "gen_ai.request.stream" not in to_otel_attributes(outcome)


def test_no_response():
    """A stream without a response has an operation and an error, and no content."""
    assert to_otel_attributes(Outcome(response=None, complete=False), content=True) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.stream": True,
        "error.type": "empty_stream",
    }


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (None, "incomplete_stream"),
        (LimitExceeded("text", 9), "limit_exceeded"),
        (UpstreamError.of({"code": "rate_limit", "type": "x"}, {}), "rate_limit"),
        (UpstreamError.of({"code": None, "type": "overloaded_error"}, {}), "overloaded_error"),
        (UpstreamError.of({"code": 529}, {}), "529"),
        (UpstreamError.of({"code": True, "type": ""}, {}), "upstream_error"),
        (UpstreamError.of({"code": "x" * 65}, {}), "upstream_error"),
        (UpstreamError.of({"code": 10**5000}, {}), "upstream_error"),
        (UpstreamError.of("overloaded", {}), "upstream_error"),
    ],
)
def test_error_type(error, expected):
    """The error is the server's code, if it is a short one, else ours."""
    outcome = Outcome(response=ChatCompletion(), complete=False, error=error)
    assert to_otel_attributes(outcome)["error.type"] == expected


@pytest.mark.parametrize(
    ("origin", "first_chunk", "expected"),
    [("request", 0.5, 0.5), ("request", None, None), ("recording", 0.5, None)],
)
def test_time_to_first_chunk(origin, first_chunk, expected):
    """The time counts from the request, or is not given."""
    timing = Timing(origin=origin, chunks=1, timed=1, first_chunk=first_chunk)
    outcome = attrs.evolve(rebuild(COMPLETE), timing=timing)
    found = to_otel_attributes(outcome)
    assert found.get("gen_ai.response.time_to_first_chunk") == expected


def test_event():
    """The event has the attributes of the span; content only when asked for."""
    response = finalize(CHUNKS)
    assert to_otel_event(response, provider="groq") == {
        "event_name": "gen_ai.client.inference.operation.details",
        "attributes": to_otel_attributes(response, provider="groq"),
    }
    messages = to_otel_event(response, content=True)["attributes"]["gen_ai.output.messages"]
    assert messages == to_otel_messages(response)


@pytest.mark.parametrize("call", [to_otel_attributes, to_otel_event, to_otel_messages])
@pytest.mark.parametrize("wrong", [None, {}, COMPLETE])
def test_wrong_type(call, wrong):
    """Only outcomes and responses have them."""
    with pytest.raises(TypeError, match="must be"):
        call(wrong)


# -- What the model wrote ------------------------------------------------------------


def test_messages():
    """Each choice is a message, with its reason in the schema's words."""
    assert to_otel_messages(finalize(CHUNKS)) == [
        {
            "role": "assistant",
            "parts": [{"type": "text", "content": "a"}],
            "finish_reason": "error",
        },
        {
            "role": "assistant",
            "parts": [{"type": "text", "content": "b"}],
            "finish_reason": "tool_call",
        },
    ]


def text(content):
    return {"type": "text", "content": content}


def reasoning(content):
    return {"type": "reasoning", "content": content}


def call(function, **more):
    return {"tool_calls": [{"id": "call_1", "type": "function", "function": function, **more}]}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"content": "Hi"}, [text("Hi")]),
        ({"content": ""}, []),
        ({"refusal": "No."}, [{"type": "refusal", "content": "No."}]),
        ({"content": "Hi", "reasoning": "why"}, [reasoning("why"), text("Hi")]),
        ({"reasoning": "why", "reasoning_content": "why"}, [reasoning("why")]),
        (
            {
                "reasoning_details": [
                    {"type": "reasoning.text", "text": "wh"},
                    {"type": "reasoning.summary", "summary": "y"},
                    {"type": "reasoning.encrypted", "data": "AA=="},
                ]
            },
            [reasoning("why")],
        ),
        ({"thinking_blocks": [{"type": "thinking", "thinking": "why"}]}, [reasoning("why")]),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "why"}]},
                    {"type": "text", "text": "Hi"},
                    {"type": "image_url", "image_url": {"url": "u"}},
                    {"url": "u"},
                ]
            },
            [
                reasoning("why"),
                text("Hi"),
                {"type": "image_url", "image_url": {"url": "u"}},
                {"type": "unknown", "url": "u"},
            ],
        ),
        (
            call({"name": "f", "arguments": '{"a": [1]}'}),
            [{"type": "tool_call", "id": "call_1", "name": "f", "arguments": {"a": [1]}}],
        ),
        (
            call({"name": "f", "arguments": '{"a": '}),
            [{"type": "tool_call", "id": "call_1", "name": "f", "arguments": '{"a": '}],
        ),
        (
            call({"name": None, "arguments": ""}, id=None),
            [{"type": "tool_call", "name": "", "arguments": ""}],
        ),
        (
            {"tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "g", "input": "1"}}]},
            [{"type": "tool_call", "id": "c", "name": "g", "arguments": "1"}],
        ),
        (
            {"function_call": {"name": "f", "arguments": "{}"}},
            [{"type": "tool_call", "name": "f", "arguments": {}}],
        ),
        (
            {"audio": {"id": "a", "data": "AA==", "transcript": "Hi"}},
            [{"type": "blob", "modality": "audio", "content": "AA=="}, text("Hi")],
        ),
        ({"audio": {"id": "a"}}, [{"type": "file", "modality": "audio", "file_id": "a"}]),
        ({"audio": {"expires_at": 1}}, []),
    ],
)
def test_parts(message, expected):
    """Each thing that a message may hold is a part of its own."""
    assert parts_of(message) == expected


@pytest.mark.parametrize(
    "arguments",
    ["", "{", "{} and more", '{"a": NaN}', '{"a": 1e999}', '["a\nb"]', "[" * 500 + "]" * 500],
)
def test_arguments_that_are_no_json(arguments):
    """What would have to be mended, or left out, stays the text that it is."""
    assert parts_of(call({"name": "f", "arguments": arguments}))[0]["arguments"] == arguments


@pytest.mark.parametrize(("arguments", "expected"), [(" {} ", {}), ("null", None), ("1", 1)])
def test_arguments_that_are_whole(arguments, expected):
    """Any whole JSON is parsed, space around it or not."""
    assert parts_of(call({"name": "f", "arguments": arguments}))[0]["arguments"] == expected


def test_arguments_that_are_an_object():
    """Arguments that came as an object, which no server should send, are kept."""
    message = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}
    response = attrs.evolve(response_of({}), choices=[])
    choice = attrs.evolve(response_of({"content": "a"}).choices[0], message=message)
    (found,) = to_otel_messages(attrs.evolve(response, choices=[choice]))
    assert found["parts"] == [{"type": "tool_call", "name": "f", "arguments": {}}]


STRINGS = {
    "text": {"content"},
    "reasoning": {"content"},
    "tool_call": {"name"},
    "blob": {"modality", "content"},
    "file": {"modality", "file_id"},
}


def is_part(part):
    """Tell whether *part* is one by the conventions' schema: its type, and what that requires."""
    return isinstance(part["type"], str) and all(
        isinstance(part[name], str) for name in STRINGS.get(part["type"], ())
    )


@settings(deadline=None)
@given(responses | odd_responses)
def test_any_response(response):
    """Whatever servers send, attributes have the types they may have, and messages their shape."""
    attributes = to_otel_attributes(response, provider="openai", content=True)
    messages = attributes.pop("gen_ai.output.messages")
    assert len(messages) == len(response.choices)
    for message in messages:
        assert isinstance(message["role"], str)
        assert isinstance(message["finish_reason"], str)
        assert all(map(is_part, message["parts"]))
    for value in attributes.values():
        assert type(value) in {str, int} or all(type(item) is str for item in value)


@settings(deadline=None)
@given(responses)
def test_no_text_is_lost(response):
    """All text of a response is in its messages, once."""
    for choice, message in zip(response.choices, to_otel_messages(response), strict=True):
        content = choice.text if isinstance(response, Completion) else choice.message.content
        written = [part["content"] for part in message["parts"] if part["type"] == "text"]
        assert "".join(written) == (content or "")
