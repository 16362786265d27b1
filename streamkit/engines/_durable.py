"""Files that appear whole or not at all, even if the power fails."""

from __future__ import annotations

import os
import secrets
import sys

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


__all__ = ["clean", "replacing", "scratch"]

PREFIX, SUFFIX = ".streamkit-", ".tmp"


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """
    Open a file to write, which becomes *path* at the end, and nothing on an error.

    It is written under a name of its own in the same folder, since a rename is one
    step only inside of one file system; its bytes are on the disk before that step,
    and the step itself is before this returns.

    Raises:
        OSError: If it cannot be written.
    """
    temporary = _temporary(path.parent)
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)  # on Windows, too: rename would refuse to overwrite
        _sync_folder(path.parent)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """
    Make an empty file in *folder*, which is gone at the end.

    Raises:
        OSError: If it cannot be written.
    """
    path = _temporary(folder)
    try:
        path.touch(exist_ok=False)
        yield path
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _temporary(folder: Path) -> Path:
    """Return a name that nobody has, and that `clean` knows."""
    return folder / f"{PREFIX}{secrets.token_hex(6)}{SUFFIX}"


def clean(folder: Path) -> None:
    """Remove what writers that were killed left in *folder*."""
    for path in folder.glob(f"{PREFIX}*{SUFFIX}"):
        with suppress(OSError):  # on Windows: a writer that has not yet noticed still has it open
            path.unlink()


def _sync_folder(folder: Path) -> None:
    """Let the disk have the names in *folder*; on Windows there is no such thing."""
    if sys.platform == "win32":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
