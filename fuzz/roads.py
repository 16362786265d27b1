"""
The invariant that fuzzing tries to break.

For any bytes:

1. `rebuild` over the fast road (`MergingRoad`) and over the slow one (`Framer`)
   gives the same outcomes, issues and their offsets included, whole or in pieces.
2. `ChunkReader` gives the same chunks, issues, `done`, `cut` and `error` with its
   fast road and with that road closed, whole or in pieces.
3. `SSEParser` gives the same events and the same state, whole or in pieces.
4. Nothing but `StreamkitError` escapes, in lenient mode and in strict mode.
5. A response becomes strict JSON that encodes as UTF-8.

"The same" is of type and order too: `1` is not `true`, nor is `1.0`.  Where to cut,
and which limits to set, is drawn from a checksum of the input, so that one input
is one case.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import zlib

from collections.abc import Iterable
from functools import partial
from typing import Any

from streamkit import (
    Accumulator,
    ChunkReader,
    LimitExceeded,
    Limits,
    Outcome,
    SSEParser,
    StreamkitError,
    rebuild_all,
    to_json,
)
from streamkit._framing import Framer
from streamkit._issues import IssueLog, StrictLog
from streamkit._json import Decoder
from streamkit._merging_road import MergingRoad
from streamkit._streams import StreamSplitter


__all__ = ["check"]

Pieces = list[bytes]
EVENT = re.compile(rb".+?(?:\r\n\r\n|\n\n|\r\r|\Z)", re.DOTALL)
LINE = re.compile(rb"[^\n]*\n|[^\n]+")
# Bounds that small inputs do cross.  Those on lines and events are set apart: how
# long a line had grown when it was refused depends on the pieces.
SMALL = {
    "chunks": 5,
    "text": 60,
    "choices": 2,
    "index": 2,
    "tool_calls": 2,
    "logprobs": 4,
    "depth": 6,
    "keys": 9,
    "issues": 2,
}
SHORT = {"line": 300, "event": 280}


def check(data: bytes) -> None:
    """
    Hold *data* against the invariant.

    Raises:
        AssertionError: If it does not hold.
    """
    hold(data, random.Random(zlib.crc32(data)))


def hold(data: bytes, draw: random.Random) -> None:
    """Hold *data*, cut as *draw* says, against the invariant."""
    pieces = cut(draw, data)
    limits = drawn_limits(draw, SMALL) if draw.random() < 0.25 else Limits()
    check_roads(data, pieces, limits)
    check_reader(data, pieces, limits)
    check_parser(data, pieces)
    check_strict(data, pieces)
    short = drawn_limits(draw, SHORT)
    same("rebuild, short lines", rebuilt(pieces, short, fast=True), rebuilt(pieces, short))
    same("reader, short lines", read(ChunkReader, pieces, short), read(SlowReader, pieces, short))


def same(what: str, found: Any, expected: Any) -> None:
    """
    Compare plain data, types and order included.

    Raises:
        AssertionError: If they differ; it tells both from where they do.
    """
    left, right = repr(found), repr(expected)
    if left == right:
        return
    at = next((n for n, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]), 0)
    start = max(0, at - 200)
    raise AssertionError(
        f"{what}:\nfound    …{left[start : at + 300]}\nexpected …{right[start : at + 300]}"
    )


# -- What is drawn -------------------------------------------------------------------


def cut(draw: random.Random, data: bytes) -> Pieces:
    """Return *data* in pieces: bytes, blocks, lines, events, rows of lines, or any parts."""
    kind = draw.randrange(7)
    if kind == 0 and len(data) < 600:
        return [data[at : at + 1] for at in range(len(data))]
    if kind == 1:
        size = draw.choice([7, 64, 400])
        return [data[at : at + size] for at in range(0, len(data), size)]
    if kind == 2:
        return LINE.findall(data)
    if kind == 3:
        return EVENT.findall(data)
    if kind == 4:  # at the ends of some lines, where events begin and end
        edges = [match.end() for match in LINE.finditer(data) if draw.random() < 0.5]
    else:
        edges = sorted(draw.randrange(len(data) + 1) for _ in range(draw.randrange(1, 12)))
    return [data[a:b] for a, b in zip([0, *edges], [*edges, len(data)], strict=True)]


def drawn_limits(draw: random.Random, bounds: dict[str, int]) -> Limits:
    """Return limits with one of *bounds*."""
    name = draw.choice(sorted(bounds))
    return Limits(**{name: draw.randrange(bounds[name] + 1)})


# -- 1 and 5: rebuild ----------------------------------------------------------------


def check_roads(data: bytes, pieces: Pieces, limits: Limits) -> None:
    """Compare the outcomes of both roads."""
    slow = rebuilt([data], limits)
    same("rebuild, fast, whole", rebuilt([data], limits, fast=True), slow)
    same("rebuild, slow, pieces", rebuilt(pieces, limits), slow)
    same("rebuild, fast, pieces", rebuilt(pieces, limits, fast=True), slow)


def rebuilt(
    pieces: Pieces, limits: Limits, *, fast: bool = False, strict: bool = False
) -> list[dict[str, Any]]:
    """Return all that can be told of the streams in *pieces*, over one road or the other."""
    log = (StrictLog if strict else IssueLog)(limits.issues)
    make = partial(Accumulator, limits=limits, strict=strict)
    splitter = StreamSplitter(make, log, owned=True, framed=True)
    decoder = Decoder("json", limits)
    road: Framer | MergingRoad
    if fast:
        road = MergingRoad(splitter, log, limits, decoder)
    else:
        road = Framer(log, limits, decoder, splitter.take)
    error: StreamkitError | None = None
    try:
        for piece in pieces:
            road.feed(piece)
        road.finish()
    except LimitExceeded as exceeded:
        if strict:
            raise
        error = exceeded
    outcomes = splitter.finish(cut=road.cut, error=error)
    return [told(outcome) for outcome in outcomes]


def told(outcome: Outcome) -> dict[str, Any]:
    """Return *outcome* as plain data, its response as strict JSON."""
    response = None if outcome.response is None else to_json(outcome.response)
    if response is not None:
        response.encode()
        json.loads(response, parse_constant=refuse)
    return {
        "response": response,
        "complete": outcome.complete,
        "error": told_error(outcome.error),
        "issues": outcome.issues,
        "counts": sorted(outcome.issue_counts.items()),
        "chunks": outcome.chunks,
        "done": outcome.done,
    }


def refuse(name: str) -> None:
    """
    Refuse NaN and Infinity, which `json` would read.

    Raises:
        AssertionError: Always.
    """
    raise AssertionError(f"{name} is no JSON")


def told_error(error: StreamkitError | None) -> Any:
    """Return *error* as plain data."""
    if error is None:
        return None
    more = {name: value for name, value in vars(error).items() if name != "partial"}
    return type(error).__name__, str(error), sorted(more.items())


# -- 2: ChunkReader ------------------------------------------------------------------


class SlowReader(ChunkReader):
    """A reader whose fast road is closed."""

    def reset(self) -> None:
        """Forget everything, the fast road with it."""
        super().reset()
        closed: Any = self._road
        closed.one = lambda _data: None
        closed.run = lambda _data, _at: 0


def check_reader(data: bytes, pieces: Pieces, limits: Limits) -> None:
    """Compare what the reader gives over both roads."""
    slow = read(SlowReader, [data], limits)
    same("reader, fast, whole", read(ChunkReader, [data], limits), slow)
    same("reader, slow, pieces", read(SlowReader, pieces, limits), slow)
    same("reader, fast, pieces", read(ChunkReader, pieces, limits), slow)


def read(
    make: type[ChunkReader], pieces: Pieces, limits: Limits, *, strict: bool = False
) -> dict[str, Any]:
    """Return all that a reader tells of *pieces*."""
    reader = make(strict=strict, limits=limits, json="json")
    chunks, end = drained(reader, pieces)
    return {
        "chunks": chunks,
        "end": told_error(end),
        "issues": reader.issues,
        "counts": sorted(reader._log.counts.items()),
        "done": reader.done,
        "cut": reader.cut,
        "error": told_error(reader.error),
    }


def drained(
    source: ChunkReader | SSEParser, pieces: Iterable[bytes]
) -> tuple[list[Any], StreamkitError | None]:
    """Return all that comes out of *source*, and the error that ended it, if one did."""
    given: list[Any] = []
    try:
        for piece in pieces:
            given += source.feed(piece)
        given += source.finish()
    except StreamkitError as error:
        return given + (error.partial or []), error
    return given, None


# -- 3: SSEParser --------------------------------------------------------------------


def check_parser(data: bytes, pieces: Pieces) -> None:
    """Compare what the parser gives of *data* whole and in pieces."""
    for strict_utf8 in (False, True):
        whole = parsed([data], strict_utf8=strict_utf8)
        same(f"parser, {strict_utf8=}", parsed(pieces, strict_utf8=strict_utf8), whole)


def parsed(pieces: Pieces, *, strict_utf8: bool) -> dict[str, Any]:
    """Return all that a parser tells of *pieces*."""
    parser = SSEParser(strict_utf8=strict_utf8)
    events, end = drained(parser, pieces)
    names = ("last_event_id", "retry", "comments", "last_comment", "tail")
    state = {name: getattr(parser, name) for name in names}
    return {"events": events, "end": told_error(end), **state}


# -- 4: strict mode ------------------------------------------------------------------


def check_strict(data: bytes, pieces: Pieces) -> None:
    """Let strict mode end in a typed error, the same on both roads, or in whole responses."""
    limits = Limits()
    slow = read(SlowReader, [data], limits, strict=True)
    same("reader, strict, whole", read(ChunkReader, [data], limits, strict=True), slow)
    same("reader, strict, pieces", read(ChunkReader, pieces, limits, strict=True), slow)
    merged = strictly([data], fast=False)
    same("rebuild, strict, whole", strictly([data], fast=True), merged)
    same("rebuild, strict, pieces", strictly(pieces, fast=True), merged)
    # Which streams come before the error depends on the pieces: each is given out
    # when the piece that ends it has been read.
    with contextlib.suppress(StreamkitError):
        assert all(outcome.complete for outcome in rebuild_all(iter(pieces), strict=True))


def strictly(pieces: Pieces, *, fast: bool) -> Any:
    """Return what `rebuilt` gives in strict mode, or the error that it ends in."""
    try:
        return rebuilt(pieces, Limits(), fast=fast, strict=True)
    except StreamkitError as error:
        return told_error(error)
