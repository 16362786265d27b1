"""JSON in a text of any kind, such as a log: where it is, and what it says."""

from __future__ import annotations

import json
import re

from collections.abc import Iterator
from typing import Any

from ._pretty import without_repeats


__all__ = ["json_values"]

# What else a log has brackets for does not go on like this.
OPENING = re.compile(r"\{(?=\s*[\"}])|\[(?=\s*[\[{])")
DECODER = json.JSONDecoder(object_pairs_hook=without_repeats)
# How much is decoded at first, and how much more each time that this cuts the value.
WINDOW, GROWTH = 1 << 12, 8
# How far from the end of what was decoded an error may be that the cut made: a literal
# or an escape.  A string that the cut leaves open is told by where it starts.
NEAR, OPEN_STRING = 16, "Unterminated string"


def json_values(text: str) -> Iterator[tuple[int, int, Any]]:
    """
    Yield where each JSON object or array in *text* starts and ends, and its value.

    A line whose JSON is cut is left as text: its parts would lack what they are part of.

    >>> [*json_values('got {"a": 1} and {"a":')]
    [(4, 12, {'a': 1})]
    """
    place = 0
    while start := OPENING.search(text, place):
        try:
            value, place = _decoded(text, start.start())
        except RecursionError:  # no recording; not worth a try at each further bracket
            return
        except ValueError:
            place = text.find("\n", start.end())
            if place < 0:
                return
            continue
        yield start.start(), place, value


def _decoded(text: str, start: int) -> tuple[Any, int]:
    """
    Return the value at *start*, and where it ends.

    Not in one go: an error counts the lines from the start of what is decoded.
    """
    size = WINDOW
    while True:
        window = text[start : start + size]
        try:
            value, end = DECODER.raw_decode(window)
        except json.JSONDecodeError as error:
            is_cut = error.pos >= len(window) - NEAR or error.msg.startswith(OPEN_STRING)
            if not is_cut or start + size >= len(text):
                raise
            size *= GROWTH
        else:
            return value, start + end
