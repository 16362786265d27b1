"""
The chunks of the wire, under the wire's own names.

In a chunk, absent and null differ: an absent field is `ABSENT`.  Fields that a
class does not know are in `extra`.
"""

from __future__ import annotations

import enum

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, TypeVar

import attrs

from ._models import Annotation, Extra, Logprobs, Usage, extra_field


__all__ = [
    "ABSENT",
    "Absent",
    "AudioDelta",
    "ChatCompletionChunk",
    "ChoiceDelta",
    "ChunkChoice",
    "CompletionChunk",
    "CompletionChunkChoice",
    "CustomToolDelta",
    "FunctionCallDelta",
    "ToolCallDelta",
]

T = TypeVar("T")


class Absent(enum.Enum):
    """The type of `ABSENT`."""

    ABSENT = "absent"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT
"""The value of a chunk's field that was not sent; falsy, and not None."""

Maybe: TypeAlias = T | Literal[Absent.ABSENT] | None


@attrs.frozen(kw_only=True)
class FunctionCallDelta:
    """A piece of a function's name or arguments."""

    name: Maybe[str] = ABSENT
    arguments: Maybe[str | Mapping[str, Any]] = ABSENT
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class CustomToolDelta:
    """A piece of a custom tool's name or input."""

    name: Maybe[str] = ABSENT
    input: Maybe[str] = ABSENT
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class ToolCallDelta:
    """A piece of the tool call at `index`."""

    index: Maybe[int] = ABSENT
    id: Maybe[str] = ABSENT
    type: Maybe[str] = ABSENT
    function: Maybe[FunctionCallDelta] = ABSENT
    custom: Maybe[CustomToolDelta] = ABSENT
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class AudioDelta:
    """A piece of spoken output."""

    id: Maybe[str] = ABSENT
    data: Maybe[str] = ABSENT
    transcript: Maybe[str] = ABSENT
    expires_at: Maybe[int] = ABSENT
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class ChoiceDelta:
    """What one chunk adds to the message of one choice."""

    role: Maybe[str] = ABSENT
    content: Maybe[str | Sequence[Mapping[str, Any]]] = ABSENT
    refusal: Maybe[str] = ABSENT
    tool_calls: Maybe[Sequence[ToolCallDelta]] = ABSENT
    function_call: Maybe[FunctionCallDelta] = ABSENT
    audio: Maybe[AudioDelta] = ABSENT
    annotations: Maybe[Sequence[Annotation] | Mapping[str, Any]] = ABSENT
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class ChunkChoice:
    """What one chunk adds to the choice at `index`."""

    index: Maybe[int] = ABSENT
    delta: Maybe[ChoiceDelta] = ABSENT
    finish_reason: Maybe[str] = ABSENT
    logprobs: Maybe[Logprobs] = ABSENT
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class ChatCompletionChunk:
    """One chunk of a streamed chat completion."""

    id: Maybe[str] = ABSENT
    object: Maybe[str] = ABSENT
    created: Maybe[int] = ABSENT
    model: Maybe[str] = ABSENT
    choices: Maybe[Sequence[ChunkChoice]] = ABSENT
    usage: Maybe[Usage] = ABSENT
    service_tier: Maybe[str] = ABSENT
    system_fingerprint: Maybe[str] = ABSENT
    obfuscation: Maybe[str] = ABSENT
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class CompletionChunkChoice:
    """What one chunk adds to the text at `index`; `token` is its token's id (Friendli)."""

    index: Maybe[int] = ABSENT
    text: Maybe[str] = ABSENT
    token: Maybe[int] = ABSENT
    finish_reason: Maybe[str] = ABSENT
    logprobs: Maybe[Logprobs] = ABSENT
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class CompletionChunk:
    """One chunk of a streamed legacy completion."""

    id: Maybe[str] = ABSENT
    object: Maybe[str] = ABSENT
    created: Maybe[int] = ABSENT
    model: Maybe[str] = ABSENT
    choices: Maybe[Sequence[CompletionChunkChoice]] = ABSENT
    usage: Maybe[Usage] = ABSENT
    system_fingerprint: Maybe[str] = ABSENT
    extra: Extra = extra_field()
