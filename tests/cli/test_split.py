from __future__ import annotations

import pytest

from streamkit import rebuild
from streamkit.cli import _split

from .helpers import CUT, WHOLE, chunk, sse
from .timed import add_command


@pytest.fixture(autouse=True)
def command(monkeypatch):
    add_command(monkeypatch, _split.COMMAND)


def test_each_in_a_file(run, tmp_path):
    """Named by number and id, the names are printed."""
    result = run("split", "--into", "a/b", stdin=WHOLE + CUT)
    assert result.status == 0
    assert result.out.splitlines() == ["a/b/0001-chatcmpl-1.sse", "a/b/0002-chatcmpl-2.sse"]
    first = (tmp_path / "a/b/0001-chatcmpl-1.sse").read_bytes()
    assert rebuild(first).complete
    assert first.endswith(b"data: [DONE]\n\n")
    second = (tmp_path / "a/b/0002-chatcmpl-2.sse").read_bytes()
    assert b"[DONE]" not in second
    assert rebuild(second).response.choices[0].message.content == "Hel"


def test_interleaved(run, tmp_path):
    """Each stream's chunks, together."""
    parts = [chunk(f"chatcmpl-{n % 2}", content=str(n)) for n in range(6)]
    run("split", "--into", ".", "--to", "jsonl", stdin=sse(*parts, done=False))
    lines = (tmp_path / "0002-chatcmpl-1.jsonl").read_text().splitlines()
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("id", "name"),
    [
        ("../../etc/passwd", "0001-etc_passwd.sse"),
        ("/abs\\c:\0\n", "0001-abs_c.sse"),
        ("CON", "0001-CON.sse"),
        ("..", "0001.sse"),
        ("", "0001.sse"),
        ("日本", "0001.sse"),
        ("a" * 999, f"0001-{'a' * 60}.sse"),
    ],
)
def test_safe_names(run, tmp_path, id, name):
    """Never outside the folder."""
    (tmp_path / "in").mkdir()
    run("split", "--into", "in/out", stdin=sse(chunk(id, content="a", finish="stop")))
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["out"]
    assert [path.name for path in (tmp_path / "in/out").iterdir()] == [name]


def test_nothing_is_written_over(run, tmp_path):
    """Nor is a link followed."""
    (tmp_path / "0001-chatcmpl-1.sse").symlink_to(tmp_path / "elsewhere")
    result = run("split", "--into", ".", stdin=WHOLE + CUT)
    assert result.status == 2
    assert "exists, and was left as it is" in result.err
    assert not (tmp_path / "elsewhere").exists()
    assert (tmp_path / "0002-chatcmpl-2.sse").exists()


def test_no_stream(run, files):
    """That is said; so is a file that cannot be read."""
    result = run("split", "--into", "out", "empty.sse")
    assert (result.status, result.err) == (1, "streamkit: empty.sse: no stream\n")
    assert run("split", "--into", "out", "missing.sse").status == 2


def test_interrupted(run, files, monkeypatch):
    """A file is there whole, or not at all."""

    def interrupted(rows, form):
        yield "data: {"
        raise KeyboardInterrupt

    monkeypatch.setattr(_split, "written", interrupted)
    assert run("split", "--into", "out", "whole.sse").status == 130
    assert not [*(files / "out").iterdir()]
