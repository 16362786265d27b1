"""
The folder of a job: its parts, and what is needed to go on after a kill.

    part-000000.jsonl        rows; there if, and only if, it is whole
    _streamkit/job.json      the settings, and the inputs with size and time
    _streamkit/000000.json   the numbers of a part, written before the part
    _streamkit/summary.json  the numbers of all parts, written at the end
    _streamkit/lock          held while a process is at work here

A part is put in its place in one step, when its bytes are on the disk.  So whatever
moment a job is killed at, each part is there or not, and what is not is made again,
from the same inputs with the same settings: the result is the same.  Names with an
underscore or a dot at their start are none that Spark, Hive or DuckDB take for data.
"""

from __future__ import annotations

import json
import os

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from streamkit._errors import StreamkitError, quote

from ._deaths import Deaths, Steps
from ._durable import clean, replacing, scratch
from ._job import Job
from ._lock import locked
from ._plan import Input, Part, Slice
from ._slices import Add, batches_in, rows_in
from ._tally import Tally
from ._writers import Writer, writer_of


__all__ = ["Folder", "JobRefused", "rehearse"]

META = "_streamkit"
# What comes of JSON that is none, or not what was written.
DAMAGED = (ValueError, TypeError, LookupError, AttributeError)


class JobRefused(StreamkitError):
    """A job cannot be begun, or gone on with, in this folder; the message says why."""

    code = "job_refused"


@attrs.frozen
class Folder:
    """
    The folder that a job writes.

    Attributes:
        path: It.
    """

    path: Path

    @property
    def meta(self) -> Path:
        """The folder of what is no output."""
        return self.path / META

    @contextmanager
    def opened(self, job: Job, inputs: Sequence[Input], *, resume: bool) -> Iterator[None]:
        """
        Hold the folder for *job*, begun or gone on with.

        Raises:
            JobRefused: If another process is at work in it, it holds something else, it
                holds a job and *resume* is false, or that job had other inputs or
                settings.
            OSError: If it cannot be written.
        """
        self._check_free()
        self.meta.mkdir(parents=True, exist_ok=True)
        with _locked(self.meta / "lock"):
            self.tidy()
            self._claim(_manifest(job, inputs), resume=resume)
            try:
                yield
            finally:
                self.tidy()  # what an error left, of a full disk say

    def is_done(self, part: Part, job: Job) -> bool:
        """Tell whether *part* is there, and its numbers: without, it is made again."""
        try:
            return self._data(part, job).exists() and bool(self.tally(part))
        except (OSError, *DAMAGED):
            return False

    def tally(self, part: Part) -> Tally:
        """
        Return the numbers of *part*, which is done.

        Raises:
            OSError: If they cannot be read.
        """
        return Tally.of(json.loads(self._numbers(part).read_bytes()))

    def write(self, part: Part, job: Job, add: Add, deaths: Deaths = Deaths()) -> Tally:
        """
        Read what *part* is made of, write its rows, and return their numbers.

        Inputs that *deaths* has are rows with an error.

        Raises:
            OSError: If an input is not what it was, or the part cannot be written.
        """
        with replacing(self._data(part, job)) as file:
            tally = _written(part, job, file, add, deaths)
            self._put(self._numbers(part), tally.plain())
        return tally

    @contextmanager
    def noting(self) -> Iterator[Path]:
        """
        Give a file to note places in, for as long as this is open.

        Raises:
            OSError: If it cannot be written.
        """
        with scratch(self.meta) as path:
            yield path

    def tidy(self) -> None:
        """Remove what processes that died left; none may be at work."""
        clean(self.path)
        clean(self.meta)

    def finish(self, tally: Tally, parts: int) -> None:
        """
        Write the numbers of all *parts*.

        Raises:
            OSError: If they cannot be written.
        """
        self._put(self.meta / "summary.json", {"parts": parts, **tally.plain()})

    def _data(self, part: Part, job: Job) -> Path:
        return self.path / f"part-{part.number:06}.{job.to}"

    def _numbers(self, part: Part) -> Path:
        return self.meta / f"{part.number:06}.json"

    def _put(self, path: Path, data: Any) -> None:
        with replacing(path) as file:
            file.write(json.dumps(data).encode() + b"\n")

    # -- Whose folder it is ----------------------------------------------------------

    def _check_free(self) -> None:
        """Refuse a folder in which something else is."""
        if self.meta.exists() or not self.path.exists():
            return
        if not self.path.is_dir():
            raise JobRefused(f"{quote(str(self.path))} is a file; name a folder to write to")
        if any(self.path.iterdir()):
            raise JobRefused(f"{quote(str(self.path))} holds something else; name a new folder")

    def _claim(self, manifest: dict[str, Any], *, resume: bool) -> None:
        """Write *manifest*, or compare it with that which is here."""
        path = self.meta / "job.json"
        if not path.exists():  # new, or killed before there was anything
            self._put(path, manifest)
            return
        if not resume:
            raise JobRefused(
                f"{quote(str(self.path))} holds a job already; --resume goes on with it, "
                f"else name a new folder"
            )
        try:
            changed = _difference(json.loads(path.read_bytes()), manifest)
        except DAMAGED:
            changed = f"{quote(str(path))} is damaged"
        if changed:
            raise JobRefused(f"cannot resume: {changed}; begin anew in a new folder")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(path))
        except BlockingIOError:
            where = quote(str(path.parent.parent))
            raise JobRefused(f"another process is at work in {where}") from None
        yield


def rehearse(part: Part, job: Job, deaths: Deaths) -> None:
    """
    Do what writing *part* does, from where *deaths* starts, and throw the rows away.

    Raises:
        OSError: If an input is not what it was.
    """
    with Path(os.devnull).open("wb") as file:
        _written(part, job, file, lambda _: None, deaths)


def _written(part: Part, job: Job, file: BinaryIO, add: Add, deaths: Deaths) -> Tally:
    tally = Tally(size=part.size)
    writer = writer_of(job, file)
    begin = deaths.start[0]
    try:
        for number, one in enumerate(part.slices[begin:], begin):
            one.input.check()
            _copy(one, job, writer, tally, deaths.steps(number, add))
            one.input.check()
    finally:
        writer.finish()
    return tally


def _copy(one: Slice, job: Job, writer: Writer, tally: Tally, steps: Steps) -> None:
    """Write the rows of *one* and count them."""
    if one.kind != "groups":
        for led in rows_in(one, job, steps):
            _put_row(led, writer, tally)
        return
    names = [job.prefix + name for name in ("complete", "error_code", "issue_codes", "chunks")]
    for found in batches_in(one, job, steps):
        if isinstance(found, tuple):
            _put_row(found, writer, tally)
            continue
        writer.batch(found)
        for cells in zip(*(found.column(name).to_pylist() for name in names), strict=True):
            tally.count(*cells)


def _put_row(led: Any, writer: Writer, tally: Tally) -> None:
    row = led[1]
    writer.row(led)
    tally.count(row["complete"], row["error_code"], row["issue_codes"], row["chunks"])


# -- The manifest --------------------------------------------------------------------


def _manifest(job: Job, inputs: Sequence[Input]) -> dict[str, Any]:
    """Return all that the output depends on, as it comes back from JSON."""
    files = [attrs.astuple(one) for one in inputs]
    manifest: dict[str, Any] = json.loads(json.dumps({"job": job.settings(), "inputs": files}))
    return manifest


def _difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Return what is not as it was, in words; nothing if all is."""
    settings = [name for name in new["job"] if old["job"].get(name) != new["job"][name]]
    if settings:
        return f"the settings are not those it was begun with ({', '.join(settings)})"
    if old["inputs"] == new["inputs"]:
        return ""
    before, after = ({name: facts for name, *facts in one["inputs"]} for one in (old, new))
    for name in {**before, **after}:
        if name not in after:
            return f"the input {quote(name)} is no longer there"
        if name not in before:
            return f"the input {quote(name)} is new"
        if before[name] != after[name]:
            return f"the input {quote(name)} has changed since"
    return "the inputs come in another order"
