"""
Secrets covered in place: what stands for one is as long as it was.

So nothing that counts bytes becomes wrong: sizes in front of chunks, `content-length`,
offsets in a dump.  JSON stays as it was spelled; a number becomes 0 and blanks.
"""

from __future__ import annotations

import re
import string

from collections.abc import Iterator
from typing import Any

import attrs

from streamkit._json import encode

from ._secrets import MASK, Redactor


__all__ = ["Masker"]

TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|NaN|-?Infinity',
    re.DOTALL,
)
# What one character of a string is written as.
CHAR = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]",
    re.DOTALL,
)
NUMBER = re.compile(r"\d+")
LETTERS = string.ascii_letters + string.digits


class _TooDeep(Exception):
    """JSON is nested deeper than it is looked into."""


@attrs.define
class Masker(Redactor):
    """
    Covers secrets with as many characters.

    >>> Masker().text('{"api_key": "abc", "n": 5}')
    '{"api_key": "xxx", "n": 5}'
    """

    def masked(self, data: bytes, *, is_head: bool = False) -> bytes:
        """Return *data*, text or the head of a message, without its secrets."""
        text = data.decode("utf-8", "surrogateescape")
        covered = self.headers(text) if is_head else self.text(text)
        if text == covered:
            return data
        pairs = zip(text, covered, strict=True)
        return b"".join(_as_bytes(was, now) for was, now in pairs)

    def _spelled(self, value: Any, text: str, depth: int) -> str:
        try:
            covered = self.value(value, depth=depth)
        except _TooDeep:
            return TOKEN.sub(lambda token: _covered(token[0]), text)
        left = iter([*zip(_scalars(value), _scalars(covered), strict=True)])
        return TOKEN.sub(lambda token: _spelled(token[0], *next(left)), text)

    def _cover_of(self, text: str) -> str:
        return MASK * len(text)

    def _cover_value(self, value: Any) -> Any:
        if isinstance(value, (dict, list)):
            raise _TooDeep
        if isinstance(value, str):
            return self._cover(value)
        self.count += 1
        return None if value is None or isinstance(value, bool) else 0

    def _item(self, text: str) -> str:
        return self._cover(text)

    def _numbers(self, found: re.Match[str]) -> str:
        numbers = found[0][len(found[1]) :]
        return found[1] + NUMBER.sub(lambda number: "0".ljust(len(number[0])), numbers)

    def _logprob(self, found: re.Match[str]) -> str:
        size = len(found[0]) - len(found[1]) - len('""')
        return f'"{MASK * size}"{found[1]}'

    def _base64(self, text: str, depth: int) -> str:
        covered = super()._base64(text, depth)
        return text if covered == text else self._cover_of(text)

    def _masked_keys(self, entry: Any, path: tuple[str, ...], depth: int) -> Any:
        """Keep the keys apart: one would hide another."""
        if not isinstance(entry, dict) or "token" in entry:
            return self.value(entry, path, depth)
        if len(entry) > len(LETTERS):
            raise _TooDeep
        pairs = zip(LETTERS, entry.items(), strict=False)
        return {letter * len(key): value for letter, (key, value) in pairs}


def _as_bytes(was: str, now: str) -> bytes:
    data = was.encode("utf-8", "surrogateescape")
    return data if was == now else now.encode() * len(data)


def _scalars(value: Any) -> Iterator[Any]:
    """Yield the keys and the scalars of JSON data in the order in which they are written."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from _scalars(member)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    else:
        yield value


def _spelled(token: str, was: Any, now: Any) -> str:
    """Return how *now* is written in the place of *token*, which says *was*."""
    if was is now or (was == now and type(was) is type(now)):
        return token
    if not isinstance(was, str):
        return encode(now).ljust(len(token))
    chars = zip(CHAR.findall(token[1:-1]), was, now, strict=True)
    return '"' + "".join(own if a == b else b * len(own) for own, a, b in chars) + '"'


def _covered(token: str) -> str:
    if token.startswith('"'):
        return f'"{MASK * (len(token) - 2)}"'
    return "0".ljust(len(token)) if token[-1].isdigit() else token
