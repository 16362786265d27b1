"""
What raw JSON may look like where it is taken without being decoded.

Each pattern is stricter than JSON, never looser: where the decoder would have to
repair something, or where a bound could be crossed, it does not match.
"""

from __future__ import annotations

import re

from typing import Any


__all__ = ["BODY", "INTEGER", "column_pattern", "entry_pattern", "offsets_pattern"]

# The body of a JSON string (RFC 8259, section 7).
PLAIN = rb'[^"\\\x00-\x1f]*+'
BODY = PLAIN + rb'(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})' + PLAIN + rb")*+"
# A string inside raw JSON: as above, but no surrogates, which may need mending.
NO_SURROGATE = rb'\\(?:["\\/bfnrt]|u[0-9abcefABCEF][0-9a-fA-F]{3})'
STRING = b'"' + PLAIN + b"(?:" + NO_SURROGATE + PLAIN + b')*+"'
# Integers that every decoder reads exactly; exponents that cannot overflow.
INTEGER = rb"(?:[1-9][0-9]{0,17}+|0)"
NUMBER = b"-?+" + INTEGER + rb"(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]{1,2}+)?+"


# -- Entries of one shape ------------------------------------------------------------

SHAPE_TOKEN = re.compile(
    rb'(?P<string>"(?:[^"\\]|\\.)*+")|(?P<number>-?[0-9][0-9.eE+-]*+)'
    rb"|(?P<word>true|false|null)|(?P<mark>[{}\[\],:]|[ ])",
    re.DOTALL,
)
INTEGERS = re.compile(rb"[0-9]++(?:, ?[0-9]++)*+")
LEAVES = {"string": STRING, "number": NUMBER, "word": rb"(?:true|false|null)"}


def entry_pattern(raw: bytes) -> bytes:
    """
    Return a pattern, with one group, of JSON values of the same shape as *raw*.

    Keys, their order and the blanks are literal; strings, numbers and the number
    of entries of an array may differ.  An array's entries must be alike: where
    they are not, the pattern matches nothing.
    """
    try:
        return b"(" + _ShapeWalk(raw).value() + b")"
    except _Shapeless:
        return rb"((?!))"


class _Shapeless(Exception):
    """The JSON has no one shape."""


class _ShapeWalk:
    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._at = 0
        self._comma = b","

    def _next(self) -> tuple[str, bytes]:
        token = SHAPE_TOKEN.match(self._raw, self._at)
        if token is None:
            raise _Shapeless
        self._at = token.end()
        return str(token.lastgroup), token[0]

    def _blanks(self) -> bytes:
        start = self._at
        while self._raw[self._at : self._at + 1] == b" ":
            self._at += 1
        return self._raw[start : self._at]

    def value(self) -> bytes:
        """Return the pattern of the value that starts here."""
        kind, token = self._next()
        if token == b"{":
            return self._object()
        if token == b"[":
            return self._array()
        if kind not in LEAVES:
            raise _Shapeless
        return LEAVES[kind]

    def _object(self) -> bytes:
        parts = [rb"\{", self._blanks()]
        while self._raw[self._at : self._at + 1] != b"}":
            kind, name = self._next()
            if kind != "string":
                raise _Shapeless
            parts += [re.escape(name), self._mark(b":"), self.value()]
            if self._raw[self._at : self._at + 1] == b",":
                parts.append(self._mark(b","))
        self._at += 1
        return b"".join([*parts, rb"\}"])

    def _mark(self, mark: bytes) -> bytes:
        if self._next()[1] != mark:
            raise _Shapeless
        spaced = mark + self._blanks()
        if mark == b",":
            self._comma = spaced
        return spaced

    def _array(self) -> bytes:
        if self._raw[self._at : self._at + 1] == b"]":
            self._at += 1
            return rb"\[\]"
        start = self._at
        entry = self.value()
        while self._raw[self._at : self._at + 1] == b",":
            self._mark(b",")
            if self.value() != entry:
                raise _Shapeless
        if INTEGERS.fullmatch(self._raw, start, self._at):
            entry = INTEGER  # bytes: most of what an entry is
        if self._next()[1] != b"]":
            raise _Shapeless
        return rb"\[" + entry + b"(?:" + self._comma + entry + rb")*+\]"


# -- Columns -------------------------------------------------------------------------

COMMA = b", ?+"
PAIR = STRING + b": ?+" + NUMBER


def column_pattern(entries: list[Any]) -> bytes:
    """
    Return a pattern, with one group, of lists like *entries*, which is not empty.

    The group is what stands between the brackets.  A list has as many entries as
    *entries*, of the same type or null.  Names in objects, which hold numbers, may
    differ, but none has more of them than the largest of *entries*.
    """
    sizes = [len(entry) for entry in entries if type(entry) is dict]
    is_text = str in map(type, entries)
    entry = _object(max(sizes)) if sizes else STRING if is_text else NUMBER
    return _list_of(b"(?:" + entry + b"|null)", len(entries))


def offsets_pattern(count: int) -> bytes:
    """Return a pattern, with one group, of what stands in a list of *count* integers."""
    return _list_of(INTEGER, count)


def _list_of(entry: bytes, count: int) -> bytes:
    further = b"(?:" + COMMA + entry + b"){%d}" % (count - 1)
    return rb"\[(" + entry + further + rb")\]"


def _object(most: int) -> bytes:
    """Return a pattern of objects with up to *most* numbers."""
    if not most:
        return rb"\{\}"
    further = b"(?:" + COMMA + PAIR + b"){0,%d}+" % (most - 1)
    return rb"\{(?:" + PAIR + further + rb")?+\}"
