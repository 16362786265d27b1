"""Small pieces joined to blocks: feeding the framing costs, however little it is fed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from streamkit._clock import Clock
from streamkit._errors import StreamkitError

from ._pieces import Piece


__all__ = ["blocks_of"]

BLOCK = 1 << 15
# The framing works on copies of what it is fed.
LONGEST = 1 << 18
DONE = b"[DONE]"


def blocks_of(pieces: Iterable[Piece], clock: Clock) -> Iterator[bytes]:
    r"""
    Yield the bytes of *pieces* in blocks, and tell *clock* when each piece came.

    A block ends behind a `[DONE]`: of what streams live, an outcome does not wait
    for what comes after it.

    >>> pieces = [Piece(b"data: 1\n", 0.5), Piece(b"\n", 0.5), Piece(b"data: [DONE]\n\n", 1.5)]
    >>> list(blocks_of(pieces, Clock()))
    [b'data: 1\n\ndata: [DONE]\n\n']
    """
    held: list[bytes] = []
    size = 0
    try:
        for piece in pieces:
            if held and piece.time is not None and not clock.is_running:
                yield _taken(held)  # what came before has no time
                size = 0
            clock.feed(piece.data, piece.time)
            if len(piece.data) > LONGEST:
                yield _taken(held)
                size = 0
                yield from _slices(piece.data)
                continue
            held.append(piece.data)
            size += len(piece.data)
            if size >= BLOCK or DONE in piece.data:
                yield _taken(held)
                size = 0
    except StreamkitError:
        yield _taken(held)  # what came before is whole
        raise
    if held:
        yield _taken(held)


def _slices(data: bytes) -> Iterator[bytes]:
    return (data[start : start + LONGEST] for start in range(0, len(data), LONGEST))


def _taken(held: list[bytes]) -> bytes:
    block = held[0] if len(held) == 1 else b"".join(held)
    held.clear()
    return block
