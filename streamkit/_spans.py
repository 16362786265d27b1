"""
Where in a JSON text each of its values stands.

The decoder says what a text means, not where; a template needs both.  This is
slow, plain Python, and runs once for each new shape of chunk.
"""

from __future__ import annotations

import re

from collections.abc import Collection


__all__ = ["Path", "Span", "spans_of"]

Path = tuple[str | int, ...]
Span = tuple[int, int]

TOKEN = re.compile(rb'[ \t\r\n]*+("(?:[^"\\]|\\.)*+"|[{}\[\],:]|[^{}\[\],:" \t\r\n]++)', re.DOTALL)
OPENING, CLOSING = frozenset({b"{", b"["}), frozenset({b"}", b"]"})


class _Walk:
    """One pass over the tokens of a JSON text that is known to be valid."""

    def __init__(self, text: bytes, raw: Collection[Path]) -> None:
        self.raw = raw
        self.tokens = [(match[1], *match.span(1)) for match in TOKEN.finditer(text)]
        self.at = 0
        self.spans: dict[Path, Span] = {}
        self.is_plain = True

    def value(self, path: Path) -> None:
        token, start, end = self.tokens[self.at]
        self.at += 1
        if token in OPENING and path in self.raw:
            end = self._skip()
        elif token == b"{":
            end = self._members(path, is_object=True)
        elif token == b"[":
            end = self._members(path, is_object=False)
        self.is_plain = self.is_plain and path not in self.spans
        self.spans[path] = (start, end)

    def _members(self, path: Path, *, is_object: bool) -> int:
        """Walk over the members of a container; return where it ends."""
        number = 0
        while self.tokens[self.at][0] not in CLOSING:
            key: str | int = number
            if is_object:
                name = self.tokens[self.at][0]
                self.is_plain = self.is_plain and b"\\" not in name and _is_text(name)
                key = name[1:-1].decode("utf-8", "replace")
                self.at += 2  # the name and the colon
            self.value((*path, key))
            number += 1
            if self.tokens[self.at][0] == b",":
                self.at += 1
        self.at += 1
        return self.tokens[self.at - 1][2]

    def _skip(self) -> int:
        """Pass over the members of a container; return where it ends."""
        depth = 1
        while depth:
            token = self.tokens[self.at][0]
            depth += (token in OPENING) - (token in CLOSING)
            self.at += 1
        return self.tokens[self.at - 1][2]


def _is_text(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def spans_of(text: bytes, raw: Collection[Path] = ()) -> dict[Path, Span] | None:
    r"""
    Return the span of each value in *text*, by path.

    Args:
        text: Valid JSON, as UTF-8.
        raw: Paths of containers whose insides do not matter.

    Returns:
        None if a key comes twice, is written with escapes, or is no UTF-8: then
        a path does not say which value counts.

    >>> spans_of(b'{"a": [10, "b"]}')
    {('a', 0): (7, 9), ('a', 1): (11, 14), ('a',): (6, 15), (): (0, 16)}
    >>> spans_of(b'{"a": 1, "a": 2}') is None
    True
    >>> spans_of(b'[{"a": 1, "a": 2}]', {(0,)})
    {(0,): (1, 17), (): (0, 18)}
    """
    walk = _Walk(text, raw)
    walk.value(())
    return walk.spans if walk.is_plain else None
