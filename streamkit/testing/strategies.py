"""
Hypothesis strategies: full responses, chunk streams of them, orders, and splits.

What they draw can be streamed: `finalize(chunk_up(response)) == response` holds for
each response.  Needs the extra `testing`.

>>> from hypothesis import given, settings
>>> from streamkit import finalize
>>> from streamkit.testing import chunk_up
>>> @settings(deadline=None, max_examples=10)
... @given(responses())
... def test_comes_back(response):
...     assert finalize(chunk_up(response)) == response
>>> test_comes_back()
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeVar

from streamkit._converter import from_dict
from streamkit._kinds import Kind
from streamkit._models import ChatCompletion, Completion

from ._chunk_up import chunk_up
from ._dialects import DIALECTS, USAGE_FORMS, Dialect, UsageForm
from ._drawn_logprobs import chat_logprobs, columns
from ._drawn_messages import messages
from ._drawn_objects import COUNTS, REASONS, TEXTS, WORDS, Objects, known
from ._hypothesis import st


__all__ = [
    "chat_completions",
    "chunk_streams",
    "completions",
    "interleavings",
    "responses",
    "splits",
]

T = TypeVar("T")

# -- Full responses ------------------------------------------------------------------

_usage = known(
    {"prompt_tokens": COUNTS, "completion_tokens": COUNTS, "total_tokens": COUNTS},
    {
        "prompt_tokens_details": known({"cached_tokens": COUNTS}, {}),
        "completion_tokens_details": known({"reasoning_tokens": COUNTS}, {}),
    },
)
_filters = st.dictionaries(
    st.sampled_from(["hate", "violence"]), st.just({"filtered": False}), min_size=1
)
_indexes = st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True).map(sorted)


def _head(name: str) -> Objects:
    return known(
        {"id": WORDS, "object": st.just(name), "created": COUNTS, "model": WORDS},
        {
            "usage": _usage,
            "system_fingerprint": WORDS,
            "service_tier": WORDS,
            "citations": st.lists(WORDS, min_size=1, max_size=2),
            "prompt_filter_results": st.lists(_filters, min_size=1, max_size=1),
        },
    )


_choice = known({"finish_reason": REASONS}, {"content_filter_results": _filters, "seed": COUNTS})


@st.composite
def chat_completions(draw: st.DrawFn, *, finished: bool = True) -> ChatCompletion:
    """
    Draw full chat completions.

    Args:
        draw: Given by Hypothesis.
        finished: Each choice has a finish reason; else some have none, as after a cut.
    """
    choices = []
    for index in draw(_indexes):
        message = draw(messages)
        choice = {**draw(_choice), "index": index, "message": message}
        choice["logprobs"] = draw(st.none() | chat_logprobs(message))
        choices.append(_maybe_cut(choice, finished=finished or draw(st.booleans())))
    response: ChatCompletion = from_dict({**draw(_head("chat.completion")), "choices": choices})
    return response


@st.composite
def completions(draw: st.DrawFn, *, finished: bool = True) -> Completion:
    """Draw full legacy completions; *finished* as for `chat_completions`."""
    choices = []
    for index in draw(_indexes):
        text = draw(TEXTS)
        choice = {**draw(_choice), "index": index, "text": text}
        choice["logprobs"] = draw(st.none() | columns(text))
        choice["tokens"] = draw(st.none() | st.lists(COUNTS, max_size=4))
        choices.append(_maybe_cut(choice, finished=finished or draw(st.booleans())))
    response: Completion = from_dict({**draw(_head("text_completion")), "choices": choices})
    return response


def _maybe_cut(choice: dict[str, Any], *, finished: bool) -> dict[str, Any]:
    return choice if finished else {**choice, "finish_reason": None}


def responses(
    kind: Kind | None = None, *, finished: bool = True
) -> st.SearchStrategy[ChatCompletion | Completion]:
    """
    Return the strategy of full responses.

    Args:
        kind: `"chat"` or `"completion"`; None: both.
        finished: As for `chat_completions`.

    Raises:
        TypeError: If *kind* is unknown.
    """
    if kind not in {"chat", "completion", None}:
        raise TypeError(f"kind must be 'chat', 'completion' or None, not {kind!r}")
    chat = chat_completions(finished=finished)
    text = completions(finished=finished)
    return chat if kind == "chat" else text if kind == "completion" else chat | text


# -- Streams -------------------------------------------------------------------------


SHOWN: list[UsageForm] = [form for form in USAGE_FORMS if form != "none"]


@st.composite
def chunk_streams(
    draw: st.DrawFn,
    response: Any = None,
    *,
    kind: Kind | None = None,
    dialects: Sequence[str | Dialect] = tuple(DIALECTS),
) -> list[dict[str, Any]]:
    """
    Draw the chunks of *response*: of all sizes and orders, in all dialects.

    Args:
        draw: Given by Hypothesis.
        response: As for `chunk_up`; None: one of `responses`.
        kind: Of the response that is drawn.
        dialects: Those to draw from.

    Raises:
        Unstreamable: If no chunks give *response* back.
    """
    if response is None:
        response = draw(responses(kind))
    return chunk_up(
        response,
        seed=draw(st.integers(0, 2**32)),
        size=draw(st.integers(1, 12)),
        interleave=draw(st.booleans()),
        usage=draw(st.none() | st.sampled_from(SHOWN)),
        dialect=draw(st.sampled_from(dialects)),
        surrogates=draw(st.booleans()),
    )


@st.composite
def interleavings(draw: st.DrawFn, lanes: Sequence[Sequence[T]]) -> list[T]:
    """Draw the items of *lanes* in any order that keeps the order in each lane."""
    numbers = [number for number, lane in enumerate(lanes) for _ in lane]
    heads = [iter(lane) for lane in lanes]
    return [next(heads[number]) for number in draw(st.permutations(numbers))]


@st.composite
def splits(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """Draw *data* cut into blocks anywhere, some of them empty."""
    cuts = draw(st.lists(st.integers(0, len(data)), max_size=8))
    places = [0, *sorted(cuts), len(data)]
    return [data[start:end] for start, end in pairwise(places)]
