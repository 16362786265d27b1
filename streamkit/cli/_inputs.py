"""What a command reads: the options of reading, and what comes of each stream of a file."""

from __future__ import annotations

import argparse
import errno
import importlib.util
import os
import sys

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

import attrs

from streamkit._errors import StreamkitError
from streamkit._limits import Limits
from streamkit._outcome import Outcome
from streamkit._rebuild import Source, counted
from streamkit.recordings import FORMS, ReadOptions, rebuild

from ._command import integer
from ._files import STDIN, File, Files, number_of
from ._output import STDOUT, tell


__all__ = [
    "INCOMPLETE",
    "OK",
    "USAGE",
    "Failed",
    "Found",
    "Meter",
    "Stop",
    "add_files_argument",
    "add_form_arguments",
    "add_reading_arguments",
    "add_recording_arguments",
    "files_of",
    "open_file",
    "read_file",
    "reading_options",
    "source_of",
]

# Exit statuses; the greatest of all streams is the command's.
OK, INCOMPLETE, USAGE = 0, 1, 2

ROW_OPTIONS = (
    ("--field", "the column of the body or of the chunk"),
    ("--group-by", "the column that tells streams apart"),
    ("--order-by", "the column that chunks are sorted by"),
    ("--time-field", "the column of the time"),
)
FILES = """\
Folders are read with all that is in them, in the order of the names, but for hidden
files and those that are no recordings: these are counted.  A file that is named is
read whatever it is.  In patterns, * is any text, ? any character, ** any folders.
"""
LIMITS = tuple(field.name for field in attrs.fields(Limits))


@attrs.frozen
class Found:
    """
    A stream, and what became of it.

    Attributes:
        source: The file it was in.
        number: Which of the streams in that file it is, counted from 1.
        outcome: Its outcome.
    """

    source: str
    number: int
    outcome: Outcome

    @property
    def status(self) -> int:
        """The exit status that it calls for."""
        return OK if self.outcome.complete else INCOMPLETE


@attrs.frozen
class Failed:
    """
    A file that could not be read, or a stream that strict mode refused.

    Attributes:
        source: The file.
        message: Why, in one line.
        error: Strict mode's error; None if the file could not be read.
    """

    source: str
    message: str
    error: StreamkitError | None = None

    @property
    def status(self) -> int:
        """The exit status that it calls for."""
        return USAGE if self.error is None else INCOMPLETE

    def tell(self) -> int:
        """Say it on standard error, and return the exit status that it calls for."""
        tell(f"{self.source}: {self.message}")
        return self.status


class Stop(Exception):
    """
    What ends a command before it has begun.

    Attributes:
        status: The exit status that it calls for.
    """

    def __init__(self, message: str, status: int = USAGE) -> None:
        super().__init__(message)
        self.status = status


# -- Arguments -----------------------------------------------------------------------


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that all commands have which read the streams of many files."""
    add_files_argument(parser)
    add_form_arguments(parser)


def add_files_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument of commands that read many files."""
    group = parser.add_argument_group("files", FILES)
    group.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="a recording, a folder of them, or a pattern; none, or -: standard input",
    )


def add_form_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how to read a file, and how to merge its chunks."""
    group = add_recording_arguments(parser)
    group.add_argument(
        "--kind", choices=("chat", "completion"), help="the kind of response; else the chunks tell"
    )
    group.add_argument(
        "--cumulative", action="store_true", help="each piece of text repeats all before it"
    )
    group.add_argument(
        "--json-library",
        choices=("auto", "json", "orjson", "msgspec"),
        type=_json_library,
        default="auto",
        help="the library to decode JSON with; the result is the same with each",
    )


def add_recording_arguments(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the arguments that say how to read a file, and return their group."""
    group = parser.add_argument_group("reading")
    _add_row_arguments(group)
    group.add_argument(
        "--limit",
        dest="limits",
        action="append",
        type=_limit,
        default=[],
        metavar="NAME=VALUE",
        help=f"set a bound to an integer, or to none; the bounds: {', '.join(LIMITS)}",
    )
    group.add_argument(
        "--no-progress",
        action="store_true",
        help="show no progress bar; there is none anyway in pipes, or without rich",
    )
    parser.set_defaults(strict=False, meter=None)
    return group


def _add_row_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--from",
        dest="form",
        choices=("auto", *FORMS),
        default="auto",
        metavar="FORM",
        help=f"the form of the recording; else its bytes tell; the forms: {', '.join(FORMS)}",
    )
    for option, what in ROW_OPTIONS:
        group.add_argument(option, metavar="NAME", help=f"in rows: {what}")
    group.add_argument(
        "--fix-mojibake",
        action="store_true",
        help="undo UTF-8 that was read as Latin-1, where a recording shows it",
    )


def _json_library(name: str) -> str:
    if name in ("orjson", "msgspec") and importlib.util.find_spec(name) is None:
        raise argparse.ArgumentTypeError(f"{name} is not installed")
    return name


def _limit(setting: str) -> tuple[str, int | None]:
    name, _, value = setting.partition("=")
    if name not in LIMITS:
        raise argparse.ArgumentTypeError(f"no limit {name!r}; there are {', '.join(LIMITS)}")
    if value == "none":
        return name, None
    bound = integer(value)
    if bound < 0:
        raise argparse.ArgumentTypeError(f"{name} must be an integer or none, not {value!r}")
    return name, bound


# -- Files ---------------------------------------------------------------------------


def files_of(args: argparse.Namespace) -> Files:
    """
    Return the files that *args* name; who waits at a terminal is told so.

    Raises:
        Stop: If the command would write over one of them.
    """
    if not args.files and sys.stdin is not None and sys.stdin.isatty():
        tell("waiting for a stream on standard input; end it with Ctrl-D")
    own = [getattr(args, name, None) for name in ("output", "into")]
    named = [name for name in own if name not in (None, STDOUT)]
    files = Files(args.files, [*named, number_of(sys.stdout)])
    lost = files.overwritten()
    if lost is not None:
        raise Stop(f"{lost.label} would be read and written at once; write to another file")
    return files


def open_file(file: File) -> Path | BinaryIO:
    """
    Return *file* as something to read from.

    Raises:
        OSError: If that is known to be impossible.
    """
    if file.error is not None:
        raise file.error
    if not file.name or "\0" in file.name:  # the one would be the folder, the other a ValueError
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    if file.name != STDIN:
        return Path(file.name)
    if sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed")
    return sys.stdin.buffer


def source_of(args: argparse.Namespace, file: File) -> Source:
    """
    Return *file* as a source; if there is a meter, it counts what is read.

    Raises:
        OSError: As `open_file`.
    """
    source = open_file(file)
    return source if args.meter is None else counted(source, args.meter.add)


class Meter(Protocol):
    """What is told how far the reading is."""

    def add(self, size: int) -> None:
        """Take note that *size* more bytes were read."""


# -- Streams -------------------------------------------------------------------------


def reading_options(args: argparse.Namespace) -> ReadOptions:
    """Return how to read rows, and within which bounds."""
    return ReadOptions(
        limits=Limits(**dict(args.limits)),
        field=args.field,
        group_by=args.group_by,
        order_by=args.order_by,
        time_field=args.time_field,
        fix_mojibake=args.fix_mojibake,
    )


def read_file(args: argparse.Namespace, file: File) -> Iterator[Found | Failed]:
    """Yield what becomes of each stream in *file*."""
    try:
        outcomes = rebuild(
            source_of(args, file),
            form=args.form,
            options=reading_options(args),
            kind=args.kind,
            cumulative=args.cumulative,
            json=args.json_library,
            limits=Limits(**dict(args.limits)),
            strict=args.strict,
        )
        for number, outcome in enumerate(outcomes, 1):
            yield Found(file.label, number, outcome)
    except StreamkitError as error:
        yield Failed(file.label, f"{error.code}: {error}", error)
    except OSError as error:
        yield Failed(file.label, error.strerror or str(error))
