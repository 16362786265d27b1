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

import base64

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeVar

from streamkit._converter import from_dict
from streamkit._errors import NotInstalled
from streamkit._json import encode
from streamkit._kinds import Kind
from streamkit._models import ChatCompletion, Completion
from streamkit._rules import CHUNK, RULES

from ._chunk_up import chunk_up
from ._dialects import DIALECTS, USAGE_FORMS, Dialect, UsageForm


try:
    from hypothesis import strategies as st
except ImportError:
    raise NotInstalled(
        "streamkit.testing.strategies needs Hypothesis: install streamkit-llm[testing]"
    ) from None


__all__ = [
    "chat_completions",
    "chunk_streams",
    "completions",
    "interleavings",
    "responses",
    "splits",
]

T = TypeVar("T")
Objects = st.SearchStrategy[dict[str, Any]]

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
WORDS = st.text("abcdefghijklmnopqrstuvwxyz-0123456789", min_size=1, max_size=8)
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9)
COUNTS = st.integers(0, 10_000)
LOGPROBS = st.floats(-30, 0)
REASONS = st.sampled_from(["stop", "length", "tool_calls", "content_filter"])


# -- Fields that nobody has heard of -------------------------------------------------

# Names that mean something, at whatever level.
KNOWN = frozenset({*CHUNK.fields, *RULES["completion"].choice.fields, *RULES["chat"].delta.fields})
KNOWN |= RULES["chat"].delta.identities | {"x_groq", "seed", "custom", "function"}
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6).filter(
    lambda name: name not in KNOWN and not name.endswith("_id")
)


def _json(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner | st.none(), min_size=1, max_size=2)
            | st.dictionaries(NAMES, inner, max_size=2)
        ),
        max_leaves=4,
    )


# Null says nothing in any merge, and a string or list of nothing hardly more.
VALUES = _json(st.booleans() | NUMBERS | TEXTS.filter(bool))


def _known(required: dict[str, Any], optional: dict[str, Any]) -> Objects:
    """Return objects of known fields, some with one or two that nobody has heard of."""
    known = st.fixed_dictionaries(required, optional=optional)
    names = {*required, *optional}
    # Drawn for each object, and so not often: it takes most of the time.
    nothing: Objects = st.just({})
    some = st.dictionaries(
        NAMES.filter(lambda name: name not in names), VALUES, min_size=1, max_size=2
    )
    strange = nothing | nothing | nothing | some
    return st.builds(lambda one, other: {**other, **one}, known, strange)


# -- Parts of messages ---------------------------------------------------------------

_citation = _known(
    {"type": st.just("url_citation"), "url_citation": _known({"url": TEXTS}, {"title": TEXTS})}, {}
)
_annotations = st.lists(_citation, max_size=2, unique_by=repr) | _known({"files": VALUES}, {})
_audio = _known(
    {"id": WORDS},
    {
        "data": st.binary(max_size=9).map(lambda data: base64.b64encode(data).decode()),
        "transcript": TEXTS,
        "expires_at": COUNTS,
    },
)
_function = _known({"name": WORDS, "arguments": TEXTS | VALUES.map(encode)}, {})
_call = _known({"id": WORDS, "type": st.just("function"), "function": _function}, {}) | _known(
    {"id": WORDS, "type": st.just("custom"), "custom": _known({"name": WORDS, "input": TEXTS}, {})},
    {},
)
_detail: Objects = st.fixed_dictionaries(
    {"type": st.sampled_from(["reasoning.text", "reasoning.summary", "reasoning.encrypted"])},
    optional={"text": TEXTS, "summary": TEXTS, "data": TEXTS, "id": WORDS, "signature": WORDS},
)


@st.composite
def _details(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw reasoning details: each has an index of its own, or none."""
    entries = draw(st.lists(_detail, min_size=1, max_size=3))
    for index, entry in enumerate(entries):
        if draw(st.booleans()):
            entry["index"] = index
    return entries


@st.composite
def _parts(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw content in parts, no two neighbours of a type that merges."""
    text = _known({"type": st.just("text"), "text": TEXTS}, {})
    image = _known({"type": st.just("image_url"), "image_url": VALUES}, {})
    thinking = _known(
        {"type": st.just("thinking"), "thinking": TEXTS | text.map(lambda part: [part])}, {}
    )
    parts = draw(st.lists(text | thinking | image, min_size=1, max_size=4))
    return [
        part
        for part, before in zip(parts, [{}, *parts], strict=False)
        if part["type"] == "image_url" or part["type"] != before.get("type")
    ]


_message = _known(
    {"role": st.just("assistant") | WORDS, "content": st.none() | TEXTS | _parts()},
    {
        "refusal": TEXTS,
        "reasoning_content": TEXTS,
        "reasoning": TEXTS,
        "reasoning_details": _details(),
        "tool_calls": st.lists(_call, min_size=1, max_size=3),
        "function_call": _function,
        "audio": _audio,
        "annotations": _annotations,
    },
)


# -- Log probabilities ---------------------------------------------------------------


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
    top = st.lists(_known({"token": TEXTS, "logprob": LOGPROBS, "bytes": bytes_of}, {}), max_size=2)
    return [
        {
            "token": token,
            **draw(_known({"logprob": LOGPROBS, "bytes": bytes_of}, {"top_logprobs": top})),
        }
        for token in draw(_tokens(text))
    ]


@st.composite
def _columns(draw: st.DrawFn, text: str) -> dict[str, Any]:
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
def _chat_logprobs(draw: st.DrawFn, message: dict[str, Any]) -> dict[str, Any]:
    return {name: draw(st.none() | _entries(message.get(name))) for name in ("content", "refusal")}


# -- Full responses ------------------------------------------------------------------

_usage = _known(
    {"prompt_tokens": COUNTS, "completion_tokens": COUNTS, "total_tokens": COUNTS},
    {
        "prompt_tokens_details": _known({"cached_tokens": COUNTS}, {}),
        "completion_tokens_details": _known({"reasoning_tokens": COUNTS}, {}),
    },
)
_filters = st.dictionaries(
    st.sampled_from(["hate", "violence"]), st.just({"filtered": False}), min_size=1
)
_indexes = st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True).map(sorted)


def _head(name: str) -> Objects:
    return _known(
        {"id": WORDS, "object": st.just(name), "created": COUNTS, "model": WORDS},
        {
            "usage": _usage,
            "system_fingerprint": WORDS,
            "service_tier": WORDS,
            "citations": st.lists(WORDS, min_size=1, max_size=2),
            "prompt_filter_results": st.lists(_filters, min_size=1, max_size=1),
        },
    )


_choice = _known({"finish_reason": REASONS}, {"content_filter_results": _filters, "seed": COUNTS})


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
        message = draw(_message)
        choice = {**draw(_choice), "index": index, "message": message}
        choice["logprobs"] = draw(st.none() | _chat_logprobs(message))
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
        choice["logprobs"] = draw(st.none() | _columns(text))
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
