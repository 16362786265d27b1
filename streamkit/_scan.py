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

    >>> scan = NestingScan()
    >>> scan.feed(b'{"a": "}'), scan.feed(b'"'), scan.feed(b"}")
    (False, False, True)
    """

    __slots__ = ("_depth", "_in_string")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False

    def feed(self, text: bytes) -> bool:
        """Take the next piece; return whether the outermost container closed in it."""
        start = 0
        if self._in_string:
            end = STRING_END.match(text)
            if end is None:
                return False
            self._in_string = False
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
                self._in_string = True
                break
        return closed
