"""A response as the message that the next request sends back: `to_message`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from streamkit._errors import InvalidChunk
from streamkit._kinds import dict_entries
from streamkit._models import Choice, Message
from streamkit._outcome import class_name
from streamkit._plain import as_plain
from streamkit._views import copy_json


__all__ = ["REASONING_FIELDS", "to_message"]

REASONING_FIELDS: Final = ("reasoning", "reasoning_content", "reasoning_details", "thinking_blocks")


def to_message(
    source: Any, *, index: int = 0, reasoning: bool | None = None, keep: Collection[str] = ()
) -> dict[str, Any]:
    """
    Return the assistant's message of *source* as the next request's `messages` takes it.

    What the API gives and what it takes differ.  Kept are `role`, `name`, and
    what was said and called; the rest of a message is for its reader only, and
    many servers refuse it: `annotations`, and fields that only one provider knows.

    - `content` is null only beside a call of a tool or a function; with `audio`
      it is left out if there is none, and else it is `""`.
    - `refusal` is left out if null, and so is what else is null.
    - `tool_calls` lose their `index`, and keep all else that came with them:
      some providers want a signature back.
    - `audio` becomes its `id`, which stands for the rest.
    - `function_call` is kept as its name and arguments.

    Source: OpenAI's reference of the assistant message in a chat completion request.

    Args:
        source: A response or a snapshot, a choice, or a message: one of
            streamkit's models, an object with `model_dump()` (openai, litellm),
            or a mapping.
        index: Which choice of a response, by its `index`.
        reasoning: Whether to send reasoning back (`reasoning`,
            `reasoning_content`, `reasoning_details`, `thinking_blocks`).  None
            sends it with tool calls only: there DeepSeek, Moonshot and others
            require it, elsewhere they ignore or refuse it.
        keep: Names of further fields to keep, such as `("annotations",)`.

    Returns:
        A dict of JSON data that shares nothing with *source*.

    Raises:
        InvalidChunk: If the response has no choice of that index, or its choice
            no message; or if the caller's own data is nested too deep.
        TypeError: If *source* is none of these, or a legacy text completion.

    >>> to_message({"role": "assistant", "content": "Hi", "refusal": None, "annotations": []})
    {'role': 'assistant', 'content': 'Hi'}
    """
    if isinstance(keep, str):
        raise TypeError(f"keep must be a collection of names, not {keep!r}")
    given = _message_of(source, index)
    message: dict[str, Any] = {"role": given.get("role") or "assistant"}
    message |= _said(given) | _called(given)
    _settle_content(message)
    if reasoning or (reasoning is None and message.get("tool_calls")):
        message |= _present(given, REASONING_FIELDS)
    message |= _present(given, keep)
    try:
        copied: dict[str, Any] = copy_json(message)
    except RecursionError:
        raise InvalidChunk("nested too deep to be sent") from None
    return copied


def _message_of(source: Any, index: int) -> Mapping[str, Any]:
    """Return the message of *source*: a response, a choice or a message itself."""
    plain = as_plain(source)
    if isinstance(source, Message):
        return dict(plain)
    is_choice = isinstance(source, Choice)
    if type(plain) is dict and not is_choice and _is_response(plain):
        plain, is_choice = _choice_of(plain, index), True
        if not isinstance(plain.get("message"), Mapping) and "text" not in plain:
            raise InvalidChunk(f"choice {index} has no message", path="$.choices")
    if type(plain) is dict and (is_choice or "role" not in plain):
        message = plain.get("message")
        plain = message if isinstance(message, Mapping) else plain
    if type(plain) is not dict or not plain.keys() & {"role", "content", "tool_calls"}:
        raise TypeError(
            f"source must be a chat response, a choice or a message, not {class_name(source)}"
        )
    return plain


def _is_response(plain: dict[str, Any]) -> bool:
    """Tell whether *plain* is a response, and no choice or message with an odd field."""
    return "choices" in plain and ("object" in plain or not plain.keys() & {"message", "role"})


def _choice_of(response: dict[str, Any], index: int) -> dict[str, Any]:
    for choice in dict_entries(response["choices"]):
        if choice.get("index") == index:
            return choice
    raise InvalidChunk(f"no choice has the index {index}", path="$.choices")


def _present(given: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return the fields of *given* called *names*, those that are null left out."""
    return {name: given[name] for name in names if given.get(name) is not None}


def _said(given: Mapping[str, Any]) -> dict[str, Any]:
    said = _present(given, ("content", "name", "refusal"))
    audio = given.get("audio")
    if isinstance(audio, Mapping):
        identity = _present(audio, ("id",))
        said |= {"audio": identity} if identity else {}
    return said


def _called(given: Mapping[str, Any]) -> dict[str, Any]:
    called: dict[str, Any] = {}
    calls = [
        {name: value for name, value in call.items() if name != "index" and value is not None}
        for call in dict_entries(given.get("tool_calls"))
    ]
    if calls:
        called["tool_calls"] = calls
    function = given.get("function_call")
    if isinstance(function, Mapping):
        called["function_call"] = _present(function, ("name", "arguments"))
    return called


def _settle_content(message: dict[str, Any]) -> None:
    """Put `content` where it belongs, behind the role, with the value it may have."""
    content = message.pop("content", None)
    rest = {name: message.pop(name) for name in tuple(message) if name != "role"}
    if "tool_calls" in rest or "function_call" in rest:
        message["content"] = content or None
    elif content or "audio" not in rest:
        message["content"] = content or ""
    message |= rest
