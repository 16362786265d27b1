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
# What is left of a string, and its end, if that is there.
STRING = re.compile(rb'(?:[^"\\]++|\\.)*+(")?', re.DOTALL)


class NestingScan:
    """
    Count open containers over successive pieces of one JSON text.

    >>> scan = NestingScan()
    >>> scan.feed(b'{"a": "}'), scan.feed(b'"'), scan.feed(b"}")
    (False, False, True)
    """

    __slots__ = ("_depth", "_string")

    def __init__(self) -> None:
        self._depth = 0
        # In a string: the backslash that the text so far ends in, or nothing; else None.
        self._string: bytes | None = None

    @property
    def in_string(self) -> bool:
        """Whether the text so far ends inside a string."""
        return self._string is not None

    def feed(self, text: bytes) -> bool:
        """Take the next piece; return whether the outermost container closed in it."""
        start = 0
        if self._string is not None:
            text = self._string + text
            start = self._end_of_string(text, start)
        closed = False
        for token in TOKEN.finditer(text, start):
            mark = token[0]
            if mark in (b"{", b"["):
                self._depth += 1
            elif mark in (b"}", b"]"):
                self._depth -= 1
                closed = closed or self._depth <= 0
            elif mark == b'"':
                self._end_of_string(text, token.end())
                break
        return closed

    def _end_of_string(self, text: bytes, start: int) -> int:
        """Return where the string ends that goes on at *start*, or at which escape it is cut."""
        found = STRING.match(text, start)
        assert found is not None  # it may be empty
        self._string = text[found.end() :] if found[1] is None else None
        return found.end()
