"""The reader of chunks: every repair, its strict counterpart, limits and state."""

from __future__ import annotations

import pytest

from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamkit import ChunkReader, FramingError, InputRefused, LimitExceeded, Limits, UpstreamError
from streamkit._kinds import is_ping
from streamkit._limits import NO_LIMITS
from streamkit._payloads import DONE

from .helpers import BACKENDS, Case, assert_reads, fragments, frame, pieces_of, read, splits


BOM = b"\xef\xbb\xbf"
A = {"id": "chatcmpl-1", "choices": [{"index": 0, "delta": {"content": "Hi"}}]}
RAW_A = b'{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"Hi"}}]}'
B = {"id": "chatcmpl-1", "choices": []}
RAW_B = b'{"id":"chatcmpl-1","choices":[]}'
EVENT_A, EVENT_B = b"data: " + RAW_A + b"\n\n", b"data: " + RAW_B + b"\n\n"
ERROR = {"message": "m"}

DONE_CASES = [
    pytest.param(Case(EVENT_A + b"data: [DONE]\n\n", [A], done=True), id="space"),
    pytest.param(Case(EVENT_A + b"data:[DONE]\n\n", [A], done=True), id="no-space"),
    pytest.param(Case(EVENT_A + b"data:  \t[DONE] \t\n\n", [A], done=True), id="blanks"),
    pytest.param(Case(EVENT_A + b"[DONE]\n\n", [A], done=True), id="bare"),
    pytest.param(Case(EVENT_A + b"data: [DONE]", [A], done=True), id="no-newline"),
    pytest.param(Case(EVENT_A + b"[DONE]", [A], done=True), id="bare-no-newline"),
    pytest.param(
        Case(
            b"data: " + RAW_A + b"\ndata: [DONE]\n\n",
            [A],
            ["missing_blank_line"],
            done=True,
            kept=1,
        ),
        id="same-block",
    ),
    pytest.param(Case(b'data: {"x":"[DONE]"}\n\n', [{"x": "[DONE]"}]), id="in-a-string"),
    pytest.param(Case(b'data: "[DONE]"\n\n', [], ["not_a_chunk"]), id="quoted"),
    pytest.param(Case(b"data: [DONE]x\n\n", [], ["bad_json"]), id="with-a-letter"),
    pytest.param(Case(b"data: [done]\n\n", [], ["bad_json"]), id="lower-case"),
    pytest.param(
        Case(b"data: [DONE]\n\n" + EVENT_A, [], ["data_after_done"], done=True), id="data-behind"
    ),
    pytest.param(
        Case(
            EVENT_A + b"data: [DONE]\n\n" + EVENT_A + b"data: [DONE]\n\n",
            [A],
            ["data_after_done"],
            done=True,
            kept=1,
        ),
        id="second-stream",
    ),
]
END_CASES = [
    pytest.param(Case(b"data: " + RAW_A, [A], ["unterminated_event"], kept=1), id="whole"),
    pytest.param(
        Case(b"data: " + RAW_A + b"\n", [A], ["unterminated_event"], kept=1), id="one-newline"
    ),
    pytest.param(
        Case(EVENT_A + b'data: {"choices":[{"ind', [A], ["cut_value"], cut=True, kept=1), id="cut"
    ),
    pytest.param(Case(b'data: {"x":"\xc3', [], ["cut_value"], cut=True), id="cut-in-a-character"),
]
SKIPPED_CASES = [
    pytest.param(Case(b"data:\n\ndata\n\n" + EVENT_A, [A]), id="empty"),
    pytest.param(Case(b"data:  \t\n\n" + EVENT_A, [A]), id="blank"),
    pytest.param(Case(b": hi\n\n" + EVENT_A, [A]), id="comment"),
    pytest.param(Case(b"data: : hi\n\n" + EVENT_A, [A], ["comment_in_data"]), id="comment-in-data"),
    pytest.param(Case(b'data: {"type":"ping"}\n\n' + EVENT_A, [A]), id="ping"),
    pytest.param(Case(b'data: {"type": "keepalive"}\n\n' + EVENT_A, [A]), id="keepalive"),
    pytest.param(Case(b'event: ping\ndata: {"type":"ping"}\n\n' + EVENT_A, [A]), id="ping-event"),
]
GLUED_CASES = [
    pytest.param(
        Case(b"data: " + RAW_A + RAW_B + b"\n\n", [A, B], ["concatenated_json"], kept=1), id="glued"
    ),
    pytest.param(
        Case(b"data: " + RAW_A + b"\n" + EVENT_B, [A, B], ["missing_blank_line"], kept=1),
        id="one-newline",
    ),
    pytest.param(
        Case(b"data: " + RAW_A + EVENT_B, [A, B], ["glued_events", "concatenated_json"], kept=1),
        id="glued-event",
    ),
    pytest.param(Case(b"data: " + EVENT_A, [A], ["double_prefix"]), id="double-prefix"),
    pytest.param(
        Case(
            b"data: " + RAW_A + b"\ndata: {bad\ndata: " + RAW_B + b"\n" + EVENT_A,
            [A, B, A],
            ["missing_blank_line", "bad_json"],
            kept=1,
        ),
        id="bad-line",
    ),
]
JOINED_CASES = [
    pytest.param(
        Case(b'data: {\n  "choices": [\n  ]\n}\n\n', [{"choices": []}], ["unprefixed_line"]),
        id="pretty",
    ),
    pytest.param(
        Case(b'data: {\ndata:   "choices": [\ndata: ]}\n\n', [{"choices": []}]), id="pretty-data"
    ),
    pytest.param(
        Case(b'data: {"x":"a\nb"}\n\n', [{"x": "a\nb"}], ["unprefixed_line", "control_character"]),
        id="broken-string",
    ),
]
BARE_CASES = [
    pytest.param(
        Case(b'{"error":{"message":"m"}}', [{"error": ERROR}], ["bare_json"], error=ERROR),
        id="error",
    ),
    pytest.param(Case(RAW_A + b"\n" + RAW_B + b"\n", [A, B], ["bare_json"]), id="lines"),
    pytest.param(Case(b"[" + RAW_A + b"," + RAW_B + b"]", [A, B], ["bare_json"]), id="array"),
    pytest.param(
        Case(b"[\n" + RAW_A + b",\n" + RAW_B + b"\n]\n", [A, B], ["bare_json"]), id="array-lines"
    ),
    pytest.param(
        Case(
            b'{\n "object": "chat.completion",\n "choices": []\n}\n',
            [{"object": "chat.completion", "choices": []}],
            ["bare_json"],
        ),
        id="whole-response",
    ),
]
ERROR_CASES = [
    pytest.param(
        Case(b'error: {"message":"m"}\n\n', [{"error": ERROR}], ["error_field"], error=ERROR),
        id="field",
    ),
    pytest.param(
        Case(b'event: error\ndata: {"message":"m"}\n\n', [{"error": ERROR}], error=ERROR),
        id="event",
    ),
    pytest.param(
        Case(b'event: error\ndata: {"error":{"message":"m"}}\n\n', [{"error": ERROR}], error=ERROR),
        id="event-with-error",
    ),
    pytest.param(
        Case(b"event: error\ndata: m\n\n", [{"error": ERROR}], ["non_json_error"], error=ERROR),
        id="event-with-text",
    ),
    pytest.param(
        Case(
            EVENT_A + b'data: {"error":{"message":"m"}}\n\n' + b'data: {"error":"second"}\n\n',
            [A, {"error": ERROR}, {"error": "second"}],
            error=ERROR,
        ),
        id="first-counts",
    ),
    pytest.param(
        Case(b'data: {"error":null,"choices":[]}\n\n', [{"error": None, "choices": []}]), id="null"
    ),
]
FOREIGN_CASES = [
    pytest.param(Case(b"<html>\n", [], ["unframed_text", "html_body"]), id="html"),
    pytest.param(Case(b"Service unavailable", [], ["unframed_text", "no_events"]), id="text"),
    pytest.param(Case(b"\x1f\x8b\x08\0\0", [], ["unframed_text", "compressed_body"]), id="gzip"),
    pytest.param(Case(b"foo: bar\n\n", [], ["no_events"]), id="other-form"),
]
SMALL_CASES = [
    pytest.param(
        Case(EVENT_A + b'data: [DONE]\n\ndata: {"type":"ping"}\n\n', [A], done=True),
        id="ping-behind-done",
    ),
    pytest.param(Case(b" " + EVENT_A, [A], ["field_whitespace"]), id="blank-before"),
    pytest.param(Case(b"data : " + RAW_A + b"\n\n", [A], ["field_whitespace"]), id="blank-behind"),
    pytest.param(Case(EVENT_A + BOM + EVENT_B, [A, B], ["late_bom"], kept=1), id="late-bom"),
    pytest.param(
        Case(b"data: " + RAW_A + b" xyz\n\n" + EVENT_B, [A, B], ["trailing_garbage"], kept=1),
        id="garbage",
    ),
    pytest.param(Case(b"data: {'a':1}\n\n" + EVENT_A, [A], ["bad_json"]), id="malformed"),
    pytest.param(Case(b'data: {"x":"\xff"}\n\n', [{"x": "\ufffd"}], ["invalid_utf8"]), id="utf-8"),
    pytest.param(Case(b'data: {"x":NaN}\n\n', [{"x": None}], ["bad_number"]), id="nan"),
    pytest.param(
        Case(b"data: " + b"[" * 65 + b"]" * 65 + b"\n\n" + EVENT_A, [A], ["too_deep"]),
        id="too-deep",
    ),
    pytest.param(
        Case(EVENT_A + b"hello\n\n" + EVENT_B, [A, B], ["unframed_text"], kept=1), id="text"
    ),
    pytest.param(
        Case(b"data: 1\n\ndata: [null]\n\n" + EVENT_A, [A], ["not_a_chunk"] * 2), id="no-chunk"
    ),
    pytest.param(
        Case(b"data: 1\n\nhello\n\n", [], ["not_a_chunk", "unframed_text"]), id="in-order"
    ),
    pytest.param(
        Case(
            b'data: {"x":"\\ud83d"}\n\ndata: {"x":"\\ude00"}\n\n',
            [{"x": "\ud83d"}, {"x": "\ude00"}],
        ),
        id="split-pair",
    ),
    pytest.param(Case(BOM + EVENT_A, [A]), id="bom"),
    pytest.param(
        Case(EVENT_A.replace(b"\n", b"\r") + EVENT_B.replace(b"\n", b"\r\n"), [A, B]), id="endings"
    ),
    pytest.param(Case(b"data: " + RAW_A + b"\r: c\n\n", [A]), id="cr-then-lf"),
]


@pytest.mark.parametrize(
    "case",
    [
        *DONE_CASES,
        *END_CASES,
        *SKIPPED_CASES,
        *GLUED_CASES,
        *JOINED_CASES,
        *BARE_CASES,
        *ERROR_CASES,
        *FOREIGN_CASES,
        *SMALL_CASES,
    ],
)
def test_case(case):
    """Leniently each flaw is mended and reported; strictly the first one raises."""
    assert_reads(case)


@pytest.mark.parametrize("backend", BACKENDS)
def test_same_with_each_library(backend):
    """The library that decodes changes nothing."""
    if backend != "json":
        pytest.importorskip(backend)
    data = EVENT_A + b'data: {"x":[NaN,1e400,18446744073709551616,"\\ud83d\n\xff"]}\n\n' + EVENT_B
    assert read([data], json=backend) == read([data])


class TestStrict:
    def test_error(self):
        """The error carries the issue, and its text is the issue's."""
        reader = ChunkReader(strict=True)
        with pytest.raises(FramingError, match=r"^bad_json: .*\(event 1, byte \d+\)$") as caught:
            reader.feed(EVENT_A + b"data: {x}\n\n" + EVENT_B)
        assert caught.value.partial == [A]
        assert reader.issues == (caught.value.issue,)
        assert caught.value.issue.offset == len(EVENT_A)

    def test_chunks_before_a_flaw_in_the_same_call(self):
        """A flaw that is noticed in the chunks themselves loses none before it."""
        with pytest.raises(FramingError) as caught:
            ChunkReader(strict=True).feed(EVENT_A + b"data: 1\n\n" + EVENT_B)
        assert caught.value.partial == [A]
        assert caught.value.issue.code == "not_a_chunk"

    def test_two_flaws(self):
        """The first flaw of the input is the one raised, however it is fed."""
        for pieces in splits(EVENT_A + b"data: 1\n\n" + EVENT_B + b"data: {x}\n\n"):
            got = read(pieces, strict=True)
            assert (got.chunks, got.raised[1].code) == ([A], "not_a_chunk"), pieces

    def test_at_the_end(self):
        """A flaw at the end of the input raises from `finish`, with what was whole."""
        reader = ChunkReader(strict=True)
        reader.feed(b"data: " + RAW_A + b"\n")
        with pytest.raises(FramingError) as caught:
            reader.finish()
        assert (caught.value.issue.code, caught.value.partial) == ("unterminated_event", [A])


LONG = b"x" * 120
LIMIT_CASES = [
    pytest.param(EVENT_A + b"data: " + LONG + b"\n\n", [A], "line", id="line"),
    pytest.param(EVENT_A + b"data: " + LONG, [A], "line", id="pending-line"),
    pytest.param(LONG, [], "line", id="pending-at-once"),
    pytest.param(EVENT_A + b'data: {"a":\n' + b"data: 1,23456,\n" * 12, [A], "event", id="event"),
    pytest.param(EVENT_A + b'data: {"a":\n' + b"1,23456,\n" * 12, [A], "event", id="bare-lines"),
    pytest.param(EVENT_A + b'data: {"a":1,"b":2,"c":3,"d":4}\n\n', [A], "keys", id="keys"),
    pytest.param(EVENT_A + b'data: {"a":1,"b":2,"c":3,"d":4}', [A], "keys", id="keys-at-the-end"),
    pytest.param(
        EVENT_A + b'data: {"a":1,"b":2,"c":3,"d":4}\n\n' + LONG + b"\n",
        [A],
        "keys",
        id="keys-first",
    ),
]


@pytest.mark.parametrize(("data", "chunks", "limit"), LIMIT_CASES)
@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
def test_limits(data, chunks, limit, strict):
    """A bound ends the reading; every whole chunk before it is in hand, and no more is taken."""
    options = {"strict": strict, "limits": Limits(line=110, event=90, keys=3)}
    codes = set()
    for pieces in splits(data):
        got = read(pieces, **options)
        if strict and got.raised[0] is FramingError:
            codes.add(got.raised[1].code)
        else:
            assert got.raised == (LimitExceeded, None, limit), pieces
        assert got.chunks == chunks, pieces
    assert codes <= {"unprefixed_line", "unterminated_event"}


def test_depth_limit_is_an_issue():
    """Nesting is no attack on what comes after it: the payload is left out."""
    got = read([b'data: {"a":{"b":1}}\n\n' + EVENT_B], limits=Limits(depth=2))
    assert (got.chunks, got.issues) == ([{"a": {"b": 1}}, B], ())
    got = read([b'data: {"a":{"b":{}}}\n\n' + EVENT_B], limits=Limits(depth=2))
    assert (got.chunks, [issue.code for issue in got.issues]) == ([B], ["too_deep"])


def test_issue_limit():
    """The issues kept are bounded; reading goes on."""
    got = read([b"data: {x}\n\n" * 5 + EVENT_A], limits=Limits(issues=2))
    assert (got.chunks, len(got.issues)) == ([A], 2)


@pytest.mark.parametrize(
    ("strict", "limits", "error"),
    [
        pytest.param(True, Limits(line=80), FramingError, id="flaw-then-limit"),
        pytest.param(False, Limits(line=90, event=70), LimitExceeded, id="limit-then-limit"),
    ],
)
def test_first_error_is_the_one_raised(strict, limits, error):
    """A flaw in a whole line, and a long line behind it in the same call: no chunk is lost."""
    flaw = b"hello\n\n" if strict else b'data: {"a":"' + b"x" * 66 + b'"}\n\n'
    for pieces in splits(EVENT_A + flaw + b"data: " + LONG + b"\n"):
        got = read(pieces, strict=strict, limits=limits)
        assert (got.chunks, got.raised[0]) == ([A], error), pieces
        assert got.raised[2] in (None, "event"), pieces


def test_refused_after_a_limit():
    """After a bound both calls are refused, and say why, until `reset`."""
    reader = ChunkReader(limits=Limits(line=80))
    with pytest.raises(LimitExceeded):
        reader.feed(LONG)
    for call in (lambda: reader.feed(b""), reader.finish):
        with pytest.raises(InputRefused, match=r"no more input: line: 1\d\d,.*reset\(\)"):
            call()
    reader.reset()
    assert reader.feed(EVENT_A) == [A]


def test_refused_after_the_end():
    """After `finish` both calls are refused until `reset`, which forgets all."""
    reader = ChunkReader()
    reader.feed(b'data: {"error":1}\n\ndata: {x}\n\ndata: [DONE]\n\ndata: {"a":')
    reader.finish()
    assert (reader.done, reader.cut, len(reader.issues)) == (True, True, 2)
    assert isinstance(reader.error, UpstreamError)
    assert (reader.error.payload, reader.error.body) == (1, {"error": 1})
    for call in (lambda: reader.feed(b""), reader.finish):
        with pytest.raises(
            InputRefused, match=r"^no more input: the stream has finished; call reset\(\)$"
        ):
            call()
    reader.reset()
    assert (reader.done, reader.cut, reader.issues, reader.error) == (False, False, (), None)
    assert reader.feed(EVENT_A) == [A]


@pytest.mark.parametrize("data", ["data: 1", None, 7])
def test_wrong_type(data):
    """Text is refused at the call, and the reader goes on as if it had not come."""
    reader = ChunkReader()
    reader.feed(b"data: " + RAW_A + b"\n")
    with pytest.raises(TypeError, match="must be bytes"):
        reader.feed(data)
    assert reader.feed(b"\n") == [A]


def test_wrong_library():
    """A library that is not known is refused when the reader is made."""
    with pytest.raises(TypeError, match="must be auto, json, orjson or msgspec"):
        ChunkReader(json="ujson")


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_buffers_are_not_aliased(kind):
    """A buffer may be filled anew after the call."""
    reader = ChunkReader()
    buffer = bytearray(b"data: " + RAW_A)
    reader.feed(kind(buffer))
    buffer[:] = b"X" * len(buffer)
    assert reader.feed(b"\n\n") == [A]


def test_a_chunk_comes_with_the_feed_that_completed_it():
    """No chunk waits for the next one."""
    reader = ChunkReader()
    fed = [reader.feed(piece) for piece in (EVENT_A[:9], EVENT_A[9:], b"", EVENT_B)]
    assert fed == [[], [A], [], [B]]


def test_an_event_like_the_one_before_is_not_framed(monkeypatch):
    """It is matched as a whole; the framing is told of it before the next that needs it."""
    reader = ChunkReader()
    reader.feed(EVENT_A * 2)
    with monkeypatch.context() as patch:
        patch.setattr(reader._road, "feed", None)
        assert [reader.feed(EVENT_A), reader.feed(EVENT_A)] == [[A], [A]]
    assert reader.feed(b"data: {x}\n\n") == []
    assert (reader.issues[0].event, reader.issues[0].offset) == (4, 4 * len(EVENT_A))


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param({"type": "ping"}, True, id="ping"),
        pytest.param({"type": "keepalive", "n": 1}, True, id="keepalive"),
        pytest.param({"type": "ping", "choices": []}, False, id="chunk"),
        pytest.param({"type": "pong"}, False, id="other"),
        pytest.param({"type": ["ping"]}, False, id="list"),
        pytest.param({}, False, id="empty"),
    ],
)
def test_is_ping(payload, expected):
    """A sign of life is known by its type, and has no choices."""
    assert is_ping(payload) is expected


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"data: {bad" + b"\x1b" * 10_000 + b"}\n\n", id="bad_json"),
        pytest.param(b"data: " + b"x" * 10_000 + b"\n\n", id="text"),
        pytest.param(b"data: {} " + b"\xff" * 10_000 + b"\n\n", id="trailing"),
        pytest.param(b'data: {"a":"' + b"x" * 10_000, id="cut"),
        pytest.param(b"event: error\ndata: " + b"x" * 10_000 + b"\n\n", id="error"),
        pytest.param(b"\x1b[2J" * 3_000, id="unframed"),
        pytest.param(b"<html>" * 3_000, id="html"),
        pytest.param(b'data: "' + b"x" * 10_000 + b'"\n\n', id="not-a-chunk"),
        pytest.param(b'data: [DONE]\n\ndata: {"a":"' + b"x" * 10_000 + b'"}\n\n', id="after-done"),
        pytest.param(b'data: {"error":{"message":"' + b"x" * 10_000 + b'"}}\n\n', id="upstream"),
        pytest.param(b"data: " + b"[" * 10_000 + b"]" * 10_000 + b"\n\n", id="deep"),
    ],
)
def test_messages_are_short_and_plain(data):
    """A message quotes at most 120 characters of a payload, and no control character."""
    reader = ChunkReader()
    reader.feed(data)
    reader.finish()
    messages = [issue.message for issue in reader.issues]
    messages += [str(reader.error)] if reader.error else []
    assert messages
    for message in messages:
        assert len(message) <= 120 + 60
        assert message.isprintable()


# -- Properties --------------------------------------------------------------

TIGHT = Limits(line=60, event=40, keys=2, depth=3, issues=4)
ends = st.sampled_from([b"", b"\n", b"\n\n", b"data: [DONE]\n\n"])


@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
@settings(max_examples=300, deadline=None)
@given(fragments(b"\r", b"\r\n"), st.lists(st.integers(0, 60), max_size=6))
@example(b"\rid: 1\n,", [6])
@example(b"data: 1\n\nhello\n", [9])
def test_any_split(strict, data, cuts):
    """Any split gives the same chunks, issues, done, cut and error, and raises the same."""
    assert read(pieces_of(data, cuts), strict=strict) == read([data], strict=strict)


@settings(max_examples=200, deadline=None)
@given(fragments(), st.lists(st.integers(0, 60), max_size=4))
@example(b'data: {"a":1}\n\ndata: {"a":1,"b":2,"c":3}\n\n', [9])
def test_any_split_within_limits(data, cuts):
    """Chunks, and which bound was crossed, do not depend on the split either."""
    whole, split = read([data], limits=TIGHT), read(pieces_of(data, cuts), limits=TIGHT)
    assert (split.chunks, split.raised) == (whole.chunks, whole.raised)


@settings(max_examples=200, deadline=None)
@given(fragments())
def test_any_ending(data):
    """CR, LF and CRLF give the same chunks and codes."""
    expected = without_offsets(read([data]))
    assert without_offsets(read([data.replace(b"\n", b"\r")])) == expected
    assert without_offsets(read([data.replace(b"\n", b"\r\n")])) == expected


BODIES = (
    b"a",
    b" b",
    b"",
    b"\\n",
    b'\\"',
    b"\\\\",
    b"\\/",
    b"\\ud83d",
    b"\\ude00",
    b"\\u00e9",
    b"\xc3\xa9",
    b"\xe2\x80\xa8",
    b"\xff",
    b"\t",
    b"\n",
    b'"',
    b"\\",
    b"\\u00",
    b"}{",
    b"data: ",
    b"[DONE]",
    b'","x":"',
    b'"},"index":1,"delta":{"content":"',
)
SHAPES = (
    b'{"id":"chatcmpl-1","choices":[{"index":%d,"delta":{"content":"%b"}}],"created":%d}',
    b'{"choices":[{"index": %d, "text": "%b"}], "object": "text_completion", "created": %d}',
    b'{"choices":[{"index":%d,"delta":{"content":"x"}}],"p":"%b","obfuscation":"%b","created":%d}',
)


@st.composite
def alike(draw):
    """The events of a stream of chunks that differ in a few places, with a flaw here and there."""
    prefix = draw(st.sampled_from([b"data: ", b"data:", b""]))
    ending = draw(st.sampled_from([b"\n\n", b"\r\n\r\n", b"\r\r", b"\n"]))
    shape = draw(st.sampled_from(SHAPES))
    bodies = draw(st.lists(st.sampled_from(BODIES), min_size=2, max_size=10))
    events = []
    for body in bodies:
        index, created = draw(st.sampled_from([0, 0, 0, 1])), draw(st.sampled_from([1, 1, 0, 22]))
        holes = [body] * shape.count(b"%b")
        events.append(prefix + shape % (index, *holes, created) + ending)
        events.append(draw(st.just(b"") | st.just(b"") | st.just(b"") | fragments()))
    return events


@settings(max_examples=300, deadline=None)
@given(alike(), st.lists(st.integers(0, 600), max_size=6), st.booleans())
def test_streams_of_chunks_that_are_alike(events, cuts, event_by_event):
    """Chunks read in a run are those that the framing gives one by one, with the same issues."""
    data = b"".join(events)
    got = read(events if event_by_event else pieces_of(data, cuts))
    frames, issues, cut = frame([data], NO_LIMITS)
    values = [found.value for found in frames]
    done = DONE in values
    values = values[: values.index(DONE)] if done else values
    expected = [value for value in values if type(value) is dict and not is_ping(value)]
    assert repr(got.chunks) == repr(expected)
    assert [issue for issue in got.issues if issue.code not in OF_CHUNKS] == issues[:100]
    assert (got.done, got.cut) == (done, cut)


OF_CHUNKS = {"not_a_chunk", "data_after_done"}


def without_offsets(got):
    codes = [(issue.code, issue.event) for issue in got.issues]
    return got.chunks, codes, got.done, got.cut, got.error


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.binary(max_size=30) | fragments(), max_size=4),
    st.booleans(),
    st.sampled_from([Limits(), NO_LIMITS, TIGHT, Limits(line=0, event=0, keys=0, depth=0)]),
)
@example([b'data: {"a":"\n' + b'",' + b'"b":' + b"9" * 5000 + b"}\n\n"], False, Limits())
def test_any_bytes(pieces, strict, limits):
    """Whatever the bytes, nothing but a StreamkitError is raised: `read` lets all else through."""
    got = read(pieces, strict=strict, limits=limits)
    assert got.raised is None or strict or limits not in (Limits(), NO_LIMITS)
