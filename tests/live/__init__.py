"""Tests of streams as they happen: events, `Stream`, `AsyncStream`, `tee`; and what they share."""

from __future__ import annotations

import json

from typing import Any

from streamkit import ChunkReceived, LiveAccumulator, StreamEvent


def chunk(index: int = 0, *, finish: Any = None, **delta: Any) -> dict[str, Any]:
    """Return a chat chunk whose choice *index* has *delta*."""
    return {"choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


def call(arguments: str, index: int = 0, **fields: Any) -> dict[str, Any]:
    """Return a chat chunk with a piece of a tool call; a name or an id begin it."""
    function = {"arguments": arguments}
    if "name" in fields:
        function["name"] = fields.pop("name")
    return chunk(tool_calls=[{"index": index, **fields, "function": function}])


def event(payload: Any) -> bytes:
    """Return *payload* as an event of a stream."""
    return b"data: %b\n\n" % json.dumps(payload).encode()


def happened(live: LiveAccumulator, *data: Any) -> list[StreamEvent]:
    """Return the events of *data*, and of the end, but for those that only hand on a chunk."""
    events = [event for item in data for event in live.feed(item)] + live.finish()
    return [event for event in events if type(event) is not ChunkReceived]


def told(events: list[StreamEvent]) -> list[tuple[Any, ...]]:
    """Return each event in short: its name, and what it says that is not None."""
    return [
        (type(event).__name__, *(value for name, value in fields(event) if value is not None))
        for event in events
    ]


def fields(event: StreamEvent) -> list[tuple[str, Any]]:
    """Return the fields of *event*, but for its snapshot."""
    names = [attribute.name for attribute in event.__attrs_attrs__]
    return [(name, getattr(event, name)) for name in names if name != "snapshot"]
