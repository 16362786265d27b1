"""
What curl writes: a response's headers in front of its body (`-i`), and the body
as it came over the wire (`--raw`, in the chunked transfer coding).

All that curl writes is first taken apart into headers and data; those are then
made recordings, one for each response that has a body.  Headers may hold
secrets: of them only the status is looked at.
"""

from __future__ import annotations

import re

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import attrs

from streamkit._issues import Issue
from streamkit._limits import Limits

from ._chunked import CHUNK_HEAD, DOTTED_HEAD, Dechunker
from ._pieces import Form, Piece, ReadOptions, Recording
from ._text import is_long_enough, look_ahead, runs_of_lines
from ._wrappers import MAGIC_SIZE, Unpacker, compression_of


__all__ = ["FORMS", "STATUS_LINE", "Part", "parts", "recordings_of"]

STATUS_LINE = re.compile(rb"HTTP/(?:1\.[01]|2|2\.0|3) ([1-5]\d\d)(?: [A-Za-z' \-]*)?\r?\n")
HEADER = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+:")
CUT_SIZE = re.compile(rb"[0-9A-Fa-f]{1,15}[\r.]?")
ENOUGH = 64
WRONG = 400


@attrs.frozen
class Part:
    """
    Something that curl received.

    Attributes:
        data: Its bytes: a line of a header, or a piece of a body.
        is_header: Which of the two.
        time: When it came, if that is known.
        place: Where it stands in the recording.
        sent: When the request was sent that it answers, if that is known.
    """

    data: bytes
    is_header: bool
    time: float | None = None
    place: str = ""
    sent: float | None = None


# -- Parts to recordings -------------------------------------------------------------


class _Body:
    """
    The data of one response, taken from the parts of all.

    Who asks for the next response before this one is read gets both: what is
    left of this one is then kept.
    """

    def __init__(self, parts: _Parts) -> None:
        self._parts = parts
        self._kept: deque[Piece] = deque()
        self._is_current = True

    def __iter__(self) -> Iterator[Piece]:
        return self

    def __next__(self) -> Piece:
        if self._kept:
            return self._kept.popleft()
        part = self._parts.take(header=False) if self._is_current else None
        if part is None:
            raise StopIteration
        return Piece(part.data, part.time, part.place)

    def keep(self) -> None:
        """Keep what is left: the parts behind it are wanted."""
        self._kept.extend(list(self))
        self._is_current = False


class _Parts:
    """Parts, of which the next can be looked at; it is not asked for before."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = iter(parts)
        self._next: Part | None = None

    def next(self) -> Part | None:
        if self._next is None:
            self._next = next(self._parts, None)
        return self._next

    def take(self, *, header: bool) -> Part | None:
        """Take the next if it is of a header, or not, as asked."""
        part = self.next()
        if part is None or part.is_header is not header:
            return None
        self._next = None
        return part


def recordings_of(
    parts: Iterable[Part],
    options: ReadOptions,
    mend: Callable[[Iterator[Piece]], Iterator[Piece]] = iter,
    notes: tuple[Issue, ...] = (),
    *,
    dots: bool = False,
) -> Iterator[Recording]:
    """
    Yield a recording for each response in *parts*.

    Args:
        parts: What was received, in order.
        options: How to read.
        mend: Puts right what the form did to a body.
        notes: What is to be said about each.
        dots: Line ends may be shown as dots.
    """
    left = _Parts(parts)
    number = 0
    while left.next() is not None:
        status = _take_headers(left)
        start = left.next()
        body = _Body(left)
        number += 1
        pieces, later = _decompressed(mend(_without_coding(body, dots=dots)), options.limits)
        found = _recording(f"response {number}", status, pieces, notes)
        if start is not None and start.sent is not None:
            found = attrs.evolve(found, pieces=chain([Piece(b"", start.sent)], found.pieces))
        yield attrs.evolve(found, later=later)
        body.keep()


def _take_headers(left: _Parts) -> int | None:
    """Skip the headers, those of interim responses and redirects too; return the last status."""
    status = None
    while (part := left.take(header=True)) is not None:
        line = STATUS_LINE.fullmatch(part.data)
        status = status if line is None else int(line[1])
    return status


def _recording(
    name: str,
    status: int | None,
    pieces: Iterator[Piece],
    notes: tuple[Issue, ...],
) -> Recording:
    if status is not None:
        name += f": status {status}"
        if status >= WRONG:
            notes += (Issue("http_status", f"the server answered with status {status}"),)
    first, pieces = look_ahead(pieces, lambda _: True)
    if not first:
        notes += (Issue("no_body", "there is no body; record with `curl -sN`, and without -I"),)
    return Recording(name=name, pieces=pieces, notes=notes)


def _head(pieces: Iterator[Piece], size: int) -> tuple[bytes, Iterator[Piece]]:
    """Return about the first *size* bytes of *pieces*, and all of them."""
    first, pieces = look_ahead(pieces, is_long_enough(size, lambda piece: len(piece.data)))
    return b"".join(piece.data for piece in first), pieces


def _without_coding(body: Iterator[Piece], *, dots: bool) -> Iterator[Piece]:
    """Undo the chunked transfer coding if the body shows it: headers do not tell (see --raw)."""
    head, pieces = _head(body, ENOUGH)
    if not ((DOTTED_HEAD if dots else CHUNK_HEAD).match(head) or CUT_SIZE.fullmatch(head)):
        return pieces
    dechunker = Dechunker(dots=dots)
    return _mapped(pieces, lambda data: [dechunker.feed(data)])


def _decompressed(
    pieces: Iterator[Piece], limits: Limits
) -> tuple[Iterator[Piece], list[Issue] | None]:
    """Return *pieces* decompressed, and what will come to light on the way."""
    head, pieces = _head(pieces, MAGIC_SIZE)
    compression = compression_of(head)
    if compression is None:
        return pieces, None
    unpacker = Unpacker(compression, limits)
    return _unpacked(pieces, unpacker), unpacker.issues


def _unpacked(pieces: Iterator[Piece], unpacker: Unpacker) -> Iterator[Piece]:
    yield from _mapped(pieces, unpacker.feed)
    unpacker.finish()


def _mapped(pieces: Iterator[Piece], change: Callable[[bytes], Iterable[bytes]]) -> Iterator[Piece]:
    for piece in pieces:
        for data in change(piece.data):
            if data:
                yield Piece(data, piece.time, piece.place)


# -- curl -i, and --raw --------------------------------------------------------------


def parts(blocks: Iterator[bytes], limits: Limits) -> Iterator[Part]:
    """
    Tell headers from data: a status line starts the former, a blank line ends them.

    Blank lines at the start, as pastes begin, are neither.
    """
    in_headers = begun = False
    offset = 0
    for run in runs_of_lines(blocks, limits):
        at = 0
        while at < len(run):
            if in_headers:
                end = run.find(b"\n", at) + 1 or len(run)
                yield Part(run[at:end], is_header=True, place=f"byte {offset + at}")
                in_headers = bool(run[at:end].strip())
            else:
                end = _next_status(run, at)
                data = run[at:end] if begun else run[at:end].lstrip(b"\r\n")
                if data:
                    yield Part(data, is_header=False, place=f"byte {offset + end - len(data)}")
                in_headers = end < len(run)
                begun = begun or bool(data) or in_headers
            at = end
        offset += len(run)


def _next_status(run: bytes, at: int) -> int:
    """
    Return where the next status line starts, or else the end.

    It may be glued to a body that does not end in a line end; that it ends in
    CRLF then tells it from text of the body.
    """
    for line in STATUS_LINE.finditer(run, at):
        start = line.start()
        if start == 0 or run[start - 1 : start] == b"\n" or line[0].endswith(b"\r\n"):
            return start
    return len(run)


def _read(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    return recordings_of(parts(blocks, options.limits), options)


def _looks_like_response(head: bytes) -> int:
    head = head.lstrip(b"\r\n")  # as pastes begin
    status = STATUS_LINE.match(head)
    if status is None:
        return 0
    second = head[status.end() :].partition(b"\n")[0]
    return 95 if HEADER.match(second) or not second.strip() else 0


def _looks_raw(head: bytes) -> int:
    """Tell a first chunk by its size: what follows must end, or go on, where it says."""
    size = CHUNK_HEAD.match(head)
    if size is None:
        return 0
    end = size.end() + int(size[1], 16)
    if end >= len(head):
        return (
            40 if head[size.end() :].lstrip().startswith((b"data:", b"{", b":", b"event:")) else 0
        )
    return 95 if head.startswith((b"\r\n", b"\n"), end) else 0


FORMS = (
    Form(
        name="curl-i",
        title="a response with its headers, as `curl -i` writes it",
        looks=_looks_like_response,
        read=_read,
    ),
    Form(
        name="curl-raw",
        title="a body in the chunked transfer coding, as `curl --raw` writes it",
        looks=_looks_raw,
        read=_read,
    ),
)
