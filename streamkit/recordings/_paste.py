"""
Pastes: a stream copied from a page, a mail or a forum, indented, quoted with
`>`, between code fences, in HTML, with its quotation marks made curly, or with its
lines broken by a terminal.

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
from ._wrapped import unwrapped, width_of


__all__ = ["FORMS"]

QUOTE_MARK = re.compile(rb"[ \t]{0,3}(?:>[ \t]?)+")
FENCE = re.compile(rb"[ \t]{0,12}(?:`{3,}[^`\r\n]{0,80}|~{3,}[^\r\n]{0,80})[ \t]*\r?\n?\Z")
# Fences on the lines of what they stand around, as chats take them.
FENCE_BEFORE = re.compile(rb"[ \t]{0,3}(?:`{3,}|~{3,})(?=(?:data|event|id|retry)?:|[{\[])")
FENCE_BEHIND = re.compile(rb"(?<=[}\]])(?:`{3,}|~{3,})[ \t]*(?=\r?\n?\Z)")
# A no-break space, as pages indent with.
NBSP = b"\xc2\xa0"
INDENTED = re.compile(rb"[ \t]|\xc2\xa0")
INDENT = re.compile(rb"(?:[ \t]|\xc2\xa0)*+")
START = re.compile(rb"(?:data|event|id|retry)?:|[{\[]")
FIELD = re.compile(rb"data:(?:[ \t]|\xc2\xa0)?")
# A quotation mark of JSON in HTML.
ESCAPED = re.compile(rb"(?:data:[ \t]*)?[{\[][{\[ \t]*&(?:quot|#34|#x22);")
# Tags before a stream on its line, the last of them of an element for text; and behind.
TAGS_BEFORE = re.compile(
    rb"(?!(?:data|event|id|retry)?:|[{\[])[^\r\n]{0,4000}?"
    rb"<(?:pre|code|samp|tt|xmp|textarea|body|div|p|td|li|span)\b[^<>\r\n]{0,1000}>"
    rb"(?:[ \t]*<[A-Za-z][^<>\r\n]{0,1000}>){0,20}+[ \t]*+"
    rb"(?=(?:data|event|id|retry)?:|[{\[]|\r?\n?\Z)"
)
TAG_BEHIND = re.compile(rb"<(?:/[A-Za-z]|br\b)[^<>\r\n]{0,80}>")
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
    "paste_escaped": "the stream was written as HTML; references in it were made characters, and "
    "tags around it were taken off",
    "paste_curly": "quotation marks were curly; those around JSON strings were made straight",
    "paste_wrapped": "lines were broken at the width of a terminal; they were joined",
}


@attrs.frozen(kw_only=True)
class _Layers:
    """What a paste did to the lines of a stream."""

    quoted: bool
    fenced: bool
    indent: bytes
    curly: bool
    escaped: bool
    tagged: bool
    coloured: bool  # nothing to tell: colours are no part of any text

    def notes(self) -> tuple[Issue, ...]:
        found = {
            "paste_quoted": self.quoted,
            "paste_fenced": self.fenced,
            "paste_indented": bool(self.indent),
            "paste_curly": self.curly,
            "paste_escaped": self.escaped or self.tagged,
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
    fence = next((number for number, row in enumerate(rows) if _is_fence(row)), len(rows))
    fenced = fence < len(rows) and not any(FIELD.match(row) for row in rows[:fence])
    if fenced:
        rows = list(filter(None, [_unfenced(rows[fence], inside=False)[0], *rows[fence + 1 :]]))
    tagged = not fenced and _is_tagged(rows)
    if tagged:
        rows = [row for row in map(_without_tags, rows) if row.strip()]
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
        tagged=tagged,
        coloured=coloured,
    )


def _is_fence(row: bytes) -> bool:
    return (FENCE.match(row) or FENCE_BEFORE.match(row)) is not None


def _unfenced(row: bytes, *, inside: bool) -> tuple[bytes, bool]:
    """Return what *row* has between fences, and whether what follows it is between them."""
    if FENCE.match(row):
        return b"", not inside
    before = None if inside else FENCE_BEFORE.match(row)
    if before is not None:
        row, inside = row[before.end() :], True
    behind = FENCE_BEHIND.search(row)
    if behind is not None:
        row = row[: behind.start()] + row[behind.end() :]
    return (row if inside else b""), inside and behind is None


def _is_tagged(rows: list[bytes]) -> bool:
    """Tell whether the first line that a stream starts on has tags, or follows a line of such."""
    for row in rows:
        if b"<" in row and TAGS_BEFORE.match(row):
            return True
        if START.match(_dedented(row)):
            return False
    return False


def _without_tags(row: bytes) -> bytes:
    before = TAGS_BEFORE.match(row)
    text = row if before is None else row[before.end() :]
    return text[: _end_of_text(text)] + b"\n"


def _end_of_text(row: bytes) -> int:
    """Return where *row* ends without blanks and tags behind."""
    end = len(row.rstrip())
    while end and row[end - 1 : end] == b">":
        start = row.rfind(b"<", 0, end)
        if start < 0 or not TAG_BEHIND.fullmatch(row, start, end):
            break
        end = start
        while end and row[end - 1 : end].isspace():
            end -= 1
    return end


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
    inside = False
    for number, row in enumerate(rows, 1):
        if layers.coloured:
            row = COLOUR.sub(b"", row)  # noqa: PLW2901
        if layers.quoted:
            row = QUOTE_MARK.sub(b"", row, count=1)  # noqa: PLW2901
        if layers.tagged:
            row = _without_tags(row)  # noqa: PLW2901
        if layers.fenced:
            row, inside = _unfenced(row, inside=inside)  # noqa: PLW2901
        if row:
            yield Piece(_line(row, layers), place=f"line {number}")


def _line(row: bytes, layers: _Layers) -> bytes:
    if layers.indent:
        row = row.removeprefix(layers.indent) if row.strip() else b"\n"
    lead = row[: len(row) - len(_dedented(row))]
    row = lead.replace(NBSP, b" ") + row[len(lead) :]
    field = FIELD.match(row)
    if field is not None:
        row = b"data: " + row[field.end() :]
    if layers.escaped or layers.tagged:
        row = html.unescape(row.decode("utf-8", "surrogateescape")).encode("utf-8", REPLACED)
    if layers.curly:
        start = len(b"data: ") if field else 0
        row = row[:start] + CLOSING.sub(b'"', OPENING.sub(rb'\1"', row[start:]))
    return row


def _read(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    first, rows = look_ahead(lines(blocks, options.limits), is_long_enough(HEAD, len))
    notes: tuple[Issue, ...] = ()
    if width := width_of(first):
        first = list(unwrapped(iter(first), width, options.limits))
        rows = unwrapped(rows, width, options.limits)
        notes = (Issue("paste_wrapped", NOTES["paste_wrapped"]),)
    layers = _layers(first)
    yield Recording(name="paste", pieces=_undone(rows, layers), notes=notes + layers.notes())


def _starts_stream(rows: list[bytes]) -> bool:
    first = next((row for row in rows if row.strip()), b"")
    return START.match(COLOUR.sub(b"", first)) is not None


def _looks(head: bytes) -> int:
    rows = head_lines(head)
    if width_of(rows):
        return 70
    layers = _layers(rows)
    # Pages have all sorts of text.
    has_chunk = b"choices" in head or (b"data:" in head and not layers.tagged)
    if not has_chunk or not (layers.notes() or (layers.coloured and _starts_stream(rows))):
        return 0
    if layers.quoted or layers.fenced or layers.tagged:
        return 70
    return 60


FORMS = (
    Form(
        name="paste",
        title="a paste: indented, quoted with >, fenced, in HTML, with curly quotation marks or "
        "lines that a terminal broke",
        looks=_looks,
        read=_read,
    ),
)
