"""Where two JSON values differ, and what each difference is about."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final

import attrs

from ._json import encode


__all__ = ["MISSING", "Difference", "differences"]

TEXTS = frozenset({"content", "text", "refusal", "reasoning_content", "reasoning", "thinking"})
TOOLS = frozenset({"tool_calls", "function_call"})
MISSING: Final = object()
ORDER = ("text", "tools", "finish", "usage", "fields")


@attrs.frozen
class Difference:
    """
    A place where two responses differ.

    Attributes:
        about: `text`, `tools`, `finish`, `usage` or `fields`.
        path: Where, in JSONPath notation without the leading `$.`.
        old: What is in the first; `MISSING` if nothing.
        new: What is in the second.
    """

    about: str
    path: str
    old: Any
    new: Any


def differences(old: Any, new: Any) -> list[Difference]:
    """Return where *old* and *new* differ, ordered by what it is about."""
    found = list(_compare(old, new, "", "fields"))
    return sorted(found, key=lambda difference: ORDER.index(difference.about))


def _compare(old: Any, new: Any, path: str, about: str) -> Iterator[Difference]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in {**old, **new}:
            below = f"{path}.{name}" if path else str(name)
            sides = old.get(name, MISSING), new.get(name, MISSING)
            yield from _compare(*sides, below, _about(name, about))
    elif isinstance(old, list) and isinstance(new, list):
        for place, (left, right) in enumerate(zip_longest(old, new, fillvalue=MISSING)):
            yield from _compare(left, right, f"{path}[{place}]", about)
    elif not _is_same(old, new):
        yield Difference(about, path, old, new)


def _is_same(old: Any, new: Any) -> bool:
    """Tell whether two values are the same JSON: true is not 1, and null is not absent."""
    if old is MISSING or new is MISSING:
        return False
    return type(old) is type(new) and encode(old) == encode(new)


def _about(name: str, about: str) -> str:
    if about != "fields":
        return about
    if name in TEXTS:
        return "text"
    if name in TOOLS:
        return "tools"
    return {"finish_reason": "finish", "state": "finish", "usage": "usage"}.get(name, about)
