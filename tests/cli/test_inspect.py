from __future__ import annotations

import gzip
import json

import pytest

from streamkit import UnknownForm
from streamkit.cli import _columns, _inspect
from streamkit.cli._columns import clip, fit, pad, seconds, terminal_width, width_of

from .helpers import CUT, WHOLE, chunk, sse
from .timed import add_command, event, give


@pytest.fixture(autouse=True)
def command(monkeypatch):
    add_command(monkeypatch, _inspect.COMMAND)


def test_rows(run, files):
    """A row on each event of each file."""
    result = run("inspect", "whole.sse", "cut.sse", "missing.sse")
    assert result.status == 2
    assert result.err == "streamkit: missing.sse: No such file or directory\n"
    lines = result.out.splitlines()
    assert [line for line in lines if line.endswith(":")] == ["whole.sse:", "cut.sse:"]
    assert lines[2].split()[:6] == ["0", "-", "0", lines[2].split()[3], "chunk", "0"]
    assert lines[2].endswith('role "assistant" · content "Hel"')
    assert lines[3].endswith('content "lo" · finish_reason "stop"')
    assert lines[4].split()[4] == "done"


def test_no_events(run, files):
    """That is said, in each form."""
    for options in ([], ["--json"]):
        result = run("inspect", *options, "empty.sse", "whole.sse")
        assert result.status == 1
        assert result.err == "streamkit: empty.sse: there are no events\n"


def test_what_comes_to_light_at_the_end(run, files):
    """A file that was cut says so when all of it was shown; each file says it once."""
    (files / "cut.sse.gz").write_bytes(gzip.compress(WHOLE)[:-9])
    (files / "whole.sse.gz").write_bytes(gzip.compress(WHOLE))
    result = run("inspect", "cut.sse.gz", "whole.sse.gz")
    assert result.out.count("content") == 4
    assert result.err == (
        "streamkit: cut.sse.gz: recording 1: cut_body: "
        "the gzip data end too early; what came before that was kept\n"
    )


def test_times_and_issues(run, monkeypatch):
    """Times count from the first event; issues stand below their row."""
    give(
        monkeypatch,
        [event(chunk(content="a"), 1e9), event("{bad", 1e9 + 1), event("[DONE]", 1e9 + 2)],
    )
    result = run("inspect")
    assert result.status == 0
    lines = result.out.splitlines()
    assert lines[2].split()[1] == "0.000"
    assert lines[3].split()[4] == "lost"
    assert lines[4].startswith("        ! bad_json: ")
    assert lines[5].split()[1] == "2.000"


def test_issues_that_go_on(run):
    """As in JSON lines, where each payload is without framing: they are said once."""
    lines = [json.dumps(chunk(content=text)) for text in "abc"]
    result = run("inspect", stdin="\n".join([*lines, "{bad", *lines]).encode())
    notes = [line for line in result.out.splitlines() if "  ! " in line]
    assert [note.split()[1] for note in notes] == ["bare_json:", "bad_json:", "bare_json:"]
    assert run("inspect", "--json", stdin="\n".join(lines).encode()).out.count("bare_json") == 3


def test_what_is_no_text(run):
    """Strings have quotes, so that they are told from JSON; of both the beginning is shown."""
    part = chunk(content="a", finish="stop")
    part["choices"][0]["logprobs"] = {"content": [{"token": "a", "logprob": -1}]}
    last = {"choices": [], "usage": {"total_tokens": 3}}
    out = run("inspect", stdin=sse(part, last, {"error": {"message": "m" * 300}})).out
    assert 'content "a" · logprobs 1 · finish_reason "stop"' in out
    assert 'usage {"total_tokens":3}' in out
    assert f'error {{"message":"{"m" * 188}… (314 characters)' in out


def test_wrong_clock(run, monkeypatch):
    """It is known at the end, and told then."""
    times = [1e9, 1e9 - 5, 1e9 + 1]
    give(
        monkeypatch, [event(chunk(content="a"), time) for time in times], [event(chunk(), 5.0)] * 3
    )
    err = run("inspect").err
    assert err.startswith("streamkit: r0: event 1: clock_backwards: ")
    assert "\nstreamkit: r1: clock_stands: " in err


def test_json(run, monkeypatch):
    """An object a line, with all of the text."""
    give(monkeypatch, [event(chunk(content="é" * 300), 5.0)])
    (row,) = run("inspect", "--json").values
    assert row["time"] == 5.0
    assert row["adds"] == [{"choice": 0, "name": "content", "text": "é" * 300}]
    assert (row["source"], row["event"], row["kind"], row["issues"]) == ("r0", 0, "chunk", [])


def test_long_and_hostile_text(run):
    """The beginning of it, escaped."""
    result = run("inspect", stdin=sse(chunk(content="\x1b[2J\u202e\n" + "a" * 500)))
    assert "\x1b" not in result.out
    assert "\u202e" not in result.out
    assert "… (506 characters)" in result.out


def test_a_form_that_cannot_be_read(run, monkeypatch):
    """A reader's refusal is told."""

    def pieces():
        yield event(chunk(content="a"))
        raise UnknownForm("it is a pickle")

    give(monkeypatch, pieces())
    result = run("inspect")
    assert result.status == 1
    assert result.err == "streamkit: r0: unknown_form: it is a pickle\n"


def test_width(run, monkeypatch):
    """In a terminal no line is wrapped; in a narrow one there are fewer columns."""
    monkeypatch.setattr(_inspect, "terminal_width", lambda: 40)
    lines = run("inspect", stdin=sse(chunk(content="a" * 99))).out.splitlines()
    assert max(map(width_of, lines)) == 40
    assert lines[1:] == [
        " event  kind    adds",
        '     0  chunk   content "' + "a" * 14 + "…",
        "     1  done",
    ]
    monkeypatch.setattr(_inspect, "terminal_width", lambda: 80)
    assert run("inspect", stdin=CUT).out.splitlines()[1].split() == list(_inspect.HEAD)


# -- Columns -------------------------------------------------------------------------


def test_width_of():
    """Wide characters take two cells, combining ones none."""
    assert [width_of(text) for text in ("ab", "日本", "e\u0301")] == [2, 4, 1]


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 4, "日…"), ("ab", 1, "…")],
)
def test_clip(text, width, shown):
    assert clip(text, width) == shown


def test_pad_and_fit():
    assert pad("日", 4) == "日  "
    assert pad("1", 3, right=True) == "  1"
    assert fit("a\nb", None) == r"a\x0ab"
    assert fit("abc", 0) == "…"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "-"), (0.0, "0.0 ms"), (5e-6, "5 µs"), (0.25, "250.0 ms"), (2, "2.000 s")],
)
def test_seconds(value, shown):
    assert seconds(value) == shown


def test_terminal_width(monkeypatch):
    """Only a terminal has one; NO_COLOR does not matter."""
    assert terminal_width() is None
    monkeypatch.setenv("COLUMNS", "77")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(_columns.sys.stdout, "isatty", lambda: True)
    assert terminal_width() == 77
    monkeypatch.setattr(_columns.sys, "stdout", None)
    assert terminal_width() is None


def test_notes_of_the_form_are_told(run):
    """What a reader has to say goes to standard error."""
    quoted = b"> " + WHOLE.replace(b"\n", b"\n> ")
    result = run("inspect", stdin=quoted)
    assert result.status == 0
    assert "streamkit: <stdin>: paste: paste_quoted: " in result.err
