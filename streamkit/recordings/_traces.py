"""
Traces that keep the model's message alone: Langfuse, OpenTelemetry, OpenInference.

The message is given out as a whole response, with what else the trace knows: the
model, the usage, the finish reason.  What it does not know stays absent.
"""

from __future__ import annotations

import re

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ._row_values import json_of


__all__ = ["final_of", "spread"]

LISTS = ("observations", "spans", "traces", "runs", "data", "rows", "items", "records", "hits")
WRAPPINGS = frozenset({"resourceSpans", *LISTS})
TRACE_KEYS = frozenset(
    {
        "attributes",
        "call_type",
        "completionStartTime",
        "completion_start_time",
        "observation_id",
        "run_type",
        "spanId",
        "span_id",
        "startTime",
        "start_time",
        "traceId",
        "trace_id",
        "usageDetails",
        "usage_details",
    }
)
OUTPUTS = ("output", "outputs", "completion", "response", "result", "output.value")
MESSAGES = "gen_ai.output.messages"
PART = re.compile(
    r"(?:gen_ai\.completion|llm\.output_messages)\.([0-9]{1,4})\.(?:message\.)?"
    r"(role|content|finish_reason)"
)
MODELS = (
    "model",
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "providedModelName",
)
USAGES = ("usageDetails", "usage_details", "usage")
TOKENS = {
    "prompt_tokens": (
        "prompt_tokens",
        "input",
        "input_tokens",
        "promptTokens",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
    ),
    "completion_tokens": (
        "completion_tokens",
        "output",
        "output_tokens",
        "completionTokens",
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
    ),
    "total_tokens": ("total_tokens", "total", "totalTokens", "llm.token_count.total"),
}


def spread(row: Any) -> Iterable[Any]:
    """Return the rows in *row*: itself, or what an export has wrapped into one object."""
    if not isinstance(row, Mapping) or WRAPPINGS.isdisjoint(row):
        return (row,)
    return _unwrapped(row)


def _unwrapped(row: Mapping[str, Any]) -> Iterator[Any]:
    for resource in _dicts(row.get("resourceSpans")):
        for scope in _dicts(resource.get("scopeSpans")):
            yield from _dicts(scope.get("spans"))
    if "resourceSpans" in row:
        return
    lists = [_dicts(row.get(key)) for key in LISTS]
    inner = next((found for found in lists if found and "choices" not in found[0]), None)
    if inner is None or "choices" in row:
        yield row
    else:
        yield from inner


def _dicts(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def final_of(row: Any) -> dict[str, Any] | None:
    """Return the whole response that the trace *row* tells of, or None."""
    if not isinstance(row, Mapping) or not (TRACE_KEYS & row.keys()):
        return None
    named = {**row, **_attributes(row.get("attributes"))}
    facts = {str(key): value for key, value in named.items()}
    choices = _choices(facts)
    if not choices:
        return None
    response: dict[str, Any] = {"object": "chat.completion", "choices": choices}
    model = next((facts[key] for key in MODELS if isinstance(facts.get(key), str)), None)
    usage = _usage(facts)
    return response | ({"model": model} if model else {}) | ({"usage": usage} if usage else {})


def _attributes(value: Any) -> dict[str, Any]:
    """Return OpenTelemetry's attributes by name; its JSON keeps them as a list."""
    if isinstance(value, Mapping):
        return dict(value)
    found: dict[str, Any] = {}
    for item in _dicts(value):
        inner = item.get("value")
        if isinstance(item.get("key"), str) and isinstance(inner, Mapping):
            found[item["key"]] = next(iter(inner.values()), None)
    return found


def _choices(facts: dict[str, Any]) -> list[dict[str, Any]]:
    parts: dict[int, dict[str, Any]] = {}
    for key, value in facts.items():
        found = PART.fullmatch(key)
        if found:
            parts.setdefault(int(found[1]), {})[found[2]] = value
    if parts:
        return [_choice(index, part) for index, part in sorted(parts.items())]
    if isinstance(facts.get(MESSAGES), (str, list)):
        return [_choice(index, part) for index, part in enumerate(_listed(facts[MESSAGES]))]
    for key in OUTPUTS:
        message = _message(facts.get(key))
        if message is not None:
            return [_choice(0, message)]
    return []


def _listed(value: Any) -> list[Mapping[str, Any]]:
    return _dicts(json_of(value) if isinstance(value, str) else value)


def _message(output: Any) -> Mapping[str, Any] | None:
    """Return the message in *output*: itself, the last of a list, or plain text."""
    if isinstance(output, str):
        opened = json_of(output)
        if opened is not None:
            return _message(opened)
        return {"content": output} if output else None
    if isinstance(output, list):
        return next((found for found in map(_message, reversed(_dicts(output))) if found), None)
    if not isinstance(output, Mapping):
        return None
    if isinstance(output.get("message"), Mapping):
        return _message(output["message"])
    is_message = output.get("role") in ("assistant", None)
    return output if is_message and ("content" in output or "tool_calls" in output) else None


def _choice(index: int, part: Mapping[str, Any]) -> dict[str, Any]:
    message = {key: value for key, value in part.items() if key not in ("finish_reason", "parts")}
    texts = [item.get("content") for item in _dicts(part.get("parts"))]
    if texts:
        message["content"] = "".join(text for text in texts if isinstance(text, str))
    reason = part.get("finish_reason")
    return {
        "index": index,
        "message": {"role": "assistant"} | message,
        "finish_reason": reason if isinstance(reason, str) else None,
    }


def _usage(facts: Mapping[str, Any]) -> dict[str, int]:
    inner = next((facts[key] for key in USAGES if isinstance(facts.get(key), Mapping)), None)
    # `input` and `output` of the row itself are texts; in the usage they are counts.
    source = facts if inner is None else inner
    found = {
        name: next((source[key] for key in keys if type(source.get(key)) is int), None)
        for name, keys in TOKENS.items()
    }
    return {name: count for name, count in found.items() if count is not None}
