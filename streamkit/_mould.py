"""A chunk made again: the learned one's JSON, with other values in the template's holes."""

from __future__ import annotations

import json

from collections.abc import Callable, Sequence
from json import decoder
from typing import Any

from ._template import Template


__all__ = ["Mould", "scanstring", "unescape"]

# The C function under json.loads: the body of a string, and where it ended.
scanstring: Callable[[str, int], tuple[str, int]] = vars(decoder)["scanstring"]


def unescape(body: bytes) -> str:
    """
    Return the string whose JSON body, which is valid, is *body*.

    Raises:
        UnicodeDecodeError: If it is no UTF-8.
    """
    text = body.decode()
    return scanstring(text + '"', 0)[0] if "\\" in text else text


READERS: dict[str, Callable[[bytes], Any]] = {
    "text": unescape,
    "index": int,
    "number": int,
    "logprob": json.loads,
    "padding": bytes.decode,
}


class Mould:
    """
    Make chunks of a template's matches.

    Every container is new in each chunk: a caller may change what it gets.

    Attributes:
        template: What it was made from.
    """

    __slots__ = ("_base", "_copies", "_places", "template")

    def __init__(self, template: Template) -> None:
        self.template = template
        self._base = template.chunk
        # Each container below the top: its parent's number, its key, its value.
        self._copies: list[tuple[int, Any, Any]] = []
        numbers: dict[tuple[Any, ...], int] = {(): 0}
        self._collect((), template.chunk, numbers)
        self._places = [
            (numbers[hole.path[:-1]], hole.path[-1], READERS[hole.kind]) for hole in template.holes
        ]

    def _collect(self, path: tuple[Any, ...], value: Any, numbers: dict[Any, int]) -> None:
        pairs = value.items() if type(value) is dict else enumerate(value)
        for key, item in pairs:
            if type(item) is dict or type(item) is list:
                self._copies.append((numbers[path], key, item))
                numbers[(*path, key)] = len(self._copies)
                self._collect((*path, key), item, numbers)

    def cast(self, contents: Sequence[bytes]) -> dict[str, Any]:
        """
        Return the chunk that has *contents* in its holes.

        Raises:
            UnicodeDecodeError: If one is no UTF-8.
        """
        chunk: dict[str, Any] = self._base.copy()
        made: list[Any] = [chunk]
        for parent, key, value in self._copies:
            copy = value.copy()
            made[parent][key] = copy
            made.append(copy)
        for (container, key, read), content in zip(self._places, contents, strict=True):
            made[container][key] = read(content)
        return chunk
