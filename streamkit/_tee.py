"""
The chunks of somebody else's stream handed on untouched, and the outcome beside
them: what a wrapper that watches an SDK needs.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack

from ._closing import AsyncClosing, Closing, aclose, close
from ._errors import InputRefused, StreamkitError, quote
from ._intake import BLOCKS, Intake, IntakeOptions, iterable
from ._outcome import Outcome
from ._plain import as_plain


if TYPE_CHECKING:
    from ._models import ChatCompletion, Completion


__all__ = ["AsyncTee", "Tee", "atee", "tee"]

T = TypeVar("T")


class BaseTee:
    """What both kinds of tee have in common."""

    def __init__(self, source: Any, **options: Unpack[IntakeOptions]) -> None:
        self.source = source
        self._intake = Intake(**options)
        self._add_alike = self._intake.accumulator.add_alike
        self._add_other = self._intake.accumulator.add_and_learn
        self._is_left = False  # whoever leaves a loop may go on with another

    def _note(self, item: Any) -> None:
        """Merge *item*; whatever is wrong with it is no business of who reads the stream."""
        try:
            if isinstance(item, BLOCKS):
                for chunk in self._intake.chunks_of(item):
                    self._intake.accumulator.add(chunk)
            elif self._add_alike(item) is None:
                self._add_other(as_plain(item))
        except StreamkitError as error:
            self._intake.failure = self._intake.failure or error
        except Exception as error:  # noqa: BLE001 - an object of unknown make may raise anything
            name = type(item).__name__
            context = self._intake.accumulator.context
            context.issue("bad_chunk", f"{quote(name)} cannot be read: {type(error).__name__}")

    def _end(self) -> None:
        if self._intake.outcome is None:
            for chunk in self._intake.rest():
                self._note(chunk)
            self._intake.finish()

    def snapshot(self) -> ChatCompletion | Completion | None:
        """Return the response so far, or None if no chunk came yet; never raise."""
        return self._intake.accumulator.snapshot()

    @property
    def outcome(self) -> Outcome:
        """
        The outcome, once the stream has ended, was closed or left, or has failed.

        What is read after it was looked at, by whoever left a loop and goes on with
        another, is not in it.

        Raises:
            InputRefused: Before that.
        """
        if self._is_left:
            self._end()
        if self._intake.outcome is None:
            raise InputRefused("the stream has not ended; snapshot() has the response so far")
        return self._intake.outcome

    def __getattr__(self, name: str) -> Any:
        """What else the source has: `response`, and so on."""
        if name.startswith("_") or name == "source":
            raise AttributeError(name)
        return getattr(self.source, name)


class Tee(BaseTee, Closing, Generic[T]):
    """
    An iterator over *source*, as `tee` makes it.

    Attributes:
        source: The iterable that is read.
    """

    def __init__(self, source: Iterable[T], **options: Unpack[IntakeOptions]) -> None:
        super().__init__(source, **options)
        self._items: Iterator[T] = iter(iterable(source))

    def __iter__(self) -> Iterator[T]:
        """Yield the items; a loop that is left early can be followed by another."""
        note = self._note
        self._is_left = False
        try:
            for item in self._items:
                note(item)
                yield item
        except GeneratorExit:
            self._is_left = True
            raise
        finally:
            if not self._is_left:
                self._end()

    def __next__(self) -> T:
        try:
            item = next(self._items)
        except BaseException:
            self._end()
            raise
        self._is_left = False
        self._note(item)
        return item

    def close(self) -> None:
        """End the outcome, and close the source."""
        self._end()
        close(self._items, self.source)


class AsyncTee(BaseTee, AsyncClosing, Generic[T]):
    """
    An async iterator over *source*, as `atee` makes it.

    Attributes:
        source: The async iterable that is read.
    """

    def __init__(self, source: AsyncIterable[T], **options: Unpack[IntakeOptions]) -> None:
        super().__init__(source, **options)
        self._items: AsyncIterator[T] = aiter(source)

    def __aiter__(self) -> AsyncIterator[T]:
        """Return the items; a loop that is left early can be followed by another."""
        return self if self._is_within else self._until_left()

    async def _until_left(self) -> AsyncIterator[T]:
        note = self._note
        self._is_left = False
        try:
            async for item in self._items:
                note(item)
                yield item
        except GeneratorExit:
            self._is_left = True
            raise
        finally:
            if not self._is_left:
                self._end()

    async def __anext__(self) -> T:
        try:
            item = await anext(self._items)
        except BaseException:
            self._end()
            raise
        self._is_left = False
        self._note(item)
        return item

    async def aclose(self) -> None:
        """End the outcome, and close the source."""
        self._end()
        await aclose(self._items, self.source)


def tee(source: Iterable[T], **options: Unpack[IntakeOptions]) -> Tee[T]:
    """
    Return an iterator over *source* that keeps the outcome beside it.

    What comes out is what came: the same objects, in the same order, with the same
    errors at the same places.  Nothing that is wrong with the stream ever raises
    here; it is in `outcome`, which is there once the stream has ended, was closed or
    left, or has failed.

    Args:
        source: An iterable of chunks (dicts, or objects with `model_dump()`), or of
            blocks of bytes or text.
        **options: As for `rebuild`: `kind`, `limits`, `rules`, `cumulative`, `json`.

    Raises:
        TypeError: If *source* is no iterable.

    >>> chunks = [{"choices": [{"index": 0, "delta": {"content": "Hi"}}]}]
    >>> stream = tee(chunks)
    >>> [chunk is chunks[0] for chunk in stream]
    [True]
    >>> stream.outcome.response.choices[0].message.content
    'Hi'
    """
    return Tee(source, **options)


def atee(source: AsyncIterable[T], **options: Unpack[IntakeOptions]) -> AsyncTee[T]:
    """
    Return an async iterator over *source* that keeps the outcome beside it.

    As `tee`, for async iterables; `aclose()` closes.

    Raises:
        TypeError: If *source* is no async iterable.
    """
    return AsyncTee(source, **options)
