"""A chunk made again: the learned one's JSON, with other values in the template's holes."""

from __future__ import annotations

import json

from collections.abc import Callable, Sequence
from json import decoder
from typing import Any

from ._template import HoleKind, Template
from ._views import copy_json


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
    "padding": bytes.decode,
}


class Mould:
    """
    Make chunks of a template's matches.

    Every container is new in each chunk: a caller may change what it gets.

    Args:
        template: What the events have in common.
        decode: Decodes JSON that needs no repair.

    Attributes:
        template: What it was made from.
        cast: Makes the chunk that has the given contents in its holes; it raises
            UnicodeDecodeError if one is no UTF-8.
    """

    __slots__ = (
        "_base",
        "_choice",
        "_copies",
        "_decode",
        "_delta",
        "_padding",
        "_places",
        "_remade",
        "_text",
        "cast",
        "template",
    )

    def __init__(self, template: Template, decode: Callable[[bytes], Any] = json.loads) -> None:
        self.template = template
        self._base: dict[str, Any] = copy_json(template.chunk)  # a caller has the other
        self._decode = decode
        # Each container below the top: its parent's number, its key, its value.
        self._copies: list[tuple[int, Any, Any]] = []
        numbers: dict[tuple[Any, ...], int] = {(): 0}
        self._remade = {hole.path for hole in template.holes}
        self._collect((), self._base, numbers)
        self._places: list[tuple[int, Any, Callable[[bytes], Any]]] = [
            (numbers[hole.path[:-1]], hole.path[-1], READERS.get(hole.kind) or self._raw(hole.kind))
            for hole in template.holes
        ]
        self._choice: dict[str, Any] = self._base["choices"][0]
        self._delta: Any = self._choice.get("delta")
        self._text: Any = None
        self._padding: list[Any] = []
        self.cast: Callable[[Sequence[bytes]], dict[str, Any]] = self._cast_deep
        if list(numbers) == FLAT and type(self._delta) is dict:
            self.cast = self._cast_text if self._is_text() else self._cast_flat
        elif list(numbers) == FLAT[:-1]:
            self.cast = self._cast_choice

    def _is_text(self) -> bool:
        """Tell whether the holes are a text in the delta, then padding at the top."""
        if not self._places:
            return False
        (container, self._text, read), *rest = self._places
        self._padding = [key for _, key, _ in rest]
        return (container, read) == (3, unescape) and all(
            (container, read) == (0, bytes.decode) for container, _, read in rest
        )

    def _collect(self, path: tuple[Any, ...], value: Any, numbers: dict[Any, int]) -> None:
        pairs = value.items() if type(value) is dict else enumerate(value)
        for key, item in pairs:
            is_container = type(item) is dict or type(item) is list
            if is_container and (*path, key) not in self._remade:
                self._copies.append((numbers[path], key, item))
                numbers[(*path, key)] = len(self._copies)
                self._collect((*path, key), item, numbers)

    def _raw(self, kind: HoleKind) -> Callable[[bytes], Any]:
        return self._entry if kind == "logprob" else self._entries

    def _entries(self, raw: bytes) -> Any:
        return self._entry(b"[%b]" % raw)

    def _entry(self, raw: bytes) -> Any:
        raw.decode()  # no repairs here: what is no UTF-8 goes the slow road
        return self._decode(raw)

    def _cast_deep(self, contents: Sequence[bytes]) -> dict[str, Any]:
        chunk: dict[str, Any] = self._base.copy()
        made: list[Any] = [chunk]
        for parent, key, value in self._copies:
            copy = value.copy()
            made[parent][key] = copy
            made.append(copy)
        for (container, key, read), content in zip(self._places, contents, strict=True):
            made[container][key] = read(content)
        return chunk

    def _cast_flat(self, contents: Sequence[bytes]) -> dict[str, Any]:
        """As `_cast_deep`, for a chunk with one choice and its delta, and no more."""
        chunk: dict[str, Any] = self._base.copy()
        choice = self._choice.copy()
        delta: dict[str, Any] = self._delta.copy()
        made: tuple[dict[str, Any], ...] = (chunk, chunk, choice, delta)
        for (container, key, read), content in zip(self._places, contents, strict=True):
            made[container][key] = read(content)
        choice["delta"] = delta
        chunk["choices"] = [choice]
        return chunk

    def _cast_choice(self, contents: Sequence[bytes]) -> dict[str, Any]:
        """As `_cast_flat`, for a chunk whose one choice has no delta: a completion's."""
        chunk: dict[str, Any] = self._base.copy()
        choice = self._choice.copy()
        made: tuple[dict[str, Any], ...] = (chunk, chunk, choice)
        for (container, key, read), content in zip(self._places, contents, strict=True):
            made[container][key] = read(content)
        chunk["choices"] = [choice]
        return chunk

    def _cast_text(self, contents: Sequence[bytes]) -> dict[str, Any]:
        """As `_cast_flat`, for a text in the delta and padding: most chunks of most streams."""
        chunk: dict[str, Any] = self._base.copy()
        choice = self._choice.copy()
        delta = choice["delta"] = self._delta.copy()
        chunk["choices"] = [choice]
        body = contents[0].decode()
        delta[self._text] = scanstring(body + '"', 0)[0] if "\\" in body else body
        for position, key in enumerate(self._padding, 1):
            chunk[key] = contents[position].decode()
        return chunk


FLAT = [(), ("choices",), ("choices", 0), ("choices", 0, "delta")]
