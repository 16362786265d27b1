"""Strategies for JSON objects: atoms, known fields, and those that nobody has heard of."""

from __future__ import annotations

from typing import Any

from streamkit._rules import CHUNK, RULES

from ._hypothesis import st


__all__ = ["COUNTS", "LOGPROBS", "REASONS", "TEXTS", "VALUES", "WORDS", "Objects", "known"]

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


def known(required: dict[str, Any], optional: dict[str, Any]) -> Objects:
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
