"""
An hour's worth of mixed streams through one process, and the memory by time.

    python -m benchmarks.soak --connections 20

As many streams as come in an hour over so many connections, each at 60 chunks a second
and some 300 chunks long; they are read as fast as they can be.  Every way to read has its
turn: whole, live, chunk by chunk, as a recording; some are cut, some broken.  The exit
status is 1 if memory or the number of objects still grows in the second half.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
import time

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from streamkit import Accumulator, ChunkReader, Stream, rebuild, recordings

from .streams import STREAMS, make


__all__ = ["WAYS", "main", "soak", "streams"]

CHUNKS: Final = 300
RATE: Final = 60
REPORTS: Final = 12
# Of memory, between the middle and the end: what allocators and caches may do.
SLACK: Final = 1.03


def streams() -> list[bytes]:
    """Return streams of every shape; of each three: one like any, one cut, one with an error."""
    made = []
    for name in STREAMS:
        data = make(name, CHUNKS).data
        error = data[: data.rfind(b"data: [DONE]")] + b'data: {"error":{"message":"busy"}}\n\n'
        made += [data, data[: len(data) * 2 // 3], error]
    return made


def blocks(data: bytes, size: int = 700) -> Iterator[bytes]:
    """Yield *data* as they come over a network."""
    return (data[at : at + size] for at in range(0, len(data), size))


# -- The ways to read ----------------------------------------------------------------


def whole(data: bytes) -> object:
    """All at once."""
    return rebuild(data).response


def live(data: bytes) -> object:
    """Event by event."""
    with Stream(blocks(data)) as stream:
        for _ in stream:
            pass
    return stream.outcome.response


def left_early(data: bytes) -> object:
    """Half of it, and then the client goes away."""
    with Stream(blocks(data)) as stream:
        for number, _ in enumerate(stream):
            if number > CHUNKS // 2:
                break
    return stream.outcome.response


def chunk_by_chunk(data: bytes) -> object:
    """With snapshots on the way."""
    reader, accumulator = ChunkReader(), Accumulator()
    for block in blocks(data):
        for chunk in reader.feed(block):
            accumulator.add(chunk)
        accumulator.snapshot()
    return accumulator.finish().response


def as_a_log(data: bytes) -> object:
    """As a container's log has it."""
    lines = data.decode().splitlines(keepends=True)
    rows = (json.dumps({"log": line, "time": "2026-01-01T00:00:00Z"}) + "\n" for line in lines)
    return list(recordings.rebuild("".join(rows)))


WAYS: Final[tuple[Callable[[bytes], object], ...]] = (
    whole,
    live,
    left_early,
    chunk_by_chunk,
    as_a_log,
)


# -- The soak ------------------------------------------------------------------------


def memory() -> int:
    """Return how many bytes of memory the process has now; 0 where that is not known."""
    path = Path("/proc/self/statm")
    return int(path.read_text(encoding="ascii").split()[1]) * 4096 if path.exists() else 0


def soak(connections: int, seconds: int = 3600) -> Iterator[tuple[int, int, int]]:
    """Read the streams of *seconds*; yield how many were read, memory and objects, now and then."""
    count = connections * seconds * RATE // CHUNKS
    found, draw = streams(), random.Random(0)
    for number in range(1, count + 1):
        WAYS[number % len(WAYS)](draw.choice(found))
        if number % max(1, count // REPORTS) == 0:
            gc.collect()
            yield number, memory(), len(gc.get_objects())


def main(arguments: list[str] | None = None) -> int:
    """Run it, and print a line for each twelfth."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--connections", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=3600, help="of streams, not of running")
    args = parser.parse_args(arguments)
    began, rows = time.perf_counter(), []
    for count, held, objects in soak(args.connections, args.seconds):
        rows.append((held, objects))
        passed = time.perf_counter() - began
        print(
            f"{passed:7.1f} s {count:8,} streams {held / 2**20:7.1f} MiB {objects:8,} objects",
            flush=True,
        )
    return int(grows(rows))


def grows(rows: list[tuple[int, int]]) -> bool:
    """Tell whether the end has more than the middle had."""
    if not rows:
        return False
    middle, end = rows[len(rows) // 2], rows[-1]
    return any(now > before * SLACK for before, now in zip(middle, end, strict=True))


if __name__ == "__main__":
    sys.exit(main())
