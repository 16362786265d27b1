"""
Log probabilities of one choice, in either shape.

Chat: lists of entries (`content`, `refusal`), extended.  Legacy completions:
parallel lists (`tokens`, `token_logprobs`, `top_logprobs`, `text_offset`, and
what a server adds), which must stay in step: where one is null in a chunk that
has tokens, it is padded with nulls.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ._cells import set_last
from ._state import Context, State, plain_values
from ._views import Entries, ListView, copy_json


__all__ = ["Logprobs"]

PARALLEL = frozenset({"tokens", "token_logprobs", "top_logprobs", "text_offset"})
CHAT_LISTS = ("content", "refusal")


class Logprobs:
    """The log probabilities so far."""

    __slots__ = ("_columns", "_fields", "_lists", "_rows", "_warned")

    def __init__(self) -> None:
        self._lists: dict[str, Entries] = {}  # chat: each list on its own
        self._columns: dict[str, list[Any]] = {}  # completion: lists in step
        self._rows = 0
        self._fields: State = {}
        self._warned = False

    def add(self, logprobs: dict[str, Any], context: Context) -> None:
        """Merge *logprobs*, of the next chunk."""
        lists = {name: value for name, value in logprobs.items() if isinstance(value, list)}
        if not PARALLEL.isdisjoint(logprobs):
            self._add_rows(lists, context)
        else:
            for name, entries in lists.items():
                self._list(name).extend(context.keep(entries))
        others = {name: value for name, value in logprobs.items() if name not in lists}
        for name, value in others.items():
            self._fields.setdefault(name, None)
            set_last(self._fields, {name: value}, context)
        self._check(context)

    def _list(self, name: str) -> Entries:
        entries = self._lists.get(name)
        if entries is None:
            entries = self._lists[name] = Entries()
        return entries

    @property
    def count(self) -> int:
        """How many entries came, over all lists."""
        rows = max(map(len, self._columns.values()), default=0)
        return max(rows, sum(map(len, self._lists.values())))

    def extend_raw(self, entries: Sequence[bytes]) -> None:
        """Append *entries* to chat's `content`, each a whole and valid JSON object."""
        self._list("content").extend_raw(entries)

    def _add_rows(self, lists: dict[str, list[Any]], context: Context) -> None:
        tokens = lists.get("tokens")
        added = max(map(len, lists.values()), default=0)
        expected = added if tokens is None else len(tokens)
        for name, values in lists.items():
            if not values and name not in self._columns and self._rows:
                continue  # [] adds nothing
            column = self._columns.setdefault(name, [])
            column.extend([None] * (self._rows - len(column)))
            self._watch_offsets(name, column, values, context)
            column.extend(context.keep(values))
            if len(values) not in {0, expected}:
                context.issue("logprobs_uneven", f"{len(values)} {name} for {expected} tokens")
        self._rows += added

    def _watch_offsets(
        self, name: str, column: list[Any], values: list[Any], context: Context
    ) -> None:
        if name != "text_offset" or self._warned or not values:
            return
        offsets = [at for at in [*column[-1:], *values] if isinstance(at, (int, float))]
        if any(later < earlier for earlier, later in pairwise(offsets)):
            self._warned = True
            context.issue("text_offset_order", "text_offset goes backwards")

    def _check(self, context: Context) -> None:
        bound = context.limits.logprobs
        if bound is not None and self.count > bound:
            context.limits.check("logprobs", self.count, context.offset)

    def value(self, context: Context) -> dict[str, Any]:
        """Return the object so far; its lists are views that later entries do not change."""
        value = plain_values(self._fields, context)
        for name, column in self._columns.items():
            column.extend([None] * (self._rows - len(column)))
            value[name] = ListView(column, len(column), copy_json)
        for name, entries in self._lists.items():
            value[name] = ListView(entries, len(entries))
        return value
