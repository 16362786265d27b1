"""What is part of the answer, and what is said about it."""

from __future__ import annotations

import pytest

from streamkit._content import adds_content


def delta(**fields):
    return {"choices": [{"index": 0, "delta": fields}]}


@pytest.mark.parametrize(
    "chunk",
    [
        delta(content="a"),
        delta(refusal="no"),
        delta(reasoning_content="so"),
        delta(reasoning_details=[{"text": "so"}]),
        delta(tool_calls=[{"index": 0, "function": {"name": "f"}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": "{"}}]),
        delta(tool_calls=[{"index": 0, "custom": {"input": "x"}}]),
        delta(function_call={"name": "f"}),
        {"choices": [{"text": "a"}]},
        {"choices": [{"message": {"role": "assistant", "content": "a"}}]},
        {"choices": [{"delta": {"content": ""}}, {"delta": {"content": "a"}}]},
    ],
)
def test_content(chunk):
    """Text and tool calls."""
    assert adds_content(chunk)


@pytest.mark.parametrize(
    "chunk",
    [
        delta(role="assistant", content="", refusal=None),
        delta(provider_id="x", phase="thinking", last=False, level=3),
        delta(tool_calls=[]),
        delta(tool_calls=[{"index": 0, "id": "call_1", "function": {"name": "", "arguments": ""}}]),
        delta(tool_calls=[{"index": 0, "id": "call_1"}, 5]),
        {"choices": [{"text": "", "finish_reason": "stop"}]},
        {"choices": [], "usage": {"total_tokens": 5}},
        {"choices": [5, {"delta": 5}]},
        {"choices": 5},
        {},
        5,
        None,
    ],
)
def test_no_content(chunk):
    """Roles, ids, flags, numbers, and what is no chunk."""
    assert not adds_content(chunk)
