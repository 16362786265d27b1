r"""
A stream as it is written inside of a string: with `\n` for its line ends.

Either all of it is escaped, quotation marks too, as in a JSON string without its
quotes; or the line ends alone are.  In the latter, those inside of JSON strings
are JSON's own, and stay.
"""

from __future__ import annotations

import re

from collections.abc import Iterator

from streamkit._issues import Issue

from ._pieces import Form, Piece, ReadOptions, Recording
from ._text import lines


__all__ = ["FORMS"]

# What a string is assigned to, and its quotation mark.
_LEAD = (
    rb"\s*(?:(?:const|let|var)\s+)?(?:[A-Za-z_][\w.]{0,80}\s*[:=]\s*)??[\"'`]?"
    rb"(?:(?:event|id|retry):[^\\\"{]{0,200}\\n)?"
)
ALL = re.compile(rb"(" + _LEAD + rb")data:[ ]?[{\[]+\s*\\\"")
_END = rb"(?:\\r)?\\n"
# Outside of strings JSON has no backslash: the first must be that of a line end.
ENDS = re.compile(
    rb"(" + _LEAD + rb")data:[ ]?[{\[](?:[^\"\\\n]++|\"(?:[^\"\\\n]++|\\.)*+\")*+" + _END
)
SEPARATOR = re.compile(rb'"(?:[^"\\]++|\\.)*+"|' + _END)
ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
PAIRED = re.compile(rb"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
CHARS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
TAIL = re.compile(rb"[\"'`][;,]?\s*\Z")
NOTE = Issue(
    "paste_backslashes",
    "the stream was written as in a string; its backslashes were undone",
)


def _char(escape: re.Match[bytes]) -> bytes:
    if escape[1] is not None:
        return chr(int(escape[1], 16)).encode("utf-8", "surrogatepass")
    return CHARS.get(escape[2], escape[2])


def _pair(pair: re.Match[bytes]) -> bytes:
    """Return the character that two escapes make (RFC 8259, section 7)."""
    units = bytes.fromhex((pair[1] + pair[2]).decode())
    return units.decode("utf-16-be").encode()


def _unescaped(text: bytes) -> bytes:
    parts = text.split(b"\\\\")  # what stands behind such a one is no escape
    return b"\\".join(ESCAPE.sub(_char, PAIRED.sub(_pair, part)) for part in parts)


def _parted(text: bytes) -> bytes:
    return SEPARATOR.sub(lambda found: found[0] if found[0][:1] == b'"' else b"\n", text)


def _pieces(rows: Iterator[bytes]) -> Iterator[Piece]:
    first = next(rows, b"")
    is_all = ALL.match(first)
    start = is_all or ENDS.match(first)
    lead = start[1] if start else b""
    is_quoted = lead.rstrip()[-1:] in (b'"', b"'", b"`")
    undo = _unescaped if is_all else _parted
    row = first[len(lead) :]
    for number, following in enumerate(rows, 1):
        yield Piece(undo(row), place=f"line {number}")
        row = following
    yield Piece(undo(TAIL.sub(b"", row) if is_quoted else row))


def _read(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    yield Recording(name="paste", pieces=_pieces(lines(blocks, options.limits)), notes=(NOTE,))


def _looks(head: bytes) -> int:
    return 65 if ALL.match(head) or ENDS.match(head.partition(b"\n")[0]) else 0


FORMS = (
    Form(
        name="escaped",
        title=r"a stream as in a string, with \n for its line ends",
        looks=_looks,
        read=_read,
    ),
)
