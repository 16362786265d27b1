"""All faults in one table, to be played: of chunks, of bytes, of the transport."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from streamkit._chunks import ChunkReader

from ._fault import Fault
from ._faults import FAULTS
from ._playable import Playable, playback_of
from ._playback import Playback
from ._playback_faults import TRANSPORT_FAULTS, TransportFault


__all__ = ["STREAM_FAULTS", "StreamFault"]


@attrs.frozen(kw_only=True)
class StreamFault:
    """
    One thing that can be wrong with a stream, and what a client is to make of it.

    Attributes:
        name: Its name in `STREAM_FAULTS`.
        what: What is wrong.
        status: The status of the answer.
        breaks: The connection breaks, or the client's time-out has to end it.
        complete: Whether the outcome is complete.
        whole: The response comes back as if nothing were wrong; else it may not.
        apply: Takes a playback and returns one with the fault.

    >>> from streamkit import rebuild
    >>> chunks = [
    ...     {"choices": [{"index": 0, "delta": {"content": "Hi"}}]},
    ...     {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ... ]
    >>> fault = STREAM_FAULTS["reset"]
    >>> playback = fault.playback(chunks)
    >>> playback.end, playback.outcome.complete, fault.complete
    ('reset', False, False)
    """

    name: str
    what: str
    status: int = 200
    breaks: bool = False
    complete: bool
    whole: bool
    apply: Callable[[Playback], Playback] = attrs.field(repr=False)

    def playback(self, source: Playable) -> Playback:
        """
        Return *source* with this fault, to be played by a `StreamServer`.

        Args:
            source: As for `StreamServer`: chunks, a full response, bytes, a path.

        Raises:
            TypeError: If it is nothing that can be played, or a stream that cannot
                have this fault: no choice goes on over more than one chunk.
        """
        return self.apply(playback_of(source))


def _of_stream(fault: Fault) -> StreamFault:
    def apply(playback: Playback) -> Playback:
        broken = Playback.from_bytes(fault(_chunks_of(playback)))
        return attrs.evolve(playback, blocks=broken.blocks)

    return StreamFault(
        name=fault.name,
        what=fault.what,
        complete=fault.complete,
        whole=fault.whole,
        apply=apply,
    )


def _of_transport(fault: TransportFault) -> StreamFault:
    return StreamFault(
        name=fault.name,
        what=fault.what,
        status=fault.status,
        breaks=fault.breaks,
        complete=fault.complete,
        whole=fault.complete,
        apply=fault.apply,
    )


def _chunks_of(playback: Playback) -> list[dict[str, Any]]:
    reader = ChunkReader()
    return [*reader.feed(playback.data), *reader.finish()]


STREAM_FAULTS: Mapping[str, StreamFault] = MappingProxyType(
    {
        **{name: _of_stream(fault) for name, fault in FAULTS.items()},
        **{name: _of_transport(fault) for name, fault in TRANSPORT_FAULTS.items()},
    }
)
"""All faults by name: those of `FAULTS`, and of `TRANSPORT_FAULTS`."""
