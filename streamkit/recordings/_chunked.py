"""
The chunked transfer coding (RFC 9112, section 7.1), undone piece by piece.

A capture of the wire holds it: each chunk stands behind its size in hexadecimal.
"""

from __future__ import annotations

import enum
import re


__all__ = ["CHUNK_HEAD", "DOTTED_HEAD", "Dechunker"]

# chunk-size [ chunk-ext ] CRLF; a tool may have made LF of CRLF.
CHUNK_HEAD = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")
# The same where a trace of curl's shows CR and LF, received one after the other, as dots.
DOTTED_HEAD = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*?)?(?:\r?\n|\.\.)")
LINE_END = re.compile(rb"\n")
DOTTED_END = re.compile(rb"\n|\.\.")
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

    Args:
        dots: Line ends of the coding may be shown as two dots.

    >>> Dechunker().feed(b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: 1\r\n\r\n")
    b'abcde'
    """

    def __init__(self, *, dots: bool = False) -> None:
        self._head, self._end = (DOTTED_HEAD, DOTTED_END) if dots else (CHUNK_HEAD, LINE_END)
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
                piece, is_whole = self._line_in(data, at)
                body.append(self._take_line(piece, is_whole=is_whole))
            at += len(piece)
        return b"".join(body)

    def _line_in(self, data: bytes, at: int) -> tuple[bytes, bool]:
        """Return what *data* has at *at* of a line between chunks, and whether that ends it."""
        before = self._line[-1:]  # a line end may be cut
        end = self._end.search(before + data[at : at + LONGEST_LINE])
        size = LONGEST_LINE if end is None else end.end() - len(before)
        return data[at : at + size], end is not None

    def _take_line(self, piece: bytes, *, is_whole: bool) -> bytes:
        """Take *piece* of a line between chunks; return the line if it breaks the coding."""
        self._line += piece
        if not is_whole and len(self._line) < LONGEST_LINE:
            return b""
        line, self._line = self._line, b""
        is_blank = not line.strip() or (line == b".." and self._end is DOTTED_END)
        head = self._head.fullmatch(line)
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
