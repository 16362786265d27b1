"""The shared cases of framing, when they lie beside the project."""

from __future__ import annotations

import base64
import json
import threading

from pathlib import Path

import pytest

from streamkit import ChunkReader, ServerSentEvent, SSEParser, StreamkitError, rebuild_all, to_json

from .framing.helpers import BACKENDS, parse, read, splits


CASES = Path(__file__).resolve().parents[1].parent / "shared" / "cases"
LARGE = 20_000
SECONDS = 20


def cases(name):
    """One parameter for each case of a file; a skipped one if the file is not there."""
    path = CASES / f"{name}.jsonl"
    if not path.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason="no shared cases"), id="absent")]
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [pytest.param(row, id=row["id"]) for row in rows if row.get("input_b64")]


def ways(data):
    """All the ways of the other tests, or for a long input a few."""
    if len(data) <= LARGE:
        return splits(data)
    size = len(data) // 7
    return [[data], [data[start : start + size] for start in range(0, len(data), size)]]


@pytest.mark.parametrize("case", cases("sse"))
def test_sse(case):
    """The parser gives the events of the specification, and its state."""
    data = base64.b64decode(case["input_b64"])
    expected = [
        ServerSentEvent(event["event"], event["data"], event["id"] or "", event["retry"])
        for event in case["expected"]
    ]
    state = case.get("state") or {}
    for pieces in ways(data):
        parsed = parse(pieces)
        assert parsed.events == expected
        assert parsed.last_event_id == (state.get("last_event_id") or "")
        assert parsed.retry == state.get("retry")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", cases("sse_lenient"))
def test_sse_lenient(case, backend):
    """The reader gives the payloads that were meant, and reports what it mended."""
    if backend != "json":
        pytest.importorskip(backend)
    data = base64.b64decode(case["input_b64"])
    values = [
        json.loads(event["data"], strict=False)
        for event in case["expected"]
        if event["event"] != "error"
    ]
    expected = [value for value in values if "error" not in value]
    for pieces in ways(data):
        got = read(pieces, json=backend)
        assert [chunk for chunk in got.chunks if "error" not in chunk] == expected
        assert got.done is case["done"]
        assert (got.error is not None) == (len(expected) < len(case["expected"]))
        assert got.issues or not case["problems"]


@pytest.mark.parametrize("case", cases("hostile"))
def test_hostile(case):
    """Nothing but a StreamkitError escapes, soon, and what comes out encodes."""
    data = base64.b64decode(case["input_b64"])
    for work in (read_events, read_chunks, read_strictly, rebuild_and_write):
        assert escaped(work, data) == []


def escaped(work, data):
    """Do *work* under the guard of a clock; return what went wrong."""
    wrong = []

    def guarded():
        try:
            work(data)
        except StreamkitError:
            pass
        except BaseException as error:  # noqa: BLE001 -- that is what is looked for
            wrong.append(error)

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    thread.join(SECONDS)
    return [*wrong, "too slow"] if thread.is_alive() else wrong


def read_events(data):
    parser = SSEParser()
    for event in parser.feed(data) + parser.finish():
        event.data.encode()


def read_chunks(data):
    reader = ChunkReader()
    reader.feed(data)
    reader.finish()
    "".join(map(str, reader.issues)).encode()


def read_strictly(data):
    reader = ChunkReader(strict=True)
    reader.feed(data)
    reader.finish()


def rebuild_and_write(data):
    for outcome in rebuild_all(data):
        if outcome.response is not None:
            to_json(outcome.response).encode()
