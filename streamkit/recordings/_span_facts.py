"""
What a span or a log record of a trace says, by name.

Attributes come as a list (OpenTelemetry's JSON), as an object, nested or flat, or
as columns with `attributes.` before their names (Phoenix).
"""

from __future__ import annotations

import re

from collections.abc import Iterator, Mapping
from typing import Any

from ._row_values import json_of


__all__ = ["choices_told", "dicts_in", "facts_of"]

CHOICE = "gen_ai.choice"
NAMES = ("eventName", "event_name", "event.name", "name")
PREFIX = "attributes."
# Objects and lists in these are attributes whose names were cut at the dots.
CUT_NAMES = ("llm", "gen_ai", "llm.output_messages", "gen_ai.completion", "event")
INTEGER, INDEX = re.compile(r"-?[0-9]{1,19}"), re.compile(r"[0-9]{1,9}")
DEPTH = 12


def dicts_in(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects in the list *value*, if it is one."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def facts_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields and the attributes of *row* by name."""
    found = {**row, **_attributes(row.get("attributes"))}
    facts = {str(key).removeprefix(PREFIX): value for key, value in found.items()}
    for name in CUT_NAMES:
        if name in facts:
            facts.update(_spelled(name, facts[name]))
    return facts


def _spelled(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield all in *value* by its name with dots."""
    opened = json_of(value) if isinstance(value, str) and not depth else value
    yield name, value
    if depth > DEPTH:
        return
    items: Any = ()
    if isinstance(opened, Mapping):
        items = opened.items()
    elif isinstance(opened, list):
        items = enumerate(opened)
    for key, inner in items:
        yield from _spelled(f"{name}.{key}", inner, depth + 1)


def _attributes(value: Any) -> dict[str, Any]:
    """Return attributes by name; OpenTelemetry's JSON keeps them as a list."""
    if isinstance(value, Mapping):
        return dict(value)
    return {
        item["key"]: _any_value(item.get("value"))
        for item in dicts_in(value)
        if isinstance(item.get("key"), str)
    }


def _any_value(value: Any, depth: int = 0) -> Any:
    """Return what an `AnyValue` of OpenTelemetry holds; its integers are texts."""
    if not isinstance(value, Mapping) or len(value) != 1 or depth > DEPTH:
        return value
    ((kind, inner),) = value.items()
    if kind == "intValue":
        return int(inner) if INTEGER.fullmatch(str(inner)) else inner
    if kind == "kvlistValue" and isinstance(inner, Mapping):
        pairs = dicts_in(inner.get("values"))
        return {str(pair.get("key")): _any_value(pair.get("value"), depth + 1) for pair in pairs}
    if kind == "arrayValue" and isinstance(inner, Mapping):
        return [_any_value(item, depth + 1) for item in dicts_in(inner.get("values"))]
    return inner if str(kind).endswith("Value") else value


def choices_told(row: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """Return the choices in *row*, a log record or the events of a span, with their indexes."""
    told = [facts_of(event) for event in (row, *dicts_in(row.get("events")))]
    bodies = [_body(facts) for facts in told if CHOICE in map(facts.get, NAMES)]
    return sorted(((_index(body), _part(body)) for body in bodies), key=lambda pair: pair[0])


def _body(facts: dict[str, Any]) -> Mapping[str, Any]:
    body = _any_value(facts.get("body"))
    opened = json_of(body) if isinstance(body, str) else body
    return {**facts, **opened} if isinstance(opened, Mapping) else facts


def _index(body: Mapping[str, Any]) -> int:
    index: Any = body.get("index")
    return int(index) if INDEX.fullmatch(str(index)) else 0


def _part(body: Mapping[str, Any]) -> dict[str, Any]:
    message = body.get("message")
    opened = json_of(message) if isinstance(message, str) else message
    if isinstance(message, str) and opened is None:
        opened = {"content": message}
    part = dict(opened) if isinstance(opened, Mapping) else {}
    for name in ("content", "tool_calls"):
        if name not in part and name in body:
            part[name] = body[name]
    return part | {"finish_reason": body.get("finish_reason")}
