"""A chunk sequence in, the full response out: `finalize`."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any

import attrs

from ._accumulator import Accumulator
from ._errors import EmptyStream
from ._kinds import Kind
from ._limits import Limits


if TYPE_CHECKING:
    from ._models import ChatCompletion, Completion


__all__ = ["finalize"]

# A sequence of chunks is the caller's own, decoded and in memory, so an index may
# be any integer; the bound on the number of choices keeps memory in hand.
LIMITS = attrs.evolve(Limits(), index=None)


def finalize(
    chunks: Iterable[Any],
    *,
    kind: Kind | None = None,
    strict: bool = False,
    limits: Limits = LIMITS,
) -> ChatCompletion | Completion:
    """
    Return the full response of *chunks*, as the API without streaming would.

    Args:
        chunks: Dicts, streamkit's chunk models, or objects with `model_dump()`.
        kind: `"chat"` or `"completion"`; None: the chunks tell.
        strict: Raise unless the stream is whole and every value was used.
        limits: Bounds on what is kept.  The default sets none on indexes.

    Raises:
        TypeError: If *chunks* is text, bytes or one chunk, rather than several.
        EmptyStream: If there is no usable chunk; its `__cause__` is the server's
            error, if there was one.
        LimitExceeded: If a bound is crossed.
        InvalidChunk: In strict mode, if something is no chunk or was left out.
        UpstreamError: In strict mode, if a chunk carries an error.
        IncompleteStream: In strict mode, if a choice has no finish reason.
            Each of these has the response so far as `partial`.

    >>> finalize([{"choices": [{"index": 0, "text": "Hi"}]}]).choices[0].text
    'Hi'
    """
    if isinstance(chunks, (str, bytes, bytearray, memoryview, dict, PathLike)):
        raise TypeError(
            f"chunks must be an iterable of chunks, not {type(chunks).__name__}; "
            f"rebuild() reads text, bytes and files"
        )
    accumulator = Accumulator(kind, strict=strict, limits=limits)
    for chunk in chunks:
        accumulator.add(chunk)
    outcome = accumulator.finish()
    if strict:
        outcome.raise_if_incomplete()
    if outcome.response is None:
        raise EmptyStream("no usable chunk in the sequence") from outcome.error
    return outcome.response
