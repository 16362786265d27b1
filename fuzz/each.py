"""
Fuzz the roads, and the reader of each form by itself, for the same time.

    python -m fuzz.each --seconds 600 --jobs 2 grown/

Each target begins with the seeds that look like its form, and keeps what it finds in a
folder of its own in `grown/`, beside what libFuzzer says.  Printed are the rows of a
table: the target, how many inputs were tried, and what failed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from streamkit.recordings import FORMS, sniff


SEEDS = Path(__file__).parent
TRIED = re.compile(r"^stat::number_of_executed_units:\s*([0-9]+)", re.MULTILINE)
ROADS = "roads"


def main() -> int:
    """Print a row for each target; return whether any failed."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.each", description=__doc__)
    parser.add_argument("--seconds", type=int, default=600, help="for each target (600)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="targets at a time")
    parser.add_argument("--only", action="append", help="a target; may be given several times")
    parser.add_argument("grown", type=Path, help="the folder for what is found")
    options = parser.parse_args()
    targets = options.only or [ROADS, *sorted(FORMS)]
    print("| target | inputs tried | failed |\n|---|---|---|")
    failures = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        runs = pool.map(lambda name: fuzzed(name, options.seconds, options.grown / name), targets)
        for name, (tried, failed) in zip(targets, runs, strict=True):
            print(f"| `{name}` | {tried:,} | {failed or 'nothing'} |", flush=True)
            failures += bool(failed)
    return int(failures > 0)


def fuzzed(name: str, seconds: int, folder: Path) -> tuple[int, str]:
    """Fuzz the target *name*; return how many inputs were tried, and which failed."""
    seeds, grown = folder / "seeds", folder / "grown"
    for path in (seeds, grown):
        path.mkdir(parents=True, exist_ok=True)
    for path in seeds_of(name):
        shutil.copy(path, seeds)
    command = [sys.executable, "-m", "fuzz.run", ROADS if name == ROADS else "readers"]
    command += [f"-max_total_time={seconds}", "-max_len=3000", "-timeout=60", "-rss_limit_mb=4096"]
    command += ["-print_final_stats=1", f"-artifact_prefix={folder}/", str(grown), str(seeds)]
    environment = {**os.environ, "STREAMKIT_FORM": "" if name == ROADS else name}
    with (folder / "log").open("w+", encoding="utf-8", errors="replace") as log:
        done = subprocess.run(command, check=False, stdout=log, stderr=log, env=environment)
        log.seek(0)
        tried = TRIED.findall(log.read())
    failed = f"see {log.name}" if done.returncode else ""
    return int(tried[-1]) if tried else 0, failed


def seeds_of(name: str) -> list[Path]:
    """Return the seeds that look like the form *name*; all, if none does."""
    if name == ROADS:
        return sorted((SEEDS / "corpus").iterdir())
    every = sorted((SEEDS / "recordings").iterdir())
    return [path for path in every if sniff(path.read_bytes()).name == name] or every


if __name__ == "__main__":
    sys.exit(main())
