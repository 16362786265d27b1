from __future__ import annotations

import csv
import io
import json

import pytest

from streamkit import rebuild, rebuild_all, to_dict
from streamkit.cli import _convert

from .helpers import CUT, FAILED, WHOLE, chunk, sse
from .timed import add_command, event, give, start


@pytest.fixture(autouse=True)
def command(monkeypatch):
    add_command(monkeypatch, _convert.COMMAND)


def timed(begin=1e9):
    parts = [chunk(content="Hé"), chunk(content=',"\n', finish="stop"), "[DONE]"]
    return [event(part, begin + number) for number, part in enumerate(parts)]


def response(text):
    return to_dict(rebuild(text).response)


@pytest.mark.parametrize("form", ["sse", "jsonl", "json"])
@pytest.mark.parametrize(
    "data", [WHOLE, CUT, WHOLE + CUT.replace(b'"delta": {', b'"delta": {"role": "assistant", ')]
)
def test_same_responses(run, form, data):
    """Each form is read back as the same."""
    result = run("convert", "--to", form, stdin=data)
    assert result.status == 0
    assert ("2 streams with no [DONE]" in result.err) == (
        data not in (WHOLE, CUT) and form != "sse"
    )
    found = [to_dict(one.response) for one in rebuild_all(result.out)]
    assert found == [to_dict(one.response) for one in rebuild_all(data)]


def test_sse_keeps_done(run):
    """Where it was."""
    assert run("convert", "--to", "sse", stdin=WHOLE + CUT).out.count("data: [DONE]\n\n") == 1


def test_jsonl_keeps_times(run, monkeypatch):
    """A line with the time and the chunk."""
    give(monkeypatch, timed())
    rows = run("convert", "--to", "jsonl").values
    assert [row["t"] for row in rows] == [1e9, 1e9 + 1]
    assert rows[0]["chunk"] == chunk(content="Hé")


def test_jsonl_is_all_of_one_kind(run, monkeypatch):
    """As its first line is: a reader of lines that differ could take some for no chunks."""
    untimed = [event(chunk("chatcmpl-9", content="x"))]
    give(monkeypatch, timed(), untimed)
    result = run("convert", "--to", "jsonl")
    assert [row["t"] for row in result.values] == [1e9, 1e9 + 1, None]
    give(monkeypatch, untimed, timed())
    result = run("convert", "--to", "jsonl")
    assert all("choices" in row for row in result.values)
    assert "times if the first chunk has one" in result.err


def test_csv(run, monkeypatch):
    """Two columns; without times the first is empty."""
    give(monkeypatch, timed())
    rows = list(csv.DictReader(io.StringIO(run("convert", "--to", "csv").out)))
    assert [float(row["time"]) for row in rows] == [1e9, 1e9 + 1]
    assert json.loads(rows[1]["chunk"]) == chunk(content=',"\n', finish="stop")
    give(monkeypatch, [event(chunk())])
    assert run("convert", "--to", "csv").out.startswith("time,chunk\n,")


def test_har(run, monkeypatch):
    """An entry a stream, with times if there are any."""
    give(monkeypatch, [start(1e9 - 1), *timed()], [event(chunk("chatcmpl-9", content="x"))], [])
    log = json.loads(run("convert", "--to", "har").out)["log"]
    first, second = log["entries"]
    assert log["version"] == "1.2"
    assert first["startedDateTime"] == "2001-09-09T01:46:39.000Z"
    assert first["time"] == 2000
    assert [one["time"] for one in first["_eventSourceMessages"]] == [1e9, 1e9 + 1, 1e9 + 1]
    assert first["_eventSourceMessages"][-1]["data"] == "[DONE]"
    assert (
        response(first["response"]["content"]["text"])["choices"][0]["message"]["content"]
        == 'Hé,"\n'
    )
    assert "_eventSourceMessages" not in second
    assert "[DONE]" not in second["response"]["content"]["text"]
    assert second["startedDateTime"] == "1970-01-01T00:00:00.000Z"


def test_har_with_a_wild_clock(run, monkeypatch):
    """A time beyond the calendar is none."""
    give(monkeypatch, [event(chunk(), 1e30)])
    (entry,) = json.loads(run("convert", "--to", "har").out)["log"]["entries"]
    assert entry["startedDateTime"] == "1970-01-01T00:00:00.000Z"


@pytest.mark.parametrize("form", ["sse", "json"])
def test_no_place_for_times(run, monkeypatch, form):
    """That is said."""
    give(monkeypatch, timed())
    assert f"{form} has no place for times" in run("convert", "--to", form).err


def test_what_is_lost(run):
    """That is said too, as is a bound."""
    result = run("convert", "--to", "jsonl", stdin=b"data: {bad\n\n" + FAILED)
    assert result.status == 0
    assert "1 payload was no JSON" in result.err
    assert result.values[-1]["error"]["code"] == 5
    result = run("convert", "--to", "jsonl", "--limit", "line=20", stdin=WHOLE)
    assert result.status == 1
    assert "line" in result.err


def test_files(run, files):
    """A file that cannot be read is told; the output is whole or not at all."""
    result = run("convert", "--to", "json", "-o", "out.json", "whole.sse", "missing.sse")
    assert result.status == 2
    assert "missing.sse" in result.err
    assert len(json.loads((files / "out.json").read_text())) == 2
    assert run("convert", "--to", "xml").status == 2


@pytest.mark.parametrize("recording", [b"", b"prose\n"])
def test_nothing_to_convert(run, recording):
    """Nothing found is told, in whatever form it is written."""
    result = run("convert", "--to", "json", stdin=recording)
    assert (result.status, result.out) == (1, "[]\n")
    assert "there was no stream to convert" in result.err


def test_payloads_of_any_type(run):
    """They are JSON, so they are kept."""
    assert run("convert", "--to", "sse", stdin=sse(7, chunk())).out.startswith("data: 7\n\n")
