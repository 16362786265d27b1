"""UTF-8 that was read as Latin-1, in any text."""

from __future__ import annotations

import gzip
import json
import re

import pytest

from streamkit.recordings import ReadOptions, read, rebuild

from .samples import chunk


TEXT = "naïve € 😀 “so”"
LINE = "data: " + json.dumps(chunk(content=TEXT, finish="stop"), ensure_ascii=False) + "\n\n"
STREAM = LINE + "data: [DONE]\n\n"
FIX = ReadOptions(fix_mojibake=True)


def misread(text):
    """Return what a browser makes of UTF-8 that it takes for Latin-1."""
    chars = (bytes([byte]) for byte in text.encode())
    return "".join(char.decode("cp1252" if char not in UNDEFINED else "latin-1") for char in chars)


UNDEFINED = {bytes([byte]) for byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}
MOJIBAKE = misread(STREAM).encode()
FORMS = {
    "sse": MOJIBAKE,
    "jsonl": MOJIBAKE.replace(b"data: {", b"{").split(b"\n")[0] + b"\n",
    "prefixed": b"".join(
        b"12:00:00.410 INFO " + line for line in MOJIBAKE.splitlines(keepends=True)
    ),
    "rows": json.dumps({"id": 1, "response": misread(STREAM)}, ensure_ascii=False).encode(),
    "escapes": re.sub(
        r"[^\x00-\x7f]", lambda char: f"\\u{ord(char[0]):04x}", misread(STREAM)
    ).encode(),
    "gzip": gzip.compress(MOJIBAKE),
}


def content(outcome):
    return outcome.response.choices[0].message.content


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("size", [1, 1 << 16])
def test_fixed(name, size):
    """With the option, and then it is said, once; without it text stays as it is."""
    data = FORMS[name]
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    (outcome,) = rebuild(parts, options=FIX)
    assert content(outcome) == TEXT
    assert outcome.issue_counts["mojibake"] == 1
    (outcome,) = rebuild(parts)
    assert content(outcome) == misread(TEXT)


@pytest.mark.parametrize("data", [STREAM.encode(), b"\xff" + STREAM.encode(), b"data: [DONE]\n\n"])
def test_nothing_to_fix(data):
    """Text that is right stays, and nothing is said."""
    (outcome,) = rebuild(data, options=FIX)
    (before,) = rebuild(data)
    assert outcome == before


def test_lines_alone():
    """A line that is right stays so beside one that is not."""
    other = LINE.replace("chatcmpl-1", "chatcmpl-2").encode()
    first, second = rebuild(MOJIBAKE + other, options=FIX)
    assert content(first) == content(second) == TEXT


def test_read():
    """Who reads pieces is told at the end."""
    [recording] = read(MOJIBAKE, options=FIX)
    assert b"".join(piece.data for piece in recording.pieces).decode() == STREAM
    assert [issue.code for issue in recording.later] == ["mojibake"]


@pytest.mark.parametrize(
    "text", [r"\\u00c3\\u00a9", r"\u00e9 \u20ac", r"\u00c3\u00a9 \ud83d\ude00", r"\u0041"]
)
def test_escapes_that_stay(text):
    """An escaped backslash is no escape; and what makes sense as it is stays."""
    data = 'data: {"choices":[{"index":0,"delta":{"content":"' + text + '"}}]}\n\n'
    (outcome,) = rebuild(data, options=FIX)
    (before,) = rebuild(data)
    assert outcome == before
