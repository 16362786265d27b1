"""LangChain's dumps: `generations`, a list for each prompt, with the message of each candidate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamkit._json import encode


__all__ = ["of_prompts", "response_of"]

HOLDERS = ("outputs", "output", "response", "result")
TOKENS = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "total_tokens": "total_tokens",
}


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _holder(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what in *row* has generations: itself, or its output."""
    for holder in (row, *(_dict(row.get(name)) for name in HOLDERS)):
        found = _prompts(holder)
        if found and all(map(_is_candidate, found[0])):
            return holder
    return None


def _prompts(holder: Mapping[str, Any]) -> list[list[Any]]:
    """Return the candidates for each prompt; who has one prompt may list its own alone."""
    found = holder.get("generations")
    if not isinstance(found, list) or not found:
        return []
    lists = [item for item in found if isinstance(item, list) and item]
    return lists or [found]


def _is_candidate(value: Any) -> bool:
    return isinstance(value, Mapping) and (
        isinstance(value.get("text"), str) or isinstance(value.get("message"), Mapping)
    )


def of_prompts(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each prompt of *row*, if there are several; the usage is of all of them."""
    holder = _holder(row)
    prompts = [] if holder is None else _prompts(holder)
    if holder is not None and len(prompts) > 1:
        output = dict(_dict(holder.get("llm_output")))
        output.pop("token_usage", None)
        for candidates in prompts:
            yield {"generations": [candidates], "llm_output": output}


def response_of(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the whole response that *row*, of one prompt, tells of, or None."""
    holder = _holder(row)
    if holder is None:
        return None
    candidates = [_dict(item) for item in _prompts(holder)[0]]
    metadata = [_metadata(item) for item in candidates]
    output = _dict(holder.get("llm_output"))
    is_chat = "message" in candidates[0]
    choice = _chat_choice if is_chat else _text_choice
    response: dict[str, Any] = {
        "object": "chat.completion" if is_chat else "text_completion",
        "choices": [choice(index, item) for index, item in enumerate(candidates)],
    }
    facts = {
        "id": output.get("id") or metadata[0].get("id"),
        "model": output.get("model_name") or metadata[0].get("model_name"),
        "system_fingerprint": metadata[0].get("system_fingerprint"),
        "usage": _usage(output, metadata[0], candidates[0]),
    }
    return response | {name: value for name, value in facts.items() if value}


def _message(candidate: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a message: dumped as a constructor, as `data`, or plainly."""
    message = _dict(candidate.get("message"))
    return _dict(message.get("kwargs")) or _dict(message.get("data")) or message


def _metadata(candidate: Mapping[str, Any]) -> dict[str, Any]:
    metadata = _dict(_message(candidate).get("response_metadata"))
    return {**metadata, **_dict(candidate.get("generation_info"))}


def _usage(
    output: Mapping[str, Any], metadata: Mapping[str, Any], candidate: Mapping[str, Any]
) -> dict[str, Any]:
    counted = _dict(output.get("token_usage")) or _dict(metadata.get("token_usage"))
    if counted:
        return dict(counted)
    own = _dict(_message(candidate).get("usage_metadata"))
    return {name: own[key] for name, key in TOKENS.items() if type(own.get(key)) is int}


def _choice(index: int, candidate: Mapping[str, Any], held: dict[str, Any]) -> dict[str, Any]:
    metadata = _metadata(candidate)
    reason, logprobs = metadata.get("finish_reason"), metadata.get("logprobs")
    choice = {"index": index, **held, "finish_reason": reason if isinstance(reason, str) else None}
    return choice | ({"logprobs": logprobs} if isinstance(logprobs, Mapping) else {})


def _text_choice(index: int, candidate: Mapping[str, Any]) -> dict[str, Any]:
    return _choice(index, candidate, {"text": candidate.get("text")})


def _chat_choice(index: int, candidate: Mapping[str, Any]) -> dict[str, Any]:
    fields = _message(candidate)
    content = fields.get("content", candidate.get("text"))
    message = {"role": "assistant", "content": content, **_dict(fields.get("additional_kwargs"))}
    calls = fields.get("tool_calls")
    if "tool_calls" not in message and isinstance(calls, list) and calls:
        message["tool_calls"] = [_tool_call(_dict(call)) for call in calls]
    return _choice(index, candidate, {"message": message})


def _tool_call(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = call.get("args")
    text = arguments if isinstance(arguments, str) else encode(arguments)
    function = {"name": call.get("name"), "arguments": text}
    return {"id": call.get("id"), "type": "function", "function": function}
