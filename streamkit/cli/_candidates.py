"""Whether a file that a folder has may be a recording: a guess by its first bytes."""

from __future__ import annotations

import re

from pathlib import Path

from streamkit._errors import StreamkitError
from streamkit._limits import Limits
from streamkit.recordings import sniff
from streamkit.recordings._registry import HEAD
from streamkit.recordings._wrappers import peel


__all__ = ["may_be_recording", "may_be_table"]

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
    head = _head_of(path)
    return not head or _looks_so(head)


def may_be_table(path: Path) -> bool:
    """Tell likewise whether the file at *path* may be a table, in Parquet or JSON lines."""
    from streamkit.engines._tables import PARQUET, is_table

    head = _head_of(path)
    return head.startswith(PARQUET) or is_table(head, path.name)


def _head_of(path: Path) -> bytes:
    """Return what the file at *path* begins with; nothing if that cannot be told."""
    try:
        with path.open("rb") as file:
            return _head(file.read(HEAD))
    except (OSError, StreamkitError):
        return b""


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
