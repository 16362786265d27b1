"""Each file of a command in its turn, one after another or several at once."""

from __future__ import annotations

import argparse
import os
import sys

from collections.abc import Callable, Iterator
from typing import TextIO

from ._command import integer
from ._files import File, Files
from ._inputs import INCOMPLETE, OK, Failed, Found, files_of, read_file
from ._output import put, stdout, tell
from ._said import Said, Say


__all__ = [
    "add_jobs_argument",
    "each",
    "print_each",
    "said",
    "said_of",
    "say_each",
    "taken",
    "tell_skipped",
]

MOST_JOBS = 1024
# As many as Windows can wait for at once.
MOST_ON_WINDOWS = 61


def add_jobs_argument(
    parser: argparse.ArgumentParser, what: str = "files", default: str = "1"
) -> None:
    """Add `--jobs`, for commands that say the same of a file whichever are before it."""
    parser.add_argument(
        "--jobs",
        type=_jobs,
        default=default,
        metavar="N",
        help=f"read N {what} at once; 0 or auto: as many as there are cores ({default})",
    )


def _jobs(value: str) -> int:
    jobs = 0 if value == "auto" else integer(value)
    if not 0 <= jobs <= MOST_JOBS:
        raise argparse.ArgumentTypeError(f"must be auto or 0 to {MOST_JOBS}, not {value!r}")
    return min(jobs or _cores(), MOST_ON_WINDOWS if sys.platform == "win32" else MOST_JOBS)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))  # a container may have few of many
    return os.cpu_count() or 1


def say_each(
    args: argparse.Namespace, file: File, *, text_of: Callable[[argparse.Namespace, Found], str]
) -> Iterator[Said]:
    """Yield what *text_of* says of each stream in *file*; what failed is told."""
    for item in read_file(args, file):
        if isinstance(item, Failed):
            yield Said(status=item.tell())
        else:
            yield Said(text_of(args, item), item.status)


def each(args: argparse.Namespace) -> Iterator[File]:
    """Yield each file of *args* to read, and say at the end which were skipped."""
    files = files_of(args)
    yield from _one_by_one(args, taken(args, files))
    tell_skipped(files)


def said(args: argparse.Namespace, say: Say) -> Iterator[Said]:
    """
    Yield what *say* yields of each file of *args*, in their order.

    With `--jobs` it runs in other processes, and so must be a function of a module.
    """
    files = files_of(args)
    yield from said_of(args, say, taken(args, files), len(files.found()))
    tell_skipped(files)
    yield Said(status=OK if files.taken else INCOMPLETE)


def print_each(args: argparse.Namespace, say: Say, output: TextIO | None = None) -> int:
    """Write what *say* yields of each file of *args*, and return the exit status."""
    status = OK
    for one in said(args, say):
        output = stdout() if output is None else output
        put(one.text, output)
        status = max(status, one.status)
    return status


def said_of(
    args: argparse.Namespace, say: Say, files: Iterator[File], count: int
) -> Iterator[Said]:
    """Yield what *say* yields of each of *files*, of which there are about *count*; see `said`."""
    if args.jobs > 1 and count > 1:
        from ._jobs import in_processes  # which loads multiprocessing

        yield from in_processes(args, say, files)
    else:
        for file in _one_by_one(args, files):
            yield from say(args, file)


def taken(args: argparse.Namespace, files: Files) -> Iterator[File]:
    """Yield each of *files* that is to be read."""
    found = files.found()
    if args.meter is not None:
        args.meter.expect(found)
    for file in found:
        if files.takes(file):
            yield file
        elif args.meter is not None:
            args.meter.skip(file)


def _one_by_one(args: argparse.Namespace, files: Iterator[File]) -> Iterator[File]:
    for file in files:
        if args.meter is not None:
            args.meter.start(file)
        yield file
        if args.meter is not None:
            args.meter.finish()


def tell_skipped(files: Files) -> None:
    """Say which of *files* were skipped, if any were, and if there was none to be read."""
    note = files.note()
    if note is not None:
        tell(note)
    if not files.taken:
        tell("there is no recording in what was named")
