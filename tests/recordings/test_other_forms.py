"""What the core says of recordings that it does not read: which room does."""

from __future__ import annotations

import json

import pytest

from streamkit import FramingError, LiveAccumulator, Stream, _intake, _rebuild, rebuild
from streamkit._other_forms import HEAD
from streamkit.recordings import rebuild as rebuild_recording

from .samples import BODY, CHUNKS


CHUNK = json.dumps(CHUNKS[1])
STREAM = BODY.decode()
HAR = {"response": {"content": {"text": STREAM, "mimeType": "text/event-stream"}}}
ONE = {"request": {"uri": "/"}, "response": {"body": {"string": STREAM}}}
FORMS = {
    "a HAR file": json.dumps({"log": {"version": "1.2", "entries": [HAR]}}, indent=2),
    "a cassette": json.dumps({"version": 1, "interactions": [ONE]}),
    "a container's log": json.dumps({"log": STREAM, "stream": "stdout", "time": "x"}),
    "an export of the journal": json.dumps({"MESSAGE": CHUNK, "__REALTIME_TIMESTAMP": "1"}),
    "text in UTF-16": STREAM.encode("utf-16"),
    "what curl writes": "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nx\n",
    "a trace of curl's": "17:22:27.941908 == Info:   Trying 127.0.0.1:80...\n",
    "Python text": repr(CHUNKS[1]),
    "a log with times": STREAM.replace("data:", "2026-12-01 00:00:01,5 INFO data:"),
    "the inside of a string": json.dumps(STREAM)[1:-1],
    "a table (CSV)": f'id,body\n1,"{STREAM.replace(chr(34), 2 * chr(34))}"\n',
    "rows of JSON": json.dumps({"id": 1, "body": STREAM}),
    "a stream inside of other text": f"const BODY = [\n  {json.dumps(STREAM)},\n];\n",
}
MORE = {
    "a Parquet file": b"PAR1\x15\x04\x15\x10",
    "a flow file of mitmproxy": b"1879:9:websocket;0:~8:response;",
    "a cassette": b"version: 1\ninteractions:\n- request:\n",
    "what curl writes": b"*   Trying 127.0.0.1:80...\n* Connected\n> GET / HTTP/1.1\n",
    "a container's log": b"2026-12-01T00:00:01.5Z stdout F hello\n",
}
CASES = [
    *((name, text if isinstance(text, bytes) else text.encode()) for name, text in FORMS.items()),
    *MORE.items(),
]
by_case = pytest.mark.parametrize(("name", "data"), CASES)


def told(outcome):
    return [issue.message for issue in outcome.issues if issue.code == "other_form"]


@by_case
def test_told(name, data):
    """Whoever reads one otherwise is told what it looks like, and what reads it."""
    message = f"this looks like {name}; streamkit.recordings.rebuild reads it"
    outcome = rebuild(data)
    assert outcome.response is None
    assert told(outcome) == told(rebuild([b"", data[:9], data[9:]])) == [message]
    for size in (1, 1 << 16):
        with Stream([data[at : at + size] for at in range(0, len(data), size)]) as stream:
            events = list(stream)
        assert told(stream.outcome) == [message]
        assert [event.issue.code for event in events if hasattr(event, "issue")].count(
            "other_form"
        ) == 1


@pytest.mark.parametrize("data", [text for name, text in FORMS.items() if "curl" not in name])
def test_true(data):
    """What it says is so: the stream is read there, and nothing of this is said."""
    outcome = next(rebuild_recording(data))
    assert outcome.response is not None
    assert not told(outcome)


def test_strict():
    """The error is the framing's; beside it stands what to do."""
    har = FORMS["a HAR file"]
    for source in (har, list(har)):
        with pytest.raises(FramingError) as caught:
            rebuild(source, strict=True)
        assert caught.value.__notes__ == [
            "this looks like a HAR file; streamkit.recordings.rebuild reads it"
        ]
    for data in ("data: x\n\n", f"A chunk of a completion:\n{CHUNK}\n"):
        with pytest.raises(FramingError) as caught:
            rebuild(data, strict=True)
        assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"hello",
        BODY,
        b": 1\n\n",
        b'{"error": {"message": "overloaded"}}',
        CHUNK.encode(),
        CHUNK[:60].encode(),
        BODY[:60],
    ],
)
def test_not_told(data):
    """Streams, errors, and what looks like nothing at all, are no such recordings."""
    assert not told(rebuild(data))
    live = LiveAccumulator()
    live.feed(data)
    live.finish()
    assert not told(live.outcome)


@pytest.mark.parametrize("begin", ["", ": PROCESSING\n\n"], ids=["", "comment"])
@pytest.mark.parametrize("kind", [str, bytes])
def test_lines_without_ends(kind, begin):
    """`iter_lines()` takes off what tells events apart; whoever passes it is told."""
    lines = (begin + STREAM).splitlines()
    lines = [line.encode() for line in lines] if kind is bytes else lines
    with Stream(lines) as stream:
        list(stream)
    for outcome in (rebuild(lines), stream.outcome):
        (issue,) = (issue for issue in outcome.issues if issue.code == "bare_lines")
        assert "iter_bytes() in place of iter_lines()" in issue.message
    with pytest.raises(FramingError) as caught:
        rebuild(STREAM.splitlines(), strict=True)
    assert "iter_lines" in caught.value.__notes__[0]
    ended = (begin + STREAM).splitlines(keepends=True)
    assert "bare_lines" not in rebuild(ended).issue_counts
    assert "bare_lines" not in rebuild([STREAM[:9], "", "", STREAM[9:]]).issue_counts


def test_strict_and_live():
    """It is told, and raises nothing of its own."""
    live = LiveAccumulator(strict=True)
    for line in (": ok", "", ": ok", "", ": ok"):
        live.feed(line)
    live.finish()
    assert [issue.code for issue in live.outcome.issues] == ["bare_lines", "empty_stream"]


def test_what_is_whole_is_enough():
    """A log in which the core finds the whole stream needs no other reader."""
    data = "HTTP/1.1 200 OK\r\n\r\n" + STREAM
    live = LiveAccumulator()
    live.feed(data)
    live.finish()
    for outcome in (rebuild(data), live.outcome):
        assert outcome.complete
        assert not told(outcome)


@pytest.mark.parametrize(("size", "seen"), [(HEAD, True), (HEAD + 1, False)])
def test_how_much_is_looked_at(size, seen):
    """So many bytes, however they come; and no more are kept for it."""
    data = b" choices=".rjust(size, b"x")
    blocks = [data[at : at + 1] for at in range(size)]
    kept = []
    with pytest.MonkeyPatch.context() as patch:
        for room in (_rebuild, _intake):
            patch.setattr(room, "hint", lambda first, **_: kept.append(len(first)))
        rebuild(blocks * 2)
        list(Stream(blocks * 2))
    assert kept == [HEAD] * len(kept)
    assert kept
    with Stream(blocks) as stream:
        list(stream)
    for outcome in (rebuild(blocks), stream.outcome):
        assert bool(told(outcome)) is seen
