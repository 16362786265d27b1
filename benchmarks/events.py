"""What typed events cost, and what a tee adds to a stream that is somebody else's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

from streamkit import Stream, tee

from .floors import decoders, if_installed
from .rows import Goal, Row, against
from .streams import make
from .timing import Effort, Run, consume, race


__all__ = ["events", "tees"]

ADDED: Final = Goal(at_most=3)


def events(effort: Effort) -> Iterator[Row]:
    """`Stream` over one event a block, all its events taken."""
    for name in ("padded", "tools"):
        stream = make(name, effort.chunks)
        ours = partial(_all_events, stream.events)
        yield from against(effort, f"Stream {name}, event by event", ours, decoders(stream))


def _all_events(blocks: Iterable[bytes]) -> None:
    consume(Stream(blocks, json="json"))


def tees(effort: Effort) -> Iterator[Row]:
    """What `tee` adds to each chunk, over a loop that does nothing with it."""
    stream = make("padded", effort.chunks)
    kinds: dict[str, Any] = {
        "dicts": stream.chunks,
        "objects of the openai package": if_installed(_openai_chunks, stream.chunks),
    }
    for name, chunks in kinds.items():
        added = None if chunks is None else _added(effort, chunks)
        yield Row(f"tee of {name} | each chunk, added", added, "us", ADDED)


def _added(effort: Effort, chunks: Any) -> float:
    """Return how many microseconds a tee adds to each of *chunks*."""
    runs: dict[str, Run] = {
        "alone": lambda: consume(each for each in chunks),
        "tee": lambda: consume(tee(each for each in chunks)),
    }
    times = race(effort, runs)
    return (times["tee"] - times["alone"]) / len(chunks) * 1e6


def _openai_chunks(chunks: list[dict[str, Any]]) -> list[Any]:
    from openai.types.chat import ChatCompletionChunk

    return [ChatCompletionChunk.model_construct(**chunk) for chunk in chunks]
