"""
Hypothesis strategies: chunk streams of both kinds, arbitrary JSON, splits of bytes.

A stream has one to three choices whose pieces come in any order, log
probabilities, tool calls, reasoning, usage in the forms servers send it in, and
fields of providers.  A new feature of the merge joins these.
"""

from __future__ import annotations

import copy

from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from streamkit._kinds import dict_entries

from . import COMPLETION_HEAD, HEAD


WORDS = st.text(max_size=4)
NUMBERS = st.integers(-5, 5) | st.floats(-5, 0, allow_nan=False)
ATOMS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
ODD_TEXT = st.text(st.characters(codec=None, exclude_categories=[]), max_size=5)
NAMES = st.sampled_from(
    [
        *("id", "object", "created", "model", "choices", "usage", "error", "index", "delta"),
        *("message", "text", "token", "tokens", "finish_reason", "logprobs", "content"),
        *("refusal", "role", "tool_calls", "function_call", "function", "custom", "name"),
        *("arguments", "input", "type", "audio", "data", "transcript", "annotations"),
        *("reasoning_details", "reasoning", "executed_tools", "content_filter_results"),
        *("x_groq", "token_ids", "top_logprobs", "text_offset", "token_logprobs", "x", "p"),
    ]
)

json_values = st.recursive(
    ATOMS | ODD_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | WORDS, inner, max_size=4),
    max_leaves=12,
)


# -- Chunks that are nearly right ----------------------------------------------------


def _object(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return objects with any of *fields*; now and then one has any value at all."""
    loose = {name: value | json_values for name, value in fields.items()}
    return st.fixed_dictionaries({}, optional={**loose, "x": json_values})


_indexes = st.integers(0, 3) | st.none()
_function = _object(name=WORDS, arguments=WORDS | st.just("{}"))
_call = _object(
    index=_indexes,
    id=WORDS,
    type=WORDS,
    function=_function,
    custom=_object(name=WORDS, input=WORDS),
)
_token = _object(token=WORDS, logprob=NUMBERS, top_logprobs=st.lists(_object(token=WORDS)))
_logprobs = _object(
    content=st.lists(_token, max_size=2),
    refusal=st.lists(_token, max_size=2),
    tokens=st.lists(WORDS, max_size=2),
    token_logprobs=st.lists(NUMBERS, max_size=2),
    text_offset=st.lists(st.integers(0, 9), max_size=2),
)
_detail = _object(index=_indexes, type=WORDS, id=WORDS, text=ODD_TEXT)
_part = _object(type=st.sampled_from(["text", "thinking", "image"]), text=ODD_TEXT, thinking=WORDS)
_message = _object(
    role=WORDS,
    content=ODD_TEXT | st.lists(_part, max_size=2),
    refusal=ODD_TEXT,
    tool_calls=st.lists(_call, max_size=3),
    function_call=_function,
    audio=_object(id=WORDS, data=st.sampled_from(["AA==", "AAAA", "é"]), transcript=WORDS),
    annotations=st.lists(_object(type=WORDS), max_size=2) | _object(files=st.lists(WORDS)),
    reasoning_details=st.lists(_detail, max_size=2),
    executed_tools=st.lists(_object(index=_indexes), max_size=2),
)
_choice = _object(
    index=_indexes,
    delta=_message,
    message=_message,
    text=ODD_TEXT,
    token=st.integers(0, 9),
    finish_reason=st.sampled_from(["stop", "", "null"]),
    logprobs=_logprobs,
    usage=_object(total_tokens=st.integers(0, 9)),
    content_filter_results=_object(hate=_object(filtered=st.booleans())),
)
hostile_chunks = json_values | _object(
    id=WORDS,
    object=st.sampled_from(["chat.completion.chunk", "chat.completion", "text_completion"]),
    created=st.integers(0, 9),
    model=WORDS,
    choices=st.lists(_choice, max_size=3),
    usage=_object(total_tokens=st.integers(0, 9)),
    error=st.none(),
)
"""Chunks in which each value may be of the wrong type."""


# -- Whole streams -------------------------------------------------------------------

_extras = st.fixed_dictionaries(
    {},
    optional={
        "x_groq": st.fixed_dictionaries({"id": st.just("req_1")}),
        "citations": st.lists(st.just("https://example.org"), max_size=2),
        "system_fingerprint": st.none() | st.just("fp_1"),
        "service_tier": st.none() | st.just("default"),
        "provider": st.just("someone"),
    },
)
_usage = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "prompt_tokens": st.integers(0, 9),
        "completion_tokens": st.integers(0, 9),
        "total_tokens": st.integers(0, 20),
        "completion_tokens_details": st.fixed_dictionaries({"reasoning_tokens": st.integers(0, 9)}),
    },
)
_chat_logprobs = st.lists(
    st.fixed_dictionaries(
        {
            "token": WORDS,
            "logprob": NUMBERS,
            "bytes": st.none() | st.just([97]),
            "top_logprobs": st.lists(
                st.fixed_dictionaries({"token": WORDS, "logprob": NUMBERS}), max_size=2
            ),
        }
    ),
    max_size=2,
)


@st.composite
def _tool_call_deltas(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return the deltas of one tool call, which come one after another."""
    index = draw(st.integers(0, 2))
    head = {"index": index, "id": f"call_{index}", "type": "function"}
    name = {"function": {"name": f"tool_{index}", "arguments": ""}}
    pieces = draw(st.lists(st.sampled_from(["{", "}", '"a":', "1"]), max_size=4))
    rest = [{"index": index, "function": {"arguments": piece}} for piece in pieces]
    return [{"tool_calls": [entry]} for entry in [head | name, *rest]]


_text_deltas = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "content": WORDS,
            "reasoning_content": WORDS,
            "refusal": st.none() | WORDS,
            "channel": st.just("final"),
            "annotations": st.just([{"type": "url_citation", "url_citation": {"url": "u"}}]),
        },
    ),
    max_size=4,
)


@st.composite
def _chat_choice(draw: st.DrawFn, index: int) -> list[dict[str, Any]]:
    """Return the entries of one choice, in their order."""
    parts = draw(st.lists(_text_deltas | _tool_call_deltas(), max_size=3))
    deltas = [{"role": "assistant"}, *(delta for part in parts for delta in part)]
    rows: list[dict[str, Any]] = [{"index": index, "delta": delta} for delta in deltas]
    for row in rows:
        row["finish_reason"] = None
        if draw(st.booleans()):
            row["logprobs"] = draw(st.none() | st.fixed_dictionaries({"content": _chat_logprobs}))
    reason = draw(st.sampled_from(["stop", "length", "tool_calls", None]))
    return [*rows, {"index": index, "delta": {}, "finish_reason": reason}]


@st.composite
def _completion_choice(draw: st.DrawFn, index: int) -> list[dict[str, Any]]:
    """Return the entries of one completion choice: text, Friendli's token, parallel lists."""
    words = draw(st.lists(WORDS, max_size=4))
    rows: list[dict[str, Any]] = []
    for word in words:
        row: dict[str, Any] = {"index": index, "text": word, "finish_reason": None}
        if draw(st.booleans()):
            row["token"] = draw(st.integers(0, 99))
        if draw(st.booleans()):
            top = draw(st.none() | st.just([{word: -1.0}]))
            row["logprobs"] = {
                "tokens": [word],
                "token_logprobs": [draw(NUMBERS)],
                "top_logprobs": top,
                "text_offset": [0],
            }
        rows.append(row)
    return [*rows, {"index": index, "text": "", "finish_reason": draw(st.just("stop"))}]


@st.composite
def interleaved(draw: st.DrawFn, lanes: list[list[Any]]) -> list[Any]:
    """Return the items of *lanes* in any order that keeps the order in each lane."""
    numbers = [number for number, lane in enumerate(lanes) for _ in lane]
    order = draw(st.permutations(numbers))
    iterators = [iter(lane) for lane in lanes]
    return [next(iterators[number]) for number in order]


@st.composite
def chat_lanes(draw: st.DrawFn) -> list[list[dict[str, Any]]]:
    """Return the entries of one to three chat choices, choice by choice."""
    indexes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True))
    return [draw(_chat_choice(index)) for index in indexes]


@st.composite
def completion_lanes(draw: st.DrawFn) -> list[list[dict[str, Any]]]:
    """Return the entries of one to three completion choices, choice by choice."""
    indexes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True))
    return [draw(_completion_choice(index)) for index in indexes]


@st.composite
def _stream(
    draw: st.DrawFn, head: dict[str, Any], lanes: list[list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    entries = draw(interleaved(lanes))
    chunks = [{**head, **draw(_extras), "choices": [entry]} for entry in entries]
    for chunk in draw(st.lists(st.sampled_from(chunks), max_size=2)):
        chunk["usage"] = draw(_usage)
    if draw(st.booleans()):
        chunks.append({**head, "choices": [], "usage": draw(_usage)})
    return chunks


def chat_streams() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return the strategy of whole chat streams."""
    return chat_lanes().flatmap(lambda lanes: _stream(HEAD, lanes))


def completion_streams() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return the strategy of whole completion streams."""
    return completion_lanes().flatmap(lambda lanes: _stream(COMPLETION_HEAD, lanes))


def streams() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return the strategy of whole streams of either kind."""
    return chat_streams() | completion_streams()


@st.composite
def split(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """Return *data* cut into blocks anywhere."""
    cuts = draw(st.lists(st.integers(0, len(data)), max_size=8))
    places = [0, *sorted(cuts), len(data)]
    return [data[start:end] for start, end in pairwise(places)]


# -- Chunks that are nearly alike ----------------------------------------------------


def _changed(draw: st.DrawFn, chunk: dict[str, Any]) -> dict[str, Any]:
    """Return *chunk* with a key dropped, added or changed at some level."""
    chunk = copy.deepcopy(chunk)
    entries = dict_entries(chunk.get("choices"))
    entry = entries[0] if entries else chunk
    delta = entry.get("delta")
    levels = [chunk, entry, delta if isinstance(delta, dict) else entry]
    level = draw(st.sampled_from(levels))
    for _ in range(draw(st.integers(0, 2))):
        names = sorted(level)
        if names and draw(st.booleans()):
            del level[draw(st.sampled_from(names))]
        else:
            name = draw(st.sampled_from([*names, "x", "y", "usage", "text", "created", "index"]))
            level[name] = draw(st.sampled_from([None, "", "a", 0, 1, True, [], {}, {"n": 1}]))
    return chunk


@st.composite
def alike_chunks(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return runs of alike chunks, each run a little different from the one before."""
    entry = draw(
        st.sampled_from(
            [
                {"index": 0, "delta": {"content": "a"}, "finish_reason": None},
                {"index": 0, "delta": {"content": "a", "x": "b"}, "logprobs": None},
                {"index": 0, "text": "a", "token": 1},
            ]
        )
    )
    chunk: dict[str, Any] = {**HEAD, "obfuscation": "xyz", "choices": [entry]}
    chunks: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(1, 5))):
        chunks += [copy.deepcopy(chunk) for _ in range(draw(st.integers(1, 4)))]
        chunk = _changed(draw, chunk)
    return [*chunks, chunk]
