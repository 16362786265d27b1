"""Tests of `streamkit.testing`: streams made from responses, cut and broken."""

from __future__ import annotations

from typing import Any


USAGE = {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21}
CALLS = [
    {
        "id": "call_1",
        "type": "function",
        "function": {"name": "weather", "arguments": '{"city": "Zürich", "days": 3}'},
    },
    {
        "id": "call_2",
        "type": "custom",
        "custom": {"name": "shell", "input": "ls -l | head"},
    },
]


def token(text: str) -> dict[str, Any]:
    """Return a log probability entry with one alternative."""
    each = {"token": text, "logprob": -0.5, "bytes": list(text.encode())}
    return {**each, "top_logprobs": [each]}


def chat(*choices: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a chat completion of *choices*; each has an index and a reason unless it says so."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "model-1",
        "choices": [
            {"index": index, "finish_reason": "stop", "logprobs": None, **choice}
            for index, choice in enumerate(choices)
        ],
        **fields,
    }


def said(content: Any = None, **fields: Any) -> dict[str, Any]:
    """Return a chat choice whose message has *content* and *fields*."""
    return {"message": {"role": "assistant", "content": content, "refusal": None, **fields}}


def completion(*choices: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a legacy completion of *choices*."""
    response = chat(*choices, **fields)
    return {**response, "id": "cmpl-1", "object": "text_completion", **fields}
