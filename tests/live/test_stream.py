"""`Stream` and `AsyncStream`: when they read, when they close, and what is left then."""

from __future__ import annotations

import asyncio
import gc
import sys

from pathlib import Path
from types import SimpleNamespace

import pytest

from streamkit import (
    AsyncStream,
    ChoiceFinished,
    ChunkReceived,
    ContentDelta,
    ErrorReported,
    FramingError,
    IncompleteStream,
    InputRefused,
    InvalidChunk,
    IssueReported,
    LimitExceeded,
    Limits,
    Stream,
    atee,
)

from . import chunk, event
from .sources import AsyncSource, Source


A, B = event(chunk(content="a")), event(chunk(content="b", finish="stop"))
DONE = b"data: [DONE]\n\n"


class Sync:
    """How a stream is used with `for`."""

    source = staticmethod(Source)
    stream = staticmethod(Stream)

    @staticmethod
    def all(stream):
        return list(stream)

    @staticmethod
    def first(stream):
        for _ in stream:
            break

    @staticmethod
    def next(stream):
        return next(stream, None)

    @staticmethod
    def within(stream):
        with stream as same:
            assert same is stream
            next(stream)

    @staticmethod
    def close(stream):
        stream.close()


class Async:
    """How a stream is used with `async for`."""

    source = staticmethod(AsyncSource)
    stream = staticmethod(AsyncStream)

    @staticmethod
    def all(stream):
        async def run():
            return [each async for each in stream]

        return asyncio.run(run())

    @staticmethod
    def first(stream):
        async def run():
            async for _ in stream:
                break

        asyncio.run(run())

    @staticmethod
    def next(stream):
        async def run():
            return await anext(stream, None)

        return asyncio.run(run())

    @staticmethod
    def within(stream):
        async def run():
            async with stream as same:
                assert same is stream
                await anext(stream)

        asyncio.run(run())

    @staticmethod
    def close(stream):
        asyncio.run(stream.aclose())


@pytest.fixture(params=[Sync, Async], ids=["sync", "async"])
def way(request):
    return request.param


def deltas(events):
    return [each.delta for each in events if isinstance(each, ContentDelta)]


# -- To the end ----------------------------------------------------------------------


def test_all_events(way):
    """A source that ends by itself is not closed, but for what was opened to read it."""
    source = way.source(A, B)
    stream = way.stream(source)
    events = way.all(stream)
    assert deltas(events) == ["a", "b"]
    assert isinstance(events[-1], ChoiceFinished) or not events[-1].issue.code.startswith("bad")
    assert stream.outcome.complete
    assert stream.outcome.response.choices[0].message.content == "ab"
    assert source.closed == 0
    assert way.all(stream) == []
    assert way.next(stream) is None


def test_it_stops_at_done(way):
    """And closes a source that may go on for ever; unless it is told not to."""
    source = way.source(A, B, DONE, b": still here\n\n")
    stream = way.stream(source)
    way.all(stream)
    assert (source.read, source.closed) == (3, 1)
    assert stream.outcome.complete
    source = way.source(A, B, DONE, b": still here\n\n")
    stream = way.stream(source, stop_at_done=False)
    way.all(stream)
    assert (source.read, source.closed, stream.comments) == (4, 0, 1)


def test_chunks_instead_of_bytes(way):
    """Whatever an SDK yields."""
    stream = way.stream(way.source(chunk(content="a"), chunk(content="b")))
    assert deltas(way.all(stream)) == ["a", "b"]
    assert stream.outcome.done is None


def test_options_and_facts(way):
    """Those of the machine below."""
    stream = way.stream(
        way.source(b"retry: 5\nid: 1\n\n", A), snapshots=True, limits=Limits(issues=0)
    )
    assert stream.snapshot() is None
    events = way.all(stream)
    assert events[0].snapshot.choices[0].message.content == "a"
    assert stream.snapshot() == stream.outcome.response
    assert all(event.snapshot is None for event in way.all(way.stream(way.source(A))))
    assert (stream.last_event_id, stream.retry, stream.comments) == ("1", 5, 0)
    assert stream.outcome.issues == ()


def test_life(way):
    """Each block counts, a comment too."""
    lives = []
    way.all(way.stream(way.source(b": ping\n\n", A), on_life=lambda: lives.append(1)))
    assert len(lives) == 2


# -- Left early ----------------------------------------------------------------------


@pytest.mark.parametrize("leave", ["first", "within"])
def test_early_exit_closes_the_source(way, leave):
    """By `break` or `return`, or at the end of `with`."""
    source = way.source(A, B)
    stream = way.stream(source)
    getattr(way, leave)(stream)
    gc.collect()
    assert source.closed == 1
    assert source.read == 1
    assert stream.outcome.response.choices[0].message.content == "a"
    assert not stream.outcome.complete


@pytest.mark.parametrize("make", [AsyncStream, atee])
def test_a_loop_inside_async_with(make):
    """No generator is left to the event loop: the block closes, and trio has nothing to warn of."""
    generators = []

    async def run():
        sys.set_asyncgen_hooks(firstiter=generators.append)
        source = Resumable(A, B)
        async with make(source) as stream:
            async for _ in stream:
                break
            async for _ in stream:  # goes on
                pass
        return source.closed, stream.outcome.response.choices[0].message.content

    assert asyncio.run(run()) == (make is atee, "ab")
    assert generators == []


class Resumable(AsyncSource):
    """A source that is its own iterator, as clients' streams are."""

    def __aiter__(self):
        self.left = iter(self.items)
        return self

    async def __anext__(self):
        for item in self.left:
            return item
        raise StopAsyncIteration


def test_close_before_the_start(way):
    """Nothing is read; the outcome says that it is empty."""
    source = way.source(A)
    stream = way.stream(source)
    with pytest.raises(InputRefused):
        _ = stream.outcome
    way.close(stream)
    way.close(stream)
    assert (source.read, source.closed) == (0, 1)
    assert stream.outcome.response is None


def test_events_that_are_there_are_given_after_the_end(way):
    """Closing loses nothing that had come."""
    stream = way.stream(way.source(A + B))
    assert isinstance(way.next(stream), ChunkReceived)
    way.close(stream)
    assert deltas(way.all(stream)) == ["a", "b"]


def test_sources_without_close(way):
    """A list has none; a generator is its own iterator and is closed once."""
    if way is Sync:

        class Odd(list):
            close = "no method"

        Sync.first(Stream(Odd([A, B])))
        Sync.first(Stream([A, B]))
        blocks = (each for each in [A, B])
        Sync.first(Stream(blocks))
        assert list(blocks) == []
    else:

        class Bare:
            def __aiter__(self):
                return self

            async def __anext__(self):
                return A

        stream = AsyncStream(Bare())
        Async.within(stream)
        assert stream.outcome.response.choices[0].message.content == "a"


def test_an_async_source_with_a_plain_close():
    """As some clients' streams have it."""

    class Plain(AsyncSource):
        def close(self):
            self.closed += 1

    source = Plain(A)
    Async.within(AsyncStream(source))
    assert source.closed == 1


# -- Errors --------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ConnectionResetError("reset"), TimeoutError(), KeyError("x")])
def test_errors_of_the_source(way, error):
    """They come through as they are; all that had come is there."""
    source = way.source(A, error=error)
    stream = way.stream(source)
    seen = []
    with pytest.raises(type(error)) as caught:
        if way is Sync:
            seen.extend(stream)
        else:

            async def run():
                async for each in stream:
                    seen.append(each)

            asyncio.run(run())
    assert caught.value is error
    assert deltas(seen) == ["a"]
    assert source.closed == 1
    assert stream.outcome.response.choices[0].message.content == "a"
    assert not stream.outcome.complete


def test_a_bound_ends_the_stream(way):
    """It is the last event, and the outcome's error; nothing is raised."""
    source = way.source(A, B, A)
    stream = way.stream(source, limits=Limits(chunks=1))
    events = way.all(stream)
    assert [type(each) for each in events if isinstance(each, ErrorReported)] == [ErrorReported]
    assert isinstance(stream.outcome.error, LimitExceeded)
    assert (source.read, source.closed) == (2, 1)


@pytest.mark.parametrize(
    ("items", "error"), [((A, b"data: nonsense\n\n"), FramingError), ((A,), IncompleteStream)]
)
def test_strict(way, items, error):
    """The error is raised behind the last event, once."""
    stream = way.stream(way.source(*items), strict=True)
    seen = []
    with pytest.raises(error):
        while True:
            seen.append(way.next(stream) if way is Sync else None)
            if way is Async:
                seen[:] = way.all(stream)
    assert way.next(stream) is None
    assert stream.outcome.response.choices[0].message.content == "a"


def test_strict_and_whole(way):
    """There is nothing to raise."""
    stream = way.stream(way.source(A, B, DONE), strict=True)
    assert deltas(way.all(stream)) == ["a", "b"]
    assert way.next(stream) is None
    assert stream.outcome.complete


def unreadable():
    """Return an object that raises when it is read."""

    def fail(**_):
        raise OSError("no")

    return SimpleNamespace(model_dump=fail)


def test_a_chunk_that_raises_when_it_is_read(way):
    """It is an issue; the stream goes on."""
    odd = unreadable()
    stream = way.stream(way.source(chunk(content="a"), odd, chunk(content="b")))
    events = way.all(stream)
    assert deltas(events) == ["a", "b"]
    assert any(isinstance(each, ChunkReceived) and each.chunk is odd for each in events)
    (issue,) = [each.issue for each in events if isinstance(each, IssueReported)][:1]
    assert (issue.code, issue.event) == ("bad_chunk", 1)
    assert "'SimpleNamespace' that cannot be read: OSError" in issue.message
    assert stream.outcome.response.choices[0].message.content == "ab"


def test_a_chunk_that_raises_in_strict_mode(way):
    """Its own error is the cause of ours."""
    stream = way.stream(way.source(chunk(content="a"), unreadable()), strict=True)
    with pytest.raises(InvalidChunk, match="that cannot be read: OSError") as caught:
        way.all(stream)
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.partial == stream.outcome.response
    assert stream.outcome.response.choices[0].message.content == "a"


def test_cancellation():
    """It comes through, closes the source, and leaves the outcome readable."""
    source = AsyncSource(A, asyncio.Event())
    streams = []

    async def read(has_begun):
        async with AsyncStream(source) as stream:
            streams.append(stream)
            async for _ in stream:
                has_begun.set()

    async def run():
        has_begun = asyncio.Event()
        task = asyncio.create_task(read(has_begun))
        await has_begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert source.closed == 1
    assert streams[0].outcome.response.choices[0].message.content == "a"


def test_a_time_out():
    """The watchdog is wound by comments; without them it bites."""

    async def run(*items):
        stream = AsyncStream(AsyncSource(*items))
        async with asyncio.timeout(0.05):
            async for _ in stream:
                pass

    with pytest.raises(TimeoutError):
        asyncio.run(run(A, asyncio.Event()))


@pytest.mark.parametrize("source", [b"data: x", "text", {}, 5, None], ids=repr)
@pytest.mark.parametrize("make", [Stream, AsyncStream])
def test_wrong_sources(make, source):
    """What is whole is for `rebuild`."""
    with pytest.raises(TypeError):
        make(source)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (Path("chat.sse"), r"not (Posix|Windows)Path; for what is whole there is rebuild"),
        (5, "source must be an iterable of blocks or chunks, not int$"),
        (None, "source must be an iterable of blocks or chunks, not NoneType$"),
    ],
    ids=repr,
)
def test_what_is_no_iterable_is_told(source, said):
    """By what it is, and what would be right."""
    with pytest.raises(TypeError, match=said):
        Stream(source)


def test_a_sequence_of_the_old_kind():
    """With `__getitem__` alone it is an iterable, too."""

    class Blocks:
        def __getitem__(self, at: int) -> bytes:
            return [A][at]

    stream = Stream(Blocks())
    assert list(stream)
    assert stream.outcome.response is not None


def test_wrong_options(way):
    """A misspelled option is no option."""
    with pytest.raises(TypeError, match="snapshot"):
        way.stream(way.source(), snapshot=True)


# -- Whoever closes, and whatever raises ---------------------------------------------


class Stubborn:
    """A source whose reading and closing fail."""

    def __init__(self, error=None):
        self.error = error
        self.closed = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.error is None:
            return A
        raise self.error

    def __aiter__(self):
        return self

    async def __anext__(self):
        return self.__next__()

    def close(self):
        self.closed += 1
        raise OSError("closing")


def test_an_error_of_the_source_is_not_hidden_by_one_of_its_closing(way):
    """The first error says what is wrong."""
    source = Stubborn(ConnectionResetError("reset"))
    stream = way.stream(source)
    with pytest.raises(ConnectionResetError, match="reset"):
        way.all(stream)
    assert source.closed == 1
    assert stream.outcome.response is None


def test_an_error_of_closing_alone_is_raised(way):
    """Nobody else would tell of it."""
    source = Stubborn()
    with pytest.raises(OSError, match="closing"):
        way.within(way.stream(source))


def test_what_the_iterator_raises_when_closed_leaves_no_source_open(way):
    """A generator may fail when it is closed; the connection behind it is closed all the same."""

    class Failing(way.source):
        def __iter__(self):
            try:
                yield from self.items
            finally:
                raise OSError("iterator")

        async def __aiter__(self):
            try:
                for item in self.items:
                    yield item
            finally:
                raise OSError("iterator")

    source = Failing(A, A)
    with pytest.raises(OSError, match="iterator"):
        way.within(way.stream(source))
    assert source.closed == 1


def test_what_on_life_raises_comes_out(way):
    """`StopIteration`, too, which no end of the source may be taken for."""

    def fail():
        raise (StopIteration, StopAsyncIteration)[way is Async]

    source = way.source(A)
    with pytest.raises(RuntimeError, match=r"Stop(Async)?Iteration"):
        way.all(way.stream(source, on_life=fail))
    assert source.closed == 1


def test_on_life_may_close(way):
    """The block that came with it is left out, and the loop ends."""
    source = Source(A, A)
    stream = Stream(source, on_life=lambda: stream.close())
    assert deltas(stream) == []
    assert (source.read, source.closed) == (1, 1)
    assert stream.outcome.response is None


def test_another_task_closes():
    """Who reads gets what was noticed at the end, and no block that comes later."""

    class Slow(AsyncSource):
        def __aiter__(self):
            return self

        async def __anext__(self):
            await asyncio.sleep(0.01)
            return A

    async def run():
        source = Slow()
        stream = AsyncStream(source)
        reader = asyncio.create_task(anext(stream, None))
        await asyncio.sleep(0)
        await stream.aclose()
        return source.closed, type(await reader), stream.outcome.response

    assert asyncio.run(run()) == (1, IssueReported, None)


def test_sources_of_the_other_kind_are_told():
    """Each names the class that reads them."""

    async def source():
        yield A

    with pytest.raises(TypeError, match="AsyncStream and atee read it"):
        Stream(source())
    with pytest.raises(TypeError, match="not list; Stream reads"):
        AsyncStream([A])


def test_a_watchdog_that_has_to_be_awaited(way):
    """Nobody would wait for it."""

    async def on_life():
        pass

    told = r"^on_life must be a plain function: nothing waits for it$"
    with pytest.raises(TypeError, match=told):
        way.stream(way.source(), on_life=on_life)
