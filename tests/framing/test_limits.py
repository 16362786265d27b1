"""The bounds: their defaults, how one is switched off, how one is crossed."""

from __future__ import annotations

import math

from functools import partial

import attrs
import pytest

from streamkit import (
    NO_LIMITS,
    Accumulator,
    ChoiceAccumulator,
    ChunkReader,
    LimitExceeded,
    Limits,
    LiveAccumulator,
    SSEParser,
    Stream,
    finalize,
    rebuild,
    rebuild_all,
    recordings,
    tee,
)
from streamkit.recordings import ReadOptions


DEFAULTS = {
    "line": 33_554_432,
    "event": 33_554_432,
    "chunks": 10_000_000,
    "text": 268_435_456,
    "choices": 1_024,
    "index": 65_535,
    "tool_calls": 1_024,
    "logprobs": 4_000_000,
    "depth": 64,
    "keys": 10_000,
    "issues": 100,
    "decompressed": 4_294_967_296,
}


def test_defaults():
    """The documented defaults hold, and there are no further bounds."""
    assert attrs.asdict(Limits()) == DEFAULTS


@pytest.mark.parametrize("bound", [-1, 1.5, "1", b"1", [1], True, False], ids=repr)
def test_wrong_bounds(bound):
    """Told where they are made, with the name, rather than when they are crossed."""
    with pytest.raises(TypeError, match="text must be an integer of at least 0, or None, not "):
        Limits(text=bound)


def test_no_limits():
    """NO_LIMITS switches every bound off."""
    assert attrs.asdict(NO_LIMITS) == dict.fromkeys(DEFAULTS)


def test_frozen_and_by_name():
    """Limits can be shared: they neither change nor depend on an order of arguments."""
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        Limits().line = 1
    with pytest.raises(TypeError):
        Limits(1)


@pytest.mark.parametrize("name", DEFAULTS)
def test_check(name):
    """A value up to the bound passes; the next is refused, with all data as attributes."""
    limits = Limits(**{name: 5})
    limits.check(name, 5)
    with pytest.raises(LimitExceeded, match=f"^{name}: 6, the limit is 5 at byte 17;") as caught:
        limits.check(name, 6, 17)
    assert (caught.value.limit, caught.value.value, caught.value.offset) == (name, 6, 17)


@pytest.mark.parametrize(
    ("limits", "longest"),
    [
        (Limits(line=5, event=3), 3),
        (Limits(line=5, event=7), 5),
        (Limits(line=None, event=7), 7),
        (NO_LIMITS, math.inf),
    ],
    ids=repr,
)
def test_longest(limits, longest):
    """As many bytes can cross neither of the two bounds."""
    assert limits.longest == longest


def test_zero_is_a_bound():
    """0 allows nothing, unlike None."""
    with pytest.raises(LimitExceeded):
        Limits(keys=0).check("keys", 1)


@pytest.mark.parametrize("name", DEFAULTS)
def test_off(name):
    """None switches one bound off and leaves the others."""
    limits = Limits(**{name: None})
    limits.check(name, 1 << 70)
    assert attrs.asdict(limits) == {**DEFAULTS, name: None}


def read_all(*, limits):
    return list(recordings.rebuild(b"", limits=limits))


@pytest.mark.parametrize(
    "use",
    [
        Accumulator,
        ChoiceAccumulator,
        ChunkReader,
        LiveAccumulator,
        SSEParser,
        ReadOptions,
        partial(rebuild, b""),
        partial(rebuild_all, b""),
        partial(finalize, [{}]),
        partial(Stream, []),
        partial(tee, []),
        read_all,
    ],
    ids=lambda use: getattr(use, "func", use).__name__,
)
def test_what_is_no_limits(use):
    """Said at the door, wherever bounds are given."""
    with pytest.raises(TypeError, match="limits must be a Limits, not 5"):
        use(limits=5)
