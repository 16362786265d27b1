"""
A chunk in each row: rows that come sorted by stream, put together one stream at a time.

Whatever sorts them, an engine does it better than memory could.  Here only the chunks
of one stream are held, and only so many bytes of them.
"""

from __future__ import annotations

import math

from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import attrs

from streamkit._errors import InvalidChunk, LimitExceeded, amount, quote
from streamkit.recordings._row_streams import stream_of_rows
from streamkit.recordings._row_values import as_bytes

from ._arrow import RowBuffer, arrow, with_rows
from ._batch import Reading, row_of_recording
from ._row import Row, error_cells, row_of_error
from ._values import order_of, value_of


if TYPE_CHECKING:
    import pyarrow as pa


__all__ = ["MOST_BYTES", "Grouper"]

MOST_BYTES = 64 << 20
"""Bytes of chunks that are held of one stream, unless the caller says otherwise."""


# What a chunk takes besides its bytes: else empty ones could be any number.
OVERHEAD = 100


class GroupTooLarge(LimitExceeded):
    """A stream has more bytes of chunks than may be held."""

    def __str__(self) -> str:
        return (
            f"the chunks of the stream take {self.value} bytes, the limit is {self.bound}; "
            f"what is beyond was left out; pass group_bytes=… to allow more"
        )


@attrs.frozen
class _Cell:
    """A row of a record batch: which stream it is of, its chunk, and where it is."""

    key: Any
    batch: pa.RecordBatch
    number: int


@attrs.frozen
class Grouper:
    """
    Turns record batches with a chunk in each row into record batches with a row a stream.

    The rows of each stream have to come one after another.  It can be sent to other
    processes.

    Attributes:
        body: The column of the chunks.
        group: The column that tells streams apart; it comes first in the result.
        order: The column that chunks are sorted by; None: they come in order.
        keep: Columns of which the value in the first row of each stream is kept.
        reading: How chunks are read.
        prefix: What stands before the names of the rows' own columns.
        most: Bytes of chunks that are held of one stream.
    """

    body: str
    group: str
    order: str | None
    keep: tuple[str, ...]
    reading: Reading
    prefix: str = ""
    most: int = MOST_BYTES

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield record batches with a row for each stream in *batches*, in their order."""
        firsts: list[pa.RecordBatch] = []
        buffer = RowBuffer()
        cells = (cell for batch in batches for cell in self._cells(batch))
        for key, stream in groupby(cells, key=attrgetter("key")):
            first, row = self._stream(key, stream)
            firsts.append(first)
            buffer.add(row)
            if buffer.is_full:
                yield from with_rows(_joined(firsts), buffer.take(), self.prefix)
                firsts = []
        if firsts:
            yield from with_rows(_joined(firsts), buffer.take(), self.prefix)

    def _cells(self, batch: pa.RecordBatch) -> Iterator[_Cell]:
        keys = batch.column(self.group)
        for number in range(batch.num_rows):
            key = value_of(keys[number])
            is_nan = isinstance(key, float) and math.isnan(key)  # the null of pandas
            yield _Cell(None if is_nan else key, batch, number)

    def _stream(self, key: Any, cells: Iterator[_Cell]) -> tuple[pa.RecordBatch, Row]:
        """Return what is kept of the first of *cells*, and the row of all."""
        first = next(cells)
        # Taken, not sliced: a slice would hold all of its batch.
        kept = first.batch.select([self.group, *self.keep]).take(arrow().array([first.number]))
        return kept, self._row(key, chain([first], cells))

    def _row(self, key: Any, cells: Iterator[_Cell]) -> Row:
        """Return the row of the stream that *cells* hold the chunks of."""
        if key is None:
            many = amount(sum(1 for _ in cells), "chunk")
            text = f"{many} without {quote(self.group)}: of which stream, is not known"
            return row_of_error(InvalidChunk(text))
        try:
            chunks, size = self._chunks(cells)
        except TypeError as wrong:  # what they hold is nothing that JSON has
            return row_of_error(wrong)
        row = row_of_recording(stream_of_rows(chunks, self.order), self.reading)
        if size <= self.most:
            return row
        error = GroupTooLarge("group", size, bound=self.most)
        return {**row, "complete": False, **error_cells(error)}

    def _chunks(self, cells: Iterator[_Cell]) -> tuple[list[tuple[Any, bytes]], int]:
        """Return the chunks in *cells* that may be held, and how many bytes all have."""
        chunks: list[tuple[Any, bytes]] = []
        size = 0
        for order, chunk in map(self._chunk, cells):
            size += len(chunk) + OVERHEAD
            if size <= self.most:
                chunks.append((order, chunk))
        return chunks, size

    def _chunk(self, cell: _Cell) -> tuple[Any, bytes]:
        order = None if self.order is None else order_of(cell.batch.column(self.order)[cell.number])
        chunk = value_of(cell.batch.column(self.body)[cell.number])
        return order, b"" if chunk is None else as_bytes(chunk)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    (batch,) = arrow().Table.from_batches(batches).combine_chunks().to_batches()
    return batch
