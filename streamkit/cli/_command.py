"""What a command is: the row that its file adds to the table of `_main`."""

from __future__ import annotations

import argparse

from collections.abc import Callable

import attrs


__all__ = ["Command"]


@attrs.frozen(kw_only=True)
class Command:
    """
    A subcommand.

    Attributes:
        name: What is typed to run it.
        summary: What it does, in one line.
        examples: What its help says at the end.
        add_arguments: Adds its arguments to its parser.
        run: Does it, and returns the exit status.
    """

    name: str
    summary: str
    examples: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
