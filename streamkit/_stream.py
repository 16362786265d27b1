"""
Streams of events over a caller's own iterable: `Stream`, and `AsyncStream` for
async ones.  All they know is when to read and when to close; the rest is
`LiveAccumulator`'s.
"""

from __future__ import annotations

import inspect

from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Unpack

from ._closing import AsyncClosing, Closing, aclose, close
from ._events import StreamEvent
from ._intake import IntakeOptions, iterable
from ._live import LiveAccumulator
from ._outcome import Outcome


if TYPE_CHECKING:
    from ._models import ChatCompletion, Completion


__all__ = ["AsyncStream", "Stream"]

OVER: Final = object()
"""What comes of a source that has ended; a chunk may be None."""


class StreamOptions(IntakeOptions, total=False):
    """
    How to read a stream; all of it may be left out.

    Attributes:
        snapshots: Each event has the response so far as `snapshot`.
        stop_at_done: End at `[DONE]`; False reads on until the source ends, so that
            a client can use the connection again.
        on_life: Called whenever anything comes, a comment too: to wind a watchdog.
    """

    snapshots: bool
    stop_at_done: bool
    on_life: Callable[[], object] | None


class BaseStream:
    """What both kinds of stream have in common: everything but reading and closing."""

    def __init__(
        self,
        source: Any,
        *,
        snapshots: bool = False,
        stop_at_done: bool = True,
        on_life: Callable[[], object] | None = None,
        **options: Unpack[IntakeOptions],
    ) -> None:
        if inspect.iscoroutinefunction(on_life):
            raise TypeError("on_life must be a plain function: nothing waits for it")
        self._live = LiveAccumulator(snapshots=snapshots, **options)
        self._is_strict = options.get("strict", False)
        self._source = source
        self._stop_at_done = stop_at_done
        self._on_life = on_life
        self._events: deque[StreamEvent] = deque()
        self._has_raised = False

    def _take(self, item: Any) -> bool:
        """Take the next *item* of the source; return whether it is enough."""
        live = self._live
        if self._on_life is not None:
            self._on_life()
        if live.has_ended:  # closed meanwhile: by `on_life`, or by another task
            return True
        self._events += live.feed(item)
        return live.failure is not None or (self._stop_at_done and live.done)

    def _end(self) -> None:
        """Take note that nothing more will be read."""
        self._events += self._live.finish()

    @property
    def _is_over(self) -> bool:
        """
        Whether there will be no more events, once those that are there are taken.

        Raises:
            StreamkitError: Once, if *strict*: what ended the stream.
        """
        has_ended = self._live.has_ended
        if has_ended and self._is_strict and not self._has_raised:
            self._has_raised = True
            if self._live.failure is not None:
                raise self._live.failure
        return has_ended

    def snapshot(self) -> ChatCompletion | Completion | None:
        """Return the response so far, or None if no chunk came yet; never raise."""
        return self._live.snapshot()

    @property
    def outcome(self) -> Outcome:
        """
        The outcome, once the stream has ended, was closed, or has failed.

        Raises:
            InputRefused: Before that.
        """
        return self._live.outcome

    @property
    def last_event_id(self) -> str:
        """The stream's last event ID, to reconnect with (`Last-Event-ID`); `""` if it has none."""
        return self._live.last_event_id

    @property
    def retry(self) -> int | None:
        """The reconnection time that the server asked for last, in milliseconds, or None."""
        return self._live.retry

    @property
    def comments(self) -> int:
        """How many comment lines came: they say nothing, but that the server lives."""
        return self._live.comments


class Stream(BaseStream, Closing):
    r"""
    Iterate over the events of a stream while it is read from *source*.

    The source is closed when the stream is left early: by `break`, by an error, at
    the end of a `with` block, or by `close()`.  An error of the source comes through
    as it is.  However it ends, `outcome` has all that came.

    Args:
        source: An iterable of blocks of the body (bytes or text, cut anywhere), such
            as httpx's `response.iter_bytes()`, or of chunks, such as the openai
            client's stream.
        snapshots: Each event has the response so far as `snapshot`.
        stop_at_done: End at `[DONE]`; False reads on until the source ends, so that
            a client can use the connection again.
        on_life: Called whenever anything comes, a comment too: to wind a watchdog.
        **options: As for `rebuild`: `kind`, `strict`, `limits`, `rules`,
            `cumulative`, `json`.

    Raises:
        TypeError: If *source* is no iterable, or bytes or text itself.
        StreamkitError: While iterating, if *strict*, behind the last event.

    >>> from streamkit import ContentDelta
    >>> source = [b'data: {"choices":[{"index":0,"del', b'ta":{"content":"Hi"}}]}\n\n']
    >>> with Stream(source) as stream:
    ...     print([event.delta for event in stream if isinstance(event, ContentDelta)])
    ['Hi']
    >>> stream.outcome.response.choices[0].message.content, stream.outcome.complete
    ('Hi', False)
    """

    def __init__(self, source: Iterable[Any], **options: Unpack[StreamOptions]) -> None:
        super().__init__(source, **options)
        self._items: Iterator[Any] = iter(iterable(source))

    def __iter__(self) -> Iterator[StreamEvent]:
        """Yield the events; a loop that is left early closes the source."""
        try:
            while self._events or self._fill():
                yield self._events.popleft()
        finally:
            self.close()

    def __next__(self) -> StreamEvent:
        if self._events or self._fill():
            return self._events.popleft()
        raise StopIteration

    def _fill(self) -> bool:
        """Read until there is an event; return whether there is one."""
        while not self._events:
            if self._is_over:
                return False
            self._read()
        return True

    def _read(self) -> None:
        try:
            item = next(self._items, OVER)
            has_enough = item is not OVER and self._take(item)
        except BaseException:
            with suppress(Exception):  # what went wrong first is what the caller has to know
                self.close()
            raise
        if item is OVER:
            self._end()
        elif has_enough:
            self.close()

    def close(self) -> None:
        """End the stream, if it has not ended, and close the source."""
        if self._live.has_ended:
            return
        self._end()
        close(self._items, self._source)


class AsyncStream(BaseStream, AsyncClosing):
    r"""
    Iterate over the events of a stream while it is read from an async *source*.

    As `Stream`, with `async for`, `async with` and `aclose()`.  Cancellation comes
    through, and leaves the outcome readable.  A loop that is left by `break` closes
    the source when the event loop gets to it; the end of `async with` does at once.

    Args:
        source: An async iterable of blocks of the body (bytes or text, cut
            anywhere), such as httpx's `response.aiter_bytes()` or aiohttp's
            `response.content.iter_any()`, or of chunks.
        snapshots: As for `Stream`; likewise all further arguments.

    Raises:
        TypeError: If *source* is no async iterable.
        StreamkitError: While iterating, if *strict*, behind the last event.

    >>> import asyncio
    >>> from streamkit import ContentDelta
    >>> async def source():
    ...     yield b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
    >>> async def main():
    ...     async with AsyncStream(source()) as stream:
    ...         return [event.delta async for event in stream if isinstance(event, ContentDelta)]
    >>> asyncio.run(main())
    ['Hi']
    """

    def __init__(self, source: AsyncIterable[Any], **options: Unpack[StreamOptions]) -> None:
        super().__init__(source, **options)
        if not isinstance(source, AsyncIterable):
            raise TypeError(
                f"source must be an async iterable, not {type(source).__name__}; "
                f"Stream reads other iterables"
            )
        self._items: AsyncIterator[Any] = aiter(source)

    def __aiter__(self) -> AsyncIterator[StreamEvent]:
        """Return the events; without `async with`, a loop that is left early closes the source."""
        return self if self._is_within else self._until_left()

    async def _until_left(self) -> AsyncIterator[StreamEvent]:
        try:
            while self._events or await self._fill():
                yield self._events.popleft()
        finally:
            await self.aclose()

    async def __anext__(self) -> StreamEvent:
        if self._events or await self._fill():
            return self._events.popleft()
        raise StopAsyncIteration

    async def _fill(self) -> bool:
        """Read until there is an event; return whether there is one."""
        while not self._events:
            if self._is_over:
                return False
            await self._read()
        return True

    async def _read(self) -> None:
        try:
            item = await anext(self._items, OVER)
            has_enough = item is not OVER and self._take(item)
        except BaseException:
            with suppress(Exception):  # as above
                await self.aclose()
            raise
        if item is OVER:
            self._end()
        elif has_enough:
            await self.aclose()

    async def aclose(self) -> None:
        """End the stream, if it has not ended, and close the source."""
        if self._live.has_ended:
            return
        self._end()
        await aclose(self._items, self._source)
