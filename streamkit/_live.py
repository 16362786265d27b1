"""A stream as it happens: bytes or chunks in, typed events out, without I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn, Unpack

from ._errors import InputRefused, StreamkitError
from ._events import ChunkReceived, ErrorReported, IssueReported, StreamEvent, UsageReported
from ._growth import ChoiceGrowth
from ._intake import Intake, IntakeOptions
from ._kinds import dict_entries
from ._outcome import Outcome
from ._plain import as_plain


if TYPE_CHECKING:
    from ._models import ChatCompletion, Completion


__all__ = ["LiveAccumulator"]


class LiveAccumulator:
    """
    Turn what comes of a stream into events, and at the end into the outcome.

    The machine under `Stream` and `AsyncStream`, for those who own the loop.  The
    order of the events of a chunk: the chunk; what each choice grew by; what is done
    and the finish reason; usage; an error; issues.  Issues of the framing come with
    the first chunk of their block; their `event` says where they belong.

    A value is *done* when its choice has finished, or the stream has ended; in the
    rare stream in which it grows after that, it is done once more at the end.

    Args:
        snapshots: Each event has the response so far as `snapshot`; this costs some
            20 microseconds a chunk.
        **options: As for `rebuild`: `kind`, `strict`, `limits`, `rules`,
            `cumulative`, `json`.

    >>> live = LiveAccumulator()
    >>> choice = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}
    >>> for event in live.feed({"choices": [choice]}):
    ...     print(type(event).__name__)
    ChunkReceived
    ContentDelta
    ContentDone
    ChoiceFinished
    >>> _ = live.finish()
    >>> live.outcome.response.choices[0].message.content
    'Hi'
    """

    def __init__(self, *, snapshots: bool = False, **options: Unpack[IntakeOptions]) -> None:
        self._intake = Intake(**options)
        self._accumulator = self._intake.accumulator
        self._is_strict = options.get("strict", False)
        self._has_snapshots = snapshots
        self._choices: dict[int, ChoiceGrowth] = {}
        self._usage: Any = None
        self._error: StreamkitError | None = None
        self._logs = self._intake.logs
        self._told_issues = 0, 0  # how many of each

    # -- Input -------------------------------------------------------------------

    def feed(self, data: Any) -> list[StreamEvent]:
        """
        Return the events of *data*.

        What is wrong with the stream is not raised: it comes as `ErrorReported`, and is
        kept as `failure` if it ends the stream.

        Args:
            data: A block of the body, bytes or text, cut anywhere; or a chunk: a dict,
                one of streamkit's chunk models, or an object with `model_dump()`.

        Raises:
            InputRefused: After `finish`, or after a failure.
        """
        intake = self._intake
        if intake.outcome is not None or intake.failure is not None:
            self._refuse()
        return self._told(intake.chunks_of(data))

    def finish(self) -> list[StreamEvent]:
        """
        Take note of the end of the stream, expected or not; return the last events.

        Raises:
            InputRefused: If called twice.
        """
        if self._intake.outcome is not None:
            raise InputRefused("the stream has finished")
        events = self._told(self._intake.rest())
        outcome = self._intake.finish()
        snapshot = self._wanted_snapshot()
        for growth in self._choices.values():
            events += growth.end(snapshot)
        events += self._new_issues()
        if self._is_strict and self.failure is None:
            events += self._fail_if_incomplete(outcome, snapshot)
        return events

    def _refuse(self) -> NoReturn:
        if self._intake.outcome is not None:
            raise InputRefused("the stream has finished")
        raise InputRefused(f"no more input: {self.failure}")

    def _told(self, chunks: list[Any]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for chunk in chunks:
            self._tell(chunk, events)
            if self._accumulator.has_failed:
                break
        if self._intake.failure is not None:
            events += self._new_error(self._intake.failure, self._wanted_snapshot())
        events += self._new_issues()
        return events

    # -- Events ------------------------------------------------------------------

    def _tell(self, chunk: Any, events: list[StreamEvent]) -> None:
        """Merge *chunk*, and append what came of it to *events*."""
        choice, plain = self._intake.merge(chunk)
        snapshot = self._wanted_snapshot()
        events.append(ChunkReceived(chunk=chunk, snapshot=snapshot))
        if choice is not None:
            events += self._choices[choice.index].tell_again(snapshot)
        elif type(plain) is dict:
            self._tell_all(plain, events, snapshot)

    def _wanted_snapshot(self) -> ChatCompletion | Completion | None:
        return self.snapshot() if self._has_snapshots else None

    def _tell_all(self, plain: dict[str, Any], events: list[StreamEvent], snapshot: Any) -> None:
        """Append to *events* what came of a chunk that may have anything in it."""
        entries = plain.get("choices")
        if isinstance(entries, list):
            for position, entry in enumerate(map(as_plain, entries)):
                if type(entry) is dict:
                    growth = self._growth(entry.get("index", position))
                    events += () if growth is None else growth.tell(entry, snapshot)
        if _may_count(plain):
            events += self._new_usage(snapshot)
        if self._accumulator.error is not self._error:
            events += self._new_error(self._accumulator.error, snapshot)
        events += self._new_issues()

    def _new_usage(self, snapshot: Any) -> Iterator[StreamEvent]:
        from ._converter import structure
        from ._models import Usage

        usage = self._accumulator.usage
        if usage is not None and usage != self._usage:
            self._usage = usage
            yield UsageReported(usage=structure(usage, Usage), snapshot=snapshot)

    def _growth(self, index: Any) -> ChoiceGrowth | None:
        if type(index) is not int:
            return None
        growth = self._choices.get(index)
        choice = self._accumulator.choices.get(index)
        if growth is None and choice is not None:
            growth = self._choices[index] = ChoiceGrowth(choice, self._accumulator.kind or "chat")
        return growth

    def _new_error(self, error: StreamkitError | None, snapshot: Any) -> Iterator[StreamEvent]:
        if error is not None and error is not self._error:
            self._error = error
            yield ErrorReported(error=error, snapshot=snapshot)

    def _new_issues(self) -> list[StreamEvent]:
        framing, merging = self._logs
        of_framing, of_merging = told = self._told_issues
        if told == (len(framing), len(merging)):
            return []
        self._told_issues = len(framing), len(merging)
        new = framing[of_framing:] + merging[of_merging:]
        snapshot = self._wanted_snapshot()
        return [IssueReported(issue=issue, snapshot=snapshot) for issue in new]

    def _fail_if_incomplete(self, outcome: Outcome, snapshot: Any) -> Iterator[StreamEvent]:
        try:
            outcome.raise_if_incomplete()
        except StreamkitError as error:
            self._intake.failure = error
            yield from self._new_error(error, snapshot)

    # -- State -------------------------------------------------------------------

    def snapshot(self) -> ChatCompletion | Completion | None:
        """Return the response so far, or None if no chunk came yet; never raise."""
        return self._accumulator.snapshot()

    @property
    def failure(self) -> StreamkitError | None:
        """What ended the stream: a bound that was crossed, or, if strict, what was wrong."""
        return self._intake.failure

    @property
    def outcome(self) -> Outcome:
        """
        The outcome: the full response, and the truth about it.

        Raises:
            InputRefused: Before `finish`.
        """
        if self._intake.outcome is None:
            raise InputRefused("the stream has not ended; snapshot() has the response so far")
        return self._intake.outcome

    @property
    def has_ended(self) -> bool:
        """Whether `finish` was called."""
        return self._intake.outcome is not None

    @property
    def done(self) -> bool:
        """Whether `[DONE]` came: nothing that counts comes after it."""
        return self._intake.reader.done

    @property
    def last_event_id(self) -> str:
        """The stream's last event ID, to reconnect with (`Last-Event-ID`); `""` if it has none."""
        return self._intake.reader.last_event_id

    @property
    def retry(self) -> int | None:
        """The reconnection time that the server asked for last, in milliseconds, or None."""
        return self._intake.reader.retry

    @property
    def comments(self) -> int:
        """How many comment lines came: they say nothing, but that the server lives."""
        return self._intake.reader.comments


def _may_count(chunk: dict[str, Any]) -> bool:
    """Tell whether *chunk* may have a usage: its own, a choice's, or one under `x_groq`."""
    if chunk.get("usage") is not None or chunk.get("x_groq") is not None:
        return True
    return any("usage" in entry for entry in dict_entries(chunk.get("choices")))
