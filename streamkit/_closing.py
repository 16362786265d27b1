"""Closing what a caller handed in, whatever it is: a generator, a response, a client's stream."""

from __future__ import annotations

import inspect

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self


if TYPE_CHECKING:
    from types import TracebackType


__all__ = ["AsyncClosing", "Closing", "aclose", "close"]


class Closing(ABC):
    """What the end of a `with` block closes."""

    @abstractmethod
    def close(self) -> None:
        """Close it; once more does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class AsyncClosing(ABC):
    """
    What the end of an `async with` block closes.

    A loop inside the block reads the object itself.  One without a block reads an async
    generator, whose end closes the source when the loop was left early; but only when
    the event loop gets to it, and trio warns of that.
    """

    _is_within = False

    @abstractmethod
    async def aclose(self) -> None:
        """Close it; once more does nothing."""

    async def __aenter__(self) -> Self:
        self._is_within = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


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
