"""
A message in deltas: for each merge rule, how a value comes apart.

This is `streamkit._merge` read backwards.  A value that no pieces give back is
left whole here, and found by the check at the end of `chunk_up`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from streamkit._rules import RULES, Rule

from ._calls import call_fragments, callee_fragments
from ._dialects import Dialect
from ._parts import detail_pieces, part_pieces
from ._text import TextCutter


__all__ = ["Cutting", "deltas_of"]

DELTA = RULES["chat"].delta
# A model reasons, then speaks, then calls; what is about the text comes after it.
EARLY = ("reasoning", "reasoning_content", "reasoning_details", "content", "refusal")
AUDIO_TEXTS = ("transcript", "data")


@attrs.frozen
class Cutting:
    """How to cut: the dialect, the cutter, and whether parallel calls take turns."""

    dialect: Dialect
    cutter: TextCutter
    interleave: bool


Pieces = Callable[[Any, Cutting], list[Any]]


def _whole(value: Any, _: Cutting) -> list[Any]:
    return [value]


def _text(value: Any, cutting: Cutting) -> list[Any]:
    return list(cutting.cutter.pieces(value)) if type(value) is str else [value]


def _content(value: Any, cutting: Cutting) -> list[Any]:
    if type(value) is not list or not value:
        return _text(value, cutting)
    return [[piece] for part in value for piece in part_pieces(part, cutting.cutter)]


def _entries(value: Any, _: Cutting) -> list[Any]:
    return [[entry] for entry in value] if type(value) is list and value else [value]


def _details(value: Any, cutting: Cutting) -> list[Any]:
    if type(value) is not list or not value:
        return [value]
    return [[piece] for entry in value for piece in detail_pieces(entry, cutting.cutter)]


def _tool_calls(value: Any, cutting: Cutting) -> list[Any]:
    if type(value) is not list or not value:
        return [value]
    whole = cutting.dialect.calls == "whole"
    lanes = [
        call_fragments(call, index, cutting.cutter, whole=whole) for index, call in enumerate(value)
    ]
    if cutting.interleave:
        return [[piece] for piece in cutting.cutter.dice.interleaved(lanes)]
    return [[piece] for lane in lanes for piece in lane]


def _function_call(value: Any, cutting: Cutting) -> list[Any]:
    if cutting.dialect.calls == "whole" and value:
        return [value]
    return callee_fragments(value, "arguments", cutting.cutter)


def _audio(value: Any, cutting: Cutting) -> list[Any]:
    if type(value) is not dict:
        return [value]
    texts = [name for name in AUDIO_TEXTS if type(value.get(name)) is str]
    # {} would say nothing, so that there would be no audio: null says as little, but it does.
    first = {name: item for name, item in value.items() if name not in texts} or {"id": None}
    rest = [{name: piece} for name in texts for piece in _audio_pieces(name, value[name], cutting)]
    return [first, *rest]


def _audio_pieces(name: str, text: str, cutting: Cutting) -> list[str]:
    """Cut *text*; base64 is never cut at its padding, which says that an encoding ends."""
    body = text.rstrip("=") if name == "data" else text
    if name == "data" and "=" in body:
        return [text]
    *pieces, last = cutting.cutter.pieces(body)
    return [*pieces, last + text[len(body) :]]


PIECES: Mapping[Rule, Pieces] = {
    Rule.CONCAT: _text,
    Rule.CONTENT: _content,
    Rule.EXTEND_DISTINCT: _entries,
    Rule.BY_INDEX: _entries,
    Rule.REASONING_DETAILS: _details,
    Rule.TOOL_CALLS: _tool_calls,
    Rule.FUNCTION_CALL: _function_call,
    Rule.AUDIO: _audio,
}


def deltas_of(
    message: Mapping[str, Any], cutting: Cutting, cut: Mapping[str, list[str]]
) -> list[dict[str, Any]]:
    """
    Return the deltas of all fields of *message* that are not null, but for the role.

    Args:
        message: The message.
        cutting: How to cut.
        cut: The pieces of fields that are cut already, by name.
    """

    def pieces(name: str, value: Any) -> list[Any]:
        if name in cut:
            return cut[name]
        return PIECES.get(DELTA.rule_for(name, value), _whole)(value, cutting)

    names = [*(name for name in EARLY if name in message), *message]
    names = [name for name in dict.fromkeys(names) if name != "role" and message[name] is not None]
    return [{name: piece} for name in names for piece in pieces(name, message[name])]
