"""A connection to a client: what is sent on it, the waits between, and who ends it."""

from __future__ import annotations

import selectors
import socket
import struct
import sys
import threading
import time

from typing import Literal, TypeAlias


__all__ = ["Ended", "Line", "LineEnded"]

# How long a wait goes on until it looks whether the server is being closed; not every
# system wakes who waits for a socket that is shut down.
LOOK = 0.1
# On Windows both fields of `struct linger` are short.
LINGER = "hh" if sys.platform == "win32" else "ii"

Ended: TypeAlias = Literal["close", "cut", "reset", "client left", "server closed"]


class LineEnded(Exception):
    """The connection is over before the answer is; it never leaves the package."""

    def __init__(self, how: Ended) -> None:
        super().__init__(how)
        self.how: Ended = how


class Line:
    """
    A connection to a client, and the waits between what is sent on it.

    Args:
        connection: The connection.
        closing: Set once the server is being closed.
    """

    def __init__(self, connection: socket.socket, closing: threading.Event) -> None:
        self._connection = connection
        self._closing = closing

    def write(self, data: bytes) -> None:
        """
        Send *data*.

        Raises:
            LineEnded: If the client has left, or the server is being closed.
        """
        try:
            self._connection.sendall(data)
        except OSError:
            raise self.ended() from None

    def wait_until(self, moment: float) -> None:
        """
        Wait until *moment*, on the monotonic clock.

        Raises:
            LineEnded: As `write`.
        """
        while (left := moment - time.monotonic()) > 0:
            if self._has_left(min(left, LOOK)) or self._closing.is_set():
                raise self.ended()

    def reset(self) -> None:
        """Close the connection with a reset (RST), not with the end of its data (FIN)."""
        linger = struct.pack(LINGER, 1, 0)
        try:
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        finally:
            self._connection.close()

    def _has_left(self, patience: float) -> bool:
        """Tell whether the client closes within *patience*; to close one way is to leave."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._connection, selectors.EVENT_READ)
            if not selector.select(patience):
                return False
        try:
            is_early = bool(self._connection.recv(1, socket.MSG_PEEK))
        except OSError:
            return True
        if is_early:  # its next request: it stands there until this answer has ended
            self._closing.wait(patience)
        return not is_early

    def ended(self) -> LineEnded:
        """Return what says who ended the connection."""
        return LineEnded("server closed" if self._closing.is_set() else "client left")
