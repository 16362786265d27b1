"""Calls of tools in fragments: the inverse of `ToolCalls` and `FunctionCallText`."""

from __future__ import annotations

from typing import Any

from ._text import TextCutter


__all__ = ["call_fragments", "callee_fragments"]

# {} would say nothing, so that there would be no call.
NOTHING = {"type": "function"}
TEXT_NAMES = {"function": "arguments", "custom": "input"}


def callee_fragments(callee: Any, text_name: str, cutter: TextCutter) -> list[Any]:
    """Return *callee*, a name and a text, in fragments: the first has all but the text."""
    if type(callee) is not dict or type(callee.get(text_name, "")) is not str:
        return [callee]
    text = callee.get(text_name, "")
    pieces = cutter.pieces(text) if text else []
    return [{**callee, text_name: ""}, *({text_name: piece} for piece in pieces)]


def call_fragments(call: Any, index: int, cutter: TextCutter, *, whole: bool) -> list[Any]:
    """
    Return *call*, an entry of `tool_calls`, in fragments under *index*.

    The first says what is called; those after it have index and text alone, so that
    none of them can be taken for another call.
    """
    if type(call) is not dict:
        return [call]
    first = {"index": index, **(call or NOTHING)} | {"index": index}
    rest: list[Any] = []
    for name, text_name in TEXT_NAMES.items():
        if type(call.get(name)) is dict and whole:
            first[name] = {text_name: "", **call[name]}
        elif type(call.get(name)) is dict:
            first[name], *others = callee_fragments(call[name], text_name, cutter)
            rest += [{"index": index, name: other} for other in others]
    return [first, *rest]
