"""Tests of what may be handed in as a chunk."""

from __future__ import annotations

from collections import OrderedDict
from types import MappingProxyType, SimpleNamespace

import attrs
import pytest

from streamkit import ChatCompletion, CompletionChunk, Usage, finalize
from streamkit._plain import as_plain, parts_of

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


class Marked(str):
    """A string of another library, with a dump of its own."""

    __slots__ = ()

    def model_dump(self):
        return {"choices": []}


@pytest.mark.parametrize(
    "value",
    [None, "a", 5, [1], Foreign(), SimpleNamespace(model_dump="no method"), Marked("a")],
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


# -- The parts of a chunk, where they stand ------------------------------------------


def models():
    """Return pydantic models of a delta, a choice and a chunk; further fields are kept."""
    pydantic = pytest.importorskip("pydantic")

    class Delta(pydantic.BaseModel, extra="allow"):
        content: str = "a"

    class Entry(pydantic.BaseModel, extra="allow"):
        delta: object

    class Chunk(pydantic.BaseModel, extra="allow"):
        choices: list

    return Delta, Entry, Chunk


@pytest.mark.parametrize("level", [None, 0, 1, 2])
def test_the_parts_of_a_model(level):
    """Its own fields, those that its class does not name among them, whatever the level."""
    more = [{"x": 1} if level == number else {} for number in range(3)]
    delta_of, entry_of, chunk_of = models()
    delta = delta_of(**more[0])
    entry = entry_of(delta=delta, **more[1])
    chunk = chunk_of(choices=[entry], **more[2])
    assert parts_of(chunk) == (
        {"choices": [entry], **more[2]},
        {"delta": delta, **more[1]},
        {"content": "a", **more[0]},
    )


def test_the_parts_of_a_model_without_a_delta():
    """Null, or no such field: a legacy completion has none."""
    _, entry_of, chunk_of = models()
    entry = entry_of(delta=None, x=1)
    chunk = chunk_of(choices=[entry], y=2)
    assert parts_of(chunk) == ({"choices": [entry], "y": 2}, {"delta": None, "x": 1}, None)
    entry = chunk_of(choices=[])
    chunk = chunk_of(choices=[entry])
    assert parts_of(chunk) == ({"choices": [entry]}, {"choices": []}, None)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_model_that_says_itself_how_it_is_dumped_has_no_parts(level):
    """Its fields are not what it dumps: a serializer, or a dump of its own."""
    pydantic = pytest.importorskip("pydantic")

    def by_field(base):
        class Own(base):
            @pydantic.field_serializer("*")
            def own(self, value):
                return value

        return Own

    def by_model(base):
        class Own(base):
            @pydantic.model_serializer
            def own(self):
                return {}

        return Own

    def by_dump(base):
        class Own(base):
            def model_dump(self, **options):
                return super().model_dump(**options)

        return Own

    for change in (by_field, by_model, by_dump):
        made = list(models())
        made[level] = change(made[level])
        delta_of, entry_of, chunk_of = made
        assert parts_of(chunk_of(choices=[entry_of(delta=delta_of())])) is None
        assert parts_of(chunk_of(choices=[])) is None


@pytest.mark.parametrize(
    "chunk",
    [
        None,
        SimpleNamespace(choices=[SimpleNamespace(delta=None)]),
        SimpleNamespace(choices=[1, 2]),
        {"choices": [{}, {}]},
        {"choices": []},
        {"choices": ["odd"]},
        {"choices": "o"},
        {},
    ],
    ids=repr,
)
def test_what_has_no_parts(chunk):
    """Anything but a dict or a pydantic object with one choice."""
    assert parts_of(chunk) is None


def test_the_parts_of_a_dict():
    """Where they stand, not copied."""
    delta = {"content": "a"}
    for choice in ({"delta": delta}, {"text": "a"}):
        chunk = {"choices": [choice]}
        found = parts_of(chunk)
        assert found[0] is chunk
        assert found[1] is choice
        assert found[2] is choice.get("delta")
