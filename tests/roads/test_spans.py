"""Where the values of a JSON text stand."""

from __future__ import annotations

import json

import pytest

from hypothesis import given
from hypothesis import strategies as st

from streamkit._spans import spans_of


TEXTS = st.text(st.characters(codec="utf-8"), max_size=5)
# A key with an escape has no path: these have none.
NAMES = st.text(st.characters(codec="utf-8", exclude_characters='"\\'), max_size=5).filter(
    lambda name: json.dumps(name, ensure_ascii=False)[1:-1] == name
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda each: st.lists(each, max_size=4) | st.dictionaries(NAMES, each, max_size=4),
    max_leaves=15,
)
LAYOUTS = st.sampled_from(
    [
        {"separators": (",", ":")},
        {},
        {"indent": 1},
        {"separators": (" ,", " : ")},
        {"ensure_ascii": False},
    ]
)


def paths_of(value, path=()):
    """Return each path into *value*, and the value that stands there."""
    found = {path: value}
    if isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        for key, item in value.items():
            found |= paths_of(item, (*path, key))
    return found


@given(VALUES, LAYOUTS)
def test_each_span_holds_the_value_of_its_path(value, layout):
    """Whatever the layout, decoding a span gives the value at its path, and no path is missing."""
    data = json.dumps(value, **layout).encode()
    spans = spans_of(data)
    if spans is None:
        assert b"\\u" in data  # a name beyond ASCII that had to be escaped
        return
    decoded = {path: json.loads(data[start:end]) for path, (start, end) in spans.items()}
    assert decoded == paths_of(value)


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":1,"a":1}',
        b'{"a":{"b":1},"a":null}',
        b'[{"a":1,"b":{},"a":2}]',
        b'{"\\u0061":1}',
        b'{"a\\"":1}',
        b'{"x":[{"a\\n":{}}]}',
        b'{"\xff":1}',
        b'{"x":[{"\xed\xa0\xbd":{}}]}',
    ],
    ids=repr,
)
def test_a_key_that_comes_twice_or_is_written_otherwise_has_no_path(text):
    """A path would not say which value counts, so there are no spans at all."""
    assert spans_of(text) is None


def test_the_same_key_in_other_objects_is_another_path():
    """Only within one object is a key twice the same."""
    assert spans_of(b'{"a":{"a":{"a":1}},"b":[{"a":2},{"a":3}]}') is not None


def test_brackets_and_quotes_in_strings_are_no_marks():
    """A string is one token, whatever is in it."""
    text = b'{"a":"}],:{\\"[\\\\","b":2}'
    assert spans_of(text)[("b",)] == (text.index(b"2"), text.index(b"2") + 1)


@pytest.mark.parametrize(
    "inside", [b"[]", b"{}", b'[[1,{"a":[]}],"]"]', b'{"a":1,"a":{"\\n":[2]}}'], ids=repr
)
def test_what_is_raw_is_one_value(inside):
    """Whatever is in it has no path, and its names do not matter."""
    text = b'{"a":[%b,2],"b":3}' % inside
    spans = spans_of(text, {("a", 0), ("b",)})
    assert {path: json.loads(text[start:end]) for path, (start, end) in spans.items()} == {
        (): json.loads(text),
        ("a",): [json.loads(inside), 2],
        ("a", 0): json.loads(inside),
        ("a", 1): 2,
        ("b",): 3,
    }
