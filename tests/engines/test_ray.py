"""Ray on one machine, with several processes."""

from __future__ import annotations

import json
import os
import sys
import threading

import pytest

import streamkit.ray

from streamkit import rebuild_batch
from streamkit.engines._row import COLUMNS
from tests.cli.helpers import WHOLE, chunk

from .tables import bodies, chunk_rows, kill_one, text_of


ray = pytest.importorskip("ray")
pa = pytest.importorskip("pyarrow")
pytest.importorskip("ray.data")
# What Ray itself does not close, or warns of, is none of ours.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

SCHEMA = ["stream", "seq", "user", "chunk"]


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=256 << 20,
        runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}},
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def dataset(rows, names, blocks=5):
    columns = [*zip(*rows, strict=True)] or [[]] * len(names)
    table = pa.table(dict(zip(names, columns, strict=True)))
    return ray.data.from_arrow(table).repartition(blocks)


def test_rows():
    """They are those of `rebuild_batch`, whatever the bodies are, beside what is kept."""
    given = bodies(200)
    ds = dataset(enumerate(given), ["id", "body"])
    found = streamkit.ray.rebuild(ds, body="body", keep=["id"]).take_all()
    found.sort(key=lambda row: row["id"])
    assert [row.pop("id") for row in found] == [*range(200)]
    assert [*found[0]] == [*COLUMNS]
    for row in found:  # Ray gives lists as arrays
        row.update({name: list(row[name]) for name in ("finish_reasons", "issue_codes")})
    assert found == rebuild_batch(given)


def test_chunks_in_rows():
    """Chunks of a stream are brought together, sorted, and each is taken once."""
    ds = dataset(chunk_rows(20), SCHEMA)
    result = streamkit.ray.rebuild(ds, body="chunk", group="stream", order="seq", keep=["user"])
    found = {row["stream"]: row for row in result.take_all()}
    assert len(found) == 20
    for name, row in found.items():
        assert (row["text"], row["user"]) == (text_of(int(name[1:])), f"user{name[1:]}")
        assert (row["chunks"], row["error_code"]) == (12, None)
    assert sum("rows_repeated" in row["issue_codes"] for row in found.values()) == 1


def test_bound_of_a_group():
    """A stream that is too large says so, and has its first chunks; the others are whole."""
    big = [("big", n, "x", json.dumps(chunk("c", content=f"{n} "))) for n in range(499, -1, -1)]
    ds = dataset([*chunk_rows(3), *big], SCHEMA)
    result = streamkit.ray.rebuild(
        ds, body="chunk", group="stream", order="seq", group_bytes=10_000
    )
    found = {row["stream"]: row for row in result.take_all()}
    row = found.pop("big")
    assert (row["error_code"], row["complete"]) == ("limit_exceeded", False)
    assert row["text"].startswith("0 1 2 ")
    assert {row["text"] for row in found.values()} == {text_of(n) for n in range(3)}


def test_odd_rows():
    """Text that is no UTF-8 fails no task; nanoseconds tell equal tokens apart; NaN is no id."""
    bad = pa.array([WHOLE.replace(b"Hel", b"H\xffl"), WHOLE]).view(pa.string())
    result = streamkit.ray.rebuild(ray.data.from_arrow(pa.table({"body": bad})), body="body")
    assert [row["text"] for row in result.take_all()] == ["H\ufffdllo", "Hello"]
    moments = pa.array([1_790_000_000_000_000_000 + n for n in range(6)], pa.timestamp("ns"))
    streams = pa.array([1.0, 1.0, 1.0, 1.0, float("nan"), float("nan")])
    chunks = [json.dumps(chunk(content=text)) for text in "aabcde"]
    ds = ray.data.from_arrow(pa.table({"s": streams, "t": moments, "c": chunks}))
    found = streamkit.ray.rebuild(ds, body="c", group="s", order="t").take_all()
    assert {row["text"] for row in found} == {"aabc", None}
    assert {row["error_code"] for row in found} == {"invalid_chunk", None}


def test_wrong_arguments():
    """They are told at the call."""
    ds = dataset([("a", "b")], ["text", "body"], blocks=1)
    with pytest.raises(ValueError, match="no column 'no'"):
        streamkit.ray.rebuild(ds, body="no")
    with pytest.raises(ValueError, match="two columns 'text'"):
        streamkit.ray.rebuild(ds, body="body", keep=["text"])


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_worker_killed():
    """The task of a worker that dies runs again; the result has each row once."""
    ds = dataset(enumerate(bodies(2000, chunks=100)), ["id", "body"], blocks=8)
    result = streamkit.ray.rebuild(ds.materialize(), body="body", keep=["id"])
    found = []
    job = threading.Thread(target=lambda: found.extend(result.take_all()))
    job.start()
    kill_one("MapBatches", after=0.5)
    job.join(300)
    assert sorted(row["id"] for row in found) == [*range(2000)]
    assert {row["chunks"] for row in found if row["id"] % 10} == {101}
