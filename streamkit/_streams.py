"""
Several streams in one recording: which payload belongs to which response.

- After `[DONE]`, a payload with another id starts another stream; one with the
  same id, or with none, is late: it is left out and reported.
- Ids that interleave (A, B, A) are the streams of a log.  When an id changes it
  is not yet known which it is, so chunks are held until an id comes back, the
  stream ends, or `HELD` of them came.
- An id that changes and never comes back is one stream of a gateway that gives
  each chunk its own id: one response, with an issue.
- Where a log keeps no `[DONE]` (JSON lines): a stream whose choices have all
  finished, followed by the opening chunk of another id, has ended.
- A whole response is a stream of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import attrs

from ._accumulator import Accumulator
from ._clock import Clock
from ._errors import LimitExceeded, StreamkitError, quote
from ._issues import Issue, IssueLog
from ._kinds import dict_entries, is_ping
from ._open_stream import Open, id_of, is_final, is_opening
from ._outcome import Outcome
from ._payloads import DONE, Frame


if TYPE_CHECKING:
    from ._models import ChatCompletion, Completion


__all__ = ["StreamSplitter"]

# How many chunks are held while it is open whether ids interleave.
HELD = 1024
# Below this many chunks under one id, a finished stream may be a gateway's that
# gives each chunk its own id.
STEADY = 2


class StreamSplitter:
    """
    Sort payloads into streams, and give out each stream's outcome when it has ended.

    Args:
        make: Makes an accumulator for a stream.
        log: Where the framing records its issues.
        owned: The payloads belong to the accumulators.
        framed: The source can have a `[DONE]`.
        clock: Tells when payloads came, if the recording has times.
    """

    def __init__(
        self,
        make: Callable[[], Accumulator],
        log: IssueLog,
        *,
        owned: bool,
        framed: bool,
        clock: Clock | None = None,
    ) -> None:
        self._make = make
        self._log = log
        self._owned = owned
        self._framed = framed
        self._clock = clock
        self._open: list[Open] = []
        # Of a log any number may be open at once, so none of these is searched through.
        self._by_id: dict[str | None, Open] = {}
        self._undone: dict[int, Open] = {}
        self._finished: list[int] = []  # a heap of numbers
        self._last: Open | None = None
        self._held: list[Frame] = []  # chunks, and what is DONE among them
        self._held_chunks = 0
        self._seen: set[str | None] = set()  # the ids of those, and of the stream before
        self._latest: str | None = None  # the last of them
        self._is_merged = False  # an id changed, and that was decided to mean nothing
        self._late: list[Frame] = []
        self._outcomes: list[Outcome] = []
        self._is_first = True  # no outcome was given out yet

    def take(self, frame: Frame) -> None:
        """
        Take the next payload.

        Raises:
            InvalidChunk: In strict mode, likewise `UpstreamError` and `LimitExceeded`.
        """
        if self._clock is not None and self._clock.is_running and frame.offset is not None:
            frame = frame._replace(time=self._clock.at(frame.offset))
        if frame.value is DONE and self._held:
            self._held.append(frame)  # whose it is is not known yet
        elif frame.value is DONE:
            self._done()
        elif type(frame.value) is dict:
            if not is_ping(frame.value):
                self._chunk(frame)
        elif frame.value is not None or self._framed:
            self._refuse(frame)

    @property
    def target(self) -> Open | None:
        """The stream that the next chunk belongs to if it is like the one before; or None."""
        last = self._last
        if self._held or last is None or last.done or last.is_final:
            return None
        return None if last.accumulator.has_failed else last

    def snapshot(self) -> ChatCompletion | Completion | None:
        """Return the response so far of the stream that the last chunk belonged to."""
        return None if self._last is None else self._last.accumulator.snapshot()

    def finish(self, *, cut: bool = False, error: StreamkitError | None = None) -> list[Outcome]:
        """Return the outcomes of the streams that are still open."""
        self._decide(interleaved=False)
        if error is not None:
            self._end_with(error)
        self._close(None, cut=cut)
        if self._is_first:
            self._give_out(attrs.evolve(self._make().finish(), error=error), None)
        return self.drain()

    def drain(self) -> list[Outcome]:
        """Return the outcomes of the streams that have ended, and forget them."""
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def _refuse(self, frame: Frame) -> None:
        self._log.add(
            "not_a_chunk", f"the payload is {quote(frame.value)}", frame.event, frame.offset
        )

    # -- Which stream ------------------------------------------------------------

    def _chunk(self, frame: Frame) -> None:
        chunk = frame.value
        if self._held:
            self._hold(frame)
        elif self._last is None or self._is_another(chunk, self._last):
            self._start(frame)
        elif self._last.done:
            self._after_done(frame)
        else:
            self._route(frame, self._last)

    def _is_another(self, chunk: dict[str, Any], last: Open) -> bool:
        """Tell whether a whole response begins or lies behind: each is a stream of its own."""
        identity = id_of(chunk)
        if last.is_final:
            is_empty = identity is None and not chunk.get("choices")
            return not is_empty and (identity is None or identity != last.id)
        return is_final(chunk) and (identity is None or identity != last.id)

    def _route(self, frame: Frame, last: Open) -> None:
        """Find the stream of a chunk while at least one is open."""
        identity = id_of(frame.value)
        if identity is None or last.id is None or identity == last.id or self._is_merged:
            self._add(last, frame)
        elif len(self._open) > 1:
            self._interleave(frame)
        elif self._has_ended(last) and is_opening(frame.value):
            self._start(frame)
        else:
            self._hold(frame)

    def _has_ended(self, stream: Open) -> bool:
        """Tell whether *stream* has all it can have, so that another may begin."""
        if stream.accumulator.error is not None:
            return True
        return stream.accumulator.has_finished and stream.same_id >= STEADY

    def _hold(self, frame: Frame) -> None:
        """Hold a chunk whose id differs, until it is known what that means."""
        assert self._last is not None
        if not self._held:
            self._held_chunks, self._seen, self._latest = 0, {self._last.id}, self._last.id
        identity = id_of(frame.value) or self._latest  # none says nothing of another
        is_new = identity not in self._seen
        if is_new and self._held_chunks < len(self._held):  # a new id after [DONE]
            self._decide(interleaved=False)
            self._chunk(frame)
            return
        self._held.append(frame)
        self._held_chunks += 1
        self._seen.add(identity)
        before, self._latest = self._latest, identity
        if not is_new and identity != before:
            self._decide(interleaved=True)
        elif len(self._held) >= HELD:
            self._decide(interleaved=False)

    def _decide(self, *, interleaved: bool) -> None:
        """Give what was held to the streams it belongs to."""
        held, self._held = self._held, []
        self._is_merged = self._is_merged or bool(held and not interleaved)
        for frame in held:
            assert self._last is not None
            if frame.value is DONE:
                self._done()
            elif interleaved:
                self._interleave(frame)
            elif self._last.done:
                self._after_done(frame)
            else:
                self._add(self._last, frame)

    def _interleave(self, frame: Frame) -> None:
        identity = id_of(frame.value)
        assert self._last is not None
        if identity is None:
            self._add(self._last, frame)
            return
        known = self._by_id.get(identity)
        if known is None:
            self._open_stream(frame)
        else:
            self._last = known
            self._add(known, frame)

    def _start(self, frame: Frame) -> None:
        """End the open streams, and start one with *frame*."""
        early = [late for late in self._late if "id" in late.value]
        self._late = [late for late in self._late if "id" not in late.value]
        self._close((early or [frame])[0].event)
        for first in [*early, frame]:
            if self._last is None:
                self._open_stream(first)
            else:
                self._add(self._last, first)

    def _open_stream(self, frame: Frame) -> None:
        number = len(self._open)
        if number == 1:
            self._note_finished(self._open[0])
        stream = Open(self._make(), frame.event, is_final=is_final(frame.value), number=number)
        self._open.append(stream)
        self._undone[number] = stream
        self._last = stream
        self._add(stream, frame)

    def _add(self, stream: Open, frame: Frame) -> None:
        if self._clock is not None and self._clock.is_running:
            stream.take_time(frame)
        try:
            stream.add(frame, owned=self._owned)
        except LimitExceeded:
            if stream.accumulator.is_strict:
                raise
        self._by_id[stream.id] = stream
        if len(self._open) > 1:
            self._note_finished(stream)

    # -- The end of a stream -----------------------------------------------------

    def _done(self) -> None:
        if self._last is None:
            return
        ended = self._first_finished() or self._last
        ended.done = True
        self._undone.pop(ended.number, None)
        if not self._undone:
            self._last = self._open[-1]

    def _note_finished(self, stream: Open) -> None:
        """List *stream*, one of several, if the next `[DONE]` may be its own."""
        if not (stream.done or stream.is_listed) and stream.accumulator.has_finished:
            stream.is_listed = True
            heappush(self._finished, stream.number)

    def _first_finished(self) -> Open | None:
        """Return the first of several streams, in order of opening, that waits for its `[DONE]`."""
        while self._finished:
            stream = self._undone[heappop(self._finished)]
            stream.is_listed = False
            if stream.accumulator.has_finished:  # no choice was opened since
                return stream
        return None

    def _after_done(self, frame: Frame) -> None:
        """Tell a late payload of the stream that ended from the first of another."""
        identity = id_of(frame.value)
        ids = self._by_id.keys()
        if self._undone:
            self._interleave_undone(frame)
        elif (identity is not None and identity not in ids) or (
            identity is None and ids == {None} and dict_entries(frame.value.get("choices"))
        ):
            self._start(frame)
        else:
            self._late.append(frame)
            if len(self._late) > HELD or identity is not None:
                self._report_late()

    def _interleave_undone(self, frame: Frame) -> None:
        if id_of(frame.value) is None:
            self._last = next(reversed(self._undone.values()))
        self._interleave(frame)

    def _report_late(self) -> None:
        for late in self._late:
            self._log.add("data_after_done", quote(late.value), late.event, late.offset)
        self._late = []

    def _end_with(self, error: StreamkitError) -> None:
        if self._last is not None and not self._last.accumulator.has_failed:
            self._last.accumulator.fail(error)

    def _close(self, before: int | None, *, cut: bool = False) -> None:
        """Give out the outcomes of the open streams; *before* is the next one's first event."""
        self._report_late()
        streams, self._open = self._open, []
        later = self._issues_from(before, streams)
        for number, stream in enumerate(streams):
            is_last = number == len(streams) - 1
            # A whole response was never streamed: no [DONE] is missing.
            is_whole = stream.is_final and not stream.done
            done = stream.done if self._framed and not is_whole else None
            outcome = stream.accumulator.finish(done=done, cut=cut and stream is self._last)
            outcome = self._timed(outcome, stream)
            self._give_out(outcome, None if is_last else streams[number + 1].event)
        self._log.restore(later)
        self._by_id.clear()
        self._undone.clear()
        self._finished.clear()
        self._last = None
        self._is_merged = False

    def _issues_from(self, before: int | None, streams: list[Open]) -> list[Issue]:
        """Take from the log what the framing said of event *before* and of those after it."""
        if before is None or not streams:
            return []
        # An array of chunks is one event: what is said of it is of the first stream in it.
        return self._log.part(max(before, streams[-1].event + 1))

    def _timed(self, outcome: Outcome, stream: Open) -> Outcome:
        """Return *outcome* with the timing of *stream*, and what is wrong with its clock."""
        if self._clock is None or stream.stopwatch is None:
            return outcome
        usage = None if outcome.response is None else outcome.response.usage
        # The request that the clock knows of is that of the first stream.
        started = self._clock.started if self._is_first else None
        issues = tuple(stream.stopwatch.issues())
        return attrs.evolve(
            outcome,
            timing=stream.stopwatch.timing(usage, started=started),
            issues=(*outcome.issues, *issues),
            issue_counts={**outcome.issue_counts, **{issue.code: 1 for issue in issues}},
        )

    def _give_out(self, outcome: Outcome, before: int | None) -> None:
        """Add the framing's issues up to event *before* to *outcome*."""
        framing = self._log.take(before)
        self._outcomes.append(outcome.among(framing.issues, framing.counts, self._log.keep))
        self._is_first = False
