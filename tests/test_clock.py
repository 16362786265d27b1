"""Lines have the times of the pieces that they end in."""

from __future__ import annotations

import pytest

from streamkit._clock import Clock


def clock_of(*pieces):
    clock = Clock()
    for data, time in pieces:
        clock.feed(data, time)
    return clock


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_a_line_came_when_it_was_whole(end):
    """Whatever ends it."""
    clock = clock_of((b"a", 1.0), (b"b" + end, 2.0), (b"c" + end + b"d", 3.0))
    size = len(end)
    assert [clock.at(0), clock.at(2 + size), clock.at(3 + 2 * size)] == [2.0, 3.0, 3.0]


def test_an_end_in_two_pieces():
    """The line is whole at the CR."""
    clock = clock_of((b"a\r", 1.0), (b"\nb\r\n", 2.0))
    assert [clock.at(0), clock.at(3)] == [1.0, 2.0]


def test_lines_of_one_piece():
    """All have its time."""
    clock = clock_of((b"a\rb\r", 1.0), (b"c\r", 2.0))
    assert [clock.at(0), clock.at(2), clock.at(4)] == [1.0, 1.0, 2.0]


def test_a_line_without_an_end():
    """It has the time of the latest piece."""
    assert clock_of((b"a\nb", 1.0), (b"c", 2.0)).at(2) == 2.0


def test_lines_of_one_offset():
    """It can be asked for again."""
    clock = clock_of((b"a\n", 1.0), (b"b\n", 2.0))
    assert [clock.at(0), clock.at(0), clock.at(2), clock.at(2)] == [1.0, 1.0, 2.0, 2.0]


def test_a_piece_without_a_time():
    """Its lines have none, and no other's."""
    clock = clock_of((b"a\n", 1.0), (b"b\n", None), (b"c\n", 3.0))
    assert [clock.at(0), clock.at(2), clock.at(4)] == [1.0, None, 3.0]


def test_no_times():
    """A clock that was never told a time does not run, and keeps nothing."""
    clock = clock_of((b"a\n", None), (b"b\n", None))
    assert not clock.is_running
    assert clock.at(0) is None
    clock.feed(b"c\n", 3.0)
    clock.feed(b"d\n", 4.0)
    assert clock.is_running
    assert [clock.at(4), clock.at(6)] == [3.0, 4.0]


def test_the_request():
    """A piece without bytes that comes first says when it was sent; a later one does not."""
    assert clock_of((b"", 1.0), (b"a", 2.0), (b"", 3.0)).started == 1.0
    assert clock_of((b"a", 2.0), (b"", 3.0)).started is None
