"""Closing what a caller handed in, whatever it is: a generator, a response, a client's stream."""

from __future__ import annotations

import inspect

from collections.abc import Callable
from typing import Any


__all__ = ["aclose", "close"]


def close(items: Any, source: Any) -> None:
    """
    Close the iterator *items*, then *source*, which it came from; lists have no `close`.

    An error of the first does not leave the second open.
    """
    try:
        _method(items, "close")()
    finally:
        if source is not items:
            _method(source, "close")()


async def aclose(items: Any, source: Any) -> None:
    """Close likewise what is async: by `aclose`, or by a `close` that may be awaited."""
    try:
        await _aclose(items)
    finally:
        if source is not items:
            await _aclose(source)


async def _aclose(closable: Any) -> None:
    closing = _method(closable, "aclose", "close")()
    if inspect.isawaitable(closing):
        await closing


def _method(closable: Any, *names: str) -> Callable[[], Any]:
    """Return the first of the methods *names* that *closable* has, or what does nothing."""
    methods = (getattr(closable, name, None) for name in names)
    return next(filter(callable, methods), _nothing)


def _nothing() -> None:
    pass
