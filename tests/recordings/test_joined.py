"""Small pieces are joined, and nothing but the cost is less."""

from __future__ import annotations

import pytest

from streamkit import LimitExceeded
from streamkit._clock import Clock
from streamkit.recordings import Piece
from streamkit.recordings._joined import BLOCK, blocks_of


def test_blocks():
    """All bytes come, in blocks of about one size, and the clock knows the time of each."""
    pieces = [Piece(b"data: %d\n\n" % number, number / 10) for number in range(10_000)]
    clock = Clock()
    offset = number = count = 0
    for block in blocks_of(iter(pieces), clock):
        count += 1
        assert len(block) <= BLOCK + 20
        for event in block.split(b"\n\n")[:-1]:
            assert event == b"data: %d" % number
            assert clock.at(offset) == number / 10
            offset += len(event) + 2
            number += 1
    assert number == len(pieces)
    assert count < 10


def test_what_ends_a_stream_is_not_held():
    """An outcome does not wait for the next stream."""
    seen = []

    def pieces():
        for data in (b"data: 1\n\n", b"data: [DONE]\n\n", b"data: 2\n\n", b"x"):
            seen.append(data)
            yield Piece(data)

    blocks = blocks_of(pieces(), Clock())
    assert next(blocks) == b"data: 1\n\ndata: [DONE]\n\n"
    assert len(seen) == 2
    assert list(blocks) == [b"data: 2\n\nx"]


def test_first_time():
    """What came before the first time has none."""
    clock = Clock()
    times = []
    for block in blocks_of([Piece(b"a\n"), Piece(b"b\n"), Piece(b"c\n", 5.0)], clock):
        times.append((block, clock.is_running))
    assert times == [(b"a\nb\n", False), (b"c\n", True)]


def test_a_reader_that_fails():
    """What came before the failure is handed on first."""

    def pieces():
        yield Piece(b"a\n")
        yield Piece(b"b\n")
        raise LimitExceeded("line", 5, bound=1)

    blocks = blocks_of(pieces(), Clock())
    assert next(blocks) == b"a\nb\n"
    with pytest.raises(LimitExceeded):
        next(blocks)
