"""What the framing tells, to the word and to the byte: mutations of it had survived."""

from __future__ import annotations

import pytest

from streamkit import (
    ChunkReader,
    FramingError,
    InputRefused,
    LimitExceeded,
    Limits,
    ServerSentEvent,
    SSEParser,
)

from .helpers import splits


BOM = b"\xef\xbb\xbf"
CHUNK = b'{"choices":[]}'
FIRST = b"data: " + CHUNK + b"\n\n"
AT = len(FIRST)

# What comes behind a first event; the code, the message, and how much further the place is.
TOLD = [
    (BOM + FIRST, "late_bom", "a byte order mark inside the stream was dropped", 0),
    (b"data: " + BOM + CHUNK, "late_bom", "a byte order mark was dropped", 0),
    (b" data : " + CHUNK, "field_whitespace", "blanks around a field name were dropped", 0),
    (b"data: : ping", "comment_in_data", "a comment inside data was skipped", 0),
    (b"data: data: " + CHUNK, "double_prefix", "`data:` stood twice before a payload", 0),
    (b"data: " + CHUNK + b"\n" + FIRST, "missing_blank_line",
     "two payloads in one event were parted", 0),
    (b'data: {"choices":\n[]}', "unprefixed_line", "a line without `data:` was joined", 0),
    (CHUNK, "bare_json", "JSON without framing was taken as payloads", 0),
    (b"[" + CHUNK + b"]", "bare_json", "JSON without framing was taken as payloads", 0),
    (b'error: {"message":"x"}', "error_field", "`error:` was taken as an error payload", 0),
    (b"event: error\ndata: Too many", "non_json_error", "an error event: 'Too many'", 13),
    (b'error:  {"message":"x"}', "error_field", "`error:` was taken as an error payload", 0),
    (b"hello", "unframed_text", "text was skipped: b'hello'", 0),
    (b"data : {", "cut_value", "a JSON value ends too early: b'{'", 0),
    (b"event\ndata: {", "cut_value", "a JSON value ends too early: b'{'", 6),
    (b" error: text", "unframed_text", "text was skipped: b' error: text'", 0),
    (b"event: \xff\ndata: 1", "invalid_utf8", "invalid UTF-8 in an event's type", 0),
    (b"data: [NaN]", "bad_number",
     "a number is no JSON number, or beyond its range; it became null", 0),
    (b'data: "\t"', "control_character", "a raw control character in a string was kept", 0),
    (b'data: "\xff"', "invalid_utf8", "invalid UTF-8 became U+FFFD", 0),
    (b"data: 1", "not_a_chunk", "the payload is 1", 0),
    (b"data: hello", "bad_json", "not JSON: 'hello'", 0),
    (b"data: [x]", "bad_json", "Expecting value in '[x]'", 0),
    (b"data: {} x", "trailing_garbage", "after a whole value: 'x'", 0),
    (b"data: {} {}", "concatenated_json", "several values in one event", 0),
    (b"data: " + CHUNK + FIRST, "glued_events", "an event was glued to the one before", 0),
]  # fmt: skip


@pytest.mark.parametrize(("data", "code", "message", "further"), TOLD)
def test_an_issue(data, code, message, further):
    """Its message, the number of its event, and the offset of its line, in any split."""
    for pieces in splits(FIRST + data + b"\n\n"):
        reader = ChunkReader(json="json")
        for piece in pieces:
            reader.feed(piece)
        reader.finish()
        issue = next(issue for issue in reader.issues if issue.code == code)
        assert (issue.message, issue.event, issue.offset) == (message, 1, AT + further)


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        (b"data: 1", "unterminated_event", "no blank line after the last event"),
        (b"data: {", "cut_value", "a JSON value ends too early: b'{'"),
        (b"event: x\ndata: 1", "unterminated_event", "no blank line after the last event"),
    ],
)
def test_an_issue_at_the_end(data, code, message):
    """Its message, the number of its event, and the offset of its data."""
    for pieces in splits(FIRST + data):
        reader = ChunkReader(json="json")
        for piece in pieces:
            reader.feed(piece)
        reader.finish()
        issue = next(issue for issue in reader.issues if issue.code == code)
        at = AT + data.index(b"data")
        assert (issue.message, issue.event, issue.offset) == (message, 1, at)


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        (b"x" * 70, "no_events", f"the input has no events: b'{'x' * 64}'"),
        (b"hello\nbye\n", "no_events", "the input has no events: b'hello'"),
        (b"Unauthorized.", "no_events", "the input has no events: b'Unauthorized.'"),
        (
            b"logs/chat.sse",
            "no_events",
            "the input has no events: b'logs/chat.sse'; a file is given as a Path",
        ),
        (b" <p>" + b"x" * 70, "html_body", f"the input is HTML or XML: b' <p>{'x' * 60}'"),
        (
            b"\x1f\x8b\x08\0",
            "compressed_body",
            "the input is compressed: decompress it first, as streamkit.recordings does",
        ),
    ],
)
def test_an_input_without_events(data, code, message):
    """It is explained at the start, once all of it is known to have no events."""
    reader = ChunkReader()
    reader.feed(data)
    reader.finish()
    (issue,) = (issue for issue in reader.issues if issue.code == code)
    assert (issue.message, issue.event, issue.offset) == (message, 0, 0)


def test_what_a_line_ends_with_stays():
    """Only its ending goes: blanks before it are a part of a string, and any letter is."""
    for pieces in splits(b'data: {"choices":[],"x":"a \nbX\nc"}\n\n'):
        reader = ChunkReader(json="json")
        found = [chunk for piece in pieces for chunk in reader.feed(piece)]
        assert [*found, *reader.finish()] == [{"choices": [], "x": "a \nbX\nc"}]
    for pieces in splits(b"event: eX\ndata: aX\n\n"):
        parser = SSEParser()
        found = [event for piece in pieces for event in parser.feed(piece)]
        assert found == [ServerSentEvent("eX", "aX", "", None)]


def test_after_done():
    """The payload behind it has its own place."""
    reader = ChunkReader(json="json")
    reader.feed(FIRST + b"[DONE]\n\n" + FIRST)
    (issue,) = reader.issues
    assert (issue.code, issue.event, issue.offset) == ("data_after_done", 2, AT + 8)
    assert issue.message == "after [DONE]: {'choices': []}"


@pytest.mark.parametrize(
    ("data", "last_event_id", "retry", "comments"),
    [
        (b"", "", None, 0),
        (b"\n", "", None, 0),
        (b"id: 1\n", "", None, 0),
        (b"id: 1\n\n", "1", None, 0),
        (b"id: 1\nid: a\0b\n\n", "1", None, 0),
        (b"id: \xff\n\n", "\ufffd", None, 0),
        (b"id: 7\n\nid\n\n", "", None, 0),
        (b"ID: 7\nretry: 12\n", "", 12, 0),
        (b"retry: 12\nretry: 1x\n", "", 12, 0),
        (b"name: 12\nRETRY: 12\n", "", None, 0),
        (b": a\n: b\n:\n", "", None, 3),
    ],
)
def test_the_connection(data, last_event_id, retry, comments):
    """What a client needs to connect again, and to know that the server is alive."""
    for pieces in splits(data):
        reader = ChunkReader()
        for piece in pieces:
            reader.feed(piece)
        assert (reader.last_event_id, reader.retry, reader.comments) == (
            last_event_id,
            retry,
            comments,
        )


def test_invalid_utf8():
    """Strict decoding says what is wrong, in which event, and at which byte."""
    data = b"data: a\n\ndata: b\n\ndata: c\ndata: ab\xffcd\n\n"
    for pieces in splits(data):
        parser = SSEParser(strict_utf8=True)
        with pytest.raises(FramingError) as caught:
            for piece in pieces:
                parser.feed(piece)
        issue = caught.value.issue
        assert (issue.code, issue.event, issue.offset) == ("invalid_utf8", 2, data.index(b"\xff"))
        assert issue.message == "invalid UTF-8 (invalid start byte)"
        assert str(caught.value) == str(issue)


def test_a_finished_parser():
    """What to do is said once."""
    parser = SSEParser()
    assert (parser.retry, parser.last_event_id) == (None, "")
    parser.finish()
    with pytest.raises(InputRefused, match=r"^no more input: the stream has finished; call reset"):
        parser.feed(b"x")
    parser.reset()
    assert parser.retry is None
    assert parser.feed(b"data: a\n\n") == [ServerSentEvent("message", "a", "", None)]


@pytest.mark.parametrize(
    ("data", "size"),
    [(b"data: abcd\n\n", 5), (b"data: ab\ndata: cd\n\n", 6), (b"data: a\n\ndata: abcd\n\n", 5)],
)
def test_the_size_of_an_event(data, size):
    """Its data and their line ends, from its own start; as many as the limit pass."""
    for pieces in splits(data):
        parser = SSEParser(limits=Limits(event=size))
        assert [event for piece in pieces for event in parser.feed(piece)]
        parser = SSEParser(limits=Limits(event=size - 1))
        with pytest.raises(LimitExceeded) as caught:
            for piece in pieces:
                parser.feed(piece)
        assert (caught.value.limit, caught.value.value) == ("event", size)
        assert (caught.value.bound, caught.value.offset) == (size - 1, data.rindex(b"data"))


@pytest.mark.parametrize("start", [b"", BOM, b"\n", b"data: a\n", BOM + b":\r\n"])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\nx"])
def test_the_length_of_a_line(start, end):
    """Without its end, and without the byte order mark; where it begins is told in any split."""
    line = b"x" * 9
    for pieces in splits(start + line + end):
        parser = SSEParser(limits=Limits(line=9))
        for piece in pieces:
            parser.feed(piece)
        parser = SSEParser(limits=Limits(line=8))
        with pytest.raises(LimitExceeded) as caught:
            for piece in pieces:
                parser.feed(piece)
        error = caught.value
        assert (error.limit, error.value, error.bound) == ("line", 9, 8)
        assert error.offset == len(start)
