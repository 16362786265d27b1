"""
What a type checker says of a user's code: run by `mypy --strict` and pyright, not by pytest.

Every `assert_type` is a promise; what must be refused carries an ignore, and both
checkers complain of one that is not needed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, assert_type

from streamkit import (
    Accumulator,
    AsyncStream,
    ChatCompletion,
    ChunkReceived,
    Completion,
    ContentDelta,
    ContentDone,
    Limits,
    LiveAccumulator,
    Outcome,
    Stream,
    StreamEvent,
    ToolCallDone,
    UsageReported,
    atee,
    finalize,
    partial_json,
    rebuild,
    rebuild_all,
    tee,
    to_message,
)
from streamkit.interchange import to_otel_attributes
from streamkit.recordings import Form, sniff
from streamkit.testing import FAULTS, Playback, StreamServer, chunk_up, split_bytes, to_sse


class Chunk:
    """An SDK's own chunk."""


def whole(path: Path) -> None:
    outcome = rebuild(path, limits=Limits(text=5), kind="chat")
    assert_type(outcome, Outcome)
    assert_type(outcome.response, ChatCompletion | Completion | None)
    assert_type(rebuild_all(path), Iterator[Outcome])
    assert_type(finalize([{"choices": []}]), ChatCompletion | Completion)
    if isinstance(outcome.response, ChatCompletion):
        content = outcome.response.choices[0].message.content
        assert_type(content, str | Sequence[Mapping[str, Any]] | None)


def live(blocks: Iterable[bytes]) -> str:
    text: list[str] = []
    with Stream(blocks, snapshots=True, limits=Limits(), stop_at_done=False) as stream:
        assert_type(stream, Stream)
        for event in stream:
            assert_type(event, StreamEvent)
            match event:
                case ContentDelta(delta=delta):
                    assert_type(delta, str)
                    text.append(delta)
                case ContentDone(index=index, content=content):
                    assert_type((index, content), tuple[int, str])
                case ToolCallDone(position=position, arguments=arguments):
                    assert_type(position, int | None)
                    assert_type(arguments, str)
                case UsageReported(usage=usage):
                    assert_type(usage.total_tokens, int | None)
                case ChunkReceived():
                    assert_type(event.snapshot, ChatCompletion | Completion | None)
                case _:
                    pass
    assert_type(stream.outcome, Outcome)
    assert_type(stream.retry, int | None)
    return "".join(text)


async def live_async(blocks: AsyncIterator[bytes]) -> Outcome:
    async with AsyncStream(blocks, on_life=lambda: None) as stream:
        async for event in stream:
            assert_type(event, StreamEvent)
    return stream.outcome


def handed_on(chunks: Iterable[Chunk]) -> Outcome:
    stream = tee(chunks, kind="chat")
    for chunk in stream:
        assert_type(chunk, Chunk)
    return stream.outcome


async def handed_on_async(chunks: AsyncIterator[Chunk]) -> Outcome:
    stream = atee(chunks)
    async for chunk in stream:
        assert_type(chunk, Chunk)
    return stream.outcome


def by_hand() -> None:
    machine = LiveAccumulator(strict=True)
    assert_type(machine.feed(b""), list[StreamEvent])
    assert_type(Accumulator().snapshot(), ChatCompletion | Completion | None)


def handed_out(response: ChatCompletion) -> None:
    assert_type(to_message(response), dict[str, Any])
    assert_type(to_otel_attributes(response), dict[str, Any])
    assert_type(partial_json("{"), Any)
    assert_type(sniff(b"data: x"), Form)


def tested(response: ChatCompletion) -> None:
    chunks = chunk_up(response, seed=1, size=(1, 4), dialect="azure")
    assert_type(chunks, list[dict[str, Any]])
    assert_type(to_sse(chunks, newline="\r\n", done=False), bytes)
    assert_type(split_bytes(b"", seed=1), list[bytes])
    assert_type(FAULTS["cut_inside"].complete, bool)
    with StreamServer(Playback.from_chunks(chunks)) as server:
        assert_type(server.url, str)


def refused() -> None:
    Stream([b""], snapshot=True)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    Stream(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    AsyncStream([b""])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    rebuild(b"", kind="chit")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
