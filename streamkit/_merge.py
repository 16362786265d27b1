"""
What each merge rule does: `apply(state, name, value, rule, context)`.

A state maps field names to what is kept for them: the value itself, or a cell
(`Text`, `ToolCalls`, …) where more is needed than the last value.  Values handed
to a rule are never null, and never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ._cells import Audio, ByIndex, Content, Distinct, ReasoningDetails, merge_object, set_last
from ._errors import quote
from ._issues import ISSUES
from ._logprobs import Logprobs
from ._rules import Rule, Table
from ._state import Context, State, Text, is_empty
from ._tools import FunctionCallText, ToolCalls


__all__ = ["has_number", "merge_fields"]

Apply = Callable[[State, str, Any, Context], None]


def merge_fields(state: State, fields: Mapping[str, Any], table: Table, context: Context) -> None:
    """Merge each of *fields* into *state* by its rule in *table*."""
    rules = table.fields
    for name, value in fields.items():
        if value is None:
            continue
        kept = state.get(name)
        if kept is not None and (is_empty(value) or _is_same(kept, value)):
            continue
        rule = rules.get(name)
        if rule is None:
            _merge_unknown(state, name, value, table, context)
        elif rule is not Rule.DROP:
            APPLY[rule](state, name, value, context)


def _merge_unknown(state: State, name: Any, value: Any, table: Table, context: Context) -> None:
    """Merge a field that has no rule of its own, under a name that can be written as JSON."""
    if not isinstance(name, str):
        context.refuse("bad_type", f"a field's name is {quote(name)}", "$..")
        return
    name = context.mend(name)
    APPLY[table.rule_for(name, value)](state, name, value, context)


def _is_same(kept: Any, value: Any) -> bool:
    """
    Tell whether *value* is the very one that is *kept*: most fields of most chunks.

    No rule does anything with it then: one that adds up, or that refuses strings or
    numbers, keeps neither under the name of the field.
    """
    kind = type(value)
    return (kind is str or kind is int) and type(kept) is kind and bool(kept == value)


# -- One value -----------------------------------------------------------------------


def _drop(state: State, name: str, value: Any, context: Context) -> None:
    """Nothing is kept."""


def _first(state: State, name: str, value: Any, context: Context) -> None:
    if is_empty(state.get(name)):
        state[name] = context.keep(value)


def _first_reported(state: State, name: str, value: Any, context: Context) -> None:
    if not isinstance(value, str):
        context.refuse("bad_type", f"expected str, got {type(value).__name__}", f"$..{name}")
        return
    _report_change(state, name, value, context)
    _first(state, name, value, context)


def _first_nonzero(state: State, name: str, value: Any, context: Context) -> None:
    if not state.get(name) and value != 0:
        state[name] = context.keep(value)


def _last(state: State, name: str, value: Any, context: Context) -> None:
    if not is_empty(value):
        state[name] = context.keep(value)


def _last_reported(state: State, name: str, value: Any, context: Context) -> None:
    _report_change(state, name, value, context)
    _last(state, name, value, context)


def _report_change(state: State, name: str, value: Any, context: Context) -> None:
    old = state.get(name)
    if is_empty(value) or is_empty(old) or context.keep(value) == old:
        return
    code, change = f"{name}_changed", f"from {quote(old)} to {quote(value)}"
    if code in ISSUES:
        context.issue(code, change)
    else:
        context.issue("value_changed", f"{name}: {change}")


def _finish_reason(state: State, name: str, value: Any, context: Context) -> None:
    if value != "null":
        _last(state, name, value, context)


def _usage(state: State, name: str, value: Any, context: Context) -> None:
    if not isinstance(value, dict):
        context.refuse("bad_type", f"expected an object, got {quote(value)}", f"$.{name}")
    elif value and (has_number(value) or not has_number(state.get(name))):
        state[name] = context.keep(value)


def has_number(value: Any) -> bool:
    """Tell whether a usage report counts anything: a number in it is not zero."""
    if isinstance(value, dict):
        return any(map(has_number, value.values()))
    return isinstance(value, (int, float)) and value != 0


# -- Objects, strings and lists ------------------------------------------------------


def _merge(state: State, name: str, value: Any, context: Context) -> None:
    if isinstance(value, dict):
        merge_object(state, name, value, context)
    else:
        _last(state, name, value, context)


def _merge_categories(state: State, name: str, value: Any, context: Context) -> None:
    if not isinstance(value, dict):
        _last(state, name, value, context)
        return
    kept = state.get(name)
    if type(kept) is not dict:
        kept = state[name] = {}
    set_last(kept, value, context)


def _concat(state: State, name: str, value: Any, context: Context) -> None:
    if not isinstance(value, str):
        context.refuse("bad_type", f"expected str, got {quote(value)}", f"$..{name}")
        return
    text = state.get(name)
    if type(text) is not Text:
        text = state[name] = Text()
    text.add(value, context)


def _extend(state: State, name: str, value: Any, context: Context) -> None:
    if not isinstance(value, list):
        context.refuse("bad_type", f"expected an array, got {quote(value)}", f"$..{name}")
        return
    kept = state.setdefault(name, [])
    if type(kept) is list:
        kept.extend(context.keep(value))


def _collect(state: State, name: str, value: Any, context: Context) -> None:
    _extend(state, f"{name}s", [value], context)


def _by_index(state: State, name: str, value: Any, context: Context) -> None:
    if not isinstance(value, list):
        _last(state, name, value, context)
        return
    if type(state.get(name)) is not ByIndex:
        state[name] = ByIndex()
    state[name].add(value, context)


def _distinct(state: State, name: str, value: Any, context: Context) -> None:
    kept = state.get(name)
    if isinstance(value, dict) and not (type(kept) is Distinct and kept.entries):
        _merge(state, name, value, context)
    elif isinstance(value, list) and (kept is None or type(kept) is Distinct):
        if kept is None:
            kept = state[name] = Distinct()
        kept.add(value, context)
    else:
        context.refuse("bad_type", f"neither list nor object: {quote(value)}", f"$..{name}")


def _into(cell: Callable[[], Any], *types: type) -> Apply:
    """Return the rule that hands values of *types* to a cell."""

    def add(state: State, name: str, value: Any, context: Context) -> None:
        if not isinstance(value, types):
            names = " or ".join(kind.__name__ for kind in types)
            context.refuse("bad_type", f"expected {names}, got {quote(value)}", f"$..{name}")
            return
        kept = state.get(name)
        if kept is None and (value or isinstance(value, str)):  # {} and [] say nothing
            kept = state[name] = cell()
        if kept is not None:
            kept.add(value, context)

    return add


APPLY: Mapping[Rule, Apply] = {
    Rule.FIRST: _first,
    Rule.FIRST_REPORTED: _first_reported,
    Rule.FIRST_NONZERO: _first_nonzero,
    Rule.LAST: _last,
    Rule.LAST_REPORTED: _last_reported,
    Rule.MERGE: _merge,
    Rule.MERGE_CATEGORIES: _merge_categories,
    Rule.CONCAT: _concat,
    Rule.EXTEND: _extend,
    Rule.EXTEND_DISTINCT: _distinct,
    Rule.BY_INDEX: _by_index,
    Rule.COLLECT: _collect,
    Rule.DROP: _drop,
    Rule.FINISH_REASON: _finish_reason,
    Rule.USAGE: _usage,
    Rule.LOGPROBS: _into(Logprobs, dict),
    Rule.CONTENT: _into(Content, str, list),
    Rule.TOOL_CALLS: _into(ToolCalls, list),
    Rule.FUNCTION_CALL: _into(FunctionCallText, dict),
    Rule.AUDIO: _into(Audio, dict),
    Rule.REASONING_DETAILS: _into(ReasoningDetails, list),
}
