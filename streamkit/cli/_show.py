"""`streamkit show`: the response to be read by a person."""

from __future__ import annotations

import argparse

from ._command import Command
from ._inputs import Failed, add_reading_arguments, read_streams
from ._output import has_colour, stdout, tell
from ._page import page, render


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


def run(args: argparse.Namespace) -> int:
    """Print a page on each stream and return the exit status."""
    status = 0
    separator = ""
    for item in read_streams(args):
        if isinstance(item, Failed):
            tell(f"{item.source}: {item.message}")
        else:
            output = stdout()
            output.write(separator + render(page(item), has_colour=has_colour()))
            output.flush()
            separator = "\n"
        status = max(status, item.status)
    return status


COMMAND = Command(
    name="show",
    summary="print the response to be read: text, reasoning, tool calls, usage, issues",
    examples=EXAMPLES,
    add_arguments=add_arguments,
    run=run,
)
