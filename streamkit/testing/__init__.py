"""
For tests of programs that read streams: make streams, cut them, break them.

>>> from streamkit import rebuild
>>> from streamkit.testing import chunk_up, split_bytes, to_sse
>>> message = {"role": "assistant", "content": "Hello!"}
>>> choice = {"index": 0, "message": message, "finish_reason": "stop"}
>>> data = to_sse(chunk_up({"object": "chat.completion", "choices": [choice]}))
>>> rebuild(split_bytes(data, seed=1)).response.choices[0].message.content
'Hello!'

Names are loaded when first used.  The strategies for Hypothesis are in
`streamkit.testing.strategies`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from ._block import Block
    from ._chunk_up import chunk_up
    from ._dialects import DIALECTS, Dialect
    from ._errors import Unstreamable
    from ._fault import Fault
    from ._faults import FAULTS
    from ._playback import Playback
    from ._rebuilds import assert_rebuilds
    from ._recording_file import RecordingFile
    from ._request import Request
    from ._server import StreamServer
    from ._split import split_bytes
    from ._to_sse import to_sse


__all__ = [
    "DIALECTS",
    "FAULTS",
    "Block",
    "Dialect",
    "Fault",
    "Playback",
    "RecordingFile",
    "Request",
    "StreamServer",
    "Unstreamable",
    "assert_rebuilds",
    "chunk_up",
    "split_bytes",
    "to_sse",
]

_ROOMS = {
    "_block": ("Block",),
    "_chunk_up": ("chunk_up",),
    "_dialects": ("DIALECTS", "Dialect"),
    "_errors": ("Unstreamable",),
    "_fault": ("Fault",),
    "_faults": ("FAULTS",),
    "_playback": ("Playback",),
    "_rebuilds": ("assert_rebuilds",),
    "_recording_file": ("RecordingFile",),
    "_request": ("Request",),
    "_server": ("StreamServer",),
    "_split": ("split_bytes",),
    "_to_sse": ("to_sse",),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{room}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
