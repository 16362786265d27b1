"""
What a choice grew by: the difference between what was told of it and what is there.

The events come from the accumulator's state, not from the chunks: so the deltas
add up to the values of the full response, whatever the merge rules made of what
was sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ._cells import Content, Part
from ._choice import ChoiceAccumulator
from ._events import (
    ChoiceEvent,
    ChoiceFinished,
    ContentDelta,
    ContentDone,
    LogprobsDelta,
    ReasoningDelta,
    ReasoningDone,
    RefusalDelta,
    RefusalDone,
)
from ._plain import as_plain
from ._rules import REASONING
from ._state import Context, Text
from ._tool_growth import ToolCallGrowth
from ._views import copy_json


__all__ = ["ChoiceGrowth", "ContentGrowth"]

# The fields that are told of; `text` is a completion's.
FIELDS = frozenset({"content", "text", "refusal", *REASONING})
THINKING = "thinking"


class ContentGrowth:
    """
    What a string grew by, or a list of parts, of which only the last grows.

    Args:
        context: Given when the stream is over: then half a surrogate pair at the end
            of a text stays alone, and is told as U+FFFD.
    """

    __slots__ = ("_context", "_nested", "_number", "_told")

    def __init__(self, context: Context | None = None) -> None:
        self._context = context
        self._number = 0
        self._told: dict[str, int] = {}
        self._nested: dict[str, ContentGrowth] = {}

    def end(self, context: Context) -> None:
        """Take note that the stream is over."""
        self._context = context
        for nested in self._nested.values():
            nested.end(context)

    def pieces(self, kept: Any) -> Sequence[tuple[str, str]]:
        """Return what *kept* grew by: the kind, `"text"` or `"thinking"`, and the piece."""
        text = kept.text if isinstance(kept, Content) else kept
        if isinstance(text, (Text, str)):
            return self._grown("text", text)
        return list(self._parts(kept)) if isinstance(kept, Content) else ()

    def whole(self, kept: Any) -> dict[str, str]:
        """Return all of *kept*, by kind."""
        texts: dict[str, list[str]] = {}
        for kind, piece in ContentGrowth(self._context).pieces(kept):
            texts.setdefault(kind, []).append(piece)
        return {kind: "".join(pieces) for kind, pieces in texts.items()}

    def _parts(self, content: Content) -> Iterator[tuple[str, str]]:
        for number, part in enumerate(content.parts[self._number :], self._number):
            if number > self._number:
                self._number = number
                self._told, self._nested = {}, {}
            if isinstance(part, Part):
                yield from self._part(part)

    def _part(self, part: Part) -> Iterator[tuple[str, str]]:
        for kind in ("text", THINKING):
            kept = part.cell(kind)
            if isinstance(kept, Text):
                yield from self._grown(kind, kept)
            elif isinstance(kept, Content):
                nested = self._nested.setdefault(kind, ContentGrowth(self._context))
                yield from ((kind, piece) for _, piece in nested.pieces(kept))

    def _grown(self, kind: str, text: str | Text) -> Sequence[tuple[str, str]]:
        told, so_far = self._told.get(kind, 0), self._so_far(text)
        if len(so_far) <= told:
            return ()
        self._told[kind] = len(so_far)
        return ((kind, so_far[told:]),)

    def _so_far(self, text: str | Text) -> str:
        if isinstance(text, str):
            return text
        return text.so_far() if self._context is None else text.value(self._context)


class ChoiceGrowth:
    """
    Tell what happened to one choice since it was told last.

    Args:
        choice: The choice.
        context: That of its accumulator.
    """

    def __init__(self, choice: ChoiceAccumulator, context: Context) -> None:
        self._choice = choice
        self._context = context
        self._growth: dict[str, ContentGrowth] = {}
        self._done: dict[tuple[str, str], int] = {}  # sizes when done, by name and kind
        self._calls = ToolCallGrowth(choice)
        self._reason: Any = None

    def tell(self, entry: dict[str, Any], snapshot: Any) -> list[ChoiceEvent]:
        """Return what came of *entry*, the choice's part of a chunk, which was just merged."""
        delta, message = as_plain(entry.get("delta")), entry.get("message")
        events = self._deltas([*_names_in(delta), *_names_in(entry), *_names_in(message)], snapshot)
        if type(delta) is dict and ("tool_calls" in delta or "function_call" in delta):
            events += self._calls.tell(delta, snapshot)
        logprobs = entry.get("logprobs")
        if logprobs and type(logprobs) is dict:
            events.append(self._logprobs(logprobs, snapshot))
        if entry.get("finish_reason") is not None:
            events += self._finish(snapshot)
        return events

    def _finish(self, snapshot: Any) -> Iterator[ChoiceEvent]:
        reason = self._choice.finish_reason
        if reason is not None and reason != self._reason:
            self._reason = reason
            yield from self._all_done(snapshot)
            index = self._choice.index
            yield ChoiceFinished(index=index, finish_reason=str(reason), snapshot=snapshot)

    def end(self, snapshot: Any) -> Iterator[ChoiceEvent]:
        """Take note that the stream is over; yield what is done by that."""
        for growth in self._growth.values():
            growth.end(self._context)
        yield from self._deltas(list(self._growth), snapshot)
        yield from self._all_done(snapshot)

    def _deltas(self, names: list[str], snapshot: Any) -> list[ChoiceEvent]:
        events: list[ChoiceEvent] = []
        for name in names:
            kept = self._choice.cell(name)
            if kept is None:
                continue
            growth = self._growth.get(name)
            if growth is None:
                growth = self._growth[name] = ContentGrowth()
            events += [
                self._delta(name, kind, piece, snapshot) for kind, piece in growth.pieces(kept)
            ]
        return events

    def _all_done(self, snapshot: Any) -> Iterator[ChoiceEvent]:
        """Yield that everything is done which grew since it was done last."""
        for name, growth in self._growth.items():
            for kind, text in growth.whole(self._choice.cell(name)).items():
                if self._done.get((name, kind)) != len(text):
                    self._done[name, kind] = len(text)
                    yield self._text_done(name, kind, text, snapshot)
        yield from self._calls.end(snapshot)

    def _delta(self, name: str, kind: str, piece: str, snapshot: Any) -> ChoiceEvent:
        index = self._choice.index
        if name == "refusal":
            return RefusalDelta(index=index, delta=piece, snapshot=snapshot)
        field = _reasoning_field(name, kind)
        if field is None:
            return ContentDelta(index=index, delta=piece, snapshot=snapshot)
        return ReasoningDelta(index=index, delta=piece, field=field, snapshot=snapshot)

    def _text_done(self, name: str, kind: str, text: str, snapshot: Any) -> ChoiceEvent:
        index = self._choice.index
        if name == "refusal":
            return RefusalDone(index=index, refusal=text, snapshot=snapshot)
        field = _reasoning_field(name, kind)
        if field is None:
            return ContentDone(index=index, content=text, snapshot=snapshot)
        return ReasoningDone(index=index, reasoning=text, field=field, snapshot=snapshot)

    def _logprobs(self, logprobs: dict[str, Any], snapshot: Any) -> ChoiceEvent:
        from ._converter import structure
        from ._models import ChatLogprobs, CompletionLogprobs

        cls: type[ChatLogprobs | CompletionLogprobs]
        cls = CompletionLogprobs if "tokens" in logprobs else ChatLogprobs
        entries = structure(copy_json(logprobs), cls)
        return LogprobsDelta(index=self._choice.index, logprobs=entries, snapshot=snapshot)


def _names_in(fields: Any) -> list[str]:
    """Return the names of those of *fields* that are told of."""
    return [name for name in fields if name in FIELDS] if type(fields) is dict else []


def _reasoning_field(name: str, kind: str) -> str | None:
    """Return where the reasoning is, if text of *kind* in the field *name* is any."""
    if kind == THINKING:
        return THINKING
    return name if name in REASONING else None
