"""When the lines of a body came, told by where they start."""

from __future__ import annotations

from collections import deque


__all__ = ["Clock"]


class Clock:
    r"""
    The times of a body's pieces, asked for line by line.

    The framing gives a payload out when it is sure of its end, which may be a
    line later; its time is that of its own line: of the piece that its end came
    in.  Lines are asked for in order, so that what lies behind is forgotten.

    Attributes:
        started: When the request was sent: the time of a piece without bytes that
            came before all others.
        is_running: Whether any piece had a time yet.

    >>> clock = Clock()
    >>> clock.feed(b"data: 1\n\nda", 0.5)
    >>> clock.feed(b"ta: 2\n\n", 0.75)
    >>> clock.at(0), clock.at(9)
    (0.5, 0.75)
    """

    def __init__(self) -> None:
        # For each piece that ends a line: where its last line ends, and its time.
        self._ends: deque[tuple[int, float | None]] = deque()
        self._size = 0
        self._now: float | None = None
        self.started: float | None = None
        self.is_running = False

    def feed(self, data: bytes, time: float | None) -> None:
        """Take note that *data*, the next piece, came at *time*."""
        if time is None and not self.is_running:
            self._size += len(data)
            return
        if not data and not self._size:
            self.started = time
            return
        self.is_running = True
        self._now = time
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        if end:
            self._ends.append((self._size + end, time))
        self._size += len(data)

    def at(self, offset: int) -> float | None:
        """Return the time of the line that starts at *offset*; earlier ones are forgotten."""
        ends = self._ends
        while ends and ends[0][0] <= offset:
            ends.popleft()
        return ends[0][1] if ends else self._now
