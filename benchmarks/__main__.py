"""`python -m benchmarks`: measure, and print a table."""

from __future__ import annotations

import argparse
import json
import sys

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from . import events, growth, imports, memory, peers, record, speed
from .rows import NO_GOAL, Group, Row
from .timing import FULL, QUICK, Effort


__all__ = ["GROUPS", "main"]

GROUPS: Final[Mapping[str, Group]] = {
    "floors": speed.floors,
    "streams": speed.streams,
    "short": speed.short,
    "logprobs": speed.logprobs,
    "live": speed.live_events,
    "events": events.events,
    "tees": events.tees,
    "blocks": speed.blocks,
    "parser": speed.parser,
    "growth": growth.growth,
    "snapshots": growth.snapshots,
    "worst": growth.worst,
    "memory": memory.open_streams,
    "peaks": memory.peaks,
    "imports": imports.imports,
    "builders": peers.builders,
    "parsers": peers.parsers,
}
HEAD: Final = ("figure", "value", "goal", "", "recorded")


def arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", action="append", choices=GROUPS, help="measure this group")
    parser.add_argument("--quick", action="store_true", help="try each; the figures mean nothing")
    parser.add_argument("--json", action="store_true", help="print a JSON object a row")
    parser.add_argument("--record", action="store_true", help=f"add them to {record.PATH.name}")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what *argv* asks for; return 0, whatever the figures are."""
    parser = arguments()
    options = parser.parse_args(argv)
    if options.record and (options.quick or options.only):
        parser.error("--record takes a whole run, not --quick or --only")
    effort = QUICK if options.quick else FULL
    rows = measured(effort, options.only or list(GROUPS))
    if options.quick:  # too short to be judged
        rows = (attrs.evolve(row, goal=NO_GOAL) for row in rows)
    printed = list(_printed(rows, as_json=options.json))
    if options.record:
        record.append(printed)
    return 0


def measured(effort: Effort, names: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of the groups called *names*."""
    for name in names:
        yield from GROUPS[name](effort)


def _printed(rows: Iterator[Row], *, as_json: bool) -> Iterator[Row]:
    """Print each of *rows* as it comes, and pass it on."""
    before = record.latest()
    if not as_json:
        _print_line(HEAD)
    for row in rows:
        if as_json:
            print(json.dumps(row.plain()), flush=True)
        else:
            _print_line((row.name, _shown(row), str(row.goal), row.verdict, _old(row, before)))
        yield row


def _print_line(cells: tuple[str, str, str, str, str]) -> None:
    name, value, goal, verdict, recorded = cells
    line = f"{name:<62}{value:>12}  {goal:<7} {verdict:<13} {recorded:>8}"
    print(line.rstrip(), flush=True)


def _shown(row: Row) -> str:
    return "-" if row.value is None else f"{row.value:.2f} {row.unit}"


def _old(row: Row, before: Mapping[str, float]) -> str:
    return f"{before[row.name]:.2f}" if row.name in before else ""


if __name__ == "__main__":
    sys.exit(main())
