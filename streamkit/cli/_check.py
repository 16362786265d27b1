"""`streamkit check`: one line on each stream."""

from __future__ import annotations

import argparse

from functools import partial

from streamkit._errors import amount

from ._command import Command
from ._each import add_jobs_argument, print_each, say_each
from ._escape import escape_line
from ._inputs import Found, add_reading_arguments
from ._verdict import issue_counts, kind_of, state


__all__ = ["COMMAND", "summary"]

DESCRIPTION = """\
The columns, parted by dots: file, number of the stream in it, id, kind, state (complete,
cut, error or empty), chunks, finish reasons, issues with how often each came.
"""

EXAMPLES = """\
  streamkit check *.sse                                # a line on each stream
  streamkit check logs | grep -v " · complete · "      # those with something missing
  streamkit check --jobs auto logs > /dev/null         # only the exit status
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to *parser*."""
    add_reading_arguments(parser)
    add_jobs_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print a line on each stream and return the exit status."""
    return print_each(args, partial(say_each, text_of=_text))


def _text(_: argparse.Namespace, found: Found) -> str:
    return summary(found) + "\n"


def summary(found: Found) -> str:
    """Return the line on the stream *found*, safe to show."""
    outcome = found.outcome
    response = outcome.response
    choices = [] if response is None else response.choices
    fields = [
        found.source,
        f"#{found.number}",
        (response and str(response.id)) or "-",
        kind_of(outcome) or "-",
        state(outcome),
        amount(outcome.chunks, "chunk"),
        ",".join(str(choice.finish_reason or "-") for choice in choices) or "-",
        ",".join(issue_counts(outcome)) or "-",
    ]
    return escape_line(" · ".join(fields))


COMMAND = Command(
    name="check",
    summary="print one line on each stream: whole or not, and what was noticed",
    description=DESCRIPTION,
    examples=EXAMPLES,
    add_arguments=add_arguments,
    run=run,
)
