"""Rows in Parquet, read by row groups with pyarrow."""

from __future__ import annotations

import tempfile

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from streamkit._errors import UnknownForm
from streamkit._limits import Limits

from ._pieces import Form, ReadOptions, Recording
from ._row_streams import recordings
from ._traces import spread


__all__ = ["FORMS", "read_parquet"]

MAGIC = b"PAR1"
# Rows turned into objects at once: bodies are large.
BATCH = 32


def _looks(head: bytes) -> int:
    return 99 if head.startswith(MAGIC) else 0


def _read(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    """Read *blocks*; Parquet begins at its end, so they go to a temporary file first."""
    with tempfile.TemporaryFile() as file:
        size = 0
        for block in blocks:
            size += len(block)
            options.limits.check("decompressed", size)
            file.write(block)
        file.seek(0)
        yield from read_parquet(file, options)


def read_parquet(
    source: str | Path | BinaryIO, options: ReadOptions = ReadOptions()
) -> Iterator[Recording]:
    """
    Return the recordings in the Parquet file *source*, a path or a file that can seek.

    Raises:
        UnknownForm: If pyarrow is not installed, or the file is damaged.
        LimitExceeded: If a row group expands to more than `Limits.decompressed`.
    """
    return recordings(_rows(source, options.limits), options)


def _rows(source: str | Path | BinaryIO, limits: Limits) -> Iterator[Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise UnknownForm("reading Parquet needs pyarrow: install streamkit-llm[parquet]") from None
    try:
        with pq.ParquetFile(source) as file:
            for row in _rows_of(file, limits):
                yield from spread(row)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the file cannot be read, for reasons of its own
        raise UnknownForm(
            "the Parquet file is damaged, or of a kind that pyarrow refuses"
        ) from None


def _rows_of(file: Any, limits: Limits) -> Iterator[Any]:
    """Yield the rows of a Parquet *file*, group by group."""
    for group in range(file.num_row_groups):
        limits.check("decompressed", file.metadata.row_group(group).total_byte_size)
        for batch in file.iter_batches(BATCH, row_groups=[group]):
            limits.check("decompressed", batch.nbytes)
            yield from batch.to_pylist()


FORMS = (Form(name="parquet", title="Parquet rows", looks=_looks, read=_read, extra="parquet"),)
