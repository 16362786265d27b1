"""What a replay server plays: the blocks of a response body, and how they are sent."""

from __future__ import annotations

import math
import os
import re

from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs

from streamkit._errors import EmptyStream
from streamkit._json import encode
from streamkit._outcome import Outcome
from streamkit._plain import as_plain
from streamkit._rebuild import Source, rebuild
from streamkit.recordings import ReadOptions

from ._chunk_up import chunk_up
from ._recorded import Body, Timed, events, is_response, recorded
from ._to_sse import to_sse


__all__ = ["JSON", "SSE", "Block", "End", "Playable", "Playback", "playback_of", "seconds"]

SSE = "text/event-stream"
JSON = "application/json"
ENDS = ("close", "cut", "reset", "hang")
# RFC 9110, 5.1 and 5.5: what else a header could hold would end it, and start another.
NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
OWN = frozenset(
    {"connection", "content-encoding", "content-length", "content-type", "transfer-encoding"}
)

End: TypeAlias = Literal["close", "cut", "reset", "hang"]


def seconds(value: Any, name: str = "delay") -> float:
    """
    Return *value* as a number of seconds; infinity is for ever.

    Raises:
        TypeError: If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
        raise TypeError(f"{name} must be a number of at least 0, not {value!r}")
    return float(value)


def _bytes(value: Any) -> bytes:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"data must be bytes, not {type(value).__name__}")
    return bytes(value)


@attrs.frozen
class Block:
    r"""
    Bytes that are sent at once, as one chunk of the chunked transfer coding.

    Attributes:
        data: The bytes.
        delay: How long to wait before it, in seconds; infinity is for ever.

    >>> Block(b"data: [DONE]\n\n", 0.5).delay
    0.5
    """

    data: bytes = attrs.field(converter=_bytes)
    delay: float = attrs.field(default=0.0, converter=seconds)


def _blocks(value: Any) -> tuple[Block, ...]:
    blocks = tuple(value)
    for block in blocks:
        if not isinstance(block, Block):
            raise TypeError(f"blocks must be of Block, not of {type(block).__name__}")
    return blocks


def _status(_: Any, __: Any, value: Any) -> None:
    if type(value) is not int or not 200 <= value <= 599:  # noqa: PLR2004 -- final statuses
        raise TypeError(f"status must be an integer from 200 to 599, not {value!r}")


def _value(_: Any, __: Any, value: Any) -> None:
    if not isinstance(value, str) or not VALUE.fullmatch(value):
        raise TypeError(f"not the value of a header: {value!r}")


def _end(_: Any, __: Any, value: End) -> None:
    if value not in ENDS:
        raise TypeError(f"end must be one of {', '.join(ENDS)}, not {value!r}")


def _headers(value: Any) -> tuple[tuple[str, str], ...]:
    pairs = tuple(value.items() if isinstance(value, Mapping) else map(tuple, value))
    for pair in pairs:
        if len(pair) != 2:  # noqa: PLR2004 -- a pair
            raise TypeError(f"not a name and a value: {pair!r}")
        name, text = pair
        if not isinstance(name, str) or not NAME.fullmatch(name) or name.lower() in OWN:
            raise TypeError(f"not a header that can be set here: {name!r}")
        _value(None, None, text)
    return pairs


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

    blocks: tuple[Block, ...] = attrs.field(converter=_blocks)
    status: int = attrs.field(default=200, kw_only=True, validator=_status)
    content_type: str = attrs.field(default=SSE, kw_only=True, validator=_value)
    headers: tuple[tuple[str, str], ...] = attrs.field(default=(), kw_only=True, converter=_headers)
    end: End = attrs.field(default="close", kw_only=True, validator=_end)
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
        blocks = map(Block, events(_bytes(data)))
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
        Return this playback with all delays divided by *speed*.

        Raises:
            TypeError: If *speed* is not a number above 0.
        """
        factor = _positive(speed, "speed")
        return self._delayed(block.delay / factor if block.delay else 0.0 for block in self.blocks)

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


Playable: TypeAlias = Playback | bytes | str | os.PathLike[str] | Iterable[Any] | Any
"""What can be played: a playback, bytes, their text, a path, a full response, or chunks."""


def playback_of(source: Playable) -> Playback:
    """
    Return *source* as a playback; a path is played at recorded speed.

    Raises:
        TypeError: If it is none of a playback, bytes, text, a path, a full
            response, or an iterable of chunks.
        StreamkitError: If it is a path, as `Playback.from_recording`.
        OSError: Likewise.

    >>> playback_of("data: [DONE]").data
    b'data: [DONE]'
    """
    if isinstance(source, Playback):
        return source
    if isinstance(source, str):
        return Playback.from_bytes(source.encode("utf-8", "surrogatepass"))
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Playback.from_bytes(bytes(source))
    if isinstance(source, os.PathLike):
        return Playback.from_recording(source)
    plain = as_plain(source)
    if isinstance(plain, dict):
        return Playback.from_chunks(chunk_up(plain) if is_response(plain) else [plain])
    if not isinstance(source, Iterable):
        raise TypeError(
            f"not to be played: {type(source).__name__}; see streamkit.testing.Playback"
        )
    return Playback.from_chunks(source)
