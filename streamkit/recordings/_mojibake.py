"""
UTF-8 that was read as Latin-1, as Playwright and browsers do when no charset is named.

What browsers call Latin-1 is Windows-1252: most of the bytes 0x80 to 0x9f became
other characters there, and five of them did not.
"""

from __future__ import annotations

import codecs


__all__ = ["fix_mojibake", "looks_like_mojibake"]

# The characters that Windows-1252 has in place of control characters.
BYTES = {
    bytes([byte]).decode("cp1252"): byte
    for byte in range(0x80, 0xA0)
    if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}
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
