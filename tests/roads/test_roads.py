"""Both roads give the same outcome, issues included."""

from __future__ import annotations

import copy

import pytest

from hypothesis import given, settings
from hypothesis import strategies as st

from streamkit import Accumulator, ChunkReader

from . import streams


def assert_same(seed):
    data, r = streams.made(seed)
    slow = streams.outcomes([data], fast=False)
    assert streams.outcomes([data], fast=True) == slow
    assert streams.outcomes(streams.split(r, data), fast=True) == slow


@settings(deadline=None, max_examples=400)
@given(st.integers(0, 2**32))
def test_merging_road(seed):
    """`rebuild` over the fast road is `rebuild` over the slow one, however the bytes are cut."""
    assert_same(seed)


def read(pieces):
    reader = ChunkReader(json="json")
    chunks = [chunk for piece in pieces for chunk in reader.feed(piece)]
    chunks += reader.finish()
    return chunks, reader.done, reader.issues, reader.cut, str(reader.error)


class SlowReader(ChunkReader):
    """A reader whose fast road is closed."""

    def reset(self):
        super().reset()
        self._road.one = lambda data: None
        self._road.run = lambda data, at: 0


@settings(deadline=None, max_examples=400)
@given(st.integers(0, 2**32))
def test_reading_road(seed):
    """`ChunkReader` gives the same chunks and issues over both roads, whole and in events."""
    data, r = streams.made(seed)
    slow = SlowReader(json="json")
    chunks = slow.feed(data) + slow.finish()
    expected = (chunks, slow.done, slow.issues, slow.cut, str(slow.error))
    assert read([data]) == expected
    assert read(streams.split(r, data)) == expected
    events = [event + b"\n\n" for event in data.split(b"\n\n")]
    events[-1] = events[-1][:-2]
    assert read(events) == expected


@settings(deadline=None, max_examples=400)
@given(st.integers(0, 2**32))
def test_repeater(seed):
    """`Accumulator.add` gives the same response whether or not chunks are compared to the last."""
    data, r = streams.made(seed)
    chunks = read([data])[0]
    if r.random() < 0.5:  # strings that are equal but not the same object
        chunks = copy.deepcopy(chunks)
    fast, slow = Accumulator(), streams.by_the_rules(Accumulator())
    for chunk in chunks:
        before = copy.deepcopy(chunk)
        fast.add(chunk)
        slow.add(chunk)
        assert chunk == before
    assert streams.described(fast.finish()) == streams.described(slow.finish())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 20_000, 1000))
def test_many(seed):
    """The same over a fixed range of streams."""
    for offset in range(60):
        assert_same(seed + offset)
