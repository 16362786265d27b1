"""
Rows in, recordings out: one per row, or one per stream whose chunks are rows.

Chunks of one stream alone are passed on as they come; streams that a column tells
apart are held, sorted, and given out one after another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from itertools import chain, pairwise
from typing import Any

import attrs

from streamkit._errors import LimitExceeded, amount, quote
from streamkit._issues import Issue

from ._bodies import body_recording, undone
from ._elements import bound_of
from ._pieces import Piece, ReadOptions, Recording
from ._row_plan import (
    Plan,
    holds_stream,
    identity,
    is_list_of_rows,
    is_text,
    path_in,
    plan_of,
    time_of,
)
from ._row_values import as_bytes, at, find, is_stream, number_of, paired, seconds
from ._row_words import has_words, without_words
from ._traces import final_of


__all__ = ["BadRow", "recordings", "stream_of_rows"]

# How many rows, and how many bytes of them, tell what the rows are.
SAMPLE = 64
SAMPLE_BYTES = 1 << 20
# Of more a float may have no difference.
MOST = 10**300
MESSAGE_ONLY = "the trace keeps the message, not the response it came in; what it lacks is absent"


@attrs.frozen
class BadRow:
    """A line that is no row: cut off, or of something else."""

    raw: bytes


def recordings(rows: Iterable[Any], options: ReadOptions) -> Iterator[Recording]:
    """
    Return the recordings in *rows*.

    Raises:
        UnknownForm: If no column of the rows holds a stream.
        LimitExceeded: If streams that have to be sorted are too large to be held.
    """
    rows = iter(rows)
    sample = _sample(rows)
    good = [row for row in sample if not isinstance(row, BadRow)]
    rows = chain(sample, rows)
    del sample
    if options.field is None and not any(map(holds_stream, good)) and has_words(good):
        yield from recordings(without_words(rows), options)
        return
    plan = plan_of(good, options)
    if plan.is_list:
        yield from _inner(rows, plan, options)
    elif plan.is_body:
        yield from _bodies(rows, plan, options)
    elif plan.group is None and plan.order is None and not plan.newest_first:
        pieces = _pieces(rows, plan)
        yield body_recording("", pieces, head=_head(good, plan))
    else:
        yield from _sorted_streams(rows, plan, options)


def stream_of_rows(rows: Iterable[tuple[Any, Any]], order: str | None) -> Recording:
    """
    Return the recording of one stream with a chunk in each of *rows*.

    Args:
        rows: What each is sorted by, and its chunk; None for the chunk leaves it out.
        order: The name of the column that they are sorted by; None: they are sorted.
    """
    rows = list(rows)
    texts = [as_bytes(chunk) for _, chunk in rows if is_text(chunk)]
    is_lines = not any(text.endswith((b"\n", b"\r")) for text in texts)
    plan = Plan(path=(0,), is_body=False, is_lines=is_lines, order=order)
    held = _Held()
    for number, (by, chunk) in enumerate(rows, 1):
        piece = _piece([chunk], number, plan)
        if piece is not None:
            held.rows.append((_rank({order or "": by}, piece, plan), piece))
    return _stream("", held, plan, ())


def _sample(rows: Iterator[Any]) -> list[Any]:
    sample: list[Any] = []
    size = 0
    for row in rows:
        sample.append(row)
        size += len(row.raw) if isinstance(row, BadRow) else _size(row)
        if len(sample) >= SAMPLE or size > SAMPLE_BYTES:
            break
    return sample


def _size(row: Any) -> int:
    values = row.values() if isinstance(row, Mapping) else ()
    return sum(len(value) for value in values if isinstance(value, (str, bytes)))


def _head(rows: list[Any], plan: Plan) -> bytes:
    return b"".join(piece.data for piece in _pieces(rows, plan))


# -- Rows in a row ---------------------------------------------------------------------


def _inner(rows: Iterable[Any], plan: Plan, options: ReadOptions) -> Iterator[Recording]:
    """Return the recordings in the rows of each row: lines of a log, say, that a search gave."""
    options = attrs.evolve(options, field=None)
    for number, row in enumerate(rows, 1):
        name = f"row {number}"
        inner = _list_in(row, plan)
        if inner is None:
            yield _body(row, name, plan, options)
            continue
        for recording in recordings(map(paired, inner), options):
            yield attrs.evolve(recording, name=f"{name} {recording.name}".strip())


def _list_in(row: Any, plan: Plan) -> list[Any] | None:
    for path in (plan.path, None if isinstance(row, BadRow) else path_in(row)):
        value = None if path is None or isinstance(row, BadRow) else at(row, path)
        if is_list_of_rows(value):
            return value
    return None


# -- A body per row --------------------------------------------------------------------


def _bodies(rows: Iterable[Any], plan: Plan, options: ReadOptions) -> Iterator[Recording]:
    for number, row in enumerate(rows, 1):
        yield _body(row, f"row {number}", plan, options)


def _body(row: Any, name: str, plan: Plan, options: ReadOptions) -> Recording:
    """Return the recording of *row*; there is one for each row, so that they can be matched."""
    if isinstance(row, BadRow):
        note = Issue("bad_row", f"the line is no row: {quote(row.raw)}")
        return Recording(name=name, notes=(note,))
    value = at(row, plan.path) if plan.path is not None else None
    notes: tuple[Issue, ...] = ()
    if not is_stream(value) and options.field is None:
        path, final = find(row), final_of(row)
        if path is not None:
            value = at(row, path)
        elif final is not None:
            value = final
            notes = (Issue("message_only", MESSAGE_ONLY),)
    if value in (None, "", b"", []):
        return Recording(name=name, notes=(Issue("missing_body", "the row has no response"),))
    body, more = undone(as_bytes(value), "", options.limits)
    return body_recording(name, [Piece(body, None, name)], notes=(*notes, *more))


# -- A chunk per row -------------------------------------------------------------------


def _pieces(rows: Iterable[Any], plan: Plan) -> Iterator[Piece]:
    """Return the pieces in *rows*; a row that has none is left out."""
    for number, row in enumerate(rows, 1):
        piece = _piece(row, number, plan)
        if piece is not None:
            yield piece


def _piece(row: Any, number: int, plan: Plan) -> Piece | None:
    place = f"row {number}"
    if isinstance(row, BadRow):
        return Piece(row.raw + b"\n", None, place)  # the core says what is wrong with it
    value = _value(row, plan)
    if value is None:
        return None
    if value is row and plan.time and isinstance(value, Mapping):
        value = {key: item for key, item in value.items() if key != plan.time[0]}
    data = as_bytes(value)
    if plan.is_lines and is_text(value):
        data += b"\n"
    return Piece(data, time_of(row, plan.time), place)


def _value(row: Any, plan: Plan) -> Any:
    """Return what *row* holds; chunks with and without something around them may follow."""
    assert plan.path is not None
    value = at(row, plan.path)
    if value is None and is_stream(row):
        return row
    if value is row and not is_stream(row):
        return at(row, find(row) or ())
    return value


@attrs.define
class _Held:
    """The pieces of one stream, each with what it is sorted by."""

    rows: list[tuple[tuple[Any, ...], Piece]] = attrs.field(factory=list)


def _sorted_streams(rows: Iterable[Any], plan: Plan, options: ReadOptions) -> Iterator[Recording]:
    bound, size = bound_of(options.limits), 0
    streams: dict[Any, _Held] = {}
    bad = 0
    for number, row in enumerate(rows, 1):
        if isinstance(row, BadRow):
            bad += 1
            continue
        piece = _piece(row, number, plan)
        if piece is None:
            continue
        size += len(piece.data)
        if bound is not None and size > bound:
            raise LimitExceeded("line", size, bound=bound)
        key = identity(row.get(plan.group)) if plan.group else ""
        held = streams.setdefault(key, _Held())
        held.rows.append((_rank(row, piece, plan), piece))
    notes = (Issue("bad_row", _bad(bad)),) if bad else ()
    for key, held in streams.items():
        if plan.newest_first:
            held.rows.reverse()
            notes = (Issue("rows_sorted", "the newest row came first; the rows were turned round"),)
        yield _stream(f"{plan.group} {quote(key)}" if plan.group else "", held, plan, notes)


def _bad(count: int) -> str:
    what = "is no row; it was" if count == 1 else "are no rows; they were"
    return f"{amount(count, 'line')} {what} left out"


def _rank(row: Mapping[str, Any], piece: Piece, plan: Plan) -> tuple[Any, ...]:
    """Return what a row is sorted by: numbers before texts, and what has neither last."""
    value = row.get(plan.order) if plan.order else piece.time
    number = _exact(value)
    if number is None and plan.order:
        number = seconds(value)
    if number is not None:
        return (0, number, "")
    return (1, 0.0, value) if isinstance(value, str) else (2, 0.0, "")


def _exact(value: Any) -> float | None:
    """Return *value* as a number, an int if it is whole: floats of nanoseconds are rounded."""
    if isinstance(value, Decimal) and value.is_finite() and abs(value) < MOST:
        value = int(value) if value == value.to_integral_value() else float(value)
    with suppress(ValueError):
        if isinstance(value, str):
            value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < MOST:
        return value
    return number_of(value)


def _tells_apart(rows: list[tuple[tuple[Any, ...], Piece]]) -> bool:
    """Tell whether what *rows* are sorted by is mostly another for each: seconds are not."""
    chunks = {(rank, piece.data) for rank, piece in rows}
    return 2 * len({rank for rank, _ in chunks}) >= len(chunks)


def _stream(name: str, held: _Held, plan: Plan, notes: tuple[Issue, ...]) -> Recording:
    """Return the recording of one stream, its rows sorted, and each of them once."""
    ranks = [rank for rank, _ in held.rows]
    order = sorted(range(len(ranks)), key=ranks.__getitem__)  # stable: equals stay in order
    if order != list(range(len(ranks))):
        by = plan.order or ".".join(map(str, plan.time or ()))
        notes = (*notes, Issue("rows_sorted", f"the rows were out of order; sorted by {quote(by)}"))
    pieces: list[Piece] = []
    numbers: list[float] = []
    repeated = 0
    last: tuple[Any, bytes] | None = None
    is_key = plan.order is not None and _tells_apart(held.rows)
    for at_row in order:
        rank, piece = held.rows[at_row]
        if is_key and last == (rank, piece.data) and rank[0] != 2:  # noqa: PLR2004
            repeated += 1
            continue
        last = (rank, piece.data)
        pieces.append(piece)
        numbers.append(rank[1])
    if repeated:
        text = f"{amount(repeated, 'row')} came twice; each was taken once"
        notes = (*notes, Issue("rows_repeated", text))
    missing = _missing(numbers) if plan.order else 0
    if missing:
        gap = f"{amount(missing, 'number')} of {quote(plan.order)}"
        text = f"{gap} {'is' if missing == 1 else 'are'} missing; chunks may be lost"
        notes = (*notes, Issue("rows_missing", text))
    return body_recording(name, pieces, notes=notes)


def _missing(numbers: list[float]) -> int:
    """Return how many whole numbers are left out of *numbers*, if they count by ones."""
    steps = [after - before for before, after in pairwise(numbers)]
    if not steps or 2 * steps.count(1.0) < len(steps):
        return 0
    return sum(int(step) - 1 for step in steps if step > 1 and step % 1 == 0)
