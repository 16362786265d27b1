"""Entries of choices in, whole chunks out: heads, usage, what comes once."""

from __future__ import annotations

from typing import Any

import attrs

from streamkit._kinds import Kind
from streamkit._views import copy_json

from ._dialects import USAGE_FORMS, Dialect, UsageForm
from ._dice import Dice


__all__ = ["Assembly"]

OBJECTS: dict[Kind, str] = {"chat": "chat.completion.chunk", "completion": "text_completion"}
IDENTITY = ("id", "object", "created", "model")
NOBODY = {"id": "", "object": "", "created": 0, "model": ""}
LEAST, MOST = 4, 16  # letters of padding


@attrs.frozen
class Assembly:
    """
    How the chunks of *response* are put together.

    Raises:
        TypeError: If *usage* is no form of usage.
    """

    response: dict[str, Any]
    kind: Kind
    dialect: Dialect
    usage: UsageForm
    dice: Dice

    def __attrs_post_init__(self) -> None:
        if self.usage not in USAGE_FORMS:
            raise TypeError(f"usage must be one of {', '.join(USAGE_FORMS)}, not {self.usage!r}")

    def chunks(self, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the chunks, one for each of *entries* and those without any."""
        chunks = [{**self._head(), "choices": [entry]} for entry in entries]
        if not chunks:
            chunks.append({**self._head(), "choices": []})
        self._add_usage(chunks)
        self._add_others(chunks)
        if self.dialect.padding:
            for chunk in chunks:
                chunk[self.dialect.padding] = self.dice.letters(LEAST, MOST)
        if self.dialect.preface:
            fields = {name: self.response.get(name, []) for name in self.dialect.preface}
            chunks.insert(0, {**NOBODY, "choices": [], **fields})
        return chunks

    def _head(self) -> dict[str, Any]:
        head = {name: self.response[name] for name in IDENTITY if name in self.response}
        head["object"] = OBJECTS[self.kind]
        return {name: head[name] for name in IDENTITY if name in head}

    # -- Usage -------------------------------------------------------------------

    def _add_usage(self, chunks: list[dict[str, Any]]) -> None:
        usage = self.response.get("usage")
        form = "none" if usage is None else self.usage
        if form == "own":
            chunks.append({**self._head(), "choices": []})
        if self.dialect.usage_null:
            for chunk in chunks:
                chunk["usage"] = None
        if form == "each":
            for number, chunk in enumerate(chunks, 1):
                chunk["usage"] = _grown(usage, number, len(chunks))
        elif form == "choice" and chunks[-1]["choices"]:
            chunks[-1]["choices"][0]["usage"] = usage
        elif form != "none":
            chunks[-1]["usage"] = usage

    # -- All other fields --------------------------------------------------------

    def _add_others(self, chunks: list[dict[str, Any]]) -> None:
        """Put each field where it belongs: in each chunk, the first, or the last."""
        placed = {*IDENTITY, *self.dialect.preface, "choices", "usage"}
        for name, value in self.response.items():
            if name in placed:
                continue
            is_container = isinstance(value, (dict, list))
            if not is_container or name in self.dialect.each:
                for chunk in chunks:
                    chunk[name] = copy_json(value)
                continue
            if name in self.dialect.first:
                chunks[0][name] = copy_json(value)
            chunks[-1][name] = value


def _grown(usage: Any, part: int, whole: int) -> Any:
    """Return *usage* as it was after *part* of *whole* chunks, if it counts what grows."""
    grown = copy_json(usage)
    fields = usage if isinstance(usage, dict) else {}
    made, total = fields.get("completion_tokens"), fields.get("total_tokens")
    if type(made) is int and type(total) is int and 0 <= made <= total:
        so_far = made * part // whole
        grown |= {"completion_tokens": so_far, "total_tokens": total - made + so_far}
    return grown
