"""
What a choice grew by: the difference between what was told of it and what is there.

The events come from the accumulator's state, not from the chunks: so the deltas
add up to the values of the full response, whatever the merge rules made of what
was sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

from ._cells import Content, Part
from ._choice import ChoiceAccumulator
from ._errors import quote
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
from ._kinds import Kind
from ._plain import as_plain
from ._rules import REASONING
from ._state import Text, unbound_context
from ._tool_growth import ToolCallGrowth
from ._views import copy_json


__all__ = ["ChoiceGrowth", "ContentGrowth"]

# The fields that are told of; `text` is a completion's.
FIELDS = frozenset({"content", "text", "refusal", *REASONING})
THINKING = "thinking"
CALLS = frozenset({"tool_calls", "function_call"})
TEXTS = "content", "text"  # of a chat, of a completion


class ContentGrowth:
    """
    What a string grew by, or a list of parts, of which only the last grows.

    Where nothing grows any more, half a surrogate pair at the end of a text stays
    alone, and is told as U+FFFD.

    Args:
        is_over: Nothing grows any more.

    Attributes:
        has_told: Whether it ever grew.
    """

    __slots__ = ("_is_over", "_nested", "_number", "_told", "has_told")

    def __init__(self, *, is_over: bool = False) -> None:
        self._is_over = is_over
        self._number = 0
        self._told: dict[str, int] = {}
        self._nested: dict[str, ContentGrowth] = {}
        self.has_told = False

    def end(self) -> None:
        """Take note that nothing grows any more."""
        self._is_over = True

    def pieces(self, kept: Any) -> Sequence[tuple[str, str]]:
        """Return what *kept* grew by: the kind, `"text"` or `"thinking"`, and the piece."""
        if isinstance(kept, list):
            kept = _content_of(kept)
        text = kept.text if isinstance(kept, Content) else kept
        if isinstance(text, (Text, str)):
            return self._grown("text", text, is_over=self._is_over)
        return list(self._parts(kept)) if isinstance(kept, Content) else ()

    def whole(self, kept: Any) -> dict[str, str]:
        """Return all of *kept*, by kind."""
        texts: dict[str, list[str]] = {}
        for kind, piece in ContentGrowth(is_over=self._is_over).pieces(kept):
            texts.setdefault(kind, []).append(piece)
        return {kind: "".join(pieces) for kind, pieces in texts.items()}

    def _parts(self, content: Content) -> Iterator[tuple[str, str]]:
        last = len(content.parts) - 1
        for number, part in enumerate(content.parts[self._number :], self._number):
            if number > self._number:
                self._number = number
                self._told, self._nested = {}, {}
            if isinstance(part, Part):
                yield from self._part(part, is_over=self._is_over or number < last)

    def _part(self, part: Part, *, is_over: bool) -> Iterator[tuple[str, str]]:
        for kind in ("text", THINKING):
            kept = part.cell(kind)
            if isinstance(kept, Text):
                yield from self._grown(kind, kept, is_over=is_over)
            elif isinstance(kept, Content):
                nested = self._nested.setdefault(kind, ContentGrowth())
                if is_over:
                    nested.end()
                yield from ((kind, piece) for _, piece in nested.pieces(kept))
                self.has_told = self.has_told or nested.has_told

    def _grown(self, kind: str, text: str | Text, *, is_over: bool) -> Sequence[tuple[str, str]]:
        told, so_far = self._told.get(kind, 0), text if isinstance(text, str) else text.so_far()
        if is_over and isinstance(text, Text) and text.half:
            so_far += "\ufffd"
        if len(so_far) <= told:
            return ()
        self._told[kind] = len(so_far)
        self.has_told = True
        return ((kind, so_far[told:]),)


def _content_of(parts: list[Any]) -> Content:
    """Return the content of a whole message that is a list of parts."""
    content = Content()
    content.add(parts, unbound_context())
    return content


class ChoiceGrowth:
    """
    Tell what happened to one choice since it was told last.

    Args:
        choice: The choice.
        kind: What kind of stream it is of.
    """

    def __init__(self, choice: ChoiceAccumulator, kind: Kind) -> None:
        self._choice = choice
        self._growth: dict[str, ContentGrowth] = {}
        self._done: dict[str, dict[str, int]] = {}  # sizes when done, by name and kind
        self._calls = ToolCallGrowth(choice)
        self._reason: Any = None
        self._growing: list[tuple[str, ContentGrowth, Any]] = []  # what the last entry was of
        self._calls_grow = False
        # A choice has one text: of one that is sent under both names, the kind's own counts.
        self._own, self._other = TEXTS if kind == "chat" else reversed(TEXTS)

    def tell(self, entry: dict[str, Any], snapshot: Any) -> list[ChoiceEvent]:
        """Return what came of *entry*, the choice's part of a chunk, which was just merged."""
        delta, message = as_plain(entry.get("delta")), entry.get("message")
        self._growing = self._kept([*_names_in(delta), *_names_in(entry), *_names_in(message)])
        events = self._deltas(snapshot)
        self._calls_grow = _has_calls(delta)
        if _has_calls(delta):
            events += self._calls.tell(delta, snapshot)
        if _has_calls(message):
            events += self._calls.tell(message, snapshot)
        logprobs = entry.get("logprobs")
        if logprobs and type(logprobs) is dict:
            events += self._logprobs(logprobs, snapshot)
        if entry.get("finish_reason") is not None:
            events += self._finish(snapshot)
        return events

    def tell_again(self, snapshot: Any) -> list[ChoiceEvent]:
        """Return what came of an entry that was like the last one, but for its texts."""
        events = self._deltas(snapshot)
        if self._calls_grow:
            events += self._calls.tell_again(snapshot)
        return events

    def _finish(self, snapshot: Any) -> Iterator[ChoiceEvent]:
        reason = self._choice.finish_reason
        if reason is not None and reason != self._reason:
            self._reason = reason
            yield from self._all_done(snapshot, once=True)
            yield from self._calls.all_done(snapshot, once=True)
            text = reason if isinstance(reason, str) else quote(reason)
            yield ChoiceFinished(index=self._choice.index, finish_reason=text, snapshot=snapshot)

    def end(self, snapshot: Any) -> Iterator[ChoiceEvent]:
        """Take note that the stream is over; yield what is done by that."""
        for growth in self._growth.values():
            growth.end()
        self._growing = self._kept(list(self._growth))
        yield from self._deltas(snapshot)
        yield from self._all_done(snapshot, once=False)
        yield from self._calls.all_done(snapshot, once=False)

    def _kept(self, names: list[str]) -> list[tuple[str, ContentGrowth, Any]]:
        """Return what is kept for those of the fields *names* that have a value."""
        names.sort(key=self._other.__eq__)  # behind the kind's own
        cells = [(name, self._choice.cell(name)) for name in names]
        return [
            (name, self._growth.setdefault(name, ContentGrowth()), cell)
            for name, cell in cells
            if cell is not None
        ]

    def _deltas(self, snapshot: Any) -> list[ChoiceEvent]:
        events: list[ChoiceEvent] = []
        for name, growth, kept in self._growing:
            if name == self._other and self._has_own:
                continue
            for kind, piece in growth.pieces(kept):
                events.append(self._delta(name, kind, piece, snapshot))
        return events

    @property
    def _has_own(self) -> bool:
        growth = self._growth.get(self._own)
        return growth is not None and growth.has_told

    def _all_done(self, snapshot: Any, *, once: bool) -> Iterator[ChoiceEvent]:
        """
        Yield that each text is done which grew since it was done last.

        With *once*, those that were are passed over: they may grow with each chunk.
        """
        for name, growth in self._growth.items():
            if (once and name in self._done) or (name == self._other and self._has_own):
                continue
            done = self._done.setdefault(name, {})
            for kind, text in growth.whole(self._choice.cell(name)).items():
                if done.get(kind) != len(text):
                    done[kind] = len(text)
                    yield self._text_done(name, kind, text, snapshot)

    def _delta(self, name: str, kind: str, piece: str, snapshot: Any) -> ChoiceEvent:
        index = self._choice.index
        if kind != THINKING and name in TEXTS:
            return ContentDelta(index=index, delta=piece, snapshot=snapshot)
        if name == "refusal":
            return RefusalDelta(index=index, delta=piece, snapshot=snapshot)
        field = THINKING if kind == THINKING else name
        return ReasoningDelta(index=index, delta=piece, field=field, snapshot=snapshot)

    def _text_done(self, name: str, kind: str, text: str, snapshot: Any) -> ChoiceEvent:
        index = self._choice.index
        if kind != THINKING and name in TEXTS:
            return ContentDone(index=index, content=text, snapshot=snapshot)
        if name == "refusal":
            return RefusalDone(index=index, refusal=text, snapshot=snapshot)
        field = THINKING if kind == THINKING else name
        return ReasoningDone(index=index, reasoning=text, field=field, snapshot=snapshot)

    def _logprobs(self, logprobs: dict[str, Any], snapshot: Any) -> Iterator[ChoiceEvent]:
        from ._converter import structure
        from ._models import ChatLogprobs, CompletionLogprobs

        cls: type[ChatLogprobs | CompletionLogprobs]
        cls = CompletionLogprobs if "tokens" in logprobs else ChatLogprobs
        try:
            entries = structure(copy_json(logprobs), cls)
        except RecursionError:  # a caller's own; the merge has refused it as `too_deep`
            return
        yield LogprobsDelta(index=self._choice.index, logprobs=entries, snapshot=snapshot)


def _has_calls(fields: Any) -> TypeGuard[dict[str, Any]]:
    return type(fields) is dict and not CALLS.isdisjoint(fields)


def _names_in(fields: Any) -> list[str]:
    """Return the names of those of *fields* that are told of."""
    return [name for name in fields if name in FIELDS] if type(fields) is dict else []
