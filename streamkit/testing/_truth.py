"""Whether a response comes back from its chunks, and if not, what does not."""

from __future__ import annotations

import math

from collections.abc import Iterator
from typing import Any

from streamkit._converter import structure, to_dict
from streamkit._errors import StreamkitError, quote
from streamkit._finalize import finalize
from streamkit._kinds import Kind
from streamkit._limits import NO_LIMITS
from streamkit._models import ChatCompletion, Completion

from ._errors import Unstreamable


__all__ = ["check_comes_back", "check_is_json", "key_path"]

ATOMS = (str, int, float, bool, type(None))
CLASSES: dict[Kind, type[ChatCompletion | Completion]] = {
    "chat": ChatCompletion,
    "completion": Completion,
}


def key_path(path: str, key: str) -> str:
    """Return the path of *key* in the object at *path*."""
    return f"{path}.{key}" if key.isidentifier() else f"{path}[{quote(key)}]"


def check_is_json(value: Any, path: str = "$") -> None:
    """
    Raise unless *value* is JSON data.

    Raises:
        Unstreamable: With the path of what is none.
        RecursionError: If it is nested too deep.
    """
    if type(value) is dict:
        for key, item in value.items():
            if type(key) is not str:
                raise Unstreamable(f"the key {quote(key)} is no string", path=path)
            check_is_json(item, key_path(path, key))
    elif type(value) is list:
        for number, item in enumerate(value):
            check_is_json(item, f"{path}[{number}]")
    elif type(value) not in ATOMS or (type(value) is float and not math.isfinite(value)):
        raise Unstreamable(f"{quote(value)} is no JSON", path=path)


def check_comes_back(plain: dict[str, Any], chunks: list[dict[str, Any]], kind: Kind) -> None:
    """
    Raise unless *chunks* give back the response *plain*.

    Null under a key is as absent, and fields that a response always has may be
    missing from *plain*.

    Raises:
        Unstreamable: With the path of the first value that differs.
    """
    try:
        wanted = to_dict(structure(plain, CLASSES[kind]))
        found = to_dict(finalize(chunks, limits=NO_LIMITS))
    except StreamkitError as error:
        raise Unstreamable(f"no response comes back: {error}") from error
    for path, value, other in _differences(wanted, found, "$"):
        raise Unstreamable(f"{quote(value)} would come back as {quote(other)}", path=path)


def _differences(wanted: Any, found: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield (path, wanted, found) of what differs; no key equals null."""
    if type(wanted) is dict and type(found) is dict:
        for key in [*wanted, *(key for key in found if key not in wanted)]:
            yield from _differences(wanted.get(key), found.get(key), key_path(path, key))
    elif type(wanted) is list and type(found) is list and len(wanted) == len(found):
        for number, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from _differences(one, other, f"{path}[{number}]")
    elif type(wanted) is not type(found) or wanted != found:
        yield path, wanted, found
