"""The fast road of `ChunkReader`: chunk objects made of events that match a template."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._framing import Framer
from ._issues import IssueLog
from ._json import Decoder
from ._kinds import dict_entries, kind_of
from ._learn import learn
from ._limits import Limits
from ._mould import Mould
from ._payloads import DONE, Frame
from ._road import Road, names_in
from ._rules import RULES


__all__ = ["ReadingRoad"]


class ReadingRoad:
    """
    Read bytes into chunk objects, each event on the road that suits it.

    Args:
        log: Takes the framing's issues.
        limits: Bounds on lines, events and JSON.
        decoder: Decodes the payloads of the slow road.
        take: Takes the payloads of the slow road.
        chunks: Takes the chunks of the fast road.

    Attributes:
        framer: The slow road.
    """

    def __init__(
        self,
        log: IssueLog,
        limits: Limits,
        decoder: Decoder,
        take: Callable[[Frame], None],
        chunks: list[dict[str, Any]],
    ) -> None:
        self._log = log
        self._decoder = decoder
        self._longest = limits.longest
        self._take_frame = take
        self._chunks = chunks
        self.framer = Framer(log, limits, decoder, self._take)
        self._road = Road(self.framer, self, limits)
        self._mould: Mould | None = None
        self._varying: tuple[Any, Any] = (None, None)
        self._names: list[Any] = []
        self._latest: Frame | None = None  # and no others: what is kept is slow to free
        self._taken = 0  # frames since the last lesson
        self._is_done = False
        # The mould, if the next byte starts an event that may match its template.
        self._ready: Mould | None = None
        # What went the fast road since the slow one was last told.
        self._size = self._events = 0

    @property
    def cut(self) -> bool:
        """Whether the input ended inside a value."""
        return self.framer.cut

    def one(self, data: bytes) -> dict[str, Any] | None:
        """Return the chunk of *data* if it is just one event, and matches the template."""
        mould, size = self._ready, len(data)
        if mould is None or size > self._longest:
            return None
        template = mould.template
        # As `template.fullmatch`, without the call: this is once for each token.
        if not data.startswith(template.before) or not data.endswith(template.after):
            return None
        match = template.between.fullmatch(data, len(template.before), size - len(template.after))
        if match is None:
            return None
        try:
            chunk = mould.cast(match.groups())
        except UnicodeDecodeError:
            return None
        self._size += size
        self._events += 1
        return chunk

    def feed(self, data: bytes) -> None:
        """
        Take the next *data*.

        Raises:
            LimitExceeded: If a bound is crossed.
            FramingError: From a strict log.
        """
        self._ready = None
        self._tell()
        self._road.feed(data)
        self._ready = self._mould if self._can_run() and not self._road.has_tail else None

    def finish(self) -> None:
        """Take note of the end of the input."""
        self._ready = None
        self._tell()
        self._road.finish()

    def _tell(self) -> None:
        """Tell the slow road what went the fast one."""
        if not self._events:
            return
        self.framer.skip(self._size, self._events)
        if self._mould is not None and self._mould.template.is_bare:
            self._log.counts["bare_json"] += self._events
        self._size = self._events = 0

    def forget(self) -> None:
        """Nothing: what an event means does not depend on those before it."""

    def _take(self, frame: Frame) -> None:
        self._latest = frame
        self._taken += 1
        self._is_done = self._is_done or frame.value is DONE
        self._take_frame(frame)

    def learn_from(self, event: bytes) -> bool:
        """Give *event* to the slow road, and learn its template."""
        chunk = self._only_chunk_of(event)
        known = self._mould
        if chunk is None or (known is not None and known.template.fullmatch(event)):
            return False
        names, self._names = self._names, names_in(chunk)
        if names != self._names:  # so the one before was alone, and this one may be
            return False
        choices = dict_entries(chunk.get("choices"))
        varying = (choices[0].get("index") if choices else None, chunk.get("created"))
        many = known is not None and varying != self._varying
        rules = RULES[kind_of(chunk) or "chat"]
        template = learn(event, chunk, rules, many=many, still=False)
        self._mould = None if template is None else Mould(template, self._decoder.trusting)
        self._varying = varying
        return True

    def _only_chunk_of(self, event: bytes) -> dict[str, Any] | None:
        """Give *event* to the slow road; return its chunk, if it is just that, and clean."""
        starts_clean = self.framer.is_between_events
        before = self._log.repairs
        self._taken = 0
        self.framer.feed(event)
        is_clean = starts_clean and self._taken == 1 and self._log.repairs == before
        if not is_clean or self._is_done or not self.framer.is_between_events:
            return None
        chunk = None if self._latest is None else self._latest.value
        return chunk if type(chunk) is dict else None

    def _can_run(self) -> bool:
        return not self._is_done and self.framer.is_between_events

    def run(self, data: bytes, at: int) -> int:
        """Make chunks of the events at *at* that match; return how many bytes they have."""
        mould = self._mould
        if mould is None or len(data) > self._longest or not self._can_run():
            return 0
        start, before = at, len(self._chunks)
        template = mould.template
        match = template.match(data, at)
        while match is not None:
            try:
                self._chunks.append(mould.cast(match.groups()))
            except UnicodeDecodeError:
                break
            at = template.end(match)
            match = template.match(data, at)
        self._size, self._events = at - start, len(self._chunks) - before
        self._road.worked(self._events)
        self._tell()
        return at - start
