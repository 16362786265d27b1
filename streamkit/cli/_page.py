"""
A stream as a page for a person: what `streamkit show` prints.

`page` computes lines of raw text, `render` escapes and paints them, so that no
text of a stream reaches a terminal by another way.  Text of the stream is
indented below a head line of ours, so that it cannot pass for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs

from streamkit._converter import to_dict
from streamkit._json import encode
from streamkit._outcome import Outcome

from ._escape import escape_line, escape_text
from ._inputs import Found
from ._pretty import pretty_json
from ._verdict import kind_of, state


__all__ = ["Line", "page", "render"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BOLD, DIM, RESET = "\x1b[1m", "\x1b[2m", "\x1b[0m"
INDENT = "  "

# Shown above the content, under these names; other texts of a message follow it.
REASONING = ("reasoning_content", "reasoning", "thinking")


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
    for choice in _dicts(response.get("choices")):
        yield from _choice(choice)
    usage = list(_flat(response.get("usage")))
    if usage:
        yield Line("usage: " + " · ".join(usage), style=DIM)
    if outcome.error is not None:
        yield Line(f"error: {outcome.error.code}: {outcome.error}", style=BOLD)
    yield from _issues(outcome)


def _head(found: Found, response: dict[str, Any]) -> str:
    outcome = found.outcome
    facts = [
        found.source if found.number == 1 else f"{found.source} #{found.number}",
        kind_of(outcome),
        response.get("id"),
        response.get("model"),
        _utc(response.get("created")),
        f"{outcome.chunks} chunk" + "s" * (outcome.chunks != 1),
        state(outcome),
    ]
    return " · ".join(_text(fact) for fact in facts if fact)


def _utc(created: Any) -> str | None:
    """Return the Unix time *created* in words; one beyond the calendar as it is."""
    if not created or type(created) not in (int, float):
        return created and _text(created)
    try:
        return f"{EPOCH + timedelta(seconds=created):%Y-%m-%d %H:%M:%S} UTC"
    except OverflowError:
        return str(created)


def _issues(outcome: Outcome) -> Iterator[Line]:
    """Say what was noticed, and how often where not each instance was kept."""
    if outcome.issue_counts:
        yield Line("issues:", style=DIM)
    for issue in outcome.issues:
        yield Line(str(issue), 1)
    for code, count in outcome.issue_counts.items():
        kept = sum(issue.code == code for issue in outcome.issues)
        if kept < count:
            yield Line(f"{code}: {count} in all", 1)


def _flat(usage: Any, prefix: str = "") -> Iterator[str]:
    for name, value in _dict(usage).items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        elif value is not None:
            yield f"{prefix}{name} {_text(value)}"


# -- A choice ------------------------------------------------------------------------


def _choice(choice: dict[str, Any]) -> Iterator[Line]:
    count = _count_logprobs(_dict(choice.get("logprobs")))
    facts = [
        f"choice {choice.get('index')}",
        f"finish_reason {_text(choice.get('finish_reason') or 'none')}",
        f"logprobs {count}" if count else "no logprobs",
    ]
    yield Line(" · ".join(facts), style=BOLD)
    if "text" in choice:
        yield from _section("text", choice["text"])
    yield from _message(_dict(choice.get("message")))


def _count_logprobs(logprobs: dict[str, Any]) -> int:
    lists = [logprobs.get(name) for name in ("content", "refusal", "tokens")]
    return sum(len(entries) for entries in lists if isinstance(entries, list))


def _message(message: dict[str, Any]) -> Iterator[Line]:
    for name in REASONING:
        yield from _section(name, message.get(name))
    if not any(message.get(name) for name in REASONING):
        yield from _reasoning_details(message)
    yield from _content(message.get("content"))
    yield from _section("refusal", message.get("refusal"))
    for name, value in message.items():
        if isinstance(value, str) and name not in ("role", "content", "refusal", *REASONING):
            yield from _section(name, value)
    for call in _dicts(message.get("tool_calls")):
        yield from _tool_call(call)
    if message.get("function_call"):
        yield from _call("function call", _dict(message["function_call"]))
    yield from _section("audio transcript", _dict(message.get("audio")).get("transcript"))
    for note in _dicts(message.get("annotations")):
        citation = _dict(note.get("url_citation"))
        where = [_text(citation[key]) for key in ("title", "url") if citation.get(key)]
        yield Line(" · ".join(["annotation", *where]), 1)


def _reasoning_details(message: dict[str, Any]) -> Iterator[Line]:
    for detail in _dicts(message.get("reasoning_details")):
        for name in ("text", "summary"):
            yield from _section(f"reasoning {name}", detail.get(name))


def _content(content: Any) -> Iterator[Line]:
    if not isinstance(content, list):
        yield from _section("content", content)
        return
    for part in content:
        kind = _text(_dict(part).get("type") or "part")
        texts = [_dict(part).get(name) for name in ("text", "thinking", "refusal")]
        yield from _section(f"content {kind}", next(filter(None, texts), part))


def _tool_call(call: dict[str, Any]) -> Iterator[Line]:
    name = " · ".join(["tool call", *filter(None, [_text(call.get("id"))])])
    yield from _call(name, _dict(call.get("function")) or _dict(call.get("custom")))


def _call(head: str, function: dict[str, Any]) -> Iterator[Line]:
    yield Line(f"{head} · {_text(function.get('name') or '(no name)')}", 1, DIM)
    arguments = _text(function.get("arguments") or function.get("input"))
    if arguments:
        yield Line(pretty_json(arguments), 2, is_block=True)


def _section(name: str, value: Any) -> Iterator[Line]:
    if value:
        yield Line(f"{name}:", 1, DIM)
        yield Line(_text(value), 2, is_block=True)


# -- Values, which are of any type: they are kept as the server sent them ------------


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else encode(value)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
