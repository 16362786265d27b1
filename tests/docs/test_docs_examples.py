"""The recordings in `examples/` are what their maker makes, and the scripts do their jobs."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import subprocess
import sys

from pathlib import Path

import pytest

import streamkit


ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def load(name):
    """Return the script *name* as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = load("make")
RECORDINGS = make.recordings()


@pytest.mark.parametrize("name", RECORDINGS)
def test_recording_is_as_made(name):
    """Nobody changed a recording by hand, and no line ending changed on the way."""
    assert (EXAMPLES / name).read_bytes() == RECORDINGS[name]


def test_no_recording_is_left_over():
    """Each file that is no script has a maker."""
    names = {path.name for path in EXAMPLES.iterdir() if path.is_file()}
    assert {name for name in names if not name.endswith((".py", ".gitattributes"))} == {*RECORDINGS}


# Text of choice 0, whether it is complete, and the codes of all issues.
ROWS = [
    ("chat.sse", "Sure: one, two, three.", True, set()),
    ("tools.sse", None, True, set()),
    ("n2_logprobs.sse", "Hello!", True, set()),
    ("completion.sse", " such a day", True, set()),
    ("cut.sse", "Sure: one, two,", False, {"cut_value", "finish_missing", "done_missing"}),
    ("error.sse", "Sure: one", False, {"finish_missing", "done_missing"}),
    ("chunks.jsonl", "Sure: one, two, three.", True, {"bare_json", "done_missing"}),
    ("docs_style.txt", " such a", True, {"unframed_text", "unprefixed_line"}),
    ("two_streams.sse", "Sure: one, two, three.", True, {"several_streams"}),
]


def test_each_recording_has_a_row():
    """A new recording says what it shows."""
    assert {row[0] for row in ROWS} == {*RECORDINGS}


@pytest.mark.parametrize(("name", "text", "complete", "codes"), ROWS)
def test_recording_rebuilds(name, text, complete, codes):
    """A recording shows what it is for, and nothing else is odd about it."""
    outcome = streamkit.rebuild(EXAMPLES / name)
    choice = outcome.response.choices[0]
    got = choice.text if isinstance(choice, streamkit.CompletionChoice) else choice.message.content
    assert (got, outcome.complete, {*outcome.issue_counts}) == (text, complete, codes)


@pytest.mark.parametrize("name", RECORDINGS)
def test_split_means_nothing(name):
    """Fed byte by byte, a recording has the same responses."""
    data = RECORDINGS[name]
    pieces = (data[at : at + 1] for at in range(len(data)))
    whole = [outcome.response for outcome in streamkit.rebuild_all(data)]
    assert [outcome.response for outcome in streamkit.rebuild_all(pieces)] == whole


def test_make_writes_all(tmp_path):
    """Run as a script, the maker writes what it makes beside itself."""
    script = tmp_path / "make.py"
    script.write_bytes((EXAMPLES / "make.py").read_bytes())
    subprocess.run([sys.executable, script], check=True)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path != script}
    assert made == RECORDINGS


def test_rebuild_file(capsys):
    """Responses go to stdout, what is to be said about them to stderr."""
    names = [str(EXAMPLES / name) for name in ("two_streams.sse", "error.sse")]
    assert load("rebuild_file").main(names) == 1
    out, err = capsys.readouterr()
    responses = [json.loads(line) for line in out.splitlines()]
    assert [response["id"] for response in responses] == ["chatcmpl-1", "chatcmpl-2", "chatcmpl-1"]
    first, second, third = err.splitlines()
    assert first.endswith("chatcmpl-1: 11 chunks, 1 choices, complete")
    assert second.endswith("chatcmpl-2: 7 chunks, 1 choices, complete")
    assert third.endswith("failed: the server sent an error: 'The server is overloaded.'")


def test_rebuild_file_of_nothing(tmp_path, capsys):
    """A file without a stream is said to have none."""
    path = tmp_path / "empty"
    path.write_bytes(b"")
    assert load("rebuild_file").main([str(path)]) == 1
    out, err = capsys.readouterr()
    assert out == "null\n"
    assert err.endswith("nothing (cut)\n")


def test_live(capsys):
    """The text comes while it streams, then the usage."""
    assert load("live").main(str(EXAMPLES / "chat.sse")) == 0
    assert capsys.readouterr().out == "Sure: one, two, three.\n17 tokens\n"


def test_live_shows_text_as_it_comes(capsys):
    """The text of a chunk is out before the next block is read."""
    live = load("live")
    shown = []

    def blocks():
        for event in RECORDINGS["chat.sse"].split(b"\n\n"):
            yield event + b"\n\n"
            shown.append(capsys.readouterr().out)

    live.receive(blocks(), live.show_text)
    assert shown[:4] == ["", "Sure", ":", " one"]


def test_live_cut(capsys):
    """A connection that breaks gives the text so far, and status 1."""
    assert load("live").main(str(EXAMPLES / "cut.sse")) == 1
    assert capsys.readouterr().out == "Sure: one, two,\n"


def test_scripts_run_alone():
    """The scripts run by themselves, as their docstrings say."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    for script in ("rebuild_file.py", "live.py"):
        command = [sys.executable, EXAMPLES / script, EXAMPLES / "chat.sse"]
        subprocess.run(command, check=True, env=environment, capture_output=True)
        run = subprocess.run(command[:2], check=False, env=environment, capture_output=True)
        assert (run.returncode, run.stderr[:6]) == (1, b"usage:")


def test_reading_a_file_object():
    """A recording in an open file is read likewise."""
    outcome = streamkit.rebuild(io.BytesIO(RECORDINGS["chat.sse"]))
    assert outcome.complete
