"""The short way from Python text to JSON gives what the long way gives, or nothing."""

from __future__ import annotations

import json

import pytest

from hypothesis import given
from hypothesis import strategies as st

from streamkit.recordings._python_json import as_json
from streamkit.recordings._python_value import NoValue, data_of, parse_value


TEXTS = st.text(st.sampled_from("aé🌍'\"\\\n\t\x00\x7f\u2028{}[](),:= None"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


def agree(text):
    """Check that *text*, read the short way, is what it is the long way."""
    found = as_json(text)
    if found is not None:
        (line,) = data_of(parse_value(text))
        assert json.loads(found[0]) == found[1] == json.loads(line)
    return found


@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_dicts(value):
    """Of whatever is in it."""
    agree(repr(value).encode())


@given(st.dictionaries(st.sampled_from(["id", "choices", "x_1", "None_"]), VALUES, max_size=4))
def test_calls(value):
    """Likewise for what shows itself as a call."""
    shown = ", ".join(f"{key}={item!r}" for key, item in value.items())
    agree(f"x.Chunk({shown}, inner=[Inner(a='b')])".encode())


@pytest.mark.parametrize(
    "text",
    [
        "{'a': 1, 'b': None, 'c': [True, False, -1.5e3]}",
        "{'it': \"it's\", 'line': 'a\\n\\\\b'}",
        "Chunk(id='None', choices=[Choice(delta=Delta(content='a=b(c)', role=None), index=0)])",
        "Chunk()",
        "Chunk(a=[], b=other.Name())",
    ],
)
def test_short(text):
    """What is simple goes the short way."""
    assert agree(text.encode()) is not None


@pytest.mark.parametrize(
    "text",
    [
        "{'a': b'x'}",
        "{'a': 'x' 'y'}",
        "{'a': nan}",
        "{'a': NaN}",
        "{'a': (1, 2)}",
        "{'a': 1,}",
        "{'a'}",
        "{'a': '\\x41'}",
        "{'a': '\\ud83c\\udf0d'}",
        "{'a': 0x10}",
        "{'a': 1_0}",
        "{1: 2}",
        "{'a': X(b=1)}",
        "X('a')",
        "X('a': 1)",
        'X(a={")\'": None})',
        "{'a': 'x\\' None \"'}",
        "X(a='\\' None=(')",
        "X(a==1)",
        "X(a=1",
        "_x(a=1)",
        "X(**a)",
        "x(a=1).y(b=2)",
        "[]",
        "None",
        "'a'",
        "{" * 100_000,
        "{'a': " + "9" * 5000 + "}",
        "",
    ],
)
def test_long(text):
    """What may mean another thing goes the long way."""
    assert as_json(text.encode()) is None


@pytest.mark.parametrize("text", ["{'a': __import__('os')}", "{'a': [x for x in y]}"])
def test_no_value(text):
    """What is no value is none here either."""
    assert as_json(text.encode()) is None
    with pytest.raises(NoValue):
        parse_value(text.encode())
