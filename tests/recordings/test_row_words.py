"""Rows, and logs, in which a stream stands behind other words, or rows behind a prefix."""

from __future__ import annotations

import csv
import io
import json

import pytest

from streamkit.recordings import ReadOptions, rebuild, sniff
from streamkit.recordings._row_words import LONGEST, without_words

from .making import BODY, CHUNKS, lines


EVENTS = [event + "\n\n" for event in BODY.split("\n\n") if event]


def at(number):
    return f"2026-01-01T12:00:{number:02d}.000Z"


def table(rows):
    file = io.StringIO(newline="")
    csv.writer(file).writerows([["Date", "Message"], *rows])
    return file.getvalue().encode()


OTHER = {"time": at(0), "message": "POST /v1/chat/completions", "request": {"stream": True}}
ROWS = {
    "events": [{"time": at(i), "message": f"chunk: {e}"} for i, e in enumerate(EVENTS)],
    "lines": [{"time": at(i), "message": f"chunk: {e.strip()}"} for i, e in enumerate(EVENTS)],
    "repr": [{"time": at(i), "message": f"read {e.encode()!r} ok"} for i, e in enumerate(EVENTS)],
    "dicts": [{"time": at(i), "message": f"chunk={each!r}"} for i, each in enumerate(CHUNKS)],
    "json": [{"time": at(i), "msg": f"got {json.dumps(each)}"} for i, each in enumerate(CHUNKS)],
    "nested": [
        {"_id": i, "_source": {"@timestamp": at(i), "log": {"message": f"chunk: {e}"}}}
        for i, e in enumerate(EVENTS)
    ],
}


def check(outcome, *, timed=True):
    assert outcome.response.choices[0].message.content == "Hello"
    assert outcome.chunks == len(CHUNKS)
    assert (outcome.timing is not None) == timed
    assert not {"not_a_chunk", "bad_json", "unframed_text"} & outcome.issue_counts.keys()


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("others", [0, 2])
def test_rows(name, others):
    """The times are the rows' own; other entries of the log are left out."""
    data = lines(*[OTHER] * others, *ROWS[name], *[OTHER] * others)
    assert sniff(data).name == "rows"
    (outcome,) = rebuild(data)
    check(outcome)


def test_array_and_table():
    """However the rows are laid out."""
    (outcome,) = rebuild(json.dumps([OTHER, *ROWS["events"]], indent=2))
    check(outcome)
    data = table([row["time"], row["message"]] for row in ROWS["lines"])
    assert sniff(data).name == "csv"
    (outcome,) = rebuild(data, options=ReadOptions(time_field="Date"))
    check(outcome)


def test_notebook():
    """What a cell printed, chunk by chunk."""
    output = {"output_type": "stream", "text": [f"{each!r}\n" for each in CHUNKS]}
    data = {"cells": [{"cell_type": "code", "outputs": [output], "source": ["x"]}], "nbformat": 4}
    (outcome,) = rebuild(json.dumps(data, indent=1))
    check(outcome, timed=False)


def test_cut_row():
    """What is no row is said."""
    data = lines(*ROWS["events"])
    (outcome,) = rebuild(data[:-20])
    assert outcome.chunks == len(CHUNKS)
    assert not outcome.done
    assert "unframed_text" in outcome.issue_counts or "cut_value" in outcome.issue_counts


def test_what_was_sent():
    """Requests are not looked at, nor what is too long to be a line of a log."""
    rows = [
        {"request": f"sent {EVENTS[0]}"},
        "plain",
        5,
        {"text": f"x {EVENTS[0]}" + " " * LONGEST},
    ]
    assert list(without_words(rows)) == ["plain", 5]


@pytest.mark.parametrize(
    "line",
    [
        'info: chunk {{"service":"x","chunk":{0}}}\n',
        '12:00:00.5 chunk {{"service":"x","chunk":{0}}}\n',
        "12:00:00.5 chunk {{'service': 'x', 'chunk': {1!r}}} done\n",
    ],
)
def test_rows_behind_a_prefix(line):
    """A chunk in a field of the object that is logged."""
    data = "".join(line.format(json.dumps(each), each) for each in CHUNKS)
    assert sniff(data.encode()).name == "prefixed"
    (outcome,) = rebuild(data + "info: end {}\n")
    assert outcome.response.choices[0].message.content == "Hello"
    assert outcome.chunks == len(CHUNKS)


def test_labels():
    """Loki shows labels between the time and the line."""
    data = "".join(
        f'2026-01-01T12:00:0{i}+01:00 {{app="api", pod_name="x-1"}} {e.strip()}\n'
        for i, e in enumerate(EVENTS)
    )
    (outcome,) = rebuild(data)
    check(outcome)
    assert outcome.done
