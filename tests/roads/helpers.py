"""Chunks and events for the tests of the roads, and what both roads tell of them."""

from __future__ import annotations

import json

from contextlib import nullcontext
from unittest.mock import patch

from streamkit import Accumulator, ChunkReader, StreamkitError, rebuild_all, to_dict
from streamkit import _rebuild as rebuilding
from streamkit._framing import Framer

from .streams import by_the_rules, described


HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 5, "model": "demo"}


def say(content="a", index=0, *, top=None, choice=None, **delta):
    """Return a chunk whose choice says *content*, with further fields at each level."""
    made = {"index": index, "delta": {"content": content, **delta}, **(choice or {})}
    return {**HEAD, **(top or {}), "choices": [made]}


def tool(arguments, **call):
    """Return a chunk with a piece of a tool call's arguments."""
    entry = {"index": 0, **call, "function": {"arguments": arguments}}
    if call:
        entry["function"]["name"] = "f"
    made = {"index": 0, "delta": {"tool_calls": [entry]}}
    return {**HEAD, "choices": [made]}


def write(text="a", index=0, **choice):
    """Return a chunk of a completion."""
    made = {"index": index, "text": text, **choice}
    return {**HEAD, "object": "text_completion", "choices": [made]}


def logprobs(token="a", logprob=-1.5, **entry):
    """Return the `logprobs` of a choice, with one entry."""
    return {"content": [{"token": token, "logprob": logprob, **entry}], "refusal": None}


def rows(count=1, at=0):
    """Return the `logprobs` of a choice of a completion, with *count* tokens."""
    return {
        "tokens": ["a"] * count,
        "token_logprobs": [-0.5] * count,
        "top_logprobs": [{"a": -0.5, "b": -2}] * count,
        "text_offset": list(range(at, at + count)),
    }


def event(chunk, ending="\n\n", prefix="data: "):
    """Return the bytes of one event."""
    return (prefix + json.dumps(chunk, separators=(",", ":")) + ending).encode()


def events(chunks):
    return list(map(event, chunks))


def rows_of(template, pieces):
    """Return the rows of *pieces*, each an event that matches."""
    data = b"".join(pieces)
    rows, end = template.prefix(data, 0, len(data))
    assert end == len(data)
    return rows


def slow_road(splitter, log, limits, decoder, _clock=None):
    return Framer(log, limits, decoder, splitter.take)


def failure(error):
    """Return all that can be told of an error, its partial result as plain data."""
    told = {name: value for name, value in vars(error).items() if name != "partial"}
    partial = error.partial
    if partial is not None and not isinstance(partial, list):
        partial = to_dict(partial)
    return type(error).__name__, error.code, str(error), told, partial


def rebuilt(pieces, *, fast, **options):
    """Return all that `rebuild_all` tells of *pieces*, over one road or the other."""
    closed = patch.object(rebuilding, "MergingRoad", slow_road)
    told = []
    with nullcontext() if fast else closed:
        try:
            outcomes = rebuild_all([b"", *pieces], **{"json": "json", **options})
            told.extend(map(described, outcomes))
        except StreamkitError as error:
            told.append(failure(error))
    return told


def rebuilt_alike(pieces, **options):
    """Return what `rebuild_all` tells, having made sure that both roads tell it."""
    told = rebuilt(pieces, fast=False, **options)
    assert rebuilt(pieces, fast=True, **options) == told
    return told


class SlowReader(ChunkReader):
    """A reader whose fast road is closed."""

    def reset(self):
        super().reset()
        self._road.one = lambda data: None
        self._road.run = lambda data, at: 0


def read(pieces, *, fast, **options):
    """Return all that a reader tells of *pieces*, over one road or the other."""
    reader = (ChunkReader if fast else SlowReader)(**{"json": "json", **options})
    chunks, failed = [], None
    try:
        for piece in pieces:
            chunks += reader.feed(piece)
        chunks += reader.finish()
    except StreamkitError as error:
        failed = failure(error)
    return chunks, reader.done, reader.issues, reader.cut, str(reader.error), failed


def read_alike(pieces, **options):
    """Return what a reader tells, having made sure that both roads tell it."""
    told = read(pieces, fast=False, **options)
    assert read(pieces, fast=True, **options) == told
    return told


def added(chunks, *, fast, **options):
    """Return all that an accumulator tells of *chunks*, compared to the last one or not."""
    accumulator = Accumulator(**options)
    if not fast:
        by_the_rules(accumulator)
    failed = None
    try:
        for chunk in chunks:
            accumulator.add(chunk)
    except StreamkitError as error:
        failed = failure(error)
    return described(accumulator.finish()), failed


def added_alike(chunks, **options):
    """Return what an accumulator tells, having made sure that both ways tell it."""
    told = added(chunks, fast=False, **options)
    assert added(chunks, fast=True, **options) == told
    return told


def contents(told):
    """Return the content of each choice of the first outcome."""
    return [choice["message"]["content"] for choice in told[0]["response"]["choices"]]


__all__ = [
    "HEAD",
    "SlowReader",
    "added",
    "added_alike",
    "contents",
    "event",
    "events",
    "failure",
    "logprobs",
    "read",
    "read_alike",
    "rebuilt",
    "rebuilt_alike",
    "rows",
    "say",
    "tool",
    "write",
]
