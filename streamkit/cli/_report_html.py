"""`streamkit report`: a page of HTML on a recording."""

from __future__ import annotations

import argparse

from collections.abc import Iterator, Sequence

import attrs

from streamkit._errors import amount

from ._command import Command
from ._files import STDIN
from ._html import document, text, wide_table
from ._html_stream import stream_section
from ._inputs import INCOMPLETE, OK, Failed, add_reading_arguments
from ._inspect import HEAD, NUMBERS, Notes, row_cells
from ._output import add_output_argument, open_output, put_all
from ._trace import Row, Traced, trace


__all__ = ["COMMAND"]

DESCRIPTION = """\
The page is one file: it needs no script and no network, and nothing in a stream can
do anything in it.  It holds what the recording holds; streamkit redact covers secrets.
Of several files, it has the streams and the events of each under its name.
"""

EXAMPLES = """\
  streamkit report -o page.html recording.sse     # a page on one recording
  streamkit report -o page.html *.sse             # on several
"""

# A browser takes its time over a table of more.
MOST_ROWS = 2000


@attrs.define
class _State:
    """What is learned on the way."""

    status: int = OK
    streams: int = 0
    rows: int = 0
    zero: float | None = None
    notes: Notes = attrs.field(factory=Notes)
    table: list[str] = attrs.field(factory=list)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to *parser*."""
    add_reading_arguments(parser)
    add_output_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Write the page and return the exit status."""
    state = _State()
    names = ["standard input" if name == STDIN else name for name in args.files or [STDIN]]
    title = f"Streams of {names[0]}" + (f" and {len(names) - 1} more" if len(names) > 1 else "")
    with open_output(args.output) as output:
        put_all(document(title, _body(args, state)), output)
    return state.status


def _body(args: argparse.Namespace, state: _State) -> Iterator[str]:
    """Yield the sections: the streams of each recording, then all its events."""
    last = None
    for source, item in trace(args):
        if source != last and last is not None:
            yield from _events(last, state)
        last = source
        if not isinstance(item, Row):
            state.status = max(state.status, item.status)
        if isinstance(item, Failed):
            item.tell()
            yield f'<section><h2>{text(source)}</h2><p class="error">{text(item.message)}</p>'
            yield "</section>\n"
        elif isinstance(item, Traced):
            state.streams += 1
            yield from stream_section(source, item, f"stream-{state.streams}")
        else:
            _keep(item, state)
    yield from _events(last, state)
    if last is None:
        state.status = INCOMPLETE
        yield '<p class="note">There is no recording in what was named.</p>\n'


def _keep(row: Row, state: _State) -> None:
    state.rows += 1
    if state.zero is None:
        state.zero = row.time
    if len(state.table) < MOST_ROWS:
        state.table.append(_row(row, state.zero, state.notes.of(row)))


def _row(row: Row, zero: float | None, notes: Sequence[str]) -> str:
    cells = row_cells(row, zero)
    kinds = ["n" if number < NUMBERS else "" for number in range(len(cells) - 1)]
    shown = [
        f'<td class="{kind}">{text(cell)}</td>' if kind else f"<td>{text(cell)}</td>"
        for cell, kind in zip(cells, [*kinds, "x"], strict=True)
    ]
    issues = "<br>".join(map(text, notes))
    start = '<tr class="bad">' if issues else "<tr>"
    return f'{start}{"".join(shown)}<td class="i">{issues or "-"}</td></tr>\n'


def _events(source: str | None, state: _State) -> Iterator[str]:
    if not state.table:
        return
    yield f"<section><h2>Events of {text(source)}</h2>\n"
    if state.rows > len(state.table):
        yield f'<p class="note">The first {len(state.table)} of {state.rows} events; '
        yield "streamkit inspect has all.</p>\n"
    yield "<details open><summary>Event table</summary>\n"
    caption = f"{amount(state.rows, 'event')}; a chunk is not a token"
    yield from wide_table(caption, (*HEAD, "issues"), state.table, numbers=range(NUMBERS))
    yield "</details></section>\n"
    state.rows, state.zero, state.notes, state.table = 0, None, Notes(), []


COMMAND = Command(
    name="report",
    summary="write a page of HTML: the response, its timing, logprobs, events and issues",
    description=DESCRIPTION,
    examples=EXAMPLES,
    add_arguments=add_arguments,
    run=run,
)
