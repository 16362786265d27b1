"""
`python -m benchmarks.rates`: streams and megabytes a second, on one core and on all.

Each row is the same streams, bytes to rows: by `rebuild_batch` in this process, by
`streamkit batch` from Parquet to Parquet, by Spark and by Ray, those that are
installed.  One core is measured in time of the processor; the others are what the
clock on the wall says, with the engine started already and one run before.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from streamkit import rebuild_batch

from .streams import make
from .timing import clock


__all__ = ["main"]

KIND: Final = "text"
LENGTHS: Final = (20, 200, 2000)
SECONDS: Final = 3.0
ROUNDS: Final = 3


def main(argv: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rates", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10, help="work for one core a run (10)")
    parser.add_argument("--mib", type=int, default=512, help="and no more than this is read (512)")
    parser.add_argument("--chunks", type=int, action="append", help="chunks in a stream")
    options = parser.parse_args(argv)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"{cores} cores, load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else cores)
    print("| chunks | KB | way | streams/s | MB/s |\n|---|---|---|---|---|")
    for chunks in options.chunks or LENGTHS:
        for way, streams, size in measured(chunks, options.seconds, options.mib << 20):
            kb = f"{size / 1000:.0f}"
            cells = f"{streams:,.0f} | {streams * size / 1e6:,.1f}"
            print(f"| {chunks:,} | {kb} | {way} | {cells} |", flush=True)
    return 0


def measured(chunks: int, seconds: float, most: int) -> Iterator[tuple[str, float, int]]:
    """Yield each way, how many streams a second it did, and how large they are."""
    body = make(KIND, chunks).data
    rate = one_core(body)
    yield "`rebuild_batch`, one core", rate, len(body)
    # Starting processes takes a second or two, which is to be a small share.
    count = max(min(int(rate * seconds), most // len(body)), 16)
    with tempfile.TemporaryDirectory() as folder:
        table = write_table(Path(folder), body, count)
        for jobs in ("1", "auto"):
            seconds = best(lambda jobs=jobs: run_batch(table, jobs))
            name = "all cores" if jobs == "auto" else "one process"
            yield f"`streamkit batch`, {name}", count / seconds, len(body)
        for name, start in (("pyspark", spark), ("ray", ray)):
            if importlib.util.find_spec(name) is not None:
                run, stop = start(table)
                yield f"`streamkit.{start.__name__}`, all cores", count / best(run), len(body)
                stop()


def best(run: Callable[[], object]) -> float:
    """Return the least seconds that *run* takes."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def one_core(body: bytes) -> float:
    """Return how many streams a second one core does."""
    bodies = [body] * max(1, 1_000_000 // len(body))
    rates = []
    until = time.perf_counter() + SECONDS
    while time.perf_counter() < until or len(rates) < ROUNDS:
        start = clock()
        rebuild_batch(bodies)
        rates.append(len(bodies) / (clock() - start))
    return max(rates)


def write_table(folder: Path, body: bytes, count: int) -> Path:
    """Write a Parquet file of *count* bodies, in row groups of a sixteenth."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "bodies.parquet"
    bodies = [body + b": %d\n\n" % number for number in range(count)]
    # Not compressed: of what is nearly all the same, next to nothing would be left to share out.
    pq.write_table(
        pa.table({"body": bodies}),
        path,
        row_group_size=max(count // 16, 1),
        compression="none",
        use_dictionary=False,
    )
    return path


def run_batch(table: Path, jobs: str) -> None:
    """Run the command over *table*, in a process of its own."""
    out = table.with_name("out")
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "streamkit", "batch", str(table), str(out)]
    command += ["--body", "body", "--to", "parquet", "--jobs", jobs, "--part-size", "4M"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def spark(table: Path) -> tuple[Callable[[], object], Callable[[], object]]:
    """Start Spark; return what runs over *table*, and what ends it."""
    from pyspark.sql import SparkSession

    import streamkit.spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.files.maxPartitionBytes", "8m")
    builder = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "500")
    session: Any = builder.getOrCreate()
    rows = streamkit.spark.rebuild(session.read.parquet(str(table)), body="body")
    run = rows.write.mode("overwrite").format("noop").save
    run()
    return run, session.stop


def ray(table: Path) -> tuple[Callable[[], object], Callable[[], object]]:
    """Start Ray; return what runs over *table*, and what ends it."""
    import ray as engine

    import streamkit.ray

    engine.init(include_dashboard=False, log_to_driver=False, logging_level="error")
    engine.data.DataContext.get_current().enable_progress_bars = False

    def run() -> None:
        ds = engine.data.read_parquet(str(table), override_num_blocks=16)
        streamkit.ray.rebuild(ds, body="body").materialize()

    run()
    return run, engine.shutdown


if __name__ == "__main__":
    sys.exit(main())
