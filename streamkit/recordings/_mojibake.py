"""
UTF-8 that was read as Latin-1, as Playwright and browsers do when no charset is named.

What browsers call Latin-1 is Windows-1252: most of the bytes 0x80 to 0x9f became
other characters there, and five of them did not.
"""

from __future__ import annotations

import codecs
import re

from collections.abc import Iterable, Iterator

from streamkit._issues import Issue
from streamkit._limits import Limits

from ._text import runs_of_lines


__all__ = ["FIXED", "fix_mojibake", "fixed_lines", "looks_like_mojibake"]

FIXED = Issue("mojibake", "the text was UTF-8 read as Latin-1; it was put right")

# The characters that Windows-1252 has in place of control characters.
BYTES = {
    bytes([byte]).decode("cp1252"): byte
    for byte in range(0x80, 0xA0)
    if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}
# A character beyond ASCII as an escape of JSON, whose backslash is not escaped itself.
ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)\\u(00[89a-fA-F][0-9a-fA-F]|(?!00)[0-9a-fA-F]{4})")
TO_LATIN_1 = str.maketrans({char: chr(byte) for char, byte in BYTES.items()})


def fix_mojibake(text: str) -> bytes:
    r"""
    Return the bytes that *text* was before it was misread.

    >>> fix_mojibake("na\u00c3\u00afve \u00e2\u201a\u00ac").decode()
    'naïve €'
    """
    return text.translate(TO_LATIN_1).encode("latin-1")


def looks_like_mojibake(text: str) -> bool:
    r"""
    Tell whether *text* makes sense, beyond ASCII, only when read the other way.

    >>> looks_like_mojibake("na\u00c3\u00afve"), looks_like_mojibake("na\u00efve")
    (True, False)
    """
    if text.isascii():
        return False
    try:
        raw = fix_mojibake(text)
        read = codecs.getincrementaldecoder("utf-8")().decode(raw)  # the end may be cut
    except UnicodeError:
        return False
    return not read.isascii()


def fixed_lines(blocks: Iterable[bytes], limits: Limits, notes: list[Issue]) -> Iterator[bytes]:
    """
    Yield *blocks*, text, with each line put right that shows that it was misread.

    If any does, *notes* are told.

    Raises:
        LimitExceeded: If a line is longer than the limit.
    """
    for run in runs_of_lines(blocks, limits):
        is_plain = run.isascii() and b"\\u" not in run
        now = run if is_plain else b"\n".join(map(_fixed, run.split(b"\n")))
        if now != run and FIXED not in notes:
            notes.append(FIXED)
        yield now


def _fixed(line: bytes) -> bytes:
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return line
    text = ESCAPED.sub(_char, text)
    return fix_mojibake(text) if looks_like_mojibake(text) else line


def _char(escape: re.Match[str]) -> str:
    return escape[1] + chr(int(escape[2], 16))
