"""
Python text: dicts, the objects of an SDK and bytes, as `print` and loggers show
them, a value on a line or spread over several.
"""

from __future__ import annotations

import re

from collections.abc import Callable, Iterable, Iterator

import attrs

from streamkit._issues import Issue

from ._leading import FIELDS, values_in
from ._pieces import Form, Piece, ReadOptions, Recording
from ._python_json import as_json
from ._python_value import LONGEST, TOKEN, NoValue, data_of, refusal
from ._row_values import TIMES, at, find, paired, seconds
from ._text import COLOUR, HEAD, head_lines, is_long_enough, lines, look_ahead


__all__ = ["FORMS"]

_VALUE = rb"(?:\{\s*'|\{\}|[bB]?['\"])"
# A text that is handed to a function must be of a stream: programs hand over many others.
_HANDED = rb"(?:\{|[bB]?['\"](?:(?:data|event|id|retry)?:|[{\[]))"
START = re.compile(
    rb"[ \t]*[\[(]{0,2}[ \t]*(?:[\d.]{1,30},[ ]*)?(?:" + _VALUE + rb"|[A-Za-z_][\w.]{0,80}"
    rb"\(\s*(?:\w{1,80}=|" + _HANDED + rb"|[\[(]{1,2}" + _VALUE + rb"|\Z)"
    rb"|" + FIELDS + rb")"
)
CHUNK = re.compile(
    rb"'choices'|\bchoices=|\b[bB]['\"](?:data|event|id|retry)?:"
    rb"|(?:^|[\s\[(,])['\"](?:data|event|id|retry):"
    rb"|(?:^|[\s\[(,])['\"]\{[^\n]{0,4000}?\"choices\\?\"",
    re.MULTILINE,
)
# What stands before a value where a notebook or a server shows it.
LEAD = re.compile(rb"[ \t]*(?:Out\[\d{1,6}\]:|data:(?=[ ]?[\[(]{0,2}(?:\{'|\w+\()))[ \t]?")
# What was typed, in front of what it shows.
TYPED = re.compile(rb"(?:>>>|\.\.\.|In \[\d{1,6}\]:|[$%])(?:[ \t]|\r?\Z)")
NOTE = Issue("python_text", "the recording is Python text; its values were read as JSON")


def _timed(value: object) -> tuple[object, float | None]:
    """Return the chunk of *value*, and its time, if *value* is a row of the two."""
    row = paired(value)
    if not isinstance(row, dict) or "choices" in row:
        return value, None
    path = find(row)
    if not path:
        return value, None
    times = (seconds(row.get(name), name) for name in TIMES if name != path[0])
    return at(row, path), next((time for time in times if time is not None), None)


@attrs.define
class _Open:
    """A value whose text has begun, and the brackets that are open in it."""

    place: str
    depth: int = 0
    size: int = 0
    parts: list[bytes] = attrs.field(factory=list)

    def add(self, line: bytes) -> None:
        self.parts.append(line)
        self.size += len(line)
        for token in TOKEN.findall(line):
            self.depth += (token in b"[({") - (token in b"])}")

    @property
    def is_whole(self) -> bool:
        return self.depth <= 0 or self.size > LONGEST

    def text(self) -> bytes:
        return b"".join(self.parts)


def _texts(rows: Iterable[bytes]) -> Iterator[tuple[str, bytes, bool]]:
    """
    Yield the place and the text of each value, and lines of other text as they are.

    A value ends where its brackets are closed, or where a line starts another:
    further lines of one are indented, as pprint does.
    """
    value: _Open | None = None
    for number, line in enumerate(rows, 1):
        starts = START.match(line) is not None
        if value is not None and starts and not line[:1].isspace():
            yield value.place, value.text(), True  # it was cut
            value = None
        if value is None:
            found = as_json(line) if starts else None
            if not starts or (found is not None and "choices" in found[1]):
                yield f"line {number}", found[0] + b"\n" if found else line, False
                continue
            value = _Open(f"line {number}")
        value.add(line)
        if value.is_whole:
            yield value.place, value.text(), True
            value = None
    if value is not None:
        yield value.place, value.text(), True


def _pieces(rows: Iterable[bytes]) -> Iterator[Piece]:
    for place, text, is_value in _texts(map(_bare, rows)):
        if not is_value:
            yield Piece(text, place=place)
            continue
        try:
            values, rest = values_in(text)
            for value in values:
                yield from _pieces_of(value, place)
        except NoValue:
            rest = text
        if rest:
            yield Piece(refusal(rest), place=place)


def _pieces_of(value: object, place: str) -> Iterator[Piece]:
    """Yield the pieces of *value*, each with its time, if it is a list of rows that have one."""
    is_list = isinstance(value, list) and paired(value) is value
    for item in value if is_list and isinstance(value, list) else [value]:
        inner, time = _timed(item)
        for data in data_of(inner):
            yield Piece(data, time, place)


def _bare(line: bytes) -> bytes:
    """Return *line* without colours, and without what stands before a value."""
    line = COLOUR.sub(b"", line) if b"\x1b" in line else line
    lead = LEAD.match(line)
    return line if lead is None else line[lead.end() :]


def _with_line_ends(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """
    End each piece with a line end if none has one: they are lines then, and not reads.

    `iter_lines` and its kind take the line ends off, of blank lines too.
    """
    # Blank lines are nothing here.
    enough: Callable[[list[Piece]], bool] = is_long_enough(HEAD, lambda piece: len(piece.data) + 1)
    first, pieces = look_ahead(pieces, lambda found: b"\n" in found[-1].data or enough(found))
    if any(b"\n" in piece.data for piece in first):
        return pieces
    return (Piece(piece.data + b"\n", piece.time, piece.place) for piece in pieces)


def _read(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    pieces = _with_line_ends(_pieces(lines(blocks, options.limits)))
    yield Recording(name="Python text", pieces=pieces, notes=(NOTE,))


def _looks(head: bytes) -> int:
    """Ask that the first line that is not blank starts a value, and that there is a chunk."""
    shown = (_bare(line) for line in head_lines(head) if line.strip())
    first = next((line for line in shown if not TYPED.match(line)), b"")
    if START.match(first) is None or not CHUNK.search(COLOUR.sub(b"", head)):
        return 0
    return 85


FORMS = (
    Form(
        name="python",
        title="dicts, objects or bytes, as Python prints them",
        looks=_looks,
        read=_read,
    ),
)
