"""`streamkit diff`: what two responses have in common, and what not."""

from __future__ import annotations

import argparse
import difflib

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from streamkit._converter import to_dict
from streamkit._differences import MISSING, Difference, differences
from streamkit._errors import amount
from streamkit._json import encode

from ._command import Command
from ._escape import escape_line
from ._files import STDIN, File
from ._inputs import INCOMPLETE, OK, Failed, Found, Stop, add_form_arguments, read_file
from ._output import has_colour, put
from ._verdict import state


__all__ = ["COMMAND"]

DESCRIPTION = """\
Streams are compared in order, whatever the forms are and however they were cut into
chunks.  Differences are told by what they are about: text, tools, finish, usage, fields.

With --json an object a difference: stream, about, path, old, new.
"""

EXAMPLES = """\
  streamkit diff before.sse after.sse                               # all differences
  streamkit diff --ignore id --ignore created before.sse after.sse  # those that matter
  streamkit diff --json before.sse after.sse                        # for programs
"""

RED, GREEN, BOLD, RESET = "\x1b[31m", "\x1b[32m", "\x1b[1m", "\x1b[0m"
PAINT = {"-": RED, "+": GREEN}
SIDES = ("old", "new")
# Of longer texts only the size is told: comparing their lines may take their square.
MOST_LINES = 20_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to *parser*."""
    parser.add_argument("old", metavar="A", help="a recording; -: standard input")
    parser.add_argument("new", metavar="B", help="another")
    add_form_arguments(parser)
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="FIELD",
        help="leave out a field, at any depth: id, created, system_fingerprint, logprobs …",
    )
    parser.add_argument("--json", action="store_true", help="print an object a difference")


def run(args: argparse.Namespace) -> int:
    """Print what differs between two recordings and return the exit status."""
    if args.old == args.new == STDIN:
        raise Stop("standard input can be read only once; name a file for one side")
    sides = [list(read_file(args, File(name))) for name in (args.old, args.new)]
    failed = [item for side in sides for item in side if isinstance(item, Failed)]
    if failed:
        return max([item.tell() for item in failed])
    status = OK
    for number, (old, new) in enumerate(zip_longest(*sides), 1):
        found = [one for one in differences(_data(old), _data(new)) if not _is_ignored(one, args)]
        status = max(status, INCOMPLETE if found else OK)
        put("".join(f"{line}\n" for line in _lines(found, number, args)))
    return status


def _data(found: Any) -> dict[str, Any]:
    """Return the response of *found*, with what became of the stream, as JSON data."""
    if found is None:
        return {}
    assert isinstance(found, Found)
    response = found.outcome.response
    data = {} if response is None else to_dict(response)
    choices = {str(choice.get("index")): choice for choice in data.pop("choices", ())}
    return {**data, "choices": choices, "state": state(found.outcome)}


def _is_ignored(difference: Difference, args: argparse.Namespace) -> bool:
    return not set(args.ignore).isdisjoint(difference.path.replace("[", ".").split("."))


# -- Showing -------------------------------------------------------------------------


def _lines(found: list[Difference], number: int, args: argparse.Namespace) -> Iterator[str]:
    if args.json:
        yield from (encode(_json(one, number)) for one in found)
        return
    if not found:
        yield f"stream {number}: the same"
        return
    yield _painted(f"stream {number}: {len(found)} difference" + "s" * (len(found) != 1), BOLD)
    for one in found:
        yield f"  {one.about} · {escape_line(one.path) or 'response'}"
        yield from (f"    {line}" for line in _change(one))


def _json(one: Difference, number: int) -> dict[str, Any]:
    sides = {"old": one.old, "new": one.new}
    return {
        "stream": number,
        "about": one.about,
        "path": one.path,
        **{side: value for side, value in sides.items() if value is not MISSING},
    }


def _change(one: Difference) -> Iterator[str]:
    if isinstance(one.old, str) and isinstance(one.new, str):
        yield from _text_change(one.old, one.new)
        return
    if one.old is not MISSING:
        yield _line("-", encode(one.old))
    if one.new is not MISSING:
        yield _line("+", encode(one.new))


def _text_change(old: str, new: str) -> Iterator[str]:
    """Yield the lines that changed with one line around them."""
    before, after = old.split("\n"), new.split("\n")
    if len(before) + len(after) > MOST_LINES:
        yield _line("-", _extent(old, before))
        yield _line("+", _extent(new, after))
        return
    for line in list(difflib.unified_diff(before, after, lineterm="", n=1))[2:]:
        if not line.startswith("@@"):
            yield _line(line[:1], line[1:])
        elif len(before) > 1:
            yield line


def _extent(text: str, lines: list[str]) -> str:
    return f"{amount(len(text), 'character')} in {amount(len(lines), 'line')}"


def _line(mark: str, text: str) -> str:
    return _painted(f"{mark} {escape_line(text)}", PAINT.get(mark, ""))


def _painted(text: str, paint: str) -> str:
    return f"{paint}{text}{RESET}" if paint and has_colour() else text


COMMAND = Command(
    name="diff",
    summary="compare the responses of two recordings: text, tools, finish, usage, fields",
    description=DESCRIPTION,
    examples=EXAMPLES,
    ok="all is the same",
    incomplete="something differs, or a recording was refused",
    add_arguments=add_arguments,
    run=run,
)
