"""`tee` and `atee`: the caller's own chunks, untouched, and the outcome beside them."""

from __future__ import annotations

import asyncio

from types import SimpleNamespace

import pytest

from hypothesis import HealthCheck, given, settings

from streamkit import (
    Accumulator,
    InputRefused,
    LimitExceeded,
    Limits,
    UpstreamError,
    atee,
    finalize,
    rebuild,
    tee,
)
from tests.merging.strategies import streams

from . import chunk, event
from .sources import AsyncSource, Source


def consume(stream):
    """Return what *stream* yields, sync or async."""
    if hasattr(stream, "__iter__"):
        return list(stream)

    async def run():
        return [item async for item in stream]

    return asyncio.run(run())


@pytest.fixture(params=["sync", "async"])
def make(request):
    """Return what makes a source and a tee on it."""
    source, over = (Source, tee) if request.param == "sync" else (AsyncSource, atee)

    def made(*items, error=None, **options):
        return over(source(*items, error=error), **options)

    return made


def test_the_same_objects_in_the_same_order(make):
    """Whatever they are."""
    items = [chunk(content="a"), None, 5, object(), [], chunk(content="b", finish="stop")]
    stream = make(*items)
    seen = consume(stream)
    assert all(one is other for one, other in zip(seen, items, strict=True))
    assert stream.outcome.response.choices[0].message.content == "ab"
    assert stream.outcome.complete


def test_bytes_and_text(make):
    """Blocks of a body are read, and handed on as they are."""
    data = event(chunk(content="é")) + b"data: [DONE]"
    stream = make(data[:30], data[30:].decode())
    assert consume(stream) == [data[:30], data[30:].decode()]
    assert stream.outcome == rebuild(data)


def test_a_last_event_without_its_blank_line(make):
    """The end of the source completes it."""
    stream = make(event(chunk(content="a")).rstrip())
    consume(stream)
    assert stream.outcome.response.choices[0].message.content == "a"


def test_the_same_error_at_the_same_place(make):
    """The source's own."""
    error = ConnectionResetError("reset")
    stream = make(chunk(content="a"), error=error)
    with pytest.raises(ConnectionResetError) as caught:
        consume(stream)
    assert caught.value is error
    assert stream.outcome.response.choices[0].message.content == "a"


def test_nothing_of_ours_is_raised(make):
    """Not even if a bound is crossed, or a chunk is strange."""
    stream = make(*(chunk(content="abc") for _ in range(3)), limits=Limits(text=4))
    assert len(consume(stream)) == 3
    assert isinstance(stream.outcome.error, LimitExceeded)
    stream = make(b"data: " + b"x" * 300, b"y", limits=Limits(line=200))
    assert len(consume(stream)) == 2
    assert isinstance(stream.outcome.error, LimitExceeded)
    stream = make({"error": "boo"}, strict=True)
    assert len(consume(stream)) == 1
    assert isinstance(stream.outcome.error, UpstreamError)


def test_an_object_that_cannot_be_read(make):
    """Its own error stays its own affair."""

    def fail(**_):
        raise OSError("no")

    odd = SimpleNamespace(model_dump=fail)
    stream = make(odd, chunk(content="a"))
    assert consume(stream)[0] is odd
    (issue,) = [issue for issue in stream.outcome.issues if issue.code == "bad_chunk"]
    assert "'SimpleNamespace' that cannot be read: OSError" in issue.message
    assert stream.outcome.response.choices[0].message.content == "a"


def test_data_that_cannot_be_compared(make):
    """Whatever raises, it is no business of who reads the stream."""

    class Odd:
        def __eq__(self, other):
            raise OSError("no")

    odd = {"choices": [{"index": 0, "text": "a", "logprobs": {"tokens": Odd()}}]}
    stream = make(odd, {"choices": [{"index": 0, "text": "b"}]})
    assert consume(stream)[0] is odd
    (issue,) = (each for each in stream.outcome.issues if each.code == "bad_chunk")
    assert issue.message == "'dict' cannot be read: OSError"
    assert stream.outcome.response.choices[0].text == "ab"


def test_the_outcome_waits_for_the_end(make):
    """Before, there is the snapshot."""
    stream = make(chunk(content="a"))
    assert stream.snapshot() is None
    with pytest.raises(InputRefused, match="has not ended"):
        _ = stream.outcome
    consume(stream)
    assert stream.snapshot() == stream.outcome.response


def test_what_else_the_source_has(make):
    """A client's stream has more than chunks."""
    stream = make(chunk(content="a"))
    stream.source.response = "the response"
    assert stream.response == "the response"
    assert stream.closed == 0
    with pytest.raises(AttributeError, match="nothing"):
        _ = stream.nothing
    assert not hasattr(type(stream).__new__(type(stream)), "source")
    with pytest.raises(AttributeError, match=r"^_private$"):
        _ = stream._private


def test_item_by_item():
    """`next` goes as well as `for`, and ends the outcome too."""
    stream = tee(Source(chunk(content="a")))
    with stream as same:
        assert same is stream
        assert next(stream) == chunk(content="a")
        with pytest.raises(StopIteration):
            next(stream)
    assert stream.source.closed == 1
    assert stream.outcome.chunks == 1

    async def run():
        async with atee(AsyncSource(chunk(content="a"))) as stream:
            assert await anext(stream) == chunk(content="a")
            with pytest.raises(StopAsyncIteration):
                await anext(stream)
        assert stream.source.closed == 1
        return stream.outcome

    assert asyncio.run(run()).chunks == 1


def test_left_early():
    """What came is there."""
    stream = tee(Source(chunk(content="a"), chunk(content="b")))
    for _ in stream:
        break
    assert stream.outcome.response.choices[0].message.content == "a"


def test_left_and_read_on():
    """As a client's own stream, a tee can be looked into first, and then be read by others."""
    stream = tee(iter([chunk(content=text) for text in "abc"]))
    for _ in stream:
        break
    assert next(stream)["choices"][0]["delta"]["content"] == "b"
    with pytest.raises(InputRefused):
        _ = stream.outcome
    for _ in stream:
        with pytest.raises(InputRefused):
            _ = stream.outcome
    assert stream.outcome.response.choices[0].message.content == "abc"


def test_the_iterator_of_a_source_is_closed():
    """And the source."""
    closed = []

    def items():
        try:
            yield chunk(content="a")
        finally:
            closed.append(1)

    class Opened(Source):
        __iter__ = staticmethod(items)

    stream = tee(Opened())
    next(stream)
    stream.close()
    assert (closed, stream.source.closed) == ([1], 1)


def test_the_iterator_of_an_async_source_is_closed():
    """The same."""
    closed = []

    class Opened(AsyncSource):
        async def __aiter__(self):
            try:
                yield chunk(content="a")
            finally:
                closed.append(1)

    async def run():
        stream = atee(Opened())
        async with stream:
            await anext(stream)
        return list(closed), stream.source.closed

    assert asyncio.run(run()) == ([1], 1)


def test_alike_chunks_go_the_short_way(monkeypatch):
    """After a few that are alike, no rule is looked up for each field again."""
    merged = []
    add_plain = Accumulator.add_plain
    monkeypatch.setattr(
        Accumulator, "add_plain", lambda self, plain: merged.append(plain) or add_plain(self, plain)
    )
    list(tee([chunk(content="a")] * 50))
    assert len(merged) < 10


def test_left_and_read_on_async():
    """The same with `async for`."""

    class Resumable:
        items = iter([chunk(content=text) for text in "abc"])

        def __aiter__(self):
            return self

        async def __anext__(self):
            for item in self.items:
                return item
            raise StopAsyncIteration

    async def run():
        stream = atee(Resumable())
        async for _ in stream:
            break
        await asyncio.sleep(0.01)
        await anext(stream)
        with pytest.raises(InputRefused):
            _ = stream.outcome
        async for _ in stream:
            with pytest.raises(InputRefused):
                _ = stream.outcome
        return stream.outcome.response.choices[0].message.content

    assert asyncio.run(run()) == "abc"


def test_left_early_async():
    """What came is there, once the loop has noticed."""

    async def run():
        stream = atee(AsyncSource(chunk(content="a"), chunk(content="b")))
        async for _ in stream:
            break
        await asyncio.sleep(0.01)
        return stream.outcome.response.choices[0].message.content

    assert asyncio.run(run()) == "a"


def test_looked_at_and_read_on():
    """An outcome does not change once it was seen; what is handed on does not care."""
    stream = tee(iter([chunk(content=text) for text in "abc"]))
    for _ in stream:
        break
    outcome = stream.outcome
    assert len(list(stream)) == 2
    assert stream.outcome is outcome


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(streams())
def test_any_stream(chunks):
    """The outcome is what `finalize` makes of it."""
    stream = tee(chunks)
    assert list(stream) == chunks
    assert stream.outcome.response == finalize(chunks)


def test_no_iterable():
    """As with any iterator."""
    for source in (5, b"data: x"):
        with pytest.raises(TypeError):
            tee(source)
    with pytest.raises(TypeError):
        atee([])
