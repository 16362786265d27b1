"""
The invariant of the readers of `streamkit.recordings` that fuzzing tries to break.

For any bytes, taken for the form that they look like and for one that is drawn:

1. Nothing but `StreamkitError` escapes, in lenient mode and in strict mode.
2. The outcomes are the same whole and in pieces, issues and times included, but for
   compression that is undone block by block and damaged.
3. Each response becomes strict JSON that encodes as UTF-8.
4. However small the bounds, the only new thing they do is to end the reading.

`STREAMKIT_FORM=har python -m fuzz.run readers …` draws that form alone.
"""

from __future__ import annotations

import io
import os
import random
import zlib

from typing import Any

import attrs

from streamkit import Limits, Outcome, StreamkitError
from streamkit.recordings import FORMS, ReadOptions, rebuild, sniff

from .roads import Pieces, cut, drawn_limits, same, told, told_error


__all__ = ["check", "hold"]

SMALL = {"decompressed": 600, "chunks": 4, "line": 300, "event": 280, "depth": 6, "issues": 2}
# bzip2, xz, zstd: how much came out before damage was seen depends on the pieces.
BY_BLOCKS = (b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
NAMES = sorted(FORMS)
ONLY = os.environ.get("STREAMKIT_FORM", "")


def check(data: bytes) -> None:
    """
    Hold *data* against the invariant.

    Raises:
        AssertionError: If it does not hold.
    """
    hold(data, random.Random(zlib.crc32(data)))


def hold(data: bytes, draw: random.Random) -> None:
    """Hold *data*, cut and taken for a form as *draw* says, against the invariant."""
    pieces = cut(draw, data)
    found = sniff(data).name
    assert found in FORMS
    for form in (found, ONLY or draw.choice(NAMES)):
        check_form(data, pieces, form)
    same("auto, file", rebuilt(io.BytesIO(data), "auto"), rebuilt([data], "auto"))
    rebuilt(pieces, "auto")  # what is live is not waited for: its first blocks decide
    options = {"fix_mojibake": True, "limits": drawn_limits(draw, SMALL)}
    rebuilt(pieces, found, options=options)
    rebuilt([data], found, strict=True)


def check_form(data: bytes, pieces: Pieces, form: str) -> None:
    """Compare what comes of *data* whole, in pieces, and from a file."""
    whole = rebuilt([data], form)
    if data.startswith(BY_BLOCKS):
        rebuilt(pieces, form)
        return
    same(f"{form}, pieces", rebuilt(pieces, form), whole)
    same(f"{form}, file", rebuilt(io.BytesIO(data), form), whole)


def rebuilt(
    source: Any, form: str, *, strict: bool = False, options: dict[str, Any] | None = None
) -> list[Any]:
    """Return all that can be told of the streams in *source*, and of the error at its end."""
    read = attrs.evolve(ReadOptions(), **(options or {}))
    found: list[Any] = []
    try:
        outcomes = rebuild(
            source if isinstance(source, io.BytesIO) else iter(source),
            form=form,
            options=read,
            limits=(options or {}).get("limits", Limits()),
            strict=strict,
            json="json",
        )
        found.extend(map(_told, outcomes))
    except StreamkitError as error:
        found.append(told_error(error))
    return found


def _told(outcome: Outcome) -> dict[str, Any]:
    return {**told(outcome), "timing": outcome.timing}
