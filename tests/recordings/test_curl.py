"""What curl writes: headers and body, the wire, what -v says, and traces."""

from __future__ import annotations

import gzip

import pytest

from streamkit import LimitExceeded, Limits, UnknownForm, rebuild_all
from streamkit.recordings import _curl, _curl_trace, _curl_verbose, rebuild
from streamkit.recordings._chunked import LONGEST_LINE, Dechunker
from streamkit.recordings._dots import DotMender
from streamkit.recordings._pieces import ReadOptions
from tests.recordings.making import without_libraries

from .samples import BODY, EVENTS, TEXT, blocks, chunk, event, joined, misses, read, texts


FORMS = (*_curl.FORMS, *_curl_verbose.FORMS, *_curl_trace.FORMS)
PLAIN, RAW, VERBOSE, ASCII, HEX = FORMS

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Key: secret\r\n\r\n"
HTTP2 = b"HTTP/2 200 \r\ncontent-type: text/event-stream\r\n\r\n"
WIRE = b"".join(b"%x\r\n%s\r\n" % (len(each), each) for each in EVENTS) + b"0\r\n\r\n"


@misses(FORMS)
def test_near_misses(form, head):
    """Nothing that merely contains such text is taken for one."""
    assert form.looks(head) == 0


# -- curl -i and --raw ---------------------------------------------------------------

RESPONSES = {
    "plain": HEAD + BODY,
    "http/2": HTTP2 + BODY,
    "lf": HEAD.replace(b"\r\n", b"\n") + BODY,
    "crlf": HEAD + BODY.replace(b"\n", b"\r\n"),
    "no headers": b"HTTP/1.0 200 OK\r\n\r\n" + BODY,
    "interim": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\na: b\r\n\r\n"
    + HEAD
    + BODY,
    "redirect": b"HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n" + HEAD + BODY,
    "proxy": b"HTTP/1.1 200 Connection established\r\n\r\n" + HEAD + BODY,
    "raw": HEAD + WIRE,
    "gzip": HEAD + gzip.compress(BODY),
    "gzip, raw": HEAD + b"%x\r\n%s\r\n0\r\n\r\n" % (len(gzip.compress(BODY)), gzip.compress(BODY)),
    "status in the text": HEAD + event(chunk(content="")) + BODY + b": HTTP/1.1 200 OK\n",
}


@pytest.mark.parametrize("name", RESPONSES)
def test_response(name):
    """The body of a response comes out, and nothing of its headers."""
    data = RESPONSES[name]
    assert PLAIN.looks(data) == 95
    assert texts(PLAIN, data) == [TEXT]
    ((recording, pieces),) = read(PLAIN, data)
    assert recording.name == "response 1: status 200"
    assert recording.notes == ()
    assert b"HTTP/1.1 200 OK\r" not in joined(pieces)
    assert b"secret" not in joined(pieces)


def test_several_responses():
    """Each response is a recording, also behind a body that does not end in a line end."""
    other = event(chunk(id="chatcmpl-2", content="more", finish="stop")).strip()
    for data in (
        HEAD + BODY + HEAD + other,
        HEAD + other + HEAD + BODY,
        HEAD + WIRE + HEAD + other,
    ):
        assert sorted(texts(PLAIN, data)) == [TEXT, "more"]
        assert len(read(PLAIN, data)) == 2


def test_recordings_before_their_pieces():
    """Who takes all recordings first, or skips some pieces, gets what there is."""
    found = PLAIN.read(blocks((HEAD + BODY) * 3, 50), ReadOptions())
    first = next(found)
    assert next(iter(first.pieces)).data
    second, third = found
    assert joined(third.pieces) == joined(second.pieces) == BODY
    assert BODY.endswith(joined(first.pieces))


def test_error_status():
    """An error status is a note; its body is read."""
    data = b'HTTP/1.1 429 Too Many Requests\r\nA: b\r\n\r\n{"error": {"message": "slow"}}'
    ((recording, pieces),) = read(PLAIN, data)
    assert [note.code for note in recording.notes] == ["http_status"]
    assert "429" in recording.notes[0].message
    (outcome,) = rebuild_all([piece.data for piece in pieces])
    assert outcome.error.payload == {"message": "slow"}


@pytest.mark.parametrize("data", [HEAD, HEAD[:-2], b"HTTP/1.1 200 OK\r\nA: cut"])
def test_no_body(data):
    """Headers without a body say what is missing."""
    ((recording, pieces),) = read(PLAIN, data)
    assert [note.code for note in recording.notes] == ["no_body"]
    assert pieces == []


def test_empty_input():
    """Nothing holds no recording."""
    assert read(PLAIN, b"") == []


@pytest.mark.parametrize("size", [1, 2, 1 << 18])
def test_blank_lines_at_the_start(size):
    """They are no body, and no part of one, in one block or in many."""
    assert read(PLAIN, b"\n\r\n\n", size) == []
    ((_, pieces),) = read(PLAIN, b"\n\r\n" + BODY, size)
    assert joined(pieces) == BODY
    assert pieces[0].place == "byte 3"


def test_unknown_compression(monkeypatch):
    """A body in a compression that cannot be undone says so."""
    without_libraries(monkeypatch)
    with pytest.raises(UnknownForm, match="zstd"):
        read(PLAIN, HEAD + b"\x28\xb5\x2f\xfd" + b"\0" * 20)


def test_bomb_in_a_body():
    """The limit on what is decompressed holds for bodies, too."""
    with pytest.raises(LimitExceeded):
        read(PLAIN, HEAD + gzip.compress(bytes(1 << 20)), limits=Limits(decompressed=1000))


def test_pieces_come_at_once():
    """A block is handed on before the next is asked for."""
    seen = []

    def live():
        for block in (HEAD, EVENTS[0], EVENTS[1], b""):
            seen.append(block)
            yield block

    (recording,) = [next(PLAIN.read(live(), ReadOptions()))]
    assert next(iter(recording.pieces)).data == EVENTS[0]
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("data", "score"),
    [
        (WIRE, 95),
        (WIRE[: len(EVENTS[0]) // 2], 40),
        (WIRE.replace(b"\r\n", b"\n"), 95),
        (b"5;a=b\r\nhello\r\n0\r\n\r\n", 95),
        (b"5\r\nhello world", 0),
        (b"ffff\r\nhello", 0),
        (b"ffff\r\n{", 40),
    ],
)
def test_looks_raw(data, score):
    """The size of the first chunk must fit what follows."""
    assert RAW.looks(data) == score


def test_raw():
    """Chunks are joined, whatever they cut; extensions and trailers go."""
    for size in (1, 10, 37, 1000):
        wire = b"".join(b"%X ; a=b\r\n%s\r\n" % (len(each), each) for each in blocks(BODY, size))
        assert texts(RAW, wire + b"0\r\nX-Trailer: secret\r\n\r\n") == [TEXT]
        assert texts(RAW, wire) == [TEXT]


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        (b"3\r\nabc\r\n0\r\n\r\nbehind", b"abc"),
        (b"3\nabc\n2\nde\n0\n\n", b"abcde"),
        (b"3\r\nabc", b"abc"),
        (b"3\r\na", b"a"),
        (b"3\r\nabcd\r\n", b"abcd\r\n"),
        (b"3\r\nabc\r\nno size\r\nrest", b"abcno size\r\nrest"),
        (b"3\r\nabc\r\n\r\nrest", b"abc\r\nrest"),
        (b"ffffffffffffffffff\r\nabc", b"ffffffffffffffffff\r\nabc"),
        (b"x" * LONGEST_LINE + b"yz", b"x" * LONGEST_LINE + b"yz"),
        (b"1\r\na\r\n0\r\nsecret: " + b"x" * 2 * LONGEST_LINE + b"\r\n\r\n", b"a"),
        (b"fffffffff\r\n" + b"a" * 10, b"a" * 10),
    ],
)
def test_dechunker(wire, body):
    """Cut or broken coding loses nothing of the body, and shows no trailer."""
    assert Dechunker().feed(wire) == body
    slow = Dechunker()
    assert b"".join(slow.feed(byte) for byte in blocks(wire, 1)) == body


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        (b"3..abc..2;x=y..de..0..\r\n", b"abcde"),
        (b"3..a....4\r\n....\r\n0....", b"a......"),
        (b"3..abc.x", b"abc.x"),
    ],
)
def test_dechunker_with_dots(wire, body):
    """Line ends may be dots, and dots in a chunk stay what they are."""
    slow = Dechunker(dots=True)
    assert Dechunker(dots=True).feed(wire + b"\n") == body + b"\n" * (b"x" in body)
    assert b"".join(slow.feed(byte) for byte in blocks(wire, 1)) == body.replace(b".x", b"")


# -- curl -v -------------------------------------------------------------------------

ASKED = b"""*   Trying 192.0.2.1:443...
* Connected to api.example.test (192.0.2.1) port 443 (#0)
} [5 bytes data]
* TLSv1.3 (OUT), TLS handshake, Client hello (1):
> POST /v1/chat/completions HTTP/1.1\r
> Host: api.example.test\r
> Authorization: Bearer secret\r
>\x20
} [15 bytes data]
< HTTP/1.1 200 OK\r
< content-type: text/event-stream\r
<\x20
{ [238 bytes data]
"""
METER_HEAD = (
    b"  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
    b"                                 Dload  Upload   Total   Spent    Left  Speed\n"
)
METER = b"\r100   238    0   238    0     0    900      0 --:--:--  0:00:01 --:--:--   900"
LATER = b"* TLSv1.2 (IN), TLS header, Supplemental data (23):\n"
LEFT = b"* Connection #0 to host api.example.test left intact\n"
SAID = {
    "plain": ASKED + BODY + LEFT,
    "between events": ASKED + LATER.join(EVENTS) + LEFT,
    "glued at the end": ASKED + BODY.strip() + LEFT,
    "glued in a line": ASKED + BODY[:30] + LATER + BODY[30:50] + b"{ [20 bytes data]\n" + BODY[50:],
    "closing": ASKED + BODY.strip() + b"* Closing connection 0\n",
    "closing, newer": ASKED + BODY.strip() + b"* shutting down connection #0\n",
    "closing, bare": ASKED + BODY.strip() + b"* closing connection\n",
    "meter": METER_HEAD + METER + ASKED + BODY[:40] + METER + BODY[40:] + METER + b"\n",
    "with headers": ASKED + HEAD + BODY,
    "raw": ASKED + WIRE,
    "blanks trimmed": ASKED.replace(b"> \n", b">\n").replace(b"< \n", b"<\n") + BODY,
    "the command": b"$ curl -vN https://api.example.test -d '{}'\n" + ASKED + BODY,
    "redirect": b"* x\n< HTTP/1.1 302 Found\r\n< \r\n" + METER + b"\n" + ASKED + BODY,
}


@pytest.mark.parametrize("name", SAID)
def test_verbose(name):
    """What curl says goes, wherever it stands; the body stays."""
    data = SAID[name]
    assert VERBOSE.looks(data) == 95
    assert PLAIN.looks(data) == 0
    assert texts(VERBOSE, data) == [TEXT]
    found = joined(read(VERBOSE, data)[-1][1])
    assert b"secret" not in found
    assert b"HTTP/1.1" not in found
    assert found.strip() == BODY.strip()


def test_verbose_times():
    """With --trace-time, curl's own lines give the time of what follows."""
    stamp = b"04:20:%02d.500000 "
    data = b"".join(stamp % 3 + line + b"\n" for line in ASKED.splitlines())
    data += EVENTS[0] + stamp % 4 + b"{ [9 bytes data]\n" + EVENTS[1][:20]
    data += stamp % 5 + b"[0-0] { [9 bytes data]\n" + EVENTS[1][20:]
    assert VERBOSE.looks(data) == 95
    ((_, pieces),) = read(VERBOSE, data)
    assert joined(pieces) == EVENTS[0] + EVENTS[1]
    start = 4 * 3600 + 20 * 60 + 0.5
    assert sorted({piece.time for piece in pieces}) == [start + 3, start + 4, start + 5]
    assert pieces[0].place == "line 14"


def test_two_exchanges():
    """Two exchanges in one file are two recordings."""
    assert texts(VERBOSE, SAID["plain"] * 2) == [TEXT, TEXT]
    assert [recording.name for recording, _ in read(VERBOSE, SAID["plain"] * 2)] == [
        "response 1: status 200",
        "response 2: status 200",
    ]


@pytest.mark.parametrize(
    "head", [b"> data: {}\n", b"* a list\n* of things\n", b"< HTTP/1.1 200 OK\n", b"> a HTTP/1.1\n"]
)
def test_looks_verbose(head):
    """Quotes and lists have such marks, too."""
    assert VERBOSE.looks(head) == 0


# -- Traces --------------------------------------------------------------------------


def ascii_rows(data):
    """Show *data* as curl does: 64 columns, a new row at each CRLF, dots."""
    rows, at = [], 0
    while at < len(data):
        row = data[at : at + 64]
        end = data.find(b"\r\n", at, at + 66)
        row = row if end < 0 else data[at:end]
        shown = bytes(byte if 32 <= byte < 127 else ord(".") for byte in row)
        rows.append(b"%04x: %s\n" % (at, shown))
        at += len(row) + (0 if end < 0 else 2)
    return b"".join(rows)


def hex_rows(data):
    rows = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        shown = bytes(byte if 32 <= byte < 127 else ord(".") for byte in row)
        pairs = b"".join(b"%02x " % byte for byte in row)
        rows.append(b"%04x: %-48s%s\n" % (at, pairs, shown))
    return b"".join(rows)


def block(rows, way, data, time=b""):
    head = b"%s%s, %d bytes (0x%x)\n" % (time, way, len(data), len(data))
    return head + rows(data)


def trace(rows, received, head=HEAD, time=b""):
    """Return the trace of an exchange in which the data *received* came."""
    parts = [time + b"== Info:   Trying 192.0.2.1:443...\n"]
    parts.append(block(rows, b"=> Send header", b"POST / HTTP/1.1\r\nAuth: secret\r\n\r\n", time))
    parts.append(block(rows, b"=> Send data", b'{"model": "secret"}', time))
    parts.append(block(rows, b"<= Recv SSL data", b"\x17\x03", time))
    parts += [block(rows, b"<= Recv header", line, time) for line in head.splitlines(keepends=True)]
    parts += [block(rows, b"<= Recv data", data, time) for data in received]
    return b"".join(parts) + time + b"== Info: Connection #0 left intact\n"


WAYS = {ASCII: ascii_rows, HEX: hex_rows}
WIRE_PIECES = [*(b"%x\r\n%s\r\n" % (len(each), each) for each in EVENTS), b"0\r\n\r\n"]
RECEIVED = {
    "chunked": WIRE_PIECES,
    "not chunked": EVENTS,
    "crlf": [each.replace(b"\n", b"\r\n") for each in EVENTS],
    "cut anywhere": list(blocks(WIRE, 77)),
    "cut in every line": list(blocks(BODY, 50)),
    "at once": [WIRE],
    "comments": [b": PROCESSING v1.2\n\n", *EVENTS],
    "fields": [b"retry: 5\nevent: message\nid: 1\n" + each for each in EVENTS],
}


@pytest.mark.parametrize("form", [ASCII, HEX], ids=lambda form: form.name)
@pytest.mark.parametrize("name", RECEIVED)
def test_trace(form, name):
    """The data received come out, with line ends where they were."""
    data = trace(WAYS[form], RECEIVED[name])
    assert [each.name for each in FORMS if each.looks(data)] == [form.name]
    assert texts(form, data) == [TEXT]
    ((recording, pieces),) = read(form, data)
    assert [note.code for note in recording.notes] == ["trace_ascii"] * (form is ASCII)
    assert b"secret" not in joined(pieces)
    body = b"".join(RECEIVED[name])
    if "chunked" != name and not body.startswith(b"%x" % len(EVENTS[0])):
        assert joined(pieces) == body
    else:
        assert joined(pieces) == BODY


def test_trace_cut_in_a_line_end():
    """A CRLF of the coding that came in two reads is shown as two dots, one in each block."""
    assert joined(read(ASCII, trace(ascii_rows, blocks(WIRE, 1)))[0][1]) == BODY
    for at in range(1, len(WIRE)):
        ((_, pieces),) = read(ASCII, trace(ascii_rows, [WIRE[:at], WIRE[at:]]))
        assert joined(pieces) == BODY, at


@pytest.mark.parametrize("form", [ASCII, HEX], ids=lambda form: form.name)
def test_trace_times(form):
    """Each piece has the time that stands before its block, also after midnight."""
    rows = WAYS[form]
    data = trace(rows, [], time=b"23:59:59.500000 ")
    data += block(rows, b"<= Recv data", EVENTS[0], b"23:59:59.750000 [0-0] ")
    data += block(rows, b"<= Recv data", EVENTS[1], b"00:00:00.250000 [0-0] ")
    ((_, pieces),) = read(form, data)
    assert [piece.time for piece in pieces] == [86_399.5, 86_399.75, 86_400.25]
    assert not pieces[0].data
    assert joined(pieces) == EVENTS[0] + EVENTS[1]


@pytest.mark.parametrize("form", [ASCII, HEX], ids=lambda form: form.name)
def test_times_since_the_request(form):
    """A trace has when each request was sent; of redirects, the last counts."""
    redirect = b"HTTP/1.1 307 Temporary Redirect\r\nLocation: /x\r\n\r\n"
    rows, data = WAYS[form], b""
    for second, head in ((1, redirect), (2, HEAD), (5, HEAD)):
        stamp = b"10:00:%02d." % second
        data += block(rows, b"=> Send header", b"POST / HTTP/1.1\r\n\r\n", stamp + b"000000 ")
        for line in head.splitlines(keepends=True):
            data += block(rows, b"<= Recv header", line, stamp + b"500000 ")
        if head is HEAD:
            data += block(rows, b"<= Recv data", BODY, stamp + b"750000 ")
    for outcome in rebuild(data):
        assert outcome.timing.origin == "request"
        assert outcome.timing.first_chunk == pytest.approx(0.75)
        assert outcome.complete


@pytest.mark.parametrize("form", [ASCII, HEX], ids=lambda form: form.name)
def test_traces_of_two_exchanges(form):
    """Two exchanges are two recordings; a trace without data has none, and says so."""
    data = trace(WAYS[form], EVENTS)
    assert texts(form, data * 2) == [TEXT, TEXT]
    ((recording, _),) = read(form, trace(WAYS[form], []))
    assert "no_body" in [note.code for note in recording.notes]
    assert read(form, b"== Info: nothing\n0000: stray\n") == []


def test_ascii_loses_characters():
    """What is not ASCII is lost, and only that."""
    received = [event(chunk(content="A. é!")).replace(b"\\u00e9", "é".encode())]
    assert texts(ASCII, trace(ascii_rows, received)) == ["A. ..!"]
    assert texts(HEX, trace(hex_rows, received)) == ["A. é!"]


def test_compressed_trace():
    """A hexadecimal trace of a compressed body can be read."""
    assert texts(HEX, trace(hex_rows, list(blocks(gzip.compress(BODY), 30)))) == [TEXT]


def test_trimmed_trace():
    """Blanks at the ends of rows that an editor took away come back."""
    spaced = event(chunk(content="b " * 100 + " " * 200 + "c", finish="stop"))
    data = trace(ascii_rows, [b"%x\r\n%s\r\n" % (len(spaced), spaced), b"0\r\n\r\n"])
    trimmed = b"\n".join(row.rstrip() for row in data.split(b"\n"))
    assert trimmed != data
    assert texts(ASCII, trimmed) == texts(ASCII, data)
    assert texts(ASCII, data.replace(b"\n", b"\r\n")) == texts(ASCII, data)


@pytest.mark.parametrize("form", [ASCII, HEX], ids=lambda form: form.name)
def test_cut_trace(form):
    """A trace that is cut gives what it has, wherever the cut is."""
    data = trace(WAYS[form], WIRE_PIECES)
    for end in range(0, len(data), 7):
        for _, pieces in read(form, data[:end]):
            assert BODY.startswith(joined(pieces).rstrip(b"."))


@pytest.mark.parametrize(
    "rows",
    [
        b"0000: x\n",
        b"ffffffff: x\n0000: y\n",
        b"0000: zz zz\n0010: 6\n",
        b"0000:\n",
        b"x" * 50 + b"\n",
        b"0000: \xff\xfe\n",
        b"",
        b'data: {"index": 0}\n',
        b"\n",
    ],
)
@pytest.mark.parametrize("form", [ASCII, HEX], ids=lambda form: form.name)
def test_hostile_traces(form, rows):
    """Offsets and sizes may lie, and rows may be none: nothing is made from them."""
    head = b"<= Recv data, 999999999999 bytes (0xe8d4a50fff)\n"
    for behind in (b"", b"<= Recv data, 0 bytes (0x0)\n" + rows):
        for _, pieces in read(form, head + rows + behind):
            assert len(joined(pieces)) < 200


def test_long_block():
    """One block cannot grow without end."""
    data = b"<= Recv data, 9 bytes (0x9)\n" + b"0000: xxxxxxxx\n" * 1000
    with pytest.raises(LimitExceeded):
        read(ASCII, data, limits=Limits(event=100))


@pytest.mark.parametrize(
    ("shown", "meant"),
    [
        (b'data: {"a":"x."}..', b'data: {"a":"x."}\n\n'),
        (b'data: {"a":1.5,"b":[1.0,-2.25]}..', b'data: {"a":1.5,"b":[1.0,-2.25]}\n\n'),
        (b'data: {.  "a": 1.}..', b'data: {\n  "a": 1\n}\n\n'),
        (b'data: {.  "a": 1,.  "b": "\\"."..}.', b'data: {\n  "a": 1,\n  "b": "\\"."\n\n}\n'),
        (b": wait v1.0 x..data: {}..", b": wait v1.0 x\n\ndata: {}\n\n"),
        (b": a [x..data: {}..", b": a [x\n\ndata: {}\n\n"),
        (b"event: a.b.data: {}.id: 7.retry: 9..", b"event: a.b\ndata: {}\nid: 7\nretry: 9\n\n"),
        (b"data: {}. x", b"data: {}\n x"),
        (b"data: [DONE]..", b"data: [DONE]\n\n"),
        (b'{"error": "x.y"}.', b'{"error": "x.y"}\n'),
        (b"plain e.g. text", b"plain e.g. text"),
        (b"data: {}}.", b"data: {}}\n"),
        (
            b'data: {"a":{"b":"}"}}..data: {"c":"{"}..',
            b'data: {"a":{"b":"}"}}\n\ndata: {"c":"{"}\n\n',
        ),
        (b'data: {"a": [{}..], "b": 1}..', b'data: {"a": [{}\n\n], "b": 1}\n\n'),
        (b'data: {"a": {}..data: {}..', b'data: {"a": {}\n\ndata: {}\n\n'),
        (b'data: {"a', b'data: {"a'),
        (b'data: {"a\\\\"}.', b'data: {"a\\\\"}\n'),
        (b"", b""),
    ],
)
def test_dots(shown, meant):
    """A dot is a line end where it can be nothing else."""
    assert DotMender().feed(shown) == meant


@pytest.mark.parametrize("size", [1, 2, 3, 5, 13, 20])
def test_dots_between_pieces(size):
    """Nor does it between fields, the names of which may be cut."""
    meant = b'event: ab\ndata: {"a":1}\n\nretry: 9\nid: 7\ndata: [DONE]\n\n\n'
    mender = DotMender()
    found = [mender.feed(piece) for piece in blocks(meant.replace(b"\n", b"."), size)]
    assert b"".join(found) == meant
    assert mender.finish() == b""
    assert (mender.feed(b"x: a.da"), mender.finish()) == (b"x: a", b".da")


@pytest.mark.parametrize("size", [1, 2, 3, 20])
def test_dots_in_pieces(size):
    """Inside a value, where the pieces end does not matter."""
    value = b'data: {"a":1.5,"b":"x\\"y.z\\\\","c":[{},0.25],."d":[0.1].}'
    mender = DotMender()
    found = mender.feed(value[:7])
    found += b"".join(mender.feed(piece) for piece in blocks(value[7:], size))
    assert found == value.replace(b",.", b",\n").replace(b"].}", b"]\n}")
