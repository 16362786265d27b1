"""Blocks of bytes as lines, for the readers that go line by line."""

from __future__ import annotations

import re

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TypeVar

from streamkit._limits import Limits


__all__ = ["COLOUR", "HEAD", "head_lines", "is_long_enough", "lines", "look_ahead", "runs_of_lines"]

T = TypeVar("T")

HEAD = 1 << 16
# What makes a terminal show colours; JSON has no such character but escaped.
COLOUR = re.compile(rb"\x1b\[[0-9;]{0,20}[A-Za-z]")


def runs_of_lines(blocks: Iterable[bytes], limits: Limits) -> Iterator[bytes]:
    """
    Yield *blocks* cut between lines: whole lines, as many as came at once.

    Only LF ends a line.  A log's lines end so, or in CRLF; a lone CR in one is
    part of what was logged (a progress meter, say).  Cost is linear, as in
    `LineSplitter`.

    Raises:
        LimitExceeded: If a line, finished or not, is longer than the limit.
    """
    pending: list[bytes] = []
    size = offset = 0
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if end:
            run = b"".join([*pending, block[:end]])
            if len(run) > limits.longest:
                _check_lines(run, offset, limits)
            yield run
            offset += len(run)
            pending.clear()
            size = 0
        if tail := block[end:]:
            pending.append(tail)
            size += len(tail)
            limits.check("line", size, offset)
    if pending:
        yield b"".join(pending)


def _check_lines(run: bytes, offset: int, limits: Limits) -> None:
    for line in run.split(b"\n"):
        limits.check("line", len(line), offset)
        offset += len(line) + 1


def lines(blocks: Iterable[bytes], limits: Limits) -> Iterator[bytes]:
    """
    Yield the lines of *blocks*, endings included; only LF ends a line.

    Raises:
        LimitExceeded: If a line is longer than the limit.
    """
    for run in runs_of_lines(blocks, limits):
        start = 0
        while end := run.find(b"\n", start) + 1:
            yield run[start:end]
            start = end
        if start < len(run):
            yield run[start:]


def head_lines(head: bytes) -> list[bytes]:
    """Return the whole lines of a recording's first bytes, without endings."""
    found = [line.removesuffix(b"\r") for line in head.split(b"\n")]
    if len(head) >= HEAD and len(found) > 1:
        found.pop()
    return found


def look_ahead(
    items: Iterator[T], enough: Callable[[list[T]], bool]
) -> tuple[list[T], Iterator[T]]:
    """Return the first of *items*, as many as are *enough*, and all of them."""
    first: list[T] = []
    for item in items:
        first.append(item)
        if enough(first):
            break
    return first, chain(first, items)


def is_long_enough(size: int, size_of: Callable[[T], int]) -> Callable[[list[T]], bool]:
    """Return the test whether items have a *size* in all; it counts each of them once."""
    total = 0

    def enough(items: list[T]) -> bool:
        nonlocal total
        total += size_of(items[-1])
        return total >= size

    return enough
