"""How lines are read, and what an input without payloads looks like."""

from __future__ import annotations

import pytest

from hypothesis import given, settings
from hypothesis import strategies as st

from streamkit import LimitExceeded
from streamkit._framing import Framer
from streamkit._issues import IssueLog
from streamkit._json import Decoder
from streamkit._limits import NO_LIMITS, Limits
from streamkit._payloads import DONE

from .helpers import assert_frames, fragments, frame, pieces_of


BOM = b"\xef\xbb\xbf"
A, B = {"choices": [], "id": "a"}, {"choices": [], "id": "b"}
RAW_A, RAW_B = b'{"choices":[],"id":"a"}', b'{"choices":[],"id":"b"}'
EVENT_A, EVENT_B = b"data: " + RAW_A + b"\n\n", b"data: " + RAW_B + b"\n\n"


@pytest.mark.parametrize(
    ("data", "values", "codes"),
    [
        pytest.param(b"", [], [], id="empty"),
        pytest.param(b"\n\n: c\n\n", [], [], id="nothing"),
        pytest.param(EVENT_A + EVENT_B, [A, B], [], id="two-events"),
        pytest.param(b"id: 1\nevent: e\nretry: 5\n" + EVENT_A, [A], [], id="other-fields"),
        pytest.param(b"id\nevent\nretry\ndata\n\n" + EVENT_A, [A], [], id="bare-names"),
        pytest.param(b"foo: bar\nx-y.z:\n" + EVENT_A, [A], [], id="unknown-fields"),
        pytest.param(b"data:\n\ndata: \ndata: \t \n\n" + EVENT_A, [A], [], id="no-data"),
        pytest.param(BOM + EVENT_A, [A], [], id="bom"),
        pytest.param(EVENT_A + BOM + EVENT_B, [A, B], ["late_bom"], id="late-bom"),
        pytest.param(
            EVENT_A + BOM + b" data : " + RAW_B + b"\n\n",
            [A, B],
            ["late_bom", "field_whitespace"],
            id="late-bom-and-blanks",
        ),
        pytest.param(EVENT_A + BOM + RAW_B + b"\n", [A, B], ["bare_json"], id="late-bom-bare"),
        pytest.param(b"data: " + RAW_A + b"\n: c\n\n", [A], [], id="comment-behind-data"),
        pytest.param(b'data: {"a":\n: c\ndata: 1}\n\n', [{"a": 1}], [], id="comment-in-a-value"),
        pytest.param(b" " + EVENT_A, [A], ["field_whitespace"], id="blank-before"),
        pytest.param(b"\tdata \t:" + RAW_A + b"\n\n", [A], ["field_whitespace"], id="blanks"),
        pytest.param(b" id\n" + EVENT_A, [A], ["field_whitespace"], id="blank-bare-name"),
        pytest.param(
            b"event : error\n" + b'data: {"m":1}\n\n',
            [{"error": {"m": 1}}],
            ["field_whitespace"],
            id="blank-in-type",
        ),
        pytest.param(b"data: " + EVENT_A, [A], ["double_prefix"], id="double"),
        pytest.param(b"data:data: data:" + RAW_A + b"\n\n", [A], ["double_prefix"], id="triple"),
        pytest.param(b"data: data: [DONE]\n\n", [DONE], ["double_prefix"], id="double-done"),
        pytest.param(b"data: " + BOM + RAW_A + b"\n\n", [A], ["late_bom"], id="bom-in-data"),
        pytest.param(
            b"data: data: " + BOM + RAW_A + b"\n\n",
            [A],
            ["double_prefix", "late_bom"],
            id="double-and-bom",
        ),
        pytest.param(b"data: : hi\n\n" + EVENT_A, [A], ["comment_in_data"], id="comment-in-data"),
        pytest.param(b"hello\n\n" + EVENT_A, [A], ["unframed_text"], id="text"),
        pytest.param(b"error: text\n\n" + EVENT_A, [A], [], id="error-text"),
        pytest.param(b"error\n\n" + EVENT_A, [A], ["unframed_text"], id="error-without-colon"),
        pytest.param(b'error:{"m":1}\n\n', [{"error": {"m": 1}}], ["error_field"], id="error"),
        pytest.param(
            b'event: error\n{"m":1}\n\n', [{"error": {"m": 1}}], ["bare_json"], id="bare-error"
        ),
        pytest.param(
            b'event: error\ndata: {"m":\n\n' + EVENT_A, [A], ["cut_value"], id="cut-error"
        ),
        pytest.param(
            b'event: error\ndata: {"m":1}\n\ndata: {"m":1}\n\n',
            [{"error": {"m": 1}}, {"m": 1}],
            [],
            id="type-ends-with-its-event",
        ),
        pytest.param(b"event: \xff\n" + EVENT_A, [A], ["invalid_utf8"], id="type-that-is-no-utf-8"),
    ],
)
def test_lines(data, values, codes):
    """Each line is read as the field that it is, or was meant to be."""
    assert_frames(data, values, codes)


@pytest.mark.parametrize(
    ("data", "values", "codes"),
    [
        pytest.param(EVENT_A + b"data: [DONE]\n\n", [A, DONE], [], id="event"),
        pytest.param(b"data:[DONE]", [DONE], [], id="no-space-no-newline"),
        pytest.param(b"data:  [DONE] \t\n", [DONE], [], id="blanks"),
        pytest.param(b"[DONE]", [DONE], [], id="bare"),
        pytest.param(EVENT_A + b" [DONE]\n", [A, DONE], [], id="bare-with-blank"),
        pytest.param(EVENT_A + BOM + b"[DONE]\n", [A, DONE], [], id="bare-with-bom"),
        pytest.param(
            b"data: " + RAW_A + b"\ndata: [DONE]\n\n",
            [A, DONE],
            ["missing_blank_line"],
            id="same-block",
        ),
        pytest.param(b"data: " + RAW_A + b"\n[DONE]\n", [A, DONE], [], id="same-block-bare"),
        pytest.param(RAW_A + b"\n[DONE]\n", [A, DONE], ["bare_json"], id="behind-bare-json"),
        pytest.param(
            b'data: {"a":\ndata: [DONE]\n\n', [DONE], ["cut_value"], id="behind-a-cut-value"
        ),
        pytest.param(
            b'data: {"a":\n\ndata: [DONE]\n\n', [DONE], ["cut_value"], id="event-behind-a-cut-value"
        ),
        pytest.param(b"data: hello\ndata: [DONE]\n\n", [DONE], ["bad_json"], id="behind-text"),
        pytest.param(
            b"event: error\ndata: slow\ndata: [DONE]\n\n",
            [{"error": {"message": "slow"}}, DONE],
            ["non_json_error"],
            id="behind-an-error-text",
        ),
        pytest.param(b"data: [DONE]\ndata: [DONE]\n\n", [DONE, DONE], [], id="twice"),
        pytest.param(b"data: [DONE]x\n\n", [], ["bad_json"], id="with-a-letter"),
        pytest.param(b"data: [done]\n\n", [], ["bad_json"], id="lower-case"),
        pytest.param(b"data: \x0b[DONE]\n\n", [], ["bad_json"], id="another-blank"),
        pytest.param(b"\x0b[DONE]\n", [], ["unframed_text", "no_events"], id="bare-another-blank"),
        pytest.param(
            b"event: error\ndata: slow\n[DONE]\n",
            [{"error": {"message": "slow"}}, DONE],
            ["non_json_error"],
            id="bare-behind-an-error-text",
        ),
        pytest.param(b'data: {"x":"[DONE]"}\n\n', [{"x": "[DONE]"}], [], id="in-a-string"),
        pytest.param(
            b'data: {"x":"\ndata: [DONE]"}\n\n',
            [{"x": "\n[DONE]"}],
            ["control_character"],
            id="on-a-line-of-a-string",
        ),
    ],
)
def test_done(data, values, codes):
    """`[DONE]` alone, wherever it stands, is the sentinel; inside something else it is not."""
    assert_frames(data, values, codes)


@pytest.mark.parametrize(
    ("data", "values", "codes"),
    [
        pytest.param(
            b"data: " + RAW_A + b"\n" + EVENT_B, [A, B], ["missing_blank_line"], id="two-whole"
        ),
        pytest.param(
            b"data: " + RAW_A + b"\ndata: {bad\n" + EVENT_B,
            [A, B],
            ["missing_blank_line", "bad_json"],
            id="bad-between",
        ),
        pytest.param(
            b"data: " + RAW_A + b"\ndata: bad}\n" + EVENT_B,
            [A, B],
            ["missing_blank_line", "bad_json"],
            id="text-between",
        ),
        pytest.param(
            b"event: error\ndata: slow\n" + EVENT_B,
            [{"error": {"message": "slow\n" + RAW_B.decode()}}],
            ["non_json_error"],
            id="chunk-in-an-error-text",
        ),
        pytest.param(
            b'data: {"choices":[\n' + EVENT_B, [B], ["cut_value"], id="chunk-behind-a-cut-value"
        ),
        pytest.param(
            b'data: {"a":[\n\n' + EVENT_B, [B], ["cut_value"], id="event-behind-a-cut-value"
        ),
        pytest.param(
            b'data: {"a":[\n\ndata: [1]\n\n', [1], ["cut_value"], id="data-behind-a-cut-event"
        ),
        pytest.param(b'{"a":[\ndata: [1]\n\n', [1], ["cut_value"], id="array-behind-bare"),
        pytest.param(
            b'data: {"a":[\ndata: {"b":1}\ndata: ]}\n\n',
            [{"a": [{"b": 1}]}],
            [],
            id="object-in-a-value",
        ),
        pytest.param(b'{"a":[\n' + EVENT_B, [B], ["cut_value"], id="data-behind-bare"),
        pytest.param(
            b'{"a":[\n' + RAW_B + b"\n", [B], ["cut_value", "bare_json"], id="bare-behind-bare"
        ),
        pytest.param(
            b'{"a":[\n{"b":1}\n]}\n', [{"a": [{"b": 1}]}], ["bare_json"], id="object-in-bare"
        ),
        pytest.param(RAW_A + b"\n" + EVENT_B, [A, B], ["bare_json"], id="bare-then-data"),
        pytest.param(EVENT_A + RAW_B + b"\n", [A, B], ["bare_json"], id="data-then-bare"),
        pytest.param(
            b"data: " + RAW_A + b"\n" + RAW_B + b"\n", [A, B], ["bare_json"], id="bare-in-a-block"
        ),
        pytest.param(b'data: {\n"a":\n1}\n\n', [{"a": 1}], ["unprefixed_line"], id="no-prefixes"),
        pytest.param(
            b'data: {"a":"x\ny"}\n\n',
            [{"a": "x\ny"}],
            ["unprefixed_line", "control_character"],
            id="string-over-lines",
        ),
        pytest.param(
            b'data: {"a":"x\n: y\nevent: z\n[DONE]"}\n\n',
            [{"a": "x\n: y\nevent: z\n[DONE]"}],
            ["unprefixed_line", "control_character"],
            id="lines-of-a-string-say-anything",
        ),
        pytest.param(
            b'data: {"a":"x\n\ny"}\n\n',
            [{"a": "x\n\ny"}],
            ["unprefixed_line", "control_character"],
            id="string-over-a-blank-line",
        ),
        pytest.param(
            b'data: {"a":"x\n\n\ny"}\n\n',
            [{"a": "x\n\n\ny"}],
            ["unprefixed_line", "control_character"],
            id="string-over-blank-lines",
        ),
        pytest.param(
            b"data: " + RAW_A + b"\nhello\n\n", [A], ["unframed_text"], id="text-in-a-block"
        ),
        pytest.param(b"data: x\nhello\n\n", [], ["unframed_text", "bad_json"], id="text-and-text"),
    ],
)
def test_further_lines(data, values, codes):
    """A line goes on with the open value, or stands for itself; nothing whole is lost."""
    if not values:
        codes = [*codes, "no_events"]
    assert_frames(data, values, codes)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(b"<html>\n<body>x</body>\n</html>\n", "html_body", id="html"),
        pytest.param(b"\n <!DOCTYPE html>", "html_body", id="doctype"),
        pytest.param(b"Service unavailable\n", "no_events", id="text"),
        pytest.param(b"foo: bar\n\n", "no_events", id="unknown-field"),
        pytest.param(b"\x1f\x8b\x08\0\0", "compressed_body", id="gzip"),
        pytest.param(b"\x28\xb5\x2f\xfd\x04", "compressed_body", id="zstd"),
        pytest.param(b"PK\x03\x04\x14", "compressed_body", id="zip"),
        pytest.param(b"BZh91AY", "compressed_body", id="bzip2"),
        pytest.param(b"\xfd7zXZ\0\0", "compressed_body", id="xz"),
    ],
)
def test_explained(data, code):
    """An input without payloads is told by its first text."""
    _, issues, _ = frame([data])
    assert (issues[-1].code, issues[-1].event, issues[-1].offset) == (code, 0, 0)
    head = data.split(b"\n")[-1 if data.startswith(b"\n") else 0]
    assert ascii(head.decode("latin-1"))[1:-1] in issues[-1].message or code == "compressed_body"


@pytest.mark.parametrize("data", [b"", b"\n\n", b": c\n\n", b"id: 1\n\n", EVENT_A + b"hello\n"])
def test_not_explained(data):
    """Nothing, or anything with a payload, needs no such explanation."""
    codes = {issue.code for issue in frame([data])[1]}
    assert codes.isdisjoint({"html_body", "compressed_body", "no_events"})


@pytest.mark.parametrize(
    ("data", "code", "event", "offset"),
    [
        pytest.param(EVENT_A + b"data: {x}\n\n", "bad_json", 1, len(EVENT_A), id="bad_json"),
        pytest.param(EVENT_A + b" " + EVENT_B, "field_whitespace", 1, len(EVENT_A), id="blank"),
        pytest.param(EVENT_A + b"hello\n", "unframed_text", 1, len(EVENT_A), id="text"),
        pytest.param(EVENT_A + b"[link](x)\n", "unframed_text", 2, len(EVENT_A), id="brackets"),
        pytest.param(EVENT_A + b'data: {"a":', "cut_value", 1, len(EVENT_A), id="cut"),
        pytest.param(BOM + b"data: {x}\n\n", "bad_json", 0, 3, id="bom-counts"),
        pytest.param(b"\r\n\r\ndata: {x}\r\n\r\n", "bad_json", 0, 4, id="crlf-counts"),
        pytest.param(b'data: {\n"a":1}\n\n', "unprefixed_line", 0, 0, id="second-line"),
    ],
)
def test_place_of_an_issue(data, code, event, offset):
    """An issue names the event, from 0, and the byte at which its payload or line begins."""
    for pieces in ([data], pieces_of(data, list(range(len(data))))):
        (issue,) = (issue for issue in frame(pieces)[1] if issue.code == code)
        assert (issue.event, issue.offset) == (event, offset)


def test_whole_lines_before_a_long_one():
    """The lines before one that is too long are taken before the error is raised."""
    frames = []
    framer = make(frames, Limits(line=20))
    with pytest.raises(LimitExceeded):
        framer.feed(b"data: 1\n\ndata: 2\n\ndata: " + b"x" * 20 + b"\n")
    assert [found.value for found in frames] == [1, 2]


def test_bare_json_is_given_out_with_its_line():
    """It has no blank line to wait for."""
    frames = []
    make(frames).feed(b"1\n[2]\n")
    assert [(found.value, found.offset) for found in frames] == [(2, 2)]


def test_a_long_line_alone():
    """Without whole lines before it, nothing is given out."""
    frames = []
    with pytest.raises(LimitExceeded):
        make(frames, Limits(line=20)).feed(b"x" * 30)
    assert frames == []


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"", True, id="start"),
        pytest.param(b"data: 1\n\n", True, id="after-an-event"),
        pytest.param(b"data: 1\r\r", False, id="an-lf-may-follow"),
        pytest.param(b"data: 1\n", False, id="open-value"),
        pytest.param(b"data: 1\n\nda", False, id="inside-a-line"),
        pytest.param(b"event: x\n", False, id="type"),
        pytest.param(b"event: x\nevent\n", True, id="no-type"),
        pytest.param(b"id: 1\n", True, id="id-alone"),
    ],
)
def test_is_between_events(data, expected):
    """Whether the next byte starts an event."""
    framer = make([])
    framer.feed(data)
    assert framer.is_between_events is expected


def test_skip():
    """Bytes and events that were read otherwise are counted."""
    frames = []
    framer = make(frames)
    assert framer.skip(100, 3) == 2
    framer.feed(b"data: 1\n\n")
    assert [(found.event, found.offset) for found in frames] == [(3, 100)]


def make(frames, limits=Limits()):
    return Framer(IssueLog(), limits, Decoder("json"), frames.append)


@settings(max_examples=300, deadline=None)
@given(fragments(b"\r", b"\r\n"), st.lists(st.integers(0, 60), max_size=6))
def test_any_split(data, cuts):
    """Any split gives the same payloads, issues and cut."""
    assert frame(pieces_of(data, cuts), NO_LIMITS) == frame([data], NO_LIMITS)
