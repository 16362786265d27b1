"""Bytes in blocks, as a network might deliver them: `split_bytes`."""

from __future__ import annotations

import re

from itertools import pairwise

from ._dice import Dice, Size


__all__ = ["split_bytes"]

# Between the bytes of a character, of CRLF, of a blank line; where parsers break.
HARD = re.compile(rb"(?=[\x80-\xbf])|(?<=\r)(?=\n)|(?<=[\r\n])(?=[\r\n])")


def split_bytes(
    data: bytes,
    seed: int = 0,
    *,
    size: Size = (1, 64),
    hard: bool = True,
    empty: bool = True,
) -> list[bytes]:
    r"""
    Return *data* in blocks; joined, they are *data*.

    The same arguments give the same blocks.

    Args:
        data: The bytes of a stream.
        seed: Where chance starts.
        size: Bytes in a block: a number, or the lowest and the highest.
        hard: Cut, besides, at half of the places inside UTF-8 characters, inside
            `\r\n`, and inside blank lines.
        empty: Put empty blocks between, one for about eight.

    Raises:
        TypeError: If *data* is not bytes, or an argument is wrong.

    >>> split_bytes(b"data: 1", size=3, empty=False)
    [b'dat', b'a: ', b'1']
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"data must be bytes, not {type(data).__name__}")
    whole = bytes(data)
    dice = Dice(seed, size)
    places = {place for span in dice.cuts(len(whole)) for place in span}
    if hard:
        places |= {match.start() for match in HARD.finditer(whole) if dice.flip()}
    blocks: list[bytes] = []
    for start, end in pairwise(sorted(places)):
        blocks += [b""] if empty and dice.below(EMPTY) == 0 else []
        blocks.append(whole[start:end])
    return blocks


EMPTY = 8  # one empty block for about so many
