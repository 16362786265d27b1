"""What a command says of a stream, and how it comes from one process to another."""

from __future__ import annotations

import argparse
import json

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import attrs

from ._files import File


__all__ = ["Said", "Say"]


@attrs.frozen
class Said:
    """
    What is to be printed of a stream.

    Attributes:
        text: What goes to the output, whole lines or nothing.
        status: The exit status that it calls for.
        data: JSON data that the command counts up at its end.
        died: The name of the file that a process died of, and how it ended; empty: of none.
    """

    text: str = ""
    status: int = 0
    data: Any = None
    died: tuple[str, ...] = ()

    def packed(self) -> bytes:
        """Return it as bytes; all that JSON has comes back as it was."""
        return json.dumps(attrs.astuple(self, recurse=False)).encode()

    @classmethod
    def unpacked(cls, packed: bytes) -> Said:
        """Return what *packed* was made of."""
        return cls(*json.loads(packed))


Say: TypeAlias = Callable[[argparse.Namespace, File], Iterator[Said]]
"""Yields what a command says of a file."""
