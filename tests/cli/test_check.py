from __future__ import annotations

from .helpers import CUT, WHOLE, chunk, sse


def test_states(run, files):
    """One line on each stream, its fields parted by dots."""
    result = run("check", "whole.sse", "cut.sse", "failed.sse", "empty.sse")
    assert result.status == 1
    assert result.out.splitlines() == [
        "whole.sse · #1 · chatcmpl-1 · chat · complete · 2 chunks · stop · -",
        "cut.sse · #1 · chatcmpl-2 · chat · cut · 1 chunk · - · finish_missing=1,done_missing=1",
        "failed.sse · #1 · chatcmpl-3 · chat · error · 2 chunks · - · finish_missing=1",
        "empty.sse · #1 · - · - · empty · 0 chunks · - · empty_stream=1",
    ]


def test_all_complete(run, files):
    """The exit status alone tells."""
    assert run("check", "whole.sse", "glued.sse").status == 0


def test_streams_are_numbered(run):
    """From 1 on, in each file."""
    text = sse({"id": "cmpl-1", "choices": [{"index": 0, "text": "a", "finish_reason": "length"}]})
    result = run("check", stdin=text + CUT)
    assert result.out.startswith("<stdin> · #1 · cmpl-1 · completion · complete")
    assert "<stdin> · #2 · chatcmpl-2 · chat · cut" in result.out


def test_unreadable_file(run, files):
    """Told on standard error."""
    result = run("check", "missing.sse", "whole.sse")
    assert (result.status, result.out.count("\n")) == (2, 1)
    assert result.err == "streamkit: missing.sse: No such file or directory\n"


def test_one_line_whatever_the_stream_says(run):
    """Ids and finish reasons are escaped, and may be of any type."""
    forged = sse(chunk("a\n\x1b[2J\u202eb", content="x", finish="\r\nstop"))
    result = run("check", stdin=forged)
    assert result.out.count("\n") == 1
    assert r"a\x0a\x1b[2J\u202eb" in result.out
    assert r"\x0d\x0astop" in result.out
    assert run("check", stdin=WHOLE.replace(b'"stop"', b"7")).status in (0, 1)
