"""What can be played, and as what: `playback_of`."""

from __future__ import annotations

import os

from collections.abc import Iterable
from typing import Any, TypeAlias

from streamkit._plain import as_plain

from ._chunk_up import chunk_up
from ._playback import Playback
from ._recorded import is_response


__all__ = ["Playable", "playback_of"]

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
