r"""
A stream as it is written inside of strings: with `\n` for its line ends.

All of it may be escaped, quotation marks too, as in a JSON string without its
quotes; or the line ends alone are: those inside of JSON strings are then JSON's
own, and stay.  The same goes for the literals of a program's text, one for all
or one for each event: a fixture, say, or the mock of a server.
"""

from __future__ import annotations

import re

from collections.abc import Callable, Iterator
from itertools import dropwhile

import attrs

from streamkit._issues import Issue

from ._literals import LINE_END, OPEN, Literal, Literals, innermost, unescaped, with_line_ends
from ._pieces import Form, Piece, ReadOptions, Recording
from ._row_values import json_of
from ._text import HEAD, is_long_enough, lines, look_ahead


__all__ = ["FORMS"]

# What a string is assigned to, and the fields before the first `data`.
_LEAD = (
    rb"[ \t]*(?:(?:const|let|var)\s+)?(?:[A-Za-z_][\w.]{0,80}\s*[:=]\s*)??"
    rb"(?:(?:event|id|retry):[^\\\"{]{0,200}\\n)?"
)
ALL = re.compile(rb"(" + _LEAD + rb")data:[ ]?[{\[]+\s*\\\"")
# Outside of strings JSON has no backslash: the first must be that of a line end.
ENDS = re.compile(
    rb"(" + _LEAD + rb")data:[ ]?[{\[](?:[^\"\\\n]++|\"(?:[^\"\\\n]++|\\.)*+\")*+" + LINE_END
)
NOTE = Issue(
    "paste_backslashes",
    "the stream was written as in a string; its backslashes were undone",
)
# How what a literal holds begins, if that is a field of a stream, or JSON.
_JSON = rb"[{\[](?:\s|\\[nrt])*+(?:\\?\"|[{\[]|\Z)"
_BLANKS = rb"(?:\s|\\(?:[nr]|\r?\n))*+"
FIELD = re.compile(_BLANKS + rb"(?:data|event|id|retry)?:")
BEGINS = re.compile(FIELD.pattern + rb"|\s*+(?:" + _JSON + rb"|\[DONE\])")
# What may follow the end of a structure inside of JSON, or of an event.
GOES_ON = re.compile(rb"\s*+(?:[,}\]]|\\[nr]|\Z)")
PAYLOAD = re.compile(rb"(?m)^(?:data: ?)?([{\[].*+)$")
# A literal that a stream begins in; a line of a stream, or a structure, that is in none.
LITERAL = re.compile(
    OPEN.pattern
    + _BLANKS
    + rb"(?:(?:event|id|retry|):[^'\"`\n{]{0,200}(?:\\n|\\x0A|\n))*+(?:data: ?(?:\\?[\"{\[]|\Z)|"
    + _JSON
    + rb")"
)
BARE = re.compile(rb"(?m)^[ \t]*+(?:(?:data|event|id|retry):|[{\[]\s*+[\"{\[]|<)")
# No program, though literals are in it: YAML, rows of a table.
OTHER = re.compile(rb"(?:---|[\w.\-]+:)[ \t]*[\r\n]|[^\r\n]*[\r\n]+[^'\"`(\[{\r\n]*,['\"]")
NEAR = 1000
CHUNK = re.compile(rb"\bchoices\\{0,7}['\"]|\\x22choices\\x22")
# A quotation mark as nginx writes it in its logs, and each byte that is not printable ASCII.
NGINX = rb"\x22"


# -- The inside of one string ---------------------------------------------------------


def _inside(head: bytes) -> tuple[int, Callable[[bytes], bytes]] | None:
    """Return where in *head*, which no literal begins, a stream does, and how to undo it."""
    for pattern, undo in ((ALL, unescaped), (ENDS, with_line_ends)):
        if found := pattern.match(head.partition(b"\n")[0]):
            return found.end(1), undo
    return None


# -- Literals ---------------------------------------------------------------------------


def _proper(literal: Literal) -> bytes:
    if literal.is_raw:
        return _raw(literal)
    return unescaped(literal.text, is_bytes=literal.is_bytes or NGINX in literal.text)


def _raw(literal: Literal) -> bytes:
    return with_line_ends(literal.text)


@attrs.define
class _Joiner:
    """Joins what literals hold to a stream: events, lines, or reads that end anywhere."""

    undo: Callable[[Literal], bytes]
    _is_taken: bool = False
    _is_open: bool = False  # the literal before was taken, and ends inside a line
    _is_in_line: bool = False  # what was taken so far does
    _may_be_whole: bool = False  # and behind a structure
    _was_json: bool = False

    def add(self, literal: Literal) -> bytes:
        """Return what *literal* adds to the stream; others of a program add nothing."""
        literal = innermost(literal)
        lead = self._begun(literal) if literal.is_first else b""
        if not self._is_taken:
            return b""
        data = lead + (self.undo(literal) if literal.text else b"\n")
        self._is_open = self._is_in_line = not data.endswith((b"\n", b"\r"))
        self._may_be_whole = data.endswith((b"}", b"]"))
        return data

    def _begun(self, literal: Literal) -> bytes:
        """Tell whether *literal* is of the stream; return the line end that is missing before."""
        begins = BEGINS.match(literal.text)
        is_field = FIELD.match(literal.text) is not None
        is_json = begins is not None and not is_field
        was_open, self._is_open = self._is_open, False
        # A read goes on where the one before it ended; an empty text is a blank line.
        goes_on = was_open and (not self._may_be_whole or GOES_ON.match(literal.text) is not None)
        self._is_taken = begins is not None or goes_on or (self._is_taken and not literal.text)
        if not self._is_taken:
            return b""
        is_line = is_field or not literal.text or (is_json and self._was_json)
        self._was_json = is_json
        return b"\n" if self._is_in_line and is_line else b""


def _undo_of(head: bytes) -> Callable[[Literal], bytes]:
    """Return how the literals in *head* are undone: the way that makes JSON of more of them."""
    return max((_proper, _raw), key=lambda undo: _count_json(head, undo))


def _count_json(head: bytes, undo: Callable[[Literal], bytes]) -> int:
    joiner, literals = _Joiner(undo), Literals()
    found = (literals.feed(line) for line in head.splitlines(keepends=True))
    text = b"".join(joiner.add(literal) for each in found for literal in each)
    return sum(
        1 for payload in PAYLOAD.findall(text) if json_of(payload.decode("utf-8", "replace"))
    )


# -- The form ---------------------------------------------------------------------------


def _pieces(rows: Iterator[tuple[int, bytes]], head: bytes) -> Iterator[Piece]:
    inside = _inside(head)
    if inside is not None:
        start, undo = inside
        for number, row in rows:
            yield Piece(undo(row[start:]), place=f"line {number}")
            start = 0
        return
    joiner, literals = _Joiner(_undo_of(head)), Literals()
    for number, row in rows:
        if data := b"".join(map(joiner.add, literals.feed(row))):
            yield Piece(data, place=f"line {number}")


def _read(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    first, rows = look_ahead(lines(blocks, options.limits), is_long_enough(HEAD, len))
    numbered = dropwhile(lambda row: not row[1].strip(), enumerate(rows, 1))
    head = b"".join(first)[:HEAD].lstrip()
    yield Recording(name="paste", pieces=_pieces(numbered, head), notes=(NOTE,))


def _looks(head: bytes) -> int:
    head = head.lstrip()
    if _inside(head) is not None:
        return 65
    bare = BARE.search(head)
    # What lies further behind a line of the stream does not matter, and costs.
    start = LITERAL.search(head, 0, len(head) if bare is None else bare.end() + NEAR)
    is_first = start is not None and (bare is None or start.start() < bare.start())
    return 58 if is_first and CHUNK.search(head) and not OTHER.match(head) else 0


FORMS = (
    Form(
        name="escaped",
        title=r"a stream as in a string, or in the strings of a program, with \n for its line ends",
        looks=_looks,
        read=_read,
    ),
)
