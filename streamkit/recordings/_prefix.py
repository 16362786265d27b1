"""
What stands in front of the lines of a stream: a time, and what a logger adds.

Where the payload starts is learned from the lines that show it: behind what
stands before `data:` in one of them, blank lines, comments and other fields are
found in others.  The same goes for loggers that write JSON or Python values.
"""

from __future__ import annotations

import re

from collections.abc import Iterable, Iterator

import attrs

from ._clock import TIME, Clock
from ._leading import values_in
from ._pieces import Piece
from ._python_value import NoValue, data_of, refusal
from ._text import COLOUR


__all__ = ["CHUNK", "Payload", "find_payload", "mode_of", "mode_of_stream", "without_prefixes"]

# No prefix has a quotation mark or a brace: what stands behind one is a part of
# something else, such as a column of a table.  An angle bracket may begin one: a
# priority (RFC 5424, section 6), or an arrow; or be of Python's name for a function.
# The labels that Loki shows have both.
_PREFIX = (
    rb"(?P<prefix>(?:<\d{1,3}>|<{1,3}[\-=]{0,2}[ ])?"
    rb"(?:[^{}\"'`<\r\n]|<(?:module|lambda|locals|genexpr|(?:list|dict|set)comp)>"
    rb"|\{(?:[A-Za-z_][\w.]{0,80}=\"[^\"{}\r\n]{0,300}\"[,]?[ ]?){1,60}\}){0,300}?)"
    rb"(?<![\w.\-])"
)
_MODES = {
    "sse": rb"(?=data:[ ]?(?:[{\[\"]|[ ]*\r?\n?\Z))",
    "json": rb"(?=\[?\{(?:\"|[ ]*\r?\n?\Z))",
    "python": (
        rb"(?<!,)(?<!\w\()(?=(?:[A-Za-z_]\w{0,80}\()?[\[(]{0,2}"
        rb"(?:\{'|[bB]?['\"`](?:(?:data|event|id|retry)?: ?|\{\\?\")"
        rb"|(?<=\()(?:id|choices)=|id='[^'\r\n]{0,200}' [a-z_]{1,40}=))"
    ),
}
MODES = {mode: re.compile(_PREFIX + pattern) for mode, pattern in _MODES.items()}
CHUNK = re.compile(rb"[\"']choices\\?[\"']|\bchoices=|chat\.completion|text_completion|\[DONE\]")
# What may follow a prefix that was learned, or go on on a line that has none.
GOES_ON = re.compile(rb"[ \t]*\r?\n?\Z|(?:data|event|id|retry)?:|\[DONE\]|[{}\[\]\"]|[ \t]+\S")
DIGITS = re.compile(rb"\d+")
LEARNED = 8


@attrs.frozen
class Payload:
    """
    A line's payload.

    Attributes:
        prefix: What stands before it.
        time_end: Where a time at the start of that ends; 0 if there is none.
    """

    prefix: bytes
    time_end: int


def find_payload(line: bytes, mode: str) -> Payload | None:
    """Return where the payload of *line* starts, if it shows one of *mode*."""
    time = TIME.match(line)
    start = 0 if time is None else time.end()
    found = MODES[mode].match(line, start)
    if found is None:
        return None
    return Payload(line[: found.end()], start)


def mode_of(rows: Iterable[bytes]) -> str | None:
    """Return what the payloads in *rows* are: the first of the modes that any row shows."""
    rows = [COLOUR.sub(b"", row) for row in rows]
    for mode in MODES:
        if any(find_payload(row, mode) for row in rows):
            return mode
    return None


def mode_of_stream(row: bytes) -> str | None:
    """Return what the payload of *row* is, if it is one of a stream, and no other of a log."""
    mode = mode_of([row])
    return mode if mode == "sse" or CHUNK.search(row) else None


def _learn(prefix: bytes) -> re.Pattern[bytes]:
    """
    Return the pattern of *prefix*, in which numbers may be others.

    Its trailing blanks may be missing where nothing follows: editors take them off.
    """
    bare = prefix.rstrip()
    numbers = rb"\d+".join(re.escape(text) for text in DIGITS.split(bare))
    return re.compile(numbers + rb"(?:" + re.escape(prefix[len(bare) :]) + rb"|(?=\s*\Z))")


@attrs.define
class _Stripper:
    """Takes prefixes off, and learns them."""

    mode: str
    learned: dict[bytes, re.Pattern[bytes]] = attrs.field(factory=dict)
    clock: Clock = attrs.field(factory=Clock)
    time: float | None = None
    goes_on: bool = False

    def take(self, piece: Piece) -> Iterator[Piece]:
        line = COLOUR.sub(b"", piece.data) if b"\x1b" in piece.data else piece.data
        time, start = self.clock.read(line)
        if start and time is None:  # a moment that there is not is not the one before
            self.time = None
        end = self._payload_start(line, start)
        is_first = end is not None
        if end is None:
            # A line that has a time is another entry of the log.
            self.goes_on = self.goes_on and not start and GOES_ON.match(line) is not None
            end = 0 if self.goes_on else len(line)
        else:
            self.goes_on = True
            time = self.clock.find(line[:end]) if time is None else time
        for found in (time, piece.time):
            if found is not None:
                self.time = found
                break
        for data in self._data(line[end:], is_first=is_first):
            yield Piece(data, self.time, piece.place)

    def _payload_start(self, line: bytes, start: int) -> int | None:
        for learned in self.learned.values():
            found = learned.match(line, start)
            if found is not None and GOES_ON.match(line, found.end()):
                return found.end()
        shown = MODES[self.mode].match(line, start)
        if shown is None:
            return None
        prefix = line[start : shown.end()]
        if not start and not prefix.strip():  # no prefix at all
            return None if self.goes_on else shown.end()
        if len(self.learned) < LEARNED:
            self.learned[DIGITS.sub(b"0", prefix)] = _learn(prefix)
        return shown.end()

    def _data(self, text: bytes, *, is_first: bool) -> list[bytes]:
        if not text:
            return []
        if self.mode != "python" or not is_first or not text.strip():
            return [text]
        try:
            found = _data_in(text)
        except NoValue:
            return [refusal(text)]
        return [data if b"\n" in data else data + b"\n" for data in found]


def _data_in(text: bytes) -> list[bytes]:
    """Return the bytes of the value at the start of *text*, and of chunks that follow it."""
    first, *others = values_in(text)[0]
    chunks = [value for value in others if isinstance(value, dict) and "choices" in value]
    return [data for value in (first, *chunks) for data in data_of(value)]


def without_prefixes(pieces: Iterable[Piece], mode: str) -> Iterator[Piece]:
    """Yield the payloads of *pieces*, lines of a log whose payloads are of *mode*."""
    stripper = _Stripper(mode)
    for piece in pieces:
        yield from stripper.take(piece)
