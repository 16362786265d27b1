"""Chunks in rows that come sorted by stream: put together across batches, in bounds."""

from __future__ import annotations

import json

import pytest

import streamkit

from streamkit.engines._arrow import MOST_ROWS
from streamkit.engines._call import mapper_of, needed
from streamkit.engines._row import COLUMNS
from tests.cli.helpers import chunk

from .tables import chunk_rows, text_of


pa = pytest.importorskip("pyarrow")
NAMES = ["stream", "seq", "user", "chunk"]
DEFAULTS = {"keep": (), "group": None, "order": None, "group_bytes": 1 << 20, "prefix": ""}


def mapper(**options):
    return mapper_of(NAMES, body="chunk", **{**DEFAULTS, **options})


def batches(rows, size):
    table = pa.table(dict(zip(NAMES, zip(*rows, strict=True), strict=True)))
    return table.to_batches(max_chunksize=size)


def run(mapper, rows, size=1000):
    return [row for batch in mapper(batches(rows, size)) for row in batch.to_pylist()]


@pytest.mark.parametrize("size", [1, 2, 5, 12, 13, 1000])
def test_across_batches(size):
    """Wherever the batches end, each stream is one row."""
    found = run(mapper(group="stream", order="seq", keep=["user"]), sorted(chunk_rows(9)), size)
    assert [row["stream"] for row in found] == [f"s{number}" for number in range(9)]
    assert [row["text"] for row in found] == [text_of(number) for number in range(9)]
    assert [*found[0]] == ["stream", "user", *COLUMNS]


def test_without_order():
    """The rows of a stream stay as they come."""
    found = run(mapper(group="stream"), sorted(chunk_rows(3)))
    assert {row["chunks"] for row in found} == {12, 13}


def test_many_streams():
    """They are handed on before all are read."""
    rows = [(f"s{n:05}", 0, "u", json.dumps(chunk(content=str(n)))) for n in range(MOST_ROWS + 5)]
    given = iter(batches(rows, 100))
    first = next(mapper(group="stream")(given))
    assert first.num_rows == MOST_ROWS
    assert len(run(mapper(group="stream"), rows)) == MOST_ROWS + 5


def test_gaps_and_nulls():
    """A number that is missing is noticed; a chunk that is null adds nothing."""
    part = json.dumps(chunk(content="a"))
    rows = [("s", 0, "u", part), ("s", 1, "u", None), ("s", 2, "u", part), ("s", 5, "u", part)]
    (row,) = run(mapper(group="stream", order="seq"), rows)
    assert row["text"] == "aaa"
    assert "rows_missing" in row["issue_codes"]


def test_bound():
    """What is beyond is left out and said, of empty chunks, too."""
    rows = [("s", n, "u", json.dumps(chunk(content="a")) if n < 3 else None) for n in range(200)]
    (row,) = run(mapper(group="stream", order="seq", group_bytes=5000), rows)
    assert (row["text"], row["complete"], row["error_code"]) == ("aaa", False, "limit_exceeded")
    assert "group_bytes" in row["error_message"]


def test_numbers_that_floats_would_round():
    """Equal tokens of one nanosecond after another are two."""
    moments = pa.array([1_790_000_000_000_000_000 + n for n in range(4)], pa.timestamp("ns"))
    chunks = [json.dumps(chunk(content=text)) for text in "aabc"]
    for order in (moments, moments.cast(pa.int64()), pa.array([*range(4)], pa.decimal128(20, 0))):
        table = pa.table([["s"] * 4, order, ["u"] * 4, chunks], NAMES)
        (found,) = mapper(group="stream", order="seq")(table.to_batches())
        (row,) = found.to_pylist()
        assert (row["text"], "rows_repeated" in row["issue_codes"]) == ("aabc", False)


def test_no_moment():
    """A chunk without one is the last."""
    moments = pa.array([None, 1], pa.timestamp("us"))
    chunks = [json.dumps(chunk(content=text)) for text in "ab"]
    table = pa.table([["s"] * 2, moments, ["u"] * 2, chunks], NAMES)
    (found,) = mapper(group="stream", order="seq")(table.to_batches())
    assert found.column("text").to_pylist() == ["ba"]


def test_no_stream():
    """NaN is the null of pandas; each would be another stream."""
    streams = pa.array([float("nan"), float("nan"), 1.0])
    table = pa.table([streams, [0, 1, 2], ["u"] * 3, [json.dumps(chunk(content="a"))] * 3], NAMES)
    (found,) = mapper(group="stream", order="seq")(table.to_batches())
    first, second = found.select(["text", "error_message"]).to_pylist()
    assert first["error_message"].startswith("2 chunks without 'stream'")
    assert second["text"] == "a"
    (found,) = mapper(group="stream")(table.slice(1).to_batches())
    assert found.column("error_message")[0].as_py().startswith("1 chunk without")


def test_chunks_that_are_none():
    """A type that JSON has not, and text that is no UTF-8, are no error of the job."""
    dates = pa.array([1, 2], pa.date32())
    table = pa.table([["s", "t"], [0, 1], ["u"] * 2, dates], NAMES)
    (found,) = mapper(group="stream", order="seq")(table.to_batches())
    assert found.column("error_code").to_pylist() == ["wrong_type"] * 2
    bad = json.dumps(chunk(content="aXb")).encode().replace(b"X", b"\xff")
    texts = pa.array([bad, bad]).view(pa.string())
    names = pa.array([b"s\xff", b"t"]).view(pa.string())
    table = pa.table([names, [0, 1], ["u"] * 2, texts], NAMES)
    (found,) = mapper(group="stream", order="seq")(table.to_batches())
    assert found.column("text").to_pylist() == ["a\ufffdb"] * 2


def test_needed():
    """Only the columns that are used are read."""
    assert needed(mapper(keep=["user"])) == (["user"], ["user", "chunk"])
    grouper = mapper(group="stream", order="seq")
    assert needed(grouper) == (["stream"], ["stream", "chunk", "seq"])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"keep": "user"}, TypeError),
        ({"order": "seq"}, TypeError),
        ({"keep": ["no"]}, ValueError),
        ({"group": "no"}, ValueError),
        ({"group": "stream", "order": "no"}, ValueError),
        ({"group": "stream", "keep": ["stream"]}, ValueError),
        ({"form": "nothing"}, streamkit.UnknownForm),
    ],
)
def test_wrong_arguments(options, error):
    """They are told at once."""
    with pytest.raises(error):
        mapper(**options)
