"""
How every case of the framing half is asserted: whole, byte by byte, cut once at
each place, in random splits, and, where that is neutral, with data behind it.
"""

from __future__ import annotations

import itertools
import random

from typing import Any

import attrs
import pytest

from hypothesis import strategies as st

from streamkit import ChunkReader, FramingError, InputRefused, Limits, SSEParser, StreamkitError
from streamkit._framing import Framer
from streamkit._issues import Issue, IssueLog
from streamkit._json import Decoder


BACKENDS = ("json", "orjson", "msgspec")
SMALL = 400
EVENT_ENDS = (b"\n\n", b"\r\r", b"\r\n\r\n")
NEUTRAL = b": a comment\n\nunknown: field\n\n"

FRAGMENTS = (
    b"data: ",
    b"data:",
    b"data",
    b"data : ",
    b"event: error\n",
    b"event: x\n",
    b"error: ",
    b"id: 1\n",
    b"retry: 5\n",
    b": c\n",
    b"[DONE]",
    b"\n",
    b"\n\n",
    b"\xef\xbb\xbf",
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b",",
    b":",
    b" ",
    b"x",
    b"1",
    b"NaN",
    b"\xff",
    b"\xc3\xa9",
    b"\\ud83d",
    b"\\u",
    b"<html>",
    b'{"choices":[]}',
    b'{"a":"',
    b'{"a":[1,2.5,true',
    b'{"error":{"message":"m"}}',
    b'{"type":"ping"}',
)


def fragments(*more: bytes) -> st.SearchStrategy[bytes]:
    """Inputs made of the marks that framing is about, where random bytes would hit few."""
    return st.lists(st.sampled_from(FRAGMENTS + more), max_size=14).map(b"".join)


def pieces_of(data: bytes, cuts: list[int]) -> list[bytes]:
    """*data* cut at the places *cuts*; equal places make empty pieces."""
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(places)]


def splits(data: bytes) -> list[list[bytes]]:
    """The ways in which a case is fed."""
    ways = [[data], pieces_of(data, list(range(len(data))))]
    if len(data) <= SMALL:
        ways += [pieces_of(data, [cut]) for cut in range(len(data))]
    rng = random.Random(len(data))
    for _ in range(8):
        ways.append(pieces_of(data, [rng.randint(0, len(data)) for _ in range(rng.randint(2, 7))]))
    return ways


# -- SSEParser ---------------------------------------------------------------


@attrs.frozen
class Parsed:
    """All that a parser says of an input."""

    events: list[Any]
    last_event_id: str
    retry: int | None
    comments: int
    last_comment: str | None
    tail: Any


def parse(pieces: list[bytes], **options: Any) -> Parsed:
    parser = SSEParser(**options)
    events = [event for piece in pieces for event in parser.feed(piece)]
    events += parser.finish()
    return Parsed(
        events,
        parser.last_event_id,
        parser.retry,
        parser.comments,
        parser.last_comment,
        parser.tail,
    )


def assert_parses(data: bytes, events: list[Any], **state: Any) -> None:
    """Feed *data* in all ways; expect *events*, and the attributes in *state*."""
    for pieces in splits(data):
        parsed = parse(pieces)
        assert parsed.events == events, pieces
        assert {name: getattr(parsed, name) for name in state} == state, pieces
    if data.endswith(EVENT_ENDS):
        assert parse([data + NEUTRAL]).events == events


def assert_parser_raises(data: bytes, events: list[Any], error: type, **options: Any) -> Any:
    """Feed *data* in all ways; expect *error*, and *events* before it."""
    for pieces in splits(data):
        parser = SSEParser(**options)
        got: list[Any] = []
        with pytest.raises(error) as caught:
            for piece in pieces:
                got += parser.feed(piece)
            parser.finish()
        assert got + (caught.value.partial or []) == events, pieces
        with pytest.raises(InputRefused):
            parser.feed(b"")
        with pytest.raises(InputRefused):
            parser.finish()
        parser.reset()
        assert parser.feed(b"data: again\n\n")[0].data == "again"
    return caught.value


# -- Framer ------------------------------------------------------------------


def frame(pieces: list[bytes], limits: Limits = Limits()) -> tuple[list[Any], list[Issue], bool]:
    """The frames, the issues and `cut` of an input."""
    log = IssueLog()
    frames: list[Any] = []
    framer = Framer(log, limits, Decoder("json", limits), frames.append)
    for piece in pieces:
        framer.feed(piece)
    framer.finish()
    return frames, log.issues, framer.cut


def assert_frames(data: bytes, values: list[Any], codes: list[str], *, cut: bool = False) -> None:
    """Feed *data* in all ways; expect payloads with *values*, issues with *codes*, and *cut*."""
    for pieces in splits(data):
        frames, issues, was_cut = frame(pieces)
        assert [found.value for found in frames] == values, pieces
        assert [issue.code for issue in issues] == codes, pieces
        assert was_cut is cut, pieces
    if data.endswith(EVENT_ENDS) and not cut and values:
        frames, issues, _ = frame([data + NEUTRAL])
        assert [found.value for found in frames] == values
        assert [issue.code for issue in issues] == codes


# -- ChunkReader -------------------------------------------------------------


@attrs.frozen
class Read:
    """All that a reader says of an input, the error that ended it included."""

    chunks: list[Any]
    issues: tuple[Issue, ...]
    done: bool
    cut: bool
    error: Any
    raised: tuple[Any, ...] | None


def read(pieces: list[bytes], **options: Any) -> Read:
    reader = ChunkReader(**options)
    chunks: list[Any] = []
    raised = None
    try:
        for piece in pieces:
            chunks += reader.feed(piece)
        chunks += reader.finish()
    except StreamkitError as error:
        chunks += error.partial
        raised = (type(error), getattr(error, "issue", None), getattr(error, "limit", None))
    payload = None if reader.error is None else reader.error.payload
    return Read(chunks, reader.issues, reader.done, reader.cut, payload, raised)


@attrs.frozen
class Case:
    """
    An input, and what is expected of it.

    Attributes:
        data: The bytes.
        chunks: The chunks that a lenient reader gives.
        codes: The codes of its issues, in order.
        done: Whether `[DONE]` counts.
        cut: Whether the input ends inside a value.
        error: The error payload.
        kept: How many of the chunks a strict reader gives before it raises.
    """

    data: bytes
    chunks: list[Any] = attrs.field(factory=list)
    codes: list[str] = attrs.field(factory=list)
    done: bool = attrs.field(default=False, kw_only=True)
    cut: bool = attrs.field(default=False, kw_only=True)
    error: Any = attrs.field(default=None, kw_only=True)
    kept: int = attrs.field(default=0, kw_only=True)


def assert_reads(case: Case) -> None:
    """Feed the case in all ways, leniently; then strictly."""
    for pieces in splits(case.data):
        assert_outcome(read(pieces), case, pieces)
    if case.data.endswith(EVENT_ENDS) and not case.cut and case.chunks:
        assert_outcome(read([case.data + NEUTRAL]), case, "with data behind")
    for pieces in splits(case.data):
        assert_strict(case, pieces)


def assert_outcome(got: Read, case: Case, pieces: object) -> None:
    assert got.raised is None, pieces
    assert got.chunks == case.chunks, pieces
    assert [issue.code for issue in got.issues] == case.codes, pieces
    assert (got.done, got.cut, got.error) == (case.done, case.cut, case.error), pieces


def assert_strict(case: Case, pieces: list[bytes]) -> None:
    """A strict reader raises the first issue, or agrees with the lenient one."""
    reader = ChunkReader(strict=True)
    if not case.codes:
        got = [chunk for piece in pieces for chunk in reader.feed(piece)] + reader.finish()
        assert (got, reader.done, reader.issues) == (case.chunks, case.done, ())
        return
    chunks: list[Any] = []
    with pytest.raises(FramingError) as caught:
        for piece in pieces:
            chunks += reader.feed(piece)
        chunks += reader.finish()
    assert caught.value.issue.code == case.codes[0], pieces
    assert chunks + caught.value.partial == case.chunks[: case.kept], pieces
    with pytest.raises(InputRefused):
        reader.feed(b"")
    with pytest.raises(InputRefused):
        reader.finish()
    reader.reset()
    assert reader.feed(b'data: {"choices":[]}\n\n') == [{"choices": []}]
