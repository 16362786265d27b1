"""
The parts of a batch, each in a process that may die.

A part whose process died is read once more without writing it, by processes one after
another, each of which begins where the last one ended: so the inputs are found that
end them.  Then it is written without these.
"""

from __future__ import annotations

import argparse
import contextlib
import errno

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING

import attrs

from ._files import File
from ._inputs import USAGE
from ._output import tell
from ._said import Said, Say


if TYPE_CHECKING:
    from streamkit.engines._deaths import Deaths
    from streamkit.engines._plan import Part


__all__ = ["PartFile", "made_again", "rehearse_part", "said_of_parts", "write_part"]

# Processes that may die of one part: two of each input that ends them.
MOST_DEATHS = 200


@attrs.frozen
class PartFile(File):
    """A part, as what the processes are given to read."""

    part: Part | None = None

    @classmethod
    def of(cls, part: Part) -> PartFile:
        """Return *part* as a file."""
        return cls(f"part-{part.number}", part=part)

    @property
    def number(self) -> int:
        """Which part it is."""
        assert self.part is not None
        return self.part.number

    @property
    def label(self) -> str:
        """What it is called in messages."""
        assert self.part is not None
        return f"part {self.part.number} ({self.part.names})"

    @property
    def size(self) -> int:
        """About how many bytes are read for it."""
        assert self.part is not None
        return self.part.size


def said_of_parts(
    args: argparse.Namespace, files: Sequence[PartFile]
) -> Generator[Said, None, None]:
    """
    Yield what becomes of each of *files*: numbers, an error of the output, or neither.

    This process reads none of them, even if one is read at a time: it may not die.
    """
    if not files:
        return
    from ._jobs import in_processes  # which loads multiprocessing

    args = _with(args, jobs=min(args.jobs, len(files)))
    yield from in_processes(args, write_part, iter(files))


def write_part(args: argparse.Namespace, file: File) -> Iterator[Said]:
    """Write a part, and say its numbers; an error of the output is for the command to raise."""
    assert isinstance(file, PartFile)
    add = args.meter.add if args.meter is not None else lambda _: None
    try:
        tally = args.folder.write(file.part, args.job, add, args.deaths)
    except OSError as error:
        if error.errno == errno.ESTALE:
            tell(f"{file.label}: {error.filename}: {error.strerror}")
            yield Said(status=USAGE)
        else:
            yield Said(data=[error.errno, error.strerror or str(error), args.output])
    else:
        yield Said(data={"part": file.number, **tally.plain()})


def rehearse_part(args: argparse.Namespace, file: File) -> Iterator[Said]:
    """Read a part to see whether that ends this process; what else is wrong, writing it says."""
    from streamkit.engines._folder import rehearse

    assert isinstance(file, PartFile)
    assert file.part is not None
    with contextlib.suppress(OSError):
        rehearse(file.part, args.job, args.deaths)
    yield Said()


def made_again(args: argparse.Namespace, file: PartFile) -> Said:
    """Write the part of *file*, which a process died of, and say its numbers, if it can be."""
    from streamkit.engines._deaths import Deaths

    tell(f"{file.label}: it is read again, one input after another")
    with args.folder.noting() as note:
        deaths = _found(args, file, Deaths(note=note))
    if deaths is None:
        return Said(status=USAGE)
    _tell_known(file, deaths)
    one = _alone(_with(args, deaths=deaths), write_part, file)
    if one.died:
        tell(f"{file.label}: the process that wrote it died ({one.died[1]})")
    return one


def _found(args: argparse.Namespace, file: PartFile, deaths: Deaths) -> Deaths | None:
    """Return what is to know to write the part; None, and say why, if that cannot be found."""
    for _ in range(MOST_DEATHS + 1):
        deaths.forget()
        one = _alone(_with(args, deaths=deaths), rehearse_part, file)
        if not one.died:
            return deaths.to_write()
        place = deaths.noted()
        if place is None:
            tell(f"{file.label}: a process died before it read anything ({one.died[1]})")
            return None
        deaths = deaths.after(place, one.died[1])
    tell(f"{file.label}: {MOST_DEATHS} processes and one died, no more are tried")
    return None


def _alone(args: argparse.Namespace, say: Say, file: PartFile) -> Said:
    """Return what *say* says of *file*, which is one thing, in a process of its own."""
    from ._jobs import in_processes

    args = _with(args, jobs=1, meter=None)
    with contextlib.closing(in_processes(args, say, iter([file]), is_quiet=True)) as found:
        return next(found)


def _tell_known(file: PartFile, deaths: Deaths) -> None:
    assert file.part is not None
    for (number, position), how in deaths.known.items():
        source = file.part.slices[number].source
        tell(f"{source}, position {position}: each process that read it died ({how})")


def _with(args: argparse.Namespace, **changes: object) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(args), **changes})
