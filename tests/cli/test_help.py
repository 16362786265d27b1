"""What each command's help says, and that its examples do what they say."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys

import pytest

from streamkit.cli._main import COMMANDS

from .helpers import CUT, GLUED, WHOLE, chunk, sse


BASH = shutil.which("bash")
NEEDS_BASH = pytest.mark.skipif(BASH is None or os.name != "posix", reason="needs bash")


EXAMPLES = [
    pytest.param(line, id=line.partition(" #")[0].strip())
    for command in COMMANDS
    if command.name != "serve"  # it does not end by itself: see test_serve
    for line in command.examples.splitlines()
]


@pytest.fixture
def folder(tmp_path):
    """The files that the examples name, and the programs."""
    (tmp_path / "recording.sse").write_bytes(WHOLE)
    (tmp_path / "before.sse").write_bytes(WHOLE)
    (tmp_path / "after.sse").write_bytes(CUT)
    (tmp_path / "log.sse").write_bytes(GLUED + sse(chunk("chatcmpl-9", content="x", finish="stop")))
    times = enumerate([chunk(content="Hel"), chunk(content="lo", finish="stop")])
    lines = [json.dumps({"t": time / 10, "chunk": part}) for time, part in times]
    (tmp_path / "timed.jsonl").write_text("\n".join(lines))
    body = {"mimeType": "text/event-stream", "text": WHOLE.decode()}
    entry = {"response": {"status": 200, "content": body, "headers": []}}
    (tmp_path / "recording.har").write_text(json.dumps({"log": {"entries": [entry]}}))
    (tmp_path / "logs/deep").mkdir(parents=True)
    (tmp_path / "logs/deep/cut.sse").write_bytes(CUT)
    row = {"id": "a", "sse": WHOLE.decode()}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    (tmp_path / "bin").mkdir()
    script(tmp_path / "bin/streamkit", f'exec "{sys.executable}" -W error -m streamkit "$@"')
    script(tmp_path / "bin/curl", f'exec cat "{tmp_path}/recording.sse"')
    return tmp_path


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@NEEDS_BASH
@pytest.mark.parametrize("line", EXAMPLES)
def test_example(folder, line):
    """Each runs as it stands, without a complaint of usage, and gives something."""
    for word, library in (("parquet", "pyarrow"), ("completion", "argcomplete")):
        if word in line:
            pytest.importorskip(library)
    environment = {**os.environ, "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    environment["URL"] = "https://api.example/v1/chat/completions"
    before = {path.name for path in folder.iterdir()}
    done = subprocess.run(
        [BASH, "-o", "pipefail", "-c", line], cwd=folder, capture_output=True, env=environment
    )
    assert done.returncode in (0, 1), done.stderr
    assert b"usage:" not in done.stderr
    written = {path.name for path in folder.iterdir()} - before
    assert done.stdout or written or "/dev/null" in line or line.strip().startswith("eval")
    assert all((folder / name).stat().st_size for name in written)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_texts(command):
    """Each example says what it is for; no line is wider than a page."""
    lines = command.examples.splitlines()
    assert len(lines) >= 2
    assert all(re.match(r"  \S.* # \S", line) for line in lines)
    assert all(len(line) <= 92 for line in [*lines, *command.description.splitlines()])
    assert not command.summary.endswith(".")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_sections(run, command):
    """What it does, options, examples, exit status, in this order."""
    text = run(command.name, "--help").out
    marks = ["usage:", command.description.splitlines()[0], "options:", "examples:", "exit status:"]
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)
