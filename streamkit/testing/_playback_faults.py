"""Faults of the transport: each takes a playback and returns one that is broken."""

from __future__ import annotations

import math

from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

import attrs

from streamkit._json import encode

from ._block import Block
from ._block import seconds as _delay
from ._playback import JSON, Playback
from ._playback_fields import End


__all__ = [
    "TRANSPORT_FAULTS",
    "TransportFault",
    "cut_transfer",
    "gzipped",
    "keep_alives",
    "rate_limited",
    "reset",
    "server_error",
    "slow_drip",
    "stall",
    "wrong_content_type",
]

# How an event ends; a comment may stand behind it.
EVENT_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")


def reset(playback: Playback, *, after: int | None = None) -> Playback:
    """
    Reset the connection (RST).

    Args:
        playback: The playback.
        after: How many blocks come before that; None: half of them.

    Raises:
        TypeError: If an argument is of the wrong type.
    """
    return _ended(playback, after, "reset")


def cut_transfer(playback: Playback, *, after: int | None = None) -> Playback:
    """
    Close the connection inside the chunked transfer coding.

    Args:
        playback: The playback.
        after: How many blocks come before that; None: half of them.

    Raises:
        TypeError: If an argument is of the wrong type.
    """
    return _ended(playback, after, "cut")


def stall(playback: Playback, *, after: int | None = None, seconds: float = math.inf) -> Playback:
    """
    Send nothing for a while, or for ever.

    Args:
        playback: The playback.
        after: How many blocks come before that; None: half of them.
        seconds: How long.

    Raises:
        TypeError: If an argument is of the wrong type.

    >>> stall(Playback([Block(b"a"), Block(b"b")]), after=1, seconds=2).blocks[1]
    Block(data=b'b', delay=2.0)
    """
    place = _place(playback, after)
    blocks = [*playback.blocks, Block(b"")] if place >= len(playback.blocks) else playback.blocks
    place = min(place, len(blocks) - 1)
    late = Block(blocks[place].data, blocks[place].delay + _delay(seconds))
    return attrs.evolve(playback, blocks=[*blocks[:place], late, *blocks[place + 1 :]])


def slow_drip(playback: Playback, *, size: int = 1, delay: float = 0.0) -> Playback:
    """
    Send a few bytes at a time, cut anywhere, in characters too.

    Args:
        playback: The playback.
        size: How many bytes are sent at a time.
        delay: How long to wait between them, in seconds.

    Raises:
        TypeError: If an argument is of the wrong type.

    >>> [block.data for block in slow_drip(Playback([Block(b"abc")]), size=2).blocks]
    [b'ab', b'c']
    """
    step = _count(size, "size")
    if not step:
        raise TypeError("size must be above 0")
    return attrs.evolve(playback, blocks=_drops(playback, step, _delay(delay)))


def _drops(playback: Playback, step: int, delay: float) -> Iterator[Block]:
    for block in playback.blocks:
        starts = range(0, len(block.data), step)
        for start in starts or (0,):
            yield Block(block.data[start : start + step], delay if start else block.delay)


def keep_alives(playback: Playback, *, every: float = 1.0, comment: str = "keep-alive") -> Playback:
    r"""
    Send comments while nothing else comes, as proxies want it.

    They stand between events only, and not in a wait that has no end.

    Args:
        playback: The playback.
        every: After how many seconds of silence.
        comment: The text of the comment, one line.

    Raises:
        TypeError: If an argument is of the wrong type.

    >>> playback = Playback([Block(b"data: {}\n\n", delay=2.5)])
    >>> [(block.data, block.delay) for block in keep_alives(playback).blocks]
    [(b': keep-alive\n\n', 1.0), (b': keep-alive\n\n', 1.0), (b'data: {}\n\n', 0.5)]
    """
    if not (_delay(every) and comment.isprintable()):
        raise TypeError("every must be above 0, and comment one line of text")
    alive = Block(f": {comment}\n\n".encode(), every)
    return attrs.evolve(playback, blocks=_kept_alive(playback, alive))


def _kept_alive(playback: Playback, alive: Block) -> Iterator[Block]:
    before = b"\n\n"
    for block in playback.blocks:
        count = 0
        if before.endswith(EVENT_ENDS) and math.isfinite(block.delay):
            count = math.ceil(block.delay / alive.delay) - 1
        yield from [alive] * count
        yield Block(block.data, block.delay - max(count, 0) * alive.delay)
        before = (before + block.data)[-4:]


def wrong_content_type(
    playback: Playback, *, content_type: str = "text/html; charset=utf-8"
) -> Playback:
    """
    Say that it is something else than server-sent events.

    Args:
        playback: The playback.
        content_type: The header; "" sends none.

    Raises:
        TypeError: If it is no value of a header.
    """
    return attrs.evolve(playback, content_type=content_type)


def gzipped(playback: Playback) -> Playback:
    """Return *playback* compressed, for clients that accept gzip: for most it is no fault."""
    return attrs.evolve(playback, gzip=True)


def rate_limited(
    playback: Playback,
    *,
    retry_after: float = 0,
    message: str = "Rate limit reached, try again later.",
) -> Playback:
    """
    Answer status 429 with an error object, in place of the stream.

    Args:
        playback: The playback; nothing of it is sent.
        retry_after: The header `Retry-After`, in seconds.
        message: The message of the error.

    Raises:
        TypeError: If an argument is of the wrong type.
    """
    error = {
        "message": message,
        "type": "requests",
        "param": None,
        "code": "rate_limit_exceeded",
    }
    headers = (*playback.headers, ("Retry-After", f"{_delay(retry_after):g}"))
    return _refused(attrs.evolve(playback, headers=headers), HTTPStatus.TOO_MANY_REQUESTS, error)


def server_error(
    playback: Playback, *, status: int = 500, message: str = "The server had an error."
) -> Playback:
    """
    Answer an error status with an error object, in place of the stream.

    Args:
        playback: The playback; nothing of it is sent.
        status: The status.
        message: The message of the error.

    Raises:
        TypeError: If an argument is of the wrong type.
    """
    error = {"message": message, "type": "server_error", "param": None, "code": None}
    return _refused(playback, status, error)


def _refused(playback: Playback, status: int, error: Mapping[str, Any]) -> Playback:
    blocks = [Block(encode({"error": error}).encode())]
    return attrs.evolve(playback, blocks=blocks, status=int(status), content_type=JSON, end="close")


def _ended(playback: Playback, after: int | None, end: End) -> Playback:
    return attrs.evolve(playback, blocks=playback.blocks[: _place(playback, after)], end=end)


def _place(playback: Playback, after: int | None) -> int:
    return len(playback.blocks) // 2 if after is None else _count(after, "after")


def _count(value: Any, name: str) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(f"{name} must be an integer of at least 0, not {value!r}")
    return int(value)


@attrs.frozen
class TransportFault:
    """
    A fault of the transport, for a matrix of tests.

    Attributes:
        name: Its name.
        what: What is wrong.
        apply: Takes a playback and returns one with the fault.
        status: The status that the client sees.
        breaks: The client's connection breaks, or its time-out ends it.
        complete: All of the stream arrives nevertheless.
    """

    name: str
    what: str
    apply: Callable[..., Playback]
    status: int = 200
    breaks: bool = False
    complete: bool = True


TRANSPORT_FAULTS: Mapping[str, TransportFault] = MappingProxyType(
    {
        fault.name: fault
        for fault in (
            TransportFault(
                "cut_transfer",
                "The connection ends inside the transfer coding.",
                cut_transfer,
                breaks=True,
                complete=False,
            ),
            TransportFault("gzipped", "The body is compressed.", gzipped),
            TransportFault("keep_alives", "Comments come in long waits.", keep_alives),
            TransportFault(
                "rate_limited",
                "Status 429 and an error in JSON.",
                rate_limited,
                status=429,
                complete=False,
            ),
            TransportFault("reset", "The connection is reset.", reset, breaks=True, complete=False),
            TransportFault(
                "server_error",
                "Status 500 and an error in JSON.",
                server_error,
                status=500,
                complete=False,
            ),
            TransportFault("slow_drip", "Byte comes by byte.", slow_drip),
            TransportFault("stall", "Nothing more comes.", stall, breaks=True, complete=False),
            TransportFault("wrong_content_type", "It says that it is a page.", wrong_content_type),
        )
    }
)
"""The faults of the transport by name."""
