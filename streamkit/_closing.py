"""Closing what a caller handed in, whatever it is: a generator, a response, a client's stream."""

from __future__ import annotations

import inspect

from typing import Any


__all__ = ["aclose", "close"]


def close(items: Any, source: Any) -> None:
    """Close the iterator *items*, then *source*, which it came from; lists have no `close`."""
    for closable in (items,) if items is source else (items, source):
        closes = getattr(closable, "close", None)
        if callable(closes):
            closes()


async def aclose(items: Any, source: Any) -> None:
    """Close likewise what is async: by `aclose`, or by a `close` that may be awaited."""
    for closable in (items,) if items is source else (items, source):
        closes = getattr(closable, "aclose", None) or getattr(closable, "close", None)
        if callable(closes):
            closing = closes()
            if inspect.isawaitable(closing):
                await closing
