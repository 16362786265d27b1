r"""
Text of a stream, made safe to show.

A terminal obeys escape sequences, an editor obeys bidirectional overrides, and a
person sees nothing of zero-width and tag characters.  So whatever is not plainly
visible is shown as a Python escape, such as `\x1b` or `\u202e`:

- controls, format characters, surrogates, private use and unassigned code points
  (the categories C*), and the separators of lines and paragraphs (Zl, Zp);
- what Unicode lists as default ignorable, but for the two variation selectors
  that emoji need.

Two choices make this simple rather than pretty: zero-width joiners are escaped
within emoji too, and a backslash stays one, so that text which spells an escape
looks like one.
"""

from __future__ import annotations

import unicodedata


__all__ = ["escape_line", "escape_text"]

# Default_Ignorable_Code_Point (DerivedCoreProperties.txt) that no category above
# has, without U+FE0E and U+FE0F: fillers, joiners and variation selectors.
IGNORABLE = frozenset(
    {
        0x034F,
        *range(0x115F, 0x1161),
        *range(0x17B4, 0x17B6),
        *range(0x180B, 0x1810),
        0x3164,
        *range(0xFE00, 0xFE0E),
        0xFFA0,
        *range(0xE0100, 0xE01F0),
    }
)
LAST_BYTE = 0xFF
LAST_BMP = 0xFFFF


def _is_shown(code: int) -> bool:
    character = chr(code)
    is_plain = character.isprintable() or unicodedata.category(character) == "Zs"
    return is_plain and code not in IGNORABLE


def _spell(code: int) -> str:
    if code <= LAST_BYTE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= LAST_BMP else f"\\U{code:08x}"


class _Escapes(dict[int, str]):
    """What each code point is shown as: a table for `str.translate`, filled when asked."""

    def __missing__(self, code: int) -> str:
        self[code] = shown = chr(code) if _is_shown(code) else _spell(code)
        return shown


_LINE = _Escapes()
_TEXT = _Escapes({ord(kept): kept for kept in "\n\t"})


def escape_line(text: str) -> str:
    r"""
    Return *text* as it may stand within a line: a name, an id, a message.

    >>> print(escape_line("two\nlines"))
    two\x0alines
    """
    return text.translate(_LINE)


def escape_text(text: str) -> str:
    r"""
    Return *text* as it may be shown over several lines: newlines and tabs stay.

    >>> print(escape_text("\x1b[2J\u202e"))
    \x1b[2J\u202e
    """
    return text.translate(_TEXT)
