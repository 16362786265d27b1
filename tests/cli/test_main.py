from __future__ import annotations

import errno
import io
import os
import sys

import pytest

import streamkit

from streamkit.cli import main
from streamkit.cli._main import COMMANDS
from streamkit.cli._output import discard_output

from .helpers import WHOLE


def test_version(run):
    """The package's own."""
    result = run("--version")
    assert (result.status, result.out) == (0, f"streamkit {streamkit.__version__}\n")


def test_help(run):
    """It lists the commands."""
    result = run("--help")
    assert result.status == 0
    assert all(command.name in result.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_of_a_command(run, command):
    """It has examples and says what the exit status means."""
    result = run(command.name, "--help")
    assert result.status == 0
    assert f"streamkit {command.name} " in result.out.partition("examples:")[2]
    statuses = result.out.partition("exit status:")[2].splitlines()
    assert statuses[1:3] == [f"  0    {command.ok}", f"  1    {command.incomplete}"]


def test_options_between_files(run, files):
    """They may stand anywhere; behind `--` there are none."""
    result = run("check", "whole.sse", "--limit", "text=none", "cut.sse", "--no-progress")
    assert (result.status, result.out.count("\n"), result.err) == (1, 2, "")
    (files / "-x").write_bytes(WHOLE)
    result = run("check", "--no-progress", "whole.sse", "--", "-x")
    assert (result.status, result.out.count("\n"), result.err) == (0, 2, "")


def test_what_is_too_much(run):
    """The command says it, with its own usage."""
    result = run("check", "a.sse", "--nonsense\x1b")
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("usage: streamkit check [-h]")
    assert result.err.endswith("error: unrecognized arguments: --nonsense\\x1b\n")


def test_no_command(run):
    """Wrong usage."""
    result = run()
    assert (result.status, result.out) == (2, "")
    assert "COMMAND" in result.err


def test_arguments_of_the_process(monkeypatch, capsysbinary):
    """Where none are handed in."""
    monkeypatch.setattr(sys, "argv", ["streamkit", "--version"])
    assert main() == 0


def test_waiting_on_a_terminal(monkeypatch, capsysbinary):
    """A person who forgot the file is told what is going on."""
    terminal = io.TextIOWrapper(io.BytesIO(WHOLE))
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", terminal)
    assert main(["rebuild"]) == 0
    assert b"waiting for a stream on standard input" in capsysbinary.readouterr().err


def test_interrupt(run, monkeypatch):
    """Quiet, with the status that shells give."""

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("streamkit.cli._inputs.rebuild", interrupted)
    result = run("rebuild")
    assert (result.status, result.out, result.err) == (130, "", "")


class Broken(io.TextIOBase):
    """An output that fails."""

    def __init__(self, number):
        self.number = number

    def write(self, text):
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize("number", [errno.EPIPE, errno.EINVAL])
def test_broken_pipe(run, files, monkeypatch, number):
    """Nobody listens any more: quiet."""
    monkeypatch.setattr(sys, "stdout", Broken(number))
    result = run("rebuild", "whole.sse")
    assert (result.status, result.err) == (1, "")


def test_full_disk(run, files, monkeypatch):
    """Told, with the status of a file that could not be written."""
    monkeypatch.setattr(sys, "stdout", Broken(errno.ENOSPC))
    result = run("check", "whole.sse")
    assert (result.status, result.err) == (2, "streamkit: cannot write: No space left on device\n")


def test_name_that_no_file_can_have(run, files, monkeypatch):
    """Windows has the number of a broken pipe for it, but there is something to say."""

    def refuse(*args, **options):
        raise OSError(errno.EINVAL, "Invalid argument", "a?b")

    monkeypatch.setattr("streamkit.cli._output.Path.exists", refuse)
    result = run("rebuild", "whole.sse", "-o", "a?b")
    assert (result.status, result.err) == (2, "streamkit: cannot write: a?b: Invalid argument\n")


def test_closed_standard_output(run, files, monkeypatch):
    """An error only where it was needed."""
    monkeypatch.setattr(sys, "stdout", None)
    result = run("show", "whole.sse")
    assert (result.status, result.err) == (
        2,
        "streamkit: cannot write: standard output is closed\n",
    )
    assert run("rebuild", "whole.sse", "-o", "out.json").status == 0


def test_closed_standard_error(run, files, monkeypatch):
    """What would be told goes nowhere, above all not to standard output."""
    monkeypatch.setattr(sys, "stderr", None)
    result = run("rebuild", "empty.sse")
    assert (result.status, result.out) == (1, "")


def test_recursion(run, files, monkeypatch):
    """Who lifts the limit on depth gets no traceback."""

    def too_deep(*args, **options):
        raise RecursionError

    monkeypatch.setattr("streamkit.cli._rebuild.to_json", too_deep)
    result = run("rebuild", "whole.sse")
    assert result.status == 1
    assert "nested too deep" in result.err


def test_discard_output(tmp_path, monkeypatch):
    """What is still in the buffer is flushed to nowhere."""
    with (tmp_path / "out").open("w") as out, (tmp_path / "err").open("w") as err:
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        out.write("rest")
        discard_output()
        out.flush()
    assert (tmp_path / "out").read_text() == ""
