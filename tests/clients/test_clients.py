"""
Real clients against the replay server: whole, left half-way, broken, too slow.

Whatever ends a stream, what came before it stays readable.
"""

from __future__ import annotations

import asyncio

import pytest

from streamkit import Accumulator, AsyncStream, ChunkReader, ContentDelta, Stream, rebuild
from streamkit.testing import Playback, StreamServer
from streamkit.testing.faults import (
    cut_transfer,
    gzipped,
    keep_alives,
    reset,
    slow_drip,
    stall,
)
from tests.testing.streams import CHUNKS, TEXT, WORDS

from .clients import ASYNC, SYNC


PLAIN = Playback.from_chunks(CHUNKS)
HALF = "".join(WORDS[: len(PLAIN.blocks) // 2])
PATIENCE = 5.0

WHOLE = {
    "plain": PLAIN,
    "gzip": gzipped(PLAIN),
    "byte by byte": slow_drip(PLAIN),
    "gzip, byte by byte": gzipped(slow_drip(PLAIN, size=7)),
    "in time": PLAIN.at_rate(100),
    "keep-alives": keep_alives(PLAIN.at_rate(20), every=0.02),
}
BROKEN = {"reset": reset(PLAIN), "cut": cut_transfer(PLAIN)}


@pytest.fixture(params=SYNC, ids=lambda client: client.name)
def client(request):
    request.param.check()
    return request.param


@pytest.fixture(params=ASYNC, ids=lambda client: f"async {client.name}")
def async_client(request):
    request.param.check()
    return request.param


def text(outcome):
    return outcome.response.choices[0].message.content


def text_so_far(stream):
    response = stream.snapshot()
    return None if response is None else response.choices[0].message.content


def run(coroutine):
    """Run *coroutine* to its end, in at most a minute: a test that hangs fails."""
    return asyncio.run(asyncio.wait_for(coroutine, 60))


# -- Sync ----------------------------------------------------------------------------


def receive(client, server, *, patience=PATIENCE, deltas=None):
    """Return the stream that was read with *client*, and the error that ended it."""
    stream = error = None
    try:
        with client.open(server.base_url, patience) as source, Stream(source) as stream:
            count = 0
            for event in stream:
                count += isinstance(event, ContentDelta)
                if count == deltas:
                    break
    except Exception as failure:  # noqa: BLE001 -- each client has its own
        error = failure
    return stream, error


def was_whole(request):
    """
    Tell whether *request* was answered up to `[DONE]`.

    A stream ends there, at the end of its line: whoever reads byte by byte may be gone
    before the blank line and the end of the transfer are sent.
    """
    may_miss = {"close": 0, "client left": 1}[request.wait()]
    return request.sent + may_miss >= len(request.playback.blocks)


@pytest.mark.parametrize("name", WHOLE)
def test_whole(client, name):
    """All of it comes, by all ways of reading it."""
    with StreamServer(WHOLE[name]) as server:
        stream, error = receive(client, server)
        with client.open(server.base_url, PATIENCE) as source:
            rebuilt = rebuild(source)
        first, second = server.requests
        assert was_whole(first)
        assert second.wait() == "close"
    assert error is None
    for outcome in (stream.outcome, rebuilt):
        assert (text(outcome), outcome.complete) == (TEXT, True)
        assert outcome.done is (True if client.has_done else None)
        assert not outcome.issues


def test_by_hand(client):
    """The two halves of a stream, in a loop of one's own."""
    reader, chunks = ChunkReader(), Accumulator()
    with StreamServer(PLAIN) as server, client.open(server.base_url, PATIENCE) as source:
        for item in source:
            for chunk in reader.feed(item) if isinstance(item, bytes) else [item]:
                chunks.add(chunk)
    assert text(chunks.finish()) == TEXT


def test_left_half_way(client):
    """Who leaves the loop closes the connection; the server does not play to nobody."""
    with StreamServer(PLAIN.at_rate(20)) as server:
        stream, error = receive(client, server, deltas=3)
        assert server.requests[0].wait() == "client left"
        assert server.requests[0].sent < len(PLAIN.blocks)
    assert error is None
    assert (text(stream.outcome), stream.outcome.complete) == ("".join(WORDS[:3]), False)


@pytest.mark.parametrize("name", BROKEN)
def test_broken(client, name):
    """The client's own error comes through; what came before is there."""
    with StreamServer(BROKEN[name]) as server:
        stream, error = receive(client, server)
    assert type(error).__name__ in client.errors
    assert (text(stream.outcome), stream.outcome.complete) == (HALF, False)


def test_stall(client):
    """The client's time-out ends it."""
    with StreamServer(stall(PLAIN)) as server:
        stream, error = receive(client, server, patience=0.5)
        assert server.requests[0].wait() == "client left"
    assert type(error).__name__ in client.timeouts
    assert (text(stream.outcome), stream.outcome.complete) == (HALF, False)


# -- Async ---------------------------------------------------------------------------


async def receive_async(client, server, *, patience=PATIENCE, deltas=None, streams=None):
    """As `receive`; the stream is also put into *streams* before it is read."""
    stream = error = None
    try:
        async with client.open(server.base_url, patience) as source, AsyncStream(source) as stream:
            if streams is not None:
                streams.append(stream)
            count = 0
            async for event in stream:
                count += isinstance(event, ContentDelta)
                if count == deltas:
                    break
    except Exception as failure:  # noqa: BLE001 -- each client has its own
        error = failure
    return stream, error


@pytest.mark.parametrize("name", WHOLE)
def test_whole_async(async_client, name):
    """All of it comes."""
    with StreamServer(WHOLE[name]) as server:
        stream, error = run(receive_async(async_client, server))
        assert was_whole(server.requests[0])
    assert error is None
    assert (text(stream.outcome), stream.outcome.complete) == (TEXT, True)
    assert stream.outcome.done is (True if async_client.has_done else None)
    assert not stream.outcome.issues


def test_by_hand_async(async_client):
    """The two halves of a stream, in a loop of one's own, the server in `async with`."""

    async def receive():
        reader, chunks = ChunkReader(), Accumulator()
        async with (
            StreamServer(PLAIN) as server,
            async_client.open(server.base_url, PATIENCE) as source,
        ):
            async for item in source:
                for chunk in reader.feed(item) if isinstance(item, bytes) else [item]:
                    chunks.add(chunk)
        return chunks.finish()

    assert text(run(receive())) == TEXT


def test_left_half_way_async(async_client):
    """As in sync code."""
    with StreamServer(PLAIN.at_rate(20)) as server:
        stream, error = run(receive_async(async_client, server, deltas=3))
        assert server.requests[0].wait() == "client left"
    assert error is None
    assert (text(stream.outcome), stream.outcome.complete) == ("".join(WORDS[:3]), False)


def test_cancelled(async_client):
    """A task that is cancelled while it waits closes its connection, and leaves its outcome."""
    streams = []

    async def cancel(server):
        task = asyncio.create_task(receive_async(async_client, server, streams=streams))
        while not (streams and text_so_far(streams[0]) == HALF):  # noqa: ASYNC110 -- of a thread
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with StreamServer(stall(PLAIN)) as server:
        run(cancel(server))
        assert server.requests[0].wait() == "client left"
    assert (text(streams[0].outcome), streams[0].outcome.complete) == (HALF, False)


@pytest.mark.parametrize("name", BROKEN)
def test_broken_async(async_client, name):
    """As in sync code."""
    with StreamServer(BROKEN[name]) as server:
        stream, error = run(receive_async(async_client, server))
    assert type(error).__name__ in async_client.errors
    assert (text(stream.outcome), stream.outcome.complete) == (HALF, False)


def test_stall_async(async_client):
    """As in sync code."""
    with StreamServer(stall(PLAIN)) as server:
        stream, error = run(receive_async(async_client, server, patience=0.5))
        assert server.requests[0].wait() == "client left"
    assert type(error).__name__ in async_client.timeouts
    assert (text(stream.outcome), stream.outcome.complete) == (HALF, False)


def test_many_at_once(async_client):
    """Fifty streams in one event loop; to make fifty clients takes seconds."""

    async def receive_all(server):
        all_of_them = (receive_async(async_client, server, patience=60.0) for _ in range(50))
        return await asyncio.gather(*all_of_them)

    with StreamServer(PLAIN.at_rate(50)) as server:
        received = run(receive_all(server))
    assert [error for _, error in received] == [None] * 50
    assert [text(stream.outcome) for stream, _ in received] == [TEXT] * 50
