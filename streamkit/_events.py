"""
What happens in a stream, as it happens: the typed events of `LiveAccumulator`.

Text comes as deltas that add up to the value in the full response, whatever the
server did to get there: repeated itself, sent all so far each time, or put a
string in parts.  What is *done* is whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from ._errors import StreamkitError
from ._issues import Issue


if TYPE_CHECKING:
    from ._models import ChatCompletion, ChatLogprobs, Completion, CompletionLogprobs, Usage


__all__ = [
    "ChoiceEvent",
    "ChoiceFinished",
    "ChunkReceived",
    "ContentDelta",
    "ContentDone",
    "ErrorReported",
    "IssueReported",
    "LogprobsDelta",
    "ReasoningDelta",
    "ReasoningDone",
    "RefusalDelta",
    "RefusalDone",
    "StreamEvent",
    "ToolCallArgumentsDelta",
    "ToolCallDone",
    "ToolCallEvent",
    "ToolCallStarted",
    "UsageReported",
]


@attrs.define(kw_only=True)
class StreamEvent:
    """
    Something that happened in a stream; the base of all events.

    Attributes:
        snapshot: The response so far, the chunk of this event included; None unless
            snapshots were asked for.
    """

    snapshot: ChatCompletion | Completion | None = attrs.field(default=None, repr=False)


@attrs.define(kw_only=True)
class ChunkReceived(StreamEvent):
    """
    A chunk came; the events of what it adds follow.

    Attributes:
        chunk: A dict if bytes came, else the object that came, untouched.
    """

    chunk: Any


@attrs.define(kw_only=True)
class ChoiceEvent(StreamEvent):
    """
    Something that happened to one choice.

    Attributes:
        index: Which choice: its `index` on the wire.
    """

    index: int


@attrs.define(kw_only=True)
class ContentDelta(ChoiceEvent):
    """
    The text of a choice grew: a message's `content`, or a completion's `text`.

    Attributes:
        delta: What it grew by.
    """

    delta: str


@attrs.define(kw_only=True)
class ContentDone(ChoiceEvent):
    """
    The text of a choice is whole.

    Attributes:
        content: All of it.
    """

    content: str


@attrs.define(kw_only=True)
class RefusalDelta(ChoiceEvent):
    """
    The refusal grew.

    Attributes:
        delta: What it grew by.
    """

    delta: str


@attrs.define(kw_only=True)
class RefusalDone(ChoiceEvent):
    """
    The refusal is whole.

    Attributes:
        refusal: All of it.
    """

    refusal: str


@attrs.define(kw_only=True)
class ReasoningDelta(ChoiceEvent):
    """
    The reasoning grew: what the model thinks before it answers.

    Attributes:
        delta: What it grew by.
        field: Where the server has it: `"reasoning_content"`, `"reasoning"`, or
            `"thinking"` for parts of the content.  Some send the same text in two
            fields.
    """

    delta: str
    field: str


@attrs.define(kw_only=True)
class ReasoningDone(ChoiceEvent):
    """
    The reasoning is whole.

    Attributes:
        reasoning: All of it.
        field: Where the server has it, as in `ReasoningDelta`.
    """

    reasoning: str
    field: str


@attrs.define(kw_only=True)
class ToolCallEvent(ChoiceEvent):
    """
    Something that happened to a tool call.

    Attributes:
        position: Which of the choice's calls, in order of arrival, counted from 0;
            None for the legacy `function_call`.
        id: The call's id, or None as long as there is none.
        name: The name of the function or the custom tool, likewise.
    """

    position: int | None
    id: str | None
    name: str | None


@attrs.define(kw_only=True)
class ToolCallStarted(ToolCallEvent):
    """A tool call has begun."""


@attrs.define(kw_only=True)
class ToolCallArgumentsDelta(ToolCallEvent):
    """
    The arguments of a tool call, or a custom tool's input, grew.

    Attributes:
        delta: What they grew by.
    """

    delta: str


@attrs.define(kw_only=True)
class ToolCallDone(ToolCallEvent):
    """
    A tool call is whole, as far as it came.

    Attributes:
        arguments: The arguments, or a custom tool's input, as they came: text.
        parsed: The JSON value that they are, if they are one whole value; else None.
        is_json: Whether they are.
    """

    arguments: str
    parsed: Any = None
    is_json: bool = False


@attrs.define(kw_only=True)
class LogprobsDelta(ChoiceEvent):
    """
    Log probabilities came.

    Attributes:
        logprobs: Those of this chunk alone, in the kind's own shape.
    """

    logprobs: ChatLogprobs | CompletionLogprobs


@attrs.define(kw_only=True)
class ChoiceFinished(ChoiceEvent):
    """
    A choice has its finish reason; what it was made of is done.

    Attributes:
        finish_reason: Why: `"stop"`, `"length"`, `"tool_calls"`, and so on.
    """

    finish_reason: str


@attrs.define(kw_only=True)
class UsageReported(StreamEvent):
    """
    The server counted tokens; some do so in each chunk.

    Attributes:
        usage: The count so far.
    """

    usage: Usage


@attrs.define(kw_only=True)
class ErrorReported(StreamEvent):
    """
    The stream failed: the server sent an error, or a bound was crossed.

    Attributes:
        error: It; after anything but an `UpstreamError` no more events come.
    """

    error: StreamkitError


@attrs.define(kw_only=True)
class IssueReported(StreamEvent):
    """
    Something was repaired, left out or noticed.

    Attributes:
        issue: It.
    """

    issue: Issue
