"""What a value in a row is: a chunk, a body, a time; and where in a row to look for it."""

from __future__ import annotations

import re

from collections import deque
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from streamkit._json import BadJSON, Decoder, encode
from streamkit._limits import NO_LIMITS

from ._binary import from_text, is_binary_text
from ._dialects import dialect_of


__all__ = [
    "ITEMS",
    "TIMES",
    "Path",
    "as_bytes",
    "at",
    "find",
    "is_skipped",
    "is_stream",
    "json_of",
    "number_of",
    "paired",
    "path_of",
    "seconds",
]

Path = tuple[str | int, ...]

# Names that bodies and chunks go by, the likeliest first; other names come last.
NAMES = (
    "chunk",
    "chunks",
    "response_body",
    "raw_response",
    "response",
    "body",
    "completion",
    "output",
    "outputs",
    "data",
    "result",
    "content",
    "text",
    "raw",
    "event",
    "line",
    "message",
    "payload",
    "value",
)
RANK = {name: rank for rank, name in enumerate(NAMES)}
# What went to the server is never looked at.
SKIPPED = re.compile(
    r"(?!.*(?:response|output))"
    r"(?:(?:.*[_.])?(?:request|input|prompt|header|curl|proxy)|messages\Z)"
)
SSE = re.compile(r"\ufeff?\s*+(?:(?:event|id|retry|:)[^\r\n]*+[\r\n]++\s*+)*+data:")
CHOICES = re.compile(r'"choices"\s*:')
GZIP = "\x1f\udc8b"
PAIR = 2
# Names that times go by.
TIMES = (
    "t",
    "ts",
    "time",
    "timestamp",
    "@timestamp",
    "_time",
    "received_at",
    "receivedAt",
    "recorded_at",
    "arrival",
    "at",
    "t_ms",
    "ts_ms",
    "time_ms",
    "timestamp_ms",
    "ts_ns",
    "timestamp_ns",
    "elapsed",
    "elapsed_ms",
    "offset_ms",
    "created_at",
    "createdAt",
)
HEAD = 1 << 16
DEPTH = 7
NODES = 2000
ITEMS = 64
MILLI, MICRO, NANO = 1e11, 1e14, 1e17


def as_text(value: Any) -> str | None:
    """Return the text of *value*, if it is text or bytes."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8", "surrogateescape")
    return value if isinstance(value, str) else None


def json_of(text: str) -> Any:
    """Return the object or the list that *text* is the JSON of, or None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    decoder = _decoder()
    try:
        return decoder.whole(text.encode("utf-8", "surrogatepass"))
    except BadJSON:
        return None
    finally:
        decoder.notes.clear()


@cache
def _decoder() -> Decoder:
    """Return one decoder for all rows; making one takes longer than decoding a chunk."""
    return Decoder("json", NO_LIMITS)


def is_stream(value: Any) -> bool:
    """Tell whether *value* is a chunk, a whole response, or the text of such or of a stream."""
    if isinstance(value, Mapping):
        return isinstance(value.get("choices"), list)
    if isinstance(value, list):
        return bool(value) and not isinstance(value[0], list) and is_stream(value[0])
    text = as_text(value)
    return text is not None and _is_stream_text(text)


def _is_stream_text(text: str) -> bool:
    head = text[:HEAD]
    if SSE.match(head) or head.startswith(GZIP):
        return True
    if is_binary_text(head):
        data = from_text(head[: HEAD // 4 * 4])
        return data is not None and _is_stream_text(data.decode("utf-8", "surrogateescape"))
    if not CHOICES.search(head):
        return dialect_of(head.encode("utf-8", "surrogatepass")) is not None
    decoded = json_of(text)
    # JSON that was cut off is a stream too: the core says where.
    return is_stream(decoded) if decoded is not None else head.lstrip().startswith(("{", "["))


def find(row: Any) -> Path | None:
    """
    Return the path to the value of *row* that is a stream, the nearest to its root.

    >>> find({"id": 1, "response": {"body": "data: {}"}})
    ('response', 'body')
    """
    queue: deque[tuple[Path, Any]] = deque([((), row)])
    for _ in range(NODES):
        if not queue:
            break
        path, value = queue.popleft()
        if (path != () or isinstance(value, (Mapping, str))) and is_stream(value):
            return path
        if len(path) < DEPTH:
            queue.extend(((*path, key), child) for key, child in _children(value))
    return None


def _children(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, str):
        value = json_of(value) if len(value) < HEAD * 16 else None
    if isinstance(value, Mapping):
        names = [key for key in value if isinstance(key, str) and not is_skipped(key)]
        for key in sorted(names, key=lambda name: RANK.get(_snake(name), len(RANK))):
            yield key, value[key]
    elif isinstance(value, list):
        yield from enumerate(value[:ITEMS])


def is_skipped(name: object) -> bool:
    """Tell whether what is called *name* went to the server."""
    return isinstance(name, str) and SKIPPED.match(_snake(name)) is not None


def _snake(name: str) -> str:
    """Return a name in camel case as one with underscores."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def path_of(row: Mapping[str, Any], field: str) -> Path:
    """Return the path that *field*, a column or a path with dots, means in *row*."""
    return (field,) if field in row else tuple(field.split("."))


def at(row: Any, path: Path) -> Any:
    """Return the value of *row* at *path*, or None; texts of JSON on the way are opened."""
    value = row
    for key in path:
        if isinstance(value, str):
            value = json_of(value)
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value


def as_bytes(value: Any) -> bytes:
    """Return the bytes of the stream that *value* is; objects become lines of JSON."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, str):
        data = from_text(value) if is_binary_text(value) else None
        return value.encode("utf-8", "surrogatepass") if data is None else data
    if isinstance(value, list):
        data = from_text(value) if value and is_binary_text(value[0]) else None
        if data is not None:
            return data
        return b"".join(as_bytes(item).rstrip(b"\r\n") + b"\n" for item in value)
    return encode(value).encode() + b"\n"


def paired(value: Any) -> Any:
    """
    Return *value*, or, if it is a time and a chunk, the row of these.

    Recordings of a terminal (asciinema) have a letter between the two: `o` is output.
    """
    is_pair = isinstance(value, list) and len(value) == PAIR + (value[1:2] == ["o"])
    if is_pair and seconds(value[0]) is not None:
        return {"t": value[0], "chunk": value[-1]}
    return value


def number_of(value: Any) -> float | None:
    """Return *value* as a number, if it is one or the text of one."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if abs(number) < 1e300 else None  # noqa: PLR2004 -- infinite, and NaN


def seconds(value: Any, name: str = "") -> float | None:
    """
    Return the time that *value*, of a column called *name*, is, in seconds.

    >>> seconds(1790000000250), seconds("1970-01-01T00:00:01Z"), seconds(250, "elapsed_ms")
    (1790000000.25, 1.0, 0.25)
    """
    number = number_of(value)
    if number is not None:
        return number / _unit(abs(number), name.lower())
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()


def _unit(number: float, name: str) -> float:
    """Return how many of the unit of *number* a second has."""
    for bound, suffix, unit in ((NANO, "ns", 1e9), (MICRO, "us", 1e6), (MILLI, "ms", 1e3)):
        if number >= bound or name.endswith(("_" + suffix, suffix.title())):
            return unit
    return 1.0
