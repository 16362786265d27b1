"""The fast road of `rebuild`: runs of events, swallowed into the accumulator of their stream."""

from __future__ import annotations

from typing import Any

from ._clock import Clock
from ._fast import Sinks, apply_run, bind
from ._framing import Framer
from ._issues import IssueLog
from ._json import Decoder
from ._kinds import dict_entries
from ._learn import learn
from ._limits import Limits
from ._open_stream import Open, id_of
from ._payloads import Frame
from ._road import Road, index_of, names_in
from ._streams import StreamSplitter
from ._template import Template


__all__ = ["MergingRoad"]

# How far a scan reaches, in bytes: at first, at least, at most.
REACH, LEAST_REACH, MOST_REACH = 1 << 13, 1 << 9, 1 << 16
# Log probabilities are most of their events: what a scan finds of them is as large as
# what it reads, and is joined then.
MOST_OF_LOGPROBS = 1 << 15
LOGPROB_HOLES = frozenset({"logprob", "column", "offsets"})


class MergingRoad:
    """
    Read the bytes of streams into *splitter*, each event on the road that suits it.

    Args:
        splitter: Takes the payloads.
        log: Takes the framing's issues.
        limits: Bounds on lines, events and JSON.
        decoder: Decodes the payloads of the slow road.
        clock: Tells when events came, if the recording has times.
    """

    def __init__(
        self,
        splitter: StreamSplitter,
        log: IssueLog,
        limits: Limits,
        decoder: Decoder,
        clock: Clock | None = None,
    ) -> None:
        self._splitter = splitter
        self._clock = clock
        self._log = log
        self._longest = limits.longest
        self._framer = Framer(log, limits, decoder, self._take)
        self._road = Road(self._framer, self, limits)
        self._template: Template | None = None
        self._bound: dict[int, Sinks] = {}
        self._stream: Open | None = None
        self._latest: Frame | None = None  # and no others: what is kept is slow to free
        self._taken = 0  # frames since the last lesson
        self._names: list[Any] = []
        self._reach = REACH
        self._most = MOST_REACH
        self._goes_on = False  # whether the run may be longer than the last scan

    @property
    def cut(self) -> bool:
        """Whether the input ended inside a value."""
        return self._framer.cut

    def feed(self, data: bytes) -> None:
        """
        Take the next *data*.

        Raises:
            LimitExceeded: If a bound is crossed.
        """
        self._road.feed(data)

    def finish(self) -> None:
        """Take note of the end of the input."""
        self._road.finish()

    def forget(self) -> None:
        """Forget which choices are bound: other events went the slow road."""
        self._bound.clear()

    # -- The slow road -----------------------------------------------------------

    def _take(self, frame: Frame) -> None:
        self._latest = frame
        self._taken += 1
        self._splitter.take(frame)

    def learn_from(self, event: bytes) -> bool:
        """Give *event* to the slow road; bind the template to it, or learn another."""
        starts_clean = self._framer.is_between_events
        before = self._repairs()
        self._taken = 0
        self._framer.feed(event)
        stream = self._splitter.target
        chunk = self._only_chunk()
        is_clean = starts_clean and self._repairs() == before
        if not is_clean or stream is None or chunk is None:
            self._bound.clear()
            return False
        names, self._names = self._names, names_in(chunk)
        is_known = self._knows(event, stream)
        if not is_known:
            self._bound.clear()
            if names != self._names:  # so the one before was alone, and this one may be
                return False
            self._learn(event, chunk, stream)
        if self._template is not None:
            self._bind(self._template, stream, index_of(chunk))
        return not is_known

    def _only_chunk(self) -> dict[str, Any] | None:
        """Return the chunk of the latest event, if there was just one, and a clean one."""
        if self._taken != 1 or self._latest is None or not self._latest.clean:
            return None
        value = self._latest.value
        return value if type(value) is dict and self._framer.is_between_events else None

    def _repairs(self) -> tuple[int, Open | None, int]:
        """Return what differs if an issue was reported: by the framing, or by the merging."""
        stream = self._splitter.target
        merging = 0 if stream is None else stream.accumulator.context.log.repairs
        return self._log.repairs, stream, merging

    def _knows(self, event: bytes, stream: Open) -> bool:
        template = self._template
        return (
            template is not None
            and stream is self._stream
            and template.fullmatch(event) is not None
        )

    def _learn(self, event: bytes, chunk: dict[str, Any], stream: Open) -> None:
        accumulator = stream.accumulator
        many = len(accumulator.choices) > 1
        self._template = None
        if not _may_be_whole(chunk):
            self._template = learn(event, chunk, accumulator.rules, many=many, still=True)
        holes = () if self._template is None else self._template.holes
        has_logprobs = any(hole.kind in LOGPROB_HOLES for hole in holes)
        self._most = MOST_OF_LOGPROBS if has_logprobs else MOST_REACH
        self._stream = stream
        self._reach = REACH

    def _bind(self, template: Template, stream: Open, index: int) -> None:
        sinks = bind(template, stream.accumulator, index)
        if sinks is not None:
            self._bound[index] = sinks

    # -- The fast road -----------------------------------------------------------

    def run(self, data: bytes, at: int) -> int:
        """Take the run of events at *at*; return how many bytes it has, 0 if none matches."""
        start, size = at, 1
        self._goes_on = True
        while size and self._goes_on and at < len(data):
            size = self._run_once(data, at)
            at += size
        return at - start

    def _run_once(self, data: bytes, at: int) -> int:
        """Take as much of a run as one scan reaches; return how many bytes that are."""
        template, stream = self._template, self._stream
        if not self._bound or template is None or stream is None:
            return 0
        if len(data) > self._longest or not self._framer.is_between_events:
            return 0
        if self._is_timed and not (stream.stopwatch and stream.stopwatch.knows_content):
            return 0
        rows, stop = self._scan(template, data, at)
        accumulator = stream.accumulator
        chunks = accumulator.context.limits.chunks
        if not rows or (chunks is not None and accumulator.chunks + len(rows) > chunks):
            return 0
        index = index_of(template.chunk)
        if not apply_run(template, rows, self._bound, index, accumulator.context):
            self._reach = max(self._reach // 4, LEAST_REACH)
            return 0
        self._count(template, stream, stop - at, len(rows))
        if self._is_timed:
            self._take_times(stream, template, data[at:stop])
        return stop - at

    def _scan(self, template: Template, data: bytes, at: int) -> tuple[list[Any], int]:
        """Return the rows of the events at *at* that match, and where they end."""
        stop = last_end(data, at, self._reach, template.ending)
        rows, end = template.run(data, at, stop)
        self._goes_on = end == stop
        if self._goes_on:
            self._reach = min(self._reach * 2, self._most)
        else:
            self._reach = max(2 * (end - at), LEAST_REACH)
        return rows, end

    @property
    def _is_timed(self) -> bool:
        return self._clock is not None and self._clock.is_running

    def _take_times(self, stream: Open, template: Template, run: bytes) -> None:
        """Take the time of each event of *run*, which has been counted."""
        assert self._clock is not None
        assert stream.stopwatch is not None
        ending = template.ending
        start, at = self._framer.offset - len(run), 0
        event = stream.accumulator.context.event - run.count(ending)
        while at < len(run):
            stream.stopwatch.add(self._clock.at(start + at), event=event, offset=start + at)
            at = run.index(ending, at) + len(ending)
            event += 1

    def _count(self, template: Template, stream: Open, size: int, events: int) -> None:
        """Take note of a run, as the slow road would have."""
        last = self._framer.skip(size, events)
        stream.accumulator.count_run(events, last)
        if id_of(template.chunk) == stream.id:
            stream.same_id += events
        if template.is_bare:
            self._log.counts["bare_json"] += events
        self._road.worked(events)


def _may_be_whole(chunk: dict[str, Any]) -> bool:
    """Tell whether chunks like *chunk* may be responses of their own: it depends on their text."""
    has_text = any("text" in choice for choice in dict_entries(chunk.get("choices")))
    return id_of(chunk) is None and bool(chunk.get("usage")) and has_text


def last_end(data: bytes, at: int, reach: int, ending: bytes) -> int:
    """Return where the last event ends that ends within *reach*, or else the first."""
    stop = data.rfind(ending, at, at + reach)
    if stop < 0:
        stop = data.find(ending, at)
    return at if stop < 0 else stop + len(ending)
