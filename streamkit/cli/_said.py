"""What a command says of a stream, and how it comes from one process to another."""

from __future__ import annotations

import json

from typing import Any

import attrs


__all__ = ["Said"]


@attrs.frozen
class Said:
    """
    What is to be printed of a stream.

    Attributes:
        text: What goes to the output, whole lines or nothing.
        status: The exit status that it calls for.
        data: JSON data that the command counts up at its end.
    """

    text: str = ""
    status: int = 0
    data: Any = None

    def packed(self) -> bytes:
        """Return it as bytes; all that JSON has comes back as it was."""
        return json.dumps([self.text, self.status, self.data]).encode()

    @classmethod
    def unpacked(cls, packed: bytes) -> Said:
        """Return what *packed* was made of."""
        return cls(*json.loads(packed))
