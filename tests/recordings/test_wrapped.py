"""Streams copied from a terminal: lines that it broke at its width are joined."""

from __future__ import annotations

import json

import pytest

from streamkit import LimitExceeded, Limits
from streamkit.recordings import rebuild, sniff
from streamkit.recordings._paste import FORMS
from streamkit.recordings._wrapped import width_of

from .samples import BODY, misses, read


WORDS = ["It's ", '"quoted": 5, ', "line\nend ", "naïve ", "🚀🚀 ", "e\u0301 ", "日本 ", "."]


def stream(words):
    """Return a stream as servers write it: without blanks, the same fields in each chunk."""
    chunks = [
        {
            "id": "chatcmpl-CgX1",
            "object": "chat.completion.chunk",
            "created": 1_796_083_200,
            "model": "m-1",
            "choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}],
        }
        for word in words
    ]
    chunks[-1]["choices"][0]["finish_reason"] = "stop"
    texts = [json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in chunks]
    return "".join(f"data: {text}\n\n" for text in [*texts, "[DONE]"])


def shown(line, width):
    """Yield *line* as a terminal of *width* columns shows it."""
    row, columns = "", 0
    for char in line:
        own = 2 if char in "🚀日本" else 0 if char == "\u0301" else 1
        if columns + own > width:
            yield row
            row, columns = "", 0
        row, columns = row + char, columns + own
    yield row


def copied(text, width, end="\n"):
    return "".join(row + end for line in text.splitlines() for row in shown(line, width))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "before", ["", "$ curl -N https://api.example/v1\n"], ids=["", "a command"]
)
@pytest.mark.parametrize("width", [40, 72, 80, 100, 120, 132])
def test_wrapped(width, before, end):
    """The stream is as it was; keys, numbers and texts are whole."""
    words = [word for word in WORDS if not set(word) & set("🚀日本")]
    data = copied(before + stream(words), width, end).encode()
    assert sniff(data).name == "paste"
    for size in (7, 1 << 16):
        (outcome,) = rebuild([data[at : at + size] for at in range(0, len(data), size)])
        assert outcome.complete
        assert outcome.response.choices[0].message.content == "".join(words)
        assert outcome.response.model == "m-1"
        assert outcome.issue_counts.keys() <= {"paste_wrapped", "unframed_text"}
        assert outcome.issue_counts["paste_wrapped"] == 1


def test_wide_characters():
    """They take two columns, so that a line has fewer characters."""
    data = copied(stream(WORDS), 79).encode()
    (outcome,) = rebuild(data)
    assert outcome.response.choices[0].message.content == "".join(WORDS)


def test_an_event_as_wide_as_the_terminal():
    """Its line end is its own."""
    line = stream(["x" * 10]).splitlines()[0]
    text = stream(["y" * 50, "z" * 200, "x" * 10, "."])
    (outcome,) = rebuild(copied(text, len(line)).replace("\n\n", "\n"))
    assert outcome.response.choices[0].message.content == "y" * 50 + "z" * 200 + "x" * 10 + "."


@misses(FORMS)
def test_near_misses(form, head):
    """No other text has such lines."""
    assert width_of(head.splitlines()) == 0


def raw(text):
    return stream([text] * 4).replace("\\n", "\n")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(raw("a\nb"), id="line ends that a server sent"),
        pytest.param(raw("\n"), id="and nothing else"),
        pytest.param(stream(["a", "b"]).replace(',"', ',\n"'), id="between fields"),
        pytest.param(copied(stream(["a"]), 200), id="wide enough"),
        pytest.param(copied(stream(["a"]), 120), id="too few lines"),
        pytest.param(copied(stream(WORDS), 80) + "x" * 81, id="a longer line"),
        pytest.param(copied(stream(WORDS), 30), id="narrow"),
        pytest.param(copied(stream(["a"] * 9), 80).replace("created", "crea"), id="uneven"),
        pytest.param(copied("data: {" + "x" * 900, 80), id="no JSON"),
        pytest.param(BODY.decode(), id="whole"),
        pytest.param("", id="nothing"),
    ],
)
def test_not_wrapped(data):
    """Without evidence a line end inside of JSON is the server's."""
    assert width_of(data.encode().splitlines(keepends=True)) == 0
    assert all("paste_wrapped" not in outcome.issue_counts for outcome in rebuild(data))


def test_bounds():
    """A line that never ends is refused like any other that is too long."""
    data = copied(stream(["a"] * 3), 80) + "data: " + "x" * 74 + "\n" + ("y" * 80 + "\n") * 100
    with pytest.raises(LimitExceeded):
        read(FORMS[0], data.encode(), limits=Limits(line=5000))
