r"""
A byte template: what the events of a stream have in common, and where they differ.

Consecutive chunks differ in one or two short strings.  A template is the bytes of one
event, literal but for its *holes*: an event that matches means the same as that one
but for what stands in the holes.  `_learn` makes it.

What stands before the first hole and behind the last is compared as bytes, so that only
what is between takes a regular expression.  Most of what is a stream's own, such as its
id, is not between; so the streams of a server share the expression, and `re` compiles
it for the first of them alone.  Only a long run gets an expression of the whole event.
"""

from __future__ import annotations

import re
import sys

from collections.abc import Callable
from functools import cached_property
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from ._spans import Path


__all__ = ["Hole", "HoleKind", "Template"]

HoleKind = Literal["text", "index", "number", "logprob", "column", "offsets", "padding", "skip"]


# So many events later, an expression of the whole event has cost less than it saves.
LONG = 4096
LINE_START = rb"(?:\A|(?<=\n))"
# What stands in the only hole of a match.
ONE = itemgetter(1)


class Hole(NamedTuple):
    """
    A place where events differ.

    Attributes:
        path: Where the value stands in the chunk.
        kind: What to do with it; the value of a `"skip"` is not looked at.
        pattern: What it may look like, with one group around its content.
    """

    path: Path
    kind: HoleKind
    pattern: bytes


class Template:
    """
    The shape of an event.

    Attributes:
        before: The bytes before the first hole.
        between: A regular expression of what is from the first hole to the last, which
            holds no line end; a group for each hole that is not skipped.
        after: The bytes behind the last hole, *ending* included.
        holes: The holes that are not skipped, in the order of the groups.
        chunk: The chunk that the template was learned from.
        ending: The line ending, or two, that each event ends with.
        is_bare: The events are lines of JSON without framing.
    """

    def __init__(
        self,
        before: bytes,
        between: bytes,
        after: bytes,
        *,
        holes: tuple[Hole, ...],
        chunk: dict[str, Any],
        ending: bytes,
        is_bare: bool,
    ) -> None:
        self.before = before
        self.after = after
        self.holes = holes
        self.chunk = chunk
        self.ending = ending
        self.is_bare = is_bare
        self.between = re.compile(between, re.DOTALL)
        self._seam = after + before
        self._taken = 0
        self._row = ONE if len(holes) == 1 else re.Match.groups

    def match(self, data: bytes, at: int = 0, stop: int = sys.maxsize) -> re.Match[bytes] | None:
        """Return what stands in the holes of the event at *at*; None if it does not match."""
        if not data.startswith(self.before, at, stop):
            return None
        found = self.between.match(data, at + len(self.before), stop)
        if found is None or not data.startswith(self.after, found.end(), stop):
            return None
        return found

    def end(self, found: re.Match[bytes]) -> int:
        """Return where the event ends that was *found*."""
        return found.end() + len(self.after)

    def fullmatch(self, event: bytes) -> re.Match[bytes] | None:
        """Return what stands in the holes of *event*; None if it is not one that matches."""
        if not event.startswith(self.before) or not event.endswith(self.after):
            return None
        return self.between.fullmatch(event, len(self.before), len(event) - len(self.after))

    def run(self, data: bytes, at: int, stop: int) -> tuple[list[Any], int]:
        """Return what `prefix` returns, sooner if it is one of many."""
        if self._taken > LONG:
            rows = self._findall(data, at, stop)
            # No hole holds a line end: if the events that matched have all that there
            # are, nothing lies between them.
            if rows and len(rows) * self.ending.count(b"\n") == data.count(b"\n", at, stop):
                return rows, stop
        rows, end = self.prefix(data, at, stop)
        self._taken += len(rows)
        return rows, end

    @cached_property
    def _findall(self) -> Callable[[bytes, int, int], list[Any]]:
        whole = LINE_START + re.escape(self.before) + self.between.pattern + re.escape(self.after)
        return re.compile(whole, re.DOTALL).findall

    def prefix(self, data: bytes, at: int, stop: int) -> tuple[list[Any], int]:
        """
        Take the events from *at* on that match without a gap, and end before *stop*.

        Returns:
            A row for each, what stands in its holes: the bytes if there is one hole, else a
            tuple of them; and where the last one ends.
        """
        rows: list[Any] = []
        match, row, seam = self.between.match, self._row, self._seam
        if not data.startswith(self.before, at, stop):
            return rows, at
        start = at + len(self.before)
        found = match(data, start, stop)
        # What is behind one event and before the next is one comparison.
        while found is not None and data.startswith(seam, found.end(), stop):
            rows.append(row(found))
            start = found.end() + len(seam)
            found = match(data, start, stop)
        if found is not None and data.startswith(self.after, found.end(), stop):
            rows.append(row(found))
            start = found.end() + len(seam)
        return rows, start - len(self.before)
