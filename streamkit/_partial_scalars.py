"""
Strings and numbers of JSON that come in pieces: what there is of them so far.

Each takes what belongs to it from a text, from a place on, and returns the place
where it stopped.  No character is looked at twice, but those of an escape that
was cut, which are left for the next call.
"""

from __future__ import annotations

import json
import math
import re

from collections.abc import Mapping
from typing import Any, Final

from ._json import HIGH_SURROGATES, MAX_DIGITS, join_surrogates


__all__ = ["NOTHING", "CutNumber", "CutString"]

# There is no value yet, not even null.
NOTHING: Final[Any] = object()

# -- Strings -------------------------------------------------------------------------

# Possessive: nothing is kept to go back to, however long the string is.
BODY = re.compile(r'(?:[^"\\]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
CONTROL = re.compile("[\x00-\x1f]")
_decode = json.JSONDecoder(strict=False).decode


class CutString:
    r"""
    A string after its opening quotation mark.

    Surrogate pairs are joined, and half of one is held back until the next
    character tells whether it is a pair; so are escapes.

    Attributes:
        closed: Whether the closing quotation mark came.
        faulty: Whether it holds what RFC 8259, section 7, forbids: a control
            character, or a backslash before something that is no escape, which
            is then kept as a backslash.

    >>> string = CutString()
    >>> text = 'caf\\u00'
    >>> text[string.take(text, 0) :], string.so_far()
    ('\\u00', 'caf')
    """

    __slots__ = ("_half", "_pieces", "_whole", "closed", "faulty")

    def __init__(self) -> None:
        self._whole = ""
        self._pieces: list[str] = []
        self._half = ""
        self.closed = False
        self.faulty = False

    def take(self, text: str, at: int) -> int:
        """Take what belongs to the string from *text*, from *at* on; return where that ends."""
        while True:
            body = BODY.match(text, at)
            assert body is not None  # it may be empty
            self._add(body.group())
            at = body.end()
            if at == len(text) or CUT_ESCAPE.fullmatch(text, at):
                return at
            at += 1
            if text[at - 1] == '"':
                self.closed = True
                return at
            self.faulty = True
            self._append("\\")

    def _add(self, body: str) -> None:
        if CONTROL.search(body):
            self.faulty = True
        self._append(_decode(f'"{body}"') if "\\" in body else body)

    def _append(self, new: str) -> None:
        new, self._half = self._half + new, ""
        if not new.isascii():
            if HIGH_SURROGATES[0] <= new[-1] <= HIGH_SURROGATES[1]:
                new, self._half = new[:-1], new[-1]
            new = join_surrogates(new)
        self._pieces.append(new)

    def so_far(self) -> str:
        """Return the text so far."""
        # A local name and no other reference: CPython then grows the string in
        # place, so that reading after each piece copies nothing.
        whole, self._whole = self._whole, ""
        whole += "".join(self._pieces)
        self._pieces.clear()
        self._whole = whole
        return whole + self._half if self.closed else whole


# -- Numbers -------------------------------------------------------------------------

DIGITS = "0123456789"


def _steps(**states: str) -> dict[str, str]:
    """Return the next state by character; *states* has the characters that lead to each."""
    return {char: state for state, chars in states.items() for char in chars}


# RFC 8259, section 6: what may follow, by what came last.
STEPS: Final[Mapping[str, Mapping[str, str]]] = {
    "start": _steps(minus="-", zero="0", integer="123456789"),
    "minus": _steps(zero="0", integer="123456789"),
    "zero": _steps(point=".", e="eE"),
    "integer": _steps(integer=DIGITS, point=".", e="eE"),
    "point": _steps(fraction=DIGITS),
    "fraction": _steps(fraction=DIGITS, e="eE"),
    "e": _steps(sign="+-", exponent=DIGITS),
    "sign": _steps(exponent=DIGITS),
    "exponent": _steps(exponent=DIGITS),
}
WHOLE = frozenset({"zero", "integer", "fraction", "exponent"})


class CutNumber:
    """
    A number, whose end only the character behind it tells.

    Attributes:
        closed: Whether something else came behind it, and it is whole.

    >>> number = CutNumber()
    >>> number.take("-1.5e", 0), number.so_far(), number.is_whole
    (5, -1.5, False)
    """

    __slots__ = ("_kept", "_pieces", "_size", "_state", "closed")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = self._kept = 0  # characters so far; those up to which it was whole
        self._state = "start"
        self.closed = False

    @property
    def is_whole(self) -> bool:
        """Whether what came so far is a number."""
        return self._state in WHOLE

    def take(self, text: str, at: int) -> int:
        """Take what belongs to the number from *text*, from *at* on; return where that ends."""
        start, size = at, self._size - at
        while at < len(text):
            state = STEPS[self._state].get(text[at])
            if state is None:
                self.closed = self.is_whole
                break
            at += 1
            self._state = state
            if state in WHOLE:
                self._kept = size + at
        self._size = size + at
        self._pieces.append(text[start:at])
        return at

    def so_far(self) -> Any:
        """
        Return the number that the longest possible part of it makes.

        As everywhere in streamkit, one that overflows, or an integer of more
        than 4,300 digits, is None.  So is one of more characters until it has
        ended: read after each piece, it would take quadratic time.
        """
        if not self._kept:
            return NOTHING
        if self._kept > MAX_DIGITS and not self.closed:
            return None
        digits = "".join(self._pieces)[: self._kept]
        return _integer(digits) if digits.lstrip("-").isdigit() else _float(digits)


def _integer(digits: str) -> int | None:
    if len(digits) > MAX_DIGITS:
        return None
    try:
        return int(digits)
    except ValueError:  # the interpreter's bound is lower still
        return None


def _float(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None
