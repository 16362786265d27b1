"""
The objects of the wire, under the wire's own names.

Full responses are what the API returns without streaming; chunks are what it
streams.  Each class keeps the fields it does not know in `extra`, at every
level, so that nothing is lost on the way through.  Source: the API reference of
OpenAI (chat completions and legacy completions), and Friendli's for `token`,
`tokens` and `seed`.

In a full response absent and null are the same: a field that is no part of the
answer is None.  Chunks, where they differ, are in `_chunk_models`.

Values are kept as they came.  A response rebuilt from a stream may hold, say, a
string where the reference says integer, if that is what the server sent; only
`from_dict` checks types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs


__all__ = [
    "Annotation",
    "Audio",
    "ChatCompletion",
    "ChatLogprobs",
    "Choice",
    "Completion",
    "CompletionChoice",
    "CompletionLogprobs",
    "CompletionTokensDetails",
    "CustomTool",
    "Extra",
    "FunctionCall",
    "Logprobs",
    "Message",
    "PromptTokensDetails",
    "TokenLogprob",
    "ToolCall",
    "TopLogprob",
    "URLCitation",
    "Usage",
    "extra_field",
]

Extra: TypeAlias = Mapping[str, Any]

# Left out of the JSON form when None: the API does not send them as null.
OMIT_NONE: Final = {"omit_none": True}


def _optional() -> Any:
    return attrs.field(default=None, metadata=OMIT_NONE)


def extra_field() -> Any:
    return attrs.field(factory=dict)


# -- Parts of both kinds -------------------------------------------------------------


@attrs.frozen(kw_only=True)
class PromptTokensDetails:
    """Where the prompt's tokens come from, in tokens."""

    audio_tokens: int | None = _optional()
    cache_write_tokens: int | None = _optional()
    cached_tokens: int | None = _optional()
    image_tokens: int | None = _optional()
    text_tokens: int | None = _optional()
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class CompletionTokensDetails:
    """What the completion's tokens are, in tokens."""

    accepted_prediction_tokens: int | None = _optional()
    audio_tokens: int | None = _optional()
    reasoning_tokens: int | None = _optional()
    rejected_prediction_tokens: int | None = _optional()
    text_tokens: int | None = _optional()
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class Usage:
    """What the request cost, in tokens, as the server reported it; never estimated."""

    prompt_tokens: int | None = _optional()
    completion_tokens: int | None = _optional()
    total_tokens: int | None = _optional()
    prompt_tokens_details: PromptTokensDetails | None = _optional()
    completion_tokens_details: CompletionTokensDetails | None = _optional()
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class TopLogprob:
    """
    An alternative at one position.

    Attributes:
        token: The token's text.
        logprob: Its natural log probability.
        bytes: Its UTF-8 bytes, as integers; a token may be part of a character.
    """

    token: str
    logprob: float
    bytes: Sequence[int] | None = None
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class TokenLogprob:
    """One token, its natural log probability, and the likeliest alternatives there."""

    token: str
    logprob: float
    bytes: Sequence[int] | None = None
    top_logprobs: Sequence[TopLogprob] | None = _optional()
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class ChatLogprobs:
    """Log probabilities in the shape of chat completions: one entry a token."""

    content: Sequence[TokenLogprob] | None = None
    refusal: Sequence[TokenLogprob] | None = None
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class CompletionLogprobs:
    """
    Log probabilities in the shape of legacy completions: parallel lists.

    Attributes:
        tokens: The tokens' texts.
        token_logprobs: Their natural log probabilities.
        top_logprobs: For each position a mapping from token to log probability.
        text_offset: Where each token starts, in characters, as the server sent
            it: some count from the start of the prompt.
    """

    tokens: Sequence[str | None] | None = None
    token_logprobs: Sequence[float | None] | None = None
    top_logprobs: Sequence[Mapping[str, Any] | None] | None = None
    text_offset: Sequence[int | None] | None = None
    extra: Extra = extra_field()


Logprobs: TypeAlias = ChatLogprobs | CompletionLogprobs


@attrs.frozen(kw_only=True)
class FunctionCall:
    """A function to call: its name, and its arguments as the model wrote them, unparsed."""

    name: str | None = None
    arguments: str = ""
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class CustomTool:
    """A custom tool to call: its name, and the free text to call it with."""

    name: str | None = None
    input: str = ""
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class ToolCall:
    """One call of a tool; `function` or `custom` is set, as `type` says."""

    id: str | None = None
    type: str = "function"
    function: FunctionCall | None = _optional()
    custom: CustomTool | None = _optional()
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class URLCitation:
    """The page that a stretch of the content cites; indexes are in characters."""

    url: str | None = _optional()
    title: str | None = _optional()
    start_index: int | None = _optional()
    end_index: int | None = _optional()
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class Annotation:
    """A note on the content, such as a citation."""

    type: str | None = _optional()
    url_citation: URLCitation | None = _optional()
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class Audio:
    """Spoken output: base64 data, its transcript, and until when (Unix seconds) it is kept."""

    id: str | None = _optional()
    data: str | None = _optional()
    transcript: str | None = _optional()
    expires_at: int | None = _optional()
    extra: Extra = extra_field()


# -- Full responses ------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Message:
    """The assistant's message of one choice."""

    role: str = "assistant"
    content: str | Sequence[Mapping[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: Sequence[ToolCall] | None = _optional()
    function_call: FunctionCall | None = _optional()
    audio: Audio | None = _optional()
    annotations: Sequence[Annotation] | Mapping[str, Any] | None = _optional()
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class Choice:
    """One candidate answer of a chat completion; `index` is its identity."""

    index: int
    message: Message
    finish_reason: str | None = None
    logprobs: Logprobs | None = None
    seed: int | None = _optional()
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class ChatCompletion:
    """
    A full chat completion.

    Attributes:
        id: The response's id; `""` if the server sent none.
        created: Unix time in seconds; 0 if the server sent none.
        choices: The candidate answers, ordered by `index`.
        usage: What it cost, in tokens; None if the server did not say.
        extra: What the server sent besides.
    """

    id: str = ""
    object: str = "chat.completion"
    created: int = 0
    model: str = ""
    choices: Sequence[Choice] = ()
    usage: Usage | None = _optional()
    service_tier: str | None = _optional()
    system_fingerprint: str | None = _optional()
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class CompletionChoice:
    """
    One candidate text of a legacy completion.

    Attributes:
        tokens: The ids of its tokens (Friendli).
        seed: The seed it was sampled with (Friendli).
    """

    index: int
    text: str = ""
    finish_reason: str | None = None
    logprobs: Logprobs | None = None
    tokens: Sequence[int] | None = _optional()
    seed: int | None = _optional()
    extra: Extra = extra_field()


@attrs.frozen(kw_only=True)
class Completion:
    """A full legacy completion; attributes as in `ChatCompletion`."""

    id: str = ""
    object: str = "text_completion"
    created: int = 0
    model: str = ""
    choices: Sequence[CompletionChoice] = ()
    usage: Usage | None = _optional()
    service_tier: str | None = _optional()
    system_fingerprint: str | None = _optional()
    extra: Extra = extra_field()
