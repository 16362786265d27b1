"""The short way of `SSEParser`, for blocks of plain events, is the line by line way."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import pytest

from hypothesis import given, settings
from hypothesis import strategies as st

from streamkit import Limits, SSEParser, StreamkitError
from streamkit._lines import LineSplitter
from streamkit._sse import LONGEST_BLOCK, LONGEST_HELD


class LineByLine(SSEParser):
    """A parser without the short way."""

    def _feed(self, data, events):
        self._take_lines(data, events)


def parsed(cls, pieces, **options):
    """Return all that a parser tells of *pieces*: after each, and at the end."""
    parser = cls(**options)
    told = []
    try:
        for piece in pieces:
            told.append(parser.feed(piece))
            told.append((parser.last_event_id, parser.retry, parser.comments, parser.last_comment))
        told.append(parser.finish())
    except StreamkitError as error:
        partial = error.partial
        issue = getattr(error, "issue", None)
        return told, type(error), str(error), partial, issue, parser.last_event_id
    return told, parser.tail, parser.last_event_id, parser.retry, parser.comments


def parsed_alike(pieces, **options):
    told = parsed(LineByLine, pieces, **options)
    assert parsed(SSEParser, pieces, **options) == told
    return told


def is_taken(data, before=b""):
    """Tell whether *data* goes the short way."""
    parser = SSEParser()
    parser.feed(before)
    took = []
    take = parser._take_plain
    parser._take_plain = lambda *args: took.append(take(*args)) or took[-1]
    parser.feed(data)
    return took == [True]


PLAIN = b"data: a\n\ndata: b\n\n"


@pytest.mark.parametrize(
    "data",
    [
        PLAIN,
        b"data: \n\n",
        b"data: a\n\n",
        b"data:  a \n\n",
        b"data: \xc3\xa9\xe2\x80\xa8\n\n",
        b"data: data: a\n\n",
        b"data: a\x00\x0b\x0c\x1c\n\n",
        b"data: \xef\xbb\xbf\n\n",
    ],
    ids=repr,
)
def test_plain_events_go_the_short_way(data):
    """One `data` line each, with LF."""
    assert is_taken(data)
    assert is_taken(data + b"data: rest", b"id: 5\n\n: c\n\nretry: 7\n\n")
    parsed_alike([data])
    parsed_alike([b"id: 5\n\n", data, b"data: x"])


OTHER = [
    b"data:a\n\n",
    b"data: a\ndata: b\n\n",
    b"data: a\n\n\n",
    b"data: a\n\n\n\n",
    b"\ndata: a\n\n",
    b"data: a\r\n\r\n",
    b"data: a\r\r",
    b"data: a\rb\n\n",
    b"data: a\n\r\n",
    b"data: a\n\nid: 1\n\n",
    b"data: a\n\n: c\n\ndata: b\n\n",
    b": c\ndata: a\n\n",
    b"data: a\nid: 1\n\n",
    b"id: 1\ndata: a\n\n",
    b"event: x\ndata: a\n\n",
    b"retry: 5\ndata: a\n\n",
    b"\xef\xbb\xbfdata: a\n\n",
    b"data: \xff\n\n",
    b"data: a\n\ndata: \xc3\n\ndata: \xa9\n\n",
    b"data: \xed\xa0\x80\n\n",
    b"data\n\n",
    b"Data: a\n\n",
    b"\n\n",
]


@pytest.mark.parametrize("data", OTHER, ids=repr)
def test_other_events_go_line_by_line(data):
    """And those beside them in the block."""
    assert not is_taken(data)
    for pieces in ([data], [PLAIN, data, PLAIN], [PLAIN + data + PLAIN], [data[:-1], data[-1:]]):
        parsed_alike(pieces)
        parsed_alike(pieces, strict_utf8=True)


@pytest.mark.parametrize(
    "before",
    [b"data: x\n", b"id: 1\n", b"event: x\n", b"retry: 5\n", b": c\n", b"dat", b"\r", b"data: x\r"],
    ids=repr,
)
def test_inside_an_event_all_goes_line_by_line(before):
    """The block goes on with it."""
    assert not is_taken(PLAIN, before)
    parsed_alike([before, PLAIN])
    parsed_alike([before, b"\n", PLAIN])
    parsed_alike([before, b"\n\n", PLAIN])


def test_a_held_piece_is_not_lost():
    """A piece of a `data` line waits for the rest, or for the end."""
    parser = SSEParser()
    assert parser.feed(b"data: a") == []
    assert parser._held == b"data: a"
    assert parser.feed(b"b") == []
    assert [event.data for event in parser.feed(b"c\n\n")] == ["abc"]
    assert parser.feed(b"data: d") == []
    parser.finish()
    assert parser.tail.data == "d"
    parsed_alike([b"data: a", b"b", b"c\n\ndata: d"])
    parsed_alike([b"data: a" + b"x" * LONGEST_HELD, b"b\n\n"])
    parsed_alike([b"data: \xff", b"\n\n"], strict_utf8=True)
    parsed_alike([b"data: \xff"], strict_utf8=True)


@pytest.mark.parametrize(
    ("pieces", "held"),
    [
        ([b"data: a"], b"data: a"),
        ([b"data: "], b"data: "),
        ([b"data: a", b"b"], b"data: ab"),
        ([PLAIN + b"data: a"], b"data: a"),
        ([b"id: 1\n\n", b"data: a"], b"data: a"),
        ([b"id: 1\n\ndata: a"], b"data: a"),
        ([b"\n\ndata: a"], b"data: a"),
        ([PLAIN], b""),
        ([b"data: a", b"\n\n"], b""),
        ([b"data:"], b""),
        ([b"event: a"], b""),
        ([b"data: a\n"], b""),
        ([b"data: a\nb"], b""),
        ([b"data: a\rb"], b""),
        ([b"id: 1\n", b"data: a"], b""),
        ([b"data: a\n", b"data: b"], b""),
        ([b"x", b"data: a"], b""),
        ([b"\r", b"data: a"], b""),
        ([b"data: " + b"x" * (LONGEST_HELD - 7)], b"data: " + b"x" * (LONGEST_HELD - 7)),
        ([b"data: " + b"x" * (LONGEST_HELD - 6)], b""),
    ],
)
def test_what_is_held(pieces, held):
    """A piece of a `data` line with which an event begins, if it is not too long."""
    parser = SSEParser()
    for piece in pieces:
        parser.feed(piece)
    assert parser._held == held


@pytest.mark.parametrize(("bound", "held"), [(7, b"data: a"), (6, b"")])
@pytest.mark.parametrize("limit", ["line", "event"])
def test_what_is_held_within_a_bound(limit, bound, held):
    """What may cross a bound goes line by line, which sees to that."""
    parser = SSEParser(limits=Limits(**{limit: bound}))
    with suppress(StreamkitError):
        parser.feed(b"data: a")
    assert parser._held == held


def test_a_block_that_is_too_long_goes_line_by_line():
    """A copy of its lines would take more memory than they are worth."""
    data = PLAIN * (LONGEST_BLOCK // len(PLAIN))
    assert is_taken(data)
    assert not is_taken(data + PLAIN)
    parsed_alike([data + PLAIN])


@pytest.mark.parametrize("bound", range(1, 14))
@pytest.mark.parametrize("limit", ["line", "event"])
def test_bounds(limit, bound):
    """A block that may cross one goes line by line."""
    for pieces in (
        [PLAIN],
        [b"data: a", b"b\n\n"],
        [b"data: abcdef", b"\n\n"],
        [b"data: abcdefgh"],
    ):
        parsed_alike(pieces, limits=Limits(**{limit: bound}))


FRAGMENTS = st.sampled_from(
    [
        *(b"data: a\n\n", b"data: \xc3\xa9\n\n", b"data: ", b"data: x\n", b"data:y\n\n"),
        *(b"\n", b"\n\n", b"\r", b"\r\n", b": c\n\n", b"id: 1\n", b"id: 2\n\n", b"id\n"),
        *(b"event: e\n", b"retry: 5\n\n", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"da", b"ta: z", b"{"),
    ]
)


@settings(deadline=None, max_examples=600)
@given(
    st.lists(st.lists(FRAGMENTS, max_size=6).map(b"".join), max_size=8),
    st.booleans(),
    st.sampled_from([Limits(), Limits(), Limits(line=9), Limits(event=7)]),
)
def test_any_blocks(pieces, strict_utf8, limits):
    """The events, the state after each block, the errors, the tail."""
    parsed_alike(pieces, strict_utf8=strict_utf8, limits=limits)


@given(st.lists(FRAGMENTS).map(b"".join), st.lists(st.integers(0, 60)))
def test_any_cuts(data, cuts):
    """The events are those of the whole, however it is cut."""
    places = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    pieces = [data[start:end] for start, end in pairwise(places)]
    whole, cut = SSEParser(), SSEParser()
    expected = whole.feed(data)
    assert [event for piece in pieces for event in cut.feed(piece)] == expected
    assert (whole.finish(), whole.tail) == (cut.finish(), cut.tail)


# -- Lines that were read otherwise --------------------------------------------------


def test_skip():
    """Offsets go on behind what was skipped, and a BOM is no longer one."""
    lines = LineSplitter(Limits())
    assert lines.is_at_start_of_line
    lines.skip(20)
    assert lines.feed(b"\xef\xbb\xbfa\nb") == [b"\xef\xbb\xbfa\n"]
    assert lines.offset == 20
    assert not lines.is_at_start_of_line
    assert lines.rest() == b"b"
    assert lines.offset == 25


def test_a_cr_may_be_half_an_ending():
    """Then the next byte may not start a line."""
    lines = LineSplitter(Limits())
    lines.feed(b"a\r")
    assert not lines.is_at_start_of_line
    lines.feed(b"\n")
    assert lines.is_at_start_of_line


def test_issues_behind_plain_events_have_their_numbers():
    """The number of the event, and where it is."""
    parser = SSEParser(strict_utf8=True)
    parser.feed(PLAIN)
    parser.feed(PLAIN)
    with pytest.raises(StreamkitError) as caught:
        parser.feed(b"data: \xff\n\n")
    at = 2 * len(PLAIN) + len("data: ")
    assert (caught.value.issue.event, caught.value.issue.offset) == (4, at)
