"""An answer on the wire: its framing, the blocks in time, and how it ends."""

from __future__ import annotations

import math
import time
import zlib

from collections.abc import Callable, Iterator

import attrs

from ._line import Line
from ._playback import JSON, Playback
from ._playback_fields import End
from ._request import Request


__all__ = ["Framing", "framing_of", "send_body"]

# A reset takes from a client what it has not read yet, so it gets a moment to read.
BEFORE_RESET = 0.05
# The window of zlib, 2 to the 15, and 16 for the head and the trailer of gzip.
GZIP_WINDOW = 31
WITHOUT_BODY = frozenset({204, 304})
LAST_CHUNK = b"0\r\n\r\n"
# The start of a chunk whose 1024 bytes do not come.
CUT_CHUNK = b"400\r\n"


@attrs.frozen(kw_only=True)
class Framing:
    """
    How the body of a message is framed (RFC 9112, 6).

    Attributes:
        has_body: Whether it has a body.
        length: The content length, if it is known beforehand.
        chunked: Whether it has the chunked transfer coding.
        gzip: Whether its content is compressed.
    """

    has_body: bool = True
    length: int | None = None
    chunked: bool = False
    gzip: bool = False

    @property
    def ends_connection(self) -> bool:
        """Whether only the end of the connection shows the end of the body."""
        return self.has_body and self.length is None and not self.chunked

    def headers(self) -> Iterator[tuple[str, str]]:
        """Yield the headers that say so."""
        if self.length is not None:
            yield "Content-Length", str(self.length)
        if self.chunked:
            yield "Transfer-Encoding", "chunked"
        if self.gzip:
            yield "Content-Encoding", "gzip"
        if self.ends_connection:
            yield "Connection", "close"


def framing_of(playback: Playback, request: Request, version: str) -> Framing:
    """Return how *playback* is framed for *request*, of the HTTP version *version*."""
    if request.method == "HEAD" or playback.status in WITHOUT_BODY:
        return Framing(has_body=False)
    gzip = playback.gzip and request.accepts_gzip
    is_whole = playback.content_type == JSON and playback.end == "close" and not playback.duration
    length = len(playback.data) if is_whole and not gzip else None
    return Framing(length=length, chunked=length is None and version != "HTTP/1.0", gzip=gzip)


def send_body(line: Line, request: Request, playback: Playback, framing: Framing) -> None:
    """
    Send the body of *playback*, block by block in time, and break off if it says so.

    Raises:
        LineEnded: If the connection is over before.
    """
    pack, finish = _packing(framing.gzip)
    code = _chunk if framing.chunked else _as_it_is
    due = time.monotonic()
    for block in playback.blocks:
        due += block.delay
        line.wait_until(due)
        line.write(code(pack(block.data)))
        request.sent += 1
    if playback.end == "close":
        line.write(code(finish()) + LAST_CHUNK * framing.chunked)
    else:
        _break_off(line, playback.end, framing)


def _break_off(line: Line, end: End, framing: Framing) -> None:
    if end == "cut":
        line.write(CUT_CHUNK * framing.chunked)
    elif end == "reset":
        line.wait_until(time.monotonic() + BEFORE_RESET)
    else:
        line.wait_until(math.inf)


# -- Codings -------------------------------------------------------------------------


def _packing(gzip: bool) -> tuple[Callable[[bytes], bytes], Callable[[], bytes]]:
    """Return what packs a block so that it can be read at once, and what ends the packing."""
    if not gzip:
        return _as_it_is, bytes
    packer = zlib.compressobj(wbits=GZIP_WINDOW)
    return lambda data: packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH), packer.flush


def _as_it_is(data: bytes) -> bytes:
    return data


def _chunk(data: bytes) -> bytes:
    """Return *data* as one chunk; an empty one would end the body."""
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""
