"""
When the chunks of a stream came: `Timing`, and the `Stopwatch` that takes it.

A chunk is not a token: servers put several tokens into one, or half of one, and
what lies between server and recorder joins and holds back chunks.  So gaps are
gaps between chunks, and tokens per second need the server's own count.
"""

from __future__ import annotations

import math

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from ._errors import amount
from ._issues import Issue


__all__ = ["Stopwatch", "Timing"]

# A recording that counts from its own start begins with a small number; one that
# counts from an epoch, or a clock on the wall, does not.
LONGEST_WAIT = 600.0
# Fewer chunks may well come at the same moment.
ENOUGH_TO_STAND = 3
# No server keeps a connection silent for longer: the clock was set, or two of
# different zones were mixed.
LONGEST_GAP = 1800.0
# In seconds since 1970; beyond it is no time but a number of another unit.
YEAR_10000 = 253_402_300_800


@attrs.frozen(kw_only=True)
class Timing:
    """
    When the chunks of a stream came, in seconds; a chunk is not a token.

    Attributes:
        origin: What the times to the first chunk and to the first content count
            from: `"request"`, the moment it was sent; `"recording"`, the zero of
            a recording that has times of its own; or `"first chunk"`, if neither
            is known.
        chunks: How many chunks there were.
        timed: How many of them have a time.
        first_chunk: Time to the first chunk; None if the origin is that chunk.
        first_content: Time to the first chunk that adds text or a tool call; None
            if there was none.
        duration: Time from the origin to the last chunk.
        gap_p50: The gap between two chunks that half of the gaps do not exceed.
        gap_p95: The gap that 95 of 100 do not exceed.
        gap_max: The longest gap.
        chunks_per_second: Chunks after the first, over the time from first to last.
        tokens_per_second: Completion tokens as `usage` counts them, over
            `duration`; None if the server did not say how many there were.
    """

    origin: str
    chunks: int
    timed: int
    first_chunk: float | None = None
    first_content: float | None = None
    duration: float | None = None
    gap_p50: float | None = None
    gap_p95: float | None = None
    gap_max: float | None = None
    chunks_per_second: float | None = None
    tokens_per_second: float | None = None


@attrs.define
class _Fault:
    """What is wrong with a clock: how often, and where first."""

    count: int = 0
    event: int | None = None
    offset: int | None = None

    def add(self, event: int | None, offset: int | None, count: int = 1) -> None:
        if not self.count:
            self.event, self.offset = event, offset
        self.count += count

    def issues(self, code: str, message: str, what: str) -> Iterator[Issue]:
        if self.count:
            told = message.format(amount(self.count, what))
            yield Issue(code, told, self.event, self.offset)


class Stopwatch:
    """
    Take the times of one stream's chunks, one after another.

    Only the gaps are kept: 8 bytes a chunk.

    >>> watch = Stopwatch()
    >>> for time in (10.0, 10.5, 11.5):
    ...     watch.add(time, adds=time > 10)
    >>> timing = watch.timing(started=9.0)
    >>> timing.first_chunk, timing.first_content, timing.gap_max
    (1.0, 1.5, 1.0)
    """

    def __init__(self) -> None:
        self._chunks = self._timed = 0
        self._first = self._content = self._before = self._known = math.nan
        self._least, self._most = math.inf, -math.inf
        self._gaps = array("d")
        self._bad, self._missing, self._back, self._jumps = (_Fault() for _ in range(4))

    @property
    def knows_content(self) -> bool:
        """Whether the time of the first content is known, so that no more need be asked."""
        return not math.isnan(self._content)

    def miss(self, chunks: int, event: int | None = None) -> None:
        """Take note of *chunks* that have no time, the first of them number *event*."""
        if chunks:
            self._chunks += chunks
            self._before = math.nan
            self._missing.add(event, None, chunks)

    def add(
        self,
        time: Any,
        *,
        adds: bool = False,
        event: int | None = None,
        offset: int | None = None,
    ) -> None:
        """
        Take note of a chunk.

        Args:
            time: When it came, in seconds; None if that is not known.
            adds: Whether it adds text or a tool call.
            event: Its number, for issues.
            offset: Where it is, for issues.
        """
        self._chunks += 1
        seconds = _seconds(time)
        if seconds is None:
            self._before = math.nan
            (self._missing if time is None else self._bad).add(event, offset)
            return
        self._timed += 1
        if self._timed == 1:
            self._first = seconds
        if adds and not self.knows_content:
            self._content = seconds
        self._step(seconds, event, offset)

    def _step(self, seconds: float, event: int | None, offset: int | None) -> None:
        # Comparisons with NaN, a time that is not known, are false.
        if seconds < self._known:
            self._back.add(event, offset)
        elif seconds - self._known > LONGEST_GAP:
            self._jumps.add(event, offset)
        if seconds >= self._before:
            self._gaps.append(seconds - self._before)
        self._least = min(self._least, seconds)
        self._most = max(self._most, seconds)
        self._before = self._known = seconds

    def timing(self, usage: Any = None, *, started: Any = None) -> Timing | None:
        """
        Return the timing so far, or None if no time is known.

        Args:
            usage: The response's usage, a `Usage` or a mapping.
            started: When the request was sent, on the same clock.
        """
        if not self._timed:
            return None
        origin, zero = _origin(self._first, _seconds(started))
        gaps = sorted(self._gaps)
        duration = _since(zero, self._most)
        return Timing(
            origin=origin,
            chunks=self._chunks,
            timed=self._timed,
            first_chunk=None if origin == "first chunk" else _since(zero, self._first),
            first_content=_since(zero, self._content) if self.knows_content else None,
            duration=duration,
            gap_p50=_percentile(gaps, 0.5),
            gap_p95=_percentile(gaps, 0.95),
            gap_max=_percentile(gaps, 1),
            chunks_per_second=_rate(self._timed - 1, self._most - self._first),
            tokens_per_second=_rate(_tokens(usage), duration),
        )

    def issues(self) -> Iterator[Issue]:
        """Yield what is wrong with the clock, each kind once."""
        bad = "{} beyond the year 9999, or no number"
        yield from self._bad.issues("clock_bad", bad, "time")
        if self._timed:
            yield from self._missing.issues("clock_missing", "{} without a time", "chunk")
        yield from self._back.issues("clock_backwards", "the clock went backwards {}", "time")
        yield from self._jumps.issues("clock_jumps", "{} longer than half an hour", "gap")
        if self._timed >= ENOUGH_TO_STAND and self._least == self._most:
            yield Issue("clock_stands", f"all {self._timed} chunks have the same time")


def _seconds(time: Any) -> float | None:
    """Return *time* as a number of seconds, or None if it is none."""
    if isinstance(time, bool) or not isinstance(time, (int, float)):
        return None
    return float(time) if -YEAR_10000 < time < YEAR_10000 else None


def _origin(first: float, started: float | None) -> tuple[str, float]:
    if started is not None and started <= first:
        return "request", started
    if started is None and 0 <= first < LONGEST_WAIT:
        return "recording", 0.0
    return "first chunk", first


def _since(zero: float, time: float) -> float:
    """Return the time from *zero* to *time*, which a bad clock may put before it."""
    return max(time - zero, 0.0)


def _percentile(ordered: Sequence[float], part: float) -> float | None:
    """Return the nearest-rank percentile, which is a value that was really there."""
    return ordered[max(math.ceil(part * len(ordered)) - 1, 0)] if ordered else None


def _rate(count: float | None, seconds: float) -> float | None:
    """Return *count* per second; None if it has no meaning."""
    if count is None or count <= 0 or seconds <= 0:
        return None
    rate = count / seconds
    return rate if math.isfinite(rate) else None


def _tokens(usage: Any) -> float | None:
    is_mapping = isinstance(usage, Mapping)
    count = (
        usage.get("completion_tokens") if is_mapping else getattr(usage, "completion_tokens", None)
    )
    return _seconds(count)
