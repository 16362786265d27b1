"""
Python text as JSON, where the two differ in little more than quotation marks.

Parsing Python takes twenty times as long as parsing JSON, and most of the values that
are printed need no more than this; the others go the long way.
"""

from __future__ import annotations

import json
import re

from typing import Any, NoReturn


__all__ = ["as_json"]

# Strings whose text both would show alike: no escapes but these, and the marks of one kind.
_STRING = rb"""'(?P<text>(?:[^'"\\\n]++|\\[\\nrt])*+)'|"(?:[^"\\\n]++|\\[\\nrt])*+\""""
_NAMES = rb"(?P<name>\b(?:None|True|False)\b)"
# A mark that no such string has taken starts another kind, into which must not be looked.
DICT = re.compile(_STRING + rb"|" + _NAMES + rb"|(?P<odd>['\"\\])")
CALL = re.compile(
    _STRING + rb"|" + _NAMES + rb"|(?P<odd>['\"\\{}:])|(?P<key>\b[A-Za-z]\w{0,80})=(?!=)"
    rb"|(?P<open>\b[A-Za-z]\w{0,80}(?:\.\w{1,80}){0,4}\()|(?P<close>\))"
)
NAMES = {b"None": b"null", b"True": b"true", b"False": b"false"}


def as_json(text: bytes) -> tuple[bytes, dict[str, Any]] | None:
    """
    Return the JSON of the dict, or of the object of keywords, that *text* is, and its value.

    Returns:
        None if it is something else, or not as simple; that says nothing about it.

    >>> as_json(b"{'a': None, 'b': [1.5, 'x']}")
    (b'{"a": null, "b": [1.5, "x"]}', {'a': None, 'b': [1.5, 'x']})
    >>> as_json(b"Chunk(id='x', choices=[Choice(index=0)])")[0]
    b'{"id":"x", "choices":[{"index":0}]}'
    """
    text = text.strip()
    tokens = DICT if text.startswith(b"{") else CALL
    try:
        shown = tokens.sub(_translated, text)
        value = json.loads(shown, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return (shown, value) if isinstance(value, dict) else None


def _translated(token: re.Match[bytes]) -> bytes:
    match token.lastgroup:
        case "text":
            return b'"' + token["text"] + b'"'
        case "name":
            return NAMES[token["name"]]
        case "key":
            return b'"' + token["key"] + b'":'
        case "open":
            return b"{"
        case "close":
            return b"}"
        case "odd":
            raise ValueError
    return token[0]


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)  # NaN is JSON's neither, and no Python
