"""
The chunked transfer coding (RFC 9112, section 7.1), undone piece by piece.

A capture of the wire holds it: each chunk stands behind its size in hexadecimal.
"""

from __future__ import annotations

import enum
import re


__all__ = ["CHUNK_HEAD", "Dechunker"]

# chunk-size [ chunk-ext ] CRLF; a tool may have made LF of CRLF.
CHUNK_HEAD = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")
# No size line is longer, and a trailer is no part of the body.
LONGEST_LINE = 1 << 14


class _State(enum.Enum):
    SIZE = enum.auto()
    DATA = enum.auto()
    DATA_END = enum.auto()
    TRAILER = enum.auto()
    END = enum.auto()
    BROKEN = enum.auto()


class Dechunker:
    r"""
    Take the sizes out from between the chunks.

    Where they are broken, the rest is handed on as it stands: the reader of the
    stream then says what it skips.

    >>> Dechunker().feed(b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: 1\r\n\r\n")
    b'abcde'
    """

    def __init__(self) -> None:
        self._state = _State.SIZE
        self._left = 0
        self._line = b""

    def feed(self, data: bytes) -> bytes:
        """Return what of the body is in *data*."""
        body: list[bytes] = []
        at = 0
        while at < len(data) and self._state is not _State.END:
            if self._state is _State.DATA:
                piece = data[at : at + self._left]
                body.append(piece)
                self._left -= len(piece)
                self._state = _State.DATA if self._left else _State.DATA_END
            elif self._state is _State.BROKEN:
                piece = data[at:]
                body.append(piece)
            else:
                end = data.find(b"\n", at, at + LONGEST_LINE) + 1
                piece = data[at : end or at + LONGEST_LINE]
                body.append(self._take_line(piece))
            at += len(piece)
        return b"".join(body)

    def _take_line(self, piece: bytes) -> bytes:
        """Take *piece* of a line between chunks; return the line if it breaks the coding."""
        self._line += piece
        if not self._line.endswith(b"\n") and len(self._line) < LONGEST_LINE:
            return b""
        line, self._line = self._line, b""
        is_blank = not line.strip()
        head = CHUNK_HEAD.fullmatch(line)
        if self._state is _State.TRAILER:
            self._state = _State.END if is_blank else _State.TRAILER
        elif self._state is _State.DATA_END and is_blank:
            self._state = _State.SIZE
        elif self._state is _State.SIZE and head is not None:
            self._left = int(head[1], 16)
            self._state = _State.DATA if self._left else _State.TRAILER
        else:
            self._state = _State.BROKEN
            return line
        return b""
