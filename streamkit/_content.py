"""Whether a chunk adds to the answer, or only says something about it."""

from __future__ import annotations

from typing import Any

from ._kinds import dict_entries
from ._rules import RULES


__all__ = ["adds_content", "is_content"]

# What is text for the rules of merging, but no text of the answer.
LABELS = frozenset({"role", *RULES["chat"].delta.identities})


def adds_content(chunk: Any) -> bool:
    """
    Tell whether *chunk* adds text or a tool call; what is no chunk does not.

    >>> adds_content({"choices": [{"delta": {"role": "assistant", "content": ""}}]})
    False
    >>> adds_content({"choices": [{"delta": {"reasoning_content": "So"}}]})
    True
    """
    return type(chunk) is dict and any(map(_adds, dict_entries(chunk.get("choices"))))


def _adds(choice: dict[str, Any]) -> bool:
    if choice.get("text"):
        return True
    parts = (choice.get("delta"), choice.get("message"))
    return any(
        is_content(name, value)
        for part in parts
        if type(part) is dict
        for name, value in part.items()
    )


def is_content(name: str, value: Any) -> bool:
    """Tell whether *value* of the field *name* of a delta is text or a tool call."""
    if name == "tool_calls":
        return any(map(_is_call, dict_entries(value)))
    # Numbers and flags are about the answer, and no part of it.
    is_label = name in LABELS or name.endswith("_id")
    return isinstance(value, (str, list, dict)) and bool(value) and not is_label


def _is_call(call: dict[str, Any]) -> bool:
    """Tell whether *call* has a name or arguments, and not just an id."""
    parts = (call.get("function"), call.get("custom"))
    return any(any(part.values()) for part in parts if type(part) is dict)
