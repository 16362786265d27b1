"""Whether a file that a folder has may be a recording: a guess by its first bytes."""

from __future__ import annotations

import re

from pathlib import Path

from streamkit._errors import StreamkitError
from streamkit._limits import Limits
from streamkit.recordings import sniff
from streamkit.recordings._registry import HEAD
from streamkit.recordings._wrappers import peel


__all__ = ["may_be_recording"]

# These are told only to be refused.
NO_RECORDINGS = frozenset({"other-file", "pickle"})
# These are what is left when no other form fits, so they need a mark of a stream.
PLAIN = frozenset({"sse", "json", "jsonl"})
MARK = re.compile(
    rb"^[ \t]*(?:data|event)[ \t]*:|^:|\"(?:choices|delta|error|object)\"\s*:", re.MULTILINE
)


def may_be_recording(path: Path) -> bool:
    """
    Tell whether the file at *path* may be a recording.

    Where that cannot be told (it is empty, it cannot be opened, its compression
    is of no known kind), it may: reading it says more.
    """
    try:
        with path.open("rb") as file:
            start = file.read(HEAD)
        head = _head(start)
    except (OSError, StreamkitError):
        return True
    return not head or _looks_so(head)


def _head(start: bytes) -> bytes:
    """Return what *start* begins with once it is unwrapped; of a bomb, no more than that."""
    blocks = peel([start], Limits()).blocks
    head = b""
    while len(head) < HEAD and (block := next(blocks, None)) is not None:
        head += block
    return head[:HEAD]


def _looks_so(head: bytes) -> bool:
    form = sniff(head)
    if form.name in PLAIN:
        return MARK.search(head) is not None
    return form.name not in NO_RECORDINGS
