"""
Which road each event takes: the slow one, or that of a template.

An event goes the slow road, a template is learned from it, and the events behind
it that match go the fast road.  `MergingRoad` swallows them into an accumulator,
for `rebuild`; `ReadingRoad` makes chunk objects of them, for `ChunkReader`.

What learning costs is kept in hand: where templates keep failing, more and more
of the input is given to the slow road in one piece before the next is tried.
"""

from __future__ import annotations

import re

from typing import Any, Protocol

from ._framing import Framer
from ._limits import Limits
from ._plain import parts_of


__all__ = ["Road", "Traffic", "end_of_event", "index_of", "names_in"]

# How often a template is learned in vain before learning pauses; and for how long
# then, in bytes of input: twice as long each time.
FREE_LESSONS = 6
FIRST_PAUSE, LONGEST_PAUSE = 1 << 10, 1 << 18
# How much of an unfinished line is held back from the slow road, in bytes.
LONGEST_TAIL = 1 << 16
# A run of fewer events was not worth its template.
WORTH = 4
# A million of them, one at a time, took three seconds.
BLANK_LINES = re.compile(rb"\n++")


class Traffic(Protocol):
    """What goes over a road: how to take events fast, and how to learn from one."""

    def run(self, data: bytes, at: int) -> int:
        """Take events of *data* at *at* that match; return how many bytes, 0 if none does."""
        ...

    def learn_from(self, event: bytes) -> bool:
        """Give *event* to the slow road; return whether something had to be learned from it."""
        ...

    def forget(self) -> None:
        """Forget what was learned: other events went the slow road."""


class Road:
    """
    Cut bytes into events, and send each over the road that suits it.

    Args:
        framer: The slow road.
        traffic: The fast road.
        limits: Bounds; lines that come near them go the slow road.
    """

    __slots__ = ("_framer", "_hold", "_lessons", "_pause", "_tail", "_to_pass", "_traffic")

    def __init__(self, framer: Framer, traffic: Traffic, limits: Limits) -> None:
        self._framer = framer
        self._traffic = traffic
        self._hold = min(LONGEST_TAIL, limits.longest)
        self._tail = b""
        self._lessons = 0  # since a template last proved its worth
        self._pause = FIRST_PAUSE
        self._to_pass = 0  # bytes left to the slow road before the next lesson

    @property
    def has_tail(self) -> bool:
        """Whether a piece of a line is held back."""
        return bool(self._tail)

    def feed(self, data: bytes) -> None:
        """
        Take the next *data*.

        Raises:
            LimitExceeded: If a bound is crossed.
        """
        at = 0
        if self._tail:
            # Only its own event is joined to the piece: a copy of all of *data*
            # would double the memory.
            at = end_of_event(data, 0) or len(data)
            first, self._tail = self._tail + data[:at], b""
            self._send(first, 0)
        self._send(data, at)

    def _send(self, data: bytes, at: int) -> None:
        while at < len(data):
            at += self._traffic.run(data, at)
            if at < len(data):
                at = self._slow(data, at)

    def finish(self) -> None:
        """
        Take note of the end of the input.

        Raises:
            LimitExceeded: If a bound is crossed.
        """
        self._framer.feed(self._tail)
        self._framer.finish()

    def worked(self, events: int) -> None:
        """Take note that *events* went the fast road at once."""
        if events >= WORTH:
            self._lessons = 0
            self._pause = FIRST_PAUSE

    def _slow(self, data: bytes, at: int) -> int:
        """Give at least one event to the slow road; return where the next one starts."""
        if self._to_pass > 0:
            return self._let_pass(data, at)
        end = end_of_event(data, at)
        if not end:
            self._take_rest(data[at:])
            return len(data)
        if self._traffic.learn_from(data[at:end]):
            self._lessons += 1
            if self._lessons > FREE_LESSONS:
                self._to_pass = self._pause
                self._pause = min(self._pause * 2, LONGEST_PAUSE)
        return end

    def _let_pass(self, data: bytes, at: int) -> int:
        """Give events to the slow road without learning from them."""
        end = end_of_event(data, min(at + self._to_pass, len(data) - 1)) or len(data)
        self._to_pass -= end - at
        self._traffic.forget()
        self._framer.feed(data[at:end])
        return end

    def _take_rest(self, rest: bytes) -> None:
        """Hold a piece of a line back, so that the event can go the fast road when it is whole."""
        is_piece = b"\n" not in rest and b"\r" not in rest
        if is_piece and len(rest) < self._hold and self._framer.is_between_events:
            self._tail = rest
        else:
            self._traffic.forget()
            self._framer.feed(rest)


def index_of(chunk: dict[str, Any]) -> int:
    """Return the index of the one choice of *chunk*; missing, it is the position."""
    index = chunk["choices"][0].get("index")
    return index if type(index) is int else 0


def names_in(chunk: dict[str, Any]) -> list[Any]:
    """Return the names of the fields of *chunk*; those that have a template share them."""
    return [type(part) is dict and list(part) for part in parts_of(chunk) or ()]


def end_of_event(data: bytes, at: int) -> int:
    """Return where the event of the line at *at* ends, its blank line included; 0 if not here."""
    blank_lines = BLANK_LINES.match(data, at)
    if blank_lines is not None:
        return blank_lines.end()
    end = data.find(b"\n", at) + 1
    if not end or data[at : at + 1] == b"{":
        return end
    blank = data[end : end + 2]
    if blank[:1] == b"\n":
        return end + 1
    if blank == b"\r\n":
        return end + 2
    return 0 if blank in {b"", b"\r"} else end
