"""Chance that comes out the same for the same seed, on each version of Python."""

from __future__ import annotations

import random

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar


__all__ = ["Dice", "Size"]

T = TypeVar("T")

Size: TypeAlias = int | tuple[int, int]

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


class Dice:
    """
    Sizes, cuts and orders, drawn from *seed*.

    Of the generator only `random()` is used: its numbers are promised to stay the
    same, those of the other methods are not.

    Args:
        seed: Where chance starts.
        size: How long a piece is: a number, or the lowest and the highest.

    Raises:
        TypeError: If *seed* is no integer or *size* no such number or pair.
    """

    def __init__(self, seed: int, size: Size = 1) -> None:
        if type(seed) is not int:
            raise TypeError(f"seed must be an integer, not {seed!r}")
        self._random = random.Random(seed).random  # noqa: S311 - reproducible is what it is for
        self._low, self._high = _bounds(size)

    def below(self, bound: int) -> int:
        """Return an integer from 0 up to *bound*, which is left out."""
        return int(self._random() * bound)

    def flip(self) -> bool:
        """Return true half of the time."""
        return self.below(2) == 1

    def size(self) -> int:
        """Return the length of the next piece."""
        return self._low + self.below(self._high - self._low + 1)

    def letters(self, low: int, high: int) -> str:
        """Return *low* to *high* letters and digits."""
        count = low + self.below(high - low + 1)
        return "".join(LETTERS[self.below(len(LETTERS))] for _ in range(count))

    def cuts(self, length: int) -> list[tuple[int, int]]:
        """Return where the pieces of something *length* long start and end; at least one."""
        spans: list[tuple[int, int]] = []
        start = 0
        while start < length or not spans:
            end = min(length, start + self.size())
            spans.append((start, end))
            start = end
        return spans

    def interleaved(self, lanes: Sequence[Sequence[T]]) -> list[T]:
        """Return the items of *lanes* in an order that keeps the order in each lane."""
        numbers = [number for number, lane in enumerate(lanes) for _ in lane]
        for last in range(len(numbers) - 1, 0, -1):  # Fisher and Yates
            other = self.below(last + 1)
            numbers[last], numbers[other] = numbers[other], numbers[last]
        heads = [iter(lane) for lane in lanes]
        return [next(heads[number]) for number in numbers]


def _bounds(size: Size) -> tuple[int, int]:
    bounds: Any = (size, size) if type(size) is int else size
    is_pair = type(bounds) is tuple and [type(bound) for bound in bounds] == [int, int]
    if not is_pair or not 1 <= bounds[0] <= bounds[1]:
        raise TypeError(f"size must be a positive integer or (low, high), not {size!r}")
    return bounds[0], bounds[1]
