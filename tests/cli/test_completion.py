"""Completion, in the shells that are here."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys

import pytest

from streamkit.cli import _completion, _main


pytest.importorskip("argcomplete")

SHELLS = ("bash", "zsh", "fish", "powershell")


@pytest.mark.parametrize("shell", SHELLS)
def test_script(run, shell):
    """It names the command."""
    result = run("completion", shell)
    assert (result.status, result.err) == (0, "")
    assert "streamkit" in result.out
    assert "_ARGCOMPLETE" in result.out


def test_unknown_shell(run):
    """Wrong usage."""
    assert run("completion", "tcsh").status == 2


def test_not_installed(run, monkeypatch):
    """That is said, with what to install; a script that outlived the library does no harm."""
    monkeypatch.setitem(sys.modules, "argcomplete", None)
    monkeypatch.setitem(sys.modules, "argcomplete.shell_integration", None)
    result = run("completion", "bash")
    assert (result.status, result.out) == (2, "")
    assert "install streamkit-llm[cli]" in result.err
    monkeypatch.setenv("_ARGCOMPLETE", "1")
    assert run("--version").status == 0


def test_answer(monkeypatch):
    """The script's question goes to the library."""
    import argcomplete

    asked = []
    monkeypatch.setenv("_ARGCOMPLETE", "1")
    monkeypatch.setattr(argcomplete, "autocomplete", lambda *args, **options: asked.append(args))
    parser = _main.make_parser()
    _completion.complete(parser)
    assert asked == [(parser,)]


# What is typed before the tab, and what it becomes.
TYPED = [
    ("streamkit che", "streamkit check"),
    ("streamkit check --js", "streamkit check --json-library"),
    ("streamkit check --json-library or", "streamkit check --json-library orjson"),
    ("streamkit completion pow", "streamkit completion powershell"),
    ("streamkit check chat", "streamkit check chat-recording.sse"),
]
START = {
    "bash": (["--norc", "--noprofile", "-i"], ['eval "$(streamkit completion bash)"']),
    "zsh": (
        ["-f", "-i"],
        ["autoload -U compinit; compinit -u -D", 'eval "$(streamkit completion zsh)"'],
    ),
    "fish": (["--no-config", "-i"], ["streamkit completion fish | source"]),
}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("shell", START)
def test_tab(tmp_path, shell):
    """Commands, options, their values, and files."""
    pexpect = pytest.importorskip("pexpect")
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here")
    program = tmp_path / "bin/streamkit"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m streamkit "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "chat-recording.sse").touch()
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "TERM": "xterm", "PS1": "$ ", "HOME": str(tmp_path)}
    arguments, setup = START[shell]
    child = pexpect.spawn(
        shell,
        arguments,
        cwd=tmp_path,
        env=environment,
        dimensions=(24, 160),
        timeout=20,
        encoding="utf-8",
    )
    try:
        for line in setup:
            child.sendline(line)
        child.sendline("echo re''ady")
        child.expect("ready")
        for typed, wanted in TYPED:
            child.send(f"{typed}\t")
            child.expect(re.escape(wanted[len(typed) :]))
            child.send("\x15")  # the line is erased
    finally:
        child.close(force=True)


def test_question_as_the_script_asks_it(tmp_path):
    """Without any shell: the answer comes over descriptor 8, or in a file."""
    answer = tmp_path / "answer"
    line = "streamkit inspect --from curl-"
    environment = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SHELL": "powershell",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "ARGCOMPLETE_USE_TEMPFILES": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    subprocess.run([sys.executable, "-m", "streamkit"], env=environment, check=True)
    assert {"curl-i", "curl-v", "curl-trace"} <= {*answer.read_text().split()}
