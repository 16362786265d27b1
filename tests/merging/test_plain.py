"""Tests of what may be handed in as a chunk."""

from __future__ import annotations

from collections import OrderedDict
from types import MappingProxyType, SimpleNamespace

import attrs
import pytest

from streamkit import ChatCompletion, CompletionChunk, Usage, finalize
from streamkit._plain import as_plain

from . import Dumped, deltas, final, texts


def test_a_dict_is_itself():
    """Nothing is copied here: the accumulator copies what it keeps."""
    value = {"id": "a"}
    assert as_plain(value) is value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (OrderedDict(id="a"), {"id": "a"}),
        (MappingProxyType({"id": "a"}), {"id": "a"}),
        (CompletionChunk(id="a"), {"id": "a"}),
        (Usage(total_tokens=1, extra={"x": 2}), {"total_tokens": 1, "x": 2}),
        (Dumped({"id": "a"}), {"id": "a"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_mappings_models_and_dumps_become_dicts(value, expected):
    """Every kind of chunk is a plain dict afterwards."""
    plain = as_plain(value)
    assert type(plain) is dict
    assert plain == expected


@attrs.frozen
class Foreign:
    """An attrs class that is none of streamkit's models."""

    id: str = "a"


@pytest.mark.parametrize(
    "value",
    [None, "a", 5, [1], Foreign(), SimpleNamespace(model_dump="no method")],
    ids=lambda value: type(value).__name__,
)
def test_anything_else_is_itself(value):
    """What is no chunk is left for the accumulator to refuse."""
    assert as_plain(value) is value


def test_a_dump_is_not_changed():
    """What `model_dump` returns belongs to the object, and stays as it is."""
    dump = Dumped(deltas({"content": "a", "x": [1]})[0])
    before = repr(dump.fields)
    response = finalize([dump, dump])
    assert response.choices[0].message.content == "aa"
    assert repr(dump.fields) == before


@pytest.mark.parametrize(
    "wrap", [Dumped, OrderedDict, MappingProxyType], ids=lambda it: it.__name__
)
def test_every_kind_of_chunk_gives_the_same_response(wrap):
    """Dicts, mappings and objects with `model_dump()` are worth the same."""
    chunks = [*texts({"text": "a", "token": 1}), *texts({"text": "b", "finish_reason": "stop"})]
    assert final([wrap(chunk) for chunk in chunks]) == final(chunks)


def test_a_whole_response_is_a_chunk_as_well():
    """A response that is handed in comes out as it was."""
    response = finalize(deltas({"content": "a"}))
    assert type(response) is ChatCompletion
    assert finalize([response]) == response
