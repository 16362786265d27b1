"""Our side of each comparison."""

from __future__ import annotations

from collections.abc import Sequence

from streamkit import Accumulator, ChunkReader, Outcome, SSEParser, rebuild
from streamkit._json import Backend

from .streams import Chunk, Stream
from .timing import consume


__all__ = ["accumulate", "live", "parse", "read", "rebuild_and_read", "rebuild_blocks"]


def rebuild_blocks(blocks: Sequence[bytes], json: Backend = "json") -> Outcome:
    """Return the outcome of *blocks*."""
    return rebuild(iter(blocks), json=json)


def rebuild_and_read(stream: Stream, json: Backend = "json") -> None:
    """Rebuild *stream*, and look at each log probability, which is decoded only then."""
    response = rebuild(stream.data, json=json).response
    assert response is not None
    logprobs = response.choices[0].logprobs
    assert logprobs is not None
    consume(logprobs.content or ())


def live(blocks: Sequence[bytes], json: Backend = "json") -> Outcome:
    """Read *blocks* as they come, and merge the chunks of each."""
    reader, chunks = ChunkReader(json=json), Accumulator()
    for block in blocks:
        for chunk in reader.feed(block):
            chunks.add(chunk)
    for chunk in reader.finish():
        chunks.add(chunk)
    return chunks.finish(done=reader.done, cut=reader.cut)


def accumulate(chunks: Sequence[Chunk]) -> Outcome:
    """Merge chunks that were decoded before."""
    accumulator = Accumulator()
    for chunk in chunks:
        accumulator.add(chunk)
    return accumulator.finish()


def parse(blocks: Sequence[bytes]) -> None:
    """Parse the events of *blocks*."""
    parser = SSEParser()
    for block in blocks:
        parser.feed(block)
    parser.finish()


def read(blocks: Sequence[bytes]) -> None:
    """Read the chunks of *blocks*."""
    reader = ChunkReader(json="json")
    for block in blocks:
        reader.feed(block)
    reader.finish()
