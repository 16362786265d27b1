"""`streamkit batch`: the streams of many files, or of tables, as rows, on all cores."""

from __future__ import annotations

import argparse
import re
import time

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from streamkit._errors import StreamkitError, amount
from streamkit._limits import Limits

from ._candidates import may_be_table
from ._command import Command
from ._each import add_jobs_argument, taken, tell_skipped
from ._escape import escape_line
from ._files import STDIN
from ._inputs import INCOMPLETE, OK, USAGE, add_form_arguments, files_of, reading_options
from ._output import put, tell
from ._parts import PartFile, made_again, said_of_parts
from ._said import Said


if TYPE_CHECKING:
    from streamkit.engines._job import Job
    from streamkit.engines._plan import Part
    from streamkit.engines._tally import Tally


__all__ = ["COMMAND"]

DESCRIPTION = """\
OUT is a folder.  Each file in it, part-000000 and so on, has a row for each stream, in
the order of the inputs: where it was, the response as JSON, its text, finish reasons,
token counts, whether it is complete, the error, the issues.  What is wrong with an
input is said in its rows; the others go on.  A part is there only when it is whole:
after a kill at any moment, the same command with --resume makes those that are missing,
and the result is that of one run.  It refuses inputs that have changed.

With --body the inputs are tables, in Parquet or JSON lines, with a body in each row.
"""

EXAMPLES = """\
  streamkit batch logs out                        # a folder of recordings, on all cores
  streamkit batch --resume logs out-2             # begin, or go on after a kill
  streamkit batch --to parquet --jobs 2 logs out-3 # for Spark, DuckDB, pandas
  streamkit batch --body sse --keep id rows.jsonl out-4 # a column of a table
"""

SIZE = re.compile(r"([0-9]{1,12})([KMG]?)")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to *parser*."""
    parser.add_argument(
        "files", nargs="+", metavar="IN", help="a recording or a table, a folder, or a pattern"
    )
    parser.add_argument("output", metavar="OUT", help="the folder to write to")
    parser.add_argument("--resume", action="store_true", help="go on with the job in OUT, if any")
    add_jobs_argument(parser, "parts", "auto")
    add_form_arguments(parser)
    _add_table_arguments(parser.add_argument_group("tables"))
    group = parser.add_argument_group("writing")
    group.add_argument(
        "--to", choices=("jsonl", "parquet"), default="jsonl", help="the form of the parts (jsonl)"
    )
    group.add_argument(
        "--part-size",
        type=_size,
        default="64M",
        metavar="N",
        help="read about N bytes for each part; K, M and G stand for KiB, MiB, GiB (64M)",
    )


def _add_table_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--body", metavar="NAME", help="the column that holds the bodies")
    group.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="NAME",
        help="a column to stand before those of the rows; may be given several times",
    )
    group.add_argument(
        "--prefix", default="", help="what stands before the names of the rows' own columns"
    )


def _size(text: str) -> int:
    found = SIZE.fullmatch(text)
    size = int(found[1]) * UNITS[found[2]] if found else 0
    if not size:
        raise argparse.ArgumentTypeError(f"must be a number of bytes, such as 64M, not {text!r}")
    return size


def run(args: argparse.Namespace) -> int:
    """Write the rows of all inputs, print what became of them, and return the exit status."""
    problem = _problem(args)
    if problem is not None:
        tell(problem)
        return USAGE
    try:
        return _run(args)
    except StreamkitError as error:
        tell(f"{error.code}: {error}")
    except ValueError as error:  # of columns
        tell(str(error))
    except KeyboardInterrupt:
        tell("stopped; the same command with --resume goes on")
        raise
    return USAGE


def _problem(args: argparse.Namespace) -> str | None:
    """Return what is wrong with *args*, if anything is."""
    if STDIN in args.files:
        return "standard input cannot be read again after a kill; put it into a file"
    if args.body is None and args.keep:
        return "--keep is for tables: name the column of the bodies with --body"
    if args.body is not None and (args.field or args.group_by or args.order_by):
        return "--body is for tables with a body in each row; without it, rows are put together"
    return None


# -- The job -------------------------------------------------------------------------


def _run(args: argparse.Namespace) -> int:
    from streamkit.engines._begin import parts_of
    from streamkit.engines._deaths import Deaths
    from streamkit.engines._folder import Folder
    from streamkit.engines._plan import Input
    from streamkit.engines._tally import Tally

    args.files = _without_output(args.files, args.output)
    files = files_of(args)
    if args.body is not None:
        files.may_be, files.wanted = may_be_table, "tables"
    inputs = [Input.of(file.name) for file in taken(args, files)]
    tell_skipped(files)
    args.job, parts = parts_of(_job(args), inputs)
    args.folder, args.deaths = Folder(Path(args.output)), Deaths()
    with args.folder.opened(args.job, inputs, resume=args.resume):
        return _Run(args, parts, Tally()).run()


def _without_output(names: list[str], output: str) -> list[str]:
    """Return *names* without the folder *output*: a shell that expands `logs/*` finds it there."""
    if not Path(output).is_dir():
        return names
    rest = [name for name in names if not (Path(name).is_dir() and Path(name).samefile(output))]
    return rest or names


def _job(args: argparse.Namespace) -> Job:
    from streamkit.engines._batch import Reading
    from streamkit.engines._job import Job

    reading = Reading(
        form=args.form,
        kind=args.kind,
        cumulative=args.cumulative,
        limits=Limits(**dict(args.limits)),
        options=reading_options(args),
        json=args.json_library,
    )
    return Job(
        reading=reading,
        to=args.to,
        part_size=args.part_size,
        body=args.body,
        keep=tuple(args.keep),
        prefix=args.prefix,
    )


@attrs.define
class _Run:
    """The parts that are missing are made, and all are counted."""

    args: argparse.Namespace
    parts: list[Part]
    new: Tally
    made: set[int] = attrs.field(factory=set)

    def run(self) -> int:
        from streamkit.engines._tally import Tally

        start = time.monotonic()
        done, missing = self._sorted_out()
        total = Tally()
        for part in done:
            total.add(self.args.folder.tally(part))
        self._make(missing)
        total.add(self.new)
        return self._end(total, len(missing), time.monotonic() - start)

    def _make(self, missing: dict[str, PartFile]) -> None:
        """Write the parts that are *missing*; those that a process dies of, in the end."""
        dead = []
        # Closed, so that no process writes any more when this one gives the folder up.
        with closing(said_of_parts(self.args, [*missing.values()])) as found:
            for one in found:
                if one.died:
                    dead.append(missing[one.died[0]])
                self._count(one)
        for file in dead:
            if file.number not in self.made:  # it may have died when it had just said so
                self._count(made_again(self.args, file))
        if dead:
            self.args.folder.tidy()

    def _count(self, one: Said) -> None:
        from streamkit.engines._tally import Tally

        if isinstance(one.data, list):
            raise OSError(*one.data)
        if one.data is not None:
            self.new.add(Tally.of(one.data))
            self.made.add(one.data["part"])

    def _sorted_out(self) -> tuple[list[Part], dict[str, PartFile]]:
        """Return the parts that are there, and those to make."""
        folder, job = self.args.folder, self.args.job
        done = [part for part in self.parts if folder.is_done(part, job)]
        there = {part.number for part in done}
        files = [PartFile.of(part) for part in self.parts if part.number not in there]
        if self.args.meter is not None:
            self.args.meter.expect(files, "parts")
        return done, {file.name: file for file in files}

    def _end(self, total: Tally, wanted: int, seconds: float) -> int:
        put("".join(f"{line}\n" for line in _summary(self.args.output, len(self.parts), total)))
        put(_rate(self.new, seconds) + "\n")
        if len(self.made) < wanted:
            missing = wanted - len(self.made)
            which = f"{missing} parts are" if missing > 1 else "1 part is"
            tell(f"{which} missing; the same command with --resume tries again")
            return USAGE
        self.args.folder.finish(total, len(self.parts))
        return OK if total.streams and total.states["complete"] == total.streams else INCOMPLETE


def _summary(output: str, parts: int, total: Tally) -> Iterator[str]:
    """Yield the lines that say what became of all streams."""
    amounts = {"part": parts, "stream": total.streams, "chunk": total.chunks}
    counts = [amount(count, what) for what, count in amounts.items()]
    yield " · ".join([escape_line(output), *counts, *_counts(total.states)])
    for name, counter in (("errors", total.errors), ("issues", total.issues)):
        if counter:
            yield " · ".join([name, *_counts(counter)])


def _counts(counter: Mapping[str, int]) -> list[str]:
    return [f"{name}={count}" for name, count in sorted(counter.items())]


def _rate(new: Tally, seconds: float) -> str:
    seconds = max(seconds, 1e-3)
    streams, size = new.streams / seconds, new.size / seconds / 1e6
    return f"time · {seconds:.1f} s · {streams:.0f} streams/s · {size:.1f} MB/s"


COMMAND = Command(
    name="batch",
    summary="write the streams of many files or of tables as rows, on all cores, resumable",
    description=DESCRIPTION,
    examples=EXAMPLES,
    add_arguments=add_arguments,
    run=run,
)
