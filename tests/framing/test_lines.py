"""Splitting bytes into lines: endings, BOM, offsets, limits, in linear cost."""

from __future__ import annotations

import re

import pytest

from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamkit import LimitExceeded, Limits
from streamkit._limits import NO_LIMITS
from streamkit._lines import BOM, LineSplitter, as_bytes

from .helpers import pieces_of, splits


def split(pieces, limits=NO_LIMITS):
    """The lines with their offsets, without endings, and the rest."""
    splitter = LineSplitter(limits)
    found = []
    for piece in pieces:
        lines = splitter.feed(piece)
        offset = splitter.offset
        for line in lines:
            found.append((offset, line.rstrip(b"\r\n")))
            offset += len(line)
    rest = splitter.rest()
    return found, (splitter.offset, rest)


@pytest.mark.parametrize(
    ("data", "lines", "rest"),
    [
        pytest.param(b"", [], (0, b""), id="empty"),
        pytest.param(b"a", [], (0, b"a"), id="no-ending"),
        pytest.param(b"a\nb\n", [(0, b"a"), (2, b"b")], (4, b""), id="lf"),
        pytest.param(b"a\rb\r", [(0, b"a"), (2, b"b")], (4, b""), id="cr"),
        pytest.param(b"a\r\nb\r\nc", [(0, b"a"), (3, b"b")], (6, b"c"), id="crlf"),
        pytest.param(b"\r\r\n\n", [(0, b""), (1, b""), (3, b"")], (4, b""), id="cr-crlf-lf"),
        pytest.param(b"\n\r", [(0, b""), (1, b"")], (2, b""), id="lf-cr-is-two"),
        pytest.param(b"a\rb\nc", [(0, b"a"), (2, b"b")], (4, b"c"), id="cr-then-text-then-lf"),
        pytest.param(
            b"a\r\rb\n\nc\n",
            [(0, b"a"), (2, b""), (3, b"b"), (5, b""), (6, b"c")],
            (8, b""),
            id="mixed",
        ),
        pytest.param(BOM + b"a\nb", [(3, b"a")], (5, b"b"), id="bom"),
        pytest.param(BOM + BOM + b"a\n", [(3, BOM + b"a")], (8, b""), id="second-bom"),
        pytest.param(b"a\n" + BOM + b"b\n", [(0, b"a"), (2, BOM + b"b")], (7, b""), id="later-bom"),
        pytest.param(BOM, [], (3, b""), id="only-bom"),
        pytest.param(b"a\nXXXXb\n", [(0, b"a"), (2, b"XXXXb")], (8, b""), id="only-a-bom-goes"),
        pytest.param(BOM[:2], [], (0, BOM[:2]), id="half-a-bom"),
        pytest.param(BOM + b"\r\na", [(3, b"")], (5, b"a"), id="bom-then-ending"),
        pytest.param(
            "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1ei\n".encode(),
            [(0, "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1ei".encode())],
            (23, b""),
            id="no-other-ending",
        ),
    ],
)
def test_split(data, lines, rest):
    """Lines end at CRLF, LF and CR only, at the same offsets whatever the split."""
    for pieces in splits(data):
        assert split(pieces) == (lines, rest), pieces


def test_cr_ends_the_line_at_once():
    """A line is given out at its CR; the LF, after empty feeds, belongs to it."""
    splitter = LineSplitter(NO_LIMITS)
    fed = [splitter.feed(piece) for piece in (b"a\r", b"", b"", b"\n", b"b\n")]
    assert fed == [[b"a\r"], [], [], [], [b"b\n"]]


def test_lf_behind_a_held_piece_ends_it():
    """Only an LF right behind a CR is swallowed, not one behind the text after it."""
    splitter = LineSplitter(NO_LIMITS)
    assert [splitter.feed(piece) for piece in (b"a\rb", b"\n")] == [[b"a\r"], [b"b\n"]]


def test_rest_is_forgotten():
    """The rest is given once."""
    splitter = LineSplitter(NO_LIMITS)
    assert (splitter.offset, splitter.end) == (0, 0)
    splitter.feed(b"a")
    assert (splitter.rest(), splitter.offset) == (b"a", 0)
    assert (splitter.rest(), splitter.offset) == (b"", 1)


@pytest.mark.parametrize("ending", [b"\n", b"\r", b"\r\n"])
@settings(max_examples=100, deadline=None)
@given(
    text=st.lists(st.binary(max_size=4), max_size=6), cuts=st.lists(st.integers(0, 40), max_size=5)
)
@example(text=[b"", b"a", b""], cuts=[2])
def test_any_split(ending, text, cuts):
    """Any split gives the lines that a regular expression finds."""
    data = ending.join(text)
    clean = data.removeprefix(BOM)
    expected = re.split(rb"\r\n|\n|\r", clean)
    lines, (_, rest) = split(pieces_of(data, cuts))
    assert [*(line for _, line in lines), rest] == expected


LIMIT = Limits(line=8)


@pytest.mark.parametrize(
    ("data", "whole"),
    [
        pytest.param(b"1234567890abcd", [], id="pending"),
        pytest.param(b"1234567890abcd\n", [], id="ended"),
        pytest.param(b"a\n\nb\n1234567890abcd\nc\n", [b"a", b"", b"b"], id="after-lines"),
        pytest.param(b"a\n\nb\n1234567890abcd", [b"a", b"", b"b"], id="pending-after-lines"),
        pytest.param(b"a\r\r1234567890abcd", [b"a", b""], id="pending-after-cr"),
    ],
)
def test_limit(data, whole):
    """A line over the limit is refused, pending or ended; no whole line before it is lost."""
    for pieces in splits(data):
        splitter = LineSplitter(LIMIT)
        lines = []
        with pytest.raises(LimitExceeded) as caught:
            for piece in pieces:
                lines += splitter.feed(piece)
        lines += caught.value.partial or []
        assert [line.rstrip(b"\r\n") for line in lines] == whole, pieces
        assert caught.value.limit == "line"
        assert caught.value.offset == data.index(b"1234567890abcd")


@pytest.mark.parametrize("ending", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("length", range(5, 10))
def test_limit_is_the_same_for_every_split(ending, length):
    """Whether a line is too long depends on the line, not on how it arrived."""
    data = b"x" * length + ending
    assert len({refused(pieces) for pieces in splits(data)}) == 1


def refused(pieces):
    try:
        split(pieces, LIMIT)
    except LimitExceeded:
        return True
    return False


def test_many_short_lines_are_no_long_line():
    """The limit is for a line, not for a feed."""
    for pieces in splits(b"1234567\n" * 20):
        assert len(split(pieces, LIMIT)[0]) == 20


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"", True, id="start"),
        pytest.param(b"a\n", True, id="lf"),
        pytest.param(b"a", False, id="inside"),
        pytest.param(b"a\r", False, id="an-lf-may-follow"),
        pytest.param(b"a\nb", False, id="inside-the-second"),
    ],
)
def test_is_at_start_of_line(data, expected):
    """Whether the next byte starts a line, for sure."""
    splitter = LineSplitter(NO_LIMITS)
    splitter.feed(data)
    assert splitter.is_at_start_of_line is expected


def test_skip():
    """Lines that were read otherwise count for offsets, and a BOM behind them is content."""
    splitter = LineSplitter(NO_LIMITS)
    splitter.skip(4)
    splitter.skip(6)
    assert (splitter.feed(BOM + b"a\n"), splitter.offset) == ([BOM + b"a\n"], 10)
    splitter.skip(1)
    assert splitter.feed(b"XXXX\n") == [b"XXXX\n"]


def test_drip_is_not_joined_early():
    """Pieces of a long line wait unjoined: joining at each feed would be quadratic."""
    splitter = LineSplitter(NO_LIMITS)
    block = b"x" * 1024
    for _ in range(100):
        assert splitter.feed(block) == []
    assert all(piece is block for piece in splitter._pieces)
    assert splitter.feed(b"\n") == [block * 100 + b"\n"]


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_as_bytes_copies_what_can_change(kind):
    """A buffer that the caller writes to again changes nothing here."""
    buffer = bytearray(b"abc")
    taken = as_bytes(kind(buffer))
    buffer[0] = 0
    assert taken == b"abc"
    assert type(taken) is bytes


def test_as_bytes_does_not_copy_bytes():
    """Bytes cannot change: they are taken as they are."""
    data = b"abc" * 10
    assert as_bytes(data) is data


@pytest.mark.parametrize("data", ["text", None, 1, [1], {}])
def test_as_bytes_refuses(data):
    """Anything else is a TypeError that says what to do."""
    with pytest.raises(TypeError, match=f"must be bytes, not {type(data).__name__}; encode text"):
        as_bytes(data)


def test_limits_of_another_type_are_a_type_error():
    """Not an error of the first line that is too long."""
    with pytest.raises(TypeError, match="limits must be a Limits, not 5"):
        LineSplitter(5)
