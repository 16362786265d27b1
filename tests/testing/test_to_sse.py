r"""`to_sse` writes what the HTML standard reads."""

from __future__ import annotations

import itertools
import json

import pytest

from streamkit import ChunkReader, InvalidChunk, ServerSentEvent, SSEParser, from_dict, rebuild
from streamkit.testing import DIALECTS, Dialect, chunk_up, to_sse
from tests.merging import Dumped, chunk

from . import chat, said


CHUNKS = [{"choices": [], "x": "a\nb\u2028é"}, {"choices": [], "x": 2}]


def parsed(data):
    parser = SSEParser()
    return parser.feed(data) + parser.finish(), parser


@pytest.mark.parametrize(
    ("newline", "space", "bom", "ascii", "ids"),
    [*itertools.product(["\n", "\r\n", "\r"], *[[True, False]] * 4)],
)
def test_each_way_says_the_same(newline, space, bom, ascii, ids):
    """However it is written, the events are the same."""
    data = to_sse(CHUNKS, newline=newline, space=space, bom=bom, ascii=ascii, ids=ids)
    events, _ = parsed(data)
    assert [json.loads(event.data) for event in events[:-1]] == CHUNKS
    assert events[-1].data == "[DONE]"
    assert [event.id for event in events] == (["0", "1", "2"] if ids else [""] * 3)
    assert data.startswith(b"\xef\xbb\xbf") is bom
    assert data.isascii() is (ascii and not bom)
    reader = ChunkReader()
    assert reader.feed(data) + reader.finish() == CHUNKS
    assert (reader.done, reader.issues) == (True, ())


def test_letter():
    """The bytes are these."""
    assert (
        to_sse([{"a": "é"}], retry=5, ids=lambda n: f"e{n}", event="x", comments="hi")
        == (
            'retry: 5\n\n: hi\n\nid: e0\nevent: x\ndata: {"a":"é"}\n\n'
            ": hi\n\nid: e1\nevent: x\ndata: [DONE]\n\n: hi\n\n"
        ).encode()
    )
    assert to_sse([], done=False) == b""


def test_comments():
    """Comments come where they are wanted, line by line, and change nothing."""
    data = to_sse(CHUNKS, comments={0: "a\nb", 2: "before the end", 3: "last"}, space=False)
    assert data.startswith(b":a\n:b\n\ndata:")
    assert data.endswith(b":before the end\n\ndata:[DONE]\n\n:last\n\n")
    assert parsed(data)[1].comments == 4
    assert parsed(data)[0] == parsed(to_sse(CHUNKS))[0]


def test_events_of_another_shape():
    """`ServerSentEvent`s are written as they are; data may have lines."""
    events = [ServerSentEvent("error", "no\nluck", "7", None), chunk()]
    first, second = parsed(to_sse(events, done=False))[0]
    assert (first.event, first.data, first.id) == ("error", "no\nluck", "7")
    assert json.loads(second.data) == chunk()


def test_models_and_dumps():
    """Models and pydantic-like objects are written as dicts are."""
    plain = chunk({"index": 0, "delta": {"content": "a"}})
    assert to_sse([from_dict(plain)]) == to_sse([Dumped(plain)]) == to_sse([plain])


def test_half_a_pair():
    """Half a surrogate pair is escaped, and comes back."""
    chunks = chunk_up(chat(said("😀😀")), size=1, surrogates=True)
    data = to_sse(chunks)
    assert b"\\ud83d" in data
    outcome = rebuild(data)
    assert (outcome.response.choices[0].message.content, outcome.issues) == ("😀😀", ())


@pytest.mark.parametrize("name", DIALECTS)
def test_dialect(name):
    """What a dialect has on the wire is there."""
    data = to_sse(CHUNKS, dialect=name)
    assert data.endswith(b"data: [DONE]\n\n") is DIALECTS[name].done
    assert data.startswith(b": ") is bool(DIALECTS[name].comments)
    assert to_sse(CHUNKS, dialect=name, done=True, comments={}) == to_sse(CHUNKS)
    assert to_sse(CHUNKS, dialect=Dialect(name="mine", done=False)) == to_sse(CHUNKS, done=False)


@pytest.mark.parametrize(
    "wrong", [5, None, "x", [], {"x": float("nan")}, {"x": b""}, {"x": float("inf")}, Dumped(5)]
)
def test_no_chunk(wrong):
    """What is no JSON object is refused, with its number."""
    with pytest.raises(InvalidChunk, match="chunk 1 is") as caught:
        to_sse([chunk(), wrong])
    assert caught.value.path == "$[1]"


def test_too_deep():
    """Nesting deeper than the interpreter can write is refused."""
    deep = []
    for _ in range(200_000):
        deep = [deep]
    with pytest.raises(InvalidChunk, match="no JSON"):
        to_sse([{"x": deep}])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"newline": "\n\n"}, "newline must be"),
        ({"comments": 5}, "comments must be"),
        ({"retry": -1}, "retry must be"),
        ({"retry": True}, "retry must be"),
        ({"event": "a\nb"}, "no newline"),
        ({"ids": lambda _: "a\rb"}, "no newline"),
        ({"ids": lambda _: "a\0"}, "no NUL"),
        ({"dialect": "nobody"}, "dialect must be"),
    ],
)
def test_wrong_arguments(options, text):
    """A wrong argument is a TypeError that says what is right."""
    with pytest.raises(TypeError, match=text):
        to_sse(CHUNKS, **options)


def test_an_event_of_its_own_shape():
    """All that it has is written, and read again."""
    event = ServerSentEvent("error", "a\nb", "7", 50)
    data = to_sse([event], done=False)
    assert data == b"id: 7\nevent: error\nretry: 50\ndata: a\ndata: b\n\n"
    assert SSEParser().feed(data) == [event]
    with pytest.raises(TypeError, match="retry must be milliseconds"):
        to_sse([ServerSentEvent("", "a", "", -1)])
