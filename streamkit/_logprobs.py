"""
Log probabilities of one choice, in either shape.

Chat: lists of entries (`content`, `refusal`), extended.  Legacy completions:
parallel lists (`tokens`, `token_logprobs`, `top_logprobs`, `text_offset`, and
what a server adds), which must stay in step: where one is null in a chunk that
has tokens, it is padded with nulls.
"""

from __future__ import annotations

import math

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from ._cells import set_last
from ._rules import PARALLEL
from ._state import Cell, Context, State, plain_values
from ._views import Entries, ListView, copy_json


__all__ = ["Logprobs"]

# So many lists in step count as one; servers send four to six.
LISTS_IN_STEP = 8


class Logprobs(Cell):
    """The log probabilities so far."""

    __slots__ = ("_alone", "_columns", "_fields", "_last_offset", "_lists", "_rows", "_warned")

    def __init__(self) -> None:
        self._lists: dict[str, Entries] = {}  # chat: each list on its own
        self._alone = 0  # how many entries those lists have
        self._columns: dict[str, Entries] = {}  # completion: lists in step
        self._rows = 0  # the length of the longest column
        self._fields: State = {}
        self._last_offset: Any = None
        self._warned = False

    def add(self, logprobs: dict[str, Any], context: Context) -> None:
        """Merge *logprobs*, of the next chunk."""
        lists = {name: value for name, value in logprobs.items() if isinstance(value, list)}
        rows = self._in_step(lists, logprobs)
        if rows:
            self._add_rows(rows, context)
        for name, entries in lists.items():
            if name not in rows:
                self._list(name).extend(context.keep(entries))
                self._alone += len(entries)
        if len(lists) != len(logprobs):
            others = {name: value for name, value in logprobs.items() if name not in lists}
            self._add_others(others, context)
        self._check(self.count, context)

    def _in_step(self, lists: dict[str, Any], logprobs: dict[str, Any]) -> dict[str, Any]:
        """Return those of *lists* that stay in step; each list stays what it was at first."""
        if PARALLEL.isdisjoint(logprobs):
            return {name: lists[name] for name in self._columns if name in lists}
        return {name: entries for name, entries in lists.items() if name not in self._lists}

    def _add_others(self, others: dict[str, Any], context: Context) -> None:
        for name in others:
            self._fields.setdefault(name)
        set_last(self._fields, others, context)

    def _list(self, name: str) -> Entries:
        entries = self._lists.get(name)
        if entries is None:
            entries = self._lists[name] = Entries()
        return entries

    @property
    def count(self) -> int:
        """How many entries there are, as `Limits.logprobs` counts them."""
        return self.count_with(0)

    def count_with(self, more: int, names: Iterable[str] = ()) -> int:
        """
        Return how many entries there are with *more* in one list, or in each of those in step.

        Args:
            more: How many.
            names: Those of the lists in step, known or not, that are to get them.
        """
        # What is in step is padded: a list that comes late, or once, is as long as all.
        new = sum(name not in self._columns for name in names)
        each = math.ceil((len(self._columns) + new) / LISTS_IN_STEP)
        return max((self._rows + more) * each, self._alone + more)

    def _check(self, count: int, context: Context) -> None:
        bound = context.limits.logprobs
        if bound is not None and count > bound:
            context.limits.check("logprobs", count, context.offset)

    def _add_rows(self, lists: dict[str, list[Any]], context: Context) -> None:
        added = max(map(len, lists.values()))
        self._check(self.count_with(added, lists), context)
        tokens = lists.get("tokens")
        expected = added if tokens is None else len(tokens)
        for name, values in lists.items():
            if not values and name not in self._columns and self._rows:
                continue  # [] adds nothing
            column = self._column(name)
            if name == "text_offset":
                self._watch_offsets(values, context)
            column.extend(context.keep(values))
            if len(values) not in {0, expected}:
                context.issue("logprobs_uneven", f"{len(values)} {name} for {expected} tokens")
        self._rows += added

    def _column(self, name: str) -> Entries:
        """Return the list called *name*, padded with nulls to the rows so far."""
        column = self._columns.get(name)
        if column is None:
            column = self._columns[name] = Entries()
        missing = self._rows - len(column)
        if missing:
            column.extend([None] * missing)
            if name == "text_offset":
                self._last_offset = None
        return column

    def _watch_offsets(self, values: list[Any], context: Context) -> None:
        """Report the first step back of `text_offset`."""
        if not values:
            return
        offsets = [at for at in (self._last_offset, *values) if isinstance(at, (int, float))]
        self._last_offset = values[-1]
        if not self._warned and any(later < earlier for earlier, later in pairwise(offsets)):
            self._warned = True
            context.issue("text_offset_order", "text_offset goes backwards")

    # -- What the fast road writes to ---------------------------------------------

    def extend_raw(self, entries: bytes, count: int) -> None:
        """Append *count* entries to chat's `content`: valid JSON, parted by commas."""
        self._list("content").extend_raw(entries, count)
        self._alone += count

    def has_list(self, name: str) -> bool:
        """Tell whether *name* is a list on its own, in step with no other."""
        return name in self._lists

    def has_whole(self, name: str) -> bool:
        """Tell whether the list *name* has an entry for each row so far."""
        return name in self._columns and len(self._columns[name]) == self._rows

    def are_in_order(self, offsets: list[int]) -> bool:
        """Tell whether *offsets* can follow the `text_offset` so far without an issue."""
        return self._warned or (
            offsets == sorted(offsets)
            and not (isinstance(self._last_offset, (int, float)) and self._last_offset > offsets[0])
        )

    def extend_column(self, entries: bytes, count: int, name: str) -> None:
        """Append *count* entries to the parallel list *name*, likewise."""
        column = self._columns[name]
        column.extend_raw(entries, count)
        self._rows = max(self._rows, len(column))

    def extend_offsets(self, offsets: list[int]) -> None:
        """Append to `text_offset`."""
        column = self._columns["text_offset"]
        column.extend(offsets)
        self._last_offset = offsets[-1]
        self._rows = max(self._rows, len(column))

    def value(self, context: Context) -> dict[str, Any]:
        """Return the object so far; its lists are views that later entries do not change."""
        value = plain_values(self._fields, context)
        for name in self._columns:
            column = self._column(name)
            value[name] = ListView(column, len(column), copy_json)
        for name, entries in self._lists.items():
            value[name] = ListView(entries, len(entries))
        return value
