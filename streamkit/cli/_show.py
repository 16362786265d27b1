"""`streamkit show`: the response to be read by a person."""

from __future__ import annotations

import argparse

from collections.abc import Iterator

from ._command import Command
from ._each import add_jobs_argument, said
from ._files import File
from ._inputs import Failed, add_reading_arguments, read_file
from ._output import has_colour, put, tell
from ._page import page, render
from ._said import Said


__all__ = ["COMMAND"]

EXAMPLES = """\
Text of the stream is indented, and what is not plainly visible in it is shown as
an escape such as \\x1b, so that it can neither drive the terminal nor pass for a
line of this command.  Colours: only on a terminal, and not if NO_COLOR is set.

examples:
  streamkit show recording.sse
  streamkit show log.jsonl | less
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to *parser*."""
    add_reading_arguments(parser)
    add_jobs_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print a page on each stream and return the exit status."""
    status = 0
    separator = ""
    for one in said(args, _say):
        if one.text:
            put(separator + one.text)
            separator = "\n"
        status = max(status, one.status)
    return status


def _say(args: argparse.Namespace, file: File) -> Iterator[Said]:
    for item in read_file(args, file):
        if isinstance(item, Failed):
            tell(f"{item.source}: {item.message}")
            yield Said(status=item.status)
        else:
            yield Said(render(page(item), has_colour=has_colour()), item.status)


COMMAND = Command(
    name="show",
    summary="print the response to be read: text, reasoning, tool calls, usage, issues",
    examples=EXAMPLES,
    add_arguments=add_arguments,
    run=run,
)
