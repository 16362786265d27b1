"""Streams as they are written inside of strings."""

from __future__ import annotations

import json

import pytest

from streamkit.recordings import _escaped, rebuild, sniff
from streamkit.recordings._literals import unescaped

from .samples import BODY, chunk, event, misses


(FORM,) = _escaped.FORMS
TEXT = 'He said:\n"{}\\n\\ndata: x" \\ é 😀\t'
STREAM = (event(chunk(content=TEXT)) + event(chunk(content="\u20ac", finish="stop"))).decode()
STREAM += "data: [DONE]\n\n"
ASCII = "".join(
    f"data: {json.dumps(json.loads(line[6:]))}\n\n" if line.startswith("data: {") else line
    for line in STREAM.splitlines(keepends=True)
    if line.strip()
)
ESCAPED = json.dumps(STREAM)[1:-1]
ENDS = STREAM.replace("\n", "\\n")
FORMS = {
    "all": ESCAPED,
    "all, twice in ASCII": json.dumps(ASCII)[1:-1],
    "raw characters": json.dumps(STREAM, ensure_ascii=False)[1:-1],
    "crlf": json.dumps(STREAM.replace("\n", "\r\n"))[1:-1],
    "ends": ENDS,
    "ends, crlf": STREAM.replace("\n", "\\r\\n"),
    "one newline": STREAM.replace("\n\n", "\\n"),
    "assigned": f'const body = "{ESCAPED}";\n',
    "backticks": f"`{ENDS}`",
    "with an event": "event: message\\n" + ENDS,
    "a line end behind": ESCAPED + "\n",
    "a stream a line": ESCAPED + "\n" + ESCAPED.replace("chatcmpl-1", "chatcmpl-2"),
}


@misses([FORM])
def test_near_misses(form, head):
    """Nothing that merely contains such text is taken for it."""
    assert form.looks(head) == 0


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_escaped(name, size):
    """The stream comes out as it was, whatever the blocks."""
    data = FORMS[name].encode()
    assert sniff(data).name == "escaped"
    outcome = next(rebuild([data[at : at + size] for at in range(0, len(data), size)]))
    assert outcome.complete
    assert outcome.response.choices[0].message.content == TEXT + "\u20ac"
    assert set(outcome.issue_counts) <= {"paste_backslashes", "missing_blank_line"}


def test_cut():
    """Wherever it ends: what is whole is kept, and nothing is made up."""
    for text in (ESCAPED, ENDS):
        for end in range(len(text)):
            for outcome in rebuild(text[:end]):
                message = outcome.response and outcome.response.choices
                content = (message[0].message.content or "") if message else ""
                assert (TEXT + "\u20ac").startswith(content)


@pytest.mark.parametrize("content", ["a}\n\ndata: b", '{\\"', "\\n\\n", '"}\n\ndata: {"'])
def test_a_stream_about_streams(content):
    """Text that has such marks in it is text."""
    data = event(chunk(content=content, finish="stop")) + b"data: [DONE]\n\n"
    assert sniff(data).name == "sse"
    (outcome,) = rebuild(data)
    assert outcome.response.choices[0].message.content == content
    assert not outcome.issues


def test_escapes():
    """Each of JSON's, half a pair, and what is none."""
    assert unescaped(rb"\n\r\t\b\f\"\/\\n\u00e9\ud83d\ude00\q") == (
        '\n\r\t\b\f"/\\n\u00e9\U0001f600q'.encode()
    )
    assert unescaped(rb"\ud83dx") == "\ud83dx".encode("utf-8", "surrogatepass")


def test_array_of_texts():
    """On a line of its own each, as pretty JSON has them."""
    texts = [event.decode() for event in BODY.splitlines(keepends=True) if event.strip()]
    for indent in (0, 2):
        data = json.dumps(texts, indent=indent).encode()
        assert sniff(data).name == "rows"
        (outcome,) = rebuild(data)
        assert outcome.complete
    (cut,) = rebuild(json.dumps(texts, indent=1)[:-30])
    assert not cut.done


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark(encoding):
    """Each other byte is zero."""
    for data in (BODY, b'[{"choices": []}]       '):
        (outcome,) = rebuild(data.decode().encode(encoding))
        (plain,) = rebuild(data)
        assert outcome.response == plain.response
        assert outcome.issues[0].code == "utf16"
    assert sniff(b"d\0a\0t\0").name == "sse"
