"""
The fast road: whole runs of alike events, swallowed in one scan.

The slow road decodes each event and merges it by the rules.  From an event that
went that way `_learn` makes a template; this room binds the template's holes to the
texts and lists of the accumulator, and takes all events that follow and match at
once.  What does not match goes the slow road, event by event, until the template
matches again or another is learned.

Both roads give the same outcome, issues included: a property test and a corpus
of real recordings hold them against each other.  What keeps them equal:

- A template is used only right after an event that matched it went the slow road
  (`bind`), so that what is literal in it is what the state already holds.  Any
  other event on the slow road unbinds it.
- Each choice is bound on its own: its first event goes the slow road.
- A run never crosses a limit: one that would is left to the slow road, which
  stops at the right event.
- All that a run decodes is decoded before anything is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import attrs

from ._accumulator import Accumulator
from ._choice import ChoiceAccumulator
from ._logprobs import Logprobs
from ._mould import scanstring
from ._state import Context, Text
from ._template import Hole, Template


__all__ = ["Sinks", "apply_run", "bind"]


class Sink(Protocol):
    """Where the contents of a hole go."""

    def prepare(self, column: Sequence[bytes]) -> Prepared | None:
        """Decode *column*, changing nothing; None if it has to go the slow road."""


class Prepared(NamedTuple):
    """What is about to be added: *content*, by *add*, and how many characters of text it is."""

    add: Callable[[Any], None]
    content: Any
    size: int = 0


@attrs.define
class TextSink:
    """A string that grows."""

    text: Text

    def prepare(self, column: Sequence[bytes]) -> Prepared | None:
        raw = b"".join(column)
        try:
            if b"\\u" in raw:
                # Halves of a surrogate pair count by themselves, and join later.
                pieces = [scanstring(piece.decode() + '"', 0)[0] for piece in column]
                return Prepared(self.text.extend, "".join(pieces), sum(map(len, pieces)))
            text = raw.decode()
        except UnicodeDecodeError:
            return None
        if b"\\" in raw:
            text = scanstring(text + '"', 0)[0]
        return Prepared(self.text.extend, text, len(text))


@attrs.define
class NumberSink:
    """A list of integers that grows."""

    numbers: list[int]

    def prepare(self, column: Sequence[bytes]) -> Prepared | None:
        return Prepared(self.numbers.extend, list(map(int, column)))


@attrs.define
class LogprobSink:
    """
    A list of log probability entries that grows, kept as raw JSON.

    Attributes:
        add: Appends so many entries, parted by commas.
        each: How many entries an event has.
    """

    logprobs: Logprobs
    limit: int | None
    add: Callable[..., None]
    each: int = 1

    def prepare(self, column: Sequence[bytes]) -> Prepared | None:
        count = len(column) * self.each
        if _would_cross(self.limit, self.logprobs, count):
            return None
        # Joined: many small pieces would take as much memory again.  And where a piece
        # is no UTF-8, a comma cannot make two of them whole.
        entries = b",".join(column)
        try:
            _ = entries.isascii() or entries.decode()
        except UnicodeDecodeError:
            return None
        return Prepared(partial(self.add, count=count), entries)


@attrs.define
class OffsetsSink:
    """The `text_offset` of a legacy completion; a step back has to be reported."""

    logprobs: Logprobs
    limit: int | None

    def prepare(self, column: Sequence[bytes]) -> Prepared | None:
        offsets = list(map(int, b",".join(column).split(b",")))
        if _would_cross(self.limit, self.logprobs, len(offsets)):
            return None
        if not self.logprobs.are_in_order(offsets):
            return None
        return Prepared(self.logprobs.extend_offsets, offsets)


def _would_cross(limit: int | None, logprobs: Logprobs, more: int) -> bool:
    return limit is not None and logprobs.count_with(more) > limit


Sinks = list[Sink]


def bind(template: Template, accumulator: Accumulator, index: int) -> Sinks | None:
    """Return the sinks of the template's holes for choice *index*; None if one has none."""
    choice = accumulator.choices.get(index)
    if choice is None:
        return None
    sinks: Sinks = []
    for hole in template.holes:
        if hole.kind == "index":
            continue
        sink = _sink(hole, choice, template.chunk, accumulator.context)
        if sink is None:
            return None
        sinks.append(sink)
    return sinks


def _sink(
    hole: Hole, choice: ChoiceAccumulator, chunk: dict[str, Any], context: Context
) -> Sink | None:
    if hole.kind == "text":
        text = choice.text_at(hole.path[2:], chunk)
        return None if text is None else TextSink(text)
    if hole.kind == "number":
        numbers = choice.numbers_at(str(hole.path[2]))
        return None if numbers is None else NumberSink(numbers)
    logprobs = choice.logprobs
    return None if logprobs is None else _logprobs_sink(hole, logprobs, chunk, context)


def _logprobs_sink(
    hole: Hole, logprobs: Logprobs, chunk: dict[str, Any], context: Context
) -> Sink | None:
    limit = context.limits.logprobs
    if hole.kind == "logprob":
        is_alone = logprobs.has_list("content")
        return LogprobSink(logprobs, limit, logprobs.extend_raw) if is_alone else None
    name = str(hole.path[-1])
    if not logprobs.has_whole(name):
        return None
    if hole.kind == "offsets":
        return OffsetsSink(logprobs, limit)
    add = partial(logprobs.extend_column, name=name)
    return LogprobSink(logprobs, limit, add, len(chunk["choices"][0]["logprobs"][name]))


def apply_run(
    template: Template,
    rows: list[Any],
    bound: dict[int, Sinks],
    index: int,
    context: Context,
) -> bool:
    """
    Add what stands in the holes of a run of events.

    Args:
        template: The events' template.
        rows: What `Template.run` returned: bytes for each event, or a tuple of them.
        bound: The sinks by choice index.
        index: The choice, if the template has no hole for it.
        context: Counts the text.

    Returns:
        Whether it was done; False if the run has to go the slow road, and then
        nothing was changed.
    """
    work: list[Prepared | None] = []
    for key, choice_rows in _by_index(template, rows, index).items():
        sinks = bound.get(key)
        if sinks is None:
            return False
        columns = _columns(template, choice_rows)
        work += [sink.prepare(column) for sink, column in zip(sinks, columns, strict=True)]
    whole = [prepared for prepared in work if prepared is not None]
    size = sum(prepared.size for prepared in whole)
    limit = context.limits.text
    if len(whole) < len(work) or (limit is not None and context.text + size > limit):
        return False
    for prepared in whole:
        prepared.add(prepared.content)
    context.text += size
    return True


def _columns(template: Template, rows: list[Any]) -> list[Sequence[bytes]]:
    """Return what stands in each hole but the index, over all *rows*."""
    if len(template.holes) <= 1:
        return [rows] if [hole for hole in template.holes if hole.kind != "index"] else []
    columns = zip(*rows, strict=True)
    return [
        column for column, hole in zip(columns, template.holes, strict=True) if hole.kind != "index"
    ]


def _by_index(template: Template, rows: list[Any], index: int) -> dict[int, list[Any]]:
    """Sort *rows* by choice."""
    at = next((n for n, hole in enumerate(template.holes) if hole.kind == "index"), None)
    if at is None:
        return {index: rows}
    sorted_rows: dict[bytes, list[Any]] = {}
    is_alone = len(template.holes) == 1
    for row in rows:
        sorted_rows.setdefault(row if is_alone else row[at], []).append(row)
    return {int(key): choice_rows for key, choice_rows in sorted_rows.items()}
