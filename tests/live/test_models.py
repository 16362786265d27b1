"""The chunk objects of pydantic clients: read by their fields, with what a dump would say."""

from __future__ import annotations

from typing import Any

import pytest

from streamkit import Accumulator, LiveAccumulator
from streamkit._plain import parts_of

from . import chunk, happened, told


pydantic = pytest.importorskip("pydantic")


class Delta(pydantic.BaseModel):
    """A delta, as clients have it."""

    model_config = pydantic.ConfigDict(extra="allow")

    content: str | None = None
    role: str | None = None


class Choice(pydantic.BaseModel):
    """A choice."""

    index: int
    delta: Delta | None = None
    finish_reason: str | None = None


class Chunk(pydantic.BaseModel):
    """A chunk."""

    model_config = pydantic.ConfigDict(extra="allow")

    choices: list[Choice]
    model: str | None = None


class Shouting(Delta):
    """A delta that dumps something else than it holds."""

    @pydantic.field_serializer("content")
    def shout(self, content: Any) -> Any:
        return content and content.upper()


class Own(Delta):
    """A delta with a dump of its own."""

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return {"content": "own"}


def made(content="a", **fields):
    return Chunk.model_validate({**chunk(content=content), "model": "m", **fields})


@pytest.mark.parametrize(
    "model",
    [
        made(),
        made(x=5),
        made(choices=[{"index": 0, "delta": {"content": "a", "x": 5}}]),
        Chunk(choices=[Choice(index=0)]),
    ],
    ids=["plain", "extra", "extra in the delta", "no delta"],
)
def test_the_parts_are_what_a_dump_says(model):
    """Field by field, but for the containers."""
    chunk, choice, delta = parts_of(model)
    dumped = model.model_dump(mode="json")
    assert {**choice, "delta": delta} == dumped["choices"][0]
    assert {**chunk, "choices": dumped["choices"]} == dumped


def test_the_parts_of_a_dict():
    """They are the very objects."""
    given = chunk(content="a")
    parts = parts_of(given)
    assert parts[0] is given
    assert parts[1] is given["choices"][0]
    assert parts[2] is parts[1]["delta"]


@pytest.mark.parametrize(
    "model",
    [
        Chunk(choices=[]),
        Chunk(choices=[Choice(index=0), Choice(index=1)]),
        Chunk(choices=[Choice(index=0, delta=Shouting(content="a"))]),
        Chunk(choices=[Choice(index=0, delta=Own(content="a"))]),
        {"choices": []},
        {"choices": [5]},
        {"choices": 5},
        5,
        None,
        object(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_where_there_are_no_parts(model):
    """A dump may say something else, or the slow way is as good."""
    assert parts_of(model) is None


def test_models_in_a_stream():
    """Their events are those of what they would be as dicts."""
    models = [made(), made(" b"), made("c", x=5), made("d"), made("e", choices=[]), made("f")]
    dicts = [model.model_dump(mode="json") for model in models]
    assert told(happened(LiveAccumulator(), *models)) == told(happened(LiveAccumulator(), *dicts))


class Closed(Chunk):
    """A chunk whose choices cannot be had."""

    def __getattribute__(self, name: str) -> Any:
        if name == "choices":
            raise OSError("no")
        return super().__getattribute__(name)


def test_a_model_whose_fields_raise():
    """It has no parts; its dump tells."""
    model = Closed(choices=[Choice(index=0, delta=Delta(content="a"))])
    assert parts_of(model) is None
    accumulator = Accumulator()
    accumulator.add(model)
    assert accumulator.snapshot().choices[0].message.content == "a"


def test_a_run_of_models():
    """Those that repeat the one before are merged by what they add, all others by the rules."""
    accumulator, dumped = Accumulator(), Accumulator()
    models = [made(), made(" b"), made("c", x=5), made("d"), made("e", choices=[]), made("f")]
    for model in models:
        accumulator.add(model)
        dumped.add(model.model_dump(mode="json"))
    assert accumulator.finish() == dumped.finish()
    assert dumped.finish().response.choices[0].message.content == "a bcdf"
