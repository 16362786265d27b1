"""One stream of a recording, while its chunks still come, and what chunks say of it."""

from __future__ import annotations

from typing import Any

import attrs

from ._accumulator import Accumulator
from ._content import adds_content
from ._kinds import dict_entries, is_chunk
from ._payloads import Frame
from ._timing import Stopwatch


__all__ = ["Open", "id_of", "is_final", "is_opening"]


@attrs.define
class Open:
    """A stream whose chunks still come."""

    accumulator: Accumulator
    event: int
    id: str | None = None
    same_id: int = 0
    done: bool = False
    is_final: bool = False
    stopwatch: Stopwatch | None = None
    number: int = 0  # among those that are open, in order of opening
    is_listed: bool = False  # among those that have finished, and wait for their [DONE]

    def take_time(self, frame: Frame) -> None:
        """Take the time of the chunk of *frame*, the next to be added."""
        if self.stopwatch is None:
            self.stopwatch = Stopwatch()
            self.stopwatch.miss(self.accumulator.chunks, self.event)
        if is_chunk(frame.value):
            adds = not self.stopwatch.knows_content and adds_content(frame.value)
            self.stopwatch.add(frame.time, adds=adds, event=frame.event, offset=frame.offset)

    def add(self, frame: Frame, *, owned: bool) -> None:
        """Add the chunk of *frame*; a stream that failed takes no more."""
        identity = id_of(frame.value)
        if self.id is None:
            self.id = identity
        self.same_id += identity == self.id
        if not self.accumulator.has_failed:
            self.accumulator.add_plain(
                frame.value, owned=owned and frame.clean, event=frame.event, offset=frame.offset
            )


def id_of(chunk: dict[str, Any]) -> str | None:
    """Return the id of *chunk*, or None if it has none to speak of."""
    identity = chunk.get("id")
    return identity if isinstance(identity, str) and identity else None


def is_final(chunk: dict[str, Any]) -> bool:
    """Tell whether *chunk* is a whole response."""
    choices = dict_entries(chunk.get("choices"))
    if any("delta" in choice for choice in choices):
        return False
    if chunk.get("object") == "chat.completion":
        return True
    has_usage = bool(chunk.get("usage"))
    return bool(choices) and all(
        choice.get("finish_reason")
        and (bool(choice.get("message")) or (has_usage and choice.get("text")))
        for choice in choices
    )


def is_opening(chunk: dict[str, Any]) -> bool:
    """Tell whether *chunk* looks like the first of a stream: it begins, and ends nothing."""
    choices = dict_entries(chunk.get("choices"))
    return bool(choices) and all(
        not choice.get("finish_reason")
        and (
            bool(choice.get("text"))
            or (isinstance(choice.get("delta"), dict) and "role" in choice["delta"])
        )
        for choice in choices
    )
