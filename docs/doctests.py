"""For the site: examples in docstrings become blocks of code, which Markdown would not see."""

from __future__ import annotations

import re

from typing import Any

import griffe


__all__ = ["Doctests", "fenced"]

# From a prompt to the next blank line, or to the end.
EXAMPLE = re.compile(r"^( *)>>> .*(?:\n(?! *$).*)*(?:\n\n\1>>> .*(?:\n(?! *$).*)*)*", re.MULTILINE)


def fenced(text: str) -> str:
    r"""
    Return *text* with a fence around each example.

    >>> fenced("Adds.\n\n>>> 1 + 1\n2")
    'Adds.\n\n```pycon\n>>> 1 + 1\n2\n```'
    """
    return EXAMPLE.sub(lambda match: f"{match[1]}```pycon\n{match[0]}\n{match[1]}```", text)


class Doctests(griffe.Extension):
    """Fences the examples of every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of *obj*, when it has one."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
