"""
Streams that were copied from a terminal which broke their lines at its width.

A line that goes on has as many columns as all others that do, and none has more.
Without such evidence a line end inside of JSON is taken for what a server sent.
"""

from __future__ import annotations

import re
import unicodedata

from collections.abc import Iterator
from itertools import pairwise

from streamkit._limits import Limits

from ._row_values import json_of


__all__ = ["EVENT_LINE", "unwrapped", "width_of"]

# A whole line that only server-sent events start with, and that goes on nowhere: who
# streams them live need not wait for more of them.
EVENT_LINE = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:(?:data|event|id|retry)[ \t]*:|:)"
    rb"(?!(?<=data:) ?[{\[][^\n]*[^}\]\s]\s*\n)[^\n]*\n"
)

START = re.compile(rb"data: ?[{\[]")
# A colon alone may be JSON's.
FIELD = re.compile(rb"(?:data|event|id|retry):")
# A line end inside of a key: no server sends that.
BROKEN_KEY = re.compile(rb'"[^"\\\n]*\n[^"\\\n]*"\s*:')
NARROWEST = 40
FEWEST = 3
WIDE = "FW"


def width_of(rows: list[bytes]) -> int:
    r"""
    Return how many columns the terminal had that *rows* were copied from; 0: they were not.

    >>> event = b'data: {"choices": [{"index": 0, "delta": {"content": "' + b"x" * 99 + b'"}}]}'
    >>> width_of([event[at : at + 50] for at in range(0, len(event), 50)])
    50
    """
    rows = [row.rstrip(b"\r\n") for row in rows]
    if not rows or EVENT_LINE.match(rows[0] + b"\n"):
        return 0
    events = [event for event in _events(rows) if len(event) > 1]
    broken = [row for event in events for row in event[:-1]]
    width = _columns(broken[0]) if len(broken) >= FEWEST else 0
    if width < NARROWEST or any(_columns(row) != width for row in broken):
        return 0
    is_widest = max(map(_columns, rows)) == width
    return width if is_widest and any(map(_is_broken, events[:FEWEST])) else 0


def _events(rows: list[bytes]) -> Iterator[list[bytes]]:
    """Yield the rows of each event: of JSON behind `data:`, and what follows up to a field."""
    event: list[bytes] = []
    for row in rows:
        if START.match(row):
            if event:
                yield event
            event = [row]
        elif event and (not row or FIELD.match(row)):
            yield event
            event = []
        elif event:
            event.append(row)
    if event:
        yield event


def _is_broken(event: list[bytes]) -> bool:
    """Tell whether the line ends in *event* are none of its JSON, nor of a text in it."""
    text = b"\n".join(event)
    whole, as_it_is = (
        json_of(each.partition(b":")[2].decode("utf-8", "replace"))
        for each in (b"".join(event), text)
    )
    if whole is None or whole == as_it_is:
        return False
    return as_it_is is None or len(event) >= FEWEST or BROKEN_KEY.search(text) is not None


def _columns(row: bytes) -> int:
    text = row.decode("utf-8", "replace")
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in WIDE for char in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


def unwrapped(rows: Iterator[bytes], width: int, limits: Limits) -> Iterator[bytes]:
    """
    Yield the lines that *rows* were before a terminal of *width* columns broke them.

    Raises:
        LimitExceeded: If a line is longer than the limit.
    """
    held: list[bytes] = []
    size = 0
    for row, following in _with_next(rows):
        text = row.rstrip(b"\r\n")
        goes_on = following.strip() and not FIELD.match(following) and _columns(text) == width
        held.append(text if goes_on else row)
        size += len(text)
        limits.check("line", size)
        if not goes_on:
            yield b"".join(held)
            held.clear()
            size = 0


def _with_next(rows: Iterator[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield each of *rows* and the next; the last has none."""

    def ended() -> Iterator[bytes]:
        yield from rows
        yield b""

    return pairwise(ended())
