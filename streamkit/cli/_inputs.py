"""What a command reads: its files, the options of reading, and what comes of each stream."""

from __future__ import annotations

import argparse
import errno
import importlib.util
import sys

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from streamkit._errors import StreamkitError
from streamkit._limits import Limits
from streamkit._outcome import Outcome
from streamkit.recordings import FORMS, ReadOptions, rebuild

from ._output import tell


__all__ = [
    "INCOMPLETE",
    "OK",
    "USAGE",
    "Failed",
    "Found",
    "add_reading_arguments",
    "read_streams",
    "reading_options",
]

# Exit statuses; the greatest of all streams is the command's.
OK, INCOMPLETE, USAGE = 0, 1, 2

STDIN = "-"
ROW_OPTIONS = (
    ("--field", "the column of the body or of the chunk"),
    ("--group-by", "the column that tells streams apart"),
    ("--order-by", "the column that chunks are sorted by"),
    ("--time-field", "the column of the time"),
)
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


# -- Arguments -----------------------------------------------------------------------


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that all commands have which read streams."""
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="a recording; none, or -: standard input"
    )
    group = parser.add_argument_group("reading")
    _add_form_arguments(group)
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
    group.add_argument(
        "--limit",
        dest="limits",
        action="append",
        type=_limit,
        default=[],
        metavar="NAME=VALUE",
        help=f"set a bound to an integer, or to none; the bounds: {', '.join(LIMITS)}",
    )
    parser.set_defaults(strict=False)


def _add_form_arguments(group: argparse._ArgumentGroup) -> None:
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
    if not (value.isascii() and value.isdecimal()):
        raise argparse.ArgumentTypeError(f"{name} must be an integer or none, not {value!r}")
    return name, int(value)


# -- Streams -------------------------------------------------------------------------


def read_streams(args: argparse.Namespace) -> Iterator[Found | Failed]:
    """Yield what becomes of each stream in each file of *args*."""
    if not args.files and sys.stdin is not None and sys.stdin.isatty():
        tell("waiting for a stream on standard input; end it with Ctrl-D")
    options = {
        "form": args.form,
        "options": reading_options(args),
        "kind": args.kind,
        "cumulative": args.cumulative,
        "json": args.json_library,
        "limits": Limits(**dict(args.limits)),
        "strict": args.strict,
    }
    for name in args.files or [STDIN]:
        yield from _read_file(name, options)


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


def _read_file(name: str, options: dict[str, Any]) -> Iterator[Found | Failed]:
    source = "<stdin>" if name == STDIN else name
    try:
        for number, outcome in enumerate(rebuild(_open(name), **options), 1):
            yield Found(source, number, outcome)
    except StreamkitError as error:
        yield Failed(source, f"{error.code}: {error}", error)
    except OSError as error:
        yield Failed(source, error.strerror or str(error))


def _open(name: str) -> Path | BinaryIO:
    if name != STDIN:
        return Path(name)
    if sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed")
    return sys.stdin.buffer
