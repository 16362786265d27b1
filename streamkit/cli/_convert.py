"""`streamkit convert`: a recording in another form."""

from __future__ import annotations

import argparse

from collections.abc import Iterator

import attrs

from streamkit import __version__
from streamkit._errors import LimitExceeded

from ._adds import LOST
from ._command import Command
from ._forms import FORMS, har, har_entry, written
from ._inputs import INCOMPLETE, OK, Failed, add_reading_arguments
from ._output import add_output_argument, open_output, put, tell
from ._trace import Item, Row, Traced, trace


__all__ = ["COMMAND"]

DESCRIPTION = """\
Times are kept by jsonl ({"t": …, "chunk": …} on each line, if the first chunk has one),
csv and har; sse and json have no place for them.  [DONE] is kept by sse and har;
comments and event ids by none.  A cut stream is converted like any other.  Several
files are written one after another, as if they were one; in har each stream is an entry.
"""

EXAMPLES = """\
  streamkit convert --to jsonl recording.sse                # a chunk a line
  streamkit convert --to har -o timed.har timed.jsonl       # for a browser's tools
  streamkit convert --to csv timed.jsonl | head -n 3        # for a spreadsheet
"""


@attrs.define
class _State:
    """What is learned on the way."""

    status: int = OK
    kept: int = 0
    lost: int = 0
    is_timed: bool = False
    starts_timed: bool = False
    streams: int = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to *parser*."""
    add_reading_arguments(parser)
    parser.add_argument("--to", required=True, choices=FORMS, help="the form to write")
    add_output_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Write the recordings in another form and return the exit status."""
    state = _State()
    with open_output(args.output) as output:
        if args.to == "har":
            items = _items(args, state, keep=True)
            streams = [item for item in items if isinstance(item, Traced) and item.rows]
            put(har(list(map(har_entry, streams)), __version__) + "\n", output)
        else:
            rows = (item for item in _items(args, state) if isinstance(item, Row))
            for text in written(rows, args.to):
                put(text, output)
    if state.lost:
        lost = "1 payload was" if state.lost == 1 else f"{state.lost} payloads were"
        tell(f"{lost} no JSON, and left out; streamkit inspect has more")
    if state.is_timed and args.to in ("sse", "json"):
        tell(f"{args.to} has no place for times; jsonl, csv and har keep them")
    if state.is_timed and args.to == "jsonl" and not state.starts_timed:
        tell("jsonl has times if the first chunk has one, so they are left out; csv keeps them")
    if state.streams > 1 and args.to not in ("sse", "har"):
        tell(f"{state.streams} streams with no [DONE] between; streamkit split parts them")
    if not state.kept:
        tell("there was no stream to convert")
        return max(state.status, INCOMPLETE)
    return state.status


def _items(args: argparse.Namespace, state: _State, *, keep: bool = False) -> Iterator[Item]:
    for source, item in trace(args, keep=keep):
        if isinstance(item, Failed):
            state.status = max(state.status, item.tell())
        else:
            _note(item, source, state)
            yield item


def _note(item: Item, source: str, state: _State) -> None:
    if isinstance(item, Row):
        state.starts_timed |= not state.kept and item.value is not LOST and item.time is not None
        state.kept += item.value is not LOST
        state.lost += item.value is LOST
        state.is_timed = state.is_timed or item.time is not None
        return
    state.streams += 1
    if isinstance(item.outcome.error, LimitExceeded):  # what comes after it is not converted
        tell(f"{source}: {item.outcome.error}")
        state.status = max(state.status, item.status)


COMMAND = Command(
    name="convert",
    summary="write a recording in another form",
    description=DESCRIPTION,
    examples=EXAMPLES,
    ok="all is converted, cut streams as well",
    incomplete="there was nothing to convert, or a stream was refused",
    add_arguments=add_arguments,
    run=run,
)
