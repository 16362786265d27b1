"""`streamkit inspect`: one row on each event."""

from __future__ import annotations

import argparse

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from streamkit._json import encode

from ._adds import Addition, additions, payload_kind
from ._columns import fit, pad, terminal_width
from ._command import Command
from ._each import add_jobs_argument, print_each
from ._files import File
from ._inputs import Failed, add_reading_arguments
from ._output import tell
from ._said import Said
from ._trace import Row, Traced, trace_file


__all__ = ["COMMAND", "Notes", "row_cells", "row_data"]

DESCRIPTION = """\
The columns: event number; time in seconds since the first event, if the recording
has times; offset and size in bytes; kind (chunk, usage, final, error, ping, done, lost,
other); choice; what it adds.  Issues stand below their event, those that go on from event
to event below the first.  A chunk is not a token: it may hold several, or a part of one.
Each file has a heading.

With --json an object a line: source, event, time (as it was recorded), offset, size,
kind, adds (choice, name, text), issues (code, message).
"""

EXAMPLES = """\
  streamkit inspect recording.sse                            # a row on each event
  streamkit inspect --json recording.sse > events.jsonl      # for programs
  streamkit inspect log.sse | grep "!"                       # only what was noticed
"""

HEAD = ("event", "time", "offset", "size", "kind", "choice", "adds")
WIDTHS = (6, 9, 9, 6, 6, 6)
NUMBERS = 4
# Where a terminal has fewer cells, there is room for these alone, and what is added.
NARROW, NEEDED = 72, (HEAD.index("event"), HEAD.index("kind"))
# What one event adds may be a whole image; a row has room for its beginning.
MOST_TEXT = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to *parser*."""
    add_reading_arguments(parser)
    add_jobs_argument(parser)
    parser.add_argument("--json", action="store_true", help="print an object a line")


def run(args: argparse.Namespace) -> int:
    """Print a row on each event and return the exit status."""
    return print_each(args, _say)


def _say(args: argparse.Namespace, file: File) -> Iterator[Said]:
    head, zero, notes = None, None, Notes()
    width = terminal_width()
    for source, item in trace_file(args, file):
        if isinstance(item, Failed):
            yield Said(status=item.tell())
        elif isinstance(item, Traced):
            for issue in item.late:
                place = "" if issue.event is None else f"event {issue.event}: "
                tell(f"{source}: {place}{issue.code}: {issue.message}")
            if head != source:
                tell(f"{source}: there are no events")
            yield Said(status=item.status)
        elif args.json:
            head = source
            yield Said(encode(row_data(item, source)) + "\n")
        else:
            if head != source:
                yield Said(f"{fit(f'{source}:', width)}\n{_line(HEAD, width)}\n")
                head, zero, notes = source, item.time, Notes()
            zero = item.time if zero is None else zero
            lines = [_line(row_cells(item, zero), width)]
            lines += [fit(f"{'':6}  ! {note}", width) for note in notes.of(item)]
            yield Said("".join(f"{line}\n" for line in lines))


def _line(cells: Sequence[str], width: int | None) -> str:
    fixed = [
        pad(cell, wide, right=number < NUMBERS)
        for number, (cell, wide) in enumerate(zip(cells, WIDTHS, strict=False))
    ]
    if width is not None and width < NARROW:
        fixed = [fixed[place] for place in NEEDED]
    return fit("  ".join([*fixed, cells[-1]]).rstrip(), width)


def row_cells(row: Row, zero: float | None) -> tuple[str, ...]:
    """Return the raw cells on *row*; times count from *zero*."""
    found = list(additions(row.value))
    choices = {str(addition.choice): None for addition in found if addition.choice is not None}
    adds = [f"{addition.name} {_shown(addition)}" for addition in found]
    time = "-" if row.time is None or zero is None else f"{row.time - zero:.3f}"
    kind = payload_kind(row.value)
    return (
        str(row.number),
        time,
        str(row.offset),
        str(row.size),
        kind,
        ",".join(choices) or "-",
        " · ".join(adds),
    )


def _shown(addition: Addition) -> str:
    """Return what is added: a string in quotes, all else as JSON, or the beginning of it."""
    text = addition.text
    start = text[:MOST_TEXT]
    shown = encode(start) if isinstance(addition.value, str) else start
    return shown if len(text) <= MOST_TEXT else f"{shown}… ({len(text)} characters)"


@attrs.define
class Notes:
    """What was noticed in each row; what goes on from row to row is said once."""

    _last: tuple[tuple[str, str], ...] = ()

    def of(self, row: Row) -> list[str]:
        """Return what is to be said of *row*, the next one."""
        last, self._last = self._last, tuple((each.code, each.message) for each in row.issues)
        return [f"{code}: {message}" for code, message in self._last if (code, message) not in last]


def row_data(row: Row, source: str) -> dict[str, Any]:
    """Return *row*, of the recording *source*, as JSON data."""
    return {
        "source": source,
        "event": row.number,
        "time": row.time,
        "offset": row.offset,
        "size": row.size,
        "kind": payload_kind(row.value),
        "adds": [
            {"choice": found.choice, "name": found.name, "text": found.text}
            for found in additions(row.value)
        ],
        "issues": [{"code": issue.code, "message": issue.message} for issue in row.issues],
    }


COMMAND = Command(
    name="inspect",
    summary="print one row on each event: when, where, what it adds, what was noticed",
    description=DESCRIPTION,
    examples=EXAMPLES,
    add_arguments=add_arguments,
    run=run,
)
