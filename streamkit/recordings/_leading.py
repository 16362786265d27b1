"""
Values of Python's in a line that has more: other fields of a logger's, a comma,
another value; and the fields of an object that no brackets stand around, as
`print` shows a model of pydantic's.
"""

from __future__ import annotations

import re

from collections.abc import Iterator
from contextlib import suppress

from ._literals import Literal, leading_literal, unescaped, with_line_ends
from ._python_value import TOKEN, NoValue, parse_value
from ._row_values import json_of


__all__ = ["FIELDS", "values_in"]

FIELDS = rb"(?:id|choices)=(?:['\"\[]|None)"
ARE_FIELDS = re.compile(rb"\s*" + FIELDS)
FIELD_OR_TOKEN = re.compile(TOKEN.pattern + rb"|(?P<gap>[ ])(?=[A-Za-z_]\w{0,80}=(?!=))", re.DOTALL)
START = re.compile(rb"[bBrRuU]{0,2}(?=['\"`])|(?:[A-Za-z_][\w.]{0,80})?(?=[\[({])")
BETWEEN = re.compile(rb"[\s,;+)\]}]*")
# SQL's way to write a mark in a literal; Python would take it for two literals.
DOUBLED = re.compile(rb"""'(?:[^'\\\n]|\\.)++''(?!')|"(?:[^"\\\n]|\\.)++""(?!")""", re.DOTALL)
CONTROL = re.compile(rb"[\x00-\x1f]")
EVENT = re.compile(rb"(?:data: ?)?([{\[].*)", re.DOTALL)


def values_in(text: bytes) -> tuple[list[object], bytes]:
    """
    Return the values that *text* shows one behind another, and the text behind them.

    Raises:
        NoValue: If it begins with none.

    >>> values_in(b"'data: 1' size=7")
    (['data: 1'], b'size=7')
    >>> values_in(b"id='a' choices=[Choice(index=0)]")
    ([{'id': 'a', 'choices': [{'index': 0}]}], b'')
    """
    for shown in (text, *_as_calls(text)):
        with suppress(NoValue):
            return [_value(shown)], b""
    values: list[object] = []
    at = 0
    for value, end in _values(text):
        values.append(value)
        at = end
    if not values:
        raise NoValue
    return values, text[at:].strip()


def _as_calls(text: bytes) -> Iterator[bytes]:
    """Yield the call of a class that *text*, fields with blanks between them, is inside of."""
    if not ARE_FIELDS.match(text):
        return
    depth = 0

    def with_comma(token: re.Match[bytes]) -> bytes:
        nonlocal depth
        if token["gap"]:
            return b" " if depth else b", "
        depth += (token[0] in b"[({") - (token[0] in b"])}")
        return token[0]

    yield b"Fields(" + FIELD_OR_TOKEN.sub(with_comma, text.strip()) + b")"


def _values(text: bytes) -> Iterator[tuple[object, int]]:
    """Yield each of the values at the start of *text*, and where what follows it begins."""
    at = 0
    while end := _end_of_value(text, at):
        try:
            value = _value(text[at:end])
        except NoValue:
            return
        between = BETWEEN.match(text, end)
        assert between is not None
        at = between.end()
        yield value, at


def _end_of_value(text: bytes, at: int) -> int:
    """Return where the value ends that begins at *at*, or 0 if none does, or it has no end."""
    start = START.match(text, at)
    if start is None:
        return 0
    if text[start.end()] in b"'\"`":
        found = leading_literal(text, at)
        return 0 if found is None else found[1]
    depth = 0
    for token in TOKEN.finditer(text, start.end()):
        depth += (token[0] in b"[({") - (token[0] in b"])}")
        if not depth:
            return token.end()
    return 0


def _value(text: bytes) -> object:
    """Return the value that *text* shows; a literal may be another language's."""
    value: object = None
    if not DOUBLED.match(text):
        with suppress(NoValue):
            value = parse_value(text)
    if value is not None and (not isinstance(value, (str, bytes)) or b"\\" not in text):
        return value
    found = leading_literal(text)
    if found is None or text[found[1] :].strip():
        if value is None:
            raise NoValue
        return value
    return _of_literal(found[0], value, is_code=text.startswith(b"`"))


def _of_literal(literal: Literal, value: object, *, is_code: bool) -> object:
    """
    Return what *literal*, which Python takes for *value*, holds.

    Where only what stands there as it is is an event, as between YAML's marks, its
    backslashes are JSON's; in inline code they are, unless line ends are escaped, too.
    """
    undone = unescaped(literal.text, is_bytes=literal.is_bytes)
    raw = with_line_ends(literal.text)
    is_raw = (is_code and raw == literal.text) or not _is_event(undone)
    if is_raw and _is_event(raw):
        return raw
    return undone if value is None else value


def _is_event(data: bytes) -> bool:
    found = EVENT.match(data.strip())
    if found is None or CONTROL.search(found[1]):
        return False
    return json_of(found[1].decode("utf-8", "replace")) is not None
