"""
Cells of the delta's fields that need more than their last value: content in
parts, annotations, lists by index, reasoning details, audio.
"""

from __future__ import annotations

import base64
import binascii

from collections.abc import Sequence
from typing import Any, TypeGuard

from ._errors import quote
from ._json import MAX_DEPTH, encode
from ._state import Cell, Context, State, Text, is_empty, plain_value, plain_values


__all__ = [
    "Audio",
    "ByIndex",
    "Content",
    "Distinct",
    "Part",
    "ReasoningDetails",
    "is_index",
    "merge_object",
    "set_last",
]

# Neighbours of these types merge, as in the body that is not streamed.
MERGING_PARTS = frozenset({"text", "thinking"})
DETAIL_TEXTS = frozenset({"text", "summary", "data"})


def is_index(value: Any, limit: int | None) -> TypeGuard[int]:
    """Tell whether *value* can be an index: a real integer from 0 to *limit*."""
    return type(value) is int and value >= 0 and (limit is None or value <= limit)


def set_last(state: State, fields: dict[str, Any], context: Context) -> None:
    """Keep the last non-empty value of each of *fields*."""
    for name, value in fields.items():
        key = context.name(name)
        if value is not None and (not is_empty(value) or is_empty(state.get(key))):
            state[key] = context.keep(value)


def merge_object(
    state: State, name: str, value: dict[str, Any], context: Context, room: int = MAX_DEPTH
) -> None:
    """
    Merge an object key by key, objects in it likewise; other values are set.

    Raises:
        RecursionError: If it is nested deeper than *room*.
    """
    if not room:
        raise RecursionError
    name = context.name(name)
    kept = state.get(name)
    if type(kept) is not dict:
        if kept is not None and not value:
            return
        kept = state[name] = {}
    for key, item in value.items():
        if isinstance(item, dict):
            merge_object(kept, key, item, context, room - 1)
        else:
            set_last(kept, {key: item}, context)


def add_text(state: State, name: str, piece: str, context: Context) -> None:
    """Append *piece* to the text kept as *name*."""
    text = state.get(name)
    if type(text) is not Text:
        text = state[name] = Text()
    text.add(piece, context)


class Part(Cell):
    """One part of a content list; its text, or its thinking, may come in pieces."""

    __slots__ = ("_fields", "type")

    def __init__(self, kind: Any) -> None:
        self.type = kind
        self._fields: State = {}

    def add(self, part: dict[str, Any], context: Context) -> None:
        """Merge *part*, another piece of the same part."""
        for name, value in part.items():
            if name in MERGING_PARTS and isinstance(value, str):
                add_text(self._fields, name, value, context)
            elif name in MERGING_PARTS and isinstance(value, list):
                nested = self._fields.get(name)
                if type(nested) is not Content:
                    nested = self._fields[name] = Content()
                nested.add(value, context)
            else:
                set_last(self._fields, {name: value}, context)

    def cell(self, name: str) -> Any:
        """Return what is kept for the field *name*."""
        return self._fields.get(name)

    def value(self, context: Context) -> dict[str, Any]:
        """Return the part so far."""
        return plain_values(self._fields, context)


class Content(Cell):
    """
    The message's content: a string in pieces, or a list of parts.

    Once a list came it stays a list: earlier text becomes its first part, later
    text goes on in a text part at its end.
    """

    __slots__ = ("_parts", "_text")

    def __init__(self) -> None:
        self._text = Text()
        self._parts: list[Any] | None = None

    def add(self, value: str | list[Any], context: Context) -> None:
        """Append a string, or parts."""
        if isinstance(value, list):
            self._add_parts(value, context)
        elif self._parts is None:
            self._text.add(value, context)
        elif value:
            self._add_part({"type": "text", "text": value}, context)

    @property
    def text(self) -> Text | None:
        """The text that a string is appended to; None if there are parts."""
        return self._text if self._parts is None else None

    @property
    def parts(self) -> Sequence[Any]:
        """The parts, if it is a list."""
        return self._parts or ()

    def _add_parts(self, parts: list[Any], context: Context) -> None:
        if self._parts is None:
            self._parts = []
            text = self._text.so_far() + self._text.half
            if text:
                self._add_part({"type": "text", "text": text}, context)
        for part in parts:
            self._add_part(part, context)

    def _add_part(self, part: Any, context: Context) -> None:
        assert self._parts is not None
        if not isinstance(part, dict):
            self._parts.append(context.keep(part))
            return
        last = self._parts[-1] if self._parts else None
        kind = part.get("type")
        merges = isinstance(kind, str) and kind in MERGING_PARTS
        if not (merges and isinstance(last, Part) and last.type == kind):
            last = Part(kind)
            self._parts.append(last)
        last.add(part, context)

    def value(self, context: Context) -> str | list[Any]:
        """Return the string or the list so far."""
        if self._parts is None:
            return self._text.value(context)
        return [plain_value(part, context) for part in self._parts]


class Distinct(Cell):
    """A list without exact repeats, such as annotations that are sent again."""

    __slots__ = ("_seen", "entries")

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self._seen: set[str] = set()

    def add(self, entries: list[Any], context: Context) -> None:
        """Append those of *entries* that are new."""
        for entry in entries:
            key = _spelled(entry)
            if key not in self._seen:
                self._seen.add(key)
                self.entries.append(context.keep(entry))

    def value(self, context: Context) -> list[Any]:
        """Return the entries so far."""
        return [plain_value(entry, context) for entry in self.entries]


def _spelled(entry: Any) -> str:
    try:
        return encode(entry)
    except (TypeError, RecursionError):  # no JSON, but a caller's own objects
        return quote(entry)


class ByIndex(Cell):
    """A list whose entries may carry an index: those merge by it, others are appended."""

    __slots__ = ("_by_index", "_entries")

    def __init__(self) -> None:
        self._entries: list[Any] = []
        self._by_index: dict[int, State] = {}

    def add(self, entries: list[Any], context: Context) -> None:
        """Merge or append *entries*."""
        for entry in entries:
            index = entry.get("index") if isinstance(entry, dict) else None
            if is_index(index, context.limits.index):
                set_last(self._entry_at(index), entry, context)
            else:
                self._entries.append(context.keep(entry))

    def _entry_at(self, index: int) -> State:
        kept = self._by_index.get(index)
        if kept is None:
            kept = self._by_index[index] = {}
            self._entries.append(kept)
        return kept

    def value(self, context: Context) -> list[Any]:
        """Return the entries so far, in order of arrival."""
        return [plain_value(entry, context) for entry in self._entries]


class ReasoningDetails(Cell):
    """
    Reasoning in parts, told apart by index and type.

    Text, summary and data come in pieces.  Another id under the same pair, or no
    index at all, is another entry.
    """

    __slots__ = ("_by_key", "_entries")

    def __init__(self) -> None:
        self._entries: list[Any] = []
        self._by_key: dict[tuple[Any, Any], State] = {}

    def add(self, entries: list[Any], context: Context) -> None:
        """Merge *entries*."""
        for entry in entries:
            if isinstance(entry, dict):
                self._merge(self._entry_for(entry, context), entry, context)
            else:
                self._entries.append(context.keep(entry))

    def _entry_for(self, entry: dict[str, Any], context: Context) -> State:
        index, kind = entry.get("index"), entry.get("type")
        if not is_index(index, context.limits.index):
            return self._open()
        key = (index, kind if isinstance(kind, str) else None)
        kept = self._by_key.get(key)
        if kept is None or _differ(kept.get("id"), context.keep(entry.get("id"))):
            kept = self._by_key[key] = self._open()
        return kept

    def _open(self) -> State:
        kept: State = {}
        self._entries.append(kept)
        return kept

    def _merge(self, kept: State, entry: dict[str, Any], context: Context) -> None:
        for name, value in entry.items():
            if name in DETAIL_TEXTS and isinstance(value, str):
                add_text(kept, name, value, context)
            else:
                set_last(kept, {name: value}, context)

    def value(self, context: Context) -> list[Any]:
        """Return the entries so far, in order of arrival."""
        return [plain_value(entry, context) for entry in self._entries]


def _differ(old: Any, new: Any) -> bool:
    return not is_empty(old) and not is_empty(new) and old != new


class Audio(Cell):
    """
    Spoken output in pieces.

    Data is base64 text.  Pieces cut from one encoding are concatenated; where a
    piece before the last ends in padding, an encoding ended there, so all are
    decoded, and the bytes encoded once.
    """

    __slots__ = ("_ended", "_fields", "_open")

    def __init__(self) -> None:
        self._fields: State = {}
        self._ended: list[str] = []  # encodings that ended in padding
        self._open: list[str] = []

    def add(self, audio: dict[str, Any], context: Context) -> None:
        """Merge *audio*, the next piece."""
        for name, value in audio.items():
            if name in {"data", "transcript"} and isinstance(value, str):
                self._add_piece(name, value, context)
            elif name in {"data", "transcript"} and value is not None:
                context.refuse("bad_type", f"expected str, got {quote(value)}", f"$..audio.{name}")
            elif name != "id" or is_empty(self._fields.get("id")):
                set_last(self._fields, {name: value}, context)

    def _add_piece(self, name: str, piece: str, context: Context) -> None:
        if name == "data":
            self._add_data(piece, context)
        else:
            add_text(self._fields, name, piece, context)

    def _add_data(self, data: str, context: Context) -> None:
        self._fields.setdefault("data")
        if not data:
            return
        if self._open and self._open[-1].endswith("="):
            self._ended.append("".join(self._open))
            self._open.clear()
        self._open.append(data)
        context.grow(len(data))

    def _joined(self) -> str:
        encodings = [*self._ended, "".join(self._open)]
        if len(encodings) > 1:
            try:
                pieces = [base64.b64decode(piece, validate=True) for piece in encodings]
            except (binascii.Error, ValueError):
                return "".join(encodings)
            return base64.b64encode(b"".join(pieces)).decode()
        return encodings[0]

    def value(self, context: Context) -> dict[str, Any]:
        """Return the audio object so far."""
        value = plain_values(self._fields, context)
        if "data" in value:
            value["data"] = context.mend(self._joined())
        return value
