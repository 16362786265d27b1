from __future__ import annotations

import pytest

from streamkit._differences import MISSING, Difference, differences
from streamkit.cli import _diff

from .helpers import CUT, WHOLE, chunk, sse
from .timed import add_command


@pytest.fixture(autouse=True)
def command(monkeypatch):
    add_command(monkeypatch, _diff.COMMAND)


@pytest.fixture
def diff(run, tmp_path):
    def diff(old, new, *options):
        (tmp_path / "a").write_bytes(old)
        (tmp_path / "b").write_bytes(new)
        return run("diff", *options, "a", "b")

    return diff


def whole(text, **more):
    return sse({**chunk(content=text, finish="stop"), **more})


def test_same(diff):
    """Framing is no difference."""
    result = diff(WHOLE, WHOLE.replace(b"\n", b"\r\n"))
    assert (result.status, result.out) == (0, "stream 1: the same\n")


def test_text(diff):
    """Line by line."""
    result = diff(whole("a\nb\nc\nd"), whole("a\nb\nx\nd"))
    assert result.status == 1
    assert result.out.splitlines() == [
        "stream 1: 1 difference",
        "  text · choices.0.message.content",
        "    @@ -2,3 +2,3 @@",
        "      b",
        "    - c",
        "    + x",
        "      d",
    ]


def test_everything_else(diff):
    """Tools, finish, usage, fields, in this order."""
    call = {"index": 0, "id": "call-1", "function": {"name": "f", "arguments": "{}"}}
    new = sse(
        {
            **chunk("chatcmpl-9", tool_calls=[call], finish="tool_calls"),
            "usage": {"total_tokens": 3},
        }
    )
    result = diff(whole("a"), new, "--json")
    assert [row["about"] for row in result.values] == ["text", "tools", "finish", "usage", "fields"]
    assert result.values[1]["path"] == "choices.0.message.tool_calls"
    assert "old" not in result.values[1]
    assert result.values[-1] == {
        "stream": 1,
        "about": "fields",
        "path": "id",
        "old": "chatcmpl-1",
        "new": "chatcmpl-9",
    }
    text = diff(whole("a"), new).out
    assert "    - chatcmpl-1\n    + chatcmpl-9\n" in text
    assert '    + {"total_tokens":3}' in text


def test_ignored(diff):
    """At any depth."""
    old, new = whole("a"), whole("b").replace(b"chatcmpl-1", b"chatcmpl-2")
    assert diff(old, new, "--ignore", "id", "--ignore", "content").status == 0
    assert diff(old, new, "--ignore", "id").status == 1


def test_cut(diff):
    """The state is part of the finish."""
    result = diff(WHOLE, CUT.replace(b"chatcmpl-2", b"chatcmpl-1"))
    assert "  finish · state\n    - complete\n    + cut\n" in result.out


def test_another_stream(diff):
    """One that only one side has, or none."""
    result = diff(WHOLE, WHOLE + CUT)
    assert result.out.startswith("stream 1: the same\nstream 2: ")
    assert diff(WHOLE, b"").status == 1


def test_colour_and_escapes(diff, monkeypatch):
    """Paint is ours alone."""
    monkeypatch.setattr(_diff, "has_colour", lambda: True)
    out = diff(whole("\x1b[2J"), whole("b", **{"x\n\x1b": 1})).out
    assert "\x1b[31m- \\x1b[2J\x1b[0m" in out
    assert "\x1b[32m+ b\x1b[0m" in out
    assert r"fields · x\x0a\x1b" in out


def test_long_texts(diff, monkeypatch):
    """They are not compared: that is quadratic."""
    monkeypatch.setattr(_diff, "MOST_LINES", 3)
    out = diff(whole("a\n\n"), whole("b")).out
    assert "    - 3 characters in 3 lines\n    + 1 character in 1 line\n" in out


def test_usage(run, files):
    """Two files that can be read."""
    assert run("diff", "whole.sse").status == 2
    result = run("diff", "whole.sse", "missing.sse")
    assert result.status == 2
    assert "missing.sse" in result.err


def test_standard_input_twice(run):
    """It can be read once."""
    result = run("diff", "-", "-", stdin=WHOLE)
    assert (result.status, result.out) == (2, "")
    assert "standard input can be read only once" in result.err


def test_values():
    """True is not 1, 1 is not 1.0, null is not absent; lists go by position."""
    assert differences({"a": [1, None]}, {"a": [1, None]}) == []
    assert differences({"a": [1, 2]}, {"a": [True]}) == [
        Difference("fields", "a[0]", 1, True),
        Difference("fields", "a[1]", 2, MISSING),
    ]
    assert differences({"a": None}, {}) == [Difference("fields", "a", None, MISSING)]
    assert differences({"a": 1}, {"a": 1.0}) == [Difference("fields", "a", 1, 1.0)]
    (found,) = differences({"message": {"content": {"id": 1}}}, {"message": {"content": {"id": 2}}})
    assert found.about == "text"
