"""What a caller hands in as a chunk, as a plain dict: models, mappings, pydantic objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import attrs

from ._views import copy_json


__all__ = ["as_plain", "as_view"]


def as_plain(value: Any) -> Any:
    """
    Return *value* as a dict if it is any kind of chunk, else as it is.

    Known are dicts and other mappings, streamkit's own models, and whatever has
    a `model_dump` method: the objects of openai, litellm and pydantic.  The
    result may be *value* itself: it is not to be changed.
    """
    if type(value) is dict:
        return value
    if value is None or isinstance(value, (str, int, float, list)):
        return value
    if isinstance(value, Mapping):
        return copy_json(value)
    if attrs.has(type(value)) and hasattr(value, "extra"):
        from ._converter import to_dict

        return to_dict(value)
    dump = getattr(value, "model_dump", None)
    return _dumped(dump) if callable(dump) else value


def as_view(chunk: Any) -> dict[str, Any] | None:
    """
    Return the fields of a pydantic *chunk* with one choice, named as `model_dump` does.

    Nothing in them is copied or checked, so this takes a fifth of the time; the result
    is to be read at once, and not to be changed.  It is None where a dump may say
    otherwise.
    """
    try:
        (choice,) = chunk.choices
        delta = getattr(choice, "delta", None)
        kinds: tuple[Any, ...] = type(chunk), type(choice), type(delta)
        if not _dump_their_fields(kinds):
            return None
        in_choice = {**_fields(choice)}
        if delta is not None:
            in_choice["delta"] = _fields(delta)
        return {**_fields(chunk), "choices": [in_choice]}
    except (AttributeError, TypeError, ValueError):
        return None


def _fields(model: Any) -> dict[str, Any]:
    extra = model.__pydantic_extra__
    return {**vars(model), **extra} if extra else vars(model)


@lru_cache(maxsize=64)
def _dump_their_fields(kinds: tuple[Any, ...]) -> bool:
    """Tell whether *kinds* are pydantic models that do not say themselves how they are dumped."""
    return all(map(_dumps_its_fields, kinds))


def _dumps_its_fields(kind: Any) -> bool:
    if kind is type(None):
        return True
    dump = getattr(kind, "model_dump", None)
    decorators = getattr(kind, "__pydantic_decorators__", None)
    if getattr(dump, "__module__", "") != "pydantic.main" or decorators is None:
        return False
    return not (decorators.field_serializers or decorators.model_serializers)


def _dumped(dump: Callable[..., Any]) -> Any:
    try:
        return dump(mode="json")  # pydantic 2: enums and dates as the wire has them
    except TypeError:
        return dump()
