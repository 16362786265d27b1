"""A text in pieces."""

from __future__ import annotations

from ._dice import Dice


__all__ = ["TextCutter"]

UNIT = 2  # bytes of UTF-16


class TextCutter:
    """
    Cut texts into pieces.

    Args:
        dice: Says how long each piece is.
        surrogates: Pieces may end between the halves of a surrogate pair, as with
            servers that count in UTF-16; a half is a lone surrogate then.
    """

    def __init__(self, dice: Dice, *, surrogates: bool) -> None:
        self.dice = dice
        self._surrogates = surrogates

    def pieces(self, text: str) -> list[str]:
        """Return the pieces of *text*; of an empty text it is one, which is empty."""
        if not self._surrogates or text.isascii():
            return [text[start:end] for start, end in self.dice.cuts(len(text))]
        units = text.encode("utf-16-le", "surrogatepass")
        return [
            units[UNIT * start : UNIT * end].decode("utf-16-le", "surrogatepass")
            for start, end in self.dice.cuts(len(units) // UNIT)
        ]
