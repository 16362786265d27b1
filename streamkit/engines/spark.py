"""
Streams in a Spark table: `rebuild`.

Thin: Spark hands over record batches, `rebuild_batch` makes the rows.  It is public as
`streamkit.spark`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from streamkit._kinds import Kind
from streamkit._limits import Limits

from ._arrow import Rebuilder, arrow
from ._call import mapper_of, needed
from ._groups import MOST_BYTES, Grouper
from ._row import COLUMNS


if TYPE_CHECKING:
    import pyarrow as pa


__all__ = ["rebuild"]

# Spark has a class for each way to reach it; what comes in goes out.
DataFrame = TypeVar("DataFrame")


def rebuild(
    df: DataFrame,
    *,
    body: str,
    keep: Iterable[str] = (),
    group: str | None = None,
    order: str | None = None,
    group_bytes: int = MOST_BYTES,
    form: str = "auto",
    kind: Kind | None = None,
    cumulative: bool = False,
    limits: Limits = Limits(),
    prefix: str = "",
) -> DataFrame:
    """
    Return a table with a row for each stream in *df*; nothing is read before it is used.

    The columns are those of *keep*, then those of `streamkit.rebuild_batch`, which has
    what they mean.  A bad body is a row with an error, and fails no task.

    With *group* there is a chunk in each row: rows are brought together by that column
    and sorted (a shuffle), and the column comes first in the result.  A task holds
    the chunks of one stream at a time.

    Args:
        df: The table, a `pyspark.sql.DataFrame`, classic or of Spark Connect.
        body: The column of the bodies, or with *group* of the chunks: binary, text, or
            an array of chunks.
        keep: Columns to keep as they are; with *group*, those of one of the stream's
            rows, the first.
        group: The column that tells streams apart, if each row has a chunk.
        order: The column that the chunks of a stream are sorted by.
        group_bytes: Bytes of chunks held of one stream; what is beyond is left out, and
            the row says so.
        form: As for `streamkit.rebuild_batch`.
        kind: Likewise.
        cumulative: Likewise.
        limits: Likewise.
        prefix: What stands before the names of the rows' columns, if *keep* has such.

    Raises:
        NotInstalled: If pyarrow is not.
        TypeError: If an argument is wrong.
        ValueError: If a column is not there, or would be there twice.
        UnknownForm: If *form* is not known.
    """
    arrow()
    table: Any = df
    mapper = mapper_of(
        table.columns,
        body=body,
        keep=keep,
        group=group,
        order=order,
        group_bytes=group_bytes,
        prefix=prefix,
        form=form,
        kind=kind,
        cumulative=cumulative,
        limits=limits,
    )
    passed, read = needed(mapper)
    chosen = table.select([_quoted(name) for name in read])
    plain = {name: f"c{number}" for number, name in enumerate(read)}
    rows = chosen.toDF(*plain.values())
    if isinstance(mapper, Grouper):
        rows = rows.repartition(plain[mapper.group])
        by = [mapper.group, *([] if mapper.order is None else [mapper.order])]
        rows = rows.sortWithinPartitions([plain[name] for name in by])
    schema = _schema(chosen.schema, passed, prefix)
    result: DataFrame = rows.mapInArrow(_Renamed(mapper, tuple(read)), schema)
    return result


def _quoted(name: str) -> str:
    """Return the column *name* as Spark takes it, whatever characters it has."""
    return "`" + name.replace("`", "``") + "`"


@attrs.frozen
class _Renamed:
    """
    Gives the columns their own names back, and hands them on to *mapper*.

    `mapInArrow` takes the names of its columns apart at dots and backticks, so that
    they have plain ones on their way through Spark.
    """

    mapper: Rebuilder | Grouper
    names: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self.mapper(map(self._named, batches))

    def _named(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        pa = arrow()
        fields = [
            field.with_name(name) for field, name in zip(batch.schema, self.names, strict=True)
        ]
        return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields))


def _schema(schema: Any, passed: list[str], prefix: str) -> Any:
    """Return the `StructType` of the columns *passed* of *schema*, and of a row's."""
    types: Any = import_module("pyspark.sql.types")  # so that type checkers need no Spark
    of_kind = {
        "text": types.StringType(),
        "texts": types.ArrayType(types.StringType()),
        "integer": types.LongType(),
        "truth": types.BooleanType(),
    }
    columns = [types.StructField(prefix + name, of_kind[kind]) for name, kind in COLUMNS.items()]
    return types.StructType([*(schema[name] for name in passed), *columns])
