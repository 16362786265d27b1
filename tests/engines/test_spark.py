"""Spark in local mode, with several processes."""

from __future__ import annotations

import json
import os
import sys
import threading

import pytest

import streamkit.spark

from streamkit import rebuild_batch
from streamkit.engines._row import COLUMNS
from tests.cli.helpers import WHOLE, chunk

from .tables import bodies, chunk_rows, kill_one, text_of


pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
# What Spark itself does not close, or warns of, is none of ours.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2,4]").appName("streamkit")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        if "Java" in str(error):
            pytest.skip("Spark needs Java 17")
        raise
    yield session
    session.stop()


def rows(df):
    return [row.asDict() for row in df.collect()]


def test_rows(spark):
    """They are those of `rebuild_batch`, whatever the bodies are, beside what is kept."""
    given = bodies(200)
    table = [
        (number, None if body is None else bytearray(body)) for number, body in enumerate(given)
    ]
    df = spark.createDataFrame(table, "id int, body binary").repartition(5)
    found = sorted(
        rows(streamkit.spark.rebuild(df, body="body", keep=["id"])), key=lambda row: row["id"]
    )
    assert [row.pop("id") for row in found] == [*range(200)]
    assert found == rebuild_batch(given)
    assert [*found[0]] == [*COLUMNS]


def test_kinds_of_columns(spark):
    """Text, arrays of chunks as text, and arrays of structs; and odd names."""
    text = WHOLE.decode()
    parts = [json.dumps(chunk(content=piece)) for piece in ("Hel", "lo")]
    structs = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in ("Hel", "lo")]
    kind = "array<struct<choices:array<struct<index:int,delta:struct<content:string>>>>>"
    df = spark.createDataFrame(
        [(text, parts, structs)], f"`odd name` string, b array<string>, c {kind}"
    )
    for name in df.columns:
        (row,) = rows(streamkit.spark.rebuild(df, body=name, prefix="_"))
        assert row["_text"] == "Hello"
        assert len(row) == len(COLUMNS)


ODD = ["a.b", "a.`b c`", "`a`", "we`ird", "``", "sp ace", "", "é.ü", "c0", "c1", "x\n;{}=,.(\t)"]


@pytest.mark.parametrize("name", ODD)
def test_names_of_columns(spark, name):
    """Whatever Spark would take apart: in each place that a column can have, all at once too."""
    from pyspark.sql.types import StringType, StructField, StructType

    kind = StructType([StructField(one, StringType()) for one in (name, "a", name + ".z", "c9")])
    text = WHOLE.decode()
    df = spark.createDataFrame([(text, "A", "Z", text)], kind)
    rebuild = streamkit.spark.rebuild
    (row,) = rows(rebuild(df, body=name, keep=["c9", name + ".z", "a", name], prefix="p.`"))
    assert list(row.items())[:4] == [("c9", text), (name + ".z", "Z"), ("a", "A"), (name, text)]
    assert [*row][4:] == ["p.`" + column for column in COLUMNS]
    assert row["p.`text"] == "Hello"
    chunks = spark.createDataFrame([(name, text, "1", "k"), (None, text, "2", "k")], kind)
    grouped = rebuild(chunks, body="a", group=name, order=name + ".z", keep=["c9"])
    lost, found = sorted(rows(grouped), key=lambda row: row[name] is not None)
    assert (found[name], found["c9"], found["text"]) == (name, "k", "Hello")
    assert lost["error_message"].startswith(f"1 chunk without {streamkit._errors.quote(name)}")


def test_text_that_is_no_utf8(spark):
    """Spark does not look at what a text is made of; it fails no task, in any column."""
    bad = WHOLE.replace(b"Hel", b"H\xffl")
    df = spark.createDataFrame([(bytearray(bad), 1), (bytearray(WHOLE), 2)], "raw binary, n int")
    df = df.selectExpr("cast(raw as string) as body", "cast(raw as string) as k", "n")
    found = {row["text"] for row in rows(streamkit.spark.rebuild(df, body="body").select("text"))}
    assert found == {"H\ufffdllo", "Hello"}
    result = streamkit.spark.rebuild(df, body="body", group="k", order="n").select("text")
    assert {row["text"] for row in rows(result)} == found


def test_struct_beside_a_dot(spark):
    """A column `a.b` is not the field b of the column a."""
    df = spark.sql("select 'other' as `a.b`, named_struct('b', 'kept') as a, null as body")
    (row,) = rows(streamkit.spark.rebuild(df, body="body", keep=["a.b", "a"]))
    assert (row["a.b"], row["a"].b, row["error_code"]) == ("other", "kept", "empty_stream")


def test_large_rows(spark):
    """A batch of Spark's that makes more than is held at once comes in several."""
    body = WHOLE.replace(b"Hel", b"x" * 3_000_000)
    df = spark.createDataFrame([(bytearray(body),)] * 8, "body binary").coalesce(1)
    found = rows(streamkit.spark.rebuild(df, body="body").select("text"))
    assert [len(row["text"]) for row in found] == [3_000_002] * 8


def test_nothing(spark):
    """A table without rows has the columns."""
    df = spark.createDataFrame([], "body string")
    result = streamkit.spark.rebuild(df, body="body")
    assert result.columns == [*COLUMNS]
    assert rows(result) == []


def test_chunks_in_rows(spark):
    """Chunks of a stream are brought together, sorted, and each is taken once."""
    table = [*chunk_rows(30), (None, 0, "nobody", "x"), (None, 1, "nobody", "y")]
    df = spark.createDataFrame(table, "stream string, seq int, user string, chunk string")
    result = streamkit.spark.rebuild(
        df.repartition(5), body="chunk", group="stream", order="seq", keep=["user"]
    )
    assert result.columns == ["stream", "user", *COLUMNS]
    found = {row["stream"]: row for row in rows(result)}
    assert len(found) == 31
    lost = found.pop(None)
    assert lost["error_code"] == "invalid_chunk"
    assert lost["error_message"].startswith("2 chunks without 'stream'")
    for name, row in found.items():
        assert row["text"] == text_of(int(name[1:]))
        assert row["user"] == f"user{name[1:]}"
        assert (row["chunks"], row["error_code"]) == (12, None)
    assert sum("rows_repeated" in row["issue_codes"] for row in found.values()) == 1


def test_bound_of_a_group(spark):
    """A stream that is too large says so, and has its first chunks; the others are whole."""
    big = [("big", n, None, json.dumps(chunk("c", content=f"{n} "))) for n in range(500)]
    df = spark.createDataFrame(
        [*chunk_rows(3), *big], "stream string, seq int, user string, chunk string"
    )
    result = streamkit.spark.rebuild(
        df, body="chunk", group="stream", order="seq", group_bytes=10_000
    )
    found = {row["stream"]: row for row in rows(result)}
    row = found.pop("big")
    assert (row["error_code"], row["complete"]) == ("limit_exceeded", False)
    assert row["text"].startswith("0 1 2 ")
    assert 10 < row["chunks"] < 500
    assert "group_bytes" in row["error_message"]
    assert {row["text"] for row in found.values()} == {text_of(n) for n in range(3)}


def test_wrong_arguments(spark):
    """They are told at the call."""
    df = spark.createDataFrame([("a", "b")], "text string, body string")
    with pytest.raises(ValueError, match="no column 'no'"):
        streamkit.spark.rebuild(df, body="no")
    with pytest.raises(ValueError, match="two columns 'text'"):
        streamkit.spark.rebuild(df, body="body", keep=["text"])
    with pytest.raises(ValueError, match="two columns 'body'"):
        streamkit.spark.rebuild(df, body="text", keep=["body"], group="body", prefix="_")
    with pytest.raises(TypeError, match="not the text"):
        streamkit.spark.rebuild(df, body="body", keep="text")
    with pytest.raises(TypeError, match="with group"):
        streamkit.spark.rebuild(df, body="body", order="text")
    with pytest.raises(streamkit.UnknownForm):
        streamkit.spark.rebuild(df, body="body", form="nothing")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_worker_killed(spark):
    """The task of a worker that dies runs again; the result has each row once."""
    given = [
        (number, bytearray(body or b"")) for number, body in enumerate(bodies(2000, chunks=100))
    ]
    df = spark.createDataFrame(given, "id int, body binary").repartition(8)
    result = streamkit.spark.rebuild(df, body="body", keep=["id"]).select("id", "text", "chunks")
    found = []
    job = threading.Thread(target=lambda: found.extend(result.collect()))
    job.start()
    kill_one("pyspark", after=1.0)
    job.join(300)
    assert sorted(row.id for row in found) == [*range(2000)]
    assert {row.chunks for row in found if row.id % 10} == {101}
