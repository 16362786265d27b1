"""The progress bar: when there is one, that it moves, and that it is in nobody's way."""

from __future__ import annotations

import argparse
import importlib.util
import io
import os
import re
import sys
import threading
import time
import types

import pytest

from streamkit.cli import _output, _progress
from streamkit.cli._files import File
from streamkit.cli._output import ASIDE, put, put_all, tell
from streamkit.cli._progress import Bar, watching

from .helpers import WHOLE, chunk, sse


pytest.importorskip("rich")


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def fileno(self):
        raise io.UnsupportedOperation


@pytest.fixture
def terminal(monkeypatch):
    """Standard error that is a terminal."""
    monkeypatch.setattr(_progress, "sys", system := types.SimpleNamespace(stderr=Terminal()))
    system.stdout = io.StringIO()
    monkeypatch.setattr(_output, "sys", system)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return system.stderr


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    now = [100.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    return now


def shown(terminal):
    """Return what is on the terminal since the last look, without its sequences."""
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())
    terminal.seek(0)
    terminal.truncate()
    return text


ARGS = argparse.Namespace(no_progress=False)


# -- When ------------------------------------------------------------------------------


def test_terminal(terminal):
    """There is one on a terminal."""
    with watching(ARGS) as bar:
        assert bar is not None
        assert ASIDE == [bar.hide]
    assert ASIDE == []


def test_none_where_none_is_wanted(terminal, monkeypatch):
    """Asked for, in a simple terminal, in a pipe, without rich, of commands that do not read."""

    def is_there(args=ARGS):
        with watching(args) as bar:
            return bar is not None

    assert is_there()
    assert not is_there(argparse.Namespace(no_progress=True))
    assert not is_there(argparse.Namespace())
    with monkeypatch.context() as patch:
        patch.setenv("TERM", "dumb")
        assert not is_there()
    with monkeypatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda name: None)
        assert not is_there()
    monkeypatch.setattr(_progress.sys, "stderr", io.StringIO())
    assert not is_there()
    monkeypatch.setattr(_progress.sys, "stderr", None)
    assert not is_there()


def test_short_work_has_none(terminal, clock):
    """What is done within a second draws nothing."""
    with watching(ARGS) as bar:
        clock[0] += 0.9
        bar.add(1000)
    assert terminal.getvalue() == ""


# -- What it shows ---------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    found = []
    for name in ("first\x1b[2J.sse", "second.sse", "third.sse"):
        (tmp_path / name).write_bytes(b"x" * 1000)
        found.append(File(str(tmp_path / name)))
    return found


def test_it_moves(terminal, clock, files):
    """By bytes read, with the files that are done; names are escaped; then it is gone."""
    with watching(ARGS) as bar:
        bar.expect(files)
        bar.start(File("first\x1b[2J.sse"))
        clock[0] += 1.5
        bar.add(300)
        text = shown(terminal)
        assert r"first\x1b[2J.sse" in text
        assert " 10% " in text
        assert "0/3 files" in text
        bar.add(300)  # too early to draw again
        assert shown(terminal) == ""
        clock[0] += 0.2
        bar.add(400)
        bar.skip(files[1])
        bar.start(files[2])
        clock[0] += 0.2
        bar.finish()
        text = shown(terminal)
        assert " 67% " in text
        assert "2/3 files" in text
        assert "x" * 30 not in text
    assert terminal.getvalue().endswith("\x1b[1A\x1b[2K")  # its line, erased


def test_unknown_size(terminal, clock, files):
    """Of a pipe only what was read is shown."""
    with watching(ARGS) as bar:
        bar.expect([File("-")])
        bar.start(File("-"))
        clock[0] += 1.5
        bar.add(5 << 20)
        text = shown(terminal)
    assert "<stdin>" in text
    assert "5.0/? MiB" in text
    assert "files" not in text


def test_no_colour(terminal, clock, files, monkeypatch):
    """NO_COLOR takes the colours, not the bar."""
    monkeypatch.setenv("NO_COLOR", "1")
    with watching(ARGS) as bar:
        bar.expect(files)
        clock[0] += 1.5
        bar.add(300)
        assert not re.search(r"\x1b\[[0-9;]*3[0-9][0-9;]*m", terminal.getvalue())
        assert "10%" in shown(terminal)


def test_out_of_the_way(terminal, clock, files, monkeypatch):
    """It is erased before other output, and comes back a second later."""
    monkeypatch.setattr(_output.sys, "stdout", Terminal())
    with watching(ARGS) as bar:
        bar.expect(files)
        for write in (lambda: tell("a message"), lambda: put("a line\n")):
            clock[0] += 1.5
            bar.add(100)
            assert "%" in shown(terminal)
            write()
            assert "\x1b[2K" in terminal.getvalue()
            clock[0] += 0.9
            shown(terminal)
            bar.add(100)
            assert shown(terminal) == ""
        assert _output.sys.stdout.getvalue() == "a line\n"


def test_output_elsewhere(terminal, clock, files):
    """What goes to a file does not disturb it."""
    with watching(ARGS) as bar:
        bar.expect(files)
        clock[0] += 1.5
        bar.add(100)
        shown(terminal)
        put("a line\n")
        assert terminal.getvalue() == ""


def test_width_of_the_terminal(monkeypatch):
    """That of standard error, as standard output may be a file."""
    number = types.SimpleNamespace(fileno=lambda: 7)
    monkeypatch.setattr(_progress, "sys", types.SimpleNamespace(stderr=number))
    monkeypatch.setattr(os, "get_terminal_size", lambda number: os.terminal_size((number * 10, 1)))
    assert _progress._width() == 70


def test_commands_use_it(run, tmp_path, monkeypatch):
    """Each file that is read is counted, one after another and several at once."""
    seen = []

    class Recorder(Bar):
        def add(self, size):
            seen.append(size)

    (tmp_path / "logs").mkdir()
    for name in ("a", "b"):
        (tmp_path / f"logs/{name}.sse").write_bytes(WHOLE)
    (tmp_path / "logs/notes").write_text("Buy milk.\n")
    monkeypatch.setattr(_progress, "_may_draw", lambda args: True)
    monkeypatch.setattr(_progress, "Bar", Recorder)
    for command in (["check"], ["stats"], ["check", "--jobs", "2"]):
        seen.clear()
        assert run(*command, "logs").status == 0
        assert sum(seen) == 2 * len(WHOLE)


# -- In a terminal ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_in_a_terminal(tmp_path):
    """It appears, moves, and leaves only the output behind."""
    pexpect = pytest.importorskip("pexpect")
    recording = tmp_path / "slow.sse"
    os.mkfifo(recording)

    def feed():
        with recording.open("wb") as pipe:
            for number in range(14):
                pipe.write(sse(chunk(content=f"{number}"), done=False))
                pipe.flush()
                time.sleep(0.2)
            pipe.write(sse(chunk(content="end", finish="stop")))

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    child = pexpect.spawn(
        sys.executable,
        ["-m", "streamkit", "check", "slow.sse"],
        cwd=tmp_path,
        env=environment,
        dimensions=(24, 100),
        timeout=30,
    )
    sizes = []
    for _ in range(4):
        child.expect(rb"slow\.sse [^\r]*?([\d.]+)/\? (bytes|KiB)")
        sizes.append(float(child.match[1]) * (1024 if child.match[2] == b"KiB" else 1))
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    child.expect(pexpect.EOF)
    child.close()
    thread.join()
    assert child.exitstatus == 0
    rest = child.before.rsplit(b"\x1b[2K", 1)[1]
    assert b"complete \xc2\xb7 15 chunks" in rest
    assert b"\x1b" not in rest


def test_long_output_makes_way(monkeypatch):
    """The bar is hidden where a page is written to the terminal, and only there."""
    hidden = []
    monkeypatch.setattr(_output, "ASIDE", [lambda: hidden.append(True)])
    terminal, file = Terminal(), io.StringIO()
    put_all(["a", "b"], file)
    assert (file.getvalue(), hidden) == ("ab", [])
    put_all(["a", "b"], terminal)
    assert (terminal.getvalue(), bool(hidden)) == ("ab", True)
