"""
Traces that keep the model's message alone: Langfuse, OpenTelemetry, OpenInference,
LangChain.

The message is given out as a whole response, with what else the trace knows: the
model, the usage, the finish reason.  What it does not know stays absent.
"""

from __future__ import annotations

import re

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from . import _langchain
from ._row_values import json_of
from ._span_facts import choices_told, dicts_in, facts_of


__all__ = ["final_of", "spread"]

LISTS = ("observations", "spans", "traces", "runs", "data", "rows", "items", "records", "hits")
EXPORTS = (("resourceSpans", "scopeSpans", "spans"), ("resourceLogs", "scopeLogs", "logRecords"))
WRAPPINGS = frozenset({"resourceSpans", "resourceLogs", "generations", "outputs", *LISTS})
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
CALL = re.compile(
    r"(?:gen_ai\.completion|llm\.output_messages)\.([0-9]{1,4})\.(?:message\.)?"
    r"tool_calls\.([0-9]{1,4})\.(?:tool_call\.)?(?:function\.)?(id|name|arguments)"
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
    for resources, scopes, records in EXPORTS:
        for resource in dicts_in(row.get(resources)):
            for scope in dicts_in(resource.get(scopes)):
                yield from dicts_in(scope.get(records))
    if not row.keys().isdisjoint(("resourceSpans", "resourceLogs")):
        return
    prompts = list(_langchain.of_prompts(row))
    if prompts:
        yield from prompts
        return
    lists = [dicts_in(row.get(key)) for key in LISTS]
    inner = next((found for found in lists if found and "choices" not in found[0]), None)
    if inner is None or "choices" in row:
        yield row
    else:
        yield from inner


def final_of(row: Any) -> dict[str, Any] | None:
    """Return the whole response that the trace *row* tells of, or None."""
    if not isinstance(row, Mapping):
        return None
    response = _langchain.response_of(row)
    if response is not None:
        return response
    facts = facts_of(row)
    is_trace = TRACE_KEYS & row.keys() or any(map(PART.fullmatch, facts))
    told = [_choice(index, part) for index, part in choices_told(row)]
    choices = told or (_choices(facts) if is_trace else [])
    if not choices:
        return None
    response = {"object": "chat.completion", "choices": choices}
    model = next((facts[key] for key in MODELS if isinstance(facts.get(key), str)), None)
    usage = _usage(facts)
    return response | ({"model": model} if model else {}) | ({"usage": usage} if usage else {})


def _choices(facts: dict[str, Any]) -> list[dict[str, Any]]:
    parts: dict[int, dict[str, Any]] = {}
    for key, value in facts.items():
        found = PART.fullmatch(key)
        if found:
            parts.setdefault(int(found[1]), {})[found[2]] = value
    for index, calls in _tool_calls(facts).items():
        parts.setdefault(index, {})["tool_calls"] = calls
    if parts:
        return [_choice(index, part) for index, part in sorted(parts.items())]
    if isinstance(facts.get(MESSAGES), (str, list)):
        return [_choice(index, part) for index, part in enumerate(_listed(facts[MESSAGES]))]
    for key in OUTPUTS:
        message = _message(facts.get(key))
        if message is not None:
            return [_choice(0, message)]
    return []


def _tool_calls(facts: Mapping[str, Any]) -> dict[int, list[dict[str, Any]]]:
    """Return the tool calls of each message, which are spread over attributes."""
    found: dict[int, dict[int, dict[str, Any]]] = {}
    for name, value in facts.items():
        if part := CALL.fullmatch(name):
            call = found.setdefault(int(part[1]), {}).setdefault(int(part[2]), {})
            call[part[3]] = value
    return {
        index: [_tool_call(call) for _, call in sorted(calls.items())]
        for index, calls in found.items()
    }


def _tool_call(call: dict[str, Any]) -> dict[str, Any]:
    function = {name: call[name] for name in ("name", "arguments") if name in call}
    own = {"id": call["id"]} if "id" in call else {}
    return {**own, "type": "function", "function": function}


def _listed(value: Any) -> list[Mapping[str, Any]]:
    return dicts_in(json_of(value) if isinstance(value, str) else value)


def _message(output: Any) -> Mapping[str, Any] | None:
    """Return the message in *output*: itself, the last of a list, or plain text."""
    if isinstance(output, str):
        opened = json_of(output)
        if opened is not None:
            return _message(opened)
        return {"content": output} if output else None
    if isinstance(output, list):
        return next((found for found in map(_message, reversed(dicts_in(output))) if found), None)
    if not isinstance(output, Mapping):
        return None
    if isinstance(output.get("message"), Mapping):
        return _message(output["message"])
    is_message = output.get("role") in ("assistant", None)
    return output if is_message and ("content" in output or "tool_calls" in output) else None


def _choice(index: int, part: Mapping[str, Any]) -> dict[str, Any]:
    message = {key: value for key, value in part.items() if key not in ("finish_reason", "parts")}
    texts = [item.get("content") for item in dicts_in(part.get("parts"))]
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
