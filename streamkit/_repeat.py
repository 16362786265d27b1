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
from ._plain import parts_of
from ._rules import RuleSet
from ._state import Context, Text
from ._template import Plan


__all__ = ["Repeater"]

# After how many chunks that match none the next is learned, at most.
LONGEST_WAIT = 256
# Names longer than this, in characters, are not worth keeping when the stream is over.
LONGEST_SHARED = 1024
# How long the path of a hole is at each level.
DEPTHS = TOP_DEPTH, CHOICE_DEPTH, DELTA_DEPTH = 1, 3, 4

# A hole: whether in the delta, else in the choice; its name; what it adds to.
Place = tuple[bool, str, Any]
Getter = Callable[[Mapping[str, Any]], Any]


class Level:
    """The part of a chunk at one level: which keys, and the values outside the holes."""

    __slots__ = ("get", "need", "size", "values")

    def __init__(self, fields: Mapping[str, Any], holes: set[str]) -> None:
        names = [name for name in fields if name not in holes]
        self.get = _getter(names)
        self.need = _getter([name for name in fields if name in holes])
        self.values = self.get(fields)
        self.size = len(fields)


def _getter(names: list[str]) -> Getter:
    """Return what gets *names* of a mapping, as a tuple unless there is just one."""
    if sum(map(len, names)) > LONGEST_SHARED:
        return itemgetter(*names)
    return _shared_getter(tuple(names))


# Streams of one server are alike, and many may be open: they share what they can.
@lru_cache(maxsize=64)
def _shared_getter(names: tuple[str, ...]) -> Getter:
    return itemgetter(*names) if names else len  # any that is cheap: sizes are equal anyway


class Shape:
    """
    What chunks have in common.

    Values outside the holes must be strings or null: numbers that compare equal
    may still differ, as 1 and true do.

    Attributes:
        texts: The holes: whether in the delta, else in the choice, and the name.
            A text, or a number that is collected.
    """

    __slots__ = ("_choice", "_delta", "_delta_type", "_top", "texts")

    def __init__(self, chunk: dict[str, Any], paths: list[tuple[Any, ...]]) -> None:
        choice = chunk["choices"][0]
        in_choice = [path[2] for path in paths if len(path) == CHOICE_DEPTH and path[2] != "index"]
        in_delta = [path[3] for path in paths if len(path) == DELTA_DEPTH]
        self.texts = [(False, name) for name in in_choice] + [(True, name) for name in in_delta]
        self._top = Level(chunk, {"choices", *(path[0] for path in paths)})
        self._choice = Level(choice, {"delta", "index", *in_choice})
        delta = choice.get("delta")
        self._delta_type = type(delta)
        self._delta = Level(delta or {}, set(in_delta))

    def fits(self, chunk: dict[str, Any], choice: dict[str, Any], delta: Any) -> bool:
        """Tell whether a chunk, with its one choice and that one's delta, has this shape."""
        top, of_choice, of_delta = self._top, self._choice, self._delta
        if type(delta) is not self._delta_type:
            return False
        delta = delta or {}
        try:
            top.need(chunk)
            of_choice.need(choice)  # those of the delta are looked at when they are merged
            return bool(
                len(chunk) == top.size
                and len(choice) == of_choice.size
                and len(delta) == of_delta.size
                and of_delta.get(delta) == of_delta.values
                and of_choice.get(choice) == of_choice.values
                and top.get(chunk) == top.values
            )
        except (KeyError, TypeError):
            return False


def _only_plain(fields: Mapping[str, Any], holes: set[str]) -> bool:
    return all(
        value is None or type(value) is str for name, value in fields.items() if name not in holes
    )


def shape_of(chunk: dict[str, Any], rules: RuleSet) -> Shape | None:
    """Return the shape of *chunk*, or None if it has none that can be compared."""
    plan = Plan(rules, many=True, still=True)
    if not plan.chunk(chunk):
        return None
    paths = [hole.path for hole in plan.holes]
    if any(len(path) > DELTA_DEPTH for path in paths):
        return None  # tool calls and log probabilities are merged by the rules
    choice = chunk["choices"][0]
    delta = choice.get("delta") or {}
    holes = {depth: {str(path[-1]) for path in paths if len(path) == depth} for depth in DEPTHS}
    is_plain = (
        _only_plain(chunk, {"choices", *holes[TOP_DEPTH]})
        and _only_plain(choice, {"delta", "index", *holes[CHOICE_DEPTH]})
        and _only_plain(delta, holes[DELTA_DEPTH])
    )
    return Shape(chunk, paths) if is_plain else None


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
        self._bound: dict[int, list[Place]] = {}
        self._wait = 1
        self._waited = 0
        self._fed_alone = 0

    def add(self, chunk: dict[str, Any], choice: dict[str, Any], delta: Any) -> bool:
        """
        Merge a chunk if it has the known shape; return whether it has.

        Args:
            chunk: Its fields.
            choice: Those of its one choice.
            delta: Those of the choice's delta, or what it has instead.

        Raises:
            LimitExceeded: If there is too much text.
        """
        shape = self._shape
        if shape is None:
            return False
        if self._context.fed_alone != self._fed_alone:
            self._fed_alone = self._context.fed_alone
            self.forget()
            return False
        if not shape.fits(chunk, choice, delta):
            return False
        index = choice.get("index", 0)
        texts = self._bound.get(index) if type(index) is int else None
        if texts is None:
            return False
        self._wait = 1
        if len(texts) == 1:
            in_delta, name, text = texts[0]
            piece = (delta if in_delta else choice).get(name)
            if type(piece) is str and type(text) is Text:
                text.add(piece, self._context)
                return True
        return self._add_all(choice, delta, texts)

    def _add_all(self, choice: dict[str, Any], delta: Any, places: list[Place]) -> bool:
        pieces: list[Any] = [(delta if in_delta else choice).get(name) for in_delta, name, _ in places]
        for (_, _, kept), piece in zip(places, pieces, strict=True):
            if type(piece) is not (str if type(kept) is Text else int):
                return False
        for (_, _, kept), piece in zip(places, pieces, strict=True):
            if type(kept) is Text:
                kept.add(piece, self._context)
            else:
                kept.append(piece)
        return True

    def learn(self, chunk: dict[str, Any], rules: RuleSet) -> None:
        """Take note of *chunk*, which was just merged by the rules, without an issue."""
        known, parts = self._shape, parts_of(chunk)
        if known is None or parts is None or not known.fits(*parts):
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
        for in_delta, name in shape.texts:
            path = ("delta", name) if in_delta else (name,)
            kept = choice.text_at(path, chunk) or choice.numbers_at(name)
            if kept is None:
                return
            places.append((in_delta, name, kept))
        self._bound[index] = places
