"""Rows to a file: JSON lines, or Parquet."""

from __future__ import annotations

import base64

from datetime import date, time
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import attrs

from streamkit._json import encode

from ._arrow import MOST_BYTES, RowBuffer, arrow, row_fields, with_rows
from ._job import Job
from ._row import COLUMNS
from ._slices import Led
from ._values import value_of


if TYPE_CHECKING:
    import pyarrow as pa


__all__ = ["Writer", "writer_of"]


class Writer(Protocol):
    """Writes rows to a file, and ends it."""

    def row(self, led: Led) -> None:
        """Write one row."""

    def batch(self, batch: pa.RecordBatch) -> None:
        """Write the rows of *batch*, which has all columns of the output."""

    def finish(self) -> None:
        """Write what is still held, and what ends a file."""


def writer_of(job: Job, file: BinaryIO) -> Writer:
    """Return what writes the rows of *job* to *file*."""
    return _JSONLines(file, job.prefix) if job.to == "jsonl" else _Parquet(file, job)


# -- JSON lines ----------------------------------------------------------------------


@attrs.frozen
class _JSONLines:
    _file: BinaryIO
    _prefix: str

    def row(self, led: Led) -> None:
        lead, row = led
        self._put({**lead, **{self._prefix + name: row[name] for name in COLUMNS}})

    def batch(self, batch: pa.RecordBatch) -> None:
        columns = [_plain_column(column) for column in batch.columns]
        for values in zip(*columns, strict=True):
            self._put(dict(zip(batch.schema.names, values, strict=True)))

    def finish(self) -> None:
        pass

    def _put(self, row: dict[str, Any]) -> None:
        self._file.write(encode(row).encode() + b"\n")


def _plain_column(column: Any) -> list[Any]:
    """Return the values of *column* as JSON has them; times and decimals as Arrow writes them."""
    types = arrow().types
    if types.is_temporal(column.type) or types.is_decimal(column.type):
        return list(column.cast(arrow().string()).to_pylist())
    try:
        values = column.to_pylist()
    except Exception:  # noqa: BLE001 -- text that is no UTF-8, a time beyond the year 9999
        values = [value_of(cell, _escaped) for cell in column]
    return [_plain(value) for value in values]


def _escaped(text: bytes) -> str:
    return text.decode("utf-8", "backslashreplace")


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (date, time)):
        return value.isoformat()
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


# -- Parquet -------------------------------------------------------------------------


class _Parquet:
    def __init__(self, file: BinaryIO, job: Job) -> None:
        import pyarrow.parquet as pq

        pa = arrow()
        place = map(pa.field, job.lead, (pa.string(), pa.int64()))
        self._lead = pa.schema([*place, *(job.kept or ())])
        self._prefix = job.prefix
        self._schema = pa.schema([*self._lead, *row_fields(job.prefix)])
        self._writer = pq.ParquetWriter(file, self._schema, compression="zstd")
        self._leads: list[dict[str, Any]] = []
        self._rows = RowBuffer()
        self._held: list[Any] = []
        self._size = 0

    def row(self, led: Led) -> None:
        lead, row = led
        self._leads.append({name: self._cell(name, value) for name, value in lead.items()})
        self._rows.add(row)
        if self._rows.is_full:
            self._flush()

    def batch(self, batch: pa.RecordBatch) -> None:
        self._flush()
        self._hold(batch)

    def finish(self) -> None:
        self._flush()
        self._write()
        self._writer.close()

    def _hold(self, batch: pa.RecordBatch) -> None:
        """Take *batch*, to be written with others: each time that something is, is a row group."""
        self._held.append(batch)
        self._size += batch.nbytes
        if self._size >= MOST_BYTES:
            self._write()

    def _write(self) -> None:
        if self._held:
            self._writer.write_table(arrow().Table.from_batches(self._held, self._schema))
        self._held, self._size = [], 0

    def _cell(self, name: str, value: Any) -> Any:
        """Return *value* as the column *name* takes it: what is no text in JSON lines is JSON."""
        is_text = arrow().types.is_string(self._lead.field(name).type)
        return encode(value) if is_text and not isinstance(value, (str, type(None))) else value

    def _flush(self) -> None:
        leads, self._leads = self._leads, []
        kept = arrow().RecordBatch.from_pylist(leads, self._lead)
        for batch in with_rows(kept, self._rows.take(), self._prefix):
            self._hold(batch)
