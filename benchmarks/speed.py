"""How fast: bytes to response, live, and the event parser, against the floors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Final

from streamkit import rebuild

from .floors import all_floors, decoders, json_floor, split
from .ours import live, parse, rebuild_and_read, rebuild_blocks
from .rows import Goal, Row, against
from .streams import STREAMS, make
from .timing import Effort


__all__ = ["blocks", "floors", "live_events", "logprobs", "parser", "short", "streams"]


def _goals(decoder: str, ratio: float) -> dict[str, Goal]:
    """Return the goal for *decoder*, whether or not it keeps what it decodes."""
    return dict.fromkeys((decoder, f"{decoder}, kept"), Goal(at_least=ratio))


REBUILD_GOALS: Final = {
    "top5": _goals("json.loads", 1),
    "tools": _goals("json.loads", 3),
    "n4": _goals("json.loads", 3),
    "completion": _goals("json.loads", 3),
    "friendli": _goals("json.loads", 3),
}


def floors(effort: Effort) -> Iterator[Row]:
    """Padded chat text, bytes to response, against every floor."""
    stream = make("padded", effort.chunks)
    goals = _goals("json.loads", 5) | _goals("orjson.loads", 2.5)
    ours = partial(rebuild, stream.data, json="json")
    return against(effort, "rebuild padded", ours, all_floors(stream), goals)


def streams(effort: Effort) -> Iterator[Row]:
    """Bytes to response, for each other kind of stream, without extras."""
    for name in STREAMS:
        if name == "padded":
            continue
        stream = make(name, effort.chunks)
        ours = partial(rebuild, stream.data, json="json")
        goals = REBUILD_GOALS.get(name, {})
        others = decoders(stream, kept=bool(goals))
        yield from against(effort, f"rebuild {name}", ours, others, goals)


def short(effort: Effort) -> Iterator[Row]:
    """Bytes to response, for streams of few chunks, each with an id of its own."""
    numbers = count(10_000)
    for chunks in (20, 100, 500):
        stream = make("text", chunks)

        def ours(data: bytes = stream.data) -> None:
            rebuild(data.replace(b'"chatcmpl-1"', b'"chatcmpl-%d"' % next(numbers)), json="json")

        yield from against(effort, f"rebuild text, {chunks} chunks", ours, decoders(stream))


def logprobs(effort: Effort) -> Iterator[Row]:
    """Log probabilities with the extra `fast`; and each of them read, which decodes them."""
    for name in ("top5", "top20"):
        stream = make(name, effort.chunks)
        both = decoders(stream)
        goals = _goals("orjson.loads", 1) if name == "top5" else {}
        others = decoders(stream, kept=bool(goals))
        ours = partial(rebuild, stream.data, json="auto")
        yield from against(effort, f"rebuild {name} [fast]", ours, others, goals)
        for extra, backend in (("", "json"), (" [fast]", "auto")):
            run = partial(rebuild_and_read, stream, json=backend)
            yield from against(effort, f"rebuild {name}, all read{extra}", run, both)


def live_events(effort: Effort) -> Iterator[Row]:
    """ChunkReader and Accumulator, one event a block."""
    for name in ("padded", "text", "escapes", "n4", "tools", "reasoning", "top5", "friendli"):
        stream = make(name, effort.chunks)
        goals = _goals("json.loads", 2) if name == "padded" else {}
        others = decoders(stream, kept=bool(goals))
        ours = partial(live, stream.events)
        yield from against(effort, f"live {name}, event by event", ours, others, goals)


def blocks(effort: Effort) -> Iterator[Row]:
    """The same stream cut otherwise; byte by byte a tenth of it."""
    stream, short = make("padded", effort.chunks), make("padded", effort.chunks // 10)
    floor, short_floor = json_floor(stream.payloads), json_floor(short.payloads)
    cuts = {
        "4 KiB blocks": (stream.blocks(4096), floor),
        "event by event": (stream.events, floor),
        "byte by byte": (short.blocks(1), short_floor),
    }
    for way, run in (("rebuild", rebuild_blocks), ("live", live)):
        for cut, (pieces, other) in cuts.items():
            if (way, cut) != ("live", "event by event"):
                name = f"{way} padded, {cut}"
                yield from against(effort, name, partial(run, pieces), {"json.loads": other})


def parser(effort: Effort) -> Iterator[Row]:
    """SSEParser against cutting at blank lines, which decodes nothing."""
    stream = make("padded", effort.chunks)
    cuts = {
        "whole": [stream.data],
        "4 KiB blocks": stream.blocks(4096),
        "event by event": stream.events,
    }
    for cut, pieces in cuts.items():
        goals = {"bytes.split": Goal(at_least=0.7)} if cut == "4 KiB blocks" else None
        others = {"bytes.split": split(stream)}
        yield from against(effort, f"SSEParser, {cut}", partial(parse, pieces), others, goals)
