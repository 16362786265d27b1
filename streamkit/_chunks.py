"""Bytes in, chunk objects out: `ChunkReader`, the policy over the lenient `Framer`."""

from __future__ import annotations

from typing import Any

from ._errors import FramingError, InputRefused, LimitExceeded, StreamkitError, UpstreamError, quote
from ._issues import Issue, IssueLog, StrictLog
from ._json import Backend, Decoder
from ._kinds import is_ping
from ._limits import Limits, check_limits
from ._lines import Data, as_bytes
from ._payloads import DONE, Frame
from ._reading_road import ReadingRoad


__all__ = ["ChunkReader"]


class ChunkReader:
    r"""
    Read chunk objects from the bytes of a stream, incrementally.

    Lenient by default: framing that real servers and recordings get wrong is
    mended, and each repair is recorded in `issues`.  An error payload, however
    it was framed, comes out as a chunk with the key `error`.

    Args:
        strict: Raise `FramingError` at the first repair.
        limits: Bounds on lines, events and JSON.
        json: The library to decode with; the result is the same with each.
            `"auto"` takes msgspec or orjson if one is installed.

    Attributes:
        done: Whether `[DONE]` was seen.
        error: The first error payload, as an `UpstreamError`, or None.

    >>> reader = ChunkReader()
    >>> reader.feed(b'data: {"choices": []}\n\ndata: [DONE]')
    [{'choices': []}]
    >>> reader.finish(), reader.done, reader.issues
    ([], True, ())
    """

    def __init__(
        self, *, strict: bool = False, limits: Limits = Limits(), json: Backend = "auto"
    ) -> None:
        check_limits(limits)
        self._strict = strict
        self._limits = limits
        self._json: Backend = json
        self.reset()

    def reset(self) -> None:
        """Forget everything, as if newly made."""
        self._log = (StrictLog if self._strict else IssueLog)(self._limits.issues)
        decoder = Decoder(self._json, self._limits)
        self._chunks: list[dict[str, Any]] = []
        self._road = ReadingRoad(self._log, self._limits, decoder, self._take, self._chunks)
        self._refusal: StreamkitError | None = None
        self.done: bool = False
        self.error: UpstreamError | None = None

    @property
    def issues(self) -> tuple[Issue, ...]:
        """What was mended or left out so far, in order."""
        return tuple(self._log.issues)

    @property
    def last_event_id(self) -> str:
        """The stream's last event ID, to reconnect with (`Last-Event-ID`); `""` if it has none."""
        return self._road.framer.last_event_id

    @property
    def retry(self) -> int | None:
        """The reconnection time that the server asked for last, in milliseconds, or None."""
        return self._road.framer.retry

    @property
    def comments(self) -> int:
        """How many comment lines came: they say nothing, but that the server lives."""
        return self._road.framer.comments

    @property
    def log(self) -> IssueLog:
        """Where the issues are recorded."""
        return self._log

    @property
    def cut(self) -> bool:
        """Whether, after `finish`, the input turned out to end inside a value."""
        return self._road.cut

    def feed(self, data: Data) -> list[dict[str, Any]]:
        """
        Take *data* and return the chunk objects that it completes.

        Raises:
            TypeError: If *data* is not bytes.
            LimitExceeded: If a bound is crossed; `partial` holds the whole chunks
                of this call.
            FramingError: At a repair, if *strict*; `partial` likewise.
            InputRefused: After `finish` or an error.
        """
        if type(data) is bytes and self._refusal is None:
            chunk = self._road.one(data)
            if chunk is not None:
                return [chunk]
        data = as_bytes(data)
        self._refuse_if_over()
        try:
            self._road.feed(data)
        except (LimitExceeded, FramingError) as error:
            self._fail(error)
            raise
        return self._drain()

    def finish(self) -> list[dict[str, Any]]:
        """
        Return the chunks that the end of the input completes.

        Raises:
            LimitExceeded: As `feed`.
            FramingError: As `feed`.
            InputRefused: If called twice, or after an error.
        """
        self._refuse_if_over()
        try:
            self._road.finish()
        except (LimitExceeded, FramingError) as error:
            self._fail(error)
            raise
        self._refusal = InputRefused("the stream has finished")
        return self._drain()

    def _refuse_if_over(self) -> None:
        if self._refusal is not None:
            raise InputRefused(f"no more input: {self._refusal}; call reset()")

    def _fail(self, error: StreamkitError) -> None:
        """Keep the whole chunks before *error*, and refuse what comes after it."""
        self._refusal = error
        error.partial = self._drain()

    def _drain(self) -> list[dict[str, Any]]:
        chunks = self._chunks.copy()
        self._chunks.clear()
        return chunks

    def _take(self, frame: Frame) -> None:
        value, event, offset = frame[:3]
        is_object = type(value) is dict
        if value is DONE:
            self.done = True
        elif is_object and is_ping(value):
            pass  # a sign of life, behind [DONE] too
        elif self.done:
            self._log.add("data_after_done", f"after [DONE]: {quote(value)}", event, offset)
        elif not is_object:
            self._log.add("not_a_chunk", f"the payload is {quote(value)}", event, offset)
        else:
            if self.error is None and value.get("error") is not None:
                self.error = UpstreamError.of(value["error"], value)
            self._chunks.append(value)
