"""What importing the package costs a program that embeds it, in fresh interpreters."""

from __future__ import annotations

import subprocess
import sys

from collections.abc import Iterator
from typing import Final

from .rows import Goal, Row
from .timing import Effort


__all__ = ["imports"]

TIMED: Final = """
import time
start = time.perf_counter()
import {module}
print(time.perf_counter() - start)
"""


def imports(effort: Effort) -> Iterator[Row]:
    """The time to import streamkit, to the time to import attrs alone."""
    tries = min(effort.open, 10)
    ours, theirs = (min(_seconds(name) for _ in range(tries)) for name in ("streamkit", "attrs"))
    yield Row("import streamkit, to import attrs", ours / theirs, goal=Goal(at_most=1.5))


def _seconds(module: str) -> float:
    """Return how long a fresh interpreter takes to import *module*, in seconds."""
    run = subprocess.run(
        [sys.executable, "-c", TIMED.format(module=module)],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(run.stdout)
