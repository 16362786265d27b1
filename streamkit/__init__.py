"""
Turn a stream of LLM chunks back into the full response.

>>> import streamkit
>>> outcome = streamkit.rebuild('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}')
>>> outcome.response.choices[0].message.content
'Hi'

Names are loaded when first used, so that importing this costs next to nothing
inside somebody else's program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from . import interchange as interchange
    from . import recordings as recordings
    from . import testing as testing
    from ._accumulator import Accumulator
    from ._choice import ChoiceAccumulator
    from ._chunk_models import (
        ABSENT,
        Absent,
        AudioDelta,
        ChatCompletionChunk,
        ChoiceDelta,
        ChunkChoice,
        CompletionChunk,
        CompletionChunkChoice,
        CustomToolDelta,
        FunctionCallDelta,
        ToolCallDelta,
    )
    from ._chunks import ChunkReader
    from ._converter import from_dict, to_dict, to_json
    from ._errors import (
        EmptyStream,
        FramingError,
        IncompleteStream,
        InputRefused,
        InvalidChunk,
        LimitExceeded,
        NotInstalled,
        StreamkitError,
        UnknownForm,
        UpstreamError,
    )
    from ._events import (
        ChoiceEvent,
        ChoiceFinished,
        ChunkReceived,
        ContentDelta,
        ContentDone,
        ErrorReported,
        IssueReported,
        LogprobsDelta,
        ReasoningDelta,
        ReasoningDone,
        RefusalDelta,
        RefusalDone,
        StreamEvent,
        ToolCallArgumentsDelta,
        ToolCallDone,
        ToolCallEvent,
        ToolCallStarted,
        UsageReported,
    )
    from ._finalize import finalize
    from ._issues import ISSUES, Issue
    from ._limits import NO_LIMITS, Limits
    from ._live import LiveAccumulator
    from ._models import (
        Annotation,
        Audio,
        ChatCompletion,
        ChatLogprobs,
        Choice,
        Completion,
        CompletionChoice,
        CompletionLogprobs,
        CompletionTokensDetails,
        CustomTool,
        FunctionCall,
        Message,
        PromptTokensDetails,
        TokenLogprob,
        ToolCall,
        TopLogprob,
        URLCitation,
        Usage,
    )
    from ._outcome import Outcome
    from ._partial_json import PartialJSON, partial_json
    from ._rebuild import rebuild, rebuild_all
    from ._rules import RULES, Rule
    from ._sse import ServerSentEvent, SSEParser
    from ._stream import AsyncStream, Stream
    from ._tee import AsyncTee, Tee, atee, tee
    from ._timing import Timing
    from .engines import rebuild_batch
    from .interchange import to_message, to_openai


__version__ = "0.1.0"

__all__ = [
    "ABSENT",
    "ISSUES",
    "NO_LIMITS",
    "RULES",
    "Absent",
    "Accumulator",
    "Annotation",
    "AsyncStream",
    "AsyncTee",
    "Audio",
    "AudioDelta",
    "ChatCompletion",
    "ChatCompletionChunk",
    "ChatLogprobs",
    "Choice",
    "ChoiceAccumulator",
    "ChoiceDelta",
    "ChoiceEvent",
    "ChoiceFinished",
    "ChunkChoice",
    "ChunkReader",
    "ChunkReceived",
    "Completion",
    "CompletionChoice",
    "CompletionChunk",
    "CompletionChunkChoice",
    "CompletionLogprobs",
    "CompletionTokensDetails",
    "ContentDelta",
    "ContentDone",
    "CustomTool",
    "CustomToolDelta",
    "EmptyStream",
    "ErrorReported",
    "FramingError",
    "FunctionCall",
    "FunctionCallDelta",
    "IncompleteStream",
    "InputRefused",
    "InvalidChunk",
    "Issue",
    "IssueReported",
    "LimitExceeded",
    "Limits",
    "LiveAccumulator",
    "LogprobsDelta",
    "Message",
    "NotInstalled",
    "Outcome",
    "PartialJSON",
    "PromptTokensDetails",
    "ReasoningDelta",
    "ReasoningDone",
    "RefusalDelta",
    "RefusalDone",
    "Rule",
    "SSEParser",
    "ServerSentEvent",
    "Stream",
    "StreamEvent",
    "StreamkitError",
    "Tee",
    "Timing",
    "TokenLogprob",
    "ToolCall",
    "ToolCallArgumentsDelta",
    "ToolCallDelta",
    "ToolCallDone",
    "ToolCallEvent",
    "ToolCallStarted",
    "TopLogprob",
    "URLCitation",
    "UnknownForm",
    "UpstreamError",
    "Usage",
    "UsageReported",
    "__version__",
    "atee",
    "finalize",
    "from_dict",
    "partial_json",
    "rebuild",
    "rebuild_all",
    "rebuild_batch",
    "tee",
    "to_dict",
    "to_json",
    "to_message",
    "to_openai",
]

_ROOMS = {
    "_accumulator": ("Accumulator",),
    "_choice": ("ChoiceAccumulator",),
    "_chunk_models": (
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
    ),
    "_chunks": ("ChunkReader",),
    "_converter": ("from_dict", "to_dict", "to_json"),
    "_errors": (
        "EmptyStream",
        "FramingError",
        "IncompleteStream",
        "InputRefused",
        "InvalidChunk",
        "LimitExceeded",
        "NotInstalled",
        "StreamkitError",
        "UnknownForm",
        "UpstreamError",
    ),
    "_events": (
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
    ),
    "_finalize": ("finalize",),
    "_issues": ("ISSUES", "Issue"),
    "_limits": ("NO_LIMITS", "Limits"),
    "_live": ("LiveAccumulator",),
    "_outcome": ("Outcome",),
    "_partial_json": ("PartialJSON", "partial_json"),
    "_rebuild": ("rebuild", "rebuild_all"),
    "_rules": ("RULES", "Rule"),
    "_sse": ("SSEParser", "ServerSentEvent"),
    "_stream": ("AsyncStream", "Stream"),
    "_tee": ("AsyncTee", "Tee", "atee", "tee"),
    "_timing": ("Timing",),
    "engines": ("rebuild_batch",),
    "interchange": ("to_message", "to_openai"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


# Packages that `import streamkit` alone makes reachable.
_PACKAGES = frozenset({"interchange", "recordings", "testing"})


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _PACKAGES:
        return import_module(f".{name}", __name__)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_ROOM_OF.get(name, '_models')}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
