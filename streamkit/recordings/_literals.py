r"""
String literals of a program's text: what stands in them, and nothing of what is around.

Three marks of JavaScript's, Python's, Go's and others begin and end them: `'`, `"`
and `` ` ``, the latter over several lines, as three of the others do in Python.
"""

from __future__ import annotations

import re

from collections.abc import Iterator
from typing import NamedTuple

import attrs


__all__ = [
    "LINE_END",
    "OPEN",
    "Literal",
    "Literals",
    "leading_literal",
    "unescaped",
    "with_line_ends",
]

# An apostrophe inside of a word begins nothing, and neither does the fence around a paste.
OPEN = re.compile(rb"(?<!\w)(?P<kind>[bBrRuUfF]{0,2})(?P<mark>'''|\"\"\"|['\"]|(?<!`)`(?!``))")
# What stands in a literal, by the mark around it; SQL and others write the mark twice in it.
INSIDE = {
    b"'": re.compile(rb"(?:[^'\\\n]++|''|\\\r?\n|\\.)*+"),
    b'"': re.compile(rb'(?:[^"\\\n]++|""|\\\r?\n|\\.)*+'),
    b"`": re.compile(rb"(?:[^`\\]++|\\.)*+", re.DOTALL),
    b"'''": re.compile(rb"(?:[^'\\]++|\\.|'(?!''))*+", re.DOTALL),
    b'"""': re.compile(rb'(?:[^"\\]++|\\.|"(?!""))*+', re.DOTALL),
}
LINE_END = rb"(?:\\r)?\\n"
SEPARATOR = re.compile(rb'"(?:[^"\\]++|\\.)*+"|' + LINE_END)
ESCAPE = re.compile(
    rb"\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})"
    rb"|\r?(\n)|(.))",
    re.DOTALL,
)
PAIRED = re.compile(rb"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
TWICE = {b"'": b"''", b'"': b'""'}
CHARS = {
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"b": b"\b",
    b"f": b"\f",
    b"v": b"\v",
    b"0": b"\0",
}
LAST_CHAR = 0x10FFFF


class Literal(NamedTuple):
    r"""
    A literal, or a line of one that has several.

    Attributes:
        text: What stands in it, with its backslashes.
        is_bytes: `\x` in it is a byte, not a character: it is Python's for bytes.
        is_first: It begins here; lines before that are blank.
    """

    text: bytes
    is_bytes: bool
    is_first: bool


@attrs.define
class Literals:
    r"""
    The literals of a text, line by line.

    >>> [literal.text for literal in Literals().feed(rb"const a = ['x\n', `y`];  // don't")]
    [b'x\\n', b'y']
    """

    _mark: bytes = b""
    _is_bytes: bool = False
    _is_blank: bool = True  # so far

    def feed(self, line: bytes) -> Iterator[Literal]:
        """Yield the literals on *line*, and what it has of one that goes on."""
        at = 0
        while at < len(line):
            if not self._mark:
                found = OPEN.search(line, at)
                if found is None:
                    return
                self._mark, self._is_bytes = found["mark"], b"b" in found["kind"].lower()
                self._is_blank = True
                at = found.end()
            literal, at = self._taken(line, at)
            yield literal

    def _taken(self, line: bytes, at: int) -> tuple[Literal, int]:
        """Return what *line* has, at *at*, of the literal that is open, and where it goes on."""
        mark = self._mark
        inside = INSIDE[mark].match(line, at)
        assert inside is not None
        text, end = inside[0], inside.end()
        if line.startswith(mark, end):
            end += len(mark)
            self._mark = b""
        elif end < len(line):  # half an escape, or the line end of what has one line only
            end = len(line)
            self._mark = b""
        elif mark in TWICE and not text.endswith(b"\n"):
            self._mark = b""  # cut by the end of all
        is_first, self._is_blank = self._is_blank, self._is_blank and not text.strip()
        return Literal(_once(text, mark), self._is_bytes, is_first), end


def leading_literal(text: bytes, at: int = 0) -> tuple[Literal, int] | None:
    r"""
    Return the literal that is at *at* in *text*, and where it ends; None if it does not.

    >>> leading_literal(rb"'data: {}\n\n' size=10")[0].text
    b'data: {}\\n\\n'
    """
    found = OPEN.match(text, at)
    inside = None if found is None else INSIDE[found["mark"]].match(text, found.end())
    if found is None or inside is None or not text.startswith(found["mark"], inside.end()):
        return None
    text = _once(inside[0], found["mark"])
    literal = Literal(text, b"b" in found["kind"].lower(), is_first=True)
    return literal, inside.end() + len(found["mark"])


def _once(text: bytes, mark: bytes) -> bytes:
    """Return *text*, of a literal between two of *mark*, with what stands twice in it once."""
    return text.replace(TWICE[mark], mark) if mark in TWICE else text


def with_line_ends(text: bytes) -> bytes:
    """Undo the escapes of line ends in *text* alone, but for those inside of JSON strings."""
    return SEPARATOR.sub(lambda found: found[0] if found[0][:1] == b'"' else b"\n", text)


def unescaped(text: bytes, *, is_bytes: bool = False) -> bytes:
    r"""
    Return *text* with its escapes undone: those of JSON, JavaScript, Python and their kin.

    >>> unescaped(rb'\u{1F600}\xe9 it\'s \\n'), unescaped(rb"\xc3\xa9", is_bytes=True).decode()
    (b"\xf0\x9f\x98\x80\xc3\xa9 it's \\n", 'é')
    """
    if b"\\" not in text:
        return text
    char = _byte_or_char if is_bytes else _char
    parts = text.split(b"\\\\")  # what stands behind such a one is no escape
    return b"\\".join(ESCAPE.sub(char, PAIRED.sub(_pair, part)) for part in parts)


def _char(escape: re.Match[bytes]) -> bytes:
    digits = escape[1] or escape[2] or escape[3] or escape[4]
    if digits:
        code = int(digits, 16)
        return escape[0] if code > LAST_CHAR else chr(code).encode("utf-8", "surrogatepass")
    if escape[5]:  # a line that goes on
        return b""
    return CHARS.get(escape[6], escape[6])


def _byte_or_char(escape: re.Match[bytes]) -> bytes:
    return bytes([int(escape[4], 16)]) if escape[4] else _char(escape)


def _pair(pair: re.Match[bytes]) -> bytes:
    """Return the character that two escapes make (RFC 8259, section 7)."""
    units = bytes.fromhex((pair[1] + pair[2]).decode())
    return units.decode("utf-16-be").encode()
