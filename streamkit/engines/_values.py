"""What Arrow's values are in Python, if Python has no such value, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


__all__ = ["order_of", "value_of"]

# Nanoseconds in the units of times.
UNITS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}


def value_of(cell: Any, bad_text: Callable[[bytes], Any] = bytes) -> Any:
    """
    Return *cell*, a scalar of Arrow, as a value of Python.

    Args:
        cell: The scalar.
        bad_text: What becomes of the bytes of a text that is no UTF-8: neither Arrow
            nor Spark looks at what a text is made of.
    """
    try:
        return cell.as_py()
    except Exception:  # noqa: BLE001 -- of each type another
        return _in_pieces(cell, bad_text)


def _in_pieces(cell: Any, bad_text: Callable[[bytes], Any]) -> Any:
    """Return what `as_py` has no value for: it is a part of *cell*, or all of it."""
    import pyarrow as pa

    if isinstance(cell, pa.StructScalar):
        return {name: value_of(item, bad_text) for name, item in cell.items()}
    if isinstance(cell, pa.MapScalar):
        return [tuple(value_of(item, bad_text) for item in pair.values()) for pair in cell.values]
    if isinstance(cell, (pa.ListScalar, pa.LargeListScalar, pa.FixedSizeListScalar)):
        return [value_of(item, bad_text) for item in cell.values]
    if isinstance(cell, (pa.DictionaryScalar, pa.ExtensionScalar)):
        return value_of(cell.value, bad_text)
    if hasattr(cell, "as_buffer"):
        return bad_text(cell.as_buffer().to_pybytes())
    return cell.cast(pa.string()).as_py()  # a time beyond the year 9999


def order_of(cell: Any) -> Any:
    """Return *cell* as something to sort by: a time in nanoseconds, which Python's have not."""
    unit = UNITS.get(getattr(cell.type, "unit", ""))
    return value_of(cell) if unit is None or cell.value is None else cell.value * unit
