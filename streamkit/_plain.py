"""What a caller hands in as a chunk, as a plain dict: models, mappings, pydantic objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from ._views import copy_json


__all__ = ["as_plain"]


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


def _dumped(dump: Callable[..., Any]) -> Any:
    try:
        return dump(mode="json")  # pydantic 2: enums and dates as the wire has them
    except TypeError:
        return dump()
