"""What the fields of a playback may be: checked, and made of what comes near."""

from __future__ import annotations

import re

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from ._block import Block


__all__ = ["End", "blocks_of", "check_end", "check_status", "check_value", "headers_of"]

End: TypeAlias = Literal["close", "cut", "reset", "hang"]

ENDS = ("close", "cut", "reset", "hang")
# RFC 9110, 5.1 and 5.5: what else a header could hold would end it, and start another.
NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
OWN = frozenset(
    {"connection", "content-encoding", "content-length", "content-type", "transfer-encoding"}
)


def blocks_of(value: Any) -> tuple[Block, ...]:
    """
    Return *value* as blocks.

    Raises:
        TypeError: If it is none.
    """
    blocks = tuple(value)
    for block in blocks:
        if not isinstance(block, Block):
            raise TypeError(f"blocks must be of Block, not of {type(block).__name__}")
    return blocks


def check_status(_: Any, __: Any, value: Any) -> None:
    """
    Check a status: a final one.

    Raises:
        TypeError: If it is none.
    """
    if type(value) is not int or not 200 <= value <= 599:  # noqa: PLR2004 -- final statuses
        raise TypeError(f"status must be an integer from 200 to 599, not {value!r}")


def check_value(_: Any, __: Any, value: Any) -> None:
    """
    Check the value of a header.

    Raises:
        TypeError: If it is none.
    """
    if not isinstance(value, str) or not VALUE.fullmatch(value):
        raise TypeError(f"not the value of a header: {value!r}")


def check_end(_: Any, __: Any, value: End) -> None:
    """
    Check how a playback ends.

    Raises:
        TypeError: If it is none.
    """
    if value not in ENDS:
        raise TypeError(f"end must be one of {', '.join(ENDS)}, not {value!r}")


def headers_of(value: Any) -> tuple[tuple[str, str], ...]:
    """
    Return *value* as pairs of names and values, of headers that can be set.

    Raises:
        TypeError: If it is none.
    """
    pairs = tuple(value.items() if isinstance(value, Mapping) else map(tuple, value))
    for pair in pairs:
        if len(pair) != 2:  # noqa: PLR2004 -- a pair
            raise TypeError(f"not a name and a value: {pair!r}")
        name, text = pair
        if not isinstance(name, str) or not NAME.fullmatch(name) or name.lower() in OWN:
            raise TypeError(f"not a header that can be set here: {name!r}")
        check_value(None, None, text)
    return pairs
