"""The log probabilities of a response, token by token, in one shape for both kinds."""

from __future__ import annotations

import math

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from ._values import object_of, spelled


__all__ = ["Token", "least_sure", "percent", "perplexity", "token_lists"]

LEAST_SHOWN = 0.1


@attrs.frozen
class Token:
    """
    A token of the response.

    Attributes:
        text: Its text, raw; part of a character may be spelled as an escape.
        logprob: Its natural log probability; None if there is no usable number.
        alternatives: The likeliest tokens there, with their log probabilities.
    """

    text: str
    logprob: float | None
    alternatives: Sequence[tuple[str, float | None]] = ()

    @property
    def probability(self) -> float | None:
        """Its probability, from 0 to 1."""
        return None if self.logprob is None else math.exp(min(self.logprob, 0.0))


def token_lists(choice: dict[str, Any]) -> Iterator[tuple[str, list[Token]]]:
    """Yield the name and the tokens of each list of log probabilities of *choice*."""
    logprobs = choice.get("logprobs")
    if not isinstance(logprobs, dict):
        return
    for name in ("content", "refusal"):
        entries = logprobs.get(name)
        if isinstance(entries, list) and entries:
            yield name, [_of_entry(entry) for entry in entries]
    if isinstance(logprobs.get("tokens"), list) and logprobs["tokens"]:
        yield "text", list(_of_columns(logprobs))


def _of_entry(entry: Any) -> Token:
    entry = entry if isinstance(entry, dict) else {}
    top = entry.get("top_logprobs")
    pairs = [
        (_text(other.get("token")), _number(other.get("logprob")))
        for other in (top if isinstance(top, list) else [])
        if isinstance(other, dict)
    ]
    return Token(_text(entry.get("token")), _number(entry.get("logprob")), pairs)


def _of_columns(logprobs: dict[str, Any]) -> Iterator[Token]:
    for place, token in enumerate(logprobs["tokens"]):
        top = object_of(_at(logprobs.get("top_logprobs"), place))
        pairs = [(text, _number(value)) for text, value in top.items()]
        yield Token(_text(token), _number(_at(logprobs.get("token_logprobs"), place)), pairs)


def _at(column: Any, place: int) -> Any:
    return column[place] if isinstance(column, list) and place < len(column) else None


def _text(token: Any) -> str:
    return "" if token is None else spelled(token)


def _number(value: Any) -> float | None:
    """Return *value* as a log probability; -inf and the like are none that can be counted."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) < math.inf else None


def perplexity(tokens: Sequence[Token]) -> float | None:
    """
    Return exp of the mean surprise of *tokens*; None if no log probability is known.

    >>> perplexity([Token("a", math.log(0.5)), Token("b", math.log(0.5))])
    2.0
    """
    known = [token.logprob for token in tokens if token.logprob is not None]
    if not known:
        return None
    try:
        return math.exp(-math.fsum(known) / len(known))
    except OverflowError:
        return math.inf


def least_sure(tokens: Sequence[Token], count: int) -> list[tuple[int, Token]]:
    """Return the *count* least sure of *tokens*, with their positions, the least sure first."""
    known = [(place, token) for place, token in enumerate(tokens) if token.logprob is not None]
    return sorted(known, key=lambda pair: (pair[1].logprob, pair[0]))[:count]


def percent(logprob: float | None) -> str:
    """
    Return a log probability as a percentage.

    >>> percent(-0.1), percent(-20), percent(None)
    ('90.5 %', '<0.1 %', '?')
    """
    if logprob is None:
        return "?"
    value = 100 * math.exp(min(logprob, 0.0))
    return f"{value:.1f} %" if value >= LEAST_SHOWN else f"<{LEAST_SHOWN} %"
