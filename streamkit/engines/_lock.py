"""
A lock on a file, which the system takes back however its holder ends.

A file that merely exists would outlive a process that was killed.
"""

from __future__ import annotations

import os
import sys

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


__all__ = ["locked"]

if sys.platform == "win32":
    import msvcrt

    def _try_lock(number: int) -> None:
        msvcrt.locking(number, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(number: int) -> None:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """
    Hold the lock on the file *path*, which is made if it is not there.

    Raises:
        BlockingIOError: If another process holds it.
        OSError: If the file cannot be opened.
    """
    number = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            _try_lock(number)
        except OSError as error:
            raise BlockingIOError(error.errno, "another process is at work here") from None
        yield
    finally:
        os.close(number)  # which unlocks it
