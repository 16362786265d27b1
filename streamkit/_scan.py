"""
Follow the nesting of JSON text that comes line by line.

This decides nothing: it only says when it is worth trying to decode, so that a
value spread over many lines is not decoded anew at each of them, which would be
quadratic.  Whether a value is whole is always decided by decoding it.
"""

from __future__ import annotations

import re


__all__ = ["NestingScan"]

# A whole string, the start of an unfinished one, or a bracket.
TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|["{}\[\]]', re.DOTALL)
STRING_END = re.compile(rb'(?:[^"\\]++|\\.)*+"', re.DOTALL)


class NestingScan:
    """
    Count open containers over successive pieces of one JSON text.

    Attributes:
        in_string: The text so far ends inside a string.

    >>> scan = NestingScan()
    >>> scan.feed(b'{"a": "}'), scan.feed(b'"'), scan.feed(b"}")
    (False, False, True)
    """

    __slots__ = ("_depth", "_escapes", "in_string")

    def __init__(self) -> None:
        self._depth = 0
        self._escapes = False  # the text so far ends in a backslash that escapes
        self.in_string = False

    def feed(self, text: bytes) -> bool:
        """Take the next piece; return whether the outermost container closed in it."""
        start = 0
        if self.in_string:
            start = int(self._escapes and bool(text))
            end = STRING_END.match(text, start)
            if end is None:
                self._note_escape(text, start)
                return False
            self.in_string = False
            start = end.end()
        closed = False
        for token in TOKEN.finditer(text, start):
            mark = token[0]
            if mark in b"{[":
                self._depth += 1
            elif mark in b"}]":
                self._depth -= 1
                closed = closed or self._depth <= 0
            elif mark == b'"':
                self.in_string = True
                self._note_escape(text, token.end())
                break
        return closed

    def _note_escape(self, text: bytes, start: int) -> None:
        """Note whether an open string, whose text from *start* on this is, ends in an escape."""
        if len(text) > start or start == 0:
            slashes = len(text) - max(len(text.rstrip(b"\\")), start)
            self._escapes = slashes % 2 == 1
        else:
            self._escapes = False
