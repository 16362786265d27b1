"""
The errors of streamkit: one root, one class for each thing that a caller can
do something about.  Nothing else escapes, but `TypeError` for a wrong argument
and `OSError` from a file or an iterable that the caller handed in.

StreamkitError
├── FramingError       the bytes break the framing (strict modes only)
├── InvalidChunk       a payload is no chunk, or a value has the wrong type
├── UpstreamError      the stream itself carried an error object
├── IncompleteStream   the stream ended before it was complete
├── EmptyStream        no usable chunk at all
├── LimitExceeded      a bound of `Limits` was crossed
├── InputRefused       input after the end, or after an error, without `reset()`
├── UnknownForm        the recording's form is not known or not supported
└── NotInstalled       an optional package is missing; an `ImportError`, too
"""

from __future__ import annotations

from typing import Any, ClassVar


__all__ = [
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
    "amount",
    "quote",
]

QUOTE_LIMIT = 120


def quote(value: object) -> str:
    """
    Return *value* as it may stand in a message: its repr, at most 120 characters.

    The repr escapes control characters, so that text from a stream can neither
    forge log lines nor drive a terminal.
    """
    if isinstance(value, (str, bytes)):
        value = value[:QUOTE_LIMIT]
    try:
        text = ascii(value) if isinstance(value, str) else repr(value)
    except (RecursionError, ValueError):  # nested too deep; an integer of too many digits
        text = f"a {type(value).__name__} too large to show"
    return text if len(text) <= QUOTE_LIMIT else text[: QUOTE_LIMIT - 1] + "…"


def amount(count: int, what: str) -> str:
    """
    Return *count* and the word for *what* is counted, in the plural but for one.

    >>> amount(1, "chunk"), amount(0, "entry"), amount(2, "entry")
    ('1 chunk', '0 entries', '2 entries')
    """
    if count != 1:
        what = what[:-1] + "ies" if what.endswith("ry") else what + "s"
    return f"{count} {what}"


class StreamkitError(Exception):
    """
    The root of all errors that streamkit raises.

    Attributes:
        code: The error's name for programs, such as `"invalid_chunk"`; stable
            over releases.
        partial: What was whole before the error: a response, the events or
            chunks of the call that failed, or None.
    """

    code: ClassVar[str] = "streamkit_error"

    def __init__(self, message: str = "", *, partial: Any = None) -> None:
        super().__init__(message)
        self.partial = partial


class FramingError(StreamkitError):
    """
    The bytes break a rule of the framing, and the mode is strict.

    Attributes:
        issue: The `Issue` that a lenient reader would have recorded.
    """

    code: ClassVar[str] = "framing_error"

    def __init__(self, message: str = "", *, issue: Any = None, partial: Any = None) -> None:
        super().__init__(message, partial=partial)
        self.issue = issue


class InvalidChunk(StreamkitError):
    """
    A payload is no chunk, or one of its values has the wrong type.

    Attributes:
        path: Where, in JSONPath notation: `"$.choices[0].delta.content"`.
        errors: All that was found wrong, one line each.
    """

    code: ClassVar[str] = "invalid_chunk"

    def __init__(
        self,
        message: str = "",
        *,
        path: str = "$",
        errors: tuple[str, ...] = (),
        partial: Any = None,
    ) -> None:
        super().__init__(message, partial=partial)
        self.path = path
        self.errors = errors


class UpstreamError(StreamkitError):
    """
    The stream carried an error object instead of, or after, chunks.

    Attributes:
        payload: The error object as the server sent it.
        body: The whole payload that it came in.
    """

    code: ClassVar[str] = "upstream_error"

    def __init__(
        self, message: str = "", *, payload: Any = None, body: Any = None, partial: Any = None
    ) -> None:
        super().__init__(message, partial=partial)
        self.payload = payload
        self.body = body

    @classmethod
    def of(cls, payload: object, body: object) -> UpstreamError:
        """Return the error for the error object *payload*, in the server's own words."""
        detail = payload.get("message") if isinstance(payload, dict) else payload
        return cls(
            f"the server sent an error: {quote(payload if detail is None else detail)}",
            payload=payload,
            body=body,
        )


class IncompleteStream(StreamkitError):
    """The stream ended before it was complete: no `[DONE]`, no finish reason, or a cut value."""

    code: ClassVar[str] = "incomplete_stream"


class EmptyStream(StreamkitError):
    """There was no usable chunk at all."""

    code: ClassVar[str] = "empty_stream"


class LimitExceeded(StreamkitError):
    """
    A bound of `Limits` was crossed.

    Attributes:
        limit: The name of the bound, a field of `Limits`: `"line"`.
        value: The value that was too much, in the bound's unit.
        offset: Where in the input, in bytes from its start, if known.
        bound: What the bound is.
    """

    code: ClassVar[str] = "limit_exceeded"

    def __init__(
        self,
        limit: str = "",
        value: int = 0,
        offset: int | None = None,
        *,
        bound: int | None = None,
        partial: Any = None,
    ) -> None:
        super().__init__(limit, partial=partial)
        self.limit = limit
        self.value = value
        self.offset = offset
        self.bound = bound

    def __str__(self) -> str:
        where = "" if self.offset is None else f" at byte {self.offset}"
        most = "" if self.bound is None else f", the limit is {self.bound}"
        return f"{self.limit}: {self.value}{most}{where}; pass Limits({self.limit}=…) to allow more"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.limit, self.value, self.offset), {**vars(self), "args": self.args}


class InputRefused(StreamkitError):
    """Input came after the end, or after an error; call `reset()` first."""

    code: ClassVar[str] = "input_refused"


class UnknownForm(StreamkitError):
    """The recording's form is not known, or cannot be read, and the message says what can be."""

    code: ClassVar[str] = "unknown_form"


class NotInstalled(StreamkitError, ImportError):
    """An optional package is not installed, and the message says what to install."""

    code: ClassVar[str] = "not_installed"


# Tracebacks and reprs show the name under which a caller imports them.
for _error in (
    StreamkitError,
    FramingError,
    InvalidChunk,
    UpstreamError,
    IncompleteStream,
    EmptyStream,
    LimitExceeded,
    InputRefused,
    UnknownForm,
    NotInstalled,
):
    _error.__module__ = "streamkit"
