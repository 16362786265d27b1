"""The timeline of a stream as SVG: when its chunks came, and the gaps between them."""

from __future__ import annotations

import math

from collections.abc import Iterator, Sequence
from itertools import pairwise

import attrs

from streamkit._errors import amount
from streamkit._timing import Timing

from ._columns import seconds
from ._html import text


__all__ = ["timeline"]

WIDTH, LEFT, RIGHT = 1000, 70, 20
CHUNKS, GAPS = (40, 80), (100, 180)  # top and bottom of the lanes
BOTTOM = 215
TICKS = 5
SCALE = WIDTH - LEFT - RIGHT
LABEL = 230  # what a label takes; beyond it is written to the left


@attrs.frozen
class _Axis:
    """Where a time is drawn."""

    zero: float
    end: float

    def at(self, time: float) -> int:
        length = self.end - self.zero
        part = (time - self.zero) / length if length > 0 else 0.0
        return LEFT + round(SCALE * min(max(part, 0.0), 1.0))


def timeline(timing: Timing, times: Sequence[float], name: str) -> Iterator[str]:
    """
    Yield the picture.

    Chunks that would lie on one another are drawn once, so that a picture of a
    million chunks is no larger than one of a thousand.

    Args:
        timing: The stream's timing.
        times: When each chunk came; NaN if that is not known.
        name: What the picture's parts are called, unique in the page.
    """
    known = [time for time in times if math.isfinite(time)]
    axis = _Axis(known[0] - (timing.first_chunk or 0.0), max(known))
    yield f'<div class="chart" role="group" tabindex="0" aria-labelledby="{name}-title">'
    yield (
        f'<svg viewBox="0 0 {WIDTH} {BOTTOM}" role="img" '
        f'aria-labelledby="{name}-title" aria-describedby="{name}-desc">'
    )
    yield f'<title id="{name}-title">When the chunks came</title>'
    yield f'<desc id="{name}-desc">{text(_words(timing))}</desc>'
    yield from _lanes()
    yield from _chunks(known, axis)
    yield from _gaps(times, axis)
    yield from _firsts(timing, axis)
    yield from _ticks(axis)
    yield "</svg></div>\n"


def _words(timing: Timing) -> str:
    return (
        f"{amount(timing.timed, 'chunk')} in {seconds(timing.duration)}; the first content after "
        f"{seconds(timing.first_content)}; the longest gap {seconds(timing.gap_max)}"
    )


def _lanes() -> Iterator[str]:
    for label, (top, bottom) in (("chunks", CHUNKS), ("gaps", GAPS)):
        yield f'<text x="4" y="{(top + bottom) // 2 + 4}">{label}</text>'
        yield f'<path class="axis" d="M{LEFT} {bottom}H{WIDTH - RIGHT}"/>'


def _chunks(known: Sequence[float], axis: _Axis) -> Iterator[str]:
    top, bottom = CHUNKS
    for place in sorted(set(map(axis.at, known))):
        yield f'<rect class="chunk" x="{place}" y="{top}" width="1.5" height="{bottom - top}"/>'


def _gaps(times: Sequence[float], axis: _Axis) -> Iterator[str]:
    """Yield a bar for each gap, where it ends; the height is its length."""
    longest: dict[int, float] = {}
    for earlier, later in pairwise(times):
        if later > earlier and math.isfinite(later - earlier):
            place = axis.at(later)
            longest[place] = max(longest.get(place, 0.0), later - earlier)
    top, bottom = GAPS
    most = max(longest.values(), default=1.0)
    for place, gap in sorted(longest.items()):
        height = max(round((bottom - top) * gap / most, 1), 1)
        yield f'<rect class="gap" x="{place}" y="{bottom - height}" width="1.5" height="{height}">'
        yield f"<title>{seconds(gap)}</title></rect>"


def _firsts(timing: Timing, axis: _Axis) -> Iterator[str]:
    marks = (("first chunk", timing.first_chunk, 14), ("first content", timing.first_content, 30))
    for label, wait, height in marks:
        if wait is None:
            continue
        place = axis.at(axis.zero + wait)
        is_right = place > WIDTH - LABEL
        anchor, shift = ("end", -6) if is_right else ("start", 6)
        yield f'<path class="first" d="M{place} {height - 10}V{CHUNKS[1]}"/>'
        yield (
            f'<text class="label" x="{place + shift}" y="{height}" '
            f'text-anchor="{anchor}">{label} {seconds(wait)}</text>'
        )


def _ticks(axis: _Axis) -> Iterator[str]:
    for number in range(TICKS + 1):
        time = (axis.end - axis.zero) * number / TICKS
        place = axis.at(axis.zero + time)
        anchor = "end" if number == TICKS else "middle"
        yield f'<path class="axis" d="M{place} {GAPS[1]}v6"/>'
        yield f'<text x="{place}" y="{GAPS[1] + 22}" text-anchor="{anchor}">{seconds(time)}</text>'
        if axis.end <= axis.zero:
            return
