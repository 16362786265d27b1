"""What one payload of a stream adds to the response, for the tables of a person."""

from __future__ import annotations

import enum

from collections.abc import Iterator
from typing import Any

import attrs

from streamkit._kinds import dict_entries, is_ping
from streamkit._open_stream import is_final
from streamkit._payloads import DONE

from ._values import spelled


__all__ = ["LOST", "Addition", "additions", "payload_kind"]


class _Lost(enum.Enum):
    LOST = "lost"


LOST = _Lost.LOST
"""The value of an event whose payload was left out."""


@attrs.frozen
class Addition:
    """
    One thing that a payload adds.

    Attributes:
        name: The field, such as `content` or `tool 0 arguments`.
        value: What it adds, raw.
        choice: The index of the choice, or None if it is of the response.
    """

    name: str
    value: Any
    choice: Any = None

    @property
    def text(self) -> str:
        """What it adds, as text: a string as it is, all else as JSON."""
        return spelled(self.value)


def payload_kind(payload: Any) -> str:
    """Return a word for *payload*."""
    if payload is DONE or payload is LOST:
        return "done" if payload is DONE else "lost"
    if type(payload) is not dict:
        return "no object"
    if payload.get("error") is not None:
        return "error"
    if is_ping(payload):
        return "ping"
    if dict_entries(payload.get("choices")):
        return "final" if is_final(payload) else "chunk"
    return "usage" if payload.get("usage") else "chunk" if "choices" in payload else "other"


def additions(payload: Any) -> Iterator[Addition]:
    """Yield what *payload* adds, in the order of the wire."""
    if payload is DONE or payload is LOST:
        return
    if type(payload) is not dict:
        yield Addition("value", payload)
        return
    if payload.get("error") is not None:
        yield Addition("error", payload["error"])
    for entry in dict_entries(payload.get("choices")):
        yield from _of_choice(entry)
    if payload.get("usage"):
        yield Addition("usage", payload["usage"])


def _of_choice(entry: dict[str, Any]) -> Iterator[Addition]:
    choice = entry.get("index", 0)
    if entry.get("text"):
        yield Addition("text", entry["text"], choice)
    for part in ("delta", "message"):
        if type(entry.get(part)) is dict:
            yield from _of_delta(entry[part], choice)
    count = _logprob_count(entry.get("logprobs"))
    if count:
        yield Addition("logprobs", count, choice)
    if entry.get("finish_reason"):
        yield Addition("finish_reason", entry["finish_reason"], choice)


def _of_delta(delta: dict[str, Any], choice: Any) -> Iterator[Addition]:
    for name, value in delta.items():
        if name == "tool_calls":
            for place, call in enumerate(dict_entries(value)):
                yield from _of_call(call, place, choice)
        elif value not in (None, "", [], {}):
            yield Addition(name, value, choice)


def _of_call(call: dict[str, Any], place: int, choice: Any) -> Iterator[Addition]:
    number = spelled(call.get("index", place))
    for part in ("function", "custom"):
        fields = call.get(part)
        for name, value in fields.items() if type(fields) is dict else ():
            if value not in (None, ""):
                yield Addition(f"tool {number} {name}", value, choice)


def _logprob_count(logprobs: Any) -> int:
    if type(logprobs) is not dict:
        return 0
    lists = [logprobs.get(name) for name in ("content", "refusal", "tokens")]
    return sum(len(entries) for entries in lists if isinstance(entries, list))
