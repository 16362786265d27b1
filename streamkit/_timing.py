"""
When the chunks of a stream came: `Timing`.

A chunk is not a token: servers put several tokens into one, or half of one, and
what lies between server and recorder joins and holds back chunks.  So gaps are
gaps between chunks, and tokens per second need the server's own count.
"""

from __future__ import annotations

import math

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import attrs

from ._issues import Issue


__all__ = ["Timing", "timing_of"]

# A recording that counts from its own start begins with a small number; one that
# counts from an epoch, or a clock on the wall, does not.
LONGEST_WAIT = 600.0
# Fewer chunks may well come at the same moment.
ENOUGH_TO_STAND = 3


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


def timing_of(
    times: Sequence[Any],
    contents: Sequence[bool],
    usage: Any = None,
    *,
    started: float | None = None,
) -> tuple[Timing | None, tuple[Issue, ...]]:
    """
    Return the timing of a stream, and what is wrong with its clock.

    Args:
        times: When each chunk came, in seconds; None where that is not known.
        contents: Whether each chunk adds text or a tool call.
        usage: The response's usage, a `Usage` or a mapping.
        started: When the request was sent, on the same clock.

    >>> timing, issues = timing_of([10.0, 10.5, 11.0], [False, True, True], started=9.0)
    >>> timing.first_chunk, timing.first_content, timing.gap_max
    (1.0, 1.5, 0.5)
    """
    clean = [_seconds(time) for time in times]
    known = [time for time in clean if time is not None]
    issues = tuple(_issues(times, clean))
    if not known:
        return None, issues
    origin, zero = _origin(known[0], _seconds(started))
    content = (time for time, adds in zip(clean, contents, strict=False) if adds)
    first_content = next((time for time in content if time is not None), None)
    duration = _since(zero, max(known))
    gaps = sorted(later - earlier for earlier, later in _gaps(clean))
    timing = Timing(
        origin=origin,
        chunks=len(times),
        timed=len(known),
        first_chunk=None if origin == "first chunk" else _since(zero, known[0]),
        first_content=None if first_content is None else _since(zero, first_content),
        duration=duration,
        gap_p50=_percentile(gaps, 0.5),
        gap_p95=_percentile(gaps, 0.95),
        gap_max=_percentile(gaps, 1),
        chunks_per_second=_rate(len(known) - 1, max(known) - known[0]),
        tokens_per_second=_rate(_tokens(usage), duration),
    )
    return timing, issues


def _seconds(time: Any) -> float | None:
    """Return *time* as a number of seconds, or None if it is none."""
    if isinstance(time, bool) or not isinstance(time, (int, float)):
        return None
    try:
        seconds = float(time)
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) else None


def _origin(first: float, started: float | None) -> tuple[str, float]:
    if started is not None and started <= first:
        return "request", started
    if started is None and 0 <= first < LONGEST_WAIT:
        return "recording", 0.0
    return "first chunk", first


def _since(zero: float, time: float) -> float:
    """Return the time from *zero* to *time*, which a bad clock may put before it."""
    return max(time - zero, 0.0)


def _gaps(times: Iterable[float | None]) -> Iterator[tuple[float, float]]:
    """Yield the times of neighbours, both known, where the clock does not go backwards."""
    for earlier, later in pairwise(times):
        if earlier is not None and later is not None and earlier <= later:
            yield earlier, later


def _percentile(ordered: Sequence[float], part: float) -> float | None:
    """Return the nearest-rank percentile, which is a value that was really there."""
    return ordered[max(math.ceil(part * len(ordered)) - 1, 0)] if ordered else None


def _rate(count: float | None, seconds: float) -> float | None:
    """Return *count* per second; None if it has no meaning."""
    if not count or seconds <= 0:
        return None
    rate = count / seconds
    return rate if math.isfinite(rate) else None


def _tokens(usage: Any) -> float | None:
    is_mapping = isinstance(usage, Mapping)
    count = (
        usage.get("completion_tokens") if is_mapping else getattr(usage, "completion_tokens", None)
    )
    tokens = _seconds(count)
    return tokens if tokens is not None and tokens > 0 else None


# -- Wrong clocks --------------------------------------------------------------------


def _issues(times: Sequence[Any], clean: Sequence[float | None]) -> Iterator[Issue]:
    """Yield what is wrong with the clock, each kind once."""
    bad = [n for n, time in enumerate(times) if time is not None and clean[n] is None]
    if bad:
        yield Issue("clock_bad", f"{len(bad)} times are no finite number", bad[0])
    known = [time for time in clean if time is not None]
    missing = [n for n, time in enumerate(times) if time is None]
    if missing and known:
        yield Issue("clock_missing", f"{len(missing)} chunks have no time", missing[0])
    back = [n for n, (a, b) in enumerate(_neighbours(clean), 1) if b < a]
    if back:
        yield Issue("clock_backwards", f"the clock went backwards {len(back)} times", back[0])
    if len(known) >= ENOUGH_TO_STAND and min(known) == max(known):
        yield Issue("clock_stands", f"all {len(known)} chunks have the same time")


def _neighbours(times: Iterable[float | None]) -> Iterator[tuple[float, float]]:
    """Yield the pairs of neighbours; a time that is not known counts as no change."""
    last = -math.inf
    earlier: float | None = None
    for time in times:
        last = last if time is None else time
        if earlier is not None:
            yield earlier, last
        earlier = last
