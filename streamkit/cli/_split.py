"""`streamkit split`: the streams of a recording, each in a file of its own."""

from __future__ import annotations

import argparse
import re

from pathlib import Path

from ._command import Command
from ._escape import escape_line
from ._forms import written
from ._inputs import INCOMPLETE, OK, USAGE, Failed, add_reading_arguments
from ._output import put, tell
from ._trace import Traced, trace


__all__ = ["COMMAND", "safe_name"]

DESCRIPTION = """\
The files are named by number and id, and their names are printed.  Numbers go on over
all recordings.  No file that is there is written over.
"""

EXAMPLES = """\
  streamkit split --into streams log.sse             # a file for each stream
  streamkit split --into parts --to jsonl *.jsonl    # of many recordings, with times
"""

# What any file system takes as it is; what else an id has becomes `_`.
UNSAFE = re.compile(r"[^A-Za-z0-9-]+")
LONGEST_ID = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to *parser*."""
    add_reading_arguments(parser)
    parser.add_argument(
        "--into", required=True, metavar="FOLDER", help="the folder; it is made if need be"
    )
    parser.add_argument("--to", choices=("sse", "jsonl"), default="sse", help="the form to write")


def run(args: argparse.Namespace) -> int:
    """Write each stream to a file, print the names, and return the exit status."""
    folder = Path(args.into)
    folder.mkdir(parents=True, exist_ok=True)
    status, number = OK, 0
    for source, item in trace(args, keep=True):
        if isinstance(item, Failed):
            status = max(status, item.tell())
        elif isinstance(item, Traced) and item.rows:
            number += 1
            path = folder / safe_name(number, item, args.to)
            status = max(status, _write(path, item, args.to))
        elif isinstance(item, Traced):
            tell(f"{source}: no stream")
    return status if number else max(status, INCOMPLETE)


def safe_name(number: int, traced: Traced, form: str) -> str:
    """Return a file name for stream *number*: no path, whatever its id says."""
    response = traced.outcome.response
    identity = "" if response is None else str(response.id or "")
    name = UNSAFE.sub("_", identity[: 4 * LONGEST_ID])[:LONGEST_ID].strip("_-")
    return f"{number:04d}{'-' * bool(name)}{name}.{form}"


def _write(path: Path, traced: Traced, form: str) -> int:
    """Write the stream to *path*, a new file, whole or not at all; a link is not followed."""
    try:
        file = path.open("x", encoding="utf-8", newline="\n")
    except FileExistsError:
        tell(f"{path}: exists, and was left as it is; choose an empty folder")
        return USAGE
    try:
        with file:
            file.writelines(written(traced.rows, form))
            if traced.outcome.done and form == "sse":
                file.write("data: [DONE]\n\n")
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    put(f"{escape_line(str(path))}\n")
    return OK


COMMAND = Command(
    name="split",
    summary="write each stream of a recording to a file of its own",
    description=DESCRIPTION,
    examples=EXAMPLES,
    ok="all is split, cut streams as well",
    incomplete="there was no stream, or one was refused",
    add_arguments=add_arguments,
    run=run,
)
