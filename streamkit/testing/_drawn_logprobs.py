"""Strategies for log probabilities, in both shapes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ._drawn_objects import COUNTS, LOGPROBS, TEXTS, known
from ._hypothesis import st


__all__ = ["chat_logprobs", "columns"]


def _split_text(text: str, cuts: list[int]) -> list[str]:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    return [text[start:end] for start, end in pairwise(places)]


@st.composite
def _tokens(draw: st.DrawFn, text: Any) -> list[str]:
    """Draw tokens that make up *text*, or others: a token may be part of a character."""
    if isinstance(text, str) and draw(st.booleans()):
        return _split_text(text, draw(st.lists(st.integers(0, 12), max_size=4)))
    return draw(st.lists(TEXTS, max_size=4))


@st.composite
def _entries(draw: st.DrawFn, text: Any) -> list[dict[str, Any]]:
    """Draw the entries of chat log probabilities for *text*."""
    bytes_of = st.none() | st.lists(st.integers(0, 255), max_size=3)
    top = st.lists(known({"token": TEXTS, "logprob": LOGPROBS, "bytes": bytes_of}, {}), max_size=2)
    return [
        {
            "token": token,
            **draw(known({"logprob": LOGPROBS, "bytes": bytes_of}, {"top_logprobs": top})),
        }
        for token in draw(_tokens(text))
    ]


@st.composite
def columns(draw: st.DrawFn, text: str) -> dict[str, Any]:
    """Draw the parallel lists of legacy log probabilities for *text*."""
    tokens = draw(_tokens(text))
    count = len(tokens)
    alternatives = st.none() | st.dictionaries(TEXTS, LOGPROBS, max_size=2)
    offsets = sorted(draw(st.lists(COUNTS, min_size=count, max_size=count)))
    lists = st.lists
    return {
        "tokens": tokens,
        "token_logprobs": draw(lists(st.none() | LOGPROBS, min_size=count, max_size=count)),
        "top_logprobs": draw(st.none() | lists(alternatives, min_size=count, max_size=count)),
        "text_offset": draw(st.sampled_from([offsets, None])),
    }


@st.composite
def chat_logprobs(draw: st.DrawFn, message: dict[str, Any]) -> dict[str, Any]:
    """Draw the log probabilities of the texts of *message*."""
    return {name: draw(st.none() | _entries(message.get(name))) for name in ("content", "refusal")}
