"""Bytes that a recording keeps as text: base64 in either alphabet, or hexadecimal."""

from __future__ import annotations

import binascii
import re

from collections.abc import Sequence


__all__ = ["from_base64", "from_text", "is_binary_text"]

# How `data:`, `event:`, `id:`, `retry:`, a comment, `{"` and gzip begin in base64, and in
# hexadecimal.
BASE64_START = re.compile(
    r"\s*(?:ZGF0YT|ZXZlbnQ6|aWQ6|cmV0cnk6|Oi[A-P]|eyJ|H4sI)[A-Za-z0-9+/_\-]{8}"
)
HEX_START = re.compile(
    r"(?:646174613a|6576656e743a|69643a|72657472793a|3a20|7b22|1f8b08)[0-9a-f]{8}"
)
BASE64 = re.compile(r"[A-Za-z0-9+/=]*")
HEX = re.compile(r"(?:[0-9a-f]{2})+")
URL_SAFE = str.maketrans("-_", "+/")
QUANTUM = 4


def from_base64(text: str) -> bytes | None:
    """
    Return the bytes that *text* is the base64 of (RFC 4648, sections 4 and 5), or None.

    Line ends in it and padding that is missing do not matter, nor that it is cut.

    >>> from_base64("aGk_ aGk="), from_base64("***")
    (b'hi?hi', None)
    """
    text = "".join(text.split()).translate(URL_SAFE)
    # The module skips what is not of the alphabet, and stops at the first padding.
    if not BASE64.fullmatch(text):
        return None
    return b"".join(_part(part) for part in text.split("=") if part)


def _part(part: str) -> bytes:
    if len(part) % QUANTUM == 1:  # six bits are no byte: it was cut here
        part = part[:-1]
    return binascii.a2b_base64(part + "=" * (-len(part) % QUANTUM))


def is_binary_text(value: object) -> bool:
    """Tell whether *value* is a text that begins as the base64 or hexadecimal of a stream does."""
    return isinstance(value, str) and bool(BASE64_START.match(value) or HEX_START.match(value))


def from_text(value: str | Sequence[object]) -> bytes | None:
    r"""
    Return the bytes of *value*: base64 or hexadecimal, whole or in a list of parts; or None.

    >>> from_text("646174613a207b7d0a0a"), from_text(["ZGF0YTog", "e30KCg=="])
    (b'data: {}\n\n', b'data: {}\n\n')
    """
    parts = [value] if isinstance(value, str) else list(value)
    found: list[bytes] = []
    for part in parts:
        data = _decoded(part) if isinstance(part, str) else None
        if data is None:
            return None
        found.append(data)
    return b"".join(found)


def _decoded(text: str) -> bytes | None:
    return bytes.fromhex(text) if HEX.fullmatch(text) else from_base64(text)
