"""In strict mode, and under small bounds, both roads give the same outcome or the same error."""

from __future__ import annotations

import attrs

from hypothesis import given, settings
from hypothesis import strategies as st

from streamkit import Limits

from . import streams
from .helpers import added_alike, read, read_alike, rebuilt_alike


SMALL = {"text": 50, "chunks": 7, "choices": 2, "logprobs": 3, "line": 300, "event": 300}
OF_FRAMING = {"line", "event"}
LIMITS = st.sets(st.sampled_from(sorted(SMALL)), min_size=1).map(
    lambda names: Limits(**{name: SMALL[name] for name in names})
)
SEEDS = st.integers(0, 2**32)


def ways(seed):
    """Return a made stream whole, in pieces, and in events."""
    data, r = streams.made(seed)
    events = [event + b"\n\n" for event in data.split(b"\n\n")]
    events[-1] = events[-1][:-2]
    return [data], streams.split(r, data), events


@settings(deadline=None, max_examples=200)
@given(SEEDS, LIMITS)
def test_bounds(seed, limits):
    """`rebuild_all` stops at the same chunk, with the same error, however the bytes are cut."""
    for pieces in ways(seed):
        rebuilt_alike(pieces, limits=limits)


@settings(deadline=None, max_examples=200)
@given(SEEDS, LIMITS | st.just(Limits()))
def test_strict(seed, limits):
    """`rebuild_all` raises the same error with the same partial response, or none."""
    limits = attrs.evolve(limits, **dict.fromkeys(OF_FRAMING, Limits().line))
    for pieces in ways(seed):
        rebuilt_alike(pieces, limits=limits, strict=True)


@settings(deadline=None, max_examples=200)
@given(SEEDS, LIMITS | st.just(Limits()), st.booleans())
def test_reader(seed, limits, strict):
    """`ChunkReader` gives the same chunks before the same error."""
    for pieces in ways(seed):
        read_alike(pieces, limits=limits, strict=strict)


@settings(deadline=None, max_examples=200)
@given(SEEDS, LIMITS | st.just(Limits()), st.booleans(), st.booleans())
def test_accumulator(seed, limits, strict, cumulative):
    """`Accumulator.add` stops at the same chunk, compared to the last one or not."""
    chunks = read(ways(seed)[0], fast=False)[0]
    added_alike(chunks, limits=limits, strict=strict, cumulative=cumulative)
