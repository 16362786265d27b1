"""The streams in a slice of an input, each with where it was: nothing in a file is an error."""

from __future__ import annotations

import io

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

from streamkit._errors import FramingError, LimitExceeded, StreamkitError, UnknownForm, quote
from streamkit._json import BadJSON, Decoder
from streamkit._rebuild import counted
from streamkit.recordings._bodies import BlockFile
from streamkit.recordings._row_values import at, path_of
from streamkit.recordings._wrappers import peel

from ._arrow import arrow, check_columns, with_rows
from ._batch import row_of_body, rows_of
from ._deaths import Steps, WorkerDied
from ._job import Job
from ._plan import Slice
from ._row import Row, row_of_error
from ._tables import HEAD, is_table, open_parquet, rows_at_once


if TYPE_CHECKING:
    import pyarrow as pa


__all__ = ["Add", "Led", "batches_in", "rows_in"]

Add = Callable[[int], None]
Led = tuple[dict[str, Any], Row]
"""What stands before a row, and the row."""

SKIPPED = 1 << 20


def rows_in(one: Slice, job: Job, steps: Steps) -> Iterator[Led]:
    """
    Yield the rows of *one* that is no Parquet.

    *steps* is asked before each input, and told how many bytes were read.
    """
    if one.kind == "whole":
        yield from _of_recording(one, job, steps)
        return
    try:
        steps.why(one.start)
        with _opened(one, job, steps.add) as file:
            yield from _of_lines(one, file, job, steps)
    except WorkerDied as error:
        yield _failed(one, error.position, job, error)
    except (StreamkitError, OSError, ValueError) as error:
        yield _failed(one, one.start, job, error)


def _of_recording(one: Slice, job: Job, steps: Steps) -> Iterator[Led]:
    died = steps.why(1)
    if died is not None:
        yield _failed(one, 1, job, died)
        return
    try:
        path = one.input.path()
    except (OSError, ValueError) as error:
        yield _failed(one, 1, job, error)
        return
    for number, row in enumerate(rows_of(counted(path, steps.add), job.reading), 1):
        yield _lead(one, number, job), row


def _lead(one: Slice, position: int, job: Job) -> dict[str, Any]:
    return dict(zip(job.lead, (one.source, position), strict=True))


def _failed(one: Slice, position: int, job: Job, error: Exception) -> Led:
    return {**_lead(one, position, job), **dict.fromkeys(job.keep)}, row_of_error(error)


# -- JSON lines ----------------------------------------------------------------------


@contextmanager
def _opened(one: Slice, job: Job, add: Add) -> Iterator[io.BufferedReader]:
    """
    Open *one* at the byte before it.

    Raises:
        UnknownForm: If it is compressed, and inside are no JSON lines.
        FramingError: At the end, if the compressed data are cut or damaged.
        OSError: If it cannot be read.
    """
    if one.kind == "lines":
        with one.input.path().open("rb") as file:
            file.seek(max(one.start - 1, 0))  # a line that began before is the last slice's
            yield file
    else:
        peeled = peel(counted(one.input.path(), add), job.reading.limits)
        file = BlockFile.buffered(peeled.blocks)
        if not is_table(file.peek(HEAD), one.input.name):
            raise UnknownForm("the file is neither Parquet nor JSON lines")
        yield file
        for issue in peeled.later or ():
            raise FramingError(str(issue), issue=issue)


def _skip_line(file: io.BufferedReader) -> int:
    """Read on behind the next line end, however far that is; return how far it was."""
    size = 0
    while piece := file.readline(SKIPPED):
        size += len(piece)
        if piece.endswith(b"\n"):
            break
    return size


def _of_lines(one: Slice, file: io.BufferedReader, job: Job, steps: Steps) -> Iterator[Led]:
    is_part = one.kind == "lines"
    position = one.start - 1 + _skip_line(file) if one.start else 0
    bound = job.reading.limits.line
    most = -1 if bound is None else bound + 2
    decoder = Decoder(job.reading.json, job.reading.limits)
    while not is_part or position < one.stop:
        died, start = steps.why(position), position
        line = b"" if died else file.readline(most)
        position += len(line) or _skip_line(file)
        if position == start:
            break
        if died:
            yield _failed(one, start, job, died)
        elif len(line) == most and not line.endswith(b"\n"):
            yield _failed(one, start, job, LimitExceeded("line", len(line), start, bound=bound))
            position += _skip_line(file)
        elif text := line.removeprefix(b"\xef\xbb\xbf").strip():
            yield _of_line(one, start, text, job, decoder)
        if is_part:
            steps.add(position - start)


def _of_line(one: Slice, start: int, text: bytes, job: Job, decoder: Decoder) -> Led:
    row = _object(text, decoder)
    if row is None:
        return _failed(one, start, job, FramingError(f"the line is no JSON object: {quote(text)}"))
    kept = {name: _value(row, name) for name in job.keep}
    body = _value(row, job.body or "")
    return {**_lead(one, start, job), **kept}, row_of_body(body, job.reading)


def _object(text: bytes, decoder: Decoder) -> dict[str, Any] | None:
    """Return the object that *text* is in JSON, or None if it is none."""
    try:
        value = decoder.whole(text)
    except BadJSON:
        return None
    finally:
        decoder.notes.clear()
    return value if isinstance(value, dict) else None


def _value(row: dict[str, Any], name: str) -> Any:
    return at(row, path_of(row, name))


# -- Parquet -------------------------------------------------------------------------


def batches_in(one: Slice, job: Job, steps: Steps) -> Iterator[pa.RecordBatch | Led]:
    """
    Yield the rows of *one*, row groups of a Parquet file, in batches; an error is a row.

    *steps* is as for `rows_in`.
    """
    position = one.first
    try:
        steps.why(position)
        with open_parquet(one.input.name) as file:
            for batch in _of_groups(one, file, job, steps):
                yield _led(one, position, batch, job)
                position += batch.num_rows
    except (StreamkitError, OSError, ValueError, arrow().ArrowException) as error:
        yield _failed(one, position, job, _told(error))
    steps.add(one.size)


def _told(error: Exception) -> Exception:
    """Return *error* as one of ours, unless it says by itself what is wrong."""
    if isinstance(error, StreamkitError) or getattr(error, "errno", None) is not None:
        return error
    return UnknownForm(str(error).partition("\n")[0])


def _of_groups(one: Slice, file: Any, job: Job, steps: Steps) -> Iterator[pa.RecordBatch]:
    body = job.body or ""
    check_columns(file.schema_arrow.names, body, job.keep, job.prefix, job.lead)
    columns = list(dict.fromkeys([body, *job.keep]))
    groups = list(range(one.start, one.stop))
    positions = count(one.first)
    rows = rows_at_once(file.metadata, groups)
    batches = file.iter_batches(rows, row_groups=groups, columns=columns)
    for found in _noted(batches, one.first, steps):
        batch = _cast(found, job)
        bodies = batch.column(batch.schema.get_field_index(body))
        made = (_of_cell(cell, job, steps.why(next(positions))) for cell in bodies)
        yield from with_rows(batch.select(list(job.keep)), made, job.prefix)


def _noted(batches: Any, position: int, steps: Steps) -> Iterator[pa.RecordBatch]:
    """Yield *batches*; that the next is to be read is noted before it is."""
    for batch in batches:
        yield batch
        position += batch.num_rows
        steps.why(position)


def _of_cell(body: Any, job: Job, died: Exception | None) -> Row:
    return row_of_body(body, job.reading) if died is None else row_of_error(died)


def _cast(batch: pa.RecordBatch, job: Job) -> pa.RecordBatch:
    """Return *batch* with the columns to keep in the types that they have in the output."""
    for field in job.kept or ():
        place = batch.schema.get_field_index(field.name)
        if batch.schema.field(place) != field:
            batch = batch.set_column(place, field, batch.column(place).cast(field.type))
    return batch


def _led(one: Slice, position: int, batch: pa.RecordBatch, job: Job) -> pa.RecordBatch:
    pa = arrow()
    rows = batch.num_rows
    sources = pa.array([one.source] * rows, pa.string())
    positions = pa.array(range(position, position + rows), pa.int64())
    source, position_name = job.lead
    fields = [pa.field(source, pa.string()), pa.field(position_name, pa.int64()), *batch.schema]
    columns = [sources, positions, *batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))
