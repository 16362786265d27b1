"""
A progress bar on standard error, for work that takes long on a terminal.

It needs rich, the extra `cli`; without it there is none.  It is drawn between
reads and never by a thread, so that it is not in the way of anything: what
writes to the terminal calls `hide` first, and the bar comes back a second later.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import shutil
import sys
import time

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import attrs

from ._columns import clip
from ._escape import escape_line
from ._files import File
from ._output import ASIDE


if TYPE_CHECKING:
    from rich.progress import Progress


__all__ = ["Bar", "watching"]

# Work that is done by then needs no bar; one that was hidden waits as long.
PATIENCE = 1.0
BETWEEN = 0.1
NAME_WIDTH = 24
# A terminal writes `^C` behind the bar; on a line of its own that would stay.
FOR_INTERRUPT = 3


@attrs.define(eq=False)
class Bar:
    """How much of all files is read, drawn if that takes long."""

    _files: Sequence[File] = ()
    _what: str = "files"
    _name: str = ""
    _finished: int = 0
    _read: int = 0
    _due: float = attrs.field(factory=lambda: time.monotonic() + PATIENCE)
    _shown: Progress | None = None
    _total: int | None = None

    def expect(self, files: Sequence[File], what: str = "files") -> None:
        """Take note of all *files* that there are, and *what* they are called."""
        self._files, self._what = files, what

    def start(self, file: File) -> None:
        """Take note that *file* comes next."""
        self._name = os.path.basename(file.label)  # noqa: PTH119 -- the label is no path

    def finish(self) -> None:
        """Take note that a file is done."""
        self._finished += 1
        self.add(0)

    def skip(self, file: File) -> None:
        """Take note that *file* is none to be read."""
        self._read += file.size or 0
        self.finish()

    def add(self, size: int) -> None:
        """Take note that *size* more bytes were read, and draw, but not too often."""
        self._read += size
        now = time.monotonic()
        if now >= self._due:
            self._due = now + BETWEEN
            self._draw()

    def hide(self) -> None:
        """Make place for other output."""
        if self._shown is not None:
            self._shown.stop()
            self._shown = None
            self._due = time.monotonic() + PATIENCE

    def _draw(self) -> None:
        if self._shown is None:
            self._shown = _progress()
            self._shown.add_task("", total=self._bytes(), name="", files="")
            self._shown.start()
        count = len(self._files)
        self._shown.update(
            self._shown.task_ids[0],
            completed=self._read,
            name=clip(escape_line(self._name), NAME_WIDTH),
            files=f"{self._finished}/{count} {self._what}" if count > 1 else "",
            refresh=True,
        )

    def _bytes(self) -> int | None:
        """Return how many bytes all files have; None if that cannot be known."""
        if self._total is None:
            sizes = [file.size for file in self._files]
            self._total = 0 if None in sizes else sum(size or 0 for size in sizes)
        return self._total or None


def _progress() -> Progress:
    from rich import progress
    from rich.console import Console

    return progress.Progress(
        progress.TextColumn("{task.fields[name]}", markup=False),
        progress.BarColumn(bar_width=None),
        progress.TaskProgressColumn(),
        progress.DownloadColumn(binary_units=True),
        progress.TransferSpeedColumn(),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.fields[files]}", markup=False),
        console=Console(file=sys.stderr, width=max(_width() - FOR_INTERRUPT, 1)),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        expand=True,
    )


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        return shutil.get_terminal_size().columns


def _may_draw(args: argparse.Namespace) -> bool:
    if getattr(args, "no_progress", True) or os.environ.get("TERM") == "dumb":
        return False
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return is_terminal and importlib.util.find_spec("rich") is not None


@contextlib.contextmanager
def watching(args: argparse.Namespace) -> Iterator[Bar | None]:
    """Yield a bar for the command of *args*, hidden at the end; None if there may be none."""
    if not _may_draw(args):
        yield None
        return
    bar = Bar()
    ASIDE.append(bar.hide)
    try:
        yield bar
    finally:
        ASIDE.remove(bar.hide)
        bar.hide()
