"""What a command is: the row that its file adds to the table of `_main`."""

from __future__ import annotations

import argparse

from collections.abc import Callable

import attrs


__all__ = ["Command", "exit_status", "integer"]

MOST_DIGITS = 18

EVERY_STREAM_COMPLETE = "every stream is complete"
SOME_STREAM_INCOMPLETE = "a stream was cut, carried an error or was refused, or there was none"


@attrs.frozen(kw_only=True)
class Command:
    """
    A subcommand.

    Attributes:
        name: What is typed to run it.
        summary: What it does, in one line.
        description: What its help says of it: what is printed, and how to read that.
        examples: Lines for a shell, each with a comment.
        ok: When its exit status is 0.
        incomplete: When it is 1.
        add_arguments: Adds its arguments to its parser.
        run: Does it, and returns the exit status.
    """

    name: str
    summary: str
    description: str
    examples: str
    ok: str = EVERY_STREAM_COMPLETE
    incomplete: str = SOME_STREAM_INCOMPLETE
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def exit_status(ok: str = EVERY_STREAM_COMPLETE, incomplete: str = SOME_STREAM_INCOMPLETE) -> str:
    """Return what a help says about the exit status."""
    return f"""\
exit status:
  0    {ok}
  1    {incomplete}
  2    wrong usage, or a file could not be read or written
  130  interrupted, as by Ctrl-C
"""


def integer(value: str) -> int:
    """
    Return the integer that an argument spells; what is none, or beyond all use, is -1.

    >>> integer("12"), integer("-3"), integer("1e3"), integer("9" * 5000)
    (12, -1, -1, -1)
    """
    is_one = value.isascii() and value.isdecimal() and len(value) <= MOST_DIGITS
    return int(value) if is_one else -1
