"""`Playback`: what is sent when, made of bytes, chunks and recordings."""

from __future__ import annotations

import io
import json
import math

from pathlib import Path

import attrs
import pytest

from streamkit import EmptyStream, UnknownForm, from_dict, rebuild
from streamkit.testing import Block, Playback
from streamkit.testing._playable import playback_of

from .streams import CHUNKS, RESPONSE, TEXT, WORDS, chunk, sse


EXAMPLES = Path(__file__).parents[2] / "examples"


def text_of(playback):
    return playback.outcome.response.choices[0].message.content


# -- Arguments -----------------------------------------------------------------------

WRONG = [
    lambda: Block("text"),
    lambda: Block(b"", -1),
    lambda: Block(b"", math.nan),
    lambda: Block(b"", "1"),
    lambda: Block(b"", delay=True),
    lambda: Playback([b"bytes"]),
    lambda: Playback([], status=100),
    lambda: Playback([], status=600),
    lambda: Playback([], status=True),
    lambda: Playback([], status="200"),
    lambda: Playback([], content_type="a\r\nX: y"),
    lambda: Playback([], content_type=None),
    lambda: Playback([], headers=[("Name", "a\nb")]),
    lambda: Playback([], headers=[("Na me", "a")]),
    lambda: Playback([], headers=[("", "a")]),
    lambda: Playback([], headers={"Name": 1}),
    lambda: Playback([], headers={1: "a"}),
    lambda: Playback([], headers={"content-length": "5"}),
    lambda: Playback([], headers={"Name": "\u20ac"}),
    lambda: Playback([], headers=5),
    lambda: Playback([], headers=[1]),
    lambda: Playback([], headers=["abc"]),
    lambda: Playback(5),
    lambda: Playback([], end="end"),
    lambda: Playback([], end=[]),
    lambda: Playback([], gzip="no"),
    lambda: Playback.from_bytes("text"),
    lambda: Playback.from_bytes(b"", per_second=0),
    lambda: Playback.from_bytes(b"", per_second=None),
    lambda: Playback([]).at_speed(0),
    lambda: Playback([]).at_speed(-1),
    lambda: Playback([]).at_rate("5"),
    lambda: playback_of(None),
    lambda: playback_of(5),
]


@pytest.mark.parametrize("make", WRONG)
def test_wrong_argument(make):
    """It is refused where it is given, not later in a thread of the server."""
    with pytest.raises(TypeError):
        make()


def test_headers_are_pairs():
    """In any of the two ways in which they are given."""
    pairs = (("X-Request-Id", "r-1"), ("Retry-After", "1"))
    assert Playback([], headers=dict(pairs)).headers == pairs
    assert Playback([], headers=[list(pair) for pair in pairs]).headers == pairs


def test_what_is_given_is_not_kept():
    """A buffer that changes later changes no playback."""
    data = bytearray(b"data: {}\n\n")
    block = Block(data)
    data[:] = b"x" * len(data)
    assert block.data == b"data: {}\n\n"


# -- Bytes and chunks ----------------------------------------------------------------


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_block_for_each_event(newline):
    """With the blank lines behind it, however many; and nothing is lost."""
    events = ["data: 1\n\n", ": ping\n\n\n", "event: x\ndata: 2\n\n", "data: 3"]
    data = [event.replace("\n", newline).encode() for event in events]
    assert [block.data for block in Playback.from_bytes(b"".join(data)).blocks] == data


def test_no_bytes():
    """An empty body."""
    assert Playback.from_bytes(b"").blocks == ()
    assert Playback.from_bytes(b"").duration == 0


def test_from_chunks():
    """They come back, whatever kind they are of."""
    for chunks in (CHUNKS, iter(CHUNKS), [from_dict(one) for one in CHUNKS]):
        playback = Playback.from_chunks(chunks)
        assert text_of(playback) == TEXT
        assert playback.outcome.complete
        assert len(playback.blocks) == len(CHUNKS) + 1


def test_rate():
    """So many blocks a second, the first at once."""
    playback = Playback.from_chunks(CHUNKS, per_second=4)
    assert [block.delay for block in playback.blocks] == [0.0, *[0.25] * len(CHUNKS)]
    assert playback.duration == 0.25 * len(CHUNKS)
    assert not playback.at_rate(math.inf).duration


def test_speed():
    """Twice as fast; at once; and a wait for ever stays one."""
    playback = Playback([Block(b"a", 1.0), Block(b"b", 0.0), Block(b"c", math.inf)])
    assert [block.delay for block in playback.at_speed(2).blocks] == [0.5, 0.0, math.inf]
    timed = Playback([Block(b"a", 1.0)])
    assert timed.at_speed(math.inf).duration == 0
    assert [block.delay for block in playback.at_speed(math.inf).blocks] == [0.0, 0.0, math.inf]


# -- Recordings ----------------------------------------------------------------------


def timed_lines(*times, chunks=CHUNKS):
    pairs = zip(times, chunks, strict=False)
    return "".join(json.dumps({"t": time, "chunk": one}) + "\n" for time, one in pairs).encode()


def delays(data, **options):
    playback = Playback.from_recording(io.BytesIO(data), **options)
    return [round(block.delay, 6) for block in playback.blocks]


def test_bytes_of_a_recording_are_sent_as_they_are():
    """Ids, comments, the newlines: nothing is framed anew."""
    data = (
        b": hi\r\n\r\nid: 7\r\ndata: " + json.dumps(chunk("x")).encode() + b"\r\n\r\ndata: [DONE]"
    )
    assert Playback.from_recording([data]).data == data


@pytest.mark.parametrize("name", ["chat.sse", "tools.sse", "cut.sse", "error.sse"])
def test_recording_in_a_file(name):
    """By its path, as text too."""
    path = EXAMPLES / name
    for source in (path, str(path)):
        assert Playback.from_recording(source).data == path.read_bytes()


def test_recorded_times():
    """They are kept; those that count from the request have its wait, too."""
    assert delays(timed_lines(0.5, 0.75, 1.75)) == [0.5, 0.25, 1.0]
    assert delays(timed_lines(1.8e9, 1.8e9 + 0.5)) == [0.0, 0.5]
    assert delays(timed_lines(0.5, 0.75, 1.75), speed=2) == [0.25, 0.125, 0.5]
    assert delays(timed_lines(0.5, 0.75), speed=math.inf) == [0.0, 0.0]


def test_a_clock_that_goes_backwards():
    """It stands still until it is right again: no wait is made longer."""
    assert delays(timed_lines(10.0, 11.0, 5.0, 11.5)) == [10.0, 1.0, 0.0, 0.5]


def test_form_that_keeps_chunks():
    """It is framed, and ends with [DONE] if the stream is complete."""
    lines = [json.dumps(one) for one in CHUNKS]
    playback = Playback.from_recording(io.BytesIO("\n".join(lines).encode()))
    assert playback.data == sse(
        *(json.dumps(one, separators=(",", ":")) for one in CHUNKS), "[DONE]"
    )
    cut = Playback.from_recording(io.BytesIO("\n".join(lines[:3]).encode()))
    assert b"[DONE]" not in cut.data
    assert text_of(cut) == "".join(WORDS[:3])


def test_error_in_a_form_that_keeps_chunks():
    """It is sent as the server sent it, and nothing pretends that the stream was whole."""
    lines = [json.dumps(CHUNKS[0]), json.dumps({"error": {"message": "overloaded"}})]
    playback = Playback.from_recording(io.BytesIO("\n".join(lines).encode()))
    assert playback.outcome.error.payload == {"message": "overloaded"}
    assert b"[DONE]" not in playback.data


def test_one_whole_response():
    """It was no stream, and is not sent as one."""
    playback = Playback.from_recording(io.BytesIO(json.dumps(RESPONSE).encode()))
    assert playback.content_type == "application/json"
    assert json.loads(playback.data) == RESPONSE
    assert playback.unstreamed() is playback


def test_other_forms():
    """A HAR file with two exchanges: a playback for each."""
    bodies = [sse(json.dumps(chunk(word, finish="stop")), "[DONE]").decode() for word in WORDS[:2]]
    entries = [
        {"response": {"status": 200, "content": {"mimeType": "text/event-stream", "text": body}}}
        for body in bodies
    ]
    data = json.dumps({"log": {"version": "1.2", "entries": entries}}).encode()
    playbacks = list(Playback.all_from_recording(io.BytesIO(data)))
    assert [text_of(playback) for playback in playbacks] == WORDS[:2]
    assert text_of(Playback.from_recording(io.BytesIO(data), form="har")) == WORDS[0]


def test_no_stream_in_a_recording():
    """An error that says why."""
    with pytest.raises(EmptyStream, match="no stream in the recording"):
        Playback.from_recording([b""])
    other = b'event: message_start\ndata: {"type":"message_start"}\n\n'
    entry = {"response": {"content": {"mimeType": "text/event-stream", "text": other.decode()}}}
    har = json.dumps({"log": {"version": "1.2", "entries": [entry]}}).encode()
    with pytest.raises(EmptyStream, match="this is the Messages API"):
        Playback.from_recording([har])
    assert not list(Playback.all_from_recording([har]))


def test_what_is_no_recording(tmp_path):
    """The errors are those of reading."""
    with pytest.raises(FileNotFoundError):
        Playback.from_recording(tmp_path / "none.sse")
    with pytest.raises(UnknownForm):
        Playback.from_recording([b"x"], form="none")


def test_text_that_is_no_stream():
    """What cannot be read is played nevertheless: garbage is a test too."""
    assert Playback.from_recording([b"<html>busy</html>"]).data == b"<html>busy</html>"


# -- Without a stream ----------------------------------------------------------------


def test_unstreamed():
    """The full response, as JSON."""
    whole = Playback.from_chunks(CHUNKS).unstreamed()
    assert (whole.status, whole.content_type) == (200, "application/json")
    assert json.loads(whole.data)["choices"][0]["message"]["content"] == TEXT


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"message": "busy", "code": 529}, 529),
        ({"message": "busy", "code": "busy"}, 500),
        ({"message": "busy", "code": 200}, 500),
        ({"message": "busy", "code": True}, 500),
        ("busy", 500),
    ],
)
def test_unstreamed_error(error, status):
    """The error, with the status that it names if that is one."""
    playback = Playback.from_chunks([chunk("x"), {"error": error}]).unstreamed()
    assert (playback.status, json.loads(playback.data)) == (status, {"error": error})


def test_unstreamed_nothing():
    """An error that says so: no response is invented."""
    playback = Playback.from_bytes(b": ping\n\n").unstreamed()
    assert playback.status == 500
    assert json.loads(playback.data)["error"]["message"] == "the playback has no chunks"


@pytest.mark.parametrize(
    "playback",
    [
        Playback([Block(b"{}")], status=429, content_type="application/json"),
        Playback([Block(b"data: {}\n\n")], status=500),
        Playback([Block(b"data: {}\n\n")], content_type="text/html"),
    ],
)
def test_what_is_no_stream_stays(playback):
    """An answer that is an error, or of another type, is the same in both cases."""
    assert playback.unstreamed() is playback


def test_unstreamed_ends_alike():
    """Transport faults go with it."""
    playback = attrs.evolve(
        Playback.from_chunks(CHUNKS), end="reset", content_type="text/event-stream; charset=utf-8"
    )
    assert playback.unstreamed().end == "reset"


# -- Whatever can be played ----------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        Playback.from_chunks(CHUNKS),
        CHUNKS,
        iter(CHUNKS),
        [from_dict(one) for one in CHUNKS],
        RESPONSE,
        from_dict(RESPONSE),
        Playback.from_chunks(CHUNKS).data,
        bytearray(Playback.from_chunks(CHUNKS).data),
        Playback.from_chunks(CHUNKS).data.decode(),
    ],
    ids=lambda source: type(source).__name__,
)
def test_playback_of(source):
    """Each is played so that it gives the answer."""
    assert text_of(playback_of(source)) == TEXT


def test_playback_of_a_path():
    """A recording."""
    outcome = rebuild(EXAMPLES / "chat.sse")
    assert playback_of(EXAMPLES / "chat.sse").outcome.response == outcome.response


def test_playback_of_one_chunk():
    """It is a stream of one."""
    assert text_of(playback_of(chunk("Hi"))) == "Hi"
