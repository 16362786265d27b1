"""What a caller hands in as a chunk, as a plain dict: models, mappings, pydantic objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import attrs

from ._errors import quote
from ._views import copy_json


__all__ = ["Unreadable", "as_plain", "parts_of"]


class Unreadable:
    """
    What stands for an object that raises when it is read; it is refused as any other.

    Attributes:
        error: What it raised.
    """

    def __init__(self, value: object, error: Exception) -> None:
        self._name = type(value).__name__
        self.error = error

    def __repr__(self) -> str:
        return f"a {quote(self._name)} that cannot be read: {type(self.error).__name__}"


def as_plain(value: Any) -> Any:
    """
    Return *value* as a dict if it is any kind of chunk, else as it is.

    Known are dicts and other mappings, streamkit's own models, and whatever has
    a `model_dump` method: the objects of openai, litellm and pydantic.  The
    result may be *value* itself: it is not to be changed.  Of an object that
    raises it is an `Unreadable`.
    """
    if type(value) is dict or value is None or isinstance(value, (str, int, float, list)):
        return value
    try:
        return _read(value)
    except Exception as error:  # noqa: BLE001 - an object of unknown make may raise anything
        return Unreadable(value, error)


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        return copy_json(value)
    if attrs.has(type(value)) and hasattr(value, "extra"):
        from ._converter import to_dict

        return to_dict(value)
    dump = getattr(value, "model_dump", None)
    return _dumped(dump) if callable(dump) else value


Parts = tuple[dict[str, Any], dict[str, Any], Any]


def parts_of(chunk: Any) -> Parts | None:
    """
    Return the fields of *chunk*, of its one choice, and of that one's delta.

    Nothing is copied or checked: the result is to be read at once, and not to be
    changed.  Of a pydantic object they are its own fields, which takes a tenth of the
    time of a dump.  It is None where there is not just one choice, or where a dump
    may say otherwise.
    """
    if type(chunk) is not dict:
        return _parts_of_model(chunk)
    choices = chunk.get("choices")
    if type(choices) is not list or len(choices) != 1 or type(choices[0]) is not dict:
        return None
    choice = choices[0]
    return chunk, choice, choice.get("delta")


def _parts_of_model(chunk: Any) -> Parts | None:
    try:
        (choice,) = chunk.choices
        delta = getattr(choice, "delta", None)
        kinds: tuple[Any, ...] = type(chunk), type(choice), type(delta)
        if not _dump_their_fields(kinds):
            return None
        if delta is None:
            return _fields(chunk), _fields(choice), None
        if chunk.__pydantic_extra__ or choice.__pydantic_extra__ or delta.__pydantic_extra__:
            return _fields(chunk), _fields(choice), _fields(delta)
        return chunk.__dict__, choice.__dict__, delta.__dict__  # three calls less
    except Exception:  # noqa: BLE001 - as above; the dump may say why
        return None


def _fields(model: Any) -> dict[str, Any]:
    fields: dict[str, Any] = model.__dict__
    extra = model.__pydantic_extra__
    return {**fields, **extra} if extra else fields


@lru_cache(maxsize=64)
def _dump_their_fields(kinds: tuple[Any, ...]) -> bool:
    """Tell whether *kinds* are pydantic models that do not say themselves how they are dumped."""
    return all(map(_dumps_its_fields, kinds))


def _dumps_its_fields(kind: Any) -> bool:
    if kind is type(None):
        return True
    dump = getattr(kind, "model_dump", None)
    decorators = getattr(kind, "__pydantic_decorators__", None)
    if getattr(dump, "__module__", None) != "pydantic.main" or decorators is None:
        return False
    return not (decorators.field_serializers or decorators.model_serializers)


def _dumped(dump: Callable[..., Any]) -> Any:
    try:
        return dump(mode="json")  # pydantic 2: enums and dates as the wire has them
    except TypeError:
        return dump()
