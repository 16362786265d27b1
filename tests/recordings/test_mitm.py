"""mitmproxy's flow files."""

from __future__ import annotations

import gzip

import pytest

from streamkit import LimitExceeded, Limits, UnknownForm
from streamkit.recordings import _mitm
from tests.recordings.making import BODY, MESSAGES_STREAM, codes, read, text, without_libraries


FORM = _mitm.FORMS[0]


def tnet(value):
    match value:
        case bool():
            payload, mark = str(value).lower().encode(), b"!"
        case bytes():
            payload, mark = value, b","
        case str():
            payload, mark = value.encode(), b";"
        case int():
            payload, mark = str(value).encode(), b"#"
        case float():
            payload, mark = str(value).encode(), b"^"
        case None:
            payload, mark = b"", b"~"
        case list():
            payload, mark = b"".join(map(tnet, value)), b"]"
        case dict():
            payload, mark = b"".join(tnet(part) for item in value.items() for part in item), b"}"
    return b"%d:%b%b" % (len(payload), payload, mark)


def flow(content=BODY.encode(), headers=(), **more):
    headers = [[b"Content-Type", b"text/event-stream"], *headers, [b"Set-Cookie", b"secret"]]
    request = {"method": b"POST", "path": b"/v1/chat/completions?key=secret", "port": 443}
    response = {"content": content, "headers": headers, "timestamp_start": 1.5, "trailers": None}
    return {"type": "http", "request": request, "response": response, "marked": False} | more


def test_flows():
    """Each flow with a fitting response is a recording."""
    page = flow(b"<html>")
    page["response"]["headers"] = []
    data = b"".join(map(tnet, [{"type": "tcp"}, page, flow(), flow(request=None)]))
    first, second = read(FORM, data)
    assert first.name == "flow 3: POST /v1/chat/completions"
    assert second.name == "flow 4"
    assert text(first) == text(second) == "Hello"
    assert "secret" not in repr(first)


def test_old_layout():
    """Older versions have bytes for keys and text for the rest."""
    old = {
        b"request": {b"method": "GET", b"path": 5},
        b"response": {b"content": BODY.encode(), b"headers": []},
    }
    (recording,) = read(FORM, tnet(old))
    assert (recording.name, text(recording)) == ("flow 1: GET", "Hello")


def test_encoded():
    """Content encodings are undone."""
    headers = [[b"content-encoding", b"gzip"]]
    (recording,) = read(FORM, tnet(flow(gzip.compress(BODY.encode()), headers)))
    assert text(recording) == "Hello"


@pytest.mark.parametrize("content", [None, b""])
def test_missing_body(content, monkeypatch):
    """A body that mitmproxy streamed through is missing, and the note says how to keep it."""
    (recording,) = read(FORM, tnet(flow(content)))
    assert codes(recording) == ["missing_body"]
    assert "store_streamed_bodies" in recording.notes[0].message
    without_libraries(monkeypatch)
    (recording,) = read(FORM, tnet(flow(b"\x8b", [[b"content-encoding", b"br"]])))
    assert codes(recording) == ["encoded_body"]


def test_other_dialect():
    (recording,) = read(FORM, tnet(flow(MESSAGES_STREAM.encode())))
    assert codes(recording) == ["other_dialect"]


WHOLE = tnet(flow())


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"", "the file has 0 flows, and no"),
        (b"\n", "the file has 0 flows, and no"),
        (WHOLE[:-9], "cut"),
        (b"99", "damaged"),
        (b"abc", "damaged"),
        (b"x1:a,", "damaged"),
        (b"9:20:abc,wxyz]", "damaged"),
        (b"3:9:x]", "damaged"),
        (b"1:x#", "damaged"),
        (b"1:x^", "damaged"),
        (b"1:x?", "damaged"),
        (b"4:1:a,}", "damaged"),
        (b"1:x,", "no flow"),
        (b"%d:%b#" % (5000, b"9" * 5000), "damaged"),
    ],
)
def test_damaged(data, match):
    """Damage is an error that says where, and what else to try."""
    with pytest.raises(UnknownForm, match=match):
        read(FORM, data, block=1 << 16)


def test_deep():
    """Nesting is bounded."""
    value = None
    for _ in range(200):
        value = [value]
    with pytest.raises(UnknownForm, match="damaged"):
        read(FORM, tnet(value), block=1 << 16)


def test_flows_before_the_damage_come_first():
    flows = FORM.read(iter([WHOLE, WHOLE[:50]]), _mitm.ReadOptions())
    assert text(next(flows)) == "Hello"
    with pytest.raises(UnknownForm, match=f"byte {len(WHOLE)}"):
        next(flows)


def test_huge_flow():
    """A size that is only claimed costs nothing."""
    with pytest.raises(LimitExceeded) as error:
        read(FORM, b"999999999:x", block=99)
    assert error.value.offset == 0
    with pytest.raises(UnknownForm, match="cut"):
        read(FORM, b"999999999:x", block=99, limits=Limits(line=None))


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (WHOLE, 95),
        (b"4464:9:websocket;0:~", 95),
        (b"10:20:30,493 data: {}", 0),
        (b"04:20:03.493 data: {}", 0),
        (b"data: 12:4:type;", 0),
        (b"5\r\ndata:", 0),
        (b"", 0),
    ],
)
def test_looks(head, score):
    assert FORM.looks(head) == score
