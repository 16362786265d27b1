"""
Log probabilities in pieces, each beside the text that it is about.

If the tokens make up the text, pieces of text are cut between tokens.  If they do
not (a token may be part of a character), both are cut alike, in as many pieces.
"""

from __future__ import annotations

from typing import Any

import attrs

from streamkit._rules import PARALLEL

from ._text import TextCutter


__all__ = ["Columns", "Slice", "columns_of", "shares", "slices"]


@attrs.frozen
class Columns:
    """
    Lists of log probabilities that are cut together.

    Attributes:
        lists: By name, all equally long.
        others: What is in the object besides, the same in each piece.
        tokens: The token of each entry, or what stands in its place.
    """

    lists: dict[str, list[Any]]
    others: dict[str, Any]
    tokens: list[Any]

    @property
    def count(self) -> int:
        """How many entries each list has."""
        return max(map(len, self.lists.values()), default=0)

    def between(self, start: int, end: int) -> dict[str, Any]:
        """Return the object with the entries from *start* to *end*."""
        return {**self.others, **{name: each[start:end] for name, each in self.lists.items()}}


@attrs.frozen
class Slice:
    """A piece of a text, and the entries beside it."""

    text: str
    start: int
    end: int


def columns_of(logprobs: dict[str, Any]) -> dict[str, Columns]:
    """
    Return what is cut together, by the name of the text that it is about.

    `"tokens"` stands for the parallel lists of legacy completions; a list that has
    not their length cannot be one of them, and goes its own way.
    """
    lists = {name: value for name, value in logprobs.items() if type(value) is list}
    others = {name: None if name in lists else value for name, value in logprobs.items()}
    if PARALLEL.isdisjoint(logprobs):
        return {name: Columns({name: each}, others, _tokens(each)) for name, each in lists.items()}
    rows = max((len(each) for name, each in lists.items() if name in PARALLEL), default=0)
    in_step = {n: each for n, each in lists.items() if n in PARALLEL or len(each) == rows}
    found = {"tokens": Columns(in_step, others, in_step.get("tokens", []))}
    for name in sorted(lists.keys() - in_step.keys()):
        found[name] = Columns({name: lists[name]}, {}, [])
    return found


def _tokens(entries: list[Any]) -> list[Any]:
    return [entry.get("token") if type(entry) is dict else None for entry in entries]


def shares(count: int, pieces: int) -> list[tuple[int, int]]:
    """Return where each of *pieces* shares of *count* entries starts and ends."""
    return [(number * count // pieces, (number + 1) * count // pieces) for number in range(pieces)]


def slices(text: str, columns: Columns, cutter: TextCutter) -> list[Slice]:
    """Return the pieces of *text*, each with its entries of *columns*."""
    tokens = columns.tokens
    if tokens and all(type(token) is str for token in tokens) and "".join(tokens) == text:
        return _by_token(tokens, cutter)
    pieces = cutter.pieces(text)
    spans = shares(columns.count, len(pieces))
    return [Slice(piece, *span) for piece, span in zip(pieces, spans, strict=True)]


def _by_token(tokens: list[str], cutter: TextCutter) -> list[Slice]:
    """Group *tokens* into pieces that are at least as long as was asked for."""
    found: list[Slice] = []
    start, length, wanted = 0, 0, cutter.dice.size()
    for end, token in enumerate(tokens, 1):
        length += len(token)
        if length >= wanted or end == len(tokens):
            found.append(Slice("".join(tokens[start:end]), start, end))
            start, length, wanted = end, 0, cutter.dice.size()
    return found
