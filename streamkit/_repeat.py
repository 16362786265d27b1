"""
Chunk objects that are like the one before, merged by their differences alone.

This is the fast road of `Accumulator.add`, where chunks come as dicts.  From a
chunk that was merged by the rules, the holes are found as for a byte template
(`Plan`); a chunk with the same keys and, outside the holes, the same values adds
only what is in them.  Values are compared each time: the caller may have changed
what it got.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any

from ._choice import ChoiceAccumulator
from ._learn import RAW, Plan
from ._plain import parts_of
from ._rules import RuleSet
from ._spans import Path
from ._state import Context, Text


__all__ = ["Repeater"]

# After how many chunks that match none the next is learned, at most.
LONGEST_WAIT = 256
# Types of values that are the same if they are equal.
PLAIN = frozenset({str, type(None)})
# Names longer than this, in characters, are not worth keeping when the stream is over.
LONGEST_SHARED = 1024
# Where in the path of a hole the names of fields stand: of the chunk, the choice, the delta.
LEVELS = 0, 2, 3
# Where the arguments of a tool call stand, in the one fragment of a chunk.
ARGUMENTS: Path = ("choices", 0, "delta", "tool_calls", 0, "function", "arguments")

# The fields that holes are among: of the choice, of the delta, of a tool call's function.
Fields = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]
CHOICE, DELTA, FUNCTION = 0, 1, 2
PATHS: tuple[Path, ...] = ((), ("delta",), ARGUMENTS[2:-1])
PART_OF = {3: CHOICE, 4: DELTA, len(ARGUMENTS): FUNCTION}  # by the length of a hole's path
# A hole: among which fields; its name; the type of its values; what they are added to.
Place = tuple[int, str, type, Any]
Getter = Callable[[Mapping[str, Any]], Any]


class Level:
    """The part of a chunk at one level: which keys, and the values outside the holes."""

    __slots__ = ("get", "is_plain", "need", "size", "values")

    def __init__(self, fields: Mapping[str, Any], holes: set[str]) -> None:
        names = [name for name in fields if name not in holes]
        self.get = _getter(names)
        self.need = _getter([name for name in fields if name in holes])
        self.values = self.get(fields)
        self.size = len(fields)
        self.is_plain = all(type(fields[name]) in PLAIN for name in names)


def _getter(names: list[str]) -> Getter:
    """Return what gets *names* of a mapping, as a tuple unless there is just one."""
    if sum(map(len, map(str, names))) > LONGEST_SHARED:
        return itemgetter(*names)
    return _shared_getter(tuple(names))


# Streams of one server are alike, and many may be open: they share what they can.
@lru_cache(maxsize=64)
def _shared_getter(names: tuple[str, ...]) -> Getter:
    return itemgetter(*names) if names else len  # any that is cheap: sizes are equal anyway


class Fragment:
    """The part of a chunk that is one fragment of a tool call, its arguments a hole."""

    __slots__ = ("_call", "_function", "_index")

    def __init__(self, call: dict[str, Any]) -> None:
        self._index: int = call["index"]
        self._call = Level(call, {"index", "function"})
        self._function = Level(call["function"], {"arguments"})

    def function_of(self, calls: Any) -> dict[str, Any] | None:
        """Return the function of the one call in *calls*, if it is of this kind."""
        if type(calls) is not list or len(calls) != 1 or type(calls[0]) is not dict:
            return None
        call: dict[str, Any] = calls[0]
        index, function = call["index"], call["function"]
        has_shape = (
            type(index) is int
            and index == self._index
            and type(function) is dict
            and len(call) == self._call.size
            and len(function) == self._function.size
            and self._call.get(call) == self._call.values
            and self._function.get(function) == self._function.values
        )
        return function if has_shape else None

    @property
    def is_plain(self) -> bool:
        """Whether what is compared is strings or null."""
        return self._call.is_plain and self._function.is_plain


class Shape:
    """
    What chunks have in common.

    Values outside the holes must be strings or null: numbers that compare equal
    may still differ, as 1 and true do.

    Attributes:
        holes: Among which fields, and the name.  A text, or a number that is collected.
        is_plain: Whether all values outside the holes can be compared.
    """

    __slots__ = ("_choice", "_delta", "_delta_type", "_fragment", "_top", "holes", "is_plain")

    def __init__(self, chunk: dict[str, Any], paths: list[tuple[Any, ...]]) -> None:
        choice = chunk["choices"][0]
        delta = choice.get("delta") or {}
        # In the order in which the rules merge them, for the sake of bounds.
        self.holes = [
            (PART_OF[len(path)], str(path[-1]))
            for path in paths
            if len(path) in PART_OF and path[2] != "index"
        ]
        names = [{str(path[at]) for path in paths if len(path) > at} for at in LEVELS]
        self._top = Level(chunk, {"choices", *names[0]})
        self._choice = Level(choice, {"delta", "index", *names[1]})
        self._delta_type = type(choice.get("delta"))
        self._delta = Level(delta, names[2])
        self._fragment = Fragment(delta["tool_calls"][0]) if ARGUMENTS in paths else None
        parts = (self._top, self._choice, self._delta, self._fragment)
        self.is_plain = all(part is None or part.is_plain for part in parts)

    def fields_of(self, chunk: dict[str, Any], choice: dict[str, Any], delta: Any) -> Fields | None:
        """
        Return where the holes are of a chunk, if it has this shape.

        Args:
            chunk: Its fields.
            choice: Those of its one choice.
            delta: Those of the choice's delta, or what it has instead.
        """
        top, of_choice, of_delta = self._top, self._choice, self._delta
        if type(delta) is not self._delta_type:
            return None
        delta = delta or {}
        try:
            top.need(chunk)
            of_choice.need(choice)  # those of the delta are looked at when they are merged
            has_shape = (
                len(chunk) == top.size
                and len(choice) == of_choice.size
                and len(delta) == of_delta.size
                and of_delta.get(delta) == of_delta.values
                and of_choice.get(choice) == of_choice.values
                and top.get(chunk) == top.values
            )
            if self._fragment is None:
                return (choice, delta, delta) if has_shape else None
            function = self._fragment.function_of(delta["tool_calls"])
        except Exception:  # noqa: BLE001 - a caller's own objects may not like to be compared
            return None
        return None if function is None or not has_shape else (choice, delta, function)

    def is_shape_of(self, chunk: dict[str, Any], choice: dict[str, Any], delta: Any) -> bool:
        """Tell whether a chunk has this shape, and all that holes are for."""
        fields = self.fields_of(chunk, choice, delta)
        return fields is not None and all(name in fields[part] for part, name in self.holes)


def shape_of(chunk: dict[str, Any], rules: RuleSet) -> Shape | None:
    """Return the shape of *chunk*, or None if it has none that can be compared."""
    plan = Plan(rules, many=True, still=True)
    if not plan.chunk(chunk):
        return None
    if any(hole.kind in RAW for hole in plan.holes):
        return None  # log probabilities are merged by the rules
    shape = Shape(chunk, [hole.path for hole in plan.holes])
    return shape if shape.is_plain else None


class Repeater:
    """
    Merge chunks that repeat the one before but for their text.

    Args:
        choices: The accumulators by index.
        context: Counts the text.
    """

    __slots__ = ("_bound", "_choices", "_context", "_fed_alone", "_shape", "_wait", "_waited")

    def __init__(self, choices: Mapping[int, ChoiceAccumulator], context: Context) -> None:
        self._choices = choices
        self._context = context
        self._shape: Shape | None = None
        self._bound: dict[int, tuple[list[Place], ChoiceAccumulator]] = {}
        self._wait = 1
        self._waited = 0
        self._fed_alone = 0

    def add(
        self, chunk: dict[str, Any], choice: dict[str, Any], delta: Any
    ) -> ChoiceAccumulator | None:
        """
        Merge a chunk if it has the known shape; return its choice, or None if it has not.

        Args:
            chunk: Its fields.
            choice: Those of its one choice.
            delta: Those of the choice's delta, or what it has instead.

        Raises:
            LimitExceeded: If there is too much text.
        """
        shape = self._shape
        if shape is None:
            return None
        if self._context.fed_alone != self._fed_alone:
            self._fed_alone = self._context.fed_alone
            self.forget()
            return None
        fields = shape.fields_of(chunk, choice, delta)
        if fields is None:
            return None
        index = choice.get("index", 0)
        bound = self._bound.get(index) if type(index) is int else None
        if bound is None:
            return None
        places, owner = bound
        self._wait = 1
        if len(places) == 1:  # most chunks of most streams
            where, name, kind, kept = places[0]
            piece = fields[where].get(name)
            if kind is str and type(piece) is str:
                kept.add(piece, self._context)
                return owner
        return owner if self._add_all(fields, places) else None

    def _add_all(self, fields: Fields, places: list[Place]) -> bool:
        """Add what is in the holes, once all of it has the right type."""
        for where, name, kind, _ in places:
            if type(fields[where].get(name)) is not kind:
                return False
        for where, name, kind, kept in places:
            if kind is str:
                kept.add(fields[where][name], self._context)
            else:
                kept.append(fields[where][name])
        return True

    def learn(self, chunk: dict[str, Any], rules: RuleSet) -> None:
        """Take note of *chunk*, which was just merged by the rules, without an issue."""
        known, parts = self._shape, parts_of(chunk)
        if known is None or parts is None or not known.is_shape_of(*parts):
            self._bound.clear()
            self._waited += 1
            if self._waited < self._wait:
                self._shape = None
                return
            self._waited = 0
            self._wait = min(self._wait * 2, LONGEST_WAIT)
            self._shape = shape_of(chunk, rules)
        if self._shape is not None:
            self._bind(self._shape, chunk["choices"][0].get("index", 0), chunk)

    def forget(self) -> None:
        """Forget what is known: something was merged that may have changed it."""
        self._shape = None
        self._bound.clear()

    def _bind(self, shape: Shape, index: Any, chunk: dict[str, Any]) -> None:
        choice = self._choices.get(index) if type(index) is int else None
        if choice is None:
            return
        self._bound.pop(index, None)
        places: list[Place] = []
        for part, name in shape.holes:
            kept = choice.text_at((*PATHS[part], name), chunk) or choice.numbers_at(name)
            if kept is None:
                return
            places.append((part, name, str if type(kept) is Text else int, kept))
        self._bound[index] = places, choice
