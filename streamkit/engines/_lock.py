"""
A lock on a file, which the system takes back however its holder ends.

A file that merely exists would outlive a process that was killed.
"""

from __future__ import annotations

import errno
import os
import sys

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


__all__ = ["locked"]

# What the systems say of a lock that another process has.
TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)

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
        OSError: If the file cannot be opened, or not be locked.
    """
    number = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            _try_lock(number)
        except OSError as error:
            if error.errno not in TAKEN:  # no locks in this file system
                raise OSError(error.errno, os.strerror(error.errno or 0), str(path)) from None
            raise BlockingIOError(error.errno, "another process is at work here") from None
        yield
    finally:
        os.close(number)  # which unlocks it
