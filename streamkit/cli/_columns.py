"""Text in columns: how wide it is in a terminal, and how it is made to fit."""

from __future__ import annotations

import shutil
import sys
import unicodedata

from itertools import accumulate

from ._escape import escape_line


__all__ = ["clip", "fit", "pad", "seconds", "terminal_width", "width_of"]

ELLIPSIS = "…"
MILLISECOND = 1e-3


def terminal_width() -> int | None:
    """Return the width of the terminal, or None if the output is none."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return shutil.get_terminal_size().columns if is_terminal else None


def width_of(text: str) -> int:
    """Return how many cells *text*, already escaped, takes."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 1 + (unicodedata.east_asian_width(character) in "WF")


def clip(text: str, width: int) -> str:
    """Return *text*, cut to *width* cells, with an ellipsis if something is missing."""
    if width_of(text) <= width:
        return text
    used = accumulate(map(_cells, text), initial=1)
    kept = sum(cells <= width for cells in used) - 1
    return text[: max(kept, 0)] + ELLIPSIS


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Return *text* filled with blanks to *width* cells."""
    blanks = " " * max(width - width_of(text), 0)
    return blanks + text if right else text + blanks


def fit(text: str, width: int | None) -> str:
    """Return *text* escaped as one line, cut to *width* if there is one."""
    text = escape_line(text)
    return text if width is None else clip(text, max(width, 1))


def seconds(value: float | None) -> str:
    """Return a time as a person writes it."""
    if value is None:
        return "-"
    if 0 < abs(value) < MILLISECOND:
        return f"{value * 1e6:.0f} µs"
    return f"{value * 1e3:.1f} ms" if abs(value) < 1 else f"{value:.3f} s"
