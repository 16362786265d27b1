"""How cost grows: with the stream, with snapshots, and with what an attacker sends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from streamkit import Accumulator, PartialJSON, rebuild

from .ours import live, parse, read
from .rows import Goal, Row
from .streams import blocks_of, make
from .timing import Effort, Run, clock, race


__all__ = ["growth", "snapshots", "worst"]

MIB: Final = 1 << 20
# Ten times the chunks, and what a chunk may cost more then.
TENFOLD: Final = Goal(at_most=1.2)
DOUBLE: Final = Goal(at_most=2.3)
READ_EACH: Final = 100  # chunks


def growth(effort: Effort) -> Iterator[Row]:
    """Time per chunk of a stream ten times as long, as a multiple."""
    middle = effort.chunks
    yield _per_chunk(effort, "rebuild padded", _rebuilt("padded"), middle // 10)
    yield _per_chunk(effort, "rebuild padded", _rebuilt("padded"), middle)
    yield _per_chunk(effort, "rebuild top5", _rebuilt("top5"), middle)
    yield _per_chunk(effort, "live padded", _live, middle // 10)
    yield _per_chunk(effort, "live padded", _live, middle)
    yield _per_chunk(effort, "PartialJSON", _arguments, middle)


def _per_chunk(effort: Effort, name: str, run_of: Callable[[int], Run], count: int) -> Row:
    times = race(effort, {"short": run_of(count), "long": run_of(10 * count)})
    label = f"{name}, {count:,} to {10 * count:,} chunks | per chunk"
    return Row(label, times["long"] / times["short"] / 10, goal=TENFOLD)


def _rebuilt(name: str) -> Callable[[int], Run]:
    return lambda count: partial(rebuild, make(name, count).data, json="json")


def _live(count: int) -> Run:
    return partial(live, make("padded", count).events)


def _arguments(count: int) -> Run:
    """Arguments of one long text, a few characters a chunk; the value read now and then."""
    pieces = ['{"text": "', *["word\\n"] * count, '"}']
    return partial(_read_arguments, pieces)


def _read_arguments(pieces: Sequence[str]) -> None:
    arguments = PartialJSON()
    for number, piece in enumerate(pieces):
        arguments.feed(piece)
        if number % READ_EACH == 0:
            arguments.value()


def snapshots(effort: Effort) -> Iterator[Row]:
    """One after each chunk, on average: the snapshot alone, without the add."""
    for name in ("text", "n4", "top5"):
        chunks = make(name, effort.chunks).chunks
        best = min(_snapshots(chunks) for _ in range(effort.rounds))
        label = f"snapshot() after each of {len(chunks):,} chunks, {name}"
        yield Row(label, best * 1e6, "us", Goal(at_most=40) if name == "text" else Goal())


def _snapshots(chunks: Sequence[object]) -> float:
    """Return how long a snapshot took, on average, in seconds."""
    accumulator, spent = Accumulator(), 0.0
    for chunk in chunks:
        accumulator.add(chunk)
        start = clock()
        accumulator.snapshot()
        spent += clock() - start
    return spent / len(chunks)


# -- Worst cases ---------------------------------------------------------------------


def worst(effort: Effort) -> Iterator[Row]:
    """Twice the input, and how many times as long it takes."""
    mib = effort.mib
    for way, run in (("SSEParser", parse), ("ChunkReader", read)):
        for name, make_blocks in _worst_cases(mib).items():
            times = race(
                effort,
                {"half": partial(run, make_blocks(1)), "whole": partial(run, make_blocks(2))},
            )
            yield Row(f"{way}, {name} | half of it", times["whole"] / times["half"], goal=DOUBLE)


def _worst_cases(mib: int) -> dict[str, Callable[[int], list[bytes]]]:
    """Return what makes the blocks of each case, of one half or of two."""
    lines, comments = mib * 4096 // 2, mib * 62_500 // 2
    half = mib * MIB // 2

    def line(halves: int) -> list[bytes]:
        data = b'data: {"x":"' + b"x" * (half * halves) + b'"}\n\n'
        return list(blocks_of(data, 1024))

    def event(halves: int) -> list[bytes]:
        data = b'data: {"x":[0\n' + b"data: ,1\n" * (lines * halves) + b"data: ]}\n\n"
        return list(blocks_of(data, 1024))

    return {
        f"a line of {mib} MiB in 1 KiB blocks": line,
        f"an event of {2 * lines:,} lines": event,
        f"{2 * comments:,} comments": lambda halves: list(
            blocks_of(b": ping\n\n" * (comments * halves), 4096)
        ),
    }
