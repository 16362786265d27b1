"""
What a job reads, and how it is cut into parts: the same inputs always give the same parts.

A part is what one process reads and writes at a time, and what is done again after a
kill.  It does not depend on how many processes there are, or on what is done already.
"""

from __future__ import annotations

import errno
import os
import stat

from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs


__all__ = ["Input", "Part", "Slice", "in_parts"]

# Files in one part, however small they are.
MOST_FILES = 10_000


@attrs.frozen
class Input:
    """
    A file, and what tells whether it is still the same.

    Attributes:
        name: Its path, as it was given.
        size: In bytes; -1 if the file cannot be looked at, or is none.
        changed: When it was last written, in nanoseconds since the epoch.
    """

    name: str
    size: int
    changed: int

    @classmethod
    def of(cls, name: str) -> Input:
        """Return the file called *name* as it is now."""
        try:
            found = Path(name).stat()
        except (OSError, ValueError):
            return cls(name, -1, 0)
        if not stat.S_ISREG(found.st_mode):
            return cls(name, -1, 0)
        return cls(name, found.st_size, found.st_mtime_ns)

    def path(self) -> Path:
        """
        Return its path, to be opened.

        Raises:
            OSError: If it is not there, or is a pipe or a device: such a one may wait,
                or go on, for ever, and could not be read again after a kill.
            ValueError: If no file can be called so.
        """
        path = Path(self.name)
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(errno.EINVAL, "not a regular file", self.name)
        return path

    def check(self) -> None:
        """
        Check that the file is still the same.

        Raises:
            OSError: If not.
        """
        if Input.of(self.name) != self:
            raise OSError(errno.ESTALE, "the file changed while the job ran", self.name)


@attrs.frozen
class Slice:
    """
    What a part reads of one file.

    Attributes:
        input: The file.
        kind: `"whole"`, a recording; `"lines"`, JSON lines of which those that begin
            from byte *start* to before *stop* are read; `"packed"`, compressed ones,
            all of them; `"groups"`, a Parquet file whose row groups are counted likewise.
        start: Where it begins.
        stop: Where it ends.
        size: About how many bytes that are.
        first: For row groups: the number of the first row.
    """

    input: Input
    kind: str
    start: int = 0
    stop: int = 0
    size: int = 0
    first: int = 0

    @property
    def source(self) -> str:
        r"""What the file is called in an output; bytes that are no UTF-8 are `\x` escapes."""
        return os.fsencode(self.input.name).decode("utf-8", "backslashreplace")


@attrs.frozen
class Part:
    """
    What becomes one file of the output.

    Attributes:
        number: Counted from 0, in the order of the inputs.
        slices: What it is made of.
    """

    number: int
    slices: tuple[Slice, ...]

    @property
    def size(self) -> int:
        """About how many bytes are read for it."""
        return sum(one.size for one in self.slices)

    @property
    def names(self) -> str:
        """What it reads, in words."""
        first, last = self.slices[0].source, self.slices[-1].source
        return first if first == last else f"{first} … {last}"


def in_parts(slices: Iterable[Slice], size: int) -> Iterator[Part]:
    """Yield *slices* in parts of about *size* bytes: none is cut, and each part has one."""
    held: list[Slice] = []
    number = held_size = 0
    for one in slices:
        if held and (held_size + one.size > size or len(held) >= MOST_FILES):
            yield Part(number, tuple(held))
            number, held, held_size = number + 1, [], 0
        held.append(one)
        held_size += one.size
    if held:
        yield Part(number, tuple(held))
