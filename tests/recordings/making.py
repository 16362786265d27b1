"""Recordings made for the tests, and what the readers make of them."""

from __future__ import annotations

import json

import attrs

import streamkit

from streamkit.recordings import _codecs
from streamkit.recordings._pieces import ReadOptions


def chunk(id="chatcmpl-1", *, finish=None, **delta):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": id, "object": "chat.completion.chunk", "model": "m-1", "choices": [choice]}


def without_libraries(monkeypatch):
    """Let the libraries of the extra `compression` be missing."""

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(_codecs, "import_module", missing)


def sse(*payloads, done=True):
    texts = [json.dumps(payload, ensure_ascii=False) for payload in payloads]
    return "".join(f"data: {text}\n\n" for text in [*texts, *["[DONE]"] * done])


CHUNKS = [chunk(role="assistant", content="Hel"), chunk(content="lo"), chunk(finish="stop")]
BODY = sse(*CHUNKS)
FINAL = {
    "id": "chatcmpl-2",
    "object": "chat.completion",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Hello"},
            "finish_reason": "stop",
        }
    ],
}
MESSAGES_STREAM = 'event: message_start\ndata: {"type":"message_start","message":{}}\n\n'


def lines(*rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def form_of(forms, name):
    return next(form for form in forms if form.name == name)


def read(form, data, *, block=None, **options):
    """Return the recordings of *data*, read in blocks of several sizes, which must not matter."""
    found = [
        _read(form, data, size, options) for size in ([block] if block else [7, 1000, 1 << 20])
    ]
    assert all(each == found[0] for each in found)
    return found[0]


def _read(form, data, size, options):
    blocks = (data[at : at + size] for at in range(0, len(data), size))
    recordings = form.read(blocks, ReadOptions(**options))
    return [attrs.evolve(each, pieces=tuple(each.pieces)) for each in recordings]


def outcomes(recording):
    return list(streamkit.rebuild_all(piece.data for piece in recording.pieces))


def text(recording):
    """Return the text of the first choice of the only stream in *recording*."""
    (outcome,) = outcomes(recording)
    choice = outcome.response.choices[0]
    return choice.message.content if hasattr(choice, "message") else choice.text


def codes(recording):
    return [note.code for note in recording.notes]
