"""Tests of the chunk models, in which absent and null differ."""

from __future__ import annotations

import copy
import pickle

import pytest

from streamkit import (
    ABSENT,
    Absent,
    AudioDelta,
    ChatCompletionChunk,
    ChatLogprobs,
    ChoiceDelta,
    ChunkChoice,
    CompletionChunk,
    CompletionChunkChoice,
    CompletionLogprobs,
    CustomToolDelta,
    FunctionCallDelta,
    ToolCallDelta,
    Usage,
    from_dict,
    to_dict,
)


MODELS = [
    AudioDelta,
    ChatCompletionChunk,
    ChoiceDelta,
    ChunkChoice,
    CompletionChunk,
    CompletionChunkChoice,
    CustomToolDelta,
    FunctionCallDelta,
    ToolCallDelta,
]


def test_absent_is_falsy_and_not_none():
    """`ABSENT` is false, is no None, and names itself."""
    assert not ABSENT
    assert ABSENT is not None
    assert repr(ABSENT) == "ABSENT"


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it)), lambda _: Absent.ABSENT],
)
def test_absent_is_one_object(duplicate):
    """Copies of `ABSENT` are `ABSENT`, so that `is` tells."""
    assert duplicate(ABSENT) is ABSENT


@pytest.mark.parametrize("cls", MODELS, ids=lambda cls: cls.__name__)
def test_an_empty_chunk_is_an_empty_object(cls):
    """Nothing is invented: a model of nothing is written as nothing."""
    assert to_dict(cls()) == {}
    assert from_dict({}, cls) == cls()


@pytest.mark.parametrize("cls", MODELS, ids=lambda cls: cls.__name__)
def test_null_and_absent_are_kept_apart(cls):
    """Each field that was sent as null is None and written as null; the others are absent."""
    names = [name for name in cls.__annotations__ if name != "extra"]
    for name in names:
        model = from_dict({name: None}, cls)
        assert getattr(model, name) is None
        assert all(getattr(model, other) is ABSENT for other in names if other != name)
        assert to_dict(model) == {name: None}


CHAT_CHUNK = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "created": 1700000000,
    "model": "model-1",
    "choices": [
        {
            "index": 0,
            "delta": {
                "role": "assistant",
                "content": [{"type": "text", "text": "Hi"}],
                "refusal": None,
                "tool_calls": [
                    {
                        "index": 0,
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "f", "arguments": {"a": 1}, "x_function": 1},
                        "x_call": 1,
                    },
                    {"index": 1, "custom": {"name": "sh", "input": "ls", "x_custom": 1}},
                ],
                "function_call": {"name": None, "arguments": "{"},
                "audio": {"id": "audio_1", "data": "AA==", "x_audio": 1},
                "annotations": {"files": ["a"]},
                "reasoning_content": "hm",
            },
            "finish_reason": None,
            "logprobs": {"content": [{"token": "Hi", "logprob": -1, "bytes": None}]},
            "x_choice": 1,
        }
    ],
    "usage": {"prompt_tokens": 1},
    "service_tier": None,
    "obfuscation": "abc",
    "x_chunk": {"a": 1},
}
COMPLETION_CHUNK = {
    "id": "cmpl-1",
    "object": "text_completion",
    "choices": [
        {
            "index": 0,
            "text": " such",
            "token": 1778,
            "finish_reason": None,
            "logprobs": {
                "tokens": [" such"],
                "token_logprobs": [-1.5],
                "top_logprobs": None,
                "text_offset": [0],
            },
            "x_choice": 1,
        }
    ],
    "usage": None,
    "x_chunk": 1,
}


def test_a_chat_chunk_round_trips():
    """Every field, known or not, comes back as it was sent."""
    parsed = from_dict(CHAT_CHUNK)
    assert type(parsed) is ChatCompletionChunk
    assert to_dict(parsed)["choices"][0]["delta"] == CHAT_CHUNK["choices"][0]["delta"]
    assert from_dict(to_dict(parsed)) == parsed
    assert type(parsed.usage) is Usage
    assert type(parsed.choices[0].logprobs) is ChatLogprobs


def test_a_completion_chunk_round_trips():
    """Friendli's `token` is a field; the parallel lists are their own model."""
    parsed = from_dict(COMPLETION_CHUNK, CompletionChunk)
    assert parsed.choices[0].token == 1778
    assert type(parsed.choices[0].logprobs) is CompletionLogprobs
    assert to_dict(parsed) == COMPLETION_CHUNK
