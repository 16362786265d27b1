"""One choice in entries: what each chunk of it has in its `choices`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from streamkit._kinds import Kind
from streamkit._rules import RULES, Rule
from streamkit._views import copy_json

from ._deltas import Cutting, deltas_of
from ._dialects import Dialect
from ._slices import Columns, Slice, columns_of, shares, slices


__all__ = ["lane_of"]

# Which text a list of log probabilities is about.
ABOUT: Mapping[Kind, Mapping[str, str]] = {
    "chat": {"content": "content", "refusal": "refusal", "tokens": "content"},
    "completion": {"content": "text", "tokens": "text"},
}
OWN = frozenset({"index", "message", "text", "logprobs", "finish_reason"})


@attrs.define
class Step:
    """What one chunk adds to a choice: fields of its delta, or text, and log probabilities."""

    fields: dict[str, Any]
    logprobs: Any = None


def lane_of(choice: dict[str, Any], kind: Kind, cutting: Cutting) -> list[dict[str, Any]]:
    """Return the entries of *choice*, in their order; at least one."""
    dialect = cutting.dialect
    steps = _chat_steps(choice, cutting) if kind == "chat" else _text_steps(choice, cutting)
    if not steps or (dialect.finish == "alone" and choice.get("finish_reason") is not None):
        steps.append(Step({} if kind == "chat" else {"text": ""}))
    if kind == "chat":
        _complete_deltas(steps, choice["message"], dialect)
    present = [name for name in ("logprobs", "finish_reason") if name in choice]
    nulls: dict[str, None] = dict.fromkeys([*present, *dialect.nulls])
    entries = [_entry(step, choice["index"], kind, nulls) for step in steps]
    if choice.get("finish_reason") is not None:
        entries[-1]["finish_reason"] = choice["finish_reason"]
    _add_fields(entries, choice, kind, dialect)
    return entries


def _entry(step: Step, index: int, kind: Kind, nulls: dict[str, None]) -> dict[str, Any]:
    fields = {"delta": step.fields} if kind == "chat" else step.fields
    entry = {"index": index, **fields, **nulls}
    if step.logprobs is not None:
        entry["logprobs"] = step.logprobs
    return entry


# -- Texts, and log probabilities beside them ----------------------------------------


def _beside(
    texts: Mapping[str, Any], logprobs: Any, kind: Kind, cutting: Cutting
) -> tuple[dict[str, tuple[Columns, list[Slice]]], list[Step]]:
    """Return the texts of *texts* that are cut with their log probabilities, and what is left."""
    cut: dict[str, tuple[Columns, list[Slice]]] = {}
    alone: list[Step] = []
    if logprobs is None:
        return cut, alone
    columns = columns_of(logprobs) if type(logprobs) is dict else {}
    blank = {} if kind == "chat" else {"text": ""}
    for about, group in columns.items():
        name = ABOUT[kind].get(about, "")
        text = texts.get(name)
        if name not in cut and type(text) is str:
            cut[name] = group, slices(text, group, cutting.cutter)
        else:
            alone.append(Step(dict(blank), group.between(0, group.count)))
    if not columns:  # null under each key: still it is no null itself
        alone.append(Step(dict(blank), logprobs or {"content": None}))
    return cut, alone


def _chat_steps(choice: dict[str, Any], cutting: Cutting) -> list[Step]:
    message = choice["message"]
    cut, alone = _beside(message, choice.get("logprobs"), "chat", cutting)
    pieces = {name: [each.text for each in found] for name, (_, found) in cut.items()}
    waiting: dict[str, Iterator[Any]] = {
        name: iter([group.between(each.start, each.end) for each in found])
        for name, (group, found) in cut.items()
    }
    steps = [Step({})] if cutting.dialect.opening else []
    for delta in deltas_of(message, cutting, pieces):
        (name,) = delta
        steps.append(Step(delta, next(waiting[name]) if name in waiting else None))
    return steps + alone


def _text_steps(choice: dict[str, Any], cutting: Cutting) -> list[Step]:
    text = choice.get("text")
    cut, alone = _beside({"text": text}, choice.get("logprobs"), "completion", cutting)
    if "text" in cut:
        group, found = cut["text"]
        steps = [Step({"text": each.text}, group.between(each.start, each.end)) for each in found]
    elif type(text) is str:
        steps = [Step({"text": piece}) for piece in cutting.cutter.pieces(text)]
    else:
        steps = [Step({"text": text})]
    steps += alone
    if cutting.dialect.token:
        missing = len(_tokens(choice)) - len(steps)
        steps += [Step({"text": ""}) for _ in range(missing)]
    return steps


def _tokens(choice: dict[str, Any]) -> list[int]:
    """Return the ids of tokens that can be sent one by one."""
    tokens = choice.get("tokens")
    is_list = type(tokens) is list and all(type(token) is int for token in tokens)
    return tokens if is_list and tokens else []


# -- Deltas --------------------------------------------------------------------------


def _complete_deltas(steps: list[Step], message: dict[str, Any], dialect: Dialect) -> None:
    """Give each delta the role and the content that the dialect has there."""
    has_text = type(message.get("content")) is str
    role = {"role": message["role"]} if "role" in message else {}
    blank: dict[str, Any] = {"content": None} if dialect.blank == "null" else {}
    if dialect.blank == "empty" and has_text:
        blank = {"content": ""}
    nulls = {name: None for name, value in message.items() if value is None}
    for number, step in enumerate(steps):
        before = dict(role) if number == 0 or dialect.role == "each" else {}
        if number == 0:
            before |= {"content": ""} if has_text and not step.fields else {}
            before |= {name: None for name in nulls if name != "role"}
        step.fields = {**before, **blank, **step.fields}


# -- Other fields of the choice ------------------------------------------------------


def _add_fields(
    entries: list[dict[str, Any]], choice: dict[str, Any], kind: Kind, dialect: Dialect
) -> None:
    for name, value in choice.items():
        if name in OWN:
            continue
        if dialect.token and name == "tokens" and kind == "completion" and _tokens(choice):
            for entry, token in zip(entries, value, strict=False):
                entry["token"] = token
        elif type(value) is list and RULES[kind].choice.rule_for(name, value) is Rule.EXTEND:
            for entry, (start, end) in zip(entries, shares(len(value), len(entries)), strict=True):
                entry[name] = value[start:end]
        elif value is None or name in dialect.each:
            for entry in entries:
                entry[name] = copy_json(value)
        else:
            entries[-1][name] = value
