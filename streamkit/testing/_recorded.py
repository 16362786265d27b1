"""The response bodies in a recording, as bytes that can be sent again."""

from __future__ import annotations

import re

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import attrs

from streamkit._chunks import ChunkReader
from streamkit._issues import Issue
from streamkit._json import BadJSON, Decoder
from streamkit._limits import Limits
from streamkit._rebuild import Source, rebuild
from streamkit._timing import LONGEST_WAIT
from streamkit.recordings import ReadOptions, read
from streamkit.recordings._dialects import HEAD, is_stream_text

from ._to_sse import to_sse


__all__ = ["Body", "Timed", "events", "is_response", "recorded"]

# The end of an event: at least two line ends in a row.
EVENT_END = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2,}")

Timed: TypeAlias = tuple[bytes, float | None]


@attrs.frozen
class Body:
    """
    A response body.

    Attributes:
        name: What the recording calls it.
        pieces: Its bytes, with the times at which they came.
        is_stream: It is server-sent events; else it is one JSON value.
        notes: What is to be said about it.
    """

    name: str
    pieces: tuple[Timed, ...]
    is_stream: bool
    notes: tuple[Issue, ...] = ()


def events(data: bytes) -> Iterator[bytes]:
    r"""
    Yield the events of *data*, each with the blank lines behind it.

    >>> list(events(b"data: 1\n\n: ping\n\ndata: 2"))
    [b'data: 1\n\n', b': ping\n\n', b'data: 2']
    """
    start = 0
    for end in EVENT_END.finditer(data):
        yield data[start : end.end()]
        start = end.end()
    if start < len(data):
        yield data[start:]


def recorded(source: Source, form: str, options: ReadOptions) -> Iterator[Body]:
    """
    Yield the bodies in *source*; one that is empty has no pieces.

    Raises:
        UnknownForm: If the form is not known, or cannot be read.
        LimitExceeded: If it expands to more than a bound.
        OSError: If it cannot be read.
    """
    for recording in read(source, form=form, options=options):
        pieces = [(piece.data, piece.time) for piece in recording.pieces]
        body, is_stream = _sendable(pieces, options.limits)
        yield Body(recording.name, tuple(_from_zero(body)), is_stream, recording.notes)


def _sendable(pieces: list[Timed], limits: Limits) -> tuple[list[Timed], bool]:
    """Return *pieces* as they can be sent, and whether they are server-sent events."""
    data = b"".join(data for data, _ in pieces)
    if not data:
        return [], True
    if not is_stream_text(data[:HEAD]):
        if _is_one_answer(data, limits):
            return [(data, pieces[-1][1])], False
        return _framed(pieces, limits) or pieces, True
    if all(time is None for _, time in pieces):
        pieces = [(event, None) for event in events(data)]
    return pieces, True


def _is_one_answer(data: bytes, limits: Limits) -> bool:
    """Tell whether *data* is what is answered without a stream: a response, or an error."""
    try:
        value = Decoder("auto", limits).whole(data)
    except BadJSON:
        return False
    return isinstance(value, dict) and (value.get("error") is not None or is_response(value))


def is_response(value: dict[str, Any]) -> bool:
    """Tell whether *value* is a full response; one chunk of a completion looks like one."""
    if value.get("object") in ("chat.completion", "text_completion"):
        return True
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and "message" in first


def _framed(pieces: Sequence[Timed], limits: Limits) -> list[Timed]:
    """Return the chunks in *pieces* as server-sent events, each at the time it was whole."""
    end = pieces[-1][1] if pieces else None
    reader = ChunkReader(limits=limits)
    found = [(chunk, time) for data, time in pieces for chunk in reader.feed(data)]
    found += [(chunk, end) for chunk in reader.finish()]
    framed = [(to_sse([chunk], done=False), time) for chunk, time in found]
    if reader.done or (found and rebuild([chunk for chunk, _ in found]).complete):
        framed.append((to_sse([]), end))
    return framed


def _from_zero(pieces: Iterable[Timed]) -> Iterator[Timed]:
    """Yield *pieces*; if they count from the request, an empty one says when that was."""
    first = True
    for data, time in pieces:
        if first and time is not None and data and 0 < time < LONGEST_WAIT:
            yield b"", 0.0
        first = first and time is None
        yield data, time
