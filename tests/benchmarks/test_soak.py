"""The soak reads what it says, and sees what grows."""

from __future__ import annotations

import pytest

from benchmarks import soak


@pytest.mark.parametrize("way", soak.WAYS, ids=lambda way: way.__name__)
def test_ways(way):
    """Each way to read gives something of each stream."""
    assert all(way(data) for data in soak.streams())


def test_growth_is_seen():
    """Of memory, and of objects; what levels off is none."""
    flat = [(90, 90), (100, 100), (100, 100), (101, 100)]
    assert not soak.grows(flat)
    assert soak.grows([*flat, (120, 100)])
    assert soak.grows([*flat, (100, 120)])
    assert not soak.grows([])


def test_a_short_one(capsys):
    """A line for each twelfth of the streams."""
    soak.main(["--connections", "1", "--seconds", "60"])
    assert capsys.readouterr().out.count(" streams ") == 12
