"""Tests of `ListView`."""

from __future__ import annotations

import copy
import json
import pickle

from types import MappingProxyType

import pytest

from hypothesis import given, settings
from hypothesis import strategies as st

from streamkit import _views
from streamkit._views import Entries, ListView, copy_json


def test_later_entries_do_not_show():
    """A view has the entries of its time, whether it was read before or not."""
    grows = [1, 2]
    read, unread = ListView(grows, 2), ListView(grows, 2)
    assert list(read) == [1, 2]
    grows.append(3)
    assert list(read) == list(unread) == [1, 2]
    assert len(read) == 2
    assert list(ListView(grows, 3)) == [1, 2, 3]


def test_entries_are_made_once_when_first_read():
    """The function that makes entries runs at the first read, and not again."""
    made = []
    view = ListView([1, 2], 2, lambda entry: made.append(entry) or entry * 10)
    assert len(view) == 2
    assert made == []
    assert view[0] == 10
    assert view[-1] == 20
    assert view[0:2] == (10, 20)
    assert made == [1, 2]


def test_raw_entries_are_not_made():
    """`raw` gives the entries as they were appended."""
    assert ListView([1, 2, 3], 2, str).raw() == [1, 2]


def test_made_by_keeps_the_entries_and_the_length():
    """`made_by` is another view of the same entries."""
    grows = [1, 2]
    view = ListView(grows, 2).made_by(str)
    grows.append(3)
    assert list(view) == ["1", "2"]


@pytest.mark.parametrize(
    ("other", "is_equal"),
    [
        ([1, 2], True),
        ((1, 2), True),
        (ListView([1, 2, 3], 2), True),
        ([1], False),
        ((2, 1), False),
        ({1, 2}, False),
        ("12", False),
        (None, False),
    ],
    ids=repr,
)
def test_equality_is_by_entries(other, is_equal):
    """A view equals lists, tuples and views of equal entries, and nothing else."""
    view = ListView([1, 2], 2)
    assert (view == other) is is_equal
    assert (view != other) is not is_equal


def test_hash_agrees_with_equality():
    """Equal views have equal hashes."""
    assert len({ListView([1, 2], 2), ListView([1, 2, 3], 2)}) == 1
    assert hash(ListView([1, 2], 2)) == hash((1, 2)) != hash(ListView([2, 1], 2))


def test_out_of_range_is_an_index_error():
    """Entries beyond the view's end do not exist, even where the list has them."""
    with pytest.raises(IndexError):
        ListView([1, 2, 3], 2)[2]


def test_repr_shows_the_entries():
    """The repr names the class and lists the entries."""
    assert repr(ListView(["a", "b"], 1)) == "ListView(['a'])"


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_copies_hold_the_made_entries(duplicate):
    """A pickled or deep-copied view no longer needs the function that made its entries."""
    view = ListView([1, 2, 3], 2, lambda entry: entry + 1)
    copied = duplicate(view)
    assert copied == [2, 3]
    assert (copied.raw(), len(copied)) == ([1, 2], 2)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": [1, ("b",)]}, {"a": [1, ["b"]]}),
        (MappingProxyType({"a": {}}), {"a": {}}),
        (ListView([{"a": 1}, 2], 1), [{"a": 1}]),
        ("a", "a"),
        (None, None),
        (0.5, 0.5),
    ],
    ids=repr,
)
def test_copies_of_json_data(value, expected):
    """Containers of every kind become plain ones; a view is a list of its raw entries."""
    copied = copy_json(value)
    assert copied == expected
    assert type(copied) is type(expected)


def test_a_copy_shares_no_container():
    """Changing the original changes nothing in the copy."""
    value = {"a": [{"b": 1}]}
    copied = copy_json(value)
    value["a"][0]["b"] = 2
    assert copied == {"a": [{"b": 1}]}


# -- Entries -------------------------------------------------------------------------


A, B, C = {"token": "a"}, {"token": "é"}, {"token": "c", "top": [1]}


def raw(entry):
    return json.dumps(entry).encode()


@pytest.mark.parametrize("read", [False, True], ids=["at the end", "in between"])
def test_entries_may_be_raw_json(read):
    """Decoded and raw entries keep their order, and are read as if all had been decoded."""
    entries = Entries()
    for add, *each in (
        (entries.extend, [A]),
        (entries.extend_raw, raw(B) + b"," + raw(C), 2),
        (entries.extend, [C]),
        (entries.extend_raw, raw(A), 1),
        (entries.extend_raw, b"1, null,[2]", 3),
    ):
        add(*each)
        if read:
            entries.first(len(entries))
    assert len(entries) == 8
    assert entries.first(8) == [A, B, C, C, A, 1, None, [2]]
    assert entries.first(2) == [A, B]


def test_entries_are_decoded_once(monkeypatch):
    """And not at all where none is raw."""
    plain, entries = Entries(), Entries()
    plain.extend([1])
    entries.extend_raw(b"1, 2", 2)
    assert entries.first(2) == [1, 2]
    monkeypatch.delattr(_views.json, "loads")
    assert (plain.first(1), entries.first(2)) == ([1], [1, 2])


def test_a_view_of_raw_entries_does_not_change():
    """It was taken before they were decoded, and reads the same afterwards."""
    entries = Entries()
    entries.extend_raw(raw(A), 1)
    view = ListView(entries, 1)
    entries.extend_raw(raw(B), 1)
    assert list(ListView(entries, 2)) == [A, B]
    assert list(view) == view.raw() == [A]
    assert list(view.made_by(lambda entry: entry["token"])) == ["a"]


# -- Properties ----------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(st.integers()), st.integers(0, 20), st.lists(st.integers()))
def test_a_view_is_the_list_of_its_time(entries, cut, more):
    """Whatever is appended later, a view reads as the first entries did."""
    length = min(cut, len(entries))
    expected = entries[:length]
    view = ListView(entries, length)
    entries.extend(more)
    assert list(view) == expected
    assert view == expected
