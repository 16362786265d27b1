"""Strategies for the messages of chat responses, and their parts."""

from __future__ import annotations

import base64

from typing import Any

from streamkit._json import encode

from ._drawn_objects import COUNTS, TEXTS, VALUES, WORDS, Objects, known
from ._hypothesis import st


__all__ = ["messages"]

_citation = known(
    {"type": st.just("url_citation"), "url_citation": known({"url": TEXTS}, {"title": TEXTS})}, {}
)
_annotations = st.lists(_citation, max_size=2, unique_by=repr) | known({"files": VALUES}, {})
_audio = known(
    {"id": WORDS},
    {
        "data": st.binary(max_size=9).map(lambda data: base64.b64encode(data).decode()),
        "transcript": TEXTS,
        "expires_at": COUNTS,
    },
)
_function = known({"name": WORDS, "arguments": TEXTS | VALUES.map(encode)}, {})
_call = known({"id": WORDS, "type": st.just("function"), "function": _function}, {}) | known(
    {"id": WORDS, "type": st.just("custom"), "custom": known({"name": WORDS, "input": TEXTS}, {})},
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
    text = known({"type": st.just("text"), "text": TEXTS}, {})
    image = known({"type": st.just("image_url"), "image_url": VALUES}, {})
    thinking = known(
        {"type": st.just("thinking"), "thinking": TEXTS | text.map(lambda part: [part])}, {}
    )
    parts = draw(st.lists(text | thinking | image, min_size=1, max_size=4))
    return [
        part
        for part, before in zip(parts, [{}, *parts], strict=False)
        if part["type"] == "image_url" or part["type"] != before.get("type")
    ]


messages = known(
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
