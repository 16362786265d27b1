"""What a payload is: a chunk of which kind, a sign of life, or neither."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal


__all__ = ["Kind", "dict_entries", "is_chunk", "is_ping", "kind_of"]

Kind = Literal["chat", "completion"]

PINGS = frozenset({"ping", "keepalive"})
OBJECTS = ("chat.completion", "text_completion")


def dict_entries(value: Any) -> list[dict[str, Any]]:
    """Return the objects in *value*, if it is a list."""
    return [entry for entry in value if type(entry) is dict] if isinstance(value, list) else []


def kind_of(chunk: Mapping[str, Any]) -> Kind | None:
    """
    Return what kind of stream *chunk* belongs to, if it tells.

    `object` alone does not tell: legacy servers send chat deltas as
    `text_completion`, and text as chat.
    """
    name = chunk.get("object")
    if isinstance(name, str) and name.startswith("chat.completion"):
        return "chat"
    entries = dict_entries(chunk.get("choices"))
    if any(entry.get("text") is not None for entry in entries):
        return "completion"
    if any(entry.get(name) is not None for entry in entries for name in ("delta", "message")):
        return "chat"
    return "completion" if name == "text_completion" else None


def is_chunk(payload: dict[str, Any]) -> bool:
    """Tell whether *payload* is a chunk of a known kind: choices, usage or an error."""
    if "choices" in payload or payload.get("error") is not None:
        return True
    if "usage" in payload and "type" not in payload:
        return True
    name = payload.get("object")
    return isinstance(name, str) and name.startswith(OBJECTS)


def is_ping(payload: dict[str, Any]) -> bool:
    """Tell whether *payload* is a sign of life and no chunk: `{"type": "ping"}`."""
    kind = payload.get("type")
    return isinstance(kind, str) and kind in PINGS and "choices" not in payload
