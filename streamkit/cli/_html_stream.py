"""The parts of the HTML report on one stream: response, timing, logprobs, issues."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from streamkit._converter import to_dict
from streamkit._errors import amount
from streamkit._json import encode
from streamkit._kinds import dict_entries
from streamkit._outcome import Outcome

from ._html import block, element, facts, text, wide_table
from ._html_timeline import timeline
from ._message import Part, parts_of
from ._stats import NOT_TOKENS, timing_lines
from ._tokens import Token, least_sure, percent, perplexity, token_lists
from ._trace import Traced
from ._values import flat, moment, spelled
from ._verdict import issue_lines, kind_of, reasons, state


__all__ = ["stream_section"]

LEAST = 20
# The least probability of each shade, and what it is called.
SHADES = (
    (0.9, "p4", "≥ 90 %"),
    (0.6, "p3", "≥ 60 %"),
    (0.3, "p2", "≥ 30 %"),
    (0.1, "p1", "≥ 10 %"),
)
WORST, UNKNOWN = "p0", "pu"


def stream_section(source: str, traced: Traced, name: str) -> Iterator[str]:
    """
    Yield the section on the stream *traced*.

    Args:
        source: The file it was in.
        traced: The stream.
        name: What the section is called in links.
    """
    outcome = traced.outcome
    response = {} if outcome.response is None else to_dict(outcome.response)
    yield f'<section id="{name}" aria-labelledby="{name}-head">\n'
    yield element("h2", text(f"{source} · stream {traced.number}"), id=f"{name}-head") + "\n"
    yield _verdict(outcome)
    yield facts(_head(response, traced)) + "\n"
    for choice in dict_entries(response.get("choices")):
        yield from _choice(choice, f"{name}-{text(choice.get('index'))}")
    yield from _timing(traced, name)
    yield from _issues(outcome)
    yield "</section>\n"


def _verdict(outcome: Outcome) -> str:
    word = state(outcome)
    why = "" if outcome.complete else ": " + text(reasons(outcome))
    return f'<p><span class="{word}">{word}</span>{why}</p>\n'


def _head(response: dict[str, Any], traced: Traced) -> Iterator[tuple[str, str]]:
    yield "kind", kind_of(traced.outcome) or "-"
    for name in ("id", "model", "created", "system_fingerprint", "service_tier"):
        if response.get(name):
            yield name, moment(response[name]) if name == "created" else spelled(response[name])
    yield "chunks", str(traced.outcome.chunks)
    yield "bytes", str(traced.size)
    yield from flat(response.get("usage"))


# -- The response --------------------------------------------------------------------


def _choice(choice: dict[str, Any], name: str) -> Iterator[str]:
    finish = spelled(choice.get("finish_reason") or "none")
    yield element("h3", text(f"Choice {choice.get('index')} · finish reason {finish}")) + "\n"
    yield from map(_part, parts_of(choice))
    for label, tokens in token_lists(choice):
        yield from _logprobs(label, tokens, f"{name}-{label}")


def _part(part: Part) -> str:
    shown = f'<pre dir="auto">{block(part.text)}</pre>' if part.text else ""
    if part.kind == "reasoning":
        return f"<details><summary>{text(part.head)}</summary>{shown}</details>\n"
    return element("h4", text(part.head)) + shown + "\n"


# -- Log probabilities ---------------------------------------------------------------


def _logprobs(label: str, tokens: Sequence[Token], name: str) -> Iterator[str]:
    surprise = perplexity(tokens)
    words = "unknown" if surprise is None else f"{surprise:.4g}"
    yield element("h4", text(f"Log probabilities of {label}")) + "\n"
    yield element("p", f"{amount(len(tokens), 'token')} · perplexity {words}", class_="note") + "\n"
    yield _legend()
    least = least_sure(tokens, LEAST)
    yield from _heat(tokens, {place for place, _ in least}, name)
    rows = (_token_row(place, token, name) for place, token in least)
    yield from wide_table(
        f"The least sure tokens of {label}",
        ("position", "token", "probability", "instead"),
        rows,
        numbers=(0, 2),
    )


def _legend() -> str:
    shades = [(shade, words) for _, shade, words in SHADES]
    shades += [(WORST, "less"), (UNKNOWN, "unknown")]
    items = [f'<li class="{shade}">{words}</li>' for shade, words in shades]
    return element("ul", "".join(items), class_="legend", aria_label="Probability") + "\n"


def _heat(tokens: Sequence[Token], linked: set[int], name: str) -> Iterator[str]:
    """Yield the text; the least sure tokens are links to what else there might have been."""
    yield '<pre class="heat" dir="auto">'
    for place, token in enumerate(tokens):
        title = text(_title(token))
        start = f'class="{_shade(token)}" title="{title}">{block(token.text)}'
        if place in linked:
            yield f'<a href="#{name}-{place}" {start}</a>'
        else:
            yield f"<span {start}</span>"
    yield "</pre>\n"


def _shade(token: Token) -> str:
    probability = token.probability
    if probability is None:
        return UNKNOWN
    return next((shade for least, shade, _ in SHADES if probability >= least), WORST)


def _title(token: Token) -> str:
    return " · ".join([f"{encode(token.text)} {percent(token.logprob)}", *_others(token)])


def _others(token: Token) -> Iterator[str]:
    for other, logprob in token.alternatives:
        if other != token.text:
            yield f"{encode(other)} {percent(logprob)}"


def _token_row(place: int, token: Token, name: str) -> str:
    others = ", ".join(element("span", text(other), class_="whole") for other in _others(token))
    return (
        f'<tr id="{name}-{place}"><td class="n">{place}</td>'
        f'<td class="x"><span class="{_shade(token)}">{text(encode(token.text))}</span></td>'
        f'<td class="n">{text(percent(token.logprob))}</td>'
        f'<td class="x">{others or "-"}</td></tr>\n'
    )


# -- Timing and issues ---------------------------------------------------------------


def _timing(traced: Traced, name: str) -> Iterator[str]:
    timing = traced.outcome.timing
    yield "<h3>Timing</h3>\n"
    yield facts(timing_lines(timing)) + "\n"
    if timing is not None:
        yield element("p", text(NOT_TOKENS), class_="note") + "\n"
        yield from timeline(timing, traced.times, f"{name}-line")


def _issues(outcome: Outcome) -> Iterator[str]:
    yield "<h3>Issues</h3>\n"
    if not outcome.issue_counts:
        yield '<p class="note">none</p>\n'
        return
    items = [element("li", text(line)) for line in issue_lines(outcome)]
    yield element("ul", "\n".join(items)) + "\n"
