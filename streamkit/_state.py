"""What merging keeps between chunks: the context of a merge, and text in pieces."""

from __future__ import annotations

import math

from collections.abc import Mapping
from typing import Any

import attrs

from ._errors import InvalidChunk
from ._issues import IssueLog
from ._json import HIGH_SURROGATES, MAX_DEPTH, mend_surrogates
from ._limits import NO_LIMITS, Limits, check_limits


__all__ = [
    "Cell",
    "Context",
    "State",
    "Text",
    "is_empty",
    "plain_value",
    "plain_values",
    "unbound_context",
]

PIECES = 1024
LEAST_JOINED = 1 << 14
ATOMS = frozenset({int, float, bool, type(None)})


def is_empty(value: Any) -> bool:
    """Tell whether *value* says nothing: null, `""`, `[]` or `{}`; 0 and false do say something."""
    return value is None or (not value and isinstance(value, (str, list, dict)))


@attrs.define
class Context:
    """
    What a rule may need beside its value.

    Attributes:
        event: Number of the chunk being merged, counted from 0.
        offset: Where it starts in the input, in bytes, if known.
        owned: The chunk belongs to the accumulator: nothing needs copying.
        text: Characters accumulated so far, over all fields and choices.
        has_lone_surrogate: Half a surrogate pair was met, and replaced.
        fed_alone: How often a choice was fed by itself, past the accumulator.
    """

    log: IssueLog
    limits: Limits
    strict: bool = False
    cumulative: bool = False
    event: int = 0
    offset: int | None = None
    owned: bool = False
    text: int = 0
    has_lone_surrogate: bool = False
    fed_alone: int = 0
    _most_text: float = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        check_limits(self.limits)
        self._most_text = math.inf if self.limits.text is None else self.limits.text

    def issue(self, code: str, message: str) -> None:
        """Report an oddity that was dealt with."""
        self.log.add(code, message, self.event, self.offset)

    def refuse(self, code: str, message: str, path: str) -> None:
        """
        Report that a value was left out.

        Raises:
            InvalidChunk: In strict mode.
        """
        issue = self.log.add(code, f"{message} @ {path}", self.event, self.offset)
        if self.strict:
            raise InvalidChunk(str(issue), path=path, errors=(issue.message,))

    def keep(self, value: Any) -> Any:
        """Return *value* as it may be stored: nothing of the caller's, no half surrogates."""
        return value if self.owned else self._copy(value, MAX_DEPTH)

    def _copy(self, value: Any, room: int) -> Any:
        kind = type(value)
        if kind in ATOMS:
            return value
        if kind is str:
            return value if value.isascii() else self.mend(value)
        if not room:
            raise RecursionError
        if kind is list or isinstance(value, (list, tuple)):
            return [item if type(item) in ATOMS else self._copy(item, room - 1) for item in value]
        if kind is dict or isinstance(value, Mapping):
            return {
                (key if type(key) is str and key.isascii() else self.name(key)): (
                    item if type(item) in ATOMS else self._copy(item, room - 1)
                )
                for key, item in value.items()
            }
        return value

    def name(self, name: Any) -> Any:
        """Return *name*, that of a field, as it may be stored: without half surrogates."""
        return name if not isinstance(name, str) or name.isascii() else self.mend(name)

    def mend(self, text: str) -> str:
        """Return *text* with surrogate pairs joined and halves replaced."""
        text, replaced = mend_surrogates(text)
        self.has_lone_surrogate = self.has_lone_surrogate or replaced
        return text

    def grow(self, size: int) -> None:
        """
        Count *size* more characters of text.

        Raises:
            LimitExceeded: If there are too many.
        """
        self.text = total = self.text + size
        if total > self._most_text:
            self.limits.check("text", total, self.offset)


def unbound_context() -> Context:
    """Return a context for what was merged once before: it has no bounds, and no issues."""
    return Context(IssueLog(0), NO_LIMITS)


class Cell:
    """
    What is kept for a field that needs more than its last value.

    A class of its own, and no protocol: an object in a caller's chunk may have a
    `value()` as well, which is not ours to call.
    """

    __slots__ = ()

    def value(self, context: Context) -> Any:
        """Return the field's value so far; later merges do not change it."""


State = dict[str, Any]


class Text(Cell):
    """
    A string that comes in pieces.

    Pieces are joined when the text is read: adding is cheap, and so is reading
    after each piece.  A surrogate pair split over two pieces is joined.

    Attributes:
        size: Characters so far.
        untold: Pieces that a reader has not seen yet, if it set a list here.
    """

    __slots__ = ("_blocks", "_half", "_lone", "_pieces", "_waiting", "_whole", "size", "untold")

    def __init__(self) -> None:
        self._whole = ""
        self._blocks: list[str] = []
        self._pieces: list[str] = []
        self._half = ""
        self._lone = False
        self._waiting = 0  # characters in blocks
        self.size: int = 0
        self.untold: list[str] | None = None

    def add(self, piece: str, context: Context) -> None:
        """Append *piece*; a cumulative sender's piece replaces what it repeats."""
        if context.cumulative and piece.startswith(self.so_far()):
            self.set(piece, context)
            return
        self._pieces.append(piece)
        self.size += len(piece)
        if self.untold is not None:
            self.untold.append(piece)
        if len(self._pieces) >= PIECES:
            self._make_block()
        context.grow(len(piece))

    def extend(self, text: str) -> None:
        """Append *text*, several pieces joined, whose size is counted elsewhere."""
        self._pieces.append(text)
        self.size += len(text)
        if self.untold is not None:
            self.untold.append(text)
        self._make_block()

    def set(self, text: str, context: Context) -> None:
        """Replace the whole text."""
        context.grow(len(text) - len(self.so_far()))
        self._whole = self._half = ""
        self._pieces = [text]
        self.size = len(text)
        if self.untold is not None:
            self.untold = [text]

    def so_far(self) -> str:
        """Return the text so far, a trailing half surrogate left out."""
        if self._pieces or self._blocks:
            self._join()
        return self._whole

    @property
    def half(self) -> str:
        """The half of a surrogate pair that `so_far` has left out; `""` if there is none."""
        return self._half

    def _join(self) -> None:
        new = "".join([self._half, *self._blocks, *self._pieces])
        self._blocks.clear()
        self._pieces.clear()
        self._waiting = 0
        self._half = ""
        if not new.isascii():
            new = self._mended(new)
        # A local name and no other reference: CPython then grows the string in
        # place, and no second copy of the whole text is ever held.
        whole, self._whole = self._whole, ""
        whole += new
        self._whole = whole

    def _make_block(self) -> None:
        """Join the pieces: millions of short strings take ten times the memory of their text."""
        block = "".join(self._pieces)
        self._pieces.clear()
        self._blocks.append(block)
        self._waiting += len(block)
        # Joining when a sixteenth is new keeps the whole linear, and its peak small.
        if self._waiting > LEAST_JOINED and self._waiting * 16 > len(self._whole):
            self._join()

    def _mended(self, new: str) -> str:
        if HIGH_SURROGATES[0] <= new[-1] <= HIGH_SURROGATES[1]:
            new, self._half = new[:-1], new[-1]
        new, replaced = mend_surrogates(new)
        self._lone = self._lone or replaced
        return new

    def value(self, context: Context) -> str:
        """Return the text so far; a half surrogate at its end shows as U+FFFD."""
        text = self.so_far()
        if self._lone or self._half:
            context.has_lone_surrogate = True
        return text + "\ufffd" if self._half else text


def plain_value(kept: Any, context: Context) -> Any:
    """Return what is *kept* for a field as JSON data that no later merge changes."""
    if type(kept) is dict:
        return {key: plain_value(item, context) for key, item in kept.items()}
    if type(kept) is list:
        return [item if type(item) in ATOMS else plain_value(item, context) for item in kept]
    return kept.value(context) if isinstance(kept, Cell) else kept


def plain_values(state: State, context: Context) -> dict[str, Any]:
    """Return all that is kept in *state* as JSON data."""
    return {name: plain_value(kept, context) for name, kept in state.items()}
