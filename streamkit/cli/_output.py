"""Where a command writes: standard output as UTF-8, a file at once, or standard error."""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import os
import re
import secrets
import stat
import sys

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TextIO

from ._escape import escape_line


__all__ = [
    "ASIDE",
    "STDOUT",
    "TEMPORARY",
    "add_output_argument",
    "discard_output",
    "has_colour",
    "open_output",
    "put",
    "put_all",
    "put_error",
    "stdout",
    "tell",
]

STDOUT = "-"
TEMPORARY = re.compile(r"\.streamkit-[0-9a-f]{12}\.tmp")

ASIDE: list[Callable[[], None]] = []
"""What hides all else that is drawn on the terminal, before something is written there."""


def add_output_argument(parser: argparse._ActionsContainer, note: str = "") -> None:
    """Add `-o`, a name for `open_output`, to *parser*; its help ends with *note*."""
    parser.add_argument(
        "-o",
        dest="output",
        default=STDOUT,
        metavar="FILE",
        help=f"write to FILE, whole or not at all{note}",
    )


def tell(message: str) -> None:
    """Write *message*, escaped, as one line to standard error."""
    put_error(f"streamkit: {escape_line(message)}\n")


def put_error(text: str) -> None:
    """Write *text*, already escaped, to standard error."""
    if sys.stderr is not None:  # None: closed by whoever started this
        _step_aside()
        sys.stderr.write(text)
        sys.stderr.flush()


def _step_aside() -> None:
    for hide in ASIDE:
        hide()


def put(text: str, output: TextIO | None = None) -> None:
    """
    Write *text* to *output*, or to standard output, at once.

    Raises:
        OSError: If it cannot be written.
    """
    output = stdout() if output is None else output
    if ASIDE and output.isatty():
        _step_aside()
    output.write(text)
    output.flush()


def put_all(texts: Iterable[str], output: TextIO) -> None:
    """
    Write *texts* to *output*, in their order, and not each at once.

    Raises:
        OSError: If they cannot be written.
    """
    for text in texts:
        if ASIDE and output.isatty():
            _step_aside()
        output.write(text)


def stdout() -> TextIO:
    """
    Return standard output, set to UTF-8 and plain newlines whatever the locale.

    Raises:
        OSError: If it is closed.
    """
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    return sys.stdout


def has_colour() -> bool:
    """Tell whether standard output is a terminal that may be sent escape sequences."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()


def discard_output() -> None:
    """
    Send the rest of what is written nowhere.

    Without this the interpreter, at its end, flushes what a broken pipe refused,
    and complains.
    """
    with contextlib.suppress(OSError, AttributeError):  # no such file: nothing to discard
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, sys.stdout.fileno())
            os.dup2(nowhere, sys.stderr.fileno())
        finally:
            os.close(nowhere)


@contextlib.contextmanager
def open_output(name: str) -> Iterator[TextIO]:
    """
    Open the file called *name* to write text to; `-` is standard output.

    A file appears whole, or not at all: on an error, and when nothing was
    written, what was there stays.  A device or a pipe is written to directly.

    Raises:
        OSError: If it cannot be opened or written.
    """
    if name == STDOUT:
        yield stdout()
        return
    path = Path(name)
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="\n") as file:
            yield file
    else:
        with _replacing(Path(os.path.realpath(path))) as file:  # a symbolic link stays one
            yield file


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[TextIO]:
    """Write to a temporary file beside *path*, and put it in its place at the end."""
    # Not tempfile's: that makes private files, and the umask should decide.
    temporary = path.with_name(f".streamkit-{secrets.token_hex(6)}.tmp")
    try:
        with _new(temporary, path) as file:
            yield file
        if temporary.stat().st_size:
            if path.exists():
                temporary.chmod(stat.S_IMODE(path.stat().st_mode))
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _new(temporary: Path, path: Path) -> TextIO:
    """Open the new file *temporary*; an error names *path*, which the user knows."""
    try:
        return temporary.open("x", encoding="utf-8", newline="\n")
    except OSError as error:
        error.filename = str(path)
        raise
