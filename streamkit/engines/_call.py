"""What the engines' functions take, checked at the call and made into what runs there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._arrow import Rebuilder, check_columns
from ._batch import Reading
from ._groups import Grouper


__all__ = ["mapper_of", "needed"]


def mapper_of(
    columns: Iterable[str],
    *,
    body: str,
    keep: Iterable[str],
    group: str | None,
    order: str | None,
    group_bytes: int,
    prefix: str,
    **reading: Any,
) -> Rebuilder | Grouper:
    """
    Return what turns the record batches of a table into rows.

    Args:
        columns: The columns of the table.
        body: As for `streamkit.spark.rebuild`, like all others.
        keep: Likewise.
        group: Likewise.
        order: Likewise.
        group_bytes: Likewise.
        prefix: Likewise.
        reading: The attributes of `Reading`.

    Raises:
        TypeError: If *keep* is one text, or *order* stands without *group*.
        ValueError: If a column is not there, or would be there twice.
        UnknownForm: If the form is not known.
    """
    if isinstance(keep, str):
        raise TypeError(f"keep must be a list of columns, not the text {keep!r}")
    if order is not None and group is None:
        raise TypeError("order sorts the chunks of a stream: name the column of streams with group")
    there, kept, how = list(columns), tuple(keep), Reading(**reading)
    if group is None:
        check_columns(there, body, kept, prefix)
        return Rebuilder(body, kept, how, prefix)
    check_columns(there, body, (group, *kept), prefix)
    if order is not None:
        check_columns(there, order, (), prefix)
    return Grouper(body, group, order, kept, how, prefix, group_bytes)


def needed(mapper: Rebuilder | Grouper) -> tuple[list[str], list[str]]:
    """Return the columns that *mapper* passes on, and all that it reads."""
    passed = [*mapper.keep]
    more: list[str | None] = [mapper.body]
    if isinstance(mapper, Grouper):
        passed = [mapper.group, *passed]
        more.append(mapper.order)
    return passed, list(dict.fromkeys([*passed, *(name for name in more if name is not None)]))
