"""
Tool calls in fragments: which call a fragment belongs to, and what it adds.

Servers disagree: some send an index and an id once, some repeat them, some reuse
index 0 for every call, some send no index at all.  `ToolCalls` decides; each
decision is a row of `docs/merge-rules.md`.  Arguments are never parsed into the
response and never repaired.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._cells import is_index, merge_object, set_last
from ._errors import quote
from ._json import encode, is_whole_object
from ._kinds import dict_entries
from ._scan import NestingScan
from ._state import Cell, Context, State, Text
from ._views import copy_json


__all__ = ["Call", "FunctionCallText", "ToolCalls"]

FUNCTION = ("function", "arguments")
CUSTOM = ("custom", "input")


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _label(entry: dict[str, Any], name: str, context: Context) -> str:
    """Return what *entry* has as its *name*; `""` if that is nothing, or no string."""
    value = entry.get(name)
    if value is not None and not isinstance(value, str):
        context.refuse("bad_type", f"expected str, got {quote(value)}", f"$..tool_calls..{name}")
    return context.mend(_text_of(value))


class FunctionCallText(Cell):
    """
    What to call and what with: a name, and arguments (or input) in pieces.

    Args:
        text_name: `"arguments"`, or `"input"` for custom tools.
    """

    __slots__ = ("_fields", "_is_whole", "_scan", "_text", "name", "text_name")

    def __init__(self, text_name: str = "arguments") -> None:
        self.text_name = text_name
        self._text = Text()
        self._text.untold = []
        self._fields: State = {}
        self._scan: NestingScan | None = NestingScan()
        self._is_whole = False
        self.name = ""

    def add(self, fields: dict[str, Any], context: Context) -> None:
        """Merge *fields*, the next piece."""
        for name, value in fields.items():
            if value is None:
                continue
            if name == "name" and isinstance(value, str):
                self._add_name(value, context)
            elif name == self.text_name:
                self._text.add(self.text_of(value, context), context)
            else:
                set_last(self._fields, {name: value}, context)

    def _add_name(self, piece: str, context: Context) -> None:
        """Take a name that comes whole, again, growing, or in pieces before the arguments."""
        piece = context.mend(piece)
        if piece == self.name or (self.name and self._text.size):
            return
        name, self.name = self.name, ""  # no other reference: so `+=` need not copy
        if piece.startswith(name):
            name = ""  # the piece repeats all before it
        name += piece
        self.name = name

    def text_of(self, value: Any, context: Context) -> str:
        """Return *value* as text: an object that should have been a string is encoded once."""
        if isinstance(value, str):
            return value
        context.issue("arguments_encoded", f"{self.text_name} came as {quote(value)}")
        return encode(value)

    def repeats(self, piece: str) -> bool:
        """Tell whether *piece* is the whole text so far, and that is a whole JSON object."""
        if len(piece) != self._text.size:
            return False  # and nothing is joined to see it
        return piece == self._text.so_far() and self.is_whole()

    def is_whole(self) -> bool:
        """Tell whether the text so far is one whole JSON object; linear over all calls."""
        new = "".join(self._text.untold or ())
        self._text.untold = []
        if self._is_whole:
            self._is_whole = not new.strip()
        elif self._scan is not None and self._scan.feed(new.encode(errors="replace")):
            self._is_whole = is_whole_object(self._text.so_far())
            self._scan = None  # it has closed: whole now, or never
        return self._is_whole

    @property
    def text(self) -> Text:
        """The arguments, or the input."""
        return self._text

    def value(self, context: Context) -> dict[str, Any]:
        """Return the object so far; a name that never came is null."""
        text = self._text.value(context)
        return {
            "name": self.name or None,
            self.text_name: text,
            **copy_json(self._fields),
        }


class Call(Cell):
    """One tool call."""

    __slots__ = ("_custom", "_fields", "_function", "id", "index", "type")

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.id = ""
        self.type = ""
        self._function: FunctionCallText | None = None
        self._custom: FunctionCallText | None = None
        self._fields: State = {}

    @property
    def name(self) -> str:
        """The name so far, of the function or the custom tool."""
        return "" if self.callee is None else self.callee.name

    @property
    def callee(self) -> FunctionCallText | None:
        """What is called: the function, or the custom tool."""
        return self._function or self._custom

    @property
    def arguments(self) -> Text | None:
        """The arguments so far, if this is a function's call."""
        return None if self._function is None else self._function.text

    def is_whole(self) -> bool:
        """Tell whether the arguments so far are a whole JSON object."""
        return self._function is not None and self._function.is_whole()

    def add(self, entry: dict[str, Any], context: Context) -> None:
        """Merge *entry*, a fragment of this call."""
        self._note_id(_label(entry, "id", context), context)
        self.type = self.type or _label(entry, "type", context)
        for name, value in entry.items():
            if name in {"index", "id", "type"} or value is None:
                continue
            if name in {"function", "custom"} and isinstance(value, dict):
                self._add_callee(name, value, entry, context)
            elif isinstance(value, dict):
                merge_object(self._fields, name, value, context)
            else:
                set_last(self._fields, {name: value}, context)

    def _note_id(self, new: str, context: Context) -> None:
        if new and self.id and new != self.id:
            context.issue("tool_call_id_changed", f"from {quote(self.id)} to {quote(new)}")
        self.id = self.id or new

    def _add_callee(
        self, name: str, fields: dict[str, Any], entry: dict[str, Any], context: Context
    ) -> None:
        callee = self._function if name == "function" else self._custom
        if callee is None:
            callee = FunctionCallText("arguments" if name == "function" else "input")
            if name == "function":
                self._function = callee
            else:
                self._custom = callee
        elif self._is_summary(callee, fields, entry):
            context.issue("arguments_repeated", f"of call {quote(self.id)}")
            return
        callee.add(fields, context)

    def _is_summary(
        self,
        callee: FunctionCallText,
        fields: dict[str, Any],
        entry: dict[str, Any],
    ) -> bool:
        """Tell whether a closing fragment repeats the call: same id, same name, all arguments."""
        if not self.id or entry.get("id") != self.id or fields.get("name") != callee.name:
            return False
        text = fields.get(callee.text_name)
        return callee.repeats(encode(text) if isinstance(text, dict) else _text_of(text))

    def value(self, context: Context) -> dict[str, Any]:
        """Return the call so far, as the full object has it: without index."""
        is_custom = self._custom is not None and self._function is None
        value: dict[str, Any] = {
            "id": self.id or None,
            "type": self.type or ("custom" if is_custom else "function"),
        }
        if self._function is not None:
            value["function"] = self._function.value(context)
        if self._custom is not None:
            value["custom"] = self._custom.value(context)
        return {**value, **copy_json(self._fields)}


class ToolCalls(Cell):
    """The tool calls of one choice."""

    __slots__ = ("_by_id", "_by_index", "_calls")

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._by_index: dict[int, Call] = {}
        self._by_id: dict[str, Call] = {}

    def add(self, entries: list[Any], context: Context) -> None:
        """Merge *entries*, the fragments in one chunk."""
        for position, entry in enumerate(entries):
            path = f"$..tool_calls[{position}]"
            if not isinstance(entry, dict):
                context.refuse("bad_type", f"expected an object, got {quote(entry)}", path)
                continue
            index = entry.get("index")
            if index is not None and not is_index(index, context.limits.index):
                context.refuse("index_range", f"the index is {quote(index)}", path)
                continue
            if not any(value for name, value in entry.items() if name != "index"):
                continue  # says nothing: no call is made up
            call = self._call_for(index, entry, context)
            call.add(entry, context)
            if call.id:
                self._by_id[call.id] = call

    @property
    def calls(self) -> Sequence[Call]:
        """The calls so far, in order of arrival."""
        return self._calls

    def touched_by(self, entries: Any) -> list[Call]:
        """Return the calls that *entries*, which were just added, may have changed; or more."""
        calls = self._calls[-1:]
        for entry in dict_entries(entries):
            index, identity = entry.get("index"), entry.get("id")
            known = self._by_index.get(index) if isinstance(index, int) else None
            named = self._by_id.get(identity) if isinstance(identity, str) else None
            calls += [call for call in (known, named) if call is not None]
        return list(dict.fromkeys(calls))

    def arguments_at(self, index: Any) -> Text | None:
        """Return the arguments of the call under *index*, if there is one."""
        call = self._by_index.get(index)
        return None if call is None else call.arguments

    def _call_for(self, index: int | None, entry: dict[str, Any], context: Context) -> Call:
        identity = context.mend(_text_of(entry.get("id")))
        name = _name_of(entry)
        if index is None:
            call = self._unindexed(identity, name)
        else:
            call = self._indexed(index, identity, name, context)
        return self._open(index, context) if call is None else call

    def _indexed(self, index: int, identity: str, name: str, context: Context) -> Call | None:
        """Return the call that a fragment under *index* goes on with, or None for a new one."""
        known = self._by_id.get(identity)
        if known is not None and known.index == index:
            self._by_index[index] = known  # others may have come under the same index since
            return known
        call = self._by_index.get(index)
        if call is not None and _opens_another(call, identity, name):
            context.issue("index_reused", f"another call under index {index}")
            return None
        return call

    def _unindexed(self, identity: str, name: str) -> Call | None:
        """Return the call that a fragment without index goes on with, or None for a new one."""
        last = self._calls[-1] if self._calls else None
        if identity:
            known = self._by_id.get(identity)
            starts = last is None or bool(last.id) or bool(name)
            return known or (None if starts else last)
        if last is None or not name:
            return last
        return None if name != last.name or last.is_whole() else last

    def _open(self, index: int | None, context: Context) -> Call:
        context.limits.check("tool_calls", len(self._calls) + 1, context.offset)
        call = Call(index)
        self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        return call

    def value(self, context: Context) -> list[Any] | None:
        """Return the calls so far, ordered by index, then arrival; None if there is none."""
        calls = sorted(self._calls, key=lambda call: (call.index is None, call.index or 0))
        return [call.value(context) for call in calls] or None


def _name_of(entry: dict[str, Any]) -> str:
    for callee in (entry.get("function"), entry.get("custom")):
        if isinstance(callee, dict) and _text_of(callee.get("name")):
            return _text_of(callee.get("name"))
    return ""


def _opens_another(call: Call, identity: str, name: str) -> bool:
    """Tell whether a fragment under a used index is a call of its own, not a continuation."""
    if not name:
        return False
    if identity and call.id:
        return identity != call.id
    return call.is_whole()
