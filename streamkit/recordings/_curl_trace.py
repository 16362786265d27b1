"""
curl's traces: `--trace-ascii` and `--trace` (in hexadecimal), with the times of
`--trace-time` if they were asked for.

A trace is blocks of rows.  Each row starts with its offset, so that what a row
does not show is known: an ASCII row leaves out the CRLF that ends it, and
a trailing blank that an editor took away.  Only what was received is read.
"""

from __future__ import annotations

import re

from collections.abc import Iterator

import attrs

from streamkit._issues import Issue
from streamkit._limits import Limits

from ._clock import Clock
from ._curl import Part, recordings_of
from ._dots import DotMender
from ._pieces import Form, Piece, ReadOptions, Recording
from ._text import head_lines, lines


__all__ = ["BLOCK", "FORMS", "HEX_BYTES", "PAIR", "ROW", "not_shown"]

BLOCK = re.compile(
    rb"(?:(?P<time>\d\d:\d\d:\d\d\.\d{6}) )?(?:\[\S{1,40}\] )?"
    rb"(?:== Info: |(?P<way><=|=>) (?P<what>Recv|Send) (?P<kind>header|data|SSL data), "
    rb"(?P<size>\d{1,15}) bytes \(0x[0-9a-f]+\))"
)
ROW = re.compile(rb"([0-9a-f]{4,15}):(?: ([^\r\n]*))?(\r?\n)?")
# Sixteen pairs in 48 columns, then what they mean.
HEX_ROW = re.compile(rb"[0-9a-f]{4,15}: (?:[0-9a-f]{2} ){1,16}(?: {3})*+\S")
# All of them, in a row that nothing was taken from.
PAIRS = re.compile(rb"(?m)^[0-9a-f]{4,15}: ((?:[0-9a-f]{2} ){1,16})")
PAIR = re.compile(rb"\b[0-9a-f]{2}(?= |\Z)")
HEX_BYTES, ASCII_COLUMNS = 16, 64
CRLF = b"\r\n"

NOTE = Issue(
    "trace_ascii",
    "an ASCII trace shows line ends and all that is not printable ASCII as dots: line ends were "
    "put back, other characters are lost; record with --trace, or with -o and a file",
)


@attrs.define
class _Block:
    """One block of a trace, while its rows come."""

    is_header: bool
    is_wanted: bool
    size: int
    time: float | None
    place: str
    sent: float | None
    rows: list[bytes] = attrs.field(factory=list)
    _shown: int = 0

    def add(self, row: bytes) -> int:
        """Take *row*, and return how many bytes are held."""
        self.rows.append(row)
        self._shown += len(row)
        return self._shown

    def part(self, *, is_hex: bool) -> Part:
        data = _whole_of_hex(self.rows, self.size) if is_hex else None
        if data is None:
            rows, size = self._parsed()
            data = (_of_hex if is_hex else _of_ascii)(rows, size)
        return Part(data, self.is_header, self.time, self.place, self.sent)

    def _parsed(self) -> tuple[list[tuple[int, bytes]], int]:
        """Return the offset and the text of each row, and the size that they show."""
        rows: list[tuple[int, bytes]] = []
        size = self.size
        for row in filter(None, map(ROW.fullmatch, self.rows)):
            offset, text = int(row[1], 16), row[2] or b""
            rows.append((offset, text))
            if not row[3]:  # the trace is cut in this row
                size = min(size, offset + len(text))
        return rows, size


def _whole_of_hex(rows: list[bytes], size: int) -> bytes | None:
    """Return what *rows* show, read at once, or None if any is not as curl writes it."""
    pairs = PAIRS.findall(b"".join(rows))
    data = bytes.fromhex(b"".join(pairs).decode())
    return data if len(data) == size and len(pairs) == len(rows) else None


def _of_hex(rows: list[tuple[int, bytes]], size: int) -> bytes:
    pairs: list[bytes] = []
    for offset, text in rows:
        left = max(0, size - offset)
        pairs += PAIR.findall(text[: min(HEX_BYTES, left) * len("00 ")])
    return bytes.fromhex(b"".join(pairs).decode())


def _of_ascii(rows: list[tuple[int, bytes]], size: int) -> bytes:
    data: list[bytes] = []
    ends = [*(offset for offset, _ in rows), size][1:]
    for (offset, text), end in zip(rows, ends, strict=True):
        data.append(text + not_shown(len(text), end - offset))
    return b"".join(data)


def not_shown(shown: int, size: int) -> bytes:
    """Return what a row of *size* bytes has behind the *shown*: CRLF, or trailing blanks."""
    missing = size - shown
    if missing <= 0 or size > ASCII_COLUMNS + len(CRLF):
        return b""
    if missing == 1 or (size == ASCII_COLUMNS and missing > len(CRLF)):
        return b" " * missing
    return b" " * (missing - len(CRLF)) + CRLF


def _blocks(blocks: Iterator[bytes], limits: Limits) -> Iterator[_Block]:
    clock, most = Clock(), limits.longest
    block: _Block | None = None
    sent: float | None = None  # the last request
    for number, line in enumerate(lines(blocks, limits), 1):
        # Most lines are rows; what starts a block has no colon there, or one in a time.
        is_row = line[4:6] == b": "
        start = None if is_row else BLOCK.match(line)
        if start is None:
            if block is not None and block.is_wanted and (is_row or ROW.fullmatch(line)):
                held = block.add(line)
                if held > most:
                    limits.check("event", held)
            continue
        if block is not None and block.rows:
            yield block
        block = _started(start, clock, f"line {number}", sent)
        if start["way"] == b"=>" and start["kind"] == b"header":
            sent = block.time
    if block is not None and block.rows:
        yield block


def _started(start: re.Match[bytes], clock: Clock, place: str, sent: float | None) -> _Block:
    time = None if start["time"] is None else clock.read(start["time"])[0]
    is_wanted = start["way"] == b"<=" and start["kind"] in (b"header", b"data")
    is_header, size = start["kind"] == b"header", int(start["size"] or 0)
    return _Block(is_header, is_wanted, size, time, place, sent)


def _mended(pieces: Iterator[Piece]) -> Iterator[Piece]:
    mender = DotMender()
    for piece in pieces:
        yield Piece(mender.feed(piece.data), piece.time, piece.place)
    if rest := mender.finish():
        yield Piece(rest)


def _read_ascii(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    parts = (block.part(is_hex=False) for block in _blocks(blocks, options.limits))
    return recordings_of(parts, options, _mended, (NOTE,), dots=True)


def _read_hex(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    parts = (block.part(is_hex=True) for block in _blocks(blocks, options.limits))
    return recordings_of(parts, options)


def _rows_behind(head: bytes) -> list[bytes]:
    """Return the line behind each that starts a block with rows; there are none in other text."""
    found = head_lines(head)
    starts = [number for number, line in enumerate(found) if (m := BLOCK.match(line)) and m["way"]]
    return [found[number + 1] for number in starts if number + 1 < len(found)]


def _looks_ascii(head: bytes) -> int:
    rows = _rows_behind(head)
    return 95 if rows and ROW.fullmatch(rows[0]) and not HEX_ROW.match(rows[0]) else 0


def _looks_hex(head: bytes) -> int:
    rows = _rows_behind(head)
    return 95 if rows and HEX_ROW.match(rows[0]) else 0


FORMS = (
    Form(
        name="curl-trace-ascii",
        title="a trace that `curl --trace-ascii` wrote",
        looks=_looks_ascii,
        read=_read_ascii,
    ),
    Form(
        name="curl-trace",
        title="a trace that `curl --trace` wrote, in hexadecimal",
        looks=_looks_hex,
        read=_read_hex,
    ),
)
