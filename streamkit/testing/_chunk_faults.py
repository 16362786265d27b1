"""
Faults in chunks.

Each function returns new chunks and leaves the caller's as they are; *at* is the
number of a chunk, counted from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from streamkit._json import encode
from streamkit._kinds import dict_entries
from streamkit._plain import as_plain
from streamkit._sse import ServerSentEvent
from streamkit._views import copy_json


__all__ = [
    "add_chunk",
    "change_ids",
    "change_models",
    "change_roles",
    "check_place",
    "cut_chunks",
    "drop_chunk",
    "drop_finish_reasons",
    "drop_indexes",
    "duplicate_chunk",
    "error_chunk",
    "error_event",
    "open_place",
    "repeat_roles",
    "spoil_index",
    "swap_chunks",
]

Chunks: TypeAlias = Sequence[Any]

ERROR: Final = {"message": "the server is overloaded", "type": "server_error", "code": 503}


def _copied(chunks: Chunks) -> list[Any]:
    return [copy_json(as_plain(chunk)) for chunk in chunks]


def check_place(chunks: Chunks, at: int, after: int = 0) -> None:
    """Raise TypeError unless *at* is a chunk's number, with *after* more behind it."""
    if type(at) is not int or not 0 <= at < len(chunks) - after:
        raise TypeError(f"at must be the number of a chunk below {len(chunks) - after}, not {at!r}")


def open_place(chunks: Chunks) -> int:
    """
    Return the number of a chunk, near the middle, that ends no choice while one goes on.

    Raises:
        TypeError: If there is none: each choice begins and ends in one chunk.

    >>> open_place([{"choices": [{"index": 0}]}, {"choices": [{"finish_reason": "stop"}]}])
    0
    """
    open_now: set[Any] = set()
    places = []
    for number, chunk in enumerate(_copied(chunks)):
        choices = dict_entries(chunk.get("choices"))
        goes_on = {
            choice.get("index") or 0 for choice in choices if not choice.get("finish_reason")
        }
        open_now |= goes_on
        open_now -= {choice.get("index") or 0 for choice in choices} - goes_on
        places += [number] if open_now and len(goes_on) == len(choices) else []
    if not places:
        raise TypeError("no choice goes on after a chunk: make smaller pieces")
    return min(places, key=lambda number: abs(number - len(chunks) // 2))


# -- Chunks lost, doubled, out of order ----------------------------------------------


def cut_chunks(chunks: Chunks, at: int) -> list[Any]:
    """Return *chunks* up to number *at*, that one included: nothing comes after it."""
    check_place(chunks, at)
    return _copied(chunks[: at + 1])


def drop_chunk(chunks: Chunks, at: int) -> list[Any]:
    """Return *chunks* without number *at*."""
    check_place(chunks, at)
    return _copied([*chunks[:at], *chunks[at + 1 :]])


def duplicate_chunk(chunks: Chunks, at: int) -> list[Any]:
    """Return *chunks* with number *at* twice."""
    check_place(chunks, at)
    return add_chunk(chunks, at, chunks[at])


def swap_chunks(chunks: Chunks, at: int) -> list[Any]:
    """Return *chunks* with number *at* and the next in each other's place."""
    check_place(chunks, at, after=1)
    return _copied([*chunks[:at], chunks[at + 1], chunks[at], *chunks[at + 2 :]])


def add_chunk(chunks: Chunks, at: int, chunk: Any) -> list[Any]:
    """Return *chunks* with *chunk* after number *at*: a ping, or what is no chunk at all."""
    check_place(chunks, at)
    return _copied([*chunks[: at + 1], chunk, *chunks[at + 1 :]])


# -- Errors of the server ------------------------------------------------------------


def error_chunk(chunks: Chunks, at: int, error: Any = ERROR) -> list[Any]:
    """Return *chunks* up to number *at*, and then a payload with *error*."""
    return [*cut_chunks(chunks, at), {"error": copy_json(error)}]


def error_event(chunks: Chunks, at: int, error: Any = ERROR) -> list[Any]:
    """Return *chunks* up to number *at*, and then an event of type `error`; a string is no JSON."""
    data = error if isinstance(error, str) else encode(error)
    return [*cut_chunks(chunks, at), ServerSentEvent("error", data, "", None)]


# -- Fields that are wrong -----------------------------------------------------------


def _with_choices(chunks: Chunks, change: Callable[[int, dict[str, Any]], None]) -> list[Any]:
    """Return *chunks* after *change* was called with each choice and the number of its chunk."""
    new = _copied(chunks)
    for number, chunk in enumerate(new):
        for choice in dict_entries(chunk.get("choices") if type(chunk) is dict else None):
            change(number, choice)
    return new


def repeat_roles(chunks: Chunks) -> list[Any]:
    """Return *chunks* with a role in each delta, the one that it has anyhow."""
    roles: dict[Any, Any] = {}

    def change(_: int, choice: dict[str, Any]) -> None:
        delta = choice.get("delta")
        if type(delta) is dict:
            delta["role"] = roles.setdefault(choice.get("index"), delta.get("role") or "assistant")

    return _with_choices(chunks, change)


def change_roles(chunks: Chunks, role: str = "another") -> list[Any]:
    """Return *chunks* in which each delta but a choice's first has *role*."""
    seen: set[Any] = set()

    def change(_: int, choice: dict[str, Any]) -> None:
        delta = choice.get("delta")
        if type(delta) is dict and choice.get("index") in seen:
            delta["role"] = role
        elif type(delta) is dict:
            delta["role"] = delta.get("role") or "assistant"
        seen.add(choice.get("index"))

    return _with_choices(chunks, change)


def drop_indexes(chunks: Chunks) -> list[Any]:
    """Return *chunks* whose choices say no index."""
    return _with_choices(chunks, lambda _, choice: choice.pop("index", None))


def spoil_index(chunks: Chunks, at: int, index: Any = -1) -> list[Any]:
    """Return *chunks* in which the choices of number *at* have an *index* that cannot be one."""
    check_place(chunks, at)

    def change(number: int, choice: dict[str, Any]) -> None:
        if number == at:
            choice["index"] = index

    return _with_choices(chunks, change)


def drop_finish_reasons(chunks: Chunks) -> list[Any]:
    """Return *chunks* whose choices never say why they end."""
    return _with_choices(chunks, lambda _, choice: choice.pop("finish_reason", None))


def change_ids(chunks: Chunks) -> list[Any]:
    """Return *chunks* with an id of its own each, as some gateways give them."""
    return [{**chunk, "id": f"chunk-{number}"} for number, chunk in enumerate(_copied(chunks))]


def change_models(chunks: Chunks, at: int, model: str = "another") -> list[Any]:
    """Return *chunks* in which all after number *at* name another *model*."""
    check_place(chunks, at)
    new = _copied(chunks)
    before = [{**chunk, "model": chunk.get("model") or "one"} for chunk in new[: at + 1]]
    return [*before, *({**chunk, "model": model} for chunk in new[at + 1 :])]
