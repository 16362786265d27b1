"""`streamkit rebuild`: the full response as JSON."""

from __future__ import annotations

import argparse

from collections.abc import Iterator

from streamkit._converter import to_json
from streamkit._json import encode

from ._command import Command
from ._each import add_jobs_argument, print_each
from ._files import File
from ._inputs import Failed, Found, add_reading_arguments, read_file
from ._output import add_output_argument, open_output, tell
from ._report import report, report_failure
from ._said import Said
from ._verdict import reasons


__all__ = ["COMMAND"]

DESCRIPTION = """\
Each response is one line of JSON, of the form that the API gives without streaming.
What is incomplete is printed too, and said on standard error; a stream of which there
is nothing prints nothing.  Of several files: their responses in the order of the files;
--outcome adds the name of the file to each, as source.
"""

EXAMPLES = """\
  streamkit rebuild recording.sse                # the response, on one line
  curl -sN "$URL" | streamkit rebuild --indent 2 # of a live stream, to be read
  streamkit rebuild *.sse -o all.jsonl           # many recordings, one line a response
  streamkit rebuild --jobs auto logs -o all.jsonl # a folder of them, on all cores
  streamkit rebuild --outcome recording.sse      # with what was cut or wrong
"""

MOST_INDENT = 32


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to *parser*."""
    add_reading_arguments(parser)
    add_jobs_argument(parser)
    parser.add_argument(
        "--strict", action="store_true", help="refuse what is incomplete or needs any repair"
    )
    group = parser.add_argument_group("writing")
    group.add_argument(
        "--indent", type=int, choices=range(MOST_INDENT + 1), metavar="N", help="spaces per level"
    )
    group.add_argument(
        "--outcome", action="store_true", help="print the response together with its issues"
    )
    add_output_argument(group, "; if there is nothing to write it stays as it is")


def run(args: argparse.Namespace) -> int:
    """Print the response of each stream and return the exit status."""
    with open_output(args.output) as output:
        return print_each(args, _say, output)


def _say(args: argparse.Namespace, file: File) -> Iterator[Said]:
    for item in read_file(args, file):
        line = _line(item, args)
        yield Said("" if line is None else line + "\n", item.status)
        complaint = _complaint(item)
        if complaint is not None:
            tell(f"{item.source}: {complaint}")


def _line(item: Found | Failed, args: argparse.Namespace) -> str | None:
    """Return the JSON to print for *item*, or None if there is none."""
    if isinstance(item, Failed):
        if item.error is None or not args.outcome:
            return None
        return encode(report_failure(item.error, item.source), indent=args.indent)
    if args.outcome:
        return encode(report(item.outcome, item.source), indent=args.indent)
    if item.outcome.response is None:
        return None
    return to_json(item.outcome.response, indent=args.indent)


def _complaint(item: Found | Failed) -> str | None:
    if isinstance(item, Failed):
        return item.message
    return None if item.outcome.complete else f"incomplete: {reasons(item.outcome)}"


COMMAND = Command(
    name="rebuild",
    summary="print the full response as JSON",
    description=DESCRIPTION,
    examples=EXAMPLES,
    add_arguments=add_arguments,
    run=run,
)
