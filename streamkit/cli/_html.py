"""
The ground of the HTML report: escaping, elements, and the page around its parts.

The page needs no script and no network.  Its policy allows nothing but the one
style sheet it carries, named by its hash; so nothing in it may have a `style` of
its own.  All text goes through `text` or `block`.
"""

from __future__ import annotations

import base64
import hashlib
import html

from collections.abc import Container, Iterable, Iterator

from ._escape import escape_line, escape_text
from ._html_style import STYLE


__all__ = ["block", "document", "element", "facts", "text", "wide_table"]


def text(raw: object) -> str:
    """Return *raw* as it may stand within a line of the page, and in an attribute."""
    return html.escape(escape_line(str(raw)))


def block(raw: str) -> str:
    """Return *raw* as it may be shown over several lines."""
    return html.escape(escape_text(raw))


def element(name: str, content: str, **attributes: object) -> str:
    """Return an element of *content*, which is HTML; `class_` is `class`."""
    pairs = [
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' for key, value in attributes.items()
    ]
    return f"<{name}{''.join(pairs)}>{content}</{name}>"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names and raw values as a list of definitions."""
    items = [f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in pairs]
    return element("dl", "".join(items), class_="facts")


def wide_table(
    caption: str, head: Iterable[str], rows: Iterable[str], *, numbers: Container[int]
) -> Iterator[str]:
    """Yield a table that scrolls by itself; *rows* are HTML, *numbers* columns of such."""
    yield f'<div class="wide" role="region" aria-label="{text(caption)}" tabindex="0">'
    cells = "".join(
        element("th", text(name), scope="col", **({"class_": "n"} if place in numbers else {}))
        for place, name in enumerate(head)
    )
    yield f"<table><caption>{text(caption)}</caption><thead><tr>{cells}</tr></thead><tbody>"
    yield from rows
    yield "</tbody></table></div>\n"


def document(title: str, body: Iterable[str]) -> Iterator[str]:
    """Yield the page called *title* around *body*."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#main">Skip to the streams</a>\n'
        f'<header><h1>{text(title)}</h1></header>\n<main id="main" tabindex="-1">\n'
    )
    yield from body
    yield "</main>\n</body>\n</html>\n"
