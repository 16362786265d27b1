"""
Streams in a Ray dataset: `rebuild`.

Thin: Ray hands over tables, `rebuild_batch` makes the rows.  It is public as
`streamkit.ray`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from streamkit._kinds import Kind
from streamkit._limits import Limits

from ._arrow import Rebuilder, arrow, row_fields
from ._call import mapper_of, needed
from ._groups import MOST_BYTES, Grouper


if TYPE_CHECKING:
    import pyarrow as pa


__all__ = ["rebuild"]

Dataset = TypeVar("Dataset")

# Rows handed over at once: bodies may be large.
BATCH = 256


def rebuild(
    ds: Dataset,
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
) -> Dataset:
    """
    Return a dataset with a row for each stream in *ds*; nothing is read before it is used.

    All is as for `streamkit.spark.rebuild`, but that Ray itself brings all rows of a
    stream into one block: *group_bytes* bounds what is put together, not that.

    Args:
        ds: The dataset, a `ray.data.Dataset`.
        body: As for `streamkit.spark.rebuild`.
        keep: Likewise.
        group: Likewise.
        order: Likewise.
        group_bytes: Likewise.
        form: Likewise.
        kind: Likewise.
        cumulative: Likewise.
        limits: Likewise.
        prefix: Likewise.

    Raises:
        NotInstalled: If pyarrow is not.
        TypeError: If an argument is wrong.
        ValueError: If a column is not there, or would be there twice.
        UnknownForm: If *form* is not known.
    """
    arrow()
    given: Any = ds
    mapper = mapper_of(
        given.columns() or [],
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
    read = _Tables(mapper).rows  # a method, as Ray asks for its name
    rows = given.select_columns(needed(mapper)[1])
    result: Dataset
    if isinstance(mapper, Grouper):
        result = rows.groupby(mapper.group).map_groups(read, batch_format="pyarrow")
    else:
        result = rows.map_batches(
            read, batch_format="pyarrow", batch_size=BATCH, zero_copy_batch=True
        )
    return result


@attrs.frozen
class _Tables:
    """The mapper over tables instead of record batches."""

    mapper: Rebuilder | Grouper

    def rows(self, table: pa.Table) -> pa.Table:
        """Return the rows of *table*, with what is kept of it."""
        pa = arrow()
        if isinstance(self.mapper, Grouper) and self.mapper.order is not None:
            table = table.sort_by(self.mapper.order)
        passed = [table.schema.field(name) for name in needed(self.mapper)[0]]
        schema = pa.schema([*passed, *row_fields(self.mapper.prefix)])
        return pa.Table.from_batches(self.mapper(table.to_batches()), schema)
