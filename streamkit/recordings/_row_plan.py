"""
What the first rows tell: where chunks or bodies are in them, and which of the two they are.

A row that ends its stream is a body; rows that share an id of the response, and
do not end it, are its chunks.
"""

from __future__ import annotations

import re

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

import attrs

from streamkit._errors import UnknownForm, quote

from ._bodies import GZIP_MARK
from ._pieces import ReadOptions
from ._row_values import (
    ITEMS,
    TIMES,
    Path,
    as_bytes,
    at,
    find,
    is_stream,
    number_of,
    path_of,
    seconds,
)
from ._traces import final_of


__all__ = [
    "Plan",
    "holds_stream",
    "identity",
    "is_list_of_rows",
    "is_text",
    "path_in",
    "plan_of",
    "time_of",
]

GROUPS = (
    "stream_id",
    "streamId",
    "request_id",
    "requestId",
    "correlation_id",
    "correlationId",
    "response_id",
    "responseId",
    "generation_id",
    "call_id",
    "run_id",
    "trace_id",
    "traceId",
)
ORDERS = (
    "seq",
    "sequence",
    "sequence_number",
    "sequenceNumber",
    "seq_no",
    "seqno",
    "chunk_index",
    "chunkIndex",
    "chunk_id",
    "chunk_no",
    "event_index",
    "ordinal",
    "position",
    "offset",
    "idx",
    "index",
    "number",
    "order",
    "n",
    "i",
)
FIRST_ID = re.compile(rb'"id"\s*:\s*"([^"]{1,200})"')
ABSENT = (None, "")
DATA_LINE = re.compile(rb"(?m)^data:")
FINISHED = re.compile(rb'\[DONE\]|"finish_reason"\s*:\s*"|"object"\s*:\s*"chat\.completion"')


@attrs.frozen(kw_only=True)
class Plan:
    """Where in the rows what is, as far as the first of them tell."""

    path: Path | None
    is_body: bool
    is_list: bool = False  # each row has rows of its own, at that path
    is_lines: bool = False  # texts end without a line end, so that one has to be added
    group: str | None = None
    order: str | None = None
    time: Path | None = None
    newest_first: bool = False


def plan_of(rows: list[Any], options: ReadOptions) -> Plan:
    path = _path(rows, options.field)
    if path is None:
        if not any(final_of(row) for row in rows):
            raise UnknownForm(
                "no column of the rows holds chunks or a response; name it (field), if one does"
            )
        return Plan(path=None, is_body=True)
    values = [value for row in rows if (value := at(row, path)) not in (None, "")]
    if any(map(is_list_of_rows, values)):
        return Plan(path=path, is_list=True, is_body=True)
    for name in (options.group_by, options.order_by):
        _refuse_unknown(rows, name)
    group = options.group_by or _column(rows, GROUPS, path)
    order = options.order_by or _order(rows, group, path)
    time = _time(rows, options.time_field, path)
    asked = options.group_by or options.order_by
    is_body = not asked and _are_bodies([as_bytes(value) for value in values])
    return Plan(
        path=path,
        is_body=is_body,
        is_lines=not any(
            as_bytes(value).endswith((b"\n", b"\r")) for value in values if is_text(value)
        ),
        group=group,
        order=order,
        time=time,
        newest_first=not (is_body or order) and _is_newest_first(rows, time),
    )


def holds_stream(row: Any) -> bool:
    """Tell whether *row* has a stream, or the message that is left of one."""
    return find(row) is not None or final_of(row) is not None


def identity(value: Any) -> Any:
    """Return what tells the stream of a row from others: *value*, or its text."""
    return value if isinstance(value, (str, int, float)) else quote(value)


def is_text(value: Any) -> bool:
    """Tell whether *value* is text or bytes."""
    return isinstance(value, (str, bytes))


def _path(rows: list[Any], field: str | None) -> Path | None:
    """Return the path that most rows have their stream at."""
    if field is not None:
        found = next((path_of(row, field) for row in rows if isinstance(row, Mapping)), None)
        if not any(at(row, found) is not None for row in rows if found):
            raise UnknownForm(f"no row has the column {quote(field)}, or it is empty in all")
        return found
    paths = Counter(path for row in rows if (path := path_in(row)) is not None)
    return max(paths, key=lambda path: paths[path], default=None)


def _refuse_unknown(rows: list[Any], name: str | None) -> None:
    """Refuse *name* if it is no column: all rows would be of one stream, or in disorder."""
    columns = (row for row in rows if isinstance(row, Mapping))
    if name is not None and not any(name in row for row in columns):
        raise _unknown(name)


def _unknown(name: str) -> UnknownForm:
    return UnknownForm(f"no row has the column {quote(name)}")


def path_in(row: Any) -> Path | None:
    """Return the path to the stream of *row*, or to the list of rows that hold its chunks."""
    path = find(row)
    for depth, key in enumerate(path or ()):
        if path is not None and type(key) is int and is_list_of_rows(at(row, path[:depth])):
            return path[:depth]
    return path


def is_list_of_rows(value: Any) -> bool:
    """Tell whether several items of the list *value* hold a stream, or chunks of one."""
    if not isinstance(value, list) or is_stream(value):
        return False
    return sum(1 for item in value[:ITEMS] if find(item) is not None) > 1


def _time(rows: list[Any], name: str | None, path: Path) -> Path | None:
    """Return the path to the time of a row: the column *name*, or the nearest to its root."""
    if name is not None:
        return _named(rows, name)
    for depth in range(max(1, len(path))):
        holders = [at(row, path[:depth]) for row in rows]
        if column := _column(holders, TIMES, path[depth:], holds=_may_be_time):
            return (*path[:depth], column)
    return None


def _named(rows: list[Any], name: str) -> Path:
    """Return the path that *name*, a column or a path with dots, means in the rows."""
    for row in rows:
        path = path_of(row, name) if isinstance(row, Mapping) else ()
        holder = at(row, path[:-1])
        if path and isinstance(holder, Mapping) and path[-1] in holder:
            return path
    raise _unknown(name)


def time_of(row: Any, path: Path | None) -> float | None:
    """Return the time of *row*, which is at *path*, in seconds."""
    return None if path is None else seconds(at(row, path), str(path[-1]))


def _is_newest_first(rows: list[Any], path: Path | None) -> bool:
    """Tell whether the times of *rows* run backwards, as log stores list what they find."""
    found = (time_of(row, path) for row in rows)
    times = [time for time in found if time is not None]
    return times[:1] > times[-1:] and all(late >= early for late, early in pairwise(times))


def _column(
    rows: list[Any],
    names: Iterable[str],
    path: Path,
    *,
    holds: Callable[[Any, str], bool] | None = None,
) -> str | None:
    """Return the first of *names* that is a column of the rows and *holds* what it should."""
    holds = holds or _is_identity
    dicts = [row for row in rows if isinstance(row, Mapping)]
    for name in names:
        values = [row.get(name) for row in dicts]
        is_empty = all(value in ABSENT for value in values)
        if path[:1] != (name,) and not is_empty and all(holds(value, name) for value in values):
            return name
    return None


def _is_identity(value: Any, _name: str) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool) and value != ""


def _may_be_time(value: Any, name: str) -> bool:
    """Tell whether *value* is a time; of several streams in a file, some may have none."""
    return value in ABSENT or seconds(value, name) is not None


def _is_number(value: Any, _name: str) -> bool:
    return number_of(value) is not None


def _order(rows: list[Any], group: str | None, path: Path) -> str | None:
    """Return the column that numbers the rows of each stream, if one does."""
    for name in ORDERS:
        if _column(rows, (name,), path, holds=_is_number) is None:
            continue
        # One delivered twice has its number twice; the index of a choice comes again and again.
        seen = Counter(
            (identity(row.get(group)) if group else "", number_of(row[name])) for row in rows
        )
        if len(seen) * 4 >= len(rows) * 3 and len(rows) > 1:
            return name
    return None


def _are_bodies(values: list[bytes]) -> bool:
    """Tell whether *values* are whole bodies, rather than the chunks of some."""
    ended = sum(1 for value in values if _is_ended(value))
    ids = Counter(found[1] for value in values if (found := FIRST_ID.search(value)))
    if max(ids.values(), default=2) > 1:
        return 2 * ended > len(values)
    has_several = all(len(DATA_LINE.findall(value)) > 1 for value in values)
    return has_several or 2 * ended >= len(values)


def _is_ended(value: bytes) -> bool:
    """Tell whether *value* ends its stream, and is more than that end; or is a compressed body."""
    if value.startswith(GZIP_MARK):
        return True
    is_end = value.strip() in (b"[DONE]", b"data: [DONE]", b"data:[DONE]")
    return FINISHED.search(value) is not None and not is_end
