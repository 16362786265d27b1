"""
The value so far of JSON that is still being written: `partial_json`, `PartialJSON`.

What is open is a stack of containers, at its top perhaps a string or a number in
pieces; what is closed is never touched again.  So each character is looked at
once, and reading the value copies the open containers, not what is in them.

There is one rule for what was cut: what is there counts, what can only be guessed
does not.  Half a string is text to show; a key without its colon and value, an
escape, a surrogate or a literal without its end say nothing yet.
"""

from __future__ import annotations

import re

from typing import Any, Final

import attrs

from ._json import MAX_DEPTH
from ._partial_scalars import NOTHING, CutNumber, CutString


__all__ = ["PartialJSON", "partial_json"]

SPACE = re.compile(r"[ \t\r\n]*")
# What models and files put before JSON: a byte order mark, the line of a fence.
PREAMBLE = re.compile("\ufeff|```[A-Za-z0-9]*(?=[^A-Za-z0-9])")
CUT_PREAMBLE = re.compile("`{1,3}|```[A-Za-z0-9]{1,20}")
WORDS: Final = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": None,
    "Infinity": None,
    "-Infinity": None,
}
JSON_WORDS = frozenset({"true", "false", "null"})
LONGEST_WORD = len("-Infinity")

# What is expected, by name.  A value:
START, FIRST_ITEM, ITEM, MEMBER_VALUE = "start", "first item", "item", "member value"
VALUES = frozenset({START, FIRST_ITEM, ITEM, MEMBER_VALUE})
# A string, which is a key:
FIRST_KEY, KEY = "first key", "key"
KEYS = frozenset({FIRST_KEY, KEY})
# A mark; or nothing more.
COLON, COMMA, END = "colon", "comma", "end"
# Where a container may be closed; behind a comma that is a mistake, which is repaired.
CLOSABLE = frozenset({FIRST_ITEM, ITEM, FIRST_KEY, KEY, COMMA})


@attrs.define
class _Open:
    """A container that was not closed yet, and the key whose value is being read."""

    container: Any
    key: Any = NOTHING

    def put(self, value: Any) -> None:
        """Add *value* to the container."""
        if type(self.container) is dict:
            self.container[self.key] = value
        else:
            self.container.append(value)
        self.key = NOTHING

    def with_value(self, value: Any) -> Any:
        """Return a copy of the container to which *value* is added, if there is one."""
        copy = _Open(self.container.copy(), self.key)
        if value is not NOTHING:
            copy.put(value)
        return copy.container


class PartialJSON:
    """
    Read JSON that comes in pieces, and have its value at any time.

    Lenient reading takes what models write: a Markdown fence or a byte order
    mark before the JSON, control characters and unknown escapes in strings,
    NaN and Infinity (as None), a comma before a closing bracket.  At anything
    else that is no JSON it stops, and the value stays what it was; so it does
    behind the end of the value, whatever comes there.

    Args:
        strict: Have a value only as long as the text is the beginning of valid
            JSON.

    >>> arguments = PartialJSON()
    >>> for piece in ('{"city": "Par', 'is", "days": [1, ', '2]}'):
    ...     arguments.feed(piece)
    ...     print(arguments.value(), arguments.complete)
    {'city': 'Par'} False
    {'city': 'Paris', 'days': [1]} False
    {'city': 'Paris', 'days': [1, 2]} True
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self._stack: list[_Open] = []
        self._scalar: CutString | CutNumber | None = None
        self._root = NOTHING
        self._expected = START
        self._rest = ""  # a few characters that only what follows makes clear
        self._valid = True
        self._stopped = False

    @property
    def valid(self) -> bool:
        """Whether the text so far is valid JSON (RFC 8259), or the beginning of it."""
        return self._valid

    @property
    def complete(self) -> bool:
        """
        Whether the value is whole.

        Of a number that stands alone more digits may come all the same.
        """
        if self._strict and not self._valid:
            return False
        number = self._scalar
        is_number = not self._stack and isinstance(number, CutNumber) and number.is_whole
        return is_number or self._root is not NOTHING

    def feed(self, piece: str) -> None:
        """
        Read *piece*, the text that comes next.

        Raises:
            TypeError: If it is no string; nothing else is ever raised.
        """
        if not isinstance(piece, str):
            raise TypeError(f"piece must be a str, not {type(piece).__name__}")
        text, self._rest = self._rest + piece, ""
        at = 0
        while at < len(text) and not self._stopped:
            at = self._read(text, at)

    def value(self) -> Any:
        """
        Return the value so far; None if there is none yet.

        It does not change when more is fed: the containers that are open are
        copied.  Those that are closed are shared by all that was returned, so
        change a deep copy, not the value itself.
        """
        if self._strict and not self._valid:
            return None
        value = self._root
        if self._scalar is not None and self._expected not in KEYS:
            value = self._scalar.so_far()
        for opened in reversed(self._stack):
            value = opened.with_value(value)
        return None if value is NOTHING else value

    # -- What is read, one thing at a time ---------------------------------------------

    def _read(self, text: str, at: int) -> int:
        """Read what stands at *at*; return the place behind it."""
        if self._scalar is not None:
            return self._read_scalar(self._scalar, text, at)
        space = SPACE.match(text, at)
        assert space is not None  # it may be empty
        at = space.end()
        if at == len(text):
            return at
        if self._closes(text[at]):
            return self._close(at)
        if self._expected in VALUES:
            return self._read_value(text, at)
        return self._read_mark(text[at], at)

    def _read_scalar(self, scalar: CutString | CutNumber, text: str, at: int) -> int:
        at = scalar.take(text, at)
        if isinstance(scalar, CutString) and scalar.faulty and not self._repair():
            return at
        if scalar.closed:
            self._scalar = None
            self._put(scalar.so_far())
        elif isinstance(scalar, CutString):
            self._rest = text[at:]  # an escape that was cut
            return len(text)
        elif at < len(text):
            self._stop()
        return at

    def _read_value(self, text: str, at: int) -> int:
        char = text[at]
        if char == '"':
            self._scalar = CutString()
        elif char in "{[":
            self._open({} if char == "{" else [])
        else:
            return self._read_bare(text, at)
        return at + 1

    def _read_bare(self, text: str, at: int) -> int:
        """Read a literal or a number, or what may come before the value."""
        tail = text[at : at + LONGEST_WORD]
        for word, value in WORDS.items():
            if not (tail.startswith(word) or word.startswith(tail)):
                continue
            if word not in JSON_WORDS and tail != "-" and not self._repair():
                return at
            if len(tail) < len(word):
                self._rest = tail
                return len(text)
            self._put(value)
            return at + len(word)
        if tail[0] in "-0123456789":
            self._scalar = CutNumber()
            return at
        return self._read_preamble(text, at)

    def _read_preamble(self, text: str, at: int) -> int:
        preamble = PREAMBLE.match(text, at)
        is_cut = preamble is None and CUT_PREAMBLE.fullmatch(text, at) is not None
        if self._expected != START or not (preamble or is_cut):
            self._stop()
        elif self._repair():
            if preamble:
                return preamble.end()
            self._rest = text[at:]
        return len(text)

    def _read_mark(self, char: str, at: int) -> int:
        if char == '"' and self._expected in KEYS:
            self._scalar = CutString()
        elif char == ":" and self._expected == COLON:
            self._expected = MEMBER_VALUE
        elif char == "," and self._expected == COMMA:
            self._expected = KEY if type(self._stack[-1].container) is dict else ITEM
        else:
            self._stop()
        return at + 1

    # -- What that changes -------------------------------------------------------------

    def _open(self, container: Any) -> None:
        if len(self._stack) == MAX_DEPTH:
            self._stop()
            return
        self._stack.append(_Open(container))
        self._expected = FIRST_KEY if type(container) is dict else FIRST_ITEM

    def _closes(self, char: str) -> bool:
        if char not in "]}" or self._expected not in CLOSABLE:
            return False
        return (char == "}") is (type(self._stack[-1].container) is dict)

    def _close(self, at: int) -> int:
        if self._expected not in {KEY, ITEM} or self._repair():
            container = self._stack.pop().container
            self._expected = COMMA
            self._put(container)
        return at + 1

    def _put(self, value: Any) -> None:
        """Take note of a value, or a key, that is whole."""
        if self._expected in KEYS:
            self._stack[-1].key = value
            self._expected = COLON
        elif self._stack:
            self._stack[-1].put(value)
            self._expected = COMMA
        else:
            self._root = value
            self._expected = END

    def _repair(self) -> bool:
        """Take note of what is no JSON; tell whether to go on all the same."""
        self._valid = False
        self._stopped = self._strict
        return not self._strict

    def _stop(self) -> None:
        self._valid = False
        self._stopped = True


def partial_json(text: str, *, strict: bool = False) -> Any:
    r"""
    Return the value so far of JSON that was cut anywhere; None if there is none yet.

    Strings keep the text that is there, without half an escape or half a
    surrogate pair; numbers the digits that make a number; lists and objects
    what was begun in them.  Left out are keys without a value, and literals
    that are not whole.  A whole text gives what `json.loads` gives, but that
    NaN, Infinity, numbers that overflow and integers of more than 4,300 digits
    are None, and that nesting is followed 128 levels deep.

    Never raises, whatever *text* is.  To read a text again and again while it
    grows, use `PartialJSON`, which also tells whether the value is whole.

    Args:
        text: The text so far, such as the arguments of a tool call.
        strict: Return None unless *text* is the beginning of valid JSON; by
            default what precedes a mistake counts, and the mistakes that models
            make are put up with: see `PartialJSON`.

    Raises:
        TypeError: If *text* is no string.

    >>> partial_json('{"city": "Paris", "days": 1')
    {'city': 'Paris', 'days': 1}
    >>> partial_json('{"city": "Zür\\u00', strict=True)
    {'city': 'Zür'}
    >>> partial_json('{"sure": tru'), partial_json('[1, 2} and more')
    ({}, [1, 2])
    """
    reader = PartialJSON(strict=strict)
    reader.feed(text)
    return reader.value()
