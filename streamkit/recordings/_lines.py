"""
Logs that keep a stream line by line, each line behind a prefix: a time, a
logger's, a container's.  The prefix gives the time of what stands behind it.
"""

from __future__ import annotations

import re

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

import attrs

from streamkit._json import BadJSON, Decoder
from streamkit._limits import Limits

from ._clock import TIME, Clock
from ._containers import CRI, Source, from_cri, from_docker, from_journal
from ._pieces import Form, Piece, ReadOptions, Recording
from ._prefix import CHUNK, find_payload, mode_of, mode_of_stream, without_prefixes
from ._row_values import Path, as_bytes, at, find, json_of
from ._row_words import without_words
from ._text import COLOUR, HEAD, head_lines, is_long_enough, lines, look_ahead


__all__ = ["FORMS"]

# A line that is of the stream itself, without any prefix.
BARE = re.compile(rb"[ \t]*(?:(?:data|event|id|retry)?:|\[?\{|\[\s*\Z|\[DONE\])")
BARE_FIELD = re.compile(rb"[ \t]*data:")


ASSIGNMENT = re.compile(
    rb"\s*(?:export )?(?:(?:const|let|var) )?[A-Za-z_][\w.]{0,80}(?:: ?[\w<>\[\]]{1,40})? ?:?= ?"
)
# How the lines of a log begin that has no time.
LEVEL = re.compile(
    rb"[\[(]?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b", re.IGNORECASE
)


# -- Reading -------------------------------------------------------------------------


def _recording(name: str, pieces: Iterator[Piece]) -> Recording:
    """Take prefixes off, too, if the first lines show that there are some."""
    return Recording(name=name, pieces=_without_any(pieces))


def _without_any(pieces: Iterator[Piece]) -> Iterator[Piece]:
    first, pieces = look_ahead(pieces, is_long_enough(HEAD, lambda piece: len(piece.data)))
    rows = [piece.data for piece in first]
    if sum(map(len, rows)) >= HEAD and not _has_stream(rows):
        return _late(first, pieces)
    shown = _tally(rows)
    if shown.mode is not None and shown.prefixed:
        pieces = without_prefixes(pieces, shown.mode)
    return _from_rows(pieces)


def _from_rows(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Return *pieces*, or what they hold if they are rows: objects with a stream in a field."""
    first, pieces = look_ahead(pieces, is_long_enough(HEAD, lambda piece: len(piece.data)))
    if any(BARE_FIELD.match(piece.data) for piece in first):
        return pieces  # the stream itself; what is in rows beside it would be doubled
    for open_row in (_row, _row_without_words):
        path = next(filter(None, (find(open_row(piece)) for piece in first)), None)
        if path is not None:
            return _held(pieces, open_row, path)
    return pieces


def _row(piece: Piece) -> Any:
    return json_of(piece.data.decode("utf-8", "replace"))


def _row_without_words(piece: Piece) -> Any:
    """Return the row that *piece* is, if it has a stream behind words: with that alone."""
    return next(without_words([_row(piece)]), None)


def _held(pieces: Iterator[Piece], open_row: Callable[[Piece], Any], path: Path) -> Iterator[Piece]:
    """Yield what rows hold at *path*, and lines that are none; other entries are left out."""
    for piece in pieces:
        row = open_row(piece)
        value = at(row, path)
        if value is not None:
            yield attrs.evolve(piece, data=as_bytes(value).rstrip(b"\n") + b"\n")
        elif not _is_other_entry(_row(piece)):
            yield piece


def _is_other_entry(row: Any) -> bool:
    return isinstance(row, Mapping) and not isinstance(row.get("error"), Mapping)


def _has_stream(rows: Iterable[bytes]) -> bool:
    return any(mode_of_stream(row) or BARE_FIELD.match(row) for row in rows)


def _late(first: list[Piece], pieces: Iterator[Piece]) -> Iterator[Piece]:
    """
    Wait for the first line of a stream, which tells whether there are prefixes.

    What was logged before it is left out.  If no line of a stream has a prefix,
    the *first* lines are handed on, so that the framing says what they are.
    """
    for piece in pieces:
        mode = mode_of_stream(piece.data)
        if mode is not None and _tally([piece.data]).prefixed:
            yield from _from_rows(without_prefixes(chain([piece], pieces), mode))
            return
        if mode is not None or BARE_FIELD.match(piece.data):
            yield from chain(first, _from_rows(chain([piece], pieces)))
            return
    yield from first


def _reader_of(source: Source, name: str) -> Callable[..., Iterator[Recording]]:
    def read(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
        yield _recording(name, source(blocks, options.limits))

    return read


def _from_lines(blocks: Iterable[bytes], limits: Limits) -> Iterator[Piece]:
    for number, line in enumerate(lines(blocks, limits), 1):
        yield Piece(line, None, f"line {number}")


# -- Looking -------------------------------------------------------------------------


class _Tally(NamedTuple):
    """How many lines of a recording's start show a payload, and how."""

    mode: str | None
    prefixed: int
    timed: int
    bare: int
    starts_bare: bool
    is_assigned: bool  # in the first of them, what follows to a name: JSON in a program


def _tally(rows: list[bytes]) -> _Tally:
    rows = [COLOUR.sub(b"", row) for row in rows]
    mode = mode_of(rows)
    prefixed = timed = bare = 0
    starts_bare = is_assigned = False
    for row in rows:
        found = None if mode is None else find_payload(row, mode)
        if found is not None and found.prefix.strip():
            prefixed += 1
            is_assigned = is_assigned or (prefixed == 1 and _is_assignment(found.prefix))
            timed += bool(found.time_end) or Clock().find(found.prefix) is not None
        elif BARE.match(row) and (mode != "json" or found):
            starts_bare = starts_bare or not prefixed
            bare += 1
    return _Tally(mode, prefixed, timed, bare, starts_bare, is_assigned and mode == "json")


def _is_assignment(prefix: bytes) -> bool:
    return ASSIGNMENT.fullmatch(prefix) is not None


def _looks_prefixed(head: bytes) -> int:
    """
    Ask for payloads behind prefixes; they may come late in what is a log.

    With times that is plain, even if further lines of an entry have none, and so it is
    where a program assigns it.  Without them most lines must be such.
    """
    rows = head_lines(head)
    if len(head) >= HEAD and not _has_stream(rows):
        return 20 if _is_log(rows) else 0
    found = _tally(rows)
    if not found.prefixed or found.starts_bare or not CHUNK.search(head):
        return 0
    if found.timed:
        return 80
    are_most = found.prefixed > max(found.bare, 1)
    return 60 if are_most or found.is_assigned else 0


def _is_log(rows: list[bytes]) -> bool:
    """Tell whether most of *rows* begin as the entries of a log do."""
    rows = [COLOUR.sub(b"", row) for row in rows if row.strip()]
    begun = sum(1 for row in rows if TIME.match(row) or LEVEL.match(row))
    return 2 * begun > len(rows)


def _looks_cri(head: bytes) -> int:
    rows = [row for row in head_lines(head) if row.strip()]
    return 90 if rows and all(CRI.match(row) for row in rows[:3]) else 0


def _looks_docker(head: bytes) -> int:
    entry = _first_entry(head)
    return 90 if isinstance(entry.get("log"), str) and {"stream", "time"} & entry.keys() else 0


def _looks_journal(head: bytes) -> int:
    return 90 if {"MESSAGE", "__REALTIME_TIMESTAMP"} <= _first_entry(head).keys() else 0


def _first_entry(head: bytes) -> dict[str, object]:
    first = next((row for row in head_lines(head) if row.strip()), b"")
    if not first.startswith(b"{"):
        return {}
    try:
        entry = Decoder("json").whole(first)
    except BadJSON:
        return {}
    return entry if isinstance(entry, dict) else {}


FORMS = (
    Form(
        name="prefixed",
        title="lines behind a time or a logger's prefix",
        looks=_looks_prefixed,
        read=_reader_of(_from_lines, "log"),
    ),
    Form(
        name="docker",
        title="a container's log, as Docker keeps it (json-file)",
        looks=_looks_docker,
        read=_reader_of(from_docker, "container log"),
    ),
    Form(
        name="cri",
        title="a container's log, as Kubernetes keeps it (CRI)",
        looks=_looks_cri,
        read=_reader_of(from_cri, "container log"),
    ),
    Form(
        name="journal",
        title="an export of the journal (journalctl -o json)",
        looks=_looks_journal,
        read=_reader_of(from_journal, "journal"),
    ),
)
