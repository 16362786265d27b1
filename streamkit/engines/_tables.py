"""How files are cut into slices: recordings are not, JSON lines by bytes, Parquet by row groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._arrow import arrow
from ._plan import Input, Slice


if TYPE_CHECKING:
    import pyarrow as pa


__all__ = [
    "HEAD",
    "columns_of",
    "is_table",
    "kept_fields",
    "open_parquet",
    "table_slices",
    "whole_slice",
]

HEAD = 1 << 12
PARQUET = b"PAR1"
# What JSON lines may start with, behind a byte order mark and blanks.
BLANK = b"\xef\xbb\xbf \t\r\n"


def whole_slice(input: Input) -> Slice:
    """Return all of *input*, a recording."""
    return Slice(input, "whole", size=max(input.size, 0))


def table_slices(input: Input, body: str, size: int) -> Iterator[Slice]:
    """
    Yield the slices of *input*, a table, of about *size* bytes each.

    One that cannot be read is one slice; reading it says why.
    """
    try:
        with Path(input.name).open("rb") as file:
            head = file.read(HEAD)
    except (OSError, ValueError):
        head = b""
    if head.startswith(PARQUET):
        yield from _groups(input, body)
    elif is_table(head):
        stops = [*range(size, input.size, size), max(input.size, 0)]
        for start, stop in zip([0, *stops], stops, strict=False):
            yield Slice(input, "lines", start, stop, stop - start)
    else:
        yield Slice(input, "packed", size=max(input.size, 0))


def open_parquet(name: str) -> Any:
    """
    Return the Parquet file called *name*, opened.

    Raises:
        NotInstalled: If pyarrow is not.
        OSError: If it cannot be read.
        ValueError: If it is damaged.
    """
    arrow()
    import pyarrow.parquet as pq

    return pq.ParquetFile(name, pre_buffer=False)  # a row group is read as it is needed


def is_table(head: bytes) -> bool:
    """Tell whether what starts with *head* may be JSON lines, of objects."""
    return head.lstrip(BLANK)[:1] in (b"{", b"")


def columns_of(input: Input) -> pa.Schema:
    """Return the columns of *input*, a Parquet file that can be read."""
    with open_parquet(input.name) as file:
        return file.schema_arrow


def kept_fields(found: pa.Schema | None, keep: Sequence[str]) -> pa.Schema:
    """Return the fields of the columns *keep*: those of *found*, or else texts."""
    pa = arrow()
    texts = [pa.field(name, pa.string()) for name in keep]
    return pa.schema(texts if found is None else [found.field(name) for name in keep])


def _groups(input: Input, body: str) -> Iterator[Slice]:
    try:
        with open_parquet(input.name) as file:
            metadata = file.metadata
            sizes = [
                _size(metadata.row_group(number), body) for number in range(metadata.num_row_groups)
            ]
            rows = [metadata.row_group(number).num_rows for number in range(len(sizes))]
    except (OSError, ValueError):
        yield Slice(input, "groups", size=max(input.size, 0))
        return
    first = 0
    for number, size in enumerate(sizes):
        yield Slice(input, "groups", number, number + 1, size, first)
        first += rows[number]


def _size(group: Any, body: str) -> int:
    """Return how many bytes the column *body* has in the file, of one row *group*."""
    columns = [group.column(number) for number in range(group.num_columns)]
    return sum(
        column.total_compressed_size
        for column in columns
        if column.path_in_schema.partition(".")[0] == body
    )
