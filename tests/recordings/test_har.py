"""HAR: one recording for each fitting entry, and the truth about what is missing."""

from __future__ import annotations

import base64
import gzip
import json
import zlib

import pytest

from streamkit import LimitExceeded, Limits, UnknownForm
from streamkit._json import Decoder
from streamkit.recordings import _har, rebuild
from streamkit.recordings._elements import of_cut
from tests.recordings.making import (
    BODY,
    CHUNKS,
    FINAL,
    MESSAGES_STREAM,
    codes,
    outcomes,
    read,
    sse,
    text,
    without_libraries,
)


FORM = _har.FORMS[0]
EVENT_STREAM = "text/event-stream"


def entry(content=None, *, url="https://api.example/v1/chat/completions?key=k", **more):
    content = {"mimeType": EVENT_STREAM, "text": BODY} if content is None else content
    request = {"method": "POST", "url": url, "postData": {"text": '{"choices": [1]}'}}
    return {"request": request, "response": {"content": content}, **more}


def har(*entries, creator="WebInspector", indent=None):
    log = {"version": "1.2", "creator": {"name": creator, "version": "1"}, "pages": []}
    return json.dumps({"log": log | {"entries": list(entries)}}, indent=indent).encode()


def messages(*texts, start=100.0, **fields):
    return [
        {"time": start + number, "eventName": "message", "eventId": "", "data": data, **fields}
        for number, data in enumerate(texts)
    ]


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_stream(indent):
    """An entry of an event stream is a recording, whatever else the HAR has."""
    picture = entry({"mimeType": "image/png", "size": 3})
    recordings = read(FORM, har(picture, entry(), indent=indent))
    assert [each.name for each in recordings] == ["entry 2: POST /v1/chat/completions"]
    assert text(recordings[0]) == "Hello"
    assert codes(recordings[0]) == []
    assert recordings[0].pieces[0].place == "entry 2"


@pytest.mark.parametrize(
    "content",
    [
        {"mimeType": "text/event-stream; charset=utf-8", "text": BODY},
        {
            "mimeType": EVENT_STREAM,
            "text": base64.b64encode(BODY.encode()).decode(),
            "encoding": "base64",
        },
        {
            "mimeType": EVENT_STREAM,
            "text": base64.b64encode(gzip.compress(BODY.encode())).decode(),
            "encoding": "base64",
        },
        {"mimeType": "application/json", "text": json.dumps(FINAL)},
        {"mimeType": "application/x-ndjson", "text": "\n".join(map(json.dumps, CHUNKS))},
        {"mimeType": "text/plain", "text": BODY},
        {"text": BODY},
    ],
    ids=["charset", "base64", "gzip", "final", "ndjson", "plain", "no type"],
)
def test_kinds_of_content(content):
    """Streams and completions fit, however they are kept."""
    (recording,) = read(FORM, har(entry(content)))
    assert text(recording) == "Hello"


def test_type_from_header():
    """Without a type of the content, the header tells."""
    response = {"content": {}, "headers": [{"name": "Content-Type", "value": EVENT_STREAM}]}
    (recording,) = read(FORM, har(entry() | {"response": response}))
    assert codes(recording) == ["missing_body"]


def test_error_body():
    """An error in place of a completion is its outcome."""
    content = {"mimeType": "application/json", "text": '{"error": {"message": "no"}}'}
    (recording,) = read(FORM, har(entry(content)))
    assert outcomes(recording)[0].error.payload == {"message": "no"}
    with pytest.raises(UnknownForm, match="the HAR has 1 entry, and no"):
        read(FORM, har(entry(content, url="https://api.example/other")), block=100)


def test_times():
    """Chrome's times go to the events of the text, in order."""
    body = ": hello\n\n" + BODY.replace("\n\n", "\r\n\r\n", 1)
    data = [json.dumps(each) for each in CHUNKS] + ["[DONE]"]
    content = {"mimeType": EVENT_STREAM, "text": body}
    (recording,) = read(FORM, har(entry(content, _eventSourceMessages=messages(*data))))
    assert [piece.time for piece in recording.pieces] == [None, 100.0, 101.0, 102.0, 103.0]
    assert b"".join(piece.data for piece in recording.pieces) == body.encode()


@pytest.mark.parametrize(
    ("started", "first"),
    [
        pytest.param("1970-01-01T00:01:38.500Z", 1.5, id="as Chrome writes it"),
        pytest.param("2026-12-01T00:00:00.000Z", None, id="another clock"),
        pytest.param("1970-01-01T00:01:41.000Z", None, id="later"),
        pytest.param("today", None, id="no time"),
        pytest.param(None, None, id="none"),
    ],
)
def test_times_since_the_request(started, first):
    """An entry says when its request was sent; what does not fit its events is left out."""
    found = messages(*map(json.dumps, CHUNKS), "[DONE]", start=100.0)
    data = har(entry(_eventSourceMessages=found, startedDateTime=started))
    (outcome,) = rebuild(data)
    assert outcome.timing.origin != "request" if first is None else "request"
    assert outcome.timing.first_chunk == (first or 100.0)


def test_times_of_a_cut_stream():
    """An event that the recording cut was no event for Chrome: it has no time, and stays."""
    body = sse(CHUNKS[0], done=False) + 'data: {"id'
    content = {"mimeType": EVENT_STREAM, "text": body}
    found = messages(json.dumps(CHUNKS[0]))
    (recording,) = read(FORM, har(entry(content, _eventSourceMessages=found)))
    assert [piece.time for piece in recording.pieces] == [100.0, None]
    assert "cut_value" in outcomes(recording)[0].issue_counts


def test_more_times_than_events():
    """Times that cannot be told apart are left out, with a note."""
    found = messages(*["x"] * 9)
    (recording,) = read(FORM, har(entry(_eventSourceMessages=found)))
    assert codes(recording) == ["uneven_times"]
    assert text(recording) == "Hello"


def test_messages_alone():
    """Where the text is missing, Chrome's events stand in for it."""
    data = [json.dumps(CHUNKS[0], indent=1), *map(json.dumps, CHUNKS[1:]), "[DONE]"]
    found = messages(*data)
    found[1] |= {"eventName": "chunk", "eventId": "7", "time": None}
    (recording,) = read(FORM, har(entry({"mimeType": EVENT_STREAM}, _eventSourceMessages=found)))
    assert text(recording) == "Hello"
    assert [piece.time for piece in recording.pieces] == [100.0, None, 102.0, 103.0]
    assert recording.pieces[1].data.startswith(b"event: chunk\nid: 7\ndata: {")


@pytest.mark.parametrize(
    ("creator", "advice"),
    [
        ("WebInspector", "with sensitive data"),
        ("mitmproxy", "store_streamed_bodies"),
        ("Playwright", "content: 'embed'"),
        ("Firefox", "includeResponseBodies"),
        ("other", "with response bodies"),
    ],
)
def test_missing_body(creator, advice):
    """What is missing is said, with the way to record it right."""
    sanitised = entry({"mimeType": EVENT_STREAM, "size": 9}, _eventSourceMessages=[{"time": 1.0}])
    (recording,) = read(FORM, har(sanitised, creator=creator))
    assert codes(recording) == ["missing_body"]
    assert advice in recording.notes[0].message
    assert recording.pieces == ()


def test_bad_base64():
    """A body that cannot be read is said to be so, once."""
    content = {"mimeType": EVENT_STREAM, "text": "ü", "encoding": "base64"}
    (recording,) = read(FORM, har(entry(content)))
    assert codes(recording) == ["bad_base64"]


def test_other_dialect():
    """An entry in another dialect is named and left as it is."""
    content = {"mimeType": EVENT_STREAM, "text": MESSAGES_STREAM}
    (recording,) = read(FORM, har(entry(content)))
    assert codes(recording) == ["other_dialect"]
    assert recording.pieces == ()


def misread(text, charset="latin-1"):
    return text.encode().decode(charset)


@pytest.mark.parametrize("charset", ["latin-1", "cp1252"])
def test_mojibake(charset):
    """UTF-8 read as Latin-1 is noticed, and put right when asked for."""
    body = misread(sse({"choices": [{"index": 0, "delta": {"content": "naïve €"}}]}), charset)
    data = har(entry({"mimeType": EVENT_STREAM, "text": body}))
    (recording,) = read(FORM, data)
    assert codes(recording) == ["mojibake"]
    assert text(recording) == misread("naïve €", charset)
    (recording,) = read(FORM, data, fix_mojibake=True)
    assert codes(recording) == ["mojibake"]
    assert text(recording) == "naïve €"


@pytest.mark.parametrize("content", ["naïve", "日本", "plain", "€"])
def test_no_mojibake(content):
    """Text that was read right is left alone, even when asked."""
    body = sse({"choices": [{"index": 0, "delta": {"content": content}}]})
    (recording,) = read(FORM, har(entry({"text": body})), fix_mojibake=True)
    assert codes(recording) == []
    assert text(recording) == content


def test_no_mojibake_at_a_cut():
    """A single letter at the very end is no half of another."""
    (recording,) = read(FORM, har(entry({"mimeType": EVENT_STREAM, "text": "data: é"})))
    assert codes(recording) == []


def test_a_style_sheet_is_no_stream():
    """A body that begins with a colon is no comment of a stream."""
    sheet = entry({"mimeType": "text/css", "text": ":root {\n  id: 5\n}"})
    assert len(read(FORM, har(sheet, entry()))) == 1


def test_names_hold_no_secrets():
    """Neither query nor host nor headers come into names and notes."""
    urls = [
        "https://u:secret@a.example/v1/completions?key=secret#secret",
        "http://[secret",
        5,
        "/a\x1bb",
    ]
    entries = [entry(url=url) for url in urls]
    for each in entries:
        each["response"]["headers"] = [{"name": "set-cookie", "value": "secret"}]
    recordings = read(FORM, har(*entries))
    assert [each.name for each in recordings] == [
        "entry 1: POST /v1/completions",
        "entry 2: POST",
        "entry 3: POST",
        "entry 4: POST /a\\x1bb",
    ]
    assert "secret" not in repr([(each.name, each.notes) for each in recordings])


def test_strange_entries():
    """Entries with parts of the wrong type are read as far as they make sense."""
    strange = [
        {},
        {"request": [], "response": None},
        {"response": {"content": {"mimeType": 5, "text": 5}, "headers": [5, ["a"], ["b", 5]]}},
    ]
    recordings = read(FORM, har(*strange, entry(_eventSourceMessages=[5])))
    assert [each.name for each in recordings] == ["entry 4: POST /v1/chat/completions"]


def test_block_borders():
    """Escapes, brackets in strings and block borders do not confuse the cutting."""
    content = 'a\\"b\\\\' + "\\" * 9 + '}]{["' * 5
    body = sse({"choices": [{"index": 0, "delta": {"content": content}}]})
    data = har(entry({"mimeType": EVENT_STREAM, "text": body}), entry())
    for size in range(1, 60):
        first, second = read(FORM, data, block=size)
        assert text(first) == content
        assert text(second) == "Hello"


def test_cut_har():
    """What is whole comes first; then what there is of the last entry, and that it was cut."""
    data = har(entry(), entry())
    start = len(har(entry())) - len(b"]}}")
    kept = 0
    for end in range(start + 4, len(data) - 3, 3):
        first, last = read(FORM, data[:end], block=1000)
        assert (text(first), codes(first)) == ("Hello", [])
        assert codes(last)[-1] == "cut_file"
        (body,) = [piece.data for piece in last.pieces] or [b""]
        assert BODY.encode().startswith(body)
        assert kept <= len(body)
        kept = len(body)
    assert kept == len(BODY)


def test_cut_in_the_first_entry():
    """An only entry that is cut is read as far as it goes; before its body there is nothing."""
    data = har(entry())
    (recording,) = read(FORM, data[: data.index(b"[DONE]")], block=1000)
    assert (text(recording), codes(recording)) == ("Hello", ["cut_file"])
    with pytest.raises(UnknownForm, match="cut"):
        read(FORM, data[: data.index(b'"request"')], block=1000)


@pytest.mark.parametrize(
    ("cut", "value"),
    [
        (b'{"a": "x\\u00', {"a": "x"}),
        (b'{"a": "x\\\\', {"a": "x\\"}),
        (b'{"a": "\xf0\x9f', {"a": ""}),
        (b'{"a": [1, 2', {"a": [1, 2]}),
        (b'{"a": [1, ', {"a": [1]}),
        (b'{"a": -', {"a": None}),
        (b'{"a": tr', {"a": None}),
        (b'{"a": ', {"a": None}),
        (b'{"a": {}, "b"', {"a": {}, "b": None}),
        (b'{"a": {}, "b', {"a": {}, "b": None}),
        (b'{"a": 1}]', None),
    ],
)
def test_of_cut(cut, value):
    """What is open is closed, and of what is half nothing is made up."""
    assert of_cut(cut, Decoder()) == value


def test_what_follows_the_entries_is_not_read():
    """Objects after the list of entries are none."""
    data = har(entry()).replace(b"]}}", b'], "more": [{}]}}')
    assert len(read(FORM, data)) == 1
    blocks = iter([data, b'{"x": 1}'])
    assert len(list(FORM.read(blocks, _har.ReadOptions()))) == 1


@pytest.mark.parametrize(
    ("data", "error", "match"),
    [
        (b'{"log":{"entries":[]}}', UnknownForm, "the HAR has 0 entries"),
        (b'{"log":{}}', UnknownForm, "lacks the list"),
        (
            b'{"log":{"entries":[{"a":' + b"[" * 99 + b"]" * 99 + b"}]}}",
            UnknownForm,
            "entry 1 cannot",
        ),
        (b'{"log":{"entries":[{"a" 5}]}}', UnknownForm, "entry 1 cannot be read"),
        (b'{"log":{"entries":[{"a":"' + b"x" * (65 << 20), LimitExceeded, "line"),
        (b'{"log":{"x":"' + b"x" * (65 << 20), LimitExceeded, "line"),
    ],
    ids=["empty", "no entries", "deep", "broken", "huge entry", "huge head"],
)
def test_hostile(data, error, match):
    """What cannot be read is one of the package's errors."""
    with pytest.raises(error, match=match):
        read(FORM, data, block=1 << 20)


def test_no_limits():
    """Without limits nothing is counted."""
    assert len(read(FORM, har(entry()), limits=Limits(line=None))) == 1


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (har(entry()), 95),
        (har(entry(), indent=1), 95),
        (b'{"log": {"version": "1.2", "x": 1', 50),
        (b'{"x":1,"entries":[{"startedDateTime":1}]', 80),
        (b'{"entries":[1]}', 0),
        (BODY.encode(), 0),
        (b'data: {"log": {"entries": []}}', 0),
        (b'{"log":"data: {}\\n","stream":"stdout","time":"t"}', 0),
        (json.dumps(FINAL).encode(), 0),
        (b"", 0),
    ],
)
def test_looks(head, score):
    """A HAR is told from what merely contains such text."""
    assert FORM.looks(head) == score


@pytest.mark.parametrize("name", ["_eventSourceMessages", "_eventStreamMessages"])
def test_names_of_messages(name):
    """Events are found by either name; what is no list is none."""
    data = [json.dumps(each) for each in CHUNKS] + ["[DONE]"]
    content = {"mimeType": EVENT_STREAM}
    (recording,) = read(FORM, har(entry(content, **{name: messages(*data)})))
    assert text(recording) == "Hello"
    for wrong in (3, {"data": "x"}, None, "x", []):
        (recording,) = read(FORM, har(entry(**{name: wrong})))
        assert text(recording) == "Hello"


@pytest.mark.parametrize(
    "content",
    [
        {"text": base64.urlsafe_b64encode(BODY.encode()).decode().rstrip("=")},
        {"text": base64.encodebytes(BODY.encode()).decode(), "encoding": "Base64"},
        {"text": json.dumps([base64.b64encode(BODY.encode()).decode()])},
        {
            "text": json.dumps(
                [base64.b64encode(part.encode()).decode() for part in BODY.partition("}")]
            )
        },
        {"text": json.dumps([gzip.compress(BODY.encode()).hex()]), "encoding": None},
    ],
    ids=["url-safe", "in lines", "a part", "parts", "hexadecimal"],
)
def test_bodies_as_text(content):
    """However a proxy or Polly.js writes the bytes of a body."""
    content = {"mimeType": EVENT_STREAM, "encoding": "base64"} | content
    (recording,) = read(FORM, har(entry(content)))
    assert text(recording) == "Hello"


def test_compressed_by_header(monkeypatch):
    """What the header says of the encoding counts for bytes in base64."""
    without_libraries(monkeypatch)
    for value, raw in (("deflate", zlib.compress(BODY.encode())), ("br", b"\x8b\x05\x80abc")):
        content = {
            "mimeType": EVENT_STREAM,
            "text": base64.b64encode(raw).decode(),
            "encoding": "base64",
        }
        response = {"content": content, "headers": [{"name": "Content-Encoding", "value": value}]}
        (recording,) = read(FORM, har(entry() | {"response": response}))
        assert codes(recording) == ([] if value == "deflate" else ["encoded_body"])


def test_list_that_is_a_body():
    """A list of texts that are no bytes is a body as any other."""
    content = {"mimeType": "application/json", "text": '["abcd", "efgh"]'}
    with pytest.raises(UnknownForm, match="the HAR has 1 entry, and no"):
        read(FORM, har(entry(content)), block=100)


def test_cut_between_entries():
    """The list has no end: whether there was another entry is not known, and is said."""
    data = har(entry(), entry())
    start = len(har(entry())) - len(b"]}}")
    for end in range(start, start + len(b", ") + 1):
        first, last = read(FORM, data[:end], block=1000)
        assert (text(first), codes(first)) == ("Hello", [])
        assert (codes(last), last.pieces) == (["cut_file"], ())
        assert "more may be lost" in last.notes[0].message
    for end in range(len(data) - 2, len(data)):  # the list has its end
        assert [codes(each) for each in read(FORM, data[:end], block=1000)] == [[], []]
    with pytest.raises(UnknownForm, match="before its list"):
        read(FORM, data[: data.index(b'{"request"')], block=1000)
