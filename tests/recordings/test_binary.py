"""Bytes kept as text: every way of writing them gives the same, and what is none is told."""

from __future__ import annotations

import base64
import gzip

import pytest

from streamkit.recordings._binary import from_base64, from_text, is_binary_text
from tests.recordings.making import BODY


RAW = BODY.encode() + "ÿþ~?é".encode()
PADDED = base64.b64encode(RAW).decode()


@pytest.mark.parametrize(
    "text",
    [
        PADDED,
        PADDED.rstrip("="),
        base64.urlsafe_b64encode(RAW).decode(),
        base64.encodebytes(RAW).decode(),
        base64.b64encode(RAW[:10]).decode() + base64.b64encode(RAW[10:]).decode(),
    ],
    ids=["padded", "bare", "url-safe", "in lines", "joined"],
)
def test_base64(text):
    """Alphabet, padding, line ends and joints do not matter."""
    assert from_base64(text) == RAW
    assert from_text(text) == RAW


def test_cut_base64():
    """What was cut gives the bytes that are whole."""
    for size in range(len(PADDED)):
        found = from_base64(PADDED[:size])
        assert found is not None
        assert RAW.startswith(found)
        assert len(found) >= size * 3 // 4 - 1


@pytest.mark.parametrize("text", ["ü", "***", "data: {}", "ZGF0YTog\x00"])
def test_no_base64(text):
    """A character that is not of the alphabet is not skipped."""
    assert from_base64(text) is None


def test_parts():
    """A list of parts is the bytes of all, but none if one of them is no such text."""
    parts = [gzip.compress(RAW).hex()[at : at + 40] for at in range(0, 400, 40)]
    assert from_text(parts) == gzip.compress(RAW)[:200]
    assert from_text([*parts, 5]) is None
    assert from_text([*parts, "data: {}"]) is None


@pytest.mark.parametrize(
    "raw",
    [
        b'data: {"a":1}\n\n',
        b"event: x\ndata: y\n\n",
        b"id: 1\ndata: y\n\n",
        b"retry: 10\ndata: y\n\n",
        b": PROCESSING\n\ndata: y\n\n",
        gzip.compress(RAW),
    ],
)
def test_looks(raw):
    """The start tells, of text that has nothing else in it."""
    assert is_binary_text(base64.b64encode(raw).decode())
    assert is_binary_text(raw.hex())
    assert not is_binary_text(raw.decode("latin-1"))
    assert not is_binary_text(raw)
