"""What the model wrote, in the shape of OpenTelemetry's `gen_ai.output.messages`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from streamkit._converter import to_dict
from streamkit._json import BadJSON, Decoder, skip_space
from streamkit._kinds import dict_entries
from streamkit._limits import NO_LIMITS
from streamkit._models import ChatCompletion, Completion
from streamkit._outcome import class_name

from ._message import REASONING_FIELDS


__all__ = ["finish_reasons", "to_otel_messages"]

# What the schema calls what the API calls otherwise.
FINISH_REASONS: Final = {"tool_calls": "tool_call", "function_call": "tool_call"}
# "If a finish reason was expected but not received … report `error`."
NO_REASON: Final = "error"

Part = dict[str, Any]


def finish_reasons(response: ChatCompletion | Completion) -> list[str]:
    """Return the reason of each choice as the server named it; `"error"` if it named none."""
    reasons = [choice.finish_reason for choice in response.choices]
    return [reason if isinstance(reason, str) else NO_REASON for reason in reasons]


def to_otel_messages(response: ChatCompletion | Completion) -> list[dict[str, Any]]:
    """
    Return *response* as `gen_ai.output.messages`: one message a choice, made of parts.

    The shape is that of the conventions' JSON schema.  Reasoning comes before
    text, text before tool calls; arguments that are whole JSON are parsed, others
    stay text.  What the schema has no part for (a refusal, an image) is a part
    with its own `type`.

    `finish_reason` is in the schema's words (`"tool_call"`) and there for
    readers of earlier versions, which required it.

    Raises:
        TypeError: If *response* is no response.

    >>> from streamkit import finalize
    >>> to_otel_messages(finalize([{"choices": [{"index": 0, "text": "Hi"}]}]))
    [{'role': 'assistant', 'parts': [{'type': 'text', 'content': 'Hi'}], 'finish_reason': 'error'}]
    """
    if not isinstance(response, (ChatCompletion, Completion)):
        raise TypeError(f"response must be a response, not {class_name(response)}")
    choices = to_dict(response)["choices"]
    return [
        {
            "role": _role(choice),
            "parts": list(_parts(choice)),
            "finish_reason": FINISH_REASONS.get(reason, reason),
        }
        for choice, reason in zip(choices, finish_reasons(response), strict=True)
    ]


def _message(choice: Part) -> Mapping[str, Any]:
    message = choice.get("message")
    return message if isinstance(message, dict) else {"content": choice.get("text")}


def _role(choice: Part) -> str:
    role = _message(choice).get("role")
    return role if role and isinstance(role, str) else "assistant"


def _parts(choice: Part) -> Iterator[Part]:
    message = _message(choice)
    yield from _reasoning(message)
    yield from _content(message.get("content"))
    refusal = message.get("refusal")
    if refusal:
        yield {"type": "refusal", "content": refusal}
    yield from _audio(message.get("audio"))
    for call in dict_entries(message.get("tool_calls")):
        yield _tool_call(call)
    function = message.get("function_call")
    if isinstance(function, dict):
        yield _tool_call({"function": function})


def _text(kind: str, content: Any) -> Iterator[Part]:
    if content and isinstance(content, str):
        yield {"type": kind, "content": content}


def _reasoning(message: Mapping[str, Any]) -> Iterator[Part]:
    """Yield the reasoning, once: some servers send it under two names."""
    texts = dict.fromkeys(_reasoning_text(message.get(name)) for name in REASONING_FIELDS)
    for text in texts:
        yield from _text("reasoning", text)


def _reasoning_text(value: Any) -> str:
    """Return the text of reasoning that is text, or a list of blocks of it."""
    if isinstance(value, str):
        return value
    texts = (
        entry.get(name) for entry in dict_entries(value) for name in ("text", "summary", "thinking")
    )
    return "".join(text for text in texts if isinstance(text, str))


def _content(content: Any) -> Iterator[Part]:
    yield from _text("text", content)
    for part in dict_entries(content):
        kind = part.get("type")
        if kind == "text":
            yield from _text("text", part.get("text"))
        elif kind == "thinking":
            yield from _text("reasoning", _reasoning_text(part.get("thinking")))
        else:
            yield {**part, "type": kind if isinstance(kind, str) else "unknown"}


def _audio(audio: Any) -> Iterator[Part]:
    if not isinstance(audio, dict):
        return
    part: Part = {}
    if audio.get("data"):
        part = {"type": "blob", "modality": "audio", "content": audio["data"]}
    elif audio.get("id"):
        part = {"type": "file", "modality": "audio", "file_id": audio["id"]}
    if part:
        yield part
    yield from _text("text", audio.get("transcript"))


def _tool_call(call: Part) -> Part:
    callees = (call.get("function"), call.get("custom"))
    callee: Part = next((callee for callee in callees if isinstance(callee, dict)), {})
    name, identity = callee.get("name"), call.get("id")
    part: Part = {"type": "tool_call", "name": name if isinstance(name, str) else ""}
    if isinstance(identity, str):
        part["id"] = identity
    # A custom tool's input is free text: what looks like JSON in it stays text.
    part["arguments"] = (
        _parsed(callee["arguments"]) if "arguments" in callee else callee.get("input")
    )
    return part


def _parsed(arguments: Any) -> Any:
    """Return the value of *arguments* if they are whole JSON, else the text as it is."""
    if not isinstance(arguments, str):
        return arguments
    decoder = Decoder("json", NO_LIMITS)
    try:
        value, end = decoder.prefix(arguments, 0)
    except BadJSON:
        return arguments
    # A note is of something that had to be mended: the text says more.
    is_exact = not decoder.notes and skip_space(arguments, end) == len(arguments)
    return value if is_exact else arguments
