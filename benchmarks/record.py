"""The record of figures by date, so that a slowdown is seen: a line of JSON a run."""

from __future__ import annotations

import json

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import streamkit

from .rows import Row
from .timing import python_version


__all__ = ["PATH", "append", "entries", "latest"]

PATH = Path(__file__).with_name("record.jsonl")


def entries(path: Path = PATH) -> list[dict[str, Any]]:
    """Return the entries of the record, oldest first."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def latest(path: Path = PATH) -> dict[str, float]:
    """Return the figures last recorded with this version of Python, by name."""
    python = python_version()
    figures = [entry["figures"] for entry in entries(path) if entry["python"] == python]
    return dict(figures[-1]) if figures else {}


def entry_of(rows: Iterable[Row]) -> dict[str, Any]:
    """Return what is recorded of *rows*: only figures that mean the same on any machine."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "python": python_version(),
        "streamkit": streamkit.__version__,
        "figures": {
            row.name: float(f"{row.value:.3g}")
            for row in rows
            if row.is_neutral and row.value is not None
        },
    }


def append(rows: Iterable[Row], path: Path = PATH) -> None:
    """Add *rows* to the record, as one entry."""
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(entry_of(rows), ensure_ascii=False) + "\n")
