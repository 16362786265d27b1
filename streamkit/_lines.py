"""
Bytes in, whole lines out: the splitter under both the specification's parser
and the lenient reader.

Contract: `feed` returns the lines that the data completed, each with its ending.
A line ends at CRLF, LF or CR and nowhere else (HTML Living Standard, section
"Server-sent events", *Parsing an event stream*).  A CR ends the line at once,
because the event it completes must not wait for a byte that may never come; an
LF that follows in a later feed belongs to it and is swallowed.

Cost: only new data is searched, and pieces of an unfinished line are joined
once, when it ends.  Joining at each feed would be quadratic in the number of
feeds, which a 16 MiB line that drips in 1 KiB blocks makes a minute of.
"""

from __future__ import annotations

from ._errors import LimitExceeded
from ._limits import Limits, check_limits


__all__ = ["BOM", "Data", "LineSplitter", "as_bytes"]

BOM = b"\xef\xbb\xbf"

Data = bytes | bytearray | memoryview


def as_bytes(data: Data) -> bytes:
    """
    Return *data* as bytes, copied only if it could change later.

    Raises:
        TypeError: If *data* is not bytes, bytearray or memoryview.
    """
    if isinstance(data, bytes):
        return data
    if isinstance(data, (bytearray, memoryview)):
        return bytes(data)
    raise TypeError(f"data must be bytes, not {type(data).__name__}; encode text as UTF-8 first")


class LineSplitter:
    """
    Split bytes into lines, incrementally and in linear time.

    Attributes:
        offset: Where the first line of the last `feed` starts, in bytes from
            the start of the input.
        end: How many bytes were taken.
    """

    __slots__ = ("_bom", "_limits", "_pieces", "_size", "_swallow_lf", "end", "offset")

    def __init__(self, limits: Limits) -> None:
        check_limits(limits)
        self._limits = limits
        self._pieces: list[bytes] = []
        self._size = 0
        self.end = 0
        self._swallow_lf = False
        self._bom = BOM  # what is dropped from the front of the next line
        self.offset = 0

    def feed(self, data: bytes) -> list[bytes]:
        """
        Return the lines that *data* completes, endings included.

        Raises:
            LimitExceeded: If a line, finished or not, is longer than the limit;
                its `partial` holds the whole lines before it.
        """
        if self._swallow_lf and data:
            self._swallow_lf = False
            rest = data.removeprefix(b"\n")
            self.end += len(data) - len(rest)
            data = rest
        last = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        if not last:
            self._hold(data)
            return []
        self._swallow_lf = data.endswith(b"\r")
        lines = self._whole_lines(data[:last])
        try:
            self._hold(data[last:])
        except LimitExceeded as error:
            error.partial = lines
            raise
        return lines

    @property
    def is_at_start_of_line(self) -> bool:
        """Whether the next byte starts a line."""
        return not self._pieces and not self._swallow_lf

    def skip(self, size: int) -> None:
        """Take note of *size* bytes of whole lines that were read otherwise."""
        self.end += size
        self._bom = b""

    def rest(self) -> bytes:
        """Return the unterminated last line, and forget it."""
        self.offset = self.end - self._size
        rest = b"".join(self._pieces)
        self._pieces.clear()
        self._size = 0
        return self._without_bom(rest)

    def _hold(self, data: bytes) -> None:
        if data:
            self._pieces.append(data)
            self._size += len(data)
            self.end += len(data)
            bound = self._limits.line
            if bound is not None and self._size > bound:
                self._refuse_pending()

    def _refuse_pending(self) -> None:
        """Raise if the pending line is too long without the BOM that it may start with."""
        size = len(b"".join(self._pieces).removeprefix(self._bom))
        self._limits.check("line", size, self.end - size)

    def _whole_lines(self, head: bytes) -> list[bytes]:
        self.offset = self.end - self._size
        self.end += len(head)
        if self._pieces:
            head = b"".join([*self._pieces, head])
            self._pieces.clear()
            self._size = 0
        # bytes.splitlines knows just the three endings; str.splitlines would
        # also split at U+2028, U+0085, VT, FF, FS, GS and RS.
        lines = self._without_bom(head).splitlines(keepends=True)
        bound = self._limits.line
        if bound is not None and len(head) > bound:
            self._refuse_long_lines(lines, bound)
        return lines

    def _without_bom(self, head: bytes) -> bytes:
        """Drop one BOM at the very start of the input (UTF-8 decode, step 1)."""
        lines = head.removeprefix(self._bom)
        self.offset += len(head) - len(lines)
        self._bom = b""
        return lines

    def _refuse_long_lines(self, lines: list[bytes], bound: int) -> None:
        offset = self.offset
        for number, line in enumerate(lines):
            size = len(line.rstrip(b"\r\n"))
            if size > bound:
                raise LimitExceeded("line", size, offset, bound=bound, partial=lines[:number])
            offset += len(line)
