"""The forms that a recording can be written in."""

from __future__ import annotations

import csv
import io

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

from streamkit._json import encode
from streamkit._payloads import DONE

from ._adds import LOST
from ._trace import Row, Traced
from ._values import EPOCH


__all__ = ["FORMS", "har", "har_entry", "written"]

FORMS = ("sse", "jsonl", "json", "csv", "har")
SENTINEL = "[DONE]"
CSV_HEAD = "time,chunk\n"


def written(rows: Iterable[Row], form: str) -> Iterator[str]:
    """Yield the text of *rows* in *form*, any but HAR, piece by piece."""
    if form == "sse":
        return map(_event, _payloads(rows))
    if form == "jsonl":
        return _lines(_chunks(rows))
    return _array(rows) if form == "json" else _table(rows)


def _payloads(rows: Iterable[Row]) -> Iterator[Row]:
    return (row for row in rows if row.value is not LOST)


def _chunks(rows: Iterable[Row]) -> Iterator[Row]:
    return (row for row in _payloads(rows) if row.value is not DONE)


def _data(row: Row) -> str:
    return SENTINEL if row.value is DONE else encode(row.value)


def _event(row: Row) -> str:
    return f"data: {_data(row)}\n\n"


def _lines(rows: Iterable[Row]) -> Iterator[str]:
    """Yield lines that are all alike, as the first one is: a reader takes them for such."""
    rows = iter(rows)
    for first in rows:
        line = _bare if first.time is None else _timed
        yield line(first)
        yield from map(line, rows)


def _bare(row: Row) -> str:
    return encode(row.value) + "\n"


def _timed(row: Row) -> str:
    return f'{{"t":{encode(row.time)},"chunk":{encode(row.value)}}}\n'


def _array(rows: Iterable[Row]) -> Iterator[str]:
    separator = "[\n"
    for row in _chunks(rows):
        yield separator + encode(row.value)
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


def _table(rows: Iterable[Row]) -> Iterator[str]:
    yield CSV_HEAD
    for row in _chunks(rows):
        text = io.StringIO()
        time = "" if row.time is None else repr(row.time)
        csv.writer(text, lineterminator="\n").writerow([time, encode(row.value)])
        yield text.getvalue()


# -- HAR -----------------------------------------------------------------------------


def har(entries: Sequence[dict[str, Any]], version: str) -> str:
    """Return the HAR file of *entries*."""
    creator = {"name": "streamkit", "version": version}
    return encode({"log": {"version": "1.2", "creator": creator, "entries": entries}}, indent=1)


def har_entry(traced: Traced) -> dict[str, Any]:
    """
    Return the entry of the stream *traced*.

    The request is not in a recording of a stream, so the entry has one in name only.
    """
    rows = list(_payloads(traced.rows))
    if traced.outcome.done:
        rows.append(Row(0, 0, rows[-1].time if rows else None, DONE))
    text = "".join(map(_event, rows))
    times = [row.time for row in rows if row.time is not None]
    begin = traced.started if traced.started is not None else min(times, default=0.0)
    took = round(max(times, default=begin) * 1e3 - begin * 1e3, 3)
    return {
        "startedDateTime": _iso(begin),
        "time": took,
        "request": {"method": "POST", "url": "http://localhost/", **_MESSAGE},
        "response": {
            "status": 200,
            "statusText": "OK",
            **_MESSAGE,
            "redirectURL": "",
            "content": {"size": len(text.encode()), "mimeType": "text/event-stream", "text": text},
        },
        "cache": {},
        "timings": {"send": 0, "wait": 0, "receive": took},
        **({"_eventSourceMessages": list(map(_message, rows))} if times else {}),
    }


_MESSAGE: dict[str, Any] = {
    "httpVersion": "HTTP/1.1",
    "cookies": [],
    "headers": [],
    "queryString": [],
    "headersSize": -1,
    "bodySize": -1,
}


def _message(row: Row) -> dict[str, Any]:
    return {"time": row.time, "eventName": "message", "eventId": "", "data": _data(row)}


def _iso(seconds: float) -> str:
    try:
        moment = EPOCH + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        moment = EPOCH
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
