"""What a choice says, part by part, in the order in which a person reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import attrs

from streamkit._json import encode
from streamkit._kinds import dict_entries

from ._pretty import pretty_json
from ._values import object_of, shortened, spelled


__all__ = ["Part", "parts_of"]

# Shown above the content, under these names; other texts of a message follow it.
REASONING = ("reasoning_content", "reasoning", "thinking")
# What has a place of its own among the parts.
PLACED = frozenset(
    {
        *REASONING,
        "annotations",
        "content",
        "function_call",
        "refusal",
        "role",
        "tool_calls",
    }
)


@attrs.frozen
class Part:
    """
    A part of what a choice says.

    Attributes:
        head: What it is: the field, or a tool call and its name; raw.
        text: What it says, raw; empty: its head says it all.
        kind: Which sort of part; `data` is what is no text for a person.
    """

    head: str
    text: str = ""
    kind: Literal["reasoning", "text", "call", "note", "data"] = "text"


def parts_of(choice: dict[str, Any]) -> Iterator[Part]:
    """Yield what *choice*, of either kind, says."""
    yield from _field("text", choice.get("text"))
    message = object_of(choice.get("message"))
    yield from _reasoning(message)
    yield from _content(message.get("content"))
    yield from _field("refusal", message.get("refusal"))
    for name, value in message.items():
        if isinstance(value, str) and name not in PLACED:
            yield from _field(name, value)
    yield from _calls(message)
    yield from _field("audio transcript", object_of(message.get("audio")).get("transcript"))
    yield from map(_annotation, dict_entries(message.get("annotations")))
    for name, value in message.items():
        if value and not isinstance(value, str) and name not in PLACED:
            yield Part(name, encode(shortened(value), indent=2), "data")


def _field(head: str, value: Any) -> Iterator[Part]:
    if value:
        yield Part(head, spelled(value))


def _reasoning(message: dict[str, Any]) -> Iterator[Part]:
    """Yield the reasoning; of its details only what no other field repeats."""
    plain = [(name, message[name]) for name in REASONING if message.get(name)]
    details = [
        (f"reasoning {name}", detail[name])
        for detail in dict_entries(message.get("reasoning_details"))
        for name in ("text", "summary")
        if detail.get(name)
    ]
    for head, value in plain or details:
        yield Part(head, spelled(value), "reasoning")


def _content(content: Any) -> Iterator[Part]:
    if not isinstance(content, list):
        yield from _field("content", content)
        return
    for part in content:
        fields = object_of(part)
        texts = [fields.get(name) for name in ("text", "thinking", "refusal")]
        head = f"content {spelled(fields.get('type') or 'part')}"
        yield Part(head, spelled(next(filter(None, texts), shortened(part))))


def _calls(message: dict[str, Any]) -> Iterator[Part]:
    for call in dict_entries(message.get("tool_calls")):
        head = " · ".join(["tool call", *filter(None, [spelled(call.get("id") or "")])])
        yield _call(head, object_of(call.get("function")) or object_of(call.get("custom")))
    if message.get("function_call"):
        yield _call("function call", object_of(message["function_call"]))


def _call(head: str, function: dict[str, Any]) -> Part:
    arguments = spelled(function.get("arguments") or function.get("input") or "")
    name = spelled(function.get("name") or "(no name)")
    return Part(f"{head} · {name}", pretty_json(arguments), "call")


def _annotation(note: dict[str, Any]) -> Part:
    citation = object_of(note.get("url_citation"))
    where = [spelled(citation[key]) for key in ("title", "url") if citation.get(key)]
    return Part(" · ".join(["annotation", *(where or [spelled(note)])]), kind="note")
