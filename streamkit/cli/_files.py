"""
Which files the arguments of a command name: files, folders, patterns, standard input.

A file that is named is always read.  In a folder there is more than recordings, so
what is found there is looked at, and what is skipped is counted.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TextIO

import attrs

from ._candidates import may_be_recording
from ._output import TEMPORARY


__all__ = ["STDIN", "File", "Files", "number_of"]

STDIN = "-"
WILDCARD = re.compile(r"[*?\[]")
STARS = re.compile(r"\*\*+")

# What a file in a folder is skipped for.
HIDDEN, LINK, OWN = "hidden", "no files, or links to folders", "written by this command"
UNCOUNTED = ("file", "folder", "temporary")


@attrs.frozen
class File:
    """
    A file to read.

    Attributes:
        name: Its path, or `-` for standard input.
        is_named: It is an argument, or matches one; else a folder had it.
        error: Why it cannot be read, if that is known already.
    """

    name: str
    is_named: bool = True
    error: OSError | None = None

    @property
    def label(self) -> str:
        r"""
        What it is called in an output; bytes of a name that are no UTF-8 are `\x` escapes.

        >>> File("-").label, File("caf\udce9.sse").label
        ('<stdin>', 'caf\\xe9.sse')
        """
        if self.name == STDIN:
            return "<stdin>"
        return os.fsencode(self.name).decode("utf-8", "backslashreplace")

    @property
    def path(self) -> str | int:
        """What it can be looked at by: its path, or the number of standard input."""
        return number_of(sys.stdin) if self.name == STDIN else self.name

    @property
    def size(self) -> int | None:
        """Its size in bytes; None if that is not known: of a pipe, of standard input."""
        if self.name == STDIN:
            return None
        try:
            found = Path(self.name).stat()
        except (OSError, ValueError):
            return 0
        return found.st_size if stat.S_ISREG(found.st_mode) else None


def number_of(file: TextIO | None) -> int:
    """Return the descriptor of *file*; -1, which is none, if it has none."""
    try:
        return -1 if file is None else file.fileno()
    except (OSError, ValueError):
        return -1


@attrs.define
class Files:
    """
    The files that arguments name, in a stable order.

    Args:
        names: The arguments; none: standard input.
        own: What the command writes, paths or descriptors: it is no input of its own.

    Attributes:
        may_be: Tells whether a file that a folder has may be what is wanted.
        wanted: What that is called.
        skipped: How many files of folders were skipped, by why.
        taken: How many files were to be read.
    """

    names: Sequence[str]
    own: Sequence[str | int] = ()
    may_be: Callable[[Path], bool] = may_be_recording
    wanted: str = "recordings"
    skipped: Counter[str] = attrs.field(factory=Counter)
    taken: int = 0
    _found: list[File] | None = None

    def found(self) -> list[File]:
        """Return the files, listed once, before the command writes any of its own."""
        if self._found is None:
            self._found = list(self._expanded())
        return self._found

    def overwritten(self) -> File | None:
        """Return a file that is named and that the command writes, too, if there is one."""
        own = self._own()
        named = (file for file in self.found() if file.is_named) if own else ()
        return next((file for file in named if _identity(file.path) in own), None)

    def takes(self, file: File) -> bool:
        """Tell whether *file* is to be read; one that a folder had is looked at first."""
        if file.is_named or file.error is not None or self.may_be(Path(file.name)):
            self.taken += 1
            return True
        self.skipped[f"no {self.wanted}"] += 1
        return False

    def note(self) -> str | None:
        """Return what is to be said of the files that were skipped."""
        if not self.skipped:
            return None
        reasons = ", ".join(f"{count} {why}" for why, count in sorted(self.skipped.items()))
        return f"skipped in folders: {reasons}; name a file to have it read"

    def _expanded(self) -> Iterator[File]:
        has_stdin = False
        for name in self.names or [STDIN]:
            if name == STDIN:
                twice = OSError(errno.EINVAL, "standard input can be read only once")
                yield File(name, error=twice if has_stdin else None)
                has_stdin = True
            elif WILDCARD.search(name) and not os.path.lexists(name):
                yield from self._matching(name)
            else:
                yield from self._named(name)

    def _named(self, name: str) -> Iterator[File]:
        # Not Path.is_dir: that raises where a name is too long, or not permitted.
        is_folder = os.path.isdir(name)  # noqa: PTH112
        return self._inside(name) if is_folder else iter([File(name)])

    # -- Folders ---------------------------------------------------------------------

    def _inside(self, folder: str) -> Iterator[File]:
        """Yield the files in *folder*, then those in its folders; links lead to no folder."""
        own = self._own()
        folders = [folder]
        while folders:
            found = self._listed(folders.pop(), own)
            folders += [name for name, kind in reversed(found) if kind == "folder"]
            for name, kind in found:
                if isinstance(kind, OSError):
                    yield File(name, error=kind)
                elif kind == "file":
                    yield File(name, is_named=False)

    def _own(self) -> set[tuple[int, int]]:
        return {found for path in self.own if (found := _identity(path)) is not None}

    def _listed(self, folder: str, own: set[tuple[int, int]]) -> list[tuple[str, str | OSError]]:
        """Return what is in *folder*, in order: names, and `file`, `folder`, or else."""
        try:
            with os.scandir(folder) as entries:
                kinds = sorted((entry.path, self._kind(entry, own)) for entry in entries)
        except OSError as error:
            return [(folder, error)]
        self.skipped.update(kind for _, kind in kinds if kind not in UNCOUNTED)
        return [(name, kind) for name, kind in kinds]

    def _kind(self, entry: os.DirEntry[str], own: set[tuple[int, int]]) -> str:
        if own and TEMPORARY.fullmatch(entry.name):
            return "temporary"
        if entry.name.startswith("."):
            return HIDDEN
        if own and _identity(entry.path) in own:
            return OWN
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        return "file" if os.path.isfile(entry.path) else LINK  # noqa: PTH113 -- as above

    # -- Patterns, where no shell has expanded them ----------------------------------

    def _matching(self, pattern: str) -> Iterator[File]:
        """Yield what *pattern* matches; as in shells, `*` matches no hidden name."""
        parts = Path(pattern).parts
        fixed = next(place for place, part in enumerate(parts) if WILDCARD.search(part))
        rest = _without_odd_stars(parts[fixed:])
        try:
            matches = sorted(_glob(Path(*parts[:fixed]), rest))
        except OSError as error:
            yield File(pattern, error=error)
            return
        if not matches:
            yield File(pattern, error=OSError(errno.ENOENT, "no file matches this pattern"))
        is_own = _is_inside(self.own)
        for match in matches:
            if is_own(match):  # what a run before has written
                self.skipped[OWN] += 1
            elif "**" not in rest:
                yield from self._named(str(match))
            elif not match.is_dir():  # what is in a folder matches by itself
                yield File(str(match))


def _identity(path: str | int) -> tuple[int, int] | None:
    """Return what a file or a folder is known by, whatever it is called; None: it is neither."""
    try:
        found = os.stat(path)  # noqa: PTH116 -- a descriptor is no path
    except (OSError, ValueError):
        return None
    is_kept = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
    return (found.st_dev, found.st_ino) if is_kept and found.st_ino else None


def _is_inside(own: Sequence[str | int]) -> Callable[[Path], bool]:
    """Return what tells whether a path is one of the folders of *own*, or inside of one."""
    folders = {_identity(path) for path in own if isinstance(path, str) and Path(path).is_dir()}

    @cache
    def is_inside(path: Path) -> bool:
        return _identity(str(path)) in folders or (path != path.parent and is_inside(path.parent))

    return is_inside if folders else lambda _: False


def _without_odd_stars(parts: Sequence[str]) -> list[str]:
    """Return *parts* with `**` only where it means something, and once in a row."""
    plain = [part if part == "**" else STARS.sub("*", part) for part in parts]
    pairs = zip(plain, ["", *plain], strict=False)
    kept = [part for part, last in pairs if not part == last == "**"]
    return [*kept, "*"] if kept[-1] == "**" else kept


def _glob(folder: Path, parts: Sequence[str]) -> Iterator[Path]:
    with_hidden = any(part.startswith(".") for part in parts)
    for match in folder.glob("/".join(parts)):
        if with_hidden or not _is_hidden(match.relative_to(folder)):
            yield match


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
