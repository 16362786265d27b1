"""`python -m benchmarks` runs, and its record is one."""

from __future__ import annotations

import json
import re
import sys

import pytest

from benchmarks import record
from benchmarks.__main__ import GROUPS, main
from benchmarks.rows import Goal, Row
from benchmarks.timing import QUICK, kept_and_peak, race


DATE = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}")
PEERS = ("anthropic", "httpx_sse", "langchain_core", "litellm", "openai", "openinference")


@pytest.fixture
def no_peers(monkeypatch):
    """Let none of the packages that are compared with be installed."""
    known = [name for name in sys.modules if name.startswith(PEERS)]
    for name in [*PEERS, *known]:
        monkeypatch.setitem(sys.modules, name, None)


def test_quick_run(capsys, no_peers):
    """Each group has figures, each with a name of its own, though no peer is installed."""
    assert main(["--quick", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    names = [row["name"] for row in rows]
    assert len({*names}) == len(names)
    assert all(row["value"] is None or row["value"] >= 0 for row in rows)
    assert {row["verdict"] for row in rows} <= {"", "not installed"}


@pytest.mark.parametrize("group", GROUPS)
def test_group(group, no_peers):
    """Each can be measured alone; what is compared with is named, installed or not."""
    rows = list(GROUPS[group](QUICK))
    assert rows
    assert any(row.value is not None for row in rows) or group == "parsers"
    missing = {row.name.partition(" | ")[2] for row in rows if row.value is None}
    assert {"builders": "litellm", "parsers": "httpx-sse"}.get(group, "") in {*missing, ""}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("group", ["builders", "parsers"])
def test_peers(group):
    """Where they are installed, each of them has a figure."""
    for name in PEERS:
        pytest.importorskip(name)
    assert all(row.value for row in GROUPS[group](QUICK))


def test_table(capsys):
    """A line a figure; a quick run is not held to the goals."""
    assert main(["--quick", "--only", "snapshots", "--only", "memory"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["figure", "value", "goal", "recorded"]
    assert len(lines) == 6
    assert not any("MISSED" in line or "met" in line for line in lines), "too short to be judged"


def test_json(capsys):
    """A JSON object a line."""
    assert main(["--quick", "--json", "--only", "memory"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["unit"] for row in rows} == {"KiB"}
    assert set(rows[0]) == {"name", "value", "unit", "goal", "verdict"}


@pytest.mark.parametrize("extra", [["--quick"], ["--only", "memory"]])
def test_only_whole_runs_are_recorded(extra, capsys):
    """Figures of a quick run, or of a part, would look like a change."""
    with pytest.raises(SystemExit):
        main(["--record", *extra])
    assert "--record takes a whole run" in capsys.readouterr().err


# -- The record ----------------------------------------------------------------------


def test_committed_record():
    """It has entries by date, each with figures only."""
    entries = record.entries()
    assert entries
    assert [entry["date"] for entry in entries] == sorted(entry["date"] for entry in entries)
    for entry in entries:
        assert set(entry) == {"date", "python", "streamkit", "figures"}
        assert DATE.fullmatch(entry["date"])
        assert all(type(value) is float and value >= 0 for value in entry["figures"].values())


def test_record_keeps_what_other_machines_can_compare(tmp_path):
    """Ratios and sizes, rounded; no microseconds, and nothing for what is not installed."""
    path = tmp_path / "record.jsonl"
    rows = [Row("a", 1.23456), Row("b", 7.0, "us"), Row("c", None), Row("d", 2, "KiB")]
    record.append(rows, path)
    record.append([Row("a", 1.5)], path)
    assert [entry["figures"] for entry in record.entries(path)] == [{"a": 1.23, "d": 2}, {"a": 1.5}]
    assert record.latest(path) == {"a": 1.5}


def test_no_record_yet(tmp_path):
    """Then there is nothing to compare with."""
    assert record.latest(tmp_path / "none.jsonl") == {}


# -- Figures -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("goal", "value", "shown", "met"),
    [
        (Goal(at_least=2), 2.0, ">= 2", True),
        (Goal(at_least=2.5), 2.4, ">= 2.5", False),
        (Goal(at_most=1.2), 1.2, "<= 1.2", True),
        (Goal(at_most=1.2), 1.3, "<= 1.2", False),
        (Goal(), 0.0, "", True),
    ],
)
def test_goal(goal, value, shown, met):
    """A goal is reached at its bound."""
    assert (str(goal), goal.is_met(value)) == (shown, met)


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (Row("a", 1.0), ""),
        (Row("a", None, goal=Goal(at_least=1)), "not installed"),
        (Row("a", 1.0, goal=Goal(at_least=1)), "met"),
        (Row("a", 0.9, goal=Goal(at_least=1)), "MISSED"),
    ],
)
def test_verdict(row, verdict):
    """A missed goal is easy to see."""
    assert row.verdict == verdict


def test_race_takes_turns():
    """What is compared is run alternately."""
    turns = []
    times = race(QUICK, {"a": lambda: turns.append("a"), "b": lambda: turns.append("b")})
    assert turns == ["a", "b"]
    assert set(times) == {"a", "b"}


def test_kept_and_peak():
    """What is thrown away counts for the peak only."""

    def make():
        thrown = bytes(500_000)
        return bytes(len(thrown) // 5)

    kept, peak = kept_and_peak(make)
    assert 100_000 <= kept < 110_000
    assert 600_000 <= peak < 610_000
