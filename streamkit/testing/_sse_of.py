"""An event stream from whatever a test has at hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streamkit._plain import as_plain

from ._chunk_up import chunk_up
from ._dialects import Dialect
from ._dice import Size
from ._recorded import is_response
from ._to_sse import to_sse


__all__ = ["sse_of"]


def sse_of(
    source: str | Iterable[Any] | Any,
    *,
    seed: int = 0,
    size: Size = (1, 8),
    dialect: str | Dialect = "openai",
    **options: Any,
) -> bytes:
    """
    Return an event stream of *source*.

    Args:
        source: The text of an answer; a full response; or chunks.
        seed: As for `chunk_up`.
        size: Likewise.
        dialect: As for `chunk_up` and `to_sse`.
        options: More arguments of `to_sse`.

    Raises:
        Unstreamable: If *source* is a response that no chunks give back.
        InvalidChunk: If it has a chunk that is none.
        TypeError: If an argument is of the wrong type.

    >>> from streamkit import rebuild
    >>> rebuild(sse_of("Hello!")).response.choices[0].message.content
    'Hello!'
    """
    plain = answer(source) if isinstance(source, str) else as_plain(source)
    if isinstance(plain, dict):
        is_whole = is_response(plain)
        plain = chunk_up(plain, seed=seed, size=size, dialect=dialect) if is_whole else [plain]
    if isinstance(plain, (bytes, bytearray)) or not isinstance(plain, Iterable):
        raise TypeError(f"not text, a response or chunks: {type(source).__name__}")
    return to_sse(plain, dialect=dialect, **options)


def answer(text: str) -> dict[str, Any]:
    """Return a chat's full response with *text*."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_750_000_000,
        "model": "example-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": None},
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
    }
