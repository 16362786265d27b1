"""
Other wire dialects of streaming, told by their marks, so that they are named and not mangled.

A mark is a key or a value with its quotes.  Text inside JSON has its quotes
escaped, so that a chat stream that talks about another dialect has no marks.
"""

from __future__ import annotations

import re

from streamkit._issues import Issue


__all__ = ["HEAD", "dialect_of", "is_stream_text", "other_dialect"]

# How much of a body is looked at.
HEAD = 1 << 16

# Blank lines, comments and a byte order mark may come first.
START = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[ \t]*(?::[^\r\n]*)?[\r\n])*[ \t]*"
    rb"(?:(data|event|id|retry)[ \t]*:|[{\[]|[0-9a-f]:)"
)
# Comments alone are no mark: style sheets begin with a colon too.
STREAM_START = re.compile(
    rb"(?:\xef\xbb\xbf)?"
    rb"(?:(?:[ \t]*+|:[^\r\n]*+|(?:event|id|retry)[ \t]*+:[^\r\n]*+)[\r\n])*+"
    rb"data[ \t]*+:"
)


def _value(key: bytes, *patterns: bytes) -> re.Pattern[bytes]:
    """Return the pattern of JSON's *key* with a text of one of *patterns*."""
    return re.compile(rb'"' + key + rb'"\s*:\s*"(?:' + rb"|".join(patterns) + rb')"')


EVENT = rb"(?m)^event:[ ]?"
MARKS: tuple[tuple[str, tuple[re.Pattern[bytes], ...]], ...] = (
    (
        "the Responses API",
        (
            _value(b"type", rb"response\.[a-z_.]+"),
            _value(b"object", rb"response"),
            re.compile(EVENT + rb"response\.[a-z_.]+"),
        ),
    ),
    (
        "the Messages API",
        (
            _value(b"type", b"message_start", b"content_block_(?:start|delta|stop)"),
            _value(b"type", b"message_(?:delta|stop)"),
            re.compile(EVENT + rb"(?:message_(?:start|delta|stop)|content_block_[a-z]+)"),
            re.compile(rb'"type"\s*:\s*"message"\s*,\s*"role"\s*:\s*"assistant"'),
        ),
    ),
    ("the Gemini API", (re.compile(rb'"candidates"\s*:\s*\['), re.compile(rb'"usageMetadata"'))),
    (
        "Ollama's own API",
        (
            re.compile(
                rb'\A(?=[\s\S]*?"created_at"\s*:\s*")(?=[\s\S]*?"done"\s*:\s*(?:true|false))'
                rb'(?=[\s\S]*?"(?:message|response)"\s*:)'
            ),
        ),
    ),
    (
        "the Cohere API",
        (
            _value(b"event_type", b"stream-start", b"text-generation", b"stream-end"),
            _value(b"type", b"message-start", b"content-(?:start|delta|end)", b"message-end"),
        ),
    ),
    (
        "Bedrock",
        (
            re.compile(rb'"(?:contentBlockDelta|messageStart|contentBlockStart)"\s*:\s*\{'),
            re.compile(rb"\A\x00\x00.{10,400}?:(?:event|message|content)-type", re.DOTALL),
        ),
    ),
    (
        "the Assistants API",
        (re.compile(EVENT + rb"thread\."), _value(b"object", rb"thread\.[a-z.]+")),
    ),
    (
        "Text Generation Inference's own API",
        (re.compile(rb'"token"\s*:\s*\{\s*"id"\s*:\s*[0-9]+\s*,\s*"text"\s*:'),),
    ),
    (
        "llama.cpp's own API",
        (
            re.compile(
                rb'"content"\s*:\s*"(?:[^"\\]|\\.)*+"\s*,[^{}]{0,2000}"stop"\s*:\s*(?:true|false)'
            ),
        ),
    ),
    (
        "the AI SDK's stream",
        (
            _value(b"type", b"text-(?:start|delta|end)", b"(?:start|finish)-step"),
            re.compile(rb'\A0:"'),
        ),
    ),
)
CHAT = re.compile(rb'"choices"\s*:\s*\[')


def dialect_of(head: bytes) -> str | None:
    r"""
    Return which other dialect the body that begins with *head* is in, or None.

    >>> dialect_of(b'event: message_start\ndata: {"type":"message_start"}')
    'the Messages API'
    >>> dialect_of(b'data: {"choices":[]}')
    """
    head = head[:HEAD]
    if CHAT.search(head):
        return None
    if not START.match(head) and not head.startswith(b"\x00\x00"):
        return None
    for name, patterns in MARKS:
        if any(pattern.search(head) for pattern in patterns):
            return name
    return None


def is_stream_text(head: bytes) -> bool:
    """Tell whether a body that begins with *head* has the form of server-sent events."""
    return STREAM_START.match(head) is not None


def other_dialect(name: str) -> Issue:
    """Return the note on a body in the dialect called *name*."""
    return Issue(
        "other_dialect",
        f"this is {name}; streamkit reads chat completions and completions, "
        f"so it is named and left as it is",
    )
