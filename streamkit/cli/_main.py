"""The entry point: the table of commands, and how the command ends."""

from __future__ import annotations

import argparse
import errno
import sys

from collections.abc import Sequence
from typing import Any, NoReturn

from streamkit import __version__

from . import (
    _batch,
    _check,
    _completion,
    _convert,
    _diff,
    _inspect,
    _logprobs,
    _rebuild,
    _redact,
    _report_html,
    _serve,
    _show,
    _split,
    _stats,
)
from ._command import Command, exit_status
from ._escape import escape_line
from ._inputs import INCOMPLETE, USAGE, Stop
from ._output import discard_output, stdout, tell
from ._progress import watching


__all__ = ["main"]


COMMANDS = (
    _rebuild.COMMAND,
    _batch.COMMAND,
    _show.COMMAND,
    _check.COMMAND,
    _inspect.COMMAND,
    _stats.COMMAND,
    _logprobs.COMMAND,
    _convert.COMMAND,
    _split.COMMAND,
    _diff.COMMAND,
    _redact.COMMAND,
    _report_html.COMMAND,
    _serve.COMMAND,
    _completion.COMMAND,
)

# What 128 + SIGINT is to a shell.
INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    """The standard parser, but arguments in its messages cannot drive a terminal."""

    def error(self, message: str) -> NoReturn:
        """Exit with *message*."""
        super().error(escape_line(message))


class CommandParser(Parser):
    """The parser of a command: its options may stand between files, and it knows its own usage."""

    _is_parsing = False

    def parse_known_args(self, *given: Any, **named: Any) -> Any:
        """Return what the arguments say; what they say too much is an error of this command."""
        if self._is_parsing:  # asked by what is asked below
            return super().parse_known_args(*given, **named)
        has_end = "--" in (given[0] if given else ())
        parse = self.parse_known_args if has_end else self.parse_known_intermixed_args
        self._is_parsing = True
        try:
            found, rest = parse(*given, **named)
        finally:
            self._is_parsing = False
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return found, rest


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    # No abbreviations: a new option must not change what a script means.
    parser = Parser(
        prog="streamkit",
        description="Turn a stream of LLM chunks back into the full response.",
        epilog="streamkit COMMAND --help has the options and examples.\n\n" + exit_status(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"streamkit {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=CommandParser)
    for command in COMMANDS:
        _add_command(commands, command)
    return parser


def _add_command(commands: argparse._SubParsersAction[CommandParser], command: Command) -> None:
    parser = commands.add_parser(
        command.name,
        help=command.summary,
        description=f"{command.summary[:1].upper()}{command.summary[1:]}.\n\n{command.description}",
        epilog=f"examples:\n{command.examples}\n{exit_status(command.ok, command.incomplete)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    parser.set_defaults(run=command.run)


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run the command line *argv*, or the process's own, and return the exit status.

    Inputs that cannot be read are the commands' business; an OSError that comes
    here is about the output.
    """
    try:
        status = _run(argv)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Stop as stop:
        tell(str(stop))
        return stop.status
    except OSError as error:
        return _output_failed(error)
    except RecursionError:
        tell("JSON is nested too deep; --limit depth=64 refuses it")
        return INCOMPLETE
    return status


def _run(argv: Sequence[str] | None) -> int:
    try:
        if sys.stdout is not None:
            stdout()  # also --help has text beyond ASCII
        parser = make_parser()
        _completion.complete(parser)
        args = parser.parse_args(argv)
    except SystemExit as done:  # --help, --version, or wrong usage
        return int(done.code or 0)
    with watching(args) as args.meter:
        status: int = args.run(args)
    return status


def _output_failed(error: OSError) -> int:
    # Whoever read the output has gone: nothing to say, and nobody to say it to.
    # Windows calls a broken pipe an invalid argument, and so it does a name that no file can have.
    if error.errno in (errno.EPIPE, errno.EINVAL) and error.filename is None:
        discard_output()
        return INCOMPLETE
    name = f"{error.filename}: " if error.filename else ""
    tell(f"cannot write: {name}{error.strerror or error}")
    discard_output()
    return USAGE
