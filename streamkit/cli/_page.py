"""
A stream as a page for a person: what `streamkit show` prints.

`page` computes lines of raw text, `render` escapes and paints them, so that no
text of a stream reaches a terminal by another way.  Text of the stream is
indented below a head line of ours, so that it cannot pass for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from streamkit._converter import to_dict
from streamkit._errors import amount
from streamkit._kinds import dict_entries

from ._escape import escape_line, escape_text
from ._inputs import Found
from ._message import Part, parts_of
from ._values import flat, moment, object_of, spelled
from ._verdict import issue_lines, kind_of, state


__all__ = ["Line", "page", "render"]

BOLD, DIM, RESET = "\x1b[1m", "\x1b[2m", "\x1b[0m"
INDENT = "  "


@attrs.frozen
class Line:
    """
    A head line, or a text of several lines, as it came.

    Attributes:
        text: The raw text.
        level: How deep it is indented.
        style: How it is painted; of a head only.
        is_block: It may have several lines.
    """

    text: str
    level: int = 0
    style: str = ""
    is_block: bool = False


def render(lines: Iterable[Line], *, has_colour: bool) -> str:
    """Return *lines* escaped, indented and, with *has_colour*, painted."""
    return "".join(_render_line(line, has_colour=has_colour) + "\n" for line in lines)


def _render_line(line: Line, *, has_colour: bool) -> str:
    indent = INDENT * line.level
    if line.is_block:
        parts = escape_text(line.text).split("\n")
        return "\n".join(indent + part if part else "" for part in parts)
    text = escape_line(line.text)
    if has_colour and line.style:
        text = f"{line.style}{text}{RESET}"
    return indent + text


# -- The page ------------------------------------------------------------------------


def page(found: Found) -> Iterator[Line]:
    """Return the lines on the stream *found*."""
    outcome = found.outcome
    response = {} if outcome.response is None else to_dict(outcome.response)
    yield Line(_head(found, response), style=BOLD)
    for choice in dict_entries(response.get("choices")):
        yield from _choice(choice)
    usage = [f"{name} {value}" for name, value in flat(response.get("usage"))]
    if usage:
        yield Line("usage: " + " · ".join(usage), style=DIM)
    if outcome.error is not None:
        yield Line(f"error: {outcome.error.code}: {outcome.error}", style=BOLD)
    if outcome.issue_counts:
        yield Line("issues:", style=DIM)
    yield from (Line(issue, 1) for issue in issue_lines(outcome))


def _head(found: Found, response: dict[str, Any]) -> str:
    outcome = found.outcome
    facts = [
        found.source if found.number == 1 else f"{found.source} #{found.number}",
        kind_of(outcome),
        response.get("id"),
        response.get("model"),
        response.get("created") and moment(response["created"]),
        amount(outcome.chunks, "chunk"),
        state(outcome),
    ]
    return " · ".join(spelled(fact) for fact in facts if fact)


# -- A choice ------------------------------------------------------------------------


def _choice(choice: dict[str, Any]) -> Iterator[Line]:
    count = _count_logprobs(object_of(choice.get("logprobs")))
    facts = [
        f"choice {choice.get('index')}",
        f"finish_reason {spelled(choice.get('finish_reason') or 'none')}",
        f"logprobs {count}" if count else "no logprobs",
    ]
    yield Line(" · ".join(facts), style=BOLD)
    for part in parts_of(choice):
        yield from _part(part)


def _part(part: Part) -> Iterator[Line]:
    if part.kind == "data":
        return
    is_field = part.kind in ("reasoning", "text")
    yield Line(part.head + ":" * is_field, 1, "" if part.kind == "note" else DIM)
    if part.text:
        yield Line(part.text, 2, is_block=True)


def _count_logprobs(logprobs: dict[str, Any]) -> int:
    lists = [logprobs.get(name) for name in ("content", "refusal", "tokens")]
    return sum(len(entries) for entries in lists if isinstance(entries, list))
