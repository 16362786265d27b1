"""
Rows in Arrow: their schema, and record batches with a column of bodies turned into rows.

The only room that knows Arrow's types.  pyarrow is loaded when it is used, so that
a machine without it can import this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from streamkit._errors import NotInstalled, quote

from ._batch import Reading, row_of_body
from ._row import COLUMNS, Row


if TYPE_CHECKING:
    import pyarrow as pa


__all__ = [
    "MOST_BYTES",
    "Rebuilder",
    "RowBuffer",
    "arrow",
    "check_columns",
    "row_fields",
    "with_rows",
]

# When rows are handed on, so that what is held does not depend on what comes: bytes
# of text, and rows.
MOST_BYTES = 8 << 20
MOST_ROWS = 1024
TEXTS = ("response", "text", "usage", "error_message", "issues")


def arrow() -> Any:
    """
    Return the module pyarrow.

    Raises:
        NotInstalled: If there is none.
    """
    try:
        import pyarrow as pa
    except ImportError:
        raise NotInstalled(
            "tables need pyarrow: install streamkit-llm[parquet], or [spark], or [ray]"
        ) from None
    return pa


def row_fields(prefix: str = "") -> list[pa.Field[Any]]:
    """Return the fields of a row, each name with *prefix* before it."""
    pa = arrow()
    types = {
        "text": pa.string(),
        "texts": pa.list_(pa.string()),
        "integer": pa.int64(),
        "truth": pa.bool_(),
    }
    return [pa.field(prefix + name, types[kind]) for name, kind in COLUMNS.items()]


def check_columns(
    columns: Iterable[str], body: str, keep: Sequence[str], prefix: str, more: Sequence[str] = ()
) -> None:
    """
    Check that *body* and *keep* are among *columns*, and that no name comes twice.

    Args:
        columns: The columns that there are.
        body: The column of the bodies.
        keep: The columns that stand beside the rows.
        prefix: What stands before the names of the rows' own columns.
        more: Further columns of the result.

    Raises:
        ValueError: If a name is not there, or would be there twice.
    """
    there = list(columns)
    for name in (body, *keep):
        if name not in there:
            raise ValueError(f"no column {quote(name)}; there are {', '.join(map(quote, there))}")
        if there.count(name) > 1:
            raise ValueError(f"the table has {there.count(name)} columns {quote(name)}")
    names = [*more, *keep, *(prefix + name for name in COLUMNS)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"the result would have two columns {', '.join(map(quote, twice))}; "
            f"a prefix gives the rows' own columns other names"
        )


@attrs.define
class RowBuffer:
    """
    Rows that wait until they are enough for a record batch.

    Attributes:
        rows: They.
        size: About how many bytes their texts have.
    """

    rows: list[Row] = attrs.field(factory=list)
    size: int = 0

    def add(self, row: Row) -> None:
        """Take *row*; it is not copied."""
        self.rows.append(row)
        self.size += sum(len(row[name] or "") for name in TEXTS)

    @property
    def is_full(self) -> bool:
        """Whether it is time to take what is here."""
        return self.size >= MOST_BYTES or len(self.rows) >= MOST_ROWS

    def take(self) -> list[Row]:
        """Return the rows, and forget them."""
        rows, self.rows, self.size = self.rows, [], 0
        return rows


@attrs.frozen
class Rebuilder:
    """
    Turns record batches with a column of bodies into record batches of rows.

    It can be sent to other processes.

    Attributes:
        body: The column of the bodies: binary, text, or lists of chunks.
        keep: Columns that stand before the rows' own, as they are.
        reading: How bodies are read.
        prefix: What stands before the names of the rows' own columns.
    """

    body: str
    keep: tuple[str, ...]
    reading: Reading
    prefix: str = ""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield record batches with a row for each of *batches*, in their order."""
        for batch in batches:
            bodies = batch.column(batch.schema.get_field_index(self.body))
            kept = batch.select(list(self.keep))
            yield from with_rows(kept, map(self._row, bodies), self.prefix)

    def _row(self, body: Any) -> Row:
        return row_of_body(body, self.reading)


def with_rows(
    kept: pa.RecordBatch, rows: Iterable[Row], prefix: str = ""
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of *kept*, each with that of *rows* beside it, in batches of bounded size."""
    buffer, start = RowBuffer(), 0
    for row in rows:
        buffer.add(row)
        if buffer.is_full:
            found = buffer.take()
            yield _beside(kept.slice(start, len(found)), found, prefix)
            start += len(found)
    if buffer.rows:
        yield _beside(kept.slice(start), buffer.take(), prefix)


def _beside(kept: pa.RecordBatch, rows: list[Row], prefix: str) -> pa.RecordBatch:
    pa = arrow()
    fields = row_fields(prefix)
    arrays = [
        pa.array([row[name] for row in rows], field.type)
        for name, field in zip(COLUMNS, fields, strict=True)
    ]
    schema = pa.schema([*kept.schema, *fields])
    return pa.RecordBatch.from_arrays([*kept.columns, *arrays], schema=schema)
