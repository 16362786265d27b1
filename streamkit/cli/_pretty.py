"""JSON that a model wrote, laid out for a person without changing what it says."""

from __future__ import annotations

import json

from collections.abc import Callable
from typing import Any


__all__ = ["pretty_json", "without_repeats"]


def pretty_json(text: str) -> str:
    """
    Return the JSON object or array *text* over several lines.

    Text that is anything else, or that would not survive a reading (a key given
    twice, a number that is not spelled as we would), is returned as it is.

    >>> print(pretty_json('{"a":[1]}'))
    {
      "a": [
        1
      ]
    }
    >>> pretty_json('{"a":1,"a":2}')
    '{"a":1,"a":2}'
    """
    try:
        value = json.loads(
            text,
            object_pairs_hook=without_repeats,
            parse_int=_same(int),
            parse_float=_same(float),
            parse_constant=_same(float),
        )
        is_container = isinstance(value, (dict, list))
        return json.dumps(value, indent=2, ensure_ascii=False) if is_container else text
    except (ValueError, RecursionError):
        return text


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """
    Return an object of *pairs*, for `json.loads`.

    Raises:
        ValueError: If a key is given twice: one would hide the other.
    """
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise ValueError("a key is given twice")
    return unique


def _same(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a reader of numbers that refuses those whose spelling it would change."""

    def read(digits: str) -> Any:
        number = kind(digits)
        if repr(number) != digits:
            raise ValueError("the number would be spelled in another way")
        return number

    return read
