"""
A recording, traced: each event with its time and place, and each stream's outcome.

`rebuild_all` may swallow thousands of events at once; here each is looked at.
What comes of a stream is the same, and has its timing besides.
"""

from __future__ import annotations

import argparse
import math

from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import attrs

from streamkit._accumulator import Accumulator
from streamkit._clock import Clock
from streamkit._errors import LimitExceeded, StreamkitError
from streamkit._framing import Framer
from streamkit._issues import Issue, IssueLog
from streamkit._json import Backend, Decoder
from streamkit._kinds import Kind
from streamkit._limits import Limits
from streamkit._outcome import Outcome
from streamkit._payloads import Frame
from streamkit._streams import StreamSplitter
from streamkit.recordings import Piece, read

from ._adds import LOST
from ._each import each
from ._files import File
from ._inputs import INCOMPLETE, OK, Failed, reading_options, source_of
from ._output import tell


__all__ = ["Item", "Row", "Traced", "Tracer", "inputs", "trace", "trace_file"]


@attrs.define(eq=False)
class Row:
    """
    One event of a recording.

    Attributes:
        number: Its number, counted from 0; the values of an array share it.
        offset: Where it starts, in bytes of the body.
        time: When its line was whole, in seconds; None if the form does not say.
        value: Its payload, or `DONE`.
        size: Bytes from its start to that of the next.
        issues: What was noticed in it.
        stream: The stream that its payload was merged into; None: none.
    """

    number: int
    offset: int
    time: float | None
    value: Any
    size: int = 0
    issues: list[Issue] = attrs.field(factory=list)
    stream: _Stream | None = attrs.field(default=None, repr=False)


@attrs.frozen
class Traced:
    """
    A stream that has ended.

    Attributes:
        number: Which of the streams in the recording it is, counted from 1.
        outcome: Its outcome, with timing if the recording has times.
        rows: Its events, if they were to be kept.
        size: Its bytes, framing included.
        times: When each of its chunks came; NaN if that is not known.
        late: Issues of its clock, which are known when it ends; their rows are out.
        started: When its request was sent, if the recording says.
    """

    number: int
    outcome: Outcome
    rows: list[Row]
    size: int
    times: Sequence[float]
    late: tuple[Issue, ...] = ()
    started: float | None = None

    @property
    def status(self) -> int:
        """The exit status that it calls for."""
        return OK if self.outcome.complete else INCOMPLETE


Item: TypeAlias = Row | Traced


class _Stream(Accumulator):
    """An accumulator that takes note of which events it was given."""

    def __init__(self, tracer: Tracer) -> None:
        super().__init__(tracer.kind, limits=tracer.limits, cumulative=tracer.cumulative)
        self._tracer = tracer
        self.rows: list[Row] = []
        self.size = 0
        self.times = array("d")  # an object for each event would be the memory of a long stream

    def add_plain(
        self,
        payload: Any,
        *,
        owned: bool = False,
        event: int | None = None,
        offset: int | None = None,
    ) -> None:
        """Merge *payload*; it is kept."""
        assert not owned, "the row has it too"
        row = self._tracer.row_of(payload)
        row.stream = self
        self.times.append(math.nan if row.time is None else row.time)
        if self._tracer.keep:
            self.rows.append(row)
        log = self.context.log
        before = len(log.issues)
        try:
            super().add_plain(payload, owned=owned, event=event, offset=offset)
        finally:
            row.issues += log.issues[before:]

    def finish(self, *, done: bool | None = None, cut: bool = False) -> Outcome:
        """Return the outcome, and take note that this stream has ended."""
        self._tracer.ended.append(self)
        return super().finish(done=done, cut=cut)


class _Log(IssueLog):
    """A log that also hands each issue on, so that none is lost among many."""

    def __init__(self, keep: int | None) -> None:
        super().__init__(keep)
        self.fresh: deque[Issue] = deque(maxlen=10_000)

    def add(
        self, code: str, message: str, event: int | None = None, offset: int | None = None
    ) -> Issue:
        """Record an issue and return it."""
        issue = super().add(code, message, event, offset)
        self.fresh.append(issue)
        return issue


class Tracer:
    """
    Trace the pieces of one recording.

    An empty piece before all others, with a time, says when the request was sent.

    Args:
        kind: The kind of response; None: the chunks tell.
        limits: Bounds on input and result.
        cumulative: Each piece of text repeats all before it.
        json: The library to decode with.
        keep: Streams keep their rows, and rows their payloads; else a row and its
            payload are there only until the next is asked for.
    """

    def __init__(
        self,
        *,
        kind: Kind | None = None,
        limits: Limits = Limits(),
        cumulative: bool = False,
        json: Backend = "auto",
        keep: bool = False,
    ) -> None:
        self.keep = keep
        self.kind: Kind | None = kind
        self.limits = limits
        self.cumulative = cumulative
        self.ended: list[_Stream] = []
        self._clock = Clock()
        self._rows: deque[Row] = deque()
        self._by_value: dict[int, Row] = {}
        self._log = _Log(limits.issues)
        self._splitter = StreamSplitter(
            lambda: _Stream(self), self._log, owned=False, framed=True, clock=self._clock
        )
        self._framer = Framer(self._log, limits, Decoder(json, limits), self._take)
        self._size = self._count = self._out = 0

    def row_of(self, value: Any) -> Row:
        """Return the row of the payload *value*."""
        return self._by_value[id(value)]

    def run(self, pieces: Iterable[Piece]) -> Iterator[Item]:
        """Yield the rows and the streams of *pieces*, each row before its stream."""
        error: StreamkitError | None = None
        try:
            for piece in pieces:
                self._clock.feed(piece.data, piece.time)
                self._size += len(piece.data)
                self._framer.feed(piece.data)
                yield from self._drain()
            self._framer.finish()
        except LimitExceeded as exceeded:
            error = exceeded
        outcomes = self._splitter.finish(cut=self._framer.cut, error=error)
        yield from self._flush(is_end=True)
        yield from self._streams(outcomes)

    def _take(self, frame: Frame) -> None:
        assert frame.offset is not None
        row = Row(frame.event, frame.offset, self._clock.at(frame.offset), frame.value)
        self._rows.append(row)
        if type(frame.value) is dict:
            self._by_value[id(frame.value)] = row
        self._splitter.take(frame)

    def _drain(self) -> Iterator[Item]:
        """Yield what is certain: while chunks are held, their rows are not."""
        outcomes = self._splitter.drain()
        if not self._splitter._held and not self._splitter._late:
            yield from self._flush(is_end=False)
        yield from self._streams(outcomes)

    def _flush(self, *, is_end: bool) -> Iterator[Row]:
        """Yield the rows, but for the last: where it ends is known when the next starts."""
        self._give_issues(is_end=is_end)
        self._measure(is_end=is_end)
        while len(self._rows) > (not is_end):
            row = self._rows.popleft()
            self._by_value.pop(id(row.value), None)
            self._out = row.offset
            if row.stream is not None:
                row.stream.size += row.size
            yield row
            if not self.keep:
                row.value = None

    def _measure(self, *, is_end: bool) -> None:
        following = self._size
        for row in reversed(self._rows):
            row.size = following - row.offset
            following = row.offset
        if self._rows and not is_end:
            self._rows[-1].size = 0

    def _give_issues(self, *, is_end: bool) -> None:
        """Give each issue of the framing to its row; one without is of a lost payload."""
        by_number = {row.number: row for row in reversed(self._rows)}
        latest = max(by_number, default=-1)
        for _ in range(len(self._log.fresh)):
            issue = self._log.fresh.popleft()
            number = issue.event or 0
            if number > latest and not is_end:  # its payload may be still open
                self._log.fresh.append(issue)
            elif number in by_number:
                by_number[number].issues.append(issue)
            else:
                by_number[number] = self._lost(issue)

    def _lost(self, issue: Issue) -> Row:
        """Put a row where the payload of *issue* was, among those that are not yet out."""
        offset = max(issue.offset or 0, self._out)
        row = Row(issue.event or 0, offset, None, LOST, issues=[issue])
        place = sum(other.offset <= offset for other in self._rows)
        self._rows.insert(place, row)
        return row

    def _streams(self, outcomes: list[Outcome]) -> Iterator[Traced]:
        """Yield *outcomes* with their rows: streams end in the order they are given out."""
        for outcome in outcomes:
            stream = self.ended.pop(0)
            self._count += 1
            started = self._clock.started if self._count == 1 else None
            held = sum(row.size for row in self._rows if row.stream is stream)
            size = stream.size + held
            late = tuple(issue for issue in outcome.issues if issue.code.startswith("clock_"))
            yield Traced(self._count, outcome, stream.rows, size, stream.times, late, started)


# -- Inputs --------------------------------------------------------------------------


def inputs(args: argparse.Namespace, file: File) -> Iterator[tuple[str, Iterable[Piece]]]:
    """Yield the name and the pieces of each recording in *file*."""
    try:
        yield from _recordings(args, file)
    except (StreamkitError, OSError) as error:
        yield file.label, _raising(error)


def _recordings(args: argparse.Namespace, file: File) -> Iterator[tuple[str, Iterable[Piece]]]:
    label = file.label
    recordings = read(source_of(args, file), form=args.form, options=reading_options(args))
    later: dict[int, tuple[str, list[Issue]]] = {}
    try:
        for number, recording in enumerate(recordings, 1):
            what = f"{label}: {recording.name or f'recording {number}'}"
            _tell(what, recording.notes)
            if recording.later is not None:  # all recordings of a file may share one list
                later[id(recording.later)] = what, recording.later
            yield (label if number == 1 else f"{label}#{number}"), recording.pieces
    finally:
        for what, issues in later.values():
            _tell(what, issues)


def _tell(what: str, issues: Iterable[Issue]) -> None:
    for issue in issues:
        tell(f"{what}: {issue.code}: {issue.message}")


def _raising(error: Exception) -> Iterator[Piece]:
    raise error
    yield


Found: TypeAlias = tuple[str, Row | Traced | Failed]


def trace(args: argparse.Namespace, *, keep: bool = False) -> Iterator[Found]:
    """
    Yield what is found in each file of *args*, with the name of the recording it is in.

    Args:
        args: The arguments of the command.
        keep: Streams keep their rows.
    """
    for file in each(args):
        yield from trace_file(args, file, keep=keep)


def trace_file(args: argparse.Namespace, file: File, *, keep: bool = False) -> Iterator[Found]:
    """Yield what `trace` yields, of one *file*."""
    for source, pieces in inputs(args, file):
        tracer = Tracer(
            kind=args.kind,
            limits=Limits(**dict(args.limits)),
            cumulative=args.cumulative,
            json=args.json_library,
            keep=keep,
        )
        try:
            for item in tracer.run(pieces):
                yield source, item
        except StreamkitError as error:  # of a reader: the form is not known, or too large
            yield source, Failed(source, f"{error.code}: {error}", error)
        except OSError as error:
            yield source, Failed(source, error.strerror or str(error))
