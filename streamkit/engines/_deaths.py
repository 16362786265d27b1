"""
Inputs that end the process that reads them: which they are, and how the others go on.

Out of memory, a crash in a library: nothing catches these.  A process that reads a part
anew notes each place before it reads on there, in a file, which is there after it.
Two processes that end at one place, the second as soon as it has begun, ended of what
is there: it is not read again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import attrs

from streamkit._errors import StreamkitError


__all__ = ["Deaths", "Place", "Steps", "WorkerDied"]

Place: TypeAlias = tuple[int, int]
"""The number of a slice in its part, and the position in it."""


class WorkerDied(StreamkitError):
    """
    A process that read this input ended, each time that it was tried.

    Attributes:
        position: Where in the slice the input is.
    """

    code = "worker_died"

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


@attrs.frozen
class Deaths:
    """
    What a process is to know of those before it, which read the same part and ended.

    Attributes:
        known: Places that are not read, and how the processes ended there.
        ends: Those of them behind which nothing of the slice is read either, as to pass
            them by ends a process, too.
        start: Where the last one was; what is before has been read.
        note: The file to note places in; None: they are not.
    """

    known: Mapping[Place, str] = attrs.field(factory=dict)
    ends: frozenset[Place] = frozenset()
    start: Place = (0, -1)
    note: Path | None = None

    def steps(self, number: int, add: Callable[[int], None]) -> Steps:
        """Return what goes with the reading of the slice *number*."""
        return Steps(self, number, add)

    def forget(self) -> None:
        """Empty the file of places, before the next process."""
        if self.note is not None:
            self.note.write_bytes(b"")

    def to_write(self) -> Deaths:
        """Return what is to be known for writing all of the part."""
        return Deaths(self.known, self.ends)

    def noted(self) -> Place | None:
        """
        Return where the process was that ended; None if it had not begun to read.

        Raises:
            OSError: If the file cannot be read.
        """
        found = [] if self.note is None else self.note.read_bytes().split()
        return (int(found[0]), int(found[1])) if found else None

    def after(self, place: Place, how: str) -> Deaths:
        """Return what there is to know when one more has ended at *place*."""
        if place != self.start:  # it may have ended of what came before
            return attrs.evolve(self, start=place)
        if place not in self.known:
            return attrs.evolve(self, known={**self.known, place: how})
        return attrs.evolve(self, ends=self.ends | {place})

    def why(self, place: Place) -> WorkerDied | None:
        """Note *place*, which is next, and return why it is not to be read, if it is not."""
        if place < self.start:  # only looked for deaths: these rows go nowhere
            return WorkerDied("read before", place[1])
        if self.note is not None:
            _write(self.note, place)
        how = self.known.get(place)
        if how is None:
            return None
        what = "read on from here" if place in self.ends else "read it"
        return WorkerDied(f"each process that {what} died ({how})", place[1])


def _write(path: Path, place: Place) -> None:
    """Write *place* in one step, over the one before."""
    with path.open("r+b", buffering=0) as file:
        file.write(b"%020d %020d" % place)


@attrs.frozen
class Steps:
    """
    What goes with the reading of a slice.

    Attributes:
        deaths: What is known of the part.
        number: That of the slice.
        add: Is told how many bytes were read.
    """

    deaths: Deaths
    number: int
    add: Callable[[int], None]

    def why(self, position: int) -> WorkerDied | None:
        """
        Return why what is at *position* is not to be read, if it is not.

        Raises:
            WorkerDied: If nothing behind it is to be read either.
        """
        place = (self.number, position)
        error = self.deaths.why(place)
        if error is not None and place in self.deaths.ends:
            raise error
        return error
