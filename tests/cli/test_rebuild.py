from __future__ import annotations

import json
import os
import stat
import sys

from pathlib import Path

import pytest

from streamkit.cli import main

from .helpers import FAILED, WHOLE, chunk, sse


def content(response):
    return response["choices"][0]["message"]["content"]


def test_one_file(run, files):
    """One line of JSON, and nothing else."""
    result = run("rebuild", "whole.sse")
    assert (result.status, result.err) == (0, "")
    assert content(json.loads(result.out)) == "Hello"
    assert result.out.count("\n") == 1


@pytest.mark.parametrize("argv", [("rebuild",), ("rebuild", "-")])
def test_standard_input(run, argv):
    """No file, or `-`."""
    assert content(run(*argv, stdin=WHOLE).values[0]) == "Hello"


def test_several_files_and_streams(run, files):
    """JSON lines, in order."""
    other = sse(chunk("chatcmpl-9", content="x", finish="stop"))
    result = run("rebuild", "whole.sse", "-", stdin=WHOLE + other)
    assert [value["id"] for value in result.values] == ["chatcmpl-1", "chatcmpl-1", "chatcmpl-9"]


def test_indent(run, files):
    """Pretty JSON, one after another."""
    result = run("rebuild", "--indent", "2", "whole.sse", "whole.sse")
    first, end = json.JSONDecoder().raw_decode(result.out)
    assert result.out[:end].startswith('{\n  "id"')
    assert json.loads(result.out[end:]) == first


def test_text_is_utf8(run):
    """Not escaped to ASCII."""
    assert "naïve 日本" in run("rebuild", stdin=sse(chunk(content="naïve 日本"))).out


def test_incomplete(run, files):
    """The response is printed all the same; standard error says why, in one line each."""
    result = run("rebuild", "cut.sse", "failed.sse", "empty.sse")
    assert result.status == 1
    assert [content(value) for value in result.values] == ["Hel", "Hel"]
    cut, failed, empty = result.err.splitlines()
    assert cut == "streamkit: cut.sse: incomplete: finish_missing, done_missing"
    codes, message = "upstream_error, finish_missing", r"the server sent an error: 'over\x1bload'"
    assert failed == f"streamkit: failed.sse: incomplete: {codes}: {message}"
    assert empty == "streamkit: empty.sse: incomplete: empty_stream: there is no usable chunk"


@pytest.mark.parametrize(
    ("data", "options", "why"),
    [
        (b"Buy milk.\n", [], "unframed_text, no_events, empty_stream: the input has no events: "),
        (b"<html>", [], "unframed_text, html_body, empty_stream: the input is HTML or XML: "),
        (b"", ["--limit", "issues=0"], "empty_stream\n"),
    ],
)
def test_no_stream(run, data, options, why):
    """It is said what there was instead."""
    result = run("rebuild", *options, stdin=data)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(f"streamkit: <stdin>: incomplete: {why}")


def test_issues_of_a_complete_stream_are_not_told(run, files):
    """A repair that lost nothing is no news."""
    result = run("rebuild", "glued.sse")
    assert (result.status, result.err) == (0, "")


def test_outcome(run, files):
    """The response and the truth about it."""
    (value,) = run("rebuild", "--outcome", "cut.sse").values
    assert content(value.pop("response")) == "Hel"
    assert [issue["code"] for issue in value["issues"]] == ["finish_missing", "done_missing"]
    assert value["issues"][0].keys() == {"code", "message", "event", "offset"}
    del value["issues"]
    assert value == {
        "complete": False,
        "done": False,
        "chunks": 1,
        "error": None,
        "issue_counts": {"finish_missing": 1, "done_missing": 1},
        "source": "cut.sse",
    }


def test_outcome_with_error(run):
    """The server's own error object is there."""
    (value,) = run("rebuild", "--outcome", stdin=FAILED).values
    assert value["error"]["code"] == "upstream_error"
    assert value["error"]["payload"] == {"message": "over\x1bload", "code": 5}
    assert value["source"] == "<stdin>"


def test_outcome_of_nothing(run):
    """There is an object even without a response."""
    (value,) = run("rebuild", "--outcome", stdin=b"<!DOCTYPE html>").values
    assert value["response"] is None
    assert "html_body" in value["issue_counts"]


def test_outcome_with_limit_exceeded(run):
    """An error without a payload."""
    (value,) = run("rebuild", "--outcome", "--limit", "line=300", stdin=WHOLE * 9).values[-1:]
    assert value["complete"] is True
    (value,) = run("rebuild", "--outcome", "--limit", "line=10", stdin=WHOLE).values
    assert value["error"]["code"] == "limit_exceeded"
    assert value["error"]["payload"] is None


def test_strict(run, files):
    """A repair is an error; other files are still read."""
    result = run("rebuild", "--strict", "glued.sse", "cut.sse", "whole.sse")
    assert result.status == 1
    assert len(result.values) == 1
    glued, cut = result.err.splitlines()
    assert glued.startswith("streamkit: glued.sse: framing_error: ")
    assert cut.startswith("streamkit: cut.sse: incomplete_stream: ")


def test_strict_outcome(run, files):
    """What strict mode refused, with what there was."""
    result = run("rebuild", "--strict", "--outcome", "glued.sse", "cut.sse", "missing.sse")
    glued, cut = result.values
    assert result.status == 2
    assert glued["error"]["code"] == "framing_error"
    assert glued["issue_counts"] == {glued["issues"][0]["code"]: 1}
    assert content(cut["response"]) == "Hel"
    assert (cut["complete"], cut["issues"], cut["chunks"]) == (False, [], None)


def test_unreadable_files(run, files):
    """Each is named, the others are read, the status is that of wrong usage."""
    result = run("rebuild", "missing\x1b.sse", "whole.sse")
    assert result.status == 2
    assert len(result.values) == 1
    assert result.err == "streamkit: missing\\x1b.sse: No such file or directory\n"


def test_closed_standard_input(run, monkeypatch, capsysbinary):
    """As with a file that cannot be read."""
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["rebuild"]) == 2
    assert b"<stdin>: standard input is closed" in capsysbinary.readouterr().err


def test_reading_options(run):
    """They reach the reader."""
    text = sse({"id": "cmpl-1", "choices": [{"index": 0, "text": "a"}]})
    assert run("rebuild", "--kind", "completion", stdin=text).values[0]["object"] == (
        "text_completion"
    )
    assert run("rebuild", "--kind", "chat", stdin=text).values[0]["object"] == "chat.completion"
    grown = sse(chunk(content="a"), chunk(content="ab", finish="stop"))
    assert content(run("rebuild", "--cumulative", stdin=grown).values[0]) == "ab"
    assert content(run("rebuild", stdin=grown).values[0]) == "aab"
    lines = json.dumps(chunk(content="x")).encode()
    assert content(run("rebuild", "--from", "jsonl", stdin=lines).values[0]) == "x"


@pytest.mark.parametrize("library", ["auto", "json", "orjson", "msgspec"])
def test_json_libraries_agree(run, library):
    """Whichever decodes, the output is the same."""
    if library in ("orjson", "msgspec"):
        pytest.importorskip(library)
    same = run("rebuild", stdin=WHOLE).out
    assert run("rebuild", "--json-library", library, stdin=WHOLE).out == same


def test_missing_json_library(run, monkeypatch):
    """It is told at once, not at the first payload."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = run("rebuild", "--json-library", "orjson")
    assert result.status == 2
    assert "orjson is not installed" in result.err


def test_limits(run):
    """Integers and `none`, the last one counts."""
    assert run("rebuild", "--limit", "text=3", stdin=WHOLE).status == 1
    argv = ("rebuild", "--limit", "text=3", "--limit", "text=none")
    assert run(*argv, stdin=WHOLE).status == 0


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--limit", "colour=1"], "no limit 'colour'; there are line, event"),
        (["--limit", "line"], "line must be an integer or none, not ''"),
        (["--limit", "line=-1"], "line must be an integer or none, not '-1'"),
        (["--limit", "line=²"], "line must be an integer or none"),
        (["--indent", "x"], "invalid int value"),
        (["--indent", "99"], "invalid choice"),
        (["--from", "docx"], "invalid choice"),
        (["--kind", "image"], "invalid choice"),
        (["--str"], "unrecognized arguments: --str"),
        (["--\x1b[2J"], r"unrecognized arguments: --\x1b[2J"),
    ],
)
def test_wrong_usage(run, argv, message):
    """Status 2, a message, and nothing on standard output."""
    result = run("rebuild", *argv)
    assert (result.status, result.out) == (2, "")
    assert message in result.err


def test_too_deep_without_limit(run):
    """The interpreter's recursion limit is not met with a traceback."""
    deep = WHOLE.replace(b'"model": "m-1"', b'"x": ' + b"[" * 980 + b"]" * 980)
    result = run("show", "--limit", "depth=none", stdin=deep)
    assert result.status in (0, 1)
    assert "Traceback" not in result.err


# -- -o ------------------------------------------------------------------------------


def test_output_file(run, files):
    """The file has what standard output would have had; no temporary file stays."""
    expected = run("rebuild", "whole.sse").out
    before = set(files.iterdir())
    result = run("rebuild", "whole.sse", "-o", "out.json")
    assert (result.status, result.out) == (0, "")
    assert (files / "out.json").read_bytes().decode() == expected
    assert set(files.iterdir()) == before | {files / "out.json"}


def test_output_to_dash(run, files):
    """`-` is standard output."""
    assert run("rebuild", "whole.sse", "-o", "-").out


def test_output_replaces(run, files):
    """The mode of the file is kept, and a link stays a link."""
    target = files / "real.json"
    target.write_text("old")
    target.chmod(0o640)
    (files / "link.json").symlink_to(target)
    assert run("rebuild", "whole.sse", "-o", "link.json").status == 0
    assert (files / "link.json").is_symlink()
    assert target.read_text().startswith("{")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_nothing_to_write_leaves_the_file(run, files):
    """What was there is worth more than an empty file."""
    (files / "out.json").write_text("old")
    assert run("rebuild", "empty.sse", "-o", "out.json").status == 1
    assert (files / "out.json").read_text() == "old"


def test_interrupted_output_leaves_the_file(run, files, monkeypatch):
    """Whole, or not at all."""
    (files / "out.json").write_text("old")
    before = set(files.iterdir())

    def tell(message):
        raise KeyboardInterrupt

    monkeypatch.setattr("streamkit.cli._rebuild.tell", tell)
    assert run("rebuild", "whole.sse", "cut.sse", "-o", "out.json").status == 130
    assert (files / "out.json").read_text() == "old"
    assert set(files.iterdir()) == before


def test_output_to_a_device(run, files):
    """A device is written to, never replaced."""
    assert run("rebuild", "whole.sse", "-o", os.devnull).status == 0
    assert not Path(os.devnull).is_file()


def test_output_that_cannot_be_opened(run, files):
    """Named, with the status of wrong usage."""
    result = run("rebuild", "whole.sse", "-o", "no/such/out.json")
    assert result.status == 2
    assert f"cannot write: {files / 'no/such/out.json'}: No such file" in result.err
    assert run("rebuild", "whole.sse", "-o", ".").status == 2
