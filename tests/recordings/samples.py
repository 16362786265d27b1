"""A made-up stream, and what becomes of a recording of it, for the readers of text."""

from __future__ import annotations

import json

import pytest

from streamkit import rebuild_all
from streamkit.recordings._pieces import ReadOptions


def chunk(id="chatcmpl-1", finish=None, **delta):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": id, "object": "chat.completion.chunk", "model": "m-1", "choices": [choice]}


def event(payload):
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


CHUNKS = [
    chunk(role="assistant", content=""),
    chunk(content="Hel. "),
    chunk(content="lo"),
    chunk(finish="stop"),
]
TEXT = "Hel. lo"
EVENTS = [*map(event, CHUNKS), b"data: [DONE]\n\n"]
BODY = b"".join(EVENTS)
LINES = BODY.splitlines()

# What is none of the text forms, though it has marks of some.
NEAR_MISSES = {
    "empty": b"",
    "blank": b"\n\n\n",
    "sse": BODY,
    "sse with a comment": b": OK 1\n\n" + BODY,
    "sse with ids": b"retry: 5\nid: 1\nevent: message\n" + BODY,
    "sse in crlf": BODY.replace(b"\n", b"\r\n"),
    "sse whose text is like a prefix": event(chunk(content="04:20:03 data: {")) + BODY,
    "sse whose text is like a status": event(chunk(content="HTTP/1.1 200 OK\r\nA: b")) + BODY,
    "sse whose text is like curl": event(chunk(content="\n< HTTP/1.1 200 OK\n* x\n")) + BODY,
    "sse whose text has a fence": event(chunk(content="```\ndata: {}\n```")) + BODY,
    "sse whose text is quoted": event(chunk(content="> data: {“a”: 1}")) + BODY,
    "sse whose text is python": event(chunk(content="{'choices': []}")) + BODY,
    "json lines": b"".join(json.dumps(each).encode() + b"\n" for each in CHUNKS),
    "timed json lines": b'{"t": 1790000000.25, "chunk": {"choices": []}}\n' * 3,
    "an array": json.dumps(CHUNKS, indent=1).encode(),
    "pretty json": json.dumps(CHUNKS[0], indent=2).encode() * 2,
    "docs": b"data: " + json.dumps(CHUNKS[0], indent=2).encode() + b"\n\n...\n\ndata: [DONE]\n",
    "a body in a row": json.dumps({"ts": "2026-11-30", "body": BODY.decode()}).encode() + b"\n",
    "a log in a row": json.dumps({"log": 5, "time": "x", "body": "data: {"}).encode() + b"\n",
    "a cassette": b'interactions:\n- response:\n    body:\n      string: \'data: {"choices"\n\n\n'
    b'        data: {"choices":[]}\n',
    "a table": b'time,body\n2026-11-30T04:20:03Z,"data: {""choices"": []}"\n',
    "prose": b"At 04:20:03 the server sent data: nothing.\nHTTP/1.1 200 OK is good.\n",
    "a header file": b"HTTP/1.1 200 OK is what you want\nchoices\n",
    "html": b"<html><body>data: [DONE]</body></html>\n",
    "hex": b"e8\nthis is no chunk at all\n",
    "python source": b"import x\n{'choices': 1}\n",
    "a log without a stream": b"2026-11-30 04:20:03 INFO started {}\n" * 5,
    "a python log without a stream": b"f(x=1)\n" * 5,
}


def misses(forms):
    """Parametrize a test over all near misses and all of *forms*."""
    return pytest.mark.parametrize(
        ("form", "head"),
        [
            pytest.param(form, head, id=f"{form.name}: {name}")
            for name, head in NEAR_MISSES.items()
            for form in forms
        ],
    )


def named(forms, name):
    return next(form for form in forms if form.name == name)


def blocks(data, size):
    return (data[at : at + size] for at in range(0, len(data), size))


def read(form, data, size=1 << 18, **options):
    """Return the recordings in *data*, each with its pieces in a list."""
    found = list(form.read(blocks(data, size), ReadOptions(**options)))
    return [(each, list(each.pieces)) for each in found]


def joined(pieces):
    return b"".join(piece.data for piece in pieces)


def texts(form, data, size=1 << 18):
    """Return the text of each response in *data*, checking that blocks do not matter."""
    found = [
        [
            outcome.response and outcome.response.choices[0].message.content
            for _, pieces in read(form, data, each)
            for outcome in rebuild_all([piece.data for piece in pieces])
        ]
        for each in (size, 1, 7, 100)
    ]
    assert found.count(found[0]) == len(found)
    return found[0]
