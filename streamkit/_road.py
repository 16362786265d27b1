"""
Which road each event takes: `Road`, between the bytes and the streams.

An event goes the slow road (`Framer`, `StreamSplitter`), a template is learned
from it, and the events behind it that match go the fast road, all in one scan.

What learning costs is kept in hand: where templates keep failing, more and more
of the input is given to the slow road in one piece before the next is tried;
and a scan reaches only as far as its successes so far make likely to be of use.
"""

from __future__ import annotations

from typing import Any

from ._fast import Sinks, apply_run, bind
from ._framing import Framer
from ._issues import IssueLog
from ._json import Decoder
from ._limits import Limits
from ._payloads import Frame
from ._streams import Open, StreamSplitter
from ._template import Template, learn


__all__ = ["Road"]

# How far a scan reaches, in bytes, at first, at least, and at most.
REACH, LEAST_REACH, MOST_REACH = 1 << 13, 1 << 9, 1 << 18
# How much is left to the slow road in one piece where templates fail, in bytes.
FIRST_PAUSE, LONGEST_PAUSE = 1 << 10, 1 << 16
# A run of fewer events was not worth its template.
WORTH = 4


class Road:
    """
    Read the bytes of streams, each event on the road that suits it.

    Args:
        splitter: Takes the payloads.
        log: Takes the framing's issues.
        limits: Bounds on lines, events and JSON.
        decoder: Decodes the payloads of the slow road.
        learns: Whether to use the fast road at all.
    """

    def __init__(
        self,
        splitter: StreamSplitter,
        log: IssueLog,
        limits: Limits,
        decoder: Decoder,
        *,
        learns: bool = True,
    ) -> None:
        self._splitter = splitter
        self._log = log
        self._framer = Framer(log, limits, decoder, self._take)
        self._longest = min(limits.line or MOST_LINE, limits.event or MOST_LINE)
        self._learns = learns
        self._template: Template | None = None
        self._bound: dict[int, Sinks] = {}
        self._stream: Open | None = None
        self._frames: list[Frame] = []
        self._tail = b""
        self._reach = REACH
        self._pause = 0

    @property
    def cut(self) -> bool:
        """Whether the input ended inside a value."""
        return self._framer.cut

    def feed(self, block: bytes) -> None:
        """
        Take the next *block*.

        Raises:
            LimitExceeded: If a bound is crossed.
        """
        if not self._learns:
            self._framer.feed(block)
            return
        data = self._tail + block if self._tail else block
        self._tail = b""
        at = 0
        while at < len(data):
            taken = self._run(data, at) if self._bound else 0
            at = at + taken if taken else self._slow(data, at)

    def finish(self) -> None:
        """Take note of the end of the input."""
        self._framer.feed(self._tail)
        self._framer.finish()

    # -- The slow road -----------------------------------------------------------

    def _take(self, frame: Frame) -> None:
        self._frames.append(frame)
        self._splitter.take(frame)

    def _slow(self, data: bytes, at: int) -> int:
        """Give at least one event to the slow road; return where the next one starts."""
        if self._pause:
            end = _end_of_event(data, at + self._pause)
            self._bound.clear()
            self._framer.feed(data[at : end or len(data)])
            at = end or len(data)
        end = _end_of_event(data, at)
        if end:
            self._learn_from(data[at:end])
            return end
        if self._framer.is_between_events and len(data) - at < MOST_REACH:
            self._tail = data[at:]
        else:
            self._framer.feed(data[at:])
        return len(data)

    def _learn_from(self, event: bytes) -> None:
        """Give *event* to the slow road; bind the template to it, or learn another."""
        starts_clean = self._framer.is_between_events
        before = self._reported()
        self._frames.clear()
        self._framer.feed(event)
        stream = self._splitter.target
        chunk = self._only_chunk()
        if not starts_clean or stream is None or chunk is None or self._reported() != before:
            self._bound.clear()
            return
        index = _index_of(chunk)
        template = self._template
        if template is None or stream is not self._stream or not template.pattern.fullmatch(event):
            template = self._learn(event, chunk, stream)
        sinks = None if template is None else bind(template, stream.accumulator, index)
        if sinks is not None:
            self._bound[index] = sinks

    def _only_chunk(self) -> dict[str, Any] | None:
        """Return the chunk of the latest event, if there was just one, and a clean one."""
        if len(self._frames) != 1 or not self._frames[0].clean:
            return None
        value = self._frames[0].value
        return value if type(value) is dict and self._framer.is_between_events else None

    def _reported(self) -> int:
        """Return how many issues came so far, but for those that each line of bare JSON has."""
        stream = self._splitter.target
        merging = 0 if stream is None else stream.accumulator.context.log.counts.total()
        return merging + self._log.counts.total() - self._log.counts["bare_json"]

    def _learn(self, event: bytes, chunk: dict[str, Any], stream: Open) -> Template | None:
        self._bound.clear()
        self._pause = min(max(self._pause * 2, FIRST_PAUSE), LONGEST_PAUSE) if self._template else 0
        accumulator = stream.accumulator
        many = len(accumulator.choices) > 1
        self._template = learn(event, chunk, accumulator.rules, many=many, still=True)
        self._stream = stream
        self._reach = REACH
        return self._template

    # -- The fast road -----------------------------------------------------------

    def _run(self, data: bytes, at: int) -> int:
        """Take a run of events at *at*; return how many bytes of it, 0 if none match."""
        template, stream = self._template, self._stream
        if template is None or stream is None or len(data) > self._longest:
            return 0
        stop = _last_end(data, at, self._reach, template.ending)
        rows = template.pattern.findall(data, at, stop)
        if len(rows) * template.ending.count(b"\n") != data.count(b"\n", at, stop):
            rows, stop = _prefix(template, data, at, stop)
            self._reach = LEAST_REACH
        accumulator = stream.accumulator
        chunks = accumulator.context.limits.chunks
        if not rows or (chunks is not None and accumulator.chunks + len(rows) > chunks):
            self._bound.clear()
            return 0
        index = _index_of(template.chunk)
        if not apply_run(template, rows, self._bound, index, accumulator.context):
            self._reach = max(self._reach // 4, LEAST_REACH)
            return 0
        self._count(stream, stop - at, len(rows), is_bare=template.is_bare)
        return stop - at

    def _count(self, stream: Open, size: int, events: int, *, is_bare: bool) -> None:
        """Take note of a run, as the slow road would have."""
        last = self._framer.skip(size, events)
        stream.accumulator.count_run(events, last)
        stream.same_id += events
        if is_bare:
            self._log.counts["bare_json"] += events
        if events >= WORTH:
            self._pause = 0
        self._reach = min(self._reach * 2, MOST_REACH)


MOST_LINE = 1 << 62


def _index_of(chunk: dict[str, Any]) -> int:
    """Return the index of the one choice of *chunk*; missing, it is the position."""
    choices = chunk.get("choices")
    index = choices[0].get("index") if choices and type(choices[0]) is dict else None
    return index if type(index) is int else 0


def _end_of_event(data: bytes, at: int) -> int:
    """Return where the event of the line at *at* ends, its blank line included; 0 if not here."""
    end = data.find(b"\n", at) + 1
    if not end or data[at : at + 1] == b"{":
        return end
    blank = data[end : end + 2]
    if blank[:1] == b"\n":
        return end + 1
    if blank == b"\r\n":
        return end + 2
    return 0 if blank in {b"", b"\r"} else end


def _last_end(data: bytes, at: int, reach: int, ending: bytes) -> int:
    """Return where the last event ends that ends within *reach*, or else the first."""
    stop = data.rfind(ending, at, at + reach)
    if stop < 0:
        stop = data.find(ending, at)
    return at if stop < 0 else stop + len(ending)


def _prefix(template: Template, data: bytes, at: int, stop: int) -> tuple[list[Any], int]:
    """Return the rows of the events from *at* on that match without a gap, and where they end."""
    rows: list[Any] = []
    single = len(template.holes) == 1
    match = template.pattern.match(data, at, stop)
    while match is not None:
        rows.append(match[1] if single else match.groups())
        at = match.end()
        match = template.pattern.match(data, at, stop)
    return rows, at
