"""The shared samples, unwrapped, when they lie beside the project."""

from __future__ import annotations

from streamkit import Limits
from streamkit.recordings._wrappers import peel

from .samples import blocks
from .shared import SAMPLES, all_samples, response_of, samples


@samples("42_plain.sse.gz")
def test_gzip(name):
    """What was compressed is the plain sample."""
    assert response_of(name) == response_of()


@all_samples()
def test_nothing_else_is_unwrapped(name):
    """No other sample is wrapped in anything."""
    data = (SAMPLES / name).read_bytes()
    peeled = peel(blocks(data, 100), Limits())
    assert peeled.notes == ()
    assert (b"".join(peeled.blocks) == data) is not name.endswith(".gz")
