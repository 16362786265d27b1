"""Bytes that are sent at once, and when: `Block`."""

from __future__ import annotations

from typing import Any

import attrs


__all__ = ["Block", "as_bytes", "seconds"]


def seconds(value: Any, name: str = "delay") -> float:
    """
    Return *value* as a number of seconds; infinity is for ever.

    Raises:
        TypeError: If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
        raise TypeError(f"{name} must be a number of at least 0, not {value!r}")
    return float(value)


def as_bytes(value: Any) -> bytes:
    """
    Return *value* as bytes.

    Raises:
        TypeError: If it is none.
    """
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"data must be bytes, not {type(value).__name__}")
    return bytes(value)


@attrs.frozen
class Block:
    r"""
    Bytes that are sent at once, as one chunk of the chunked transfer coding.

    Attributes:
        data: The bytes.
        delay: How long to wait before it, in seconds; infinity is for ever.

    >>> Block(b"data: [DONE]\n\n", 0.5).delay
    0.5
    """

    data: bytes = attrs.field(converter=as_bytes)
    delay: float = attrs.field(default=0.0, converter=seconds)
