"""Rows of bodies: one for each, whatever it is."""

from __future__ import annotations

import base64
import gzip
import io
import json
import multiprocessing
import pickle

from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

import pytest

import streamkit

from streamkit import Limits, rebuild_batch
from streamkit.engines import _batch
from streamkit.engines._row import COLUMNS
from tests.cli.helpers import CUT, FAILED, WHOLE, chunk, sse


USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
CHUNKS = [chunk(role="assistant", content="Hel"), chunk(content="lo", finish="stop")]


def one(body, **options):
    (row,) = rebuild_batch([body], **options)
    assert list(row) == list(COLUMNS)
    return row


def test_row_says_what_the_outcome_says():
    """Each cell is that of `rebuild`."""
    last = {"id": "chatcmpl-1", "choices": [], "usage": {**USAGE, "cost": 0.5}}
    body = sse(*CHUNKS, last)
    row, outcome = one(body), streamkit.rebuild(body)
    assert json.loads(row["response"]) == streamkit.to_dict(outcome.response)
    assert row["text"] == "Hello"
    assert row["finish_reasons"] == ["stop"]
    assert json.loads(row["usage"]) == {**USAGE, "cost": 0.5}
    assert {name: row[name] for name in USAGE} == USAGE
    assert (row["chunks"], row["complete"]) == (outcome.chunks, True)
    assert (row["error_code"], row["error_message"]) == (None, None)
    assert (row["issue_codes"], row["issues"]) == ([], "[]")


def test_completion():
    """The text of a legacy completion is in the same column."""
    choice = {"index": 0, "text": "day", "finish_reason": "stop"}
    assert one(sse({"object": "text_completion", "choices": [choice]}))["text"] == "day"


FORMS = {
    "bytes": WHOLE,
    "text": WHOLE.decode(),
    "bytearray": bytearray(WHOLE),
    "memoryview": memoryview(WHOLE),
    "gzip": gzip.compress(WHOLE),
    "base64": base64.b64encode(gzip.compress(WHOLE)).decode(),
    "dicts": CHUNKS,
    "tuple": tuple(CHUNKS),
    "generator": (chunk for chunk in CHUNKS),
    "JSON": [json.dumps(chunk) for chunk in CHUNKS],
    "JSON bytes": [json.dumps(chunk).encode() for chunk in CHUNKS],
    "nulls between": [CHUNKS[0], None, CHUNKS[1]],
    "pieces": [WHOLE[:50], WHOLE[50:]],
    "events": WHOLE.decode().strip().split("\n\n"),
    "lines": WHOLE.decode().split("\n"),
    "lines as bytearrays": [bytearray(line) for line in WHOLE.split(b"\n")],
    "response": json.loads(streamkit.to_json(streamkit.finalize(CHUNKS))),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_bodies(name):
    """A body is bytes, text, chunks or a response, and is not changed."""
    row = one(FORMS[name])
    assert (row["text"], row["complete"], row["error_code"]) == ("Hello", True, None)


def test_events_in_a_list_need_no_repair():
    """Events that were parted at blank lines are put together with these."""
    assert one(FORMS["events"])["issue_codes"] == []


def test_bodies_are_left_alone():
    """The caller's chunks are neither changed nor held."""
    before = json.dumps(CHUNKS)
    rebuild_batch([CHUNKS, CHUNKS])
    assert json.dumps(CHUNKS) == before


deep = []
for _ in range(100_000):
    deep = [deep]

POISON = {
    "null": (None, "empty_stream"),
    "NaN": (float("nan"), "empty_stream"),
    "empty": (b"", "empty_stream"),
    "no chunks": ([], "empty_stream"),
    "only nulls": ([None], "empty_stream"),
    "zeros": (b"\0" * 100, "empty_stream"),
    "number": (5, "wrong_type"),
    "path": (Path(__file__), "wrong_type"),
    "file": (io.BytesIO(WHOLE), "wrong_type"),
    "HAR of nothing": ('{"log": {"version": "1.2", "entries": []}}', "unknown_form"),
    "damaged Parquet": (b"PAR1" + bytes(20), "unknown_form"),
    "deep": (b"[" * 1_000_000, "empty_stream"),
    "deep chunk": ([{"choices": [{"index": 0, "delta": {"content": "a"}}], "x": deep}], None),
    "half a pair": (b'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n', None),
}


@pytest.mark.parametrize("name", POISON)
def test_poison(name):
    """Nothing is raised, the row says what is wrong, and the rows beside it are right."""
    body, code = POISON[name]
    before, row, after = rebuild_batch([WHOLE, body, WHOLE])
    assert before["text"] == after["text"] == "Hello"
    assert (row["error_code"], row["complete"]) == (code, False)
    assert (row["error_message"] is None) == (code is None)
    json.dumps(row).encode()
    "".join(value for value in row.values() if isinstance(value, str)).encode()


@pytest.mark.parametrize(
    "body", [5, Path(__file__), io.BytesIO(WHOLE), object()], ids=lambda body: type(body).__name__
)
def test_what_a_body_may_be_is_told(body):
    """Not what `rebuild` takes: a path is no body."""
    [row] = rebuild_batch([body])
    told = f"a body must be bytes, text or chunks, not {type(body).__name__}"
    assert row["error_message"] == told


def test_each_way_a_stream_ends():
    """Cut, with an error of the server, and beyond a bound."""
    cut, failed = rebuild_batch([CUT, FAILED])
    assert (cut["text"], cut["complete"], cut["error_code"]) == ("Hel", False, None)
    assert cut["finish_reasons"] == [None]
    assert "finish_missing" in cut["issue_codes"]
    assert [issue["code"] for issue in json.loads(cut["issues"])] == cut["issue_codes"]
    assert (failed["text"], failed["error_code"]) == ("Hel", "upstream_error")
    bounded = one(WHOLE, limits=Limits(chunks=1))
    assert (bounded["text"], bounded["error_code"]) == ("Hel", "limit_exceeded")


def test_several_streams():
    """The row is that of the first, and says so."""
    row = one(WHOLE + CUT)
    assert (row["text"], row["complete"]) == ("Hello", True)
    assert row["issue_codes"] == ["several_streams"]


def failing(error, *found):
    def rebuild(*_args, **_options):
        yield from found
        raise error

    return rebuild


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(5, "the disk is gone"), "unreadable"),
        (RuntimeError("x\ud83d"), "unexpected"),
        (streamkit.LimitExceeded("line", 5, partial=streamkit.finalize(CHUNKS)), "limit_exceeded"),
    ],
)
def test_errors_while_reading(monkeypatch, error, code):
    """What ends the reading is said in the row, beside what came before."""
    monkeypatch.setattr(_batch, "rebuild", failing(error))
    row = one(b"")
    assert (row["error_code"], row["chunks"]) == (code, None)
    assert row["text"] == (None if getattr(error, "partial", None) is None else "Hello")
    monkeypatch.setattr(_batch, "rebuild", failing(error, streamkit.rebuild(WHOLE)))
    row = one(b"")
    assert (row["text"], row["complete"], row["error_code"]) == ("Hello", False, code)


def test_recording_of_nothing(monkeypatch):
    """A recording without any exchange has a row."""
    monkeypatch.setattr(_batch, "rebuild", lambda *_args, **_options: iter([]))
    assert one(b"")["error_code"] == "empty_stream"


def test_arrays_of_chunks():
    """Lists in tables become arrays in pandas."""
    numpy = pytest.importorskip("numpy")
    assert one(numpy.array([json.dumps(chunk) for chunk in CHUNKS], object))["text"] == "Hello"


class Model:
    """Like one of pydantic: it gives pairs when it is iterated over."""

    def __init__(self, **fields):
        self.fields = fields

    def __iter__(self):
        return iter(self.fields.items())

    def model_dump(self, **_options):
        return self.fields


@pytest.mark.parametrize("make", [MappingProxyType, lambda given: Model(**given)])
def test_mappings_and_models(make):
    """Whatever `rebuild` takes for a chunk or a response."""
    assert one(make(FORMS["response"]))["text"] == "Hello"
    assert one([make(chunk) for chunk in CHUNKS])["text"] == "Hello"


def test_nulls_of_pandas():
    """Its newer types of columns have one of their own."""
    pd = pytest.importorskip("pandas")
    numpy = pytest.importorskip("numpy")
    found = rebuild_batch([pd.NA, pd.NaT, numpy.float32("nan"), Decimal("NaN")])
    assert {row["error_message"] for row in found} == {"the body is null"}
    texts = [
        row["text"] for row in rebuild_batch(pd.Series([WHOLE.decode(), None], dtype="string"))
    ]
    assert texts == ["Hello", None]


def test_columns_of_arrow():
    """They can be handed in as they are, whatever their type."""
    pa = pytest.importorskip("pyarrow")
    lists = pa.array([[json.dumps(chunk) for chunk in CHUNKS], None])
    columns = [
        pa.array([WHOLE.decode(), None]),
        pa.chunked_array([[WHOLE, None]]),
        pa.array([WHOLE.decode(), None]).dictionary_encode(),
        pa.array([CHUNKS, None]),
        lists,
    ]
    for column in columns:
        found = [(row["text"], row["error_code"]) for row in rebuild_batch(column)]
        assert found == [("Hello", None), (None, "empty_stream")]


def test_what_cannot_be_written(monkeypatch):
    """A response that is nested too deep to be written costs its own row only."""
    monkeypatch.setattr(_batch, "row_of", failing_row)
    assert one(WHOLE)["error_code"] == "unexpected"


def failing_row(outcome):
    raise RecursionError


@pytest.mark.parametrize("tokens", ["3", 3.5, True, 1 << 63, None])
def test_odd_token_counts(tokens):
    """A count that no column of integers can hold is null there; usage has it as it came."""
    row = one(sse(*CHUNKS, {"choices": [], "usage": {**USAGE, "prompt_tokens": tokens}}))
    assert row["prompt_tokens"] is None
    assert json.loads(row["usage"]).get("prompt_tokens") == tokens


def test_odd_values():
    """Values of the wrong type are in the response, and null in columns of texts."""
    row = one({"object": "chat.completion", "choices": [], "usage": 5})
    assert (row["usage"], row["text"]) == (None, None)
    message = {"role": "assistant", "content": [{"type": "text", "text": "x"}]}
    choice = {"index": 0, "message": message, "finish_reason": 5}
    row = one({"object": "chat.completion", "choices": [choice]})
    assert (row["text"], row["finish_reasons"]) == (None, [None])


def test_options():
    """They mean what they mean for `rebuild_all`."""
    assert one(b'{"choices":[{"index":0,"text":"a"}]}', kind="completion")["text"] == "a"
    said = [chunk(content="a"), chunk(content="ab", finish="stop")]
    assert one(said, cumulative=True)["text"] == one(sse(*said), cumulative=True)["text"] == "ab"
    assert one(WHOLE, form="sse")["text"] == "Hello"


@pytest.mark.parametrize(
    ("options", "error"),
    [({"form": "nothing"}, streamkit.UnknownForm), ({"kind": "poem"}, TypeError)],
)
def test_wrong_arguments(options, error):
    """They are told at the call, not in each row."""
    with pytest.raises(error):
        rebuild_batch([], **options)


@pytest.mark.parametrize("bodies", [WHOLE, WHOLE.decode(), {}])
def test_one_body_is_no_collection(bodies):
    """Each character of a text would become a row."""
    with pytest.raises(TypeError, match="collection of bodies"):
        rebuild_batch(bodies)


def test_pickled():
    """The function goes to other processes, and the rows come back."""
    assert pickle.loads(pickle.dumps(rebuild_batch)) is rebuild_batch
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (rows,) = pool.map(rebuild_batch, [[WHOLE, b"\0"]])
    assert rows == rebuild_batch([WHOLE, b"\0"])
