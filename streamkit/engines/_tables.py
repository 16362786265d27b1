"""How files are cut into slices: recordings are not, JSON lines by bytes, Parquet by row groups."""

from __future__ import annotations

import re

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from streamkit.recordings._wrappers import compression_of

from ._arrow import arrow
from ._plan import Input, Slice


if TYPE_CHECKING:
    import pyarrow as pa


__all__ = [
    "HEAD",
    "PARQUET",
    "columns_of",
    "is_table",
    "kept_fields",
    "open_parquet",
    "rows_at_once",
    "table_slices",
    "whole_slice",
]

HEAD = 1 << 12
PARQUET = b"PAR1"
# Bytes of a column that are read at a time.
BUFFER = 1 << 20
# Rows of a table that are in memory at once, and about how many bytes of them.
MOST_ROWS, MOST_BYTES = 64, 8 << 20
# What JSON lines are called, compressed too, and what a line of them is.
NAME = re.compile(r"\.(?:jsonl|jsonlines|ndjson)(?:\.[A-Za-z0-9]+)?\Z", re.IGNORECASE)
OBJECT = re.compile(rb"^\{.*\}[ \t\r]*$", re.MULTILINE)
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
        with input.path().open("rb") as file:
            head = file.read(HEAD)
    except (OSError, ValueError):
        head = b""
    if head.startswith(PARQUET):
        yield from _groups(input, body)
    elif is_table(head, input.name) and compression_of(head) is None and b"\0" not in head:
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

    # A row group is read as it is needed, and not at once: it may have any size.
    return pq.ParquetFile(name, pre_buffer=False, buffer_size=BUFFER)


def rows_at_once(metadata: Any, groups: Iterable[int]) -> int:
    """Return how many rows of *groups* of a Parquet file to hold: few, if they are large."""
    found = [metadata.row_group(number) for number in groups]
    largest = max((one.total_byte_size // max(one.num_rows, 1) for one in found), default=0)
    return max(1, min(MOST_ROWS, MOST_BYTES // max(largest, 1)))


def is_table(head: bytes, name: str = "") -> bool:
    """
    Tell whether what starts with *head*, in a file called *name*, may be JSON lines, of objects.

    The first line may be broken: where a log was cut, say.
    """
    if head.lstrip(BLANK)[:1] in (b"{", b""):
        return True
    return NAME.search(name) is not None or OBJECT.search(head) is not None


def columns_of(input: Input) -> pa.Schema:
    """Return the columns of *input*, a Parquet file that can be read."""
    with open_parquet(input.name) as file:
        return file.schema_arrow


def kept_fields(found: Iterable[pa.Schema], keep: Sequence[str]) -> pa.Schema:
    """
    Return the fields of the columns *keep*: the first of those *found* that have a type, or texts.

    A column that is null in all rows of a file may have no type there.  Each may be
    null: where a file cannot be read, nothing of it can be kept.
    """
    pa = arrow()
    fields: dict[str, Any] = {}
    open_ones = set(keep)
    for schema in found:
        for name in open_ones.intersection(schema.names):
            fields[name] = schema.field(schema.names.index(name)).with_nullable(True)
        open_ones = {name for name in keep if name not in fields or _is_null(fields[name])}
        if not open_ones:
            break
    return pa.schema([fields.get(name, pa.field(name, pa.string())) for name in keep])


def _is_null(field: Any) -> bool:
    return bool(arrow().types.is_null(field.type))


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
        if column.path_in_schema == body or column.path_in_schema.startswith(body + ".")
    )
