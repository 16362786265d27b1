r"""
String literals of a program's text: what stands in them, and nothing of what is around.

Three marks of JavaScript's, Python's, Go's and others begin and end them: `'`, `"`
and `` ` ``, the latter over several lines, as three of the others do in Python, and
Rust's and PowerShell's own.  A shell's and SQL's go on over lines between `'`, too:
one that holds a stream is read so, as long as its lines are those of a stream.
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
    "innermost",
    "leading_literal",
    "unescaped",
    "with_line_ends",
]

# An apostrophe inside of a word begins nothing, and neither does the fence around a paste.
OPEN = re.compile(
    rb"(?<!\w)(?P<kind>[bBrRuUfF]{0,2})"
    rb"(?P<mark>'''|\"\"\"|(?<=r)#\"|@['\"](?=\r?\n)|['\"]|(?<!`)`(?!``))"
)
# What stands in a literal, by the mark around it; SQL and others write the mark twice in
# it, and a shell ends it, quotes a mark otherwise, and begins it anew.
INSIDE = {
    b"'": re.compile(rb"(?:[^'\\\n]++|'\\''|'\"'\"'|''|\\\r?\n|\\.)*+"),
    b'"': re.compile(rb'(?:[^"\\\n]++|""|\\\r?\n|\\.)*+'),
    b"`": re.compile(rb"(?:[^`\\]++|\\.)*+", re.DOTALL),
    b"'''": re.compile(rb"(?:[^'\\]++|\\.|'(?!''))*+", re.DOTALL),
    b'"""': re.compile(rb'(?:[^"\\]++|\\.|"(?!""))*+', re.DOTALL),
    b'#"': re.compile(rb'(?:[^"]++|"(?!#))*+'),
    b"@'": re.compile(rb"(?:[^']++|'(?!@))*+"),
    b'@"': re.compile(rb'(?:[^"]++|"(?!@))*+'),
}
# Marks that end otherwise than they begin; no backslash between them means anything.
CLOSE = {b'#"': b'"#', b"@'": b"'@", b'@"': b'"@'}
SHELL = re.compile(rb"'\\''|'\"'\"'")
_FIELD = rb"(?:data|event|id|retry)?:"
# What goes on over lines begins so, and each of its lines, the last of them with its end.
OVER_LINES = re.compile(rb"\s*+" + _FIELD)
NEXT_LINE = re.compile(rb"\s*+(?:" + _FIELD + rb"|\Z)|['\"](?!" + _FIELD + rb"|[{\[])")
IN_ANOTHER = re.compile(rb'(?s:\\".*\\")')
BLANK = b" \t\r\n\\"
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
        is_raw: Backslashes in it mean nothing.
    """

    text: bytes
    is_bytes: bool
    is_first: bool
    is_raw: bool = False


@attrs.define
class Literals:
    r"""
    The literals of a text, line by line.

    >>> [literal.text for literal in Literals().feed(rb"const a = ['x\n', `y`];  // don't")]
    [b'x\\n', b'y']
    """

    _mark: bytes = b""
    _is_bytes: bool = False
    _is_raw: bool = False
    _is_over_lines: bool = False
    _is_blank: bool = True  # so far

    def feed(self, line: bytes) -> Iterator[Literal]:
        """Yield the literals on *line*, and what it has of one that goes on."""
        at = 0
        if self._is_over_lines and not NEXT_LINE.match(line):
            self._mark = b""  # it was cut, and this is another
        while at < len(line):
            if not self._mark:
                found = OPEN.search(line, at)
                if found is None:
                    return
                self._open(found)
                at = found.end()
            literal, at = self._taken(line, at)
            yield literal

    def _open(self, found: re.Match[bytes]) -> None:
        self._mark, kind = found["mark"], found["kind"].lower()
        self._is_bytes, self._is_raw = b"b" in kind, b"r" in kind or self._mark in CLOSE
        self._is_over_lines, self._is_blank = False, True

    def _taken(self, line: bytes, at: int) -> tuple[Literal, int]:
        """Return what *line* has, at *at*, of the literal that is open, and where it goes on."""
        mark = self._mark
        inside = INSIDE[mark].match(line, at)
        assert inside is not None
        text, end = inside[0], inside.end()
        close = CLOSE.get(mark, mark)
        if line.startswith(close, end):
            end += len(close)
            self._mark = b""
        elif line[end:] == b"\n" and (self._is_over_lines or OVER_LINES.match(text)):
            self._is_over_lines = self._is_raw = True
            text, end = text + b"\n", len(line)
        elif end < len(line):  # half an escape, or the line end of what has one line only
            end = len(line)
            self._mark = b""
        elif mark in TWICE and not text.endswith(b"\n"):
            self._mark = b""  # cut by the end of all
        is_first, self._is_blank = self._is_blank, self._is_blank and not text.strip(BLANK)
        text, is_raw = _once(text, mark)
        return Literal(text, self._is_bytes, is_first, self._is_raw or is_raw), end


def leading_literal(text: bytes, at: int = 0) -> tuple[Literal, int] | None:
    r"""
    Return the literal that is at *at* in *text*, and where it ends; None if it does not.

    >>> leading_literal(rb"'data: {}\n\n' size=10")[0].text
    b'data: {}\\n\\n'
    """
    found = OPEN.match(text, at)
    inside = None if found is None else INSIDE[found["mark"]].match(text, found.end())
    if found is None or inside is None:
        return None
    mark, kind = found["mark"], found["kind"].lower()
    close = CLOSE.get(mark, mark)
    if not text.startswith(close, inside.end()):
        return None
    text, is_raw = _once(inside[0], mark)
    is_raw = is_raw or b"r" in kind or mark in CLOSE
    return Literal(text, b"b" in kind, is_first=True, is_raw=is_raw), inside.end() + len(close)


def _once(text: bytes, mark: bytes) -> tuple[bytes, bool]:
    """
    Return *text*, of a literal after *mark*, with the marks in it once; was it a shell's?

    Between a shell's marks backslashes mean nothing.
    """
    if mark not in TWICE:
        return text, False
    text, count = SHELL.subn(mark, text) if mark == b"'" else (text, 0)
    return text.replace(TWICE[mark], mark), count > 0


def innermost(literal: Literal) -> Literal:
    r"""
    Return the literal that *literal* has in it and nothing else: JSON's, written as JSON.

    >>> innermost(Literal(rb'\"data: {\\\"a\\\": 1}\"', is_bytes=False, is_first=True)).text
    b'data: {\\"a\\": 1}'
    """
    while IN_ANOTHER.fullmatch(literal.text):
        literal = literal._replace(text=unescaped(literal.text)[1:-1])
    return literal


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
