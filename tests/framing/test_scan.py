"""Counting open containers: when decoding is worth a try."""

from __future__ import annotations

import json

import pytest

from hypothesis import given, settings
from hypothesis import strategies as st

from streamkit._scan import NestingScan

from .helpers import pieces_of


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        pytest.param([b"{}"], [True], id="whole"),
        pytest.param([b"{", b"}"], [False, True], id="two"),
        pytest.param([b"[{", b"}", b"]"], [False, False, True], id="inner-close"),
        pytest.param([b'{"}', b'"', b"}"], [False, False, True], id="bracket-in-string"),
        pytest.param([b'{"a', b"b}", b'c"}'], [False, False, True], id="string-over-pieces"),
        pytest.param([b'{"a', b'\\"}', b'"}'], [False, False, True], id="escaped-quote"),
        pytest.param([b'{"a\\\\"', b"}"], [False, True], id="escaped-backslash"),
        pytest.param([b'{"a\\', b'"}', b'"}'], [False, False, True], id="cut-escape"),
        pytest.param([b'{"a\\', b"", b'"}', b'"}'], [False] * 3 + [True], id="nothing-behind-it"),
        pytest.param([b'{"a', b"\\", b'"}', b'"}'], [False] * 3 + [True], id="alone"),
        pytest.param([b'{"a\\\\', b'"}'], [False, True], id="cut-behind-an-escape"),
        pytest.param([b'{"a\\', b'\\"}'], [False, True], id="cut-in-an-escaped-backslash"),
        pytest.param([b'{"a\\', b"n", b'"}'], [False, False, True], id="cut-in-a-newline"),
        pytest.param([b'{"{\\"', b'"}'], [False, True], id="bracket-before-an-escaped-quote"),
        pytest.param([b'{"a', b'"[{', b"}]", b"}"], [False] * 3 + [True], id="brackets-behind"),
        pytest.param([b'{"a', b'b":{', b"}", b"}"], [False, False, False, True], id="goes-on"),
        pytest.param([b"{}{", b"}"], [True, True], id="closed-and-opened"),
        pytest.param([b"}"], [True], id="too-many"),
        pytest.param([b"1", b"", b"true"], [False, False, False], id="no-bracket"),
        pytest.param([b'"a"', b"{}"], [False, True], id="whole-string"),
    ],
)
def test_feed(pieces, expected):
    """The scan says so in the piece in which the outermost container closes."""
    scan = NestingScan()
    assert [scan.feed(piece) for piece in pieces] == expected


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('{}[]"\\ab\n'),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('{"\\a'), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3), st.data())
def test_closes_exactly_at_the_end(value, data):
    """Cut between lines, a container closes in its last piece and in none before."""
    lines = json.dumps(value, indent=1).encode().splitlines()
    scan = NestingScan()
    assert [scan.feed(line) for line in lines] == [False] * (len(lines) - 1) + [True]
    text = json.dumps(value, ensure_ascii=False).encode()
    cut = data.draw(st.integers(0, len(text)))
    first, rest = pieces_of(text, [cut])
    scan = NestingScan()
    assert (scan.feed(first), scan.feed(rest)) == (not rest, bool(rest))
