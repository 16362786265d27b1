"""
Python text: dicts, the objects of an SDK and bytes, as `print` and loggers show
them, a value on a line or spread over several.

It is read from the syntax tree and never evaluated: only what shows a value as
it is written counts.  A call of a class by keywords, which is how SDK objects
show themselves, is taken for a dict of those.
"""

from __future__ import annotations

import ast
import json
import math
import re

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime

import attrs

from streamkit._errors import quote
from streamkit._issues import Issue

from ._pieces import Form, Piece, ReadOptions, Recording
from ._python_json import as_json
from ._row_values import TIMES, at, find, paired, seconds
from ._text import COLOUR, HEAD, head_lines, lines, look_ahead


__all__ = ["FORMS", "START", "NoValue", "data_of", "parse_value", "refusal"]

# What is longer is not parsed: a syntax tree takes far more memory than its text.
LONGEST = 1 << 20
DEEPEST = 128
_VALUE = rb"(?:\{\s*'|\{\}|[bB]?['\"])"
START = re.compile(
    rb"[ \t]*[\[(]{0,2}[ \t]*(?:[\d.]{1,30},[ ]*)?"
    rb"(?:" + _VALUE + rb"|[A-Za-z_][\w.]{0,80}\(\s*(?:\w{1,80}=|[\[(]{0,2}" + _VALUE + rb"|\Z))"
)
CHUNK = re.compile(
    rb"'choices'|\bchoices=|\b[bB]['\"](?:data|event|id|retry)?:"
    rb"|(?:^|[\s\[(,])['\"](?:data|event|id|retry):"
    rb"|(?:^|[\s\[(,])['\"]\{[^\n]{0,4000}?\"choices\\?\"",
    re.MULTILINE,
)
# What stands before a value where a notebook or a server shows it.
LEAD = re.compile(rb"[ \t]*(?:Out\[\d{1,6}\]:|data:(?=[ ]?[\[(]{0,2}(?:\{'|\w+\()))[ \t]?")
# What was typed, in front of what it shows.
TYPED = re.compile(rb"(?:>>>|\.\.\.|In \[\d{1,6}\]:|[$%])(?:[ \t]|\r?\Z)")
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
NOTE = Issue("python_text", "the recording is Python text; its values were read as JSON")


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


def _timed(value: object) -> tuple[object, float | None]:
    """Return the chunk of *value*, and its time, if *value* is a row of the two."""
    row = paired(value)
    if not isinstance(row, dict) or "choices" in row:
        return value, None
    path = find(row)
    if not path:
        return value, None
    times = (seconds(row.get(name), name) for name in TIMES if name != path[0])
    return at(row, path), next((time for time in times if time is not None), None)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def refusal(text: bytes) -> bytes:
    """Return an event that makes the reader of the stream report *text*, which has no value."""
    return f"data: Python text that cannot be read: {quote(text)}\n\n".encode()


# -- The form ------------------------------------------------------------------------


@attrs.define
class _Open:
    """A value whose text has begun, and the brackets that are open in it."""

    place: str
    depth: int = 0
    size: int = 0
    parts: list[bytes] = attrs.field(factory=list)

    def add(self, line: bytes) -> None:
        self.parts.append(line)
        self.size += len(line)
        for token in TOKEN.findall(line):
            self.depth += (token in b"[({") - (token in b"])}")

    @property
    def is_whole(self) -> bool:
        return self.depth <= 0 or self.size > LONGEST

    def text(self) -> bytes:
        return b"".join(self.parts)


def _texts(rows: Iterable[bytes]) -> Iterator[tuple[str, bytes, bool]]:
    """
    Yield the place and the text of each value, and lines of other text as they are.

    A value ends where its brackets are closed, or where a line starts another:
    further lines of one are indented, as pprint does.
    """
    value: _Open | None = None
    for number, line in enumerate(rows, 1):
        starts = START.match(line) is not None
        if value is not None and starts and not line[:1].isspace():
            yield value.place, value.text(), True  # it was cut
            value = None
        if value is None:
            found = as_json(line) if starts else None
            if not starts or (found is not None and "choices" in found[1]):
                yield f"line {number}", found[0] + b"\n" if found else line, False
                continue
            value = _Open(f"line {number}")
        value.add(line)
        if value.is_whole:
            yield value.place, value.text(), True
            value = None
    if value is not None:
        yield value.place, value.text(), True


def _pieces(rows: Iterable[bytes]) -> Iterator[Piece]:
    for place, text, is_value in _texts(map(_bare, rows)):
        if not is_value:
            yield Piece(text, place=place)
            continue
        try:
            yield from _pieces_of(parse_value(text), place)
        except NoValue:
            yield Piece(refusal(text), place=place)


def _pieces_of(value: object, place: str) -> Iterator[Piece]:
    """Yield the pieces of *value*, each with its time, if it is a list of rows that have one."""
    is_list = isinstance(value, list) and paired(value) is value
    for item in value if is_list and isinstance(value, list) else [value]:
        inner, time = _timed(item)
        for data in data_of(inner):
            yield Piece(data, time, place)


def _bare(line: bytes) -> bytes:
    """Return *line* without colours, and without what stands before a value."""
    line = COLOUR.sub(b"", line) if b"\x1b" in line else line
    lead = LEAD.match(line)
    return line if lead is None else line[lead.end() :]


def _with_line_ends(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """
    End each piece with a line end if none has one: they are lines then, and not reads.

    `iter_lines` and its kind take the line ends off, of blank lines too.
    """
    size = 0

    def is_enough(found: list[Piece]) -> bool:
        nonlocal size
        size += len(found[-1].data) + 1
        return size >= HEAD or b"\n" in found[-1].data

    first, pieces = look_ahead(pieces, is_enough)
    if any(b"\n" in piece.data for piece in first):
        return pieces
    return (Piece(piece.data + b"\n", piece.time, piece.place) for piece in pieces)


def _read(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    pieces = _with_line_ends(_pieces(lines(blocks, options.limits)))
    yield Recording(name="Python text", pieces=pieces, notes=(NOTE,))


def _looks(head: bytes) -> int:
    """Ask that the first line that is not blank starts a value, and that there is a chunk."""
    shown = (_bare(line) for line in head_lines(head) if line.strip())
    first = next((line for line in shown if not TYPED.match(line)), b"")
    if START.match(first) is None or not CHUNK.search(COLOUR.sub(b"", head)):
        return 0
    return 85


FORMS = (
    Form(
        name="python",
        title="dicts, objects or bytes, as Python prints them",
        looks=_looks,
        read=_read,
    ),
)
