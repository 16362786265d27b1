from __future__ import annotations

import json
import sys

import pytest

from streamkit.cli import _stats

from .helpers import CUT, WHOLE, chunk, sse
from .timed import add_command, event, give, start


USAGE = {"id": "chatcmpl-1", "choices": [], "usage": {"completion_tokens": 4}}


def timed(*times, usage=True):
    parts = [chunk(role="assistant"), chunk(content="Hel"), chunk(content="lo", finish="stop")]
    parts += [USAGE] if usage else []
    return [event(part, time) for part, time in zip(parts, times, strict=True)]


@pytest.fixture(autouse=True)
def command(monkeypatch):
    add_command(monkeypatch, _stats.COMMAND)


def test_untimed(run, files):
    """Without times the rest is told."""
    result = run("stats", "whole.sse")
    assert result.status == 0
    assert result.out.splitlines() == [
        "whole.sse #1 · chatcmpl-1 · m-1 · complete",
        f"  size                  {len(WHOLE) - 14} bytes · 2 chunks · 5 characters",
        "  timing                none: the recording has no times",
        "  finish reasons        stop",
        "  issues                -",
    ]


def test_one_of_each(run, monkeypatch):
    """The words for what is counted are in the singular where there is one."""
    usage = {"completion_tokens": 1}
    give(monkeypatch, [event(chunk(content="x", finish="stop") | {"usage": usage}, None)])
    out = run("stats").out
    assert " bytes · 1 chunk · 1 character · 1 completion token\n" in out


def test_timed(run, monkeypatch):
    """First chunk, first content, gaps, rates; a chunk is not a token."""
    give(monkeypatch, timed(0.5, 1.0, 1.25, 2.5))
    out = run("stats").out
    assert "first chunk           500.0 ms (since the recording's zero)" in out
    assert "first content         1.000 s" in out
    assert "duration              2.500 s" in out
    assert "p50 500.0 ms · p95 1.250 s · max 1.250 s" in out
    assert "chunks per second     1.5" in out
    assert "tokens per second     1.6 (tokens counted by usage)" in out
    assert "4 completion tokens" in out


def test_since_the_request(run, monkeypatch):
    """If the recording says when it was sent."""
    give(monkeypatch, [start(1e9 - 1), *timed(1e9, 1e9, 1e9, 1e9)])
    assert "first chunk           1.000 s (since the request)" in run("stats").out


def test_without_usage(run, monkeypatch):
    """No tokens are made up, and no wait."""
    give(monkeypatch, timed(1e9, 1e9, 1e9, usage=False))
    out = run("stats").out
    assert "tokens per second     unknown" in out
    assert "chunks per second     -" in out
    assert "first chunk  " not in out
    assert "first content         0.0 ms (since the first chunk; when the request" in out
    assert "clock_stands=1" in out


def test_many(run, files):
    """The total of them."""
    result = run("stats", "whole.sse", "cut.sse", "missing.sse")
    assert result.status == 2
    assert "missing.sse: No such file" in result.err
    total = result.out[result.out.index("total") :]
    assert total.splitlines() == [
        "total · 2 streams · complete=1, cut=1",
        f"  size                  {len(WHOLE) - 14 + len(CUT)} bytes · 3 chunks · 8 characters",
        "  first content         -",
        "  gap max               -",
        "  tokens per second     -",
        "  finish reasons        stop=1, none=1",
        "  issues                finish_missing=1, done_missing=1",
    ]


def test_many_timed(run, monkeypatch):
    """The spread of what is timed."""
    give(monkeypatch, timed(0.5, 1, 2, 4), timed(0.5, 2, 3, 8), [event(chunk())])
    out = run("stats").out
    assert "  first content         min 1.000 s · p50 1.000 s · max 2.000 s" in out
    assert "  tokens per second     min 0.5 · p50 0.5 · max 1.0" in out


def test_json(run, monkeypatch):
    """All of it, for programs."""
    give(monkeypatch, timed(0.5, 1.0, 1.25, 2.5), [])
    data = json.loads(run("stats", "--json").out)
    stream, empty = data["streams"]
    assert (stream["source"], stream["stream"], stream["state"]) == ("r0", 1, "complete")
    assert stream["timing"]["origin"] == "recording"
    assert stream["timing"]["gap_p50"] == 0.5
    assert (empty["state"], empty["timing"], empty["finish_reasons"]) == ("empty", None, [])
    assert data["total"]["completion_tokens"] == 4
    assert data["total"]["gap_max"] == {"min": 1.25, "p50": 1.25, "max": 1.25}


def test_wrong_types_and_hostile_text(run):
    """Whatever the server sent as a count or a reason."""
    last = {**chunk(finish="\x1b[2J"), "usage": {"completion_tokens": "9"}}
    calls = [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]
    result = run("stats", stdin=sse(chunk("\u202e", content="a", tool_calls=calls), last) + WHOLE)
    assert "\x1b" not in result.out
    assert "\u202e" not in result.out
    assert "3 characters · 9 completion tokens" in result.out
    assert "total · 2 streams" in result.out
    assert run("stats", stdin=sse({"id": "a", "choices": [], "usage": 7})).status in (0, 1)


def test_nothing_is_cut(run, monkeypatch):
    """Also in a narrow terminal: what is said of a stream is no table."""
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True)
    give(monkeypatch, [event(chunk(content="a" * 50, finish="stop"), 1e9)])
    out = run("stats").out
    assert "(since the first chunk; when the request was sent is not recorded)\n" in out
    assert "…" not in out
