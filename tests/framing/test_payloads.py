"""Collecting the text of values, decoding it, giving it out."""

from __future__ import annotations

import json

import pytest

from hypothesis import given, settings

from streamkit import LimitExceeded, Limits, _payloads
from streamkit._issues import IssueLog
from streamkit._json import Decoder
from streamkit._payloads import DONE, Frame, Payloads, Sentinel
from streamkit._scan import NestingScan

from .helpers import assert_frames, fragments, frame


@pytest.fixture
def given_out():
    return []


@pytest.fixture
def payloads(given_out):
    return Payloads(IssueLog(), Limits(), Decoder("json"), given_out.append)


A, B = {"a": 1}, {"b": [2]}


@pytest.mark.parametrize(
    ("data", "values", "codes"),
    [
        pytest.param(b'data: {"a":1}\n\n', [A], [], id="one"),
        pytest.param(b"data: 1\n\ndata: null\n\n", [1, None], [], id="scalars"),
        pytest.param(b'data: "[DONE]"\n\n', ["[DONE]"], [], id="text"),
        pytest.param(b'data: [{"a":1},{"b":[2]}]\n\n', [A, B], [], id="array-is-its-values"),
        pytest.param(b"data: []\n\n", [], [], id="empty-array"),
        pytest.param(b'data: {"a":1}{"b":[2]}\n\n', [A, B], ["concatenated_json"], id="glued"),
        pytest.param(
            b'data: {"a":1} {"b":[2]} {"a":1}\n\n',
            [A, B, A],
            ["concatenated_json"] * 2,
            id="three-glued",
        ),
        pytest.param(
            b'data: {"a":"}{"}{"b":[2]}\n\n',
            [{"a": "}{"}, B],
            ["concatenated_json"],
            id="brackets-in-text",
        ),
        pytest.param(
            b'data: {"a":1}data: {"b":[2]}\n\n',
            [A, B],
            ["glued_events", "concatenated_json"],
            id="glued-event",
        ),
        pytest.param(
            b'data: {"a":1}data: [DONE]\n\n', [A, DONE], ["glued_events"], id="glued-done"
        ),
        pytest.param(b'data: {"a":1}[DONE]\n\n', [A, DONE], [], id="done-behind"),
        pytest.param(b'data: {"a":1} \t\n\n', [A], [], id="blanks-behind"),
        pytest.param(b'data: {"a":1} xyz\n\n', [A], ["trailing_garbage"], id="garbage"),
        pytest.param(b'data: {"a":1}}\n\n', [A], ["trailing_garbage"], id="bracket-too-many"),
        pytest.param(
            b'data: {"a":1}{"b":x}\n\n', [A], ["trailing_garbage"], id="second-is-malformed"
        ),
        pytest.param(b"data: {'a':1}\n\n", [], ["bad_json"], id="malformed"),
        pytest.param(b"data: [1,]\n\n", [], ["bad_json"], id="malformed-array"),
        pytest.param(b"data: hello\n\n", [], ["bad_json"], id="plain-text"),
        pytest.param(b"data: hello\ndata: world\n\n", [], ["bad_json"], id="text-lines"),
        pytest.param(b'data: {"a":\ndata: 1}\n\n', [A], [], id="over-two-lines"),
        pytest.param(b'data:  {"a":\ndata: 1}\n\n', [A], [], id="behind-a-blank"),
        pytest.param(b'data: {"a":1}{"b":\ndata: [2]}\n\n', [A, B], [], id="second-over-two-lines"),
        pytest.param(b'data: [{"a":1},\ndata: {"b":[2]}]\n\n', [A, B], [], id="array-over-lines"),
        pytest.param(
            b'data: {"a":\ndata: "x\ndata: y"}\n\n',
            [{"a": "x\ny"}],
            ["control_character"],
            id="text-over-lines",
        ),
        pytest.param(b'data: {"a":NaN}\n\n', [{"a": None}], ["bad_number"], id="nan"),
        pytest.param(b'data: {"a":"\xff"}\n\n', [{"a": "\ufffd"}], ["invalid_utf8"], id="utf-8"),
        pytest.param(
            b'data: {"a":"\xff",\ndata: "b":1}\n\n',
            [{"a": "\ufffd", "b": 1}],
            ["invalid_utf8"],
            id="utf-8-in-the-first-of-two-lines",
        ),
        pytest.param(
            b'data: {"a":"\xff",\ndata: "b":1}{"b":[2]}\n\n',
            [{"a": "\ufffd", "b": 1}, B],
            ["invalid_utf8", "concatenated_json"],
            id="utf-8-in-the-first-of-two-values",
        ),
        pytest.param(b"data: " + b"[" * 65 + b"]" * 65 + b"\n\n", [], ["too_deep"], id="too-deep"),
        pytest.param(b'{"a":1}\n', [A], ["bare_json"], id="bare"),
        pytest.param(b'{"a":1}\n{"b":[2]}\n', [A, B], ["bare_json"], id="lines"),
        pytest.param(b'{"a":1}{"b":[2]}\n', [A, B], ["bare_json"], id="bare-glued"),
        pytest.param(b'{"a":1} x\n', [A], ["bare_json", "trailing_garbage"], id="bare-garbage"),
        pytest.param(b'[{"a":1},{"b":[2]}]\n', [A, B], ["bare_json"], id="bare-array"),
        pytest.param(b'[\n{"a":1},\n{"b":[2]}\n]\n', [A, B], ["bare_json"], id="bare-array-lines"),
        pytest.param(b'[{"a":\n1}\n,{"b":\n[2]}]\n', [A, B], ["bare_json"], id="bare-array-cut"),
        pytest.param(b'{\n "a": 1\n}\n', [A], ["bare_json"], id="bare-pretty"),
        pytest.param(b"[link](x)\n", [], ["unframed_text", "no_events"], id="text-in-brackets"),
        pytest.param(b"{x}\n", [], ["bad_json"], id="bare-malformed"),
        pytest.param(b'[{"a":x}]\n', [], ["bad_json"], id="bare-malformed-array"),
        pytest.param(b"[[x]]\n", [], ["bad_json"], id="bare-malformed-arrays"),
        pytest.param(
            b'[{"a":\n1}X\n', [A], ["bare_json", "trailing_garbage"], id="bare-array-garbage"
        ),
        pytest.param(
            b'data: {"a":"\xef\xbf\xbd",\ndata: "b":1}\n\n',
            [{"a": "\ufffd", "b": 1}],
            [],
            id="replacement-character-that-was-sent",
        ),
        pytest.param(
            b'error: {"m":1}\n\n', [{"error": {"m": 1}}], ["error_field"], id="error-field"
        ),
        pytest.param(
            b'error: {"error":1,"a":2}\n\n', [{"error": 1, "a": 2}], ["error_field"], id="has-error"
        ),
        pytest.param(
            b'error: {"error":null}\n\n',
            [{"error": {"error": None}}],
            ["error_field"],
            id="null-error",
        ),
        pytest.param(
            b'event: error\ndata: {"m":1}\n\n', [{"error": {"m": 1}}], [], id="error-event"
        ),
        pytest.param(
            b"event: error\ndata: [1]\n\n", [{"error": {"message": [1]}}], [], id="error-array"
        ),
        pytest.param(
            b"event: error\ndata: slow\n\n",
            [{"error": {"message": "slow"}}],
            ["non_json_error"],
            id="error-text",
        ),
        pytest.param(
            b"event: error\ndata: slow\xff\n\n",
            [{"error": {"message": "slow\ufffd"}}],
            ["non_json_error"],
            id="error-text-utf-8",
        ),
        pytest.param(
            b"data: slow\nevent: error\n\n",
            [{"error": {"message": "slow"}}],
            ["non_json_error"],
            id="type-behind",
        ),
        pytest.param(
            b'data: {"m":1}\nevent: error\nid: 5\n\n',
            [{"error": {"m": 1}}],
            [],
            id="type-behind-json",
        ),
        pytest.param(
            b'data: {"m":1}\nevent: error',
            [{"error": {"m": 1}}],
            ["unterminated_event"],
            id="type-behind-at-the-end",
        ),
        pytest.param(
            b'data: he said "no\nevent: error\n\n',
            [{"error": {"message": 'he said "no'}}],
            ["non_json_error"],
            id="type-behind-a-quote",
        ),
        pytest.param(
            b'data: {"m":"a}\nevent: error"}\n\n',
            [{"m": "a}\nevent: error"}],
            ["unprefixed_line", "control_character"],
            id="type-in-a-string",
        ),
        pytest.param(
            b'data:  {"m":"a}\nevent: error"}\n\n',
            [{"m": "a}\nevent: error"}],
            ["unprefixed_line", "control_character"],
            id="type-in-a-string-behind-a-blank",
        ),
        pytest.param(
            b'data: ["a\nevent: error"]\n\n',
            ["a\nevent: error"],
            ["unprefixed_line", "control_character"],
            id="type-in-a-string-of-an-array",
        ),
        pytest.param(
            b'data: {"m":\n\nevent: error\ndata: {"n":1}\n\n',
            [{"error": {"n": 1}}],
            ["cut_value"],
            id="type-behind-a-cut-event",
        ),
    ],
)
def test_values(data, values, codes):
    """Each whole value is a payload of its own; what is not whole is reported."""
    assert_frames(data, values, codes)


@pytest.mark.parametrize(
    ("data", "values", "codes", "cut"),
    [
        pytest.param(b'data: {"a":1}', [A], ["unterminated_event"], False, id="whole"),
        pytest.param(b"data: x", [], ["unterminated_event", "bad_json"], False, id="t"),
        pytest.param(b'data: {"a":', [], ["cut_value"], True, id="cut"),
        pytest.param(b'data: {"a":1}{"a":', [A], ["cut_value"], True, id="second-cut"),
        pytest.param(b'data: {"a":\n\n', [], ["cut_value"], True, id="cut-event"),
        pytest.param(b'data: {"a":1}{"b":\n\n', [A], ["cut_value"], True, id="second-cut-event"),
        pytest.param(b'{"a":', [], ["cut_value"], True, id="bare-cut"),
        pytest.param(b'[{"a":1},{"b":', [A], ["bare_json", "cut_value"], True, id="array-cut"),
        pytest.param(b'[{"a":1},', [A], ["bare_json", "cut_value"], True, id="array-cut-between"),
        pytest.param(b'{"a":1}', [A], ["bare_json"], False, id="bare-whole"),
        pytest.param(
            b"event: error\ndata: slow",
            [{"error": {"message": "slow"}}],
            ["unterminated_event", "non_json_error"],
            False,
            id="error-text",
        ),
        pytest.param(
            b"data: slow\nevent: error\n",
            [{"error": {"message": "slow"}}],
            ["unterminated_event", "non_json_error"],
            False,
            id="type-behind",
        ),
    ],
)
def test_end_of_input(data, values, codes, cut):
    """What is whole at the end is kept, what is cut is dropped, and both are reported."""
    assert_frames(data, values, codes, cut=cut)


@pytest.mark.parametrize(
    ("data", "frames"),
    [
        pytest.param(
            b'data: {"a":1}\n\ndata: [DONE]\n\n',
            [Frame(A, 0, 0), Frame(DONE, 1, 15)],
            id="two-events",
        ),
        pytest.param(
            b'data: {"a":1}{"b":[2]}\n\n', [Frame(A, 0, 0), Frame(B, 0, 0)], id="one-event"
        ),
        pytest.param(b': c\ndata: {"a":\ndata: 1}\n\n', [Frame(A, 0, 4)], id="first-line"),
        pytest.param(b"\xef\xbb\xbfdata: 1\n\n", [Frame(1, 0, 3)], id="bom-counts"),
        pytest.param(b"\n[DONE]\n", [Frame(DONE, 0, 1)], id="bare-done"),
        pytest.param(
            b'data: {"a":"x\n{"choices":[]}\n', [Frame({"choices": []}, 1, 14)], id="chunk-in-text"
        ),
        pytest.param(
            b'\ndata: {"a":1}[DONE]\n\n', [Frame(A, 0, 1), Frame(DONE, 1, 1)], id="glued-done"
        ),
        pytest.param(
            b"\nevent: error\ndata: slow\n\n",
            [Frame({"error": {"message": "slow"}}, 0, 14)],
            id="text-of-an-error",
        ),
        pytest.param(b'data: "\\ud83d"\n\n', [Frame("\ud83d", 0, 0, clean=False)], id="unclean"),
        pytest.param(b'data: "\\uD83D"\n\n', [Frame("\ud83d", 0, 0, clean=False)], id="upper-case"),
        pytest.param(b'data: "\\u00e9"\n\n', [Frame("é", 0, 0)], id="clean"),
        pytest.param(
            b'data: ["\\ude00",\ndata: 1]\n\n',
            [Frame("\ude00", 0, 0, clean=False), Frame(1, 0, 0, clean=False)],
            id="unclean-lines",
        ),
    ],
)
def test_frames(data, frames):
    """A payload knows its event, where that began, and whether it may hold half a pair."""
    assert frame([data])[0] == frames


@settings(max_examples=200, deadline=None)
@given(fragments(b'"\\ud83d"', b'{"a":"\\ude00"}', b'\\ude00"}'))
def test_clean_payloads_encode(data):
    """A payload that is called clean has no half surrogates."""
    for found in frame([data])[0]:
        if found.clean and found.value is not DONE:
            json.dumps(found.value, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("lines", "offset"),
    [
        pytest.param([b'data: "12345678901234567890"'], 0, id="one-line"),
        pytest.param([b"data: 1", b"", b'data: "12345678901234567890"'], 9, id="later"),
        pytest.param([b'data: {"a":', b'data: "123456",', b'data: "b":1}'], 0, id="lines-add-up"),
        pytest.param([b'data: {"a":', b'"123456",', b'"b":1}'], 0, id="bare-lines-add-up"),
        pytest.param([b'{"a":1}', b'{"a":', b'"1234567890"}'], 8, id="bare"),
    ],
)
def test_event_limit(lines, offset):
    """The data of one event is bounded, over all its lines."""
    with pytest.raises(LimitExceeded) as caught:
        frame([b"\n".join(lines)], Limits(event=16))
    assert (caught.value.limit, caught.value.offset) == ("event", offset)


@pytest.mark.parametrize(
    ("data", "size"),
    [
        pytest.param(b"data: 1234\n\n", 4, id="one-line"),
        pytest.param(b'data: {"a":\ndata: 1}\n\n', 8, id="two-lines"),
        pytest.param(b'data: {"a":"\n\n"}\n\n', 10, id="a-blank-line"),
        pytest.param(b'data: {}{"a":\ndata: 1}\n\n', 8, id="behind-a-value"),
    ],
)
def test_event_size(data, size):
    """The lines and what parts them count; as many bytes as the bound pass."""
    frame([data], Limits(event=size))
    with pytest.raises(LimitExceeded) as caught:
        frame([data], Limits(event=size - 1))
    assert (caught.value.value, caught.value.offset) == (size, 0)


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        pytest.param(b'data: {"a":1,"b":2}\n\n', 0, id="fast-decoder"),
        pytest.param(b'data: 1\n\ndata: {"a":1}{"a":1,"b":2}\n\n', 9, id="second-value"),
    ],
)
def test_key_limit(data, offset):
    """A crossed bound of the JSON says where its payload began."""
    with pytest.raises(LimitExceeded) as caught:
        frame([data], Limits(keys=1))
    assert (caught.value.limit, caught.value.offset) == ("keys", offset)


@pytest.mark.parametrize("origin", [b"", b"data: "], ids=["bare", "data"])
def test_a_long_value_is_not_decoded_at_each_line(monkeypatch, origin):
    """A value over thousands of lines is decoded a few times, not once a line."""
    calls = []
    prefix = Decoder.prefix
    monkeypatch.setattr(Decoder, "prefix", lambda *args: calls.append(1) or prefix(*args))
    value = {"a": [{"b": number, "c": "}{"} for number in range(1000)]}
    data = b"".join(
        origin + line + b"\n" for line in json.dumps(value, indent=1).encode().splitlines()
    )
    frames, _, _ = frame([data + b"\n"])
    assert [found.value for found in frames] == [value]
    assert len(calls) <= 4


def test_given_out_at_once(payloads, given_out):
    """A payload is given out the moment it is whole; that there was one is remembered."""
    assert (payloads.has_found, payloads.first_text) == (False, b"")
    payloads.emit_done(3)
    assert given_out == [Frame(DONE, 0, 3)]
    assert payloads.has_found


def test_a_type_that_is_no_utf8(payloads):
    """What is no UTF-8 in it is replaced."""
    payloads.set_type(b"x\xff", 0)
    assert payloads.type == "x\ufffd"


def test_an_error_of_the_taker_keeps_its_place():
    """Only one that has none is told where the payload began."""

    def refuse(_frame):
        raise LimitExceeded("chunks", 1, 7)

    payloads = Payloads(IssueLog(), Limits(), Decoder("json"), refuse)
    payloads.start(b"1", 3, "data")
    with pytest.raises(LimitExceeded) as caught:
        payloads.settle(payloads.open)
    assert caught.value.offset == 7


def test_nothing_to_settle(payloads, given_out):
    """Without an open value there is nothing to decode, settle or drop."""
    payloads.settle(None)
    payloads.decode(None)
    assert (given_out, payloads.open) == ([], None)


def test_a_start_settles_the_value_before(payloads, given_out):
    """A new value ends the one before it: whole, it is given out."""
    payloads.start(b"1", 0, "data")
    payloads.start(b"2", 5, "data")
    payloads.settle(payloads.open)
    assert given_out == [Frame(1, 0, 0), Frame(2, 1, 5)]
    assert payloads.open is None


def test_abandon_gives_out_what_is_whole(payloads, given_out):
    """A value that turns out to be whole is not dropped."""
    payloads.start(b"1", 0, "data")
    payloads.abandon(payloads.open)
    assert given_out == [Frame(1, 0, 0)]


def test_a_start_drops_an_open_value(payloads, given_out):
    """A new value ends the one before it: cut, it is dropped."""
    payloads.start(b'{"a":', 0, "data")
    assert payloads.is_open(payloads.open)
    payloads.start(b"2", 9, "data")
    payloads.settle(payloads.open)
    assert given_out == [Frame(2, 1, 9)]


def test_skip(payloads, given_out):
    """Events that were read otherwise are counted, and count as found."""
    assert (payloads.skip(3), payloads.skip(2)) == (2, 4)
    assert payloads.has_found
    payloads.emit_done(9)
    assert given_out == [Frame(DONE, 5, 9)]


def test_is_between_events(payloads):
    """An open value, or a type, is an event that has begun."""
    assert payloads.is_between_events
    payloads.type = "x"
    assert not payloads.is_between_events
    payloads.type = ""
    payloads.start(b"1", 0, "data")
    assert not payloads.is_between_events


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b'{"choices":[]}', True, id="choices"),
        pytest.param(b'{"error":1}', True, id="error"),
        pytest.param(b'{"a":1}', False, id="other"),
        pytest.param(b'{"choices":[]', False, id="cut"),
        pytest.param(b'{"choices":x}', False, id="malformed"),
        pytest.param(b'["choices"]', False, id="array"),
    ],
)
def test_is_chunk(payloads, content, expected):
    """A line is a chunk if it is a whole object with a key that only chunks have."""
    assert payloads.is_chunk(content) is expected


def test_types_behind_data_are_read_in_linear_time(payloads, given_out, monkeypatch):
    """However many lines name a type, the data before them are looked at once, then decoded."""
    scanned = []

    class CountingScan(NestingScan):
        def feed(self, text):
            scanned.append(text)
            return super().feed(text)

    monkeypatch.setattr(_payloads, "NestingScan", CountingScan)
    payloads.start(b'{"a":1}', 0, "data")
    for _ in range(100):
        assert not payloads.is_in_string(b"event: error")
        payloads.set_type(b"error", 0)
    payloads.settle(payloads.open)
    assert scanned == [b'{"a":1}']
    assert [frame.value for frame in given_out] == [{"error": A}]


def test_sentinel():
    """`[DONE]` is one value, unlike any payload."""
    assert DONE is Sentinel("[DONE]")
    assert DONE != "[DONE]"
