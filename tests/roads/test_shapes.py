"""Tests of what raw JSON may look like where it is not decoded."""

from __future__ import annotations

import re

import pytest

from streamkit._shapes import column_pattern, entry_pattern, offsets_pattern


@pytest.mark.parametrize(
    ("raw", "alike", "other"),
    [
        (b"[1]", [b"[1]", b"[1,2]"], [b"[]", b"[-1]", b"[1, 2]"]),
        (b'{"a": [1, 2]}', [b'{"a": [3]}', b'{"a": [1, 2, 3]}'], [b'{"a":[1]}', b'{"b": [1]}']),
        (b'{"a":"b","c":[]}', [b'{"a":"","c":[]}'], [b'{"a":"b"}', b'{"a":"b","c":[1]}']),
        (b'[1, "a"]', [], [b'[1, "a"]', b"[1, 2]"]),
        (b"[1", [], [b"[1", b"[1]"]),
    ],
    ids=ascii,
)
def test_entries(raw, alike, other):
    """Keys and blanks are as they were; strings, numbers and lengths may differ."""
    pattern = re.compile(entry_pattern(raw))
    assert all(pattern.fullmatch(each)[1] == each for each in alike)
    assert not any(pattern.fullmatch(each) for each in other)


@pytest.mark.parametrize(
    ("entries", "alike", "other"),
    [
        (["a"], [b'["b"]', b"[null]"], [b"[]", b'["a", "b"]', b"[1]"]),
        ([1, None, 2], [b"[1,2, -0.5]"], [b"[1,2]", b"[1,2,3,4]", b'[1,2,"a"]']),
        ([{}], [b"[{}]", b"[null]"], [b'[{"a":1}]']),
        ([{"a": 1}, {}], [b'[{"b": 1},{}]'], [b'[{"a":1,"b":2},{}]', b'[{"a":"b"},{}]']),
    ],
    ids=ascii,
)
def test_columns(entries, alike, other):
    """As many entries, of the same type or null; objects of at most as many numbers."""
    pattern = re.compile(column_pattern(entries))
    assert all(pattern.fullmatch(each)[1] == each[1:-1] for each in alike)
    assert not any(pattern.fullmatch(each) for each in other)


def test_offsets():
    """Integers, as many as there were."""
    assert re.fullmatch(offsets_pattern(1), b"[5]")[1] == b"5"
    assert re.fullmatch(offsets_pattern(2), b"[5, 6]")[1] == b"5, 6"
    assert not re.fullmatch(offsets_pattern(2), b"[5]")
