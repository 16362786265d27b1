"""
Pastes: a stream copied from a page, a mail or a forum, indented, quoted with
`>`, between code fences, or with its quotation marks made curly.

Each of these is undone, from the outside in, and each is said.
"""

from __future__ import annotations

import html
import re

from collections.abc import Iterator

import attrs

from streamkit._issues import Issue

from ._pieces import Form, Piece, ReadOptions, Recording
from ._text import COLOUR, HEAD, head_lines, is_long_enough, lines, look_ahead


__all__ = ["FORMS"]

QUOTE_MARK = re.compile(rb"[ \t]{0,3}(?:>[ \t]?)+")
FENCE = re.compile(rb"[ \t]{0,12}(?:`{3,}[^`\r\n]{0,80}|~{3,}[^\r\n]{0,80})[ \t]*\r?\n?\Z")
# A no-break space, as pages indent with.
NBSP = b"\xc2\xa0"
INDENTED = re.compile(rb"[ \t]|\xc2\xa0")
INDENT = re.compile(rb"(?:[ \t]|\xc2\xa0)*+")
START = re.compile(rb"(?:data|event|id|retry)?:|[{\[]")
FIELD = re.compile(rb"data:(?:[ \t]|\xc2\xa0)?")
# A quotation mark of JSON in HTML.
ESCAPED = re.compile(rb"(?:data:[ \t]*)?[{\[][{\[ \t]*&(?:quot|#34|#x22);")
REPLACED = "surrogateescape"
CURLY = b"\xe2\x80[\x9c\x9d\x9e]|\xe2\x80\xb3"
# A mark opens behind what can stand before a string, and closes before what can
# stand behind one; the others are part of the text, unless they were escaped.
OPENING = re.compile(rb"([{\[,:][ \t]*|\A[ \t]*|\\)(?:" + CURLY + rb")")
CLOSING = re.compile(
    rb"(?:"
    + CURLY
    + rb")(?=[ \t]*(?:[:}\]\r\n]|\Z|,[ \t]*(?:[\"{\[\-\d]|true|false|null|[\r\n]|\Z|"
    + CURLY
    + rb")))"
)
NOTES = {
    "paste_quoted": "the lines were quoted with `>`; the marks were taken off",
    "paste_fenced": "only what stands between code fences was read",
    "paste_indented": "the lines were indented; that was undone",
    "paste_escaped": "characters were written as HTML's references; those were made characters",
    "paste_curly": "quotation marks were curly; those around JSON strings were made straight",
}


@attrs.frozen(kw_only=True)
class _Layers:
    """What a paste did to the lines of a stream."""

    quoted: bool
    fenced: bool
    indent: bytes
    curly: bool
    escaped: bool
    coloured: bool  # nothing to tell: colours are no part of any text

    def notes(self) -> tuple[Issue, ...]:
        found = {
            "paste_quoted": self.quoted,
            "paste_fenced": self.fenced,
            "paste_indented": bool(self.indent),
            "paste_curly": self.curly,
            "paste_escaped": self.escaped,
        }
        return tuple(Issue(code, NOTES[code]) for code, is_so in found.items() if is_so)


def _layers(rows: list[bytes]) -> _Layers:
    """Tell the layers of a paste by its first lines."""
    rows = [row for row in rows if row.strip()]
    coloured = any(b"\x1b[" in row for row in rows)
    if coloured:
        rows = [COLOUR.sub(b"", row) for row in rows]
    quoted = bool(rows) and all(QUOTE_MARK.match(row) for row in rows[: _first_start(rows) + 1])
    if quoted:
        rows = [QUOTE_MARK.sub(b"", row, count=1) for row in rows]
    fence = next((number for number, row in enumerate(rows) if FENCE.match(row)), len(rows))
    fenced = fence < len(rows) and not any(FIELD.match(row) for row in rows[:fence])
    if fenced:
        rows = rows[fence + 1 :]
    first = next((row for row in rows if START.match(_dedented(row))), b"")
    indent = first[: len(first) - len(_dedented(first))]
    if not all(INDENTED.match(row) or FENCE.match(row) for row in rows):
        indent = b""  # an indented part of something else: of YAML, say
    return _Layers(
        quoted=quoted,
        fenced=fenced,
        indent=indent,
        curly=_is_curly(first, rows),
        escaped=ESCAPED.match(_dedented(first)) is not None,
        coloured=coloured,
    )


def _first_start(rows: list[bytes]) -> int:
    for number, row in enumerate(rows):
        if START.match(_dedented(QUOTE_MARK.sub(b"", row, count=1))):
            return number
    return len(rows)


def _dedented(row: bytes) -> bytes:
    found = INDENT.match(row)
    assert found is not None
    return row[found.end() :]


def _is_curly(first: bytes, rows: list[bytes]) -> bool:
    """Tell whether the first JSON has curly marks where it must have straight ones."""
    start = rows.index(first) if first in rows else len(rows)
    text = b"\n".join(rows[start : start + 3])
    marks = re.search(rb"[{\[][\s\xc2\xa0]*(\"|" + CURLY + rb")", text)
    return marks is not None and marks[1] != b'"'


def _undone(rows: Iterator[bytes], layers: _Layers) -> Iterator[Piece]:
    inside = not layers.fenced
    for number, row in enumerate(rows, 1):
        if layers.coloured:
            row = COLOUR.sub(b"", row)  # noqa: PLW2901
        if layers.quoted:
            row = QUOTE_MARK.sub(b"", row, count=1)  # noqa: PLW2901
        if layers.fenced and FENCE.match(row):
            inside = not inside
        elif inside:
            yield Piece(_line(row, layers), place=f"line {number}")


def _line(row: bytes, layers: _Layers) -> bytes:
    if layers.indent:
        row = row.removeprefix(layers.indent) if row.strip() else b"\n"
    lead = row[: len(row) - len(_dedented(row))]
    row = lead.replace(NBSP, b" ") + row[len(lead) :]
    field = FIELD.match(row)
    if field is not None:
        row = b"data: " + row[field.end() :]
    if layers.escaped:
        row = html.unescape(row.decode("utf-8", "surrogateescape")).encode("utf-8", REPLACED)
    if layers.curly:
        start = len(b"data: ") if field else 0
        row = row[:start] + CLOSING.sub(b'"', OPENING.sub(rb'\1"', row[start:]))
    return row


def _read(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    first, rows = look_ahead(lines(blocks, options.limits), is_long_enough(HEAD))
    layers = _layers(first)
    yield Recording(name="paste", pieces=_undone(rows, layers), notes=layers.notes())


def _starts_stream(rows: list[bytes]) -> bool:
    first = next((row for row in rows if row.strip()), b"")
    return START.match(COLOUR.sub(b"", first)) is not None


def _looks(head: bytes) -> int:
    rows = head_lines(head)
    layers = _layers(rows)
    has_chunk = b"data:" in head or b"choices" in head
    if not has_chunk or not (layers.notes() or (layers.coloured and _starts_stream(rows))):
        return 0
    if layers.quoted or layers.fenced:
        return 70
    return 60


FORMS = (
    Form(
        name="paste",
        title="a paste: indented, quoted with >, fenced, or with curly quotation marks",
        looks=_looks,
        read=_read,
    ),
)
