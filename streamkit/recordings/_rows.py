"""Rows in JSON: a line each, or inside of one text."""

from __future__ import annotations

import io
import re

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from typing import Any

from streamkit._errors import StreamkitError
from streamkit._json import BadJSON, Decoder
from streamkit._limits import Limits

from ._bodies import BlockFile
from ._elements import CutShort, decoded, objects
from ._pieces import Form, ReadOptions, Recording
from ._row_streams import BadRow, recordings
from ._row_values import TIMES, find, is_stream, paired, seconds
from ._row_words import has_words
from ._text import HEAD
from ._traces import final_of, spread


__all__ = ["FORMS"]

# A row that the head does not hold whole: a column whose text begins as a stream does.
LONG_ROW = re.compile(rb'"[\w.-]{1,60}"\s*:\s*"(?:data|event): ?')
LONG_RESPONSE = re.compile(rb'"(?:response|output|body|result)"\s*:\s*\{[^{}]*"choices"\s*:\s*\[')
OBJECT = re.compile(rb'\{\s*"')
# What stands in text of a row has its quotes escaped.
CHUNK_KEY = re.compile(rb'"(?:choices|object)"\s*:')
# Forms of their own, whose values would be found as well.
DOCKER = ({"log", "stream", "time"}, {"log", "stream", "time", "attrs"})
OWN_FORMS = frozenset({"interactions", "http_interactions"})
# Of how many rows the likeliest tells the form.
FIRST = 8
# Texts that are lines of a stream, though no payload is in them.
LINE = re.compile(r"\s*(?:\Z|\[DONE\]\s*\Z|(?:data|event|id|retry)?:)")


def _looks_json(head: bytes) -> int:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start.startswith((b"{", b"[", b'"')):
        return 0
    rows: list[Any] = []
    with suppress(StreamkitError):
        rows.extend(islice(_json_rows(iter([head]), Limits()), FIRST))
    if not rows or isinstance(rows[0], BadRow):
        return 0 if start.startswith(b'{"log"') else _score_cut(start, is_full=len(head) >= HEAD)
    return max(map(_score, rows))


def _score_cut(start: bytes, *, is_full: bool) -> int:
    """Return how sure it is that *start* is the start of a row, if it is longer than the head."""
    if LONG_ROW.search(start) or LONG_RESPONSE.search(start):
        return 75
    # A long prompt before the response: so far it is an object, and no chunk.
    is_object = OBJECT.match(start) and not CHUNK_KEY.search(start)
    return 55 if is_full and is_object else 0


def _score(row: Any) -> int:
    """Return how sure it is that *row* is one, from what it holds."""
    if isinstance(row, str):
        return 89 if is_stream(row) else 0
    if not isinstance(row, Mapping) or set(row) in DOCKER or OWN_FORMS & row.keys():
        return 0
    if isinstance(row.get("log"), Mapping) and "entries" in row["log"]:
        return 0
    path = find(row)
    if path == ():  # a chunk or a response is no row, unless it has been given a time
        return 70 if any(seconds(row.get(name), name) is not None for name in TIMES) else 0
    if path is not None:
        return 86
    if final_of(row):
        return 80
    return 70 if has_words([row]) else 0


def _read_json(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    return recordings(_json_rows(blocks, options.limits), options)


def _json_rows(blocks: Iterator[bytes], limits: Limits) -> Iterator[Any]:
    """Return the rows: a line each, or else the objects of the text, however it is laid out."""
    file = BlockFile.buffered(blocks)
    decoder = Decoder(limits=limits)
    first = b""
    while not first.strip() and (line := _line(file, limits)):
        first = line.removeprefix(b"\xef\xbb\xbf")
    row = _row(first, decoder)
    if isinstance(row, list) and all(isinstance(item, str) for item in row):
        yield from row
        return
    if first.strip() == b"[":
        second = _line(file, limits)
        if second.lstrip().startswith(b'"'):
            yield from _texts(second, file, decoder, limits)
            return
        first += second
    if isinstance(row, (BadRow, list)):
        blocks = iter(lambda: file.read1(1 << 18), b"")
        rows = _objects(objects(blocks, limits, rest=first), decoder)
    else:
        lines = iter(lambda: _line(file, limits), b"")
        rows = chain([row], (_row(line, decoder) for line in lines if line.strip()))
    for row in rows:
        yield from spread(row)


def _texts(line: bytes, file: io.BufferedReader, decoder: Decoder, limits: Limits) -> Iterator[Any]:
    """Return the rows of an array of texts that has each on a line of its own."""
    while line := line.strip():
        if line != b"]":
            yield _row(line.removesuffix(b"]").rstrip().removesuffix(b","), decoder)
        line = _line(file, limits)


def _objects(found: Iterator[bytes], decoder: Decoder) -> Iterator[Any]:
    number = 0
    try:
        for number, raw in enumerate(found, 1):
            yield decoded(raw, decoder, f"object {number}")
    except CutShort as cut:
        if not number:
            raise
        yield BadRow(cut.rest)


def _line(file: io.BufferedReader, limits: Limits) -> bytes:
    line = file.readline(-1 if limits.line is None else limits.line + 2)
    limits.check("line", len(line.rstrip(b"\r\n")))
    return line


def _row(line: bytes, decoder: Decoder) -> Any:
    """Return the row in *line*; a pair of a time and a chunk is made one."""
    try:
        value = decoder.whole(line)
    except BadJSON:
        return BadRow(line.rstrip(b"\r\n"))
    finally:
        decoder.notes.clear()
    if isinstance(value, (dict, list)) or _is_text_row(value):
        return paired(value)
    return BadRow(line.rstrip(b"\r\n"))


def _is_text_row(value: Any) -> bool:
    return isinstance(value, str) and (LINE.match(value) is not None or is_stream(value))


FORMS = (
    Form(
        name="rows",
        title="JSON rows with a body or a chunk each",
        looks=_looks_json,
        read=_read_json,
    ),
)
