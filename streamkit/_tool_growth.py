"""What the tool calls of a choice grew by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from ._choice import ChoiceAccumulator
from ._events import ToolCallArgumentsDelta, ToolCallDone, ToolCallEvent, ToolCallStarted
from ._json import NO_VALUE, whole_value
from ._kinds import dict_entries
from ._state import unbound_context
from ._tools import Call, FunctionCallText, ToolCalls


__all__ = ["ToolCallGrowth"]


@attrs.define(eq=False)
class _Told:
    """
    A call, and what was told of it.

    Attributes:
        position: Which it is, in order of arrival; None for the legacy `function_call`.
        call: The call; None likewise.
        size: How many characters of its arguments were told.
        done: How many when it was said to be done; -1 if it never was.
    """

    position: int | None
    call: Call | None
    callee: FunctionCallText | None
    has_started: bool = False
    size: int = 0
    done: int = -1

    def update(self) -> str:
        """Return the arguments so far."""
        if self.call is not None:
            self.callee = self.call.callee
        return "" if self.callee is None else self.callee.text.so_far()

    @property
    def was_done(self) -> bool:
        return self.done >= 0

    @property
    def is_whole(self) -> bool:
        return self.call is not None and self.call.is_whole()

    @property
    def identity(self) -> dict[str, Any]:
        """The fields that all events of the call have."""
        name = None if self.callee is None else self.callee.name
        identity = None if self.call is None else self.call.id
        return {"position": self.position, "id": identity or None, "name": name or None}


class ToolCallGrowth:
    """
    Tell what happened to the tool calls of *choice* since they were told last.

    A call is done when its choice is; or, if its arguments are a whole JSON object,
    as soon as another begins, so that it can be run while the stream goes on.
    """

    def __init__(self, choice: ChoiceAccumulator) -> None:
        self._choice = choice
        self._told: dict[Any, _Told] = {}
        self._count = 0
        self._latest: _Told | None = None
        self._touched: list[_Told] = []  # by the last delta
        self._whole: ToolCalls | None = None  # those of a whole message

    def tell(self, delta: dict[str, Any], snapshot: Any) -> Iterator[ToolCallEvent]:
        """Yield what came of *delta*, the choice's part of a chunk, or of a whole message."""
        self._touched = []
        if delta.get("tool_calls"):
            calls = self._whole or self._choice.cell("tool_calls")
            if isinstance(calls, list):
                calls = self._whole = _calls_of(calls)
            if isinstance(calls, ToolCalls):
                self._touched = self._touched_by(delta["tool_calls"], calls)
        if delta.get("function_call"):
            callee = self._choice.cell("function_call")
            if type(callee) is dict:
                callee = _callee_of(callee)
            if isinstance(callee, FunctionCallText):
                told = self._told.setdefault("function_call", _Told(None, None, callee))
                self._touched.append(told)
        yield from self.tell_again(snapshot)

    def tell_again(self, snapshot: Any) -> Iterator[ToolCallEvent]:
        """Yield what came of a delta for the same calls as the last one."""
        for told in self._touched:
            yield from self._tell(told, snapshot)

    def _touched_by(self, entries: Any, calls: ToolCalls) -> list[_Told]:
        new = calls.calls[self._count :]
        for position, call in enumerate(new, self._count):
            self._told[call] = _Told(position, call, None)
        self._count += len(new)
        touched = dict.fromkeys([*calls.touched_by(entries), *new])
        return sorted((self._told[call] for call in touched), key=lambda told: told.position or 0)

    def _tell(self, told: _Told, snapshot: Any) -> Iterator[ToolCallEvent]:
        text = told.update()
        index = self._choice.index
        if not told.has_started and (text or told.identity["name"]):
            yield from self._begin(told, snapshot)
        if len(text) > told.size:
            piece, told.size = text[told.size :], len(text)
            yield ToolCallArgumentsDelta(
                index=index, delta=piece, snapshot=snapshot, **told.identity
            )

    def _begin(self, told: _Told, snapshot: Any) -> Iterator[ToolCallEvent]:
        before, self._latest, told.has_started = self._latest, told, True
        if before is not None and before.is_whole:
            yield from self._end(before, snapshot)
        yield ToolCallStarted(index=self._choice.index, snapshot=snapshot, **told.identity)

    def all_done(self, snapshot: Any, *, once: bool) -> Iterator[ToolCallEvent]:
        """
        Yield that each call is done which grew since it was done last.

        With *once*, those that were are passed over: they may grow with each chunk.
        """
        for told in self._told.values():
            if not (once and told.was_done):
                yield from self._end(told, snapshot)

    def _end(self, told: _Told, snapshot: Any) -> Iterator[ToolCallEvent]:
        text = told.update()
        if told.done == len(text):
            return
        if not told.has_started:
            yield from self._begin(told, snapshot)
        told.done = len(text)
        value = whole_value(text)
        is_json = value is not NO_VALUE
        yield ToolCallDone(
            index=self._choice.index,
            arguments=text,
            parsed=value if is_json else None,
            is_json=is_json,
            snapshot=snapshot,
            **told.identity,
        )


def _calls_of(entries: list[Any]) -> ToolCalls:
    """Return the calls of a whole message, each of them one entry."""
    calls = ToolCalls()
    numbered = [{**entry, "index": at} for at, entry in enumerate(dict_entries(entries))]
    calls.add(numbered, unbound_context())
    return calls


def _callee_of(function: dict[str, Any]) -> FunctionCallText:
    callee = FunctionCallText()
    callee.add(function, unbound_context())
    return callee
