"""
The values that Python text shows, as `print` and loggers write them.

They are read from the syntax tree and never evaluated: only what shows a value as
it is written counts.  A call of a class by keywords, which is how SDK objects
show themselves, is taken for a dict of those.
"""

from __future__ import annotations

import ast
import json
import math
import re

from contextlib import suppress
from datetime import UTC, datetime

from streamkit._errors import quote


__all__ = ["LONGEST", "TOKEN", "NoValue", "data_of", "parse_value", "refusal"]

# What is longer is not parsed: a syntax tree takes far more memory than its text.
LONGEST = 1 << 20
DEEPEST = 128
# A member of an enumeration shows itself as no Python can read it.
ENUM = re.compile(r"<[A-Za-z_][\w.]{0,80}: ('[^'\\\n]{0,80}'|\d{1,20})>")
TOKEN = re.compile(
    rb"""'''|\"\"\"|'(?:[^'\\\n]++|\\.)*+'|"(?:[^"\\\n]++|\\.)*+"|[\[({]|[\])}]""", re.DOTALL
)
ODD_ESCAPE = re.compile(rb"(?<!\\)(?:\\\\)*+\\[^\\'\"nrtxuUabfv0N]")
ODD_IN_BYTES = re.compile(
    rb"""\b[bB](?:'(?:[^'\\]|\\[^uUN])*+\\[uUN]|"(?:[^"\\]|\\[^uUN])*+\\[uUN])"""
)
PAIRS = ("OrderedDict", "dict")
# From the year to the microsecond.
DATETIME = 7


class NoValue(Exception):
    """The text is no value, or none that can be read without running it."""


def _value(node: ast.expr, depth: int) -> object:
    """Return the value that *node* shows."""
    if depth > DEEPEST:
        raise NoValue
    if isinstance(node, ast.Constant):
        return _constant(node.value)
    if isinstance(node, ast.Dict):
        keys = [_key(key) for key in node.keys]
        return dict(zip(keys, [_value(item, depth + 1) for item in node.values], strict=True))
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(item, depth + 1) for item in node.elts]
    if isinstance(node, ast.Call):
        return _call(node, depth)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _value(node.operand, depth + 1)
        if number is None or isinstance(number, (int, float)):  # None: infinity
            return None if number is None else -number
    if isinstance(node, ast.Name) and node.id in ("nan", "inf"):
        return None
    raise NoValue


def _constant(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):  # written 1e999
        return None
    if value is None or isinstance(value, (str, bytes, int, float)):
        return value
    raise NoValue


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise NoValue


def _call(node: ast.Call, depth: int) -> object:
    """Take `Name(key=value)` for a dict, and `Name(value)`, as of a UUID, for the value."""
    name = _name(node.func)
    if name == "datetime":
        return _datetime(node)
    if node.args:
        if len(node.args) > 1 or node.keywords:
            raise NoValue
        value = _value(node.args[0], depth + 1)
        return _dict_of(value) if name in PAIRS and isinstance(value, list) else value
    fields: dict[str, object] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise NoValue
        fields[keyword.arg] = _value(keyword.value, depth + 1)
    return fields


def _name(node: ast.expr) -> str:
    """Return the last part of the name that *node* is."""
    first = node
    while isinstance(first, ast.Attribute):
        first = first.value
    if not isinstance(first, ast.Name) or first.id.startswith("_"):
        raise NoValue
    return node.attr if isinstance(node, ast.Attribute) else first.id


def _dict_of(pairs: list[object]) -> dict[str, object]:
    """Return the dict of *pairs*, as an OrderedDict showed itself before Python 3.12."""
    found: dict[str, object] = {}
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != len(("key", "value")):
            raise NoValue
        key, value = pair
        if not isinstance(key, str):
            raise NoValue
        found[key] = value
    return found


def _datetime(node: ast.Call) -> str:
    """Return the moment that *node* shows, in the form of ISO 8601; only UTC is known by name."""
    parts = [part.value for part in node.args if isinstance(part, ast.Constant)]
    numbers = [part for part in parts if type(part) is int]
    zones = [ast.unparse(word.value) for word in node.keywords if word.arg == "tzinfo"]
    if len(numbers) != len(node.args) or len(zones) != len(node.keywords):
        raise NoValue
    if any(zone.rpartition(".")[2] not in ("utc", "UTC") for zone in zones):
        raise NoValue
    if not len(("year", "month", "day")) <= len(numbers) <= DATETIME:
        raise NoValue
    year, month, day, hour, minute, second, micro = numbers + [0] * (DATETIME - len(numbers))
    zone = UTC if zones else None
    try:
        return datetime(year, month, day, hour, minute, second, micro, zone).isoformat()
    except (ValueError, OverflowError):
        raise NoValue from None


def parse_value(text: bytes) -> object:
    """
    Return the value that *text* shows.

    Raises:
        NoValue: If it shows none, or is too long to be looked at.
    """
    # An escape that repr never writes would make the parser warn, on standard error.
    if len(text) > LONGEST or ODD_ESCAPE.search(text) or ODD_IN_BYTES.search(text):
        raise NoValue
    shown = text.decode("utf-8", "replace").strip()
    if shown.startswith(('"', '["')):
        with suppress(ValueError, RecursionError):
            return json.loads(shown)  # half a surrogate pair means another thing there
    for attempt in (shown, ENUM.sub(r"\1", shown)):
        try:
            return _value(ast.parse(attempt, mode="eval").body, 0)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    raise NoValue


def data_of(value: object) -> list[bytes]:
    """
    Return the bytes that *value* stands for: its own, or those of its items, or a line of JSON.

    Raises:
        NoValue: If it is a number, or cannot be written as JSON.
    """
    if isinstance(value, bytes):
        return [value]
    if isinstance(value, str):
        return [value.encode("utf-8", "replace")]
    if isinstance(value, list):
        return [data for item in value for data in data_of(item)]
    if isinstance(value, dict):
        try:
            return [json.dumps(value, separators=(",", ":"), default=_text).encode() + b"\n"]
        except ValueError:  # an integer of too many digits
            raise NoValue from None
    raise NoValue


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def refusal(text: bytes) -> bytes:
    """Return an event that makes the reader of the stream report *text*, which has no value."""
    return f"data: Python text that cannot be read: {quote(text)}\n\n".encode()
