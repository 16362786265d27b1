"""Lists in pieces: content in parts, reasoning details."""

from __future__ import annotations

from typing import Any

from streamkit._cells import DETAIL_TEXTS, MERGING_PARTS, is_index

from ._text import TextCutter


__all__ = ["detail_pieces", "part_pieces"]


def part_pieces(part: Any, cutter: TextCutter) -> list[Any]:
    """Return one part of a content list in pieces, if it is of a type whose neighbours merge."""
    kind = part.get("type") if type(part) is dict else None
    if type(kind) is not str or kind not in MERGING_PARTS:
        return [part]
    first = dict(part)
    rest: list[Any] = []
    for name in sorted(MERGING_PARTS & part.keys()):
        first[name], *others = _inner_pieces(part[name], cutter)
        rest += [{"type": kind, name: other} for other in others]
    return [first, *rest]


def _inner_pieces(value: Any, cutter: TextCutter) -> list[Any]:
    if type(value) is str:
        return list(cutter.pieces(value))
    if type(value) is list and value:
        return [[piece] for part in value for piece in part_pieces(part, cutter)]
    return [value]


def detail_pieces(entry: Any, cutter: TextCutter) -> list[Any]:
    """Return one entry of `reasoning_details` in pieces; without an index it stays whole."""
    if type(entry) is not dict or not is_index(entry.get("index"), None):
        return [entry]
    names = [name for name in entry if name in DETAIL_TEXTS and type(entry[name]) is str]
    key = {name: entry[name] for name in ("index", "type") if name in entry}
    first = dict(entry)
    rest: list[Any] = []
    for name in names:
        first[name], *others = cutter.pieces(entry[name])
        rest += [{**key, name: other} for other in others]
    return [first, *rest]
