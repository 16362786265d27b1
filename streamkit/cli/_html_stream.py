"""The parts of the HTML report on one stream: response, timing, logprobs, issues."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from streamkit._converter import to_dict
from streamkit._json import encode
from streamkit._outcome import Outcome

from ._html import block, element, facts, text, wide_table
from ._html_timeline import timeline
from ._page import REASONING
from ._pretty import pretty_json
from ._stats import NOT_TOKENS, timing_lines
from ._tokens import Token, least_sure, percent, perplexity, token_lists
from ._trace import Traced
from ._verdict import kind_of, reasons, state


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
    for choice in _dicts(response.get("choices")):
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
            yield name, _word(response[name])
    yield "chunks", str(traced.outcome.chunks)
    yield "bytes", str(traced.size)
    for name, value in _flat(response.get("usage")):
        yield name, value


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, member in value.items() if isinstance(value, dict) else ():
        if isinstance(member, dict):
            yield from _flat(member, f"{prefix}{name}.")
        elif member is not None:
            yield f"{prefix}{name}", _word(member)


# -- The response --------------------------------------------------------------------


def _choice(choice: dict[str, Any], name: str) -> Iterator[str]:
    finish = _word(choice.get("finish_reason") or "none")
    yield element("h3", text(f"Choice {choice.get('index')} · finish reason {finish}")) + "\n"
    message = choice.get("message")
    if "text" in choice:
        yield _pre("text", choice["text"])
    if isinstance(message, dict):
        yield from _message(message)
    for label, tokens in token_lists(choice):
        yield from _logprobs(label, tokens, f"{name}-{label}")


def _message(message: dict[str, Any]) -> Iterator[str]:
    for name in REASONING:
        if message.get(name):
            yield f"<details><summary>{name}</summary>{_pre('', message[name])}</details>\n"
    for name, value in message.items():
        if name in ("role", "tool_calls", "function_call", *REASONING) or not value:
            continue
        yield _pre(name, value)
    for call in _dicts(message.get("tool_calls")):
        yield _call(f"tool call {_word(call.get('id') or '')}", call.get("function"))
        yield _call(f"tool call {_word(call.get('id') or '')}", call.get("custom"))
    yield _call("function call", message.get("function_call"))


def _call(head: str, function: Any) -> str:
    if not isinstance(function, dict):
        return ""
    arguments = _word(function.get("arguments") or function.get("input") or "")
    return _pre(f"{head} · {_word(function.get('name') or '(no name)')}", pretty_json(arguments))


def _pre(head: str, value: Any) -> str:
    title = element("h4", text(head)) if head else ""
    shown = value if isinstance(value, str) else encode(value, indent=2)
    return f'{title}<pre dir="auto">{block(shown)}</pre>\n'


# -- Log probabilities ---------------------------------------------------------------


def _logprobs(label: str, tokens: Sequence[Token], name: str) -> Iterator[str]:
    surprise = perplexity(tokens)
    words = "unknown" if surprise is None else f"{surprise:.4g}"
    yield element("h4", text(f"Log probabilities of {label}")) + "\n"
    yield element("p", f"{len(tokens)} tokens · perplexity {words}", class_="note") + "\n"
    yield _legend()
    least = least_sure(tokens, LEAST)
    yield from _heat(tokens, {place for place, _ in least}, name)
    rows = (_token_row(place, token, name) for place, token in least)
    yield from wide_table(
        f"The least sure tokens of {label}", ("position", "token", "probability", "instead"), rows
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
    return (
        f'<tr id="{name}-{place}"><td class="n">{place}</td>'
        f'<td class="x {_shade(token)}">{text(encode(token.text))}</td>'
        f'<td class="n">{text(percent(token.logprob))}</td>'
        f'<td class="x">{text(", ".join(_others(token)) or "-")}</td></tr>\n'
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
    kept = [element("li", text(issue)) for issue in outcome.issues]
    for code, count in outcome.issue_counts.items():
        if sum(issue.code == code for issue in outcome.issues) < count:
            kept.append(element("li", text(f"{code}: {count} in all")))
    yield element("ul", "\n".join(kept)) + "\n"


# -- Values, which are of any type ---------------------------------------------------


def _word(value: Any) -> str:
    return value if isinstance(value, str) else encode(value)


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
