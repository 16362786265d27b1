"""Tests of the models of full responses."""

from __future__ import annotations

import attrs
import pytest

import streamkit

from streamkit import from_dict, to_dict


PUBLIC = [getattr(streamkit, name) for name in streamkit.__all__]
MODELS = [
    cls
    for cls in PUBLIC
    if isinstance(cls, type) and attrs.has(cls) and "extra" in attrs.fields_dict(cls)
]
REQUIRED = {
    "TopLogprob": {"token": "a", "logprob": -0.5},
    "TokenLogprob": {"token": "a", "logprob": -0.5},
    "Choice": {"index": 0, "message": {"role": "assistant", "content": None, "refusal": None}},
    "CompletionChoice": {"index": 0},
}

CHAT = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1700000000,
    "model": "model-1",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Hi",
                "refusal": None,
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "look", "arguments": "{}", "x_function": 1},
                        "x_call": 1,
                    },
                    {
                        "id": "call_2",
                        "type": "custom",
                        "custom": {"name": "sh", "input": "ls", "x_custom": 1},
                    },
                ],
                "function_call": {"name": "old", "arguments": "{}"},
                "audio": {
                    "id": "audio_1",
                    "data": "AAAA",
                    "transcript": "Hi",
                    "expires_at": 1,
                    "x_audio": 1,
                },
                "annotations": [
                    {
                        "type": "url_citation",
                        "url_citation": {
                            "url": "https://example.org",
                            "title": "t",
                            "start_index": 0,
                            "end_index": 2,
                            "x_citation": 1,
                        },
                        "x_annotation": 1,
                    }
                ],
                "reasoning_content": "hm",
            },
            "finish_reason": "stop",
            "logprobs": {
                "content": [
                    {
                        "token": "Hi",
                        "logprob": -0.25,
                        "bytes": [72, 105],
                        "top_logprobs": [
                            {"token": "Hi", "logprob": -0.25, "bytes": None, "x_top": 1}
                        ],
                        "x_token": 1,
                    }
                ],
                "refusal": None,
                "x_logprobs": 1,
            },
            "seed": 7,
            "x_choice": [1],
        }
    ],
    "usage": {
        "prompt_tokens": 1,
        "completion_tokens": 2,
        "total_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 0, "x_prompt": 1},
        "completion_tokens_details": {"reasoning_tokens": 1, "x_completion": 1},
        "x_usage": 0.5,
    },
    "service_tier": "default",
    "system_fingerprint": "fp_1",
    "x_response": {"a": [1, {"b": None}]},
}
COMPLETION = {
    "id": "cmpl-1",
    "object": "text_completion",
    "created": 1700000000,
    "model": "model-1",
    "choices": [
        {
            "index": 0,
            "text": " such as",
            "finish_reason": "length",
            "logprobs": {
                "tokens": [" such", None],
                "token_logprobs": [None, -0.5],
                "top_logprobs": [None, {" as": -0.5}],
                "text_offset": [0, 5],
                "x_ids": [1, 2],
            },
            "tokens": [1778, 439],
            "seed": 42,
            "x_choice": 1,
        }
    ],
    "x_response": 1,
}


@pytest.mark.parametrize("cls", MODELS, ids=lambda cls: cls.__name__)
def test_unknown_fields_round_trip_at_every_level(cls):
    """Each model keeps a field that it does not know, and writes it back."""
    plain = {**REQUIRED.get(cls.__name__, {}), "x_unknown": {"a": [1, None]}}
    model = from_dict(plain, cls)
    assert model.extra == {"x_unknown": {"a": [1, None]}}
    assert to_dict(model).items() >= plain.items()
    assert from_dict(to_dict(model), cls) == model


@pytest.mark.parametrize("cls", MODELS, ids=lambda cls: cls.__name__)
def test_models_are_frozen(cls):
    """No attribute of a model can be assigned to."""
    model = from_dict(REQUIRED.get(cls.__name__, {}), cls)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        model.extra = {}


@pytest.mark.parametrize("plain", [CHAT, COMPLETION], ids=["chat", "completion"])
def test_a_full_response_round_trips(plain):
    """A response with every field, known or not, comes back as it was."""
    response = from_dict(plain)
    assert to_dict(response) == plain
    assert from_dict(to_dict(response)) == response


def test_the_parts_of_a_chat_completion_are_models():
    """Each known object is an instance of its own class, under the wire's name."""
    answer = from_dict(CHAT).choices[0]
    function, custom = answer.message.tool_calls
    assert type(function.function) is streamkit.FunctionCall
    assert type(custom.custom) is streamkit.CustomTool
    assert function.custom is None
    assert type(answer.message.audio) is streamkit.Audio
    assert type(answer.message.annotations[0].url_citation) is streamkit.URLCitation
    assert type(answer.logprobs) is streamkit.ChatLogprobs
    assert type(answer.logprobs.content[0].top_logprobs[0]) is streamkit.TopLogprob
    assert answer.seed == 7


def test_the_parts_of_a_completion_are_models():
    """Completion choices carry Friendli's tokens and seed, and the parallel lists."""
    answer = from_dict(COMPLETION).choices[0]
    assert type(answer) is streamkit.CompletionChoice
    assert type(answer.logprobs) is streamkit.CompletionLogprobs
    assert answer.tokens == (1778, 439)
    assert answer.seed == 42
    assert answer.logprobs.extra == {"x_ids": [1, 2]}


@pytest.mark.parametrize(
    ("response", "plain"),
    [
        (
            streamkit.ChatCompletion(),
            {"id": "", "object": "chat.completion", "created": 0, "model": "", "choices": []},
        ),
        (
            streamkit.Completion(),
            {"id": "", "object": "text_completion", "created": 0, "model": "", "choices": []},
        ),
        (streamkit.Message(), {"role": "assistant", "content": None, "refusal": None}),
        (
            streamkit.CompletionChoice(index=1),
            {"index": 1, "text": "", "finish_reason": None, "logprobs": None},
        ),
        (streamkit.ToolCall(), {"id": None, "type": "function"}),
        (streamkit.Usage(), {}),
    ],
    ids=["chat", "completion", "message", "choice", "call", "usage"],
)
def test_what_the_api_always_sends_is_always_written(response, plain):
    """Fields of the API's own object are present as null; optional ones are left out."""
    assert to_dict(response) == plain


def test_extra_is_not_shared_between_instances():
    """Each instance has an `extra` of its own."""
    assert streamkit.Usage().extra is not streamkit.Usage().extra
