"""How servers differ in what they put where: `Dialect`, and presets by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

import attrs


__all__ = ["DIALECTS", "USAGE_FORMS", "Dialect", "UsageForm", "dialect_of"]

UsageForm = Literal["own", "finish", "each", "choice", "none"]

USAGE_FORMS: Final[tuple[UsageForm, ...]] = ("own", "finish", "each", "choice", "none")


@attrs.frozen(kw_only=True)
class Dialect:
    """
    How one kind of server cuts a response into chunks.

    It says where things go, never what they are: in each dialect the chunks give
    the same response back.  Fields that the response does not have are not made up.

    Attributes:
        name: What to call it.
        opening: A choice begins with a delta that has the role and no text.
        role: The role comes with the `"first"` delta of a choice, or with `"each"`.
        blank: What `content` is in deltas that carry other things: `"absent"`,
            `"null"`, or `"empty"`, a string of no characters.
        nulls: Fields of a choice that are null where they have no value yet.
        finish: The finish reason comes `"alone"`, or `"with"` the last piece.
        usage: Usage comes in a chunk of its `"own"` whose choices are empty, in
            the chunk that has the last `"finish"` reason, in `"each"` chunk,
            growing, in the last `"choice"`, or not at all (`"none"`).
        usage_null: Chunks that do not report usage have it as null.
        calls: Arguments of tools come in `"pieces"`, or each call is `"whole"`.
        token: The `tokens` of a completion come one by one, as `token`.
        each: Fields of the response, or of a choice, that are in each chunk.
            Those that are numbers or strings of the response are anyhow.
        first: Fields of the response that are in the first chunk already.
        preface: Such fields that come in a chunk before all others, which has no
            id yet and no choices.
        padding: The field with random padding; `""` for none.
        comments: Comments on the wire, by the number of the event they come before.
        done: The stream ends with `[DONE]`.

    >>> mine = Dialect(name="mine", usage="finish", role="each")
    >>> mine.usage, mine.done
    ('finish', True)
    """

    name: str
    opening: bool = True
    role: Literal["first", "each"] = "first"
    blank: Literal["absent", "null", "empty"] = "absent"
    nulls: tuple[str, ...] = ("finish_reason",)
    finish: Literal["alone", "with"] = "alone"
    usage: UsageForm = "own"
    usage_null: bool = False
    calls: Literal["pieces", "whole"] = "pieces"
    token: bool = False
    each: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    preface: tuple[str, ...] = ()
    padding: str = ""
    comments: Mapping[int, str] = attrs.field(factory=dict)
    done: bool = True


BOTH = ("logprobs", "finish_reason")

_PRESETS = (
    Dialect(name="plain", opening=False, nulls=(), finish="with"),
    Dialect(name="openai", nulls=BOTH, usage_null=True, padding="obfuscation"),
    Dialect(
        name="azure",
        nulls=BOTH,
        usage_null=True,
        padding="obfuscation",
        each=("content_filter_results",),
        preface=("prompt_filter_results",),
    ),
    Dialect(name="friendli", opening=False, nulls=BOTH, usage_null=True, token=True),
    Dialect(name="vllm", nulls=BOTH, blank="empty"),
    Dialect(
        name="openrouter",
        opening=False,
        role="each",
        blank="empty",
        usage="finish",
        comments={0: "OPENROUTER PROCESSING", 1: "OPENROUTER PROCESSING"},
    ),
    Dialect(
        name="mistral", blank="empty", finish="with", usage="finish", calls="whole", padding="p"
    ),
    Dialect(name="groq", nulls=BOTH, usage="finish", calls="whole", first=("x_groq",)),
    Dialect(name="deepseek", nulls=BOTH, blank="null", usage="finish", usage_null=True),
    Dialect(
        name="together", opening=False, role="each", nulls=BOTH, usage="finish", usage_null=True
    ),
    Dialect(
        name="perplexity",
        opening=False,
        role="each",
        nulls=(),
        usage="each",
        each=(
            "citations",
            "search_results",
        ),
        done=False,
    ),
    Dialect(name="moonshot", usage="choice"),
    Dialect(name="xai", opening=False, nulls=(), usage="each", calls="whole"),
    Dialect(name="ollama", opening=False, role="each", blank="empty", calls="whole"),
    Dialect(name="cerebras", nulls=(), usage="finish", calls="whole"),
)

DIALECTS: Mapping[str, Dialect] = MappingProxyType({each.name: each for each in _PRESETS})
"""The presets by name; each follows what recordings of that server's streams show."""


def dialect_of(dialect: str | Dialect) -> Dialect:
    """
    Return the dialect *dialect*, which may be the name of a preset.

    Raises:
        TypeError: If there is none of that name.
    """
    found = DIALECTS.get(dialect) if isinstance(dialect, str) else dialect
    if not isinstance(found, Dialect):
        names = ", ".join(DIALECTS)
        raise TypeError(f"dialect must be a Dialect or one of {names}, not {dialect!r}")
    return found
