"""
Recordings in any form in which people keep a stream.

`sniff` tells the form, `read` unwraps it into pieces of bytes with their times,
`rebuild` goes all the way to the outcome of each stream.
"""

from __future__ import annotations

from ._pieces import Form, Piece, ReadOptions, Recording
from ._read import read, rebuild
from ._registry import FORMS, sniff


__all__ = [
    "FORMS",
    "Form",
    "Piece",
    "ReadOptions",
    "Recording",
    "read",
    "rebuild",
    "sniff",
]
