"""`streamkit show`: the response to be read by a person."""

from __future__ import annotations

import argparse

from functools import partial

from ._command import Command
from ._each import add_jobs_argument, said, say_each
from ._inputs import Found, add_reading_arguments
from ._output import has_colour, put
from ._page import page, render


__all__ = ["COMMAND"]

DESCRIPTION = """\
Of each stream a page: file, kind, id, model, time, chunks, state; then each choice with
its text, reasoning and tool calls; then usage and issues.  Pages are parted by a blank
line.

Text of the stream is indented, and what is not plainly visible in it is shown as
an escape such as \\x1b, so that it can neither drive the terminal nor pass for a
line of this command.  Colours: only on a terminal, and not if NO_COLOR is set.
"""

EXAMPLES = """\
  streamkit show recording.sse         # the page on a recording
  streamkit show log.sse | head -n 20  # without colours, as it goes into a pipe
  streamkit show "logs/**/*.sse"       # a pattern that the shell leaves alone
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to *parser*."""
    add_reading_arguments(parser)
    add_jobs_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print a page on each stream and return the exit status."""
    status = 0
    separator = ""
    for one in said(args, partial(say_each, text_of=_text)):
        if one.text:
            put(separator + one.text)
            separator = "\n"
        status = max(status, one.status)
    return status


def _text(_: argparse.Namespace, found: Found) -> str:
    return render(page(found), has_colour=has_colour())


COMMAND = Command(
    name="show",
    summary="print the response to be read: text, reasoning, tool calls, usage, issues",
    description=DESCRIPTION,
    examples=EXAMPLES,
    add_arguments=add_arguments,
    run=run,
)
