"""What is held: by each of many open streams, and at most while a recording is rebuilt."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from streamkit import Accumulator, ChunkReader, rebuild

from .rows import Goal, Row
from .streams import Stream, blocks_of, make
from .timing import Effort, kept_and_peak, retained


__all__ = ["open_streams", "peaks"]

BLOCK: Final = 1 << 16


def open_streams(effort: Effort) -> Iterator[Row]:
    """Many accumulators at once, and how many KiB each holds."""
    short = make("padded", 12)
    goal = Goal(at_most=3)
    makers = {
        "Accumulator, new": (Accumulator, goal),
        "Accumulator, ten chunks in": (partial(_accumulator, short), goal),
        "ChunkReader and Accumulator, ten chunks in": (partial(_both, short), Goal()),
    }
    for name, (maker, bound) in makers.items():
        size = retained(maker, effort.open)
        yield Row(f"each of {effort.open:,}: {name}", size / 1024, "KiB", bound)


def _accumulator(stream: Stream) -> Accumulator:
    accumulator = Accumulator()
    for payload in stream.chunks[:10]:
        accumulator.add(payload)
    return accumulator


def _both(stream: Stream) -> tuple[ChunkReader, Accumulator]:
    reader, accumulator = ChunkReader(json="json"), Accumulator()
    for event in stream.events[:10]:
        for chunk in reader.feed(event):
            accumulator.add(chunk)
    return reader, accumulator


def peaks(effort: Effort) -> Iterator[Row]:
    """The most that is held while a recording is rebuilt, beyond the result, in blocks read."""
    for name, count in (("padded", 1), ("padded", 10), ("top5", 1)):
        stream = make(name, effort.chunks * count)
        rebuild(blocks_of(stream.data, BLOCK))  # imports do not count
        kept, peak = kept_and_peak(lambda: rebuild(blocks_of(stream.data, BLOCK)))  # noqa: B023
        label = f"peak beyond the result, {name}, {len(stream.payloads):,} chunks"
        yield Row(label, (peak - kept) / BLOCK, "blocks", Goal(at_most=2))
