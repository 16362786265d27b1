"""What can go wrong while streams are made."""

from __future__ import annotations

from typing import ClassVar

from streamkit._errors import StreamkitError


__all__ = ["Unstreamable"]


class Unstreamable(StreamkitError):
    """
    No sequence of chunks gives this response back.

    Attributes:
        path: The first value that would not come back as it is, in JSONPath
            notation: `"$.choices[0].message.role"`.
    """

    code: ClassVar[str] = "unstreamable"

    def __init__(self, message: str = "", *, path: str = "$") -> None:
        super().__init__(f"{message} @ {path}")
        self.path = path


Unstreamable.__module__ = "streamkit.testing"
