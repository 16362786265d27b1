"""`split_bytes` cuts anywhere, and loses nothing."""

from __future__ import annotations

import pytest

from hypothesis import given
from hypothesis import strategies as st

from streamkit.testing import split_bytes


@given(st.binary(max_size=200), st.integers(0, 99), st.integers(1, 300), st.booleans())
def test_joined_it_is_the_same(data, seed, size, flag):
    """The blocks joined are the data, and no block is longer than was asked for."""
    blocks = split_bytes(data, seed, size=size, hard=flag, empty=flag)
    assert b"".join(blocks) == data
    assert all(len(block) <= size for block in blocks)
    assert flag or all(blocks)
    assert blocks == split_bytes(bytearray(data), seed, size=size, hard=flag, empty=flag)


def test_hard_places():
    """Characters, CRLF and blank lines are cut through, if long blocks are asked for as well."""
    data = ("é" * 50).encode() + b"\r\n\r\n" * 50
    blocks = split_bytes(data, size=10_000, empty=False)
    ends = [block[-1:] for block in blocks]
    assert {b"\xc3", b"\r", b"\n"} <= {*ends}
    assert split_bytes(data, size=10_000, hard=False, empty=False) == [data]


def test_empty_blocks():
    """Some blocks are empty, unless they must not be."""
    assert b"" in split_bytes(b"x" * 100, size=1)
    assert b"" not in split_bytes(b"x" * 100, size=1, empty=False)
    assert split_bytes(b"", empty=False) == []


def test_seeds():
    """The seed decides, and nothing else."""
    data = bytes(range(256))
    assert len({tuple(split_bytes(data, seed)) for seed in range(20)}) == 20


@pytest.mark.parametrize("wrong", ["text", None, [b"a"], 5])
def test_no_bytes(wrong):
    """What is not bytes is a TypeError."""
    with pytest.raises(TypeError, match="data must be bytes"):
        split_bytes(wrong)
