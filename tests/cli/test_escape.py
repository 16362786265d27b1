"""Every code point that is not plainly visible is escaped, and no other."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from streamkit.cli._escape import escape_line, escape_text


ALL = range(sys.maxunicode + 1)
HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


@pytest.mark.parametrize("category", HIDDEN)
def test_hidden_categories_are_escaped(category):
    """All of them, whatever else Unicode says of the code point."""
    for code in ALL:
        if unicodedata.category(chr(code)) == category:
            assert escape_line(chr(code)) == ascii_escape(code)


def ascii_escape(code):
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def test_everything_else_is_shown():
    """All but the default ignorables, which are few."""
    escaped = {
        code
        for code in ALL
        if unicodedata.category(chr(code)) not in HIDDEN and escape_line(chr(code)) != chr(code)
    }
    assert escaped == {
        *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0),
        *range(0xFE00, 0xFE0E),
        *range(0xE0100, 0xE01F0),
    }


def test_text_keeps_newline_and_tab_only():
    """The two escapers differ in nothing else."""
    assert [c for c in map(chr, ALL) if escape_text(c) != escape_line(c)] == ["\t", "\n"]
    assert escape_text("a\n\tb") == "a\n\tb"


@pytest.mark.parametrize("code", [0x1B, 0x0D, 0x7F, 0x9B, 0x202E, 0x2066, 0x200B, 0x200D, 0xFEFF])
def test_named_dangers(code):
    """Those that a terminal or an editor obeys, spelled out."""
    assert escape_text(f"a{chr(code)}b") == f"a{ascii_escape(code)}b"


def test_tag_characters_and_lone_surrogates():
    """Invisible prompts, and what cannot be encoded."""
    assert escape_text("\U000e0041\ud83d") == "\\U000e0041\\ud83d"


def test_visible_text_stays():
    """Other scripts, emoji with their variation selector, odd spaces, backslashes."""
    text = "naïve 日本語 עברית ❤️ 👍🏽 a\u00a0b \\x1b"
    assert escape_text(text) == text
