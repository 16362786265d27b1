"""
What containers and the journal make of a program's lines: Docker's json-file,
the Container Runtime Interface's log (Kubernetes), `journalctl -o json`.

Long lines are split there; they are put together again, those of the two
outputs of a program apart from each other.
"""

from __future__ import annotations

import re

from collections.abc import Callable, Iterable, Iterator

import attrs

from streamkit._json import BadJSON, Decoder
from streamkit._limits import Limits

from ._clock import Clock
from ._pieces import Piece
from ._text import lines


__all__ = ["CRI", "Source", "from_cri", "from_docker", "from_journal"]

CRI = re.compile(
    rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) (stdout|stderr) "
    rb"([PF])(?::\S*)?(?: |(?=\r?\n?\Z))"
)
MICROSECONDS = 1e6
BYTES = range(256)


@attrs.define
class _Joiner:
    """The parts of unfinished lines, by the output that they are of."""

    limits: Limits
    parts: dict[object, list[bytes]] = attrs.field(factory=dict)
    sizes: dict[object, int] = attrs.field(factory=dict)

    def add(self, output: object, data: bytes) -> bytes:
        """Return the line that *data* ends, or nothing."""
        if output not in self.parts and data.endswith(b"\n"):
            return data  # whole, as most are
        self.parts.setdefault(output, []).append(data)
        self.sizes[output] = self.sizes.get(output, 0) + len(data)
        self.limits.check("line", self.sizes[output])
        if not data.endswith(b"\n"):
            return b""
        del self.sizes[output]
        return b"".join(self.parts.pop(output))

    def rest(self) -> Iterator[bytes]:
        """Yield what was never finished."""
        return (b"".join(parts) for parts in self.parts.values())


def from_cri(blocks: Iterable[bytes], limits: Limits) -> Iterator[Piece]:
    """Yield the lines of a CRI log; a part marked `P` goes on in the next of its output."""
    joiner, clock = _Joiner(limits), Clock()
    for number, row in enumerate(lines(blocks, limits), 1):
        head = CRI.match(row)
        if head is None:  # no line of the runtime's
            continue
        text = row[head.end() :].rstrip(b"\r\n")
        if line := joiner.add(head[2], text + (b"\n" if head[3] == b"F" else b"")):
            yield Piece(line, clock.read(head[1])[0], f"line {number}")
    yield from map(Piece, joiner.rest())


def from_docker(blocks: Iterable[bytes], limits: Limits) -> Iterator[Piece]:
    """Yield the lines of a json-file log; an entry whose text has no line end goes on."""
    joiner, clock = _Joiner(limits), Clock()
    for entry, place in _entries(blocks, limits):
        text, time = entry.get("log"), entry.get("time")
        if isinstance(text, str) and (
            line := joiner.add(str(entry.get("stream")), text.encode("utf-8", "replace"))
        ):
            yield Piece(line, clock.read(str(time).encode("utf-8", "replace"))[0], place)
    yield from map(Piece, joiner.rest())


def from_journal(blocks: Iterable[bytes], limits: Limits) -> Iterator[Piece]:
    """Yield the lines of a journal export; what is not UTF-8 stands there as a list of bytes."""
    for entry, place in _entries(blocks, limits):
        text = entry.get("MESSAGE")
        if isinstance(text, list):
            text = bytes(byte for byte in text if byte in BYTES)
        elif isinstance(text, str):
            text = text.encode("utf-8", "replace")
        if isinstance(text, bytes):
            stamp = str(entry.get("__REALTIME_TIMESTAMP"))
            time = int(stamp) / MICROSECONDS if STAMP.fullmatch(stamp) else None
            yield Piece(text + b"\n", time, place)


STAMP = re.compile(r"[0-9]{1,18}")
Source = Callable[[Iterable[bytes], Limits], Iterator[Piece]]


def _entries(blocks: Iterable[bytes], limits: Limits) -> Iterator[tuple[dict[str, object], str]]:
    decoder = Decoder("auto", limits)
    for number, row in enumerate(lines(blocks, limits), 1):
        try:
            entry = decoder.whole(row)
        except BadJSON:  # cut, or no entry
            entry = None
        decoder.notes.clear()
        if isinstance(entry, dict):
            yield entry, f"line {number}"
