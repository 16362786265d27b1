"""The specification's parser, clause by clause."""

from __future__ import annotations

import itertools

import pytest

from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamkit import FramingError, InputRefused, LimitExceeded, Limits, ServerSentEvent, SSEParser
from streamkit._sse import RETRY_DIGITS

from .helpers import assert_parser_raises, assert_parses, fragments, parse, pieces_of


BOM = b"\xef\xbb\xbf"
# A CR and an LF in a row would be one ending, not two.
ENDINGS = [
    endings
    for endings in itertools.product([b"\n", b"\r", b"\r\n"], repeat=4)
    if (b"\r", b"\n") not in (endings[:2], endings[2:])
]


def sse(data="", event="message", id="", retry=None):
    return ServerSentEvent(event, data, id, retry)


@pytest.mark.parametrize(
    ("data", "events"),
    [
        pytest.param(b"", [], id="empty"),
        pytest.param(b"data: a\n\n", [sse("a")], id="one"),
        pytest.param(b"data:a\n\n", [sse("a")], id="no-space"),
        pytest.param(b"data:  a \n\n", [sse(" a ")], id="one-space-only"),
        pytest.param(b"data:\ta\n\n", [sse("\ta")], id="tab-stays"),
        pytest.param(b"data: a:b\n\n", [sse("a:b")], id="first-colon"),
        pytest.param(b"data: a\ndata: b\ndata:\n\n", [sse("a\nb\n")], id="lines-joined"),
        pytest.param(b"data\n\n", [sse()], id="no-colon"),
        pytest.param(b"data:\n\n", [sse()], id="no-value"),
        pytest.param(b"data\ndata\n\n", [sse("\n")], id="two-empty-lines"),
        pytest.param(b"data: a\n\n\n\ndata: b\n\n", [sse("a"), sse("b")], id="more-blank-lines"),
        pytest.param(b"\n\n\n", [], id="only-blank-lines"),
        pytest.param(b"event: e\ndata: a\n\ndata: b\n\n", [sse("a", "e"), sse("b")], id="type"),
        pytest.param(b"event: e\nevent: f\ndata: a\n\n", [sse("a", "f")], id="last-type"),
        pytest.param(b"event: e\nevent\ndata: a\n\n", [sse("a")], id="empty-type"),
        pytest.param(b"event: e\n\ndata: a\n\n", [sse("a")], id="type-alone-dispatches-nothing"),
        pytest.param(b"id: 1\n\nretry: 5\n\n", [], id="no-phantom"),
        pytest.param(b"id: 1\ndata: a\n\n\n\n", [sse("a", id="1")], id="no-phantom-after-id"),
        pytest.param(b"Data: a\nDATA: b\ndatax: c\n\n", [], id="case-matters"),
        pytest.param(b" data: a\n\n", [], id="leading-blank"),
        pytest.param(b"data : a\n\n", [], id="blank-before-colon"),
        pytest.param(b"foo: a\ndata: b\n\n", [sse("b")], id="unknown-field"),
        pytest.param(b": c\ndata: a\n:\n\n", [sse("a")], id="comment-inside"),
        pytest.param(b"data: \xf0\x9f\x98\x80\xc3\xa9\n\n", [sse("\U0001f600é")], id="utf-8"),
        pytest.param(b"data: a\xffb\xe2\x82\n\n", [sse("a\ufffdb\ufffd")], id="bad-utf-8"),
        pytest.param(b"data: \xed\xa0\x80\n\n", [sse("\ufffd" * 3)], id="surrogate-bytes"),
        pytest.param(
            "data: a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1ei\n\n".encode(),
            [sse("a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1ei")],
            id="no-other-line-ending",
        ),
        pytest.param(b"data: a\0b\n\n", [sse("a\0b")], id="nul-in-data"),
        pytest.param(b"data: [DONE]\n\n", [sse("[DONE]")], id="done-is-data"),
        pytest.param(BOM + b"data: a\n\n", [sse("a")], id="bom"),
        pytest.param(BOM + BOM + b"data: a\n\n", [], id="two-boms"),
        pytest.param(b"data: a\n\n" + BOM + b"data: b\n\n", [sse("a")], id="late-bom"),
        pytest.param(b"data: " + BOM + b"\n\n", [sse("\ufeff")], id="bom-in-data"),
        pytest.param(b"data: a\rdata: b\n\n", [sse("a\nb")], id="cr-then-lf"),
    ],
)
def test_events(data, events):
    """The events are those of the specification, whatever the split."""
    assert_parses(data, events)


@pytest.mark.parametrize("bom", [b"", BOM], ids=["", "bom"])
@pytest.mark.parametrize("endings", ENDINGS)
def test_line_endings(bom, endings):
    """Every mixture of the three endings gives the same events."""
    first, second, third, fourth = endings
    data = bom + b"data: a" + first + second + b"data: b" + third + fourth
    assert_parses(data, [sse("a"), sse("b")], tail=None)


@pytest.mark.parametrize(
    ("data", "ids", "last"),
    [
        pytest.param(b"id: 1\ndata: a\n\ndata: b\n\n", ["1", "1"], "1", id="stays"),
        pytest.param(b"id: 1\ndata: a\n\nid\ndata: b\n\n", ["1", ""], "", id="empty-resets"),
        pytest.param(b"id: 1\ndata: a\n\nid: \ndata: b\n\n", ["1", ""], "", id="blank-resets"),
        pytest.param(b"id: 1\nid: a\0b\ndata: a\n\n", ["1"], "1", id="nul-is-ignored"),
        pytest.param(b"id: 1\n\n", [], "1", id="committed-without-data"),
        pytest.param(b"id: 1\n\ndata: a\n\n", ["1"], "1", id="committed-for-the-next"),
        pytest.param(b"data: a\n\nid: 2\n", [""], "", id="not-committed-at-the-end"),
        pytest.param(b"data: a\n\nid: 2", [""], "", id="unterminated-id"),
        pytest.param(b"id: \xc3\xa9\xff\ndata: a\n\n", ["é\ufffd"], "é\ufffd", id="utf-8"),
    ],
)
def test_last_event_id(data, ids, last):
    """The last event ID is committed at a blank line and stays until another."""
    assert_parses(
        data, [sse(text, id=id) for text, id in zip("ab", ids, strict=False)], last_event_id=last
    )


@pytest.mark.parametrize(
    ("data", "retries", "last"),
    [
        pytest.param(b"retry: 10\ndata: a\n\ndata: b\n\n", [10, None], 10, id="of-its-block"),
        pytest.param(b"retry:007\ndata: a\n\n", [7], 7, id="leading-zeros"),
        pytest.param(b"retry: 0\ndata: a\n\n", [0], 0, id="zero"),
        pytest.param(b"retry: 10\n\n", [], 10, id="alone"),
        pytest.param(b"retry: 10\n\ndata: a\n\n", [None], 10, id="not-of-the-next-block"),
        pytest.param(b"retry: 5\nretry: x\ndata: a\n\n", [5], 5, id="bad-one-changes-nothing"),
        pytest.param(b"retry: 1_0\ndata: a\n\n", [None], None, id="underscore"),
        pytest.param(b"retry: -1\ndata: a\n\n", [None], None, id="sign"),
        pytest.param(b"retry: 1.5\ndata: a\n\n", [None], None, id="fraction"),
        pytest.param(b"retry:  1\ndata: a\n\n", [None], None, id="blank"),
        pytest.param(b"retry\ndata: a\n\n", [None], None, id="empty"),
        pytest.param("retry: \u0661\ndata: a\n\n".encode(), [None], None, id="other-digits"),
        pytest.param(
            b"retry: " + b"9" * RETRY_DIGITS + b"\ndata: a\n\n",
            [10**RETRY_DIGITS - 1],
            10**RETRY_DIGITS - 1,
            id="longest",
        ),
        pytest.param(
            b"retry: " + b"9" * (RETRY_DIGITS + 1) + b"\ndata: a\n\n", [None], None, id="too-long"
        ),
        pytest.param(b"data: a\n\nretry: 5", [None], None, id="unterminated"),
    ],
)
def test_retry(data, retries, last):
    """Only ASCII digits, and not too many, are a reconnection time."""
    assert_parses(
        data, [sse(text, retry=n) for text, n in zip("ab", retries, strict=False)], retry=last
    )


@pytest.mark.parametrize(
    ("data", "count", "last"),
    [
        pytest.param(b"data: a\n", 0, None, id="none"),
        pytest.param(b": hi\n", 1, "hi", id="one"),
        pytest.param(b":hi\n:\n", 2, "", id="empty"),
        pytest.param(b":  two: colons \n", 1, " two: colons ", id="one-space"),
        pytest.param(b": \xff", 1, "\ufffd", id="unterminated"),
    ],
)
def test_comments(data, count, last):
    """Comments are counted and the latest is kept: they are signs of life."""
    assert_parses(data, [], comments=count, last_comment=last)


@pytest.mark.parametrize(
    ("data", "tail"),
    [
        pytest.param(b"data: a\n\n", None, id="complete"),
        pytest.param(b"data: a", sse("a"), id="no-ending"),
        pytest.param(b"data: a\n", sse("a"), id="no-blank-line"),
        pytest.param(b"event: e\ndata: a\ndata: b", sse("a\nb", "e"), id="two-lines"),
        pytest.param(b"event: e\n", sse("", "e"), id="only-a-type"),
        pytest.param(b"id: 3\nretry: 4\ndata: a", sse("a", id="3", retry=4), id="id-and-retry"),
        pytest.param(b"id: 3\n", None, id="only-an-id"),
        pytest.param(b"da", None, id="half-a-name"),
        pytest.param(b"data", sse(), id="bare-name"),
        pytest.param(BOM + b"data: a", sse("a"), id="bom"),
    ],
)
def test_tail(data, tail):
    """An incomplete event is no event; it is left in `tail`."""
    assert_parses(data, [] if tail else [sse("a")] * (b"\n\n" in data), tail=tail)


def test_event_comes_with_the_feed_that_completed_it():
    """A CR ends the event at once; it does not wait for an LF that may never come."""
    parser = SSEParser()
    fed = [parser.feed(piece) for piece in (b"data: a\r", b"\r", b"", b"\n", b"data: b\r\r")]
    assert fed == [[], [sse("a")], [], [], [sse("b")]]


def test_events_are_values():
    """An event equals its like, and cannot be changed."""
    assert sse("a") == ServerSentEvent(data="a")
    with pytest.raises(AttributeError):
        sse("a").data = "b"


def test_parsers_share_nothing():
    """Two parsers, and a parser and its reset self, do not know of each other."""
    first, second = SSEParser(), SSEParser()
    first.feed(b": c\nid: 1\nretry: 2\nevent: e\ndata: a\n\ndata: b\n")
    first.finish()
    assert first.tail is not None
    first.reset()
    for parser in (first, second):
        assert parser.feed(b"data: c\n\n") == [sse("c")]
        assert (parser.last_event_id, parser.retry, parser.comments) == ("", None, 0)
        assert (parser.last_comment, parser.tail) == (None, None)


def test_refuses_input_after_the_end():
    """After `finish`, both calls are refused until `reset`."""
    parser = SSEParser()
    assert parser.finish() == []
    for call in (lambda: parser.feed(b"data: a\n\n"), parser.finish):
        with pytest.raises(InputRefused, match=r"finished.*reset\(\)"):
            call()
    parser.reset()
    assert parser.feed(b"data: a\n\n") == [sse("a")]


@pytest.mark.parametrize("data", ["data: a\n\n", None, 7])
def test_wrong_type(data):
    """Text is refused at the call, and the parser goes on as if it had not come."""
    parser = SSEParser()
    parser.feed(b"data: a\n")
    with pytest.raises(TypeError, match="must be bytes"):
        parser.feed(data)
    assert parser.feed(b"\n") == [sse("a")]


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_buffers_are_not_aliased(kind):
    """A buffer may be filled anew after the call."""
    parser = SSEParser()
    buffer = bytearray(b"data: abc")
    parser.feed(kind(buffer))
    buffer[:] = b"XXXXXXXXX"
    assert parser.feed(b"\n\n") == [sse("abc")]


LONG = b"x" * 40


@pytest.mark.parametrize(
    ("data", "events", "limit"),
    [
        pytest.param(b"data: a\n\ndata: " + LONG + b"\n\n", ["a"], "line", id="line"),
        pytest.param(b"data: a\n\ndata: " + LONG, ["a"], "line", id="pending-line"),
        pytest.param(LONG, [], "line", id="pending-at-once"),
        pytest.param(b"data: a\n\n" + b"data: 123\n" * 6, ["a"], "event", id="event"),
        pytest.param(b"data: a\n\n" + b"data\n" * 30 + b"\n", ["a"], "event", id="empty-lines"),
        pytest.param(
            b"data: a\n\n" + b"data: 123456\n" * 3 + b"data: 123456",
            ["a"],
            "event",
            id="at-the-end",
        ),
        pytest.param(
            b"data: a\n\n" + b"data: 123\n" * 6 + b"\n" + LONG + b"\n", ["a"], "event", id="both"
        ),
    ],
)
def test_limits(data, events, limit):
    """A bound ends the parse for good; every whole event before it is in hand."""
    limits = Limits(line=30, event=22)
    expected = [sse(text) for text in events]
    error = assert_parser_raises(data, expected, LimitExceeded, limits=limits)
    assert error.limit == limit
    assert error.offset is not None


def test_first_error_is_the_one_raised():
    """When a whole line breaks one bound and the next line another, the first counts."""
    parser = SSEParser(limits=Limits(line=30, event=10))
    with pytest.raises(LimitExceeded) as caught:
        parser.feed(b"data: a\n\ndata: 123456789012\n\ndata: " + LONG + b"\n")
    assert caught.value.limit == "event"
    assert caught.value.partial == [sse("a")]


@pytest.mark.parametrize(
    ("data", "events", "offset"),
    [
        pytest.param(b"data: a\n\ndata: \xff\n\n", ["a"], 9, id="data"),
        pytest.param(b"event: \xe2\x82\ndata: a\n\n", [], 0, id="event"),
        pytest.param(b"id: \xff\n", [], 0, id="id"),
        pytest.param(b": \xff\n", [], 0, id="comment"),
        pytest.param(b"data: a\n\ndata: \xc3", ["a"], 9, id="at-the-end"),
    ],
)
def test_strict_utf8(data, events, offset):
    """Strict about UTF-8, the parser raises, with an issue and the whole events before it."""
    expected = [sse(text) for text in events]
    error = assert_parser_raises(data, expected, FramingError, strict_utf8=True)
    assert (error.issue.code, error.issue.event) == ("invalid_utf8", len(events))
    assert offset <= error.issue.offset < len(data)
    assert error.__cause__.__class__ is UnicodeDecodeError


def test_strict_utf8_takes_good_text():
    """Being strict changes nothing in good text, nor in the names of ignored fields."""
    data = "data: é\U0001f600\nretry: 1\n\n".encode() + b"\xff: ignored\n\n"
    assert (
        parse([data], strict_utf8=True).events
        == parse([data]).events
        == [sse("é\U0001f600", retry=1)]
    )


@settings(max_examples=300, deadline=None)
@given(fragments(b"\r", b"\r\n", b"\r\r"), st.lists(st.integers(0, 60), max_size=6))
@example(b"data: a\rdata: b\n\n", [15])
def test_any_split(data, cuts):
    """Any split of the bytes gives the same events and the same state."""
    assert parse(pieces_of(data, cuts)) == parse([data])


@settings(max_examples=150, deadline=None)
@given(fragments())
def test_any_ending(data):
    """CR, LF and CRLF give equal results."""
    expected = parse([data])
    assert parse([data.replace(b"\n", b"\r")]) == expected
    assert parse([data.replace(b"\n", b"\r\n")]) == expected


@settings(max_examples=150, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=4))
def test_any_bytes(pieces):
    """A lenient parser without limits takes any bytes, and its text always encodes."""
    for event in parse(pieces).events:
        (event.event + event.data + event.id).encode()
