"""Other dialects are named; pickles and binary files are refused with a way out."""

from __future__ import annotations

import base64
import json
import pickle
import time

import pytest

from streamkit import UnknownForm
from streamkit.recordings import _har, _mitm, _parquet, _refused, _rows, _vcr
from streamkit.recordings._dialects import dialect_of, is_stream_text
from streamkit.recordings._pieces import ReadOptions
from tests.recordings.making import BODY, CHUNKS, FINAL, MESSAGES_STREAM, codes, form_of, read


PICKLE, DIALECT, OTHER = _refused.FORMS
ALL = [form for room in (_har, _mitm, _parquet, _refused, _rows, _vcr) for form in room.FORMS]


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("value", [[{"a": 1}], {"a": [1]}, [], {}, "x" * 300, CHUNKS, Exception()])
def test_pickles(protocol, value):
    """Pickles of all protocols are known where they say so; they are never loaded."""
    head = pickle.dumps(value, protocol)
    expected = protocol >= 2 or (isinstance(value, (list, dict)) and protocol == 0)
    assert (PICKLE.looks(head) > 0) >= expected
    with pytest.raises(UnknownForm, match="not read; where you trust it"):
        PICKLE.read(iter([head]), _refused.ReadOptions())


@pytest.mark.parametrize(
    "head",
    [
        b"",
        BODY.encode(),
        b"\x80",
        b"\x80abc",
        b"(see below)",
        b"data: \x80\x04\x95",
        b"}",
        b"[DONE]",
        b"dpkg\n",
    ],
)
def test_no_pickle(head):
    assert PICKLE.looks(head) == 0


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b'event: response.created\ndata: {"type":"response.created"}\n\n', "Responses"),
        (b'data: {"type": "response.output_text.delta", "delta": "Hi"}\n\n', "Responses"),
        (b'{"id":"resp_1","object":"response","output":[]}', "Responses"),
        (MESSAGES_STREAM.encode(), "Messages"),
        (b': hi\n\ndata: {"type":"content_block_delta","index":0}\n\n', "Messages"),
        (b'{"id":"msg_1","type":"message","role":"assistant","content":[]}', "Messages"),
        (b'[{"candidates": [{"content": {"parts": []}}]}\n,\n', "Gemini"),
        (b'data: {"usageMetadata": {"totalTokenCount": 3}}\n\n', "Gemini"),
        (b'{"model":"m","created_at":"2026","message":{"content":"Hi"},"done":false}\n', "Ollama"),
        (b'{"model":"m","created_at":"2026","response":"Hi","done":false}\n', "Ollama"),
        (b'{"done": true, "message": {}, "created_at": "2026"}\n', "Ollama"),
        (b'{"event_type":"text-generation","text":"Hi"}\n', "Cohere"),
        (b'event: content-delta\ndata: {"type":"content-delta","index":0}\n\n', "Cohere"),
        (b'{"contentBlockDelta":{"delta":{"text":"Hi"}}}\n', "Bedrock"),
        (
            b"\x00\x00\x00\x90\x00\x00\x00\x4b\xaa\xbb\xcc\xdd\x0b:event-type\x07\x00\x05chunk",
            "Bedrock",
        ),
        (b"event: thread.message.delta\ndata: {}\n\n", "Assistants"),
        (b'data: {"index":1,"token":{"id":5,"text":"Hi"}}\n\n', "Text Generation"),
        (b'data: {"content":"H\\"i","id_slot":0,"stop":false}\n\n', "llama.cpp"),
        (b'data: {"type":"text-delta","id":"0","delta":"Hi"}\n\n', "AI SDK"),
        (b'0:"Hi"\n0:" you"\n', "AI SDK"),
    ],
)
def test_dialects(head, name):
    """Each dialect is named, whole or in pieces, and gives no pieces."""
    assert DIALECT.looks(head) == (88 if is_stream_text(head) else 82)
    (recording,) = read(DIALECT, head)
    assert recording.pieces == ()
    assert codes(recording) == ["other_dialect"]
    assert name in recording.notes[0].message


def test_empty_blocks():
    """A block of nothing is not the end."""
    head = [b"", b"event: mess", b"", b'age_start\ndata: {"type":"message_start"}\n\n']
    (recording,) = DIALECT.read(iter(head), ReadOptions())
    assert codes(recording) == ["other_dialect"]


@pytest.mark.parametrize(
    "head",
    [
        b"",
        BODY.encode(),
        json.dumps(FINAL).encode(),
        json.dumps(CHUNKS).encode(),
        b'data: {"choices": [{"delta": {"content": "\\"type\\": \\"message_start\\""}}]}\n\n',
        b'data: {"text": "\\"type\\": \\"message_start\\""}\n\n',
        b'some text with "type":"message_start" in it',
        b'2026-11-30 data: {"type":"message_start"}\n',
        b'data: {"type":"ping"}\n\n',
        b'data: {"error":{"type":"message"}}\n\n',
        b"event: error\ndata: no\n\n",
    ],
)
def test_no_other_dialect(head):
    """Chat streams, and text about other dialects, are in none of them."""
    assert dialect_of(head) is None
    assert DIALECT.looks(head) == 0
    with pytest.raises(UnknownForm, match="no other dialect"):
        read(DIALECT, head, block=9)


@pytest.mark.parametrize(
    ("head", "match"),
    [
        (b"\x89PNG\r\n\x1a\n...", "PNG image"),
        (b"\xff\xd8\xff\xe0", "JPEG image"),
        (b"GIF89a", "GIF image"),
        (b"%PDF-1.7", "a PDF"),
        (b"PK\x03\x04....", "zip archive"),
        (b"SQLite format 3\0", "SQLite"),
        (b"\xd4\xc3\xb2\xa1....", "packet capture"),
        (b"\x0a\x0d\x0d\x0a....", "packet capture"),
        (b"Obj\x01", "Avro"),
        (b"x" * 257 + b"ustar", "tar archive"),
        (base64.b64encode(b'data: {"choices": []}\n\n') + b"\n", "base64 -d"),
        (b"\n" + b'data: {"choices": []}\n\n'.hex().encode(), "xxd -r -p"),
        (b"00000000: 6461 7461 3a20 7b22 6964 223a 2022 6368  data\n" * 2, "xxd -r"),
        (b"00000000  64 61 74 61 3a 20 7b 22  69 64 22 3a 20 22 63 68  |d|\n" * 2, "xxd -r"),
    ],
)
def test_other_files(head, match):
    """Files of other kinds are named, with what to do."""
    assert OTHER.looks(head) in (60, 90)
    with pytest.raises(UnknownForm, match=match):
        read(OTHER, head, block=5)


@pytest.mark.parametrize("head", [b"", BODY.encode(), b"PKZIP", b"GIFs", b"\n\r\ndata:"])
def test_no_other_file(head):
    assert OTHER.looks(head) == 0
    with pytest.raises(UnknownForm, match="no recording that is known"):
        read(OTHER, head, block=5)


@pytest.mark.parametrize(
    "head",
    [
        b"id\n\n\n",
        b": \r\n\r\n",
        b'"content":"x",',
        b'"created_at":"x",',
        b'{"response":{"a":',
        b"event: \n",
        b" \n\t\r",
        b"{",
        b'"creator":{"name"',
        b"a,b;c\t",
        b"#\n---\n",
    ],
)
@pytest.mark.parametrize("start", [b"", b"{", b"[", b"data: "])
def test_no_head_is_slow(head, start):
    """No form takes long over a head, whatever it repeats."""
    began = time.perf_counter()
    for form in ALL:
        form.looks((start + head * (1 << 16))[: 1 << 16])
    assert time.perf_counter() - began < 2


def test_only_the_head_is_read():
    """A dialect is named from the start; the rest of the input is left."""
    blocks = iter([MESSAGES_STREAM.encode() * 2000, b"rest"])
    list(DIALECT.read(blocks, _refused.ReadOptions()))
    assert next(blocks) == b"rest"
    assert form_of(_refused.FORMS, "pickle") is PICKLE
