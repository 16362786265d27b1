"""A process that reads files for the command, and sends what is to be printed."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import signal
import sys
import threading
import time

from collections.abc import Iterator
from multiprocessing import parent_process
from multiprocessing.connection import Connection

import attrs

from ._said import Said, Say


__all__ = ["END", "ERR", "READ", "SAID", "TOO_DEEP", "work"]

# The first byte of a message says what it is.
SAID, ERR, READ, END, TOO_DEEP = b"s", b"e", b"r", b".", b"d"
BETWEEN = 0.1


class _Sender(io.TextIOBase):
    """Standard error of a worker: it comes out of the command's own, in its turn."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def write(self, text: str) -> int:
        self._connection.send_bytes(ERR + text.encode("utf-8", "surrogatepass"))
        return len(text)


@attrs.define
class _RemoteMeter:
    """Sends how much was read, but not too often."""

    _connection: Connection
    _size: int = 0
    _due: float = 0.0

    def add(self, size: int) -> None:
        self._size += size
        now = time.monotonic()
        if now >= self._due:
            self._due = now + BETWEEN
            self.send()

    def send(self) -> None:
        self._connection.send_bytes(READ + b"%d" % self._size)
        self._size = 0


def work(connection: Connection, args: argparse.Namespace, say: Say, *, is_watched: bool) -> None:
    """Read each file that comes over *connection*, and send what *say* yields of it."""
    # Ctrl-C reaches all processes of a terminal; the command ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    sys.stderr = _Sender(connection)
    meter = _RemoteMeter(connection) if is_watched else None
    args = argparse.Namespace(**{**vars(args), "meter": meter})
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            _send(connection, say(args, connection.recv()))
            if meter is not None:
                meter.send()
            connection.send_bytes(END)


def _send(connection: Connection, found: Iterator[Said]) -> None:
    try:
        for one in found:
            connection.send_bytes(SAID + one.packed())
    except RecursionError:
        connection.send_bytes(TOO_DEEP)


def _die_with_parent() -> None:
    """End with the command, however that ended: in a long file nothing else would tell."""
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
