"""What a replay server plays: the blocks of a response body, and how they are sent."""

from __future__ import annotations

import math
import os

from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

import attrs

from streamkit._errors import EmptyStream
from streamkit._json import encode
from streamkit._outcome import Outcome
from streamkit._plain import as_plain
from streamkit._rebuild import Source, rebuild
from streamkit.recordings import ReadOptions

from ._block import Block, as_bytes, seconds
from ._playback_fields import End, blocks_of, check_end, check_status, check_value, headers_of
from ._recorded import Body, Timed, events, recorded
from ._to_sse import to_sse


__all__ = ["JSON", "SSE", "Playback"]

SSE = "text/event-stream"
JSON = "application/json"


@attrs.frozen
class Playback:
    r"""
    A response, as it is sent: what comes when, with which head, and how it ends.

    Attributes:
        blocks: The body, in order.
        status: The status, 200 to 599.
        content_type: The header `Content-Type`; "" sends none.
        headers: More headers, as pairs or as a mapping; those of the framing of
            the message are the server's business.
        end: How it ends: `"close"`, as HTTP wants it; `"cut"`, the connection ends
            inside the chunked transfer coding; `"reset"`, it is reset (RST);
            `"hang"`, nothing more comes and the connection stays open.
        gzip: Compress it, block by block, for a client that accepts gzip.

    >>> playback = Playback.from_bytes(b"data: {}\n\ndata: [DONE]\n\n", per_second=10)
    >>> [(block.data, block.delay) for block in playback.blocks]
    [(b'data: {}\n\n', 0.0), (b'data: [DONE]\n\n', 0.1)]
    """

    blocks: tuple[Block, ...] = attrs.field(converter=blocks_of)
    status: int = attrs.field(default=200, kw_only=True, validator=check_status)
    content_type: str = attrs.field(default=SSE, kw_only=True, validator=check_value)
    headers: tuple[tuple[str, str], ...] = attrs.field(
        default=(), kw_only=True, converter=headers_of
    )
    end: End = attrs.field(default="close", kw_only=True, validator=check_end)
    gzip: bool = attrs.field(
        default=False, kw_only=True, validator=attrs.validators.instance_of(bool)
    )

    # -- Making one ------------------------------------------------------------------

    @classmethod
    def from_bytes(
        cls, data: bytes, *, per_second: float = math.inf, content_type: str = SSE
    ) -> Playback:
        """
        Return the playback of a body: a block for each event.

        Args:
            data: The body.
            per_second: How many blocks are sent in a second.
            content_type: The header `Content-Type`.

        Raises:
            TypeError: If an argument is of the wrong type.
        """
        blocks = map(Block, events(as_bytes(data)))
        return cls(blocks, content_type=content_type).at_rate(per_second)

    @classmethod
    def from_chunks(cls, chunks: Iterable[Any], *, per_second: float = math.inf) -> Playback:
        """
        Return the playback of *chunks* as server-sent events, with `[DONE]` behind them.

        Args:
            chunks: Chunks as `streamkit.Accumulator.add` takes them.
            per_second: How many of them are sent in a second.

        Raises:
            TypeError: If an argument is of the wrong type.

        >>> Playback.from_chunks([{"choices": []}]).data.splitlines()[0]
        b'data: {"choices":[]}'
        """
        return cls.from_bytes(to_sse(chunks), per_second=per_second)

    @classmethod
    def from_recording(
        cls,
        source: str | os.PathLike[str] | Source,
        *,
        speed: float = 1.0,
        form: str = "auto",
        options: ReadOptions = ReadOptions(),
    ) -> Playback:
        """
        Return the playback of the first stream in a recording; see `all_from_recording`.

        Raises:
            EmptyStream: If there is none; `all_from_recording` says what else.
        """
        notes: list[str] = []
        for body in _bodies(source, form, options):
            if body.pieces:
                return cls.of_body(body).at_speed(speed)
            notes += [f"; {note.message}" for note in body.notes]
        raise EmptyStream("no stream in the recording" + "".join(notes))

    @classmethod
    def all_from_recording(
        cls,
        source: str | os.PathLike[str] | Source,
        *,
        speed: float = 1.0,
        form: str = "auto",
        options: ReadOptions = ReadOptions(),
    ) -> Iterator[Playback]:
        """
        Yield the playback of each exchange in a recording, in any form that has a reader.

        The bytes are sent as they were recorded.  A form that keeps chunks, not
        bytes, is framed anew, with `[DONE]` if its stream is complete.  One whole
        response is sent as JSON.

        Args:
            source: Its path; or its bytes, as a binary file or an iterable of bytes.
            speed: 2 is twice as fast as recorded; infinity is at once, and so are
                recordings without times.
            form: As for `streamkit.recordings.read`.
            options: Likewise.

        Raises:
            UnknownForm: If the form is not known, or cannot be read.
            LimitExceeded: If it expands to more than a bound.
            OSError: If it cannot be read.
            TypeError: If an argument is of the wrong type.
        """
        for body in _bodies(source, form, options):
            if body.pieces:
                yield cls.of_body(body).at_speed(speed)

    @classmethod
    def of_body(cls, body: Body) -> Playback:
        """Return the playback of *body* at recorded speed."""
        return cls(_paced(body.pieces), content_type=SSE if body.is_stream else JSON)

    # -- Time ------------------------------------------------------------------------

    def at_speed(self, speed: float) -> Playback:
        """
        Return this playback with all delays divided by *speed*; one without end has none still.

        Raises:
            TypeError: If *speed* is not a number above 0.
        """
        factor = _positive(speed, "speed")
        waits = (block.delay for block in self.blocks)
        return self._delayed(wait if math.isinf(wait) else wait / factor for wait in waits)

    def at_rate(self, per_second: float) -> Playback:
        """
        Return this playback with *per_second* blocks in a second.

        Raises:
            TypeError: If *per_second* is not a number above 0.
        """
        delay = 1 / _positive(per_second, "per_second")
        return self._delayed(delay if place else 0.0 for place in range(len(self.blocks)))

    def _delayed(self, delays: Iterable[float]) -> Playback:
        pairs = zip(self.blocks, delays, strict=True)
        return attrs.evolve(self, blocks=[Block(block.data, delay) for block, delay in pairs])

    @property
    def duration(self) -> float:
        """How long it takes, in seconds."""
        return math.fsum(block.delay for block in self.blocks)

    # -- Content ---------------------------------------------------------------------

    @property
    def data(self) -> bytes:
        """The whole body."""
        return b"".join(block.data for block in self.blocks)

    @property
    def outcome(self) -> Outcome:
        """What `streamkit.rebuild` makes of the body."""
        return rebuild(self.data)

    def unstreamed(self) -> Playback:
        """
        Return the answer to the same request without `"stream": true`.

        That is the full response as JSON, or the error that the stream carried.
        It ends as this one does; a body that is no stream is left as it is.

        >>> chunk = {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}
        >>> Playback.from_chunks([chunk]).unstreamed().outcome.response.choices[0].message.content
        'Hi'
        """
        if self.status != HTTPStatus.OK or self.content_type.partition(";")[0].strip() != SSE:
            return self
        outcome = self.outcome
        if outcome.error is None and outcome.response is not None:
            return self._answering(as_plain(outcome.response), HTTPStatus.OK)
        error = getattr(outcome.error, "payload", None) or {"message": "the playback has no chunks"}
        return self._answering({"error": error}, _status_of(error))

    def _answering(self, body: Any, status: int) -> Playback:
        blocks = [Block(encode(body).encode())]
        return attrs.evolve(self, blocks=blocks, status=int(status), content_type=JSON)


def _bodies(source: Any, form: str, options: ReadOptions) -> Iterator[Body]:
    path = Path(source) if isinstance(source, (str, os.PathLike)) else source
    return recorded(path, form, options)


def _positive(value: Any, name: str) -> float:
    number = seconds(value, name)
    if not number:
        raise TypeError(f"{name} must be above 0")
    return number


def _status_of(error: Any) -> int:
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if type(code) is int and 400 <= code <= 599 else 500  # noqa: PLR2004 -- errors


def _paced(pieces: Iterable[Timed]) -> Iterator[Block]:
    """Yield *pieces* as blocks; a clock that went backwards stands still."""
    now: float | None = None
    waited = 0.0
    for data, time in pieces:
        if time is not None:
            waited += max(0.0, time - now) if now is not None else 0.0
            now = time if now is None else max(now, time)
        if data:
            yield Block(data, waited)
            waited = 0.0
