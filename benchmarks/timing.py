"""
Measuring so that figures of one run can be compared.

What is compared takes turns, so that a machine that slows down slows all of it,
and each counts with its best round: noise only ever adds.  The time is that of the
processor, so that other programs do not count: they hurt long runs, which they
interrupt, more than short ones, and would bend each ratio.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc

from collections.abc import Callable, Iterable, Mapping
from time import perf_counter, process_time
from typing import Any, Final

import attrs


__all__ = [
    "FULL",
    "QUICK",
    "Effort",
    "Run",
    "clock",
    "consume",
    "kept_and_peak",
    "python_version",
    "race",
    "retained",
]

Run = Callable[[], object]

# On Windows the processor's time comes in steps of 16 ms.
clock: Final = perf_counter if sys.platform == "win32" else process_time


@attrs.frozen
class Effort:
    """
    How much is measured.

    Attributes:
        chunks: How many chunks a stream of ordinary length has.
        mib: How long the worst cases are, in MiB.
        open: How many accumulators are open at once.
        rounds: How often each is run, at least.
        seconds: How long short ones go on, beyond that.
    """

    chunks: int
    mib: int
    open: int
    rounds: int
    seconds: float


FULL: Final = Effort(chunks=20_000, mib=16, open=10_000, rounds=5, seconds=0.5)
QUICK: Final = Effort(chunks=60, mib=1, open=50, rounds=1, seconds=0.0)


def race(effort: Effort, runs: Mapping[str, Run]) -> dict[str, float]:
    """Return the best time of each of *runs*, in seconds."""
    best = dict.fromkeys(runs, float("inf"))
    start, rounds = clock(), 0
    while rounds < effort.rounds or clock() - start < effort.seconds:
        for name, run in runs.items():
            best[name] = min(best[name], _time(run))
        rounds += 1
    return best


def _time(run: Run) -> float:
    gc.collect()  # nobody pays for the garbage of the one before
    start = clock()
    run()
    return clock() - start


def kept_and_peak(make: Callable[[], Any]) -> tuple[int, int]:
    """Return how many bytes what *make* returns holds, and how many were held at most."""
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        kept = make()
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    del kept
    return after - before, peak - before


def retained(make: Callable[[], Any], count: int) -> float:
    """Return how many bytes each of *count* objects made by *make* holds."""
    make()  # what is made once for all of them, and imports, do not count
    return kept_and_peak(lambda: [make() for _ in range(count)])[0] / count


def consume(items: Iterable[object]) -> None:
    """Run through *items* and keep none."""
    for _ in items:
        pass


def python_version() -> str:
    """Return the minor version of the interpreter, as in the record."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"
