"""`streamkit completion`: what a shell needs to complete the command line."""

from __future__ import annotations

import argparse
import contextlib
import os

from ._command import Command
from ._inputs import OK, USAGE
from ._output import put, tell


__all__ = ["COMMAND", "complete"]

DESCRIPTION = """\
Prints a script for a shell; where it is loaded, the shell completes commands, options,
their values and file names.  It needs argcomplete: install streamkit-llm[cli].

Load it when the shell starts:
  bash          eval "$(streamkit completion bash)"             in ~/.bashrc
  zsh           eval "$(streamkit completion zsh)"              in ~/.zshrc, after compinit
  fish          streamkit completion fish | source              in config.fish
  powershell    streamkit completion powershell | Out-String | Invoke-Expression
                                                                in $PROFILE
"""

EXAMPLES = """\
  streamkit completion fish             # print the script
  eval "$(streamkit completion bash)"   # load it into this shell, for now
"""

SHELLS = ("bash", "zsh", "fish", "powershell")
MISSING = "completion needs argcomplete: install streamkit-llm[cli]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to *parser*."""
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run(args: argparse.Namespace) -> int:
    """Print the script for a shell and return the exit status."""
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        tell(MISSING)
        return USAGE
    put(shellcode(["streamkit"], shell=args.shell).strip("\n") + "\n")
    return OK


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the script, and exit, if it is what started this process."""
    if "_ARGCOMPLETE" not in os.environ:
        return
    with contextlib.suppress(ImportError):  # the script outlived the library: no completion
        from argcomplete import autocomplete

        autocomplete(parser, always_complete_options="long")


COMMAND = Command(
    name="completion",
    summary="print a script that makes a shell complete the command line",
    description=DESCRIPTION,
    examples=EXAMPLES,
    ok="the script is printed",
    incomplete="never",
    add_arguments=add_arguments,
    run=run,
)
