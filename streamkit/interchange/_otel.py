"""
Responses as OpenTelemetry has them: attributes of a span, and an event, as plain dicts.

Nothing of OpenTelemetry is imported, and nothing is recorded: what to do with the
dicts is the caller's.  Names and rules are those of the GenAI semantic conventions,
which are still in development, in the version that `SEMCONV_VERSION` names; the
span is `gen_ai.client.inference`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from streamkit._errors import EmptyStream, IncompleteStream, StreamkitError, UpstreamError
from streamkit._models import ChatCompletion, Completion, Usage
from streamkit._outcome import Outcome

from ._otel_messages import finish_reasons, to_otel_messages


__all__ = ["SEMCONV_VERSION", "to_otel_attributes", "to_otel_event"]

SEMCONV_VERSION: Final = "0.1.0"
"""
The version of OpenTelemetry's GenAI semantic conventions that the names are of:
the first release of the repository `open-telemetry/semantic-conventions-genai`.
"""

EVENT: Final = "gen_ai.client.inference.operation.details"
# Where the count of each attribute `gen_ai.usage.*` is in `usage`.
USAGE: Final = {
    "input_tokens": ("prompt_tokens",),
    "output_tokens": ("completion_tokens",),
    "cache_read.input_tokens": ("prompt_tokens_details", "cached_tokens"),
    "cache_write.input_tokens": ("prompt_tokens_details", "cache_write_tokens"),
    "reasoning.output_tokens": ("completion_tokens_details", "reasoning_tokens"),
    "text.input_tokens": ("prompt_tokens_details", "text_tokens"),
    "image.input_tokens": ("prompt_tokens_details", "image_tokens"),
    "audio.input_tokens": ("prompt_tokens_details", "audio_tokens"),
    "text.output_tokens": ("completion_tokens_details", "text_tokens"),
    "audio.output_tokens": ("completion_tokens_details", "audio_tokens"),
}
# An attribute that tells kinds of errors apart must not have many values.
LONGEST_CODE = 64
LARGEST_CODE = 999_999


def to_otel_attributes(
    source: Outcome | ChatCompletion | Completion,
    *,
    provider: str | None = None,
    content: bool = False,
) -> dict[str, Any]:
    """
    Return the attributes of the span of the call that *source* answers.

    Only what the server said is there, and what it did not say is left out; but
    a finish reason that is missing is `"error"`, as the conventions have it.
    Required besides, and the caller's to add, are attributes of the request,
    such as `gen_ai.request.model`.

    An outcome tells more than its response: `gen_ai.request.stream`, unless a
    whole response was passed through; `error.type`, if it is not complete; and
    `gen_ai.response.time_to_first_chunk`, in seconds, if the time of the request
    is known.

    Args:
        source: An outcome, or a response or a snapshot.
        provider: `gen_ai.provider.name`, such as `"openai"`, `"deepseek"`,
            `"azure.ai.openai"`.  For `"openai"` there are its own attributes too.
        content: Whether to add `gen_ai.output.messages`, which is what the model
            wrote, and may be private.

    Returns:
        Attributes by name.  All are strings, numbers or lists of strings, but for
        `gen_ai.output.messages`: see `to_otel_messages`.

    Raises:
        TypeError: If *source* is none of these.

    >>> from streamkit import finalize
    >>> response = finalize([{"id": "a", "choices": [{"index": 0, "delta": {"content": "Hi"},
    ...     "finish_reason": "stop"}], "usage": {"completion_tokens": 1}}])
    >>> for name, value in to_otel_attributes(response, provider="groq").items():
    ...     print(name, value)
    gen_ai.operation.name chat
    gen_ai.provider.name groq
    gen_ai.response.finish_reasons ['stop']
    gen_ai.response.id a
    gen_ai.usage.output_tokens 1
    """
    attributes: dict[str, Any] = {"gen_ai.operation.name": _operation(source)}
    if provider is not None:
        attributes["gen_ai.provider.name"] = provider
    response: Any = source
    if isinstance(source, Outcome):
        attributes.update(_of_outcome(source))
        response = source.response
    if response is not None:
        attributes.update(_of_response(response))
        if provider == "openai":
            attributes.update(_of_openai(response))
        if content:
            attributes["gen_ai.output.messages"] = to_otel_messages(response)
    return attributes


def to_otel_event(
    source: Outcome | ChatCompletion | Completion,
    *,
    provider: str | None = None,
    content: bool = False,
) -> dict[str, Any]:
    """
    Return the event of the call that *source* answers: its name and its attributes.

    The conventions have the same attributes on the event as on the span; content
    may be kept on the one and not on the other.  Arguments as of
    `to_otel_attributes`.

    Raises:
        TypeError: If *source* is neither an outcome nor a response.

    >>> from streamkit import finalize
    >>> event = to_otel_event(finalize([{"choices": [{"index": 0, "text": "Hi"}]}]), content=True)
    >>> event["event_name"], event["attributes"]["gen_ai.output.messages"][0]["parts"]
    ('gen_ai.client.inference.operation.details', [{'type': 'text', 'content': 'Hi'}])
    """
    attributes = to_otel_attributes(source, provider=provider, content=content)
    return {"event_name": EVENT, "attributes": attributes}


# -- Where the values come from ------------------------------------------------------


def _operation(source: Any) -> str:
    response = source.response if isinstance(source, Outcome) else source
    if isinstance(response, Completion):
        return "text_completion"
    # Where there is no response at all, chat is what it would have been.
    if isinstance(response, ChatCompletion) or (response is None and source is not None):
        return "chat"
    raise TypeError(f"source must be an Outcome or a response, not {type(source).__name__}")


def _of_response(response: ChatCompletion | Completion) -> Iterator[tuple[str, Any]]:
    reasons = finish_reasons(response)
    if reasons:
        yield "gen_ai.response.finish_reasons", reasons
    yield from _texts({"gen_ai.response.id": response.id, "gen_ai.response.model": response.model})
    if isinstance(response.usage, Usage):
        yield from _of_usage(response.usage)


def _of_usage(usage: Usage) -> Iterator[tuple[str, int]]:
    for name, path in USAGE.items():
        count: Any = usage
        for part in path:
            count = getattr(count, part, None)
        if type(count) is int and count >= 0:
            yield f"gen_ai.usage.{name}", count


def _of_openai(response: ChatCompletion | Completion) -> Iterator[tuple[str, Any]]:
    if isinstance(response, ChatCompletion):
        yield "openai.api.type", "chat_completions"
    yield from _texts(
        {
            "openai.response.service_tier": response.service_tier,
            "openai.response.system_fingerprint": response.system_fingerprint,
        }
    )


def _texts(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the *values* that are texts and not empty: others the server did not say."""
    for name, value in values.items():
        if value and isinstance(value, str):
            yield name, value


def _of_outcome(outcome: Outcome) -> Iterator[tuple[str, Any]]:
    if "already_final" not in outcome.issue_counts:
        yield "gen_ai.request.stream", True
    error = _error_type(outcome)
    if error is not None:
        yield "error.type", error
    timing = outcome.timing
    # Other origins count from another moment than the conventions do.
    if timing is not None and timing.origin == "request" and timing.first_chunk is not None:
        yield "gen_ai.response.time_to_first_chunk", timing.first_chunk


def _error_type(outcome: Outcome) -> str | None:
    """Return the server's code of the error, or ours, or None if there was none."""
    if outcome.complete:
        return None
    error: StreamkitError | None = outcome.error
    if error is None:
        return EmptyStream.code if outcome.response is None else IncompleteStream.code
    payload = error.payload if isinstance(error, UpstreamError) else None
    for name in ("code", "type"):
        code = payload.get(name) if isinstance(payload, dict) else None
        if _is_short(code):
            return str(code)
    return error.code


def _is_short(code: Any) -> bool:
    if type(code) is int:
        return abs(code) <= LARGEST_CODE
    return isinstance(code, str) and 0 < len(code) <= LONGEST_CODE
