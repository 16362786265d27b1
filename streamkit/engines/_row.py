"""An outcome as a row of a table: a flat dict of texts, numbers and lists of texts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs

from streamkit._converter import to_json
from streamkit._errors import EmptyStream, StreamkitError, quote
from streamkit._json import encode, mend_surrogates
from streamkit._models import ChatCompletion, Completion, Usage
from streamkit._outcome import Outcome


__all__ = ["COLUMNS", "Row", "error_cells", "row_of", "row_of_error"]

Row = dict[str, Any]

COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "response": "text",
        "text": "text",
        "finish_reasons": "texts",
        "usage": "text",
        "prompt_tokens": "integer",
        "completion_tokens": "integer",
        "total_tokens": "integer",
        "chunks": "integer",
        "complete": "truth",
        "error_code": "text",
        "error_message": "text",
        "issue_codes": "texts",
        "issues": "text",
    }
)
"""The columns of a row in their order, and what each holds, if it is not null."""

TOKENS = ("prompt_tokens", "completion_tokens", "total_tokens")
# What a column of integers can hold, in Arrow as in Parquet and Spark.
MOST = (1 << 63) - 1


def row_of(outcome: Outcome) -> Row:
    """
    Return *outcome* as a row with the columns of `COLUMNS`.

    An outcome without a response has the error that strict mode raises then.
    """
    error = outcome.error
    if error is None and outcome.response is None:
        error = EmptyStream("no usable chunk in the stream")
    return {
        **_response_cells(outcome.response),
        "chunks": outcome.chunks,
        "complete": outcome.complete,
        **error_cells(error),
        "issue_codes": list(outcome.issue_counts),
        "issues": encode([attrs.asdict(issue) for issue in outcome.issues]),
    }


def row_of_error(error: Exception) -> Row:
    """Return the row of a body that *error* ended the reading of, with what it left behind."""
    partial = getattr(error, "partial", None)
    response = partial if isinstance(partial, (ChatCompletion, Completion)) else None
    return {
        **_response_cells(response),
        "chunks": None,
        "complete": False,
        **error_cells(error),
        "issue_codes": [],
        "issues": "[]",
    }


def _response_cells(response: ChatCompletion | Completion | None) -> Row:
    usage = None if response is None else response.usage
    return {
        "response": None if response is None else to_json(response),
        "text": _text(response),
        "finish_reasons": _finish_reasons(response),
        "usage": to_json(usage) if isinstance(usage, Usage) else None,
        **{name: _integer(getattr(usage, name, None)) for name in TOKENS},
    }


def _text(response: ChatCompletion | Completion | None) -> str | None:
    """Return the text of the first choice; None if it has none, but say tool calls."""
    for choice in () if response is None else response.choices:
        message = getattr(choice, "message", None)
        text = getattr(choice, "text", None) if message is None else message.content
        return mend_surrogates(text)[0] if isinstance(text, str) else None
    return None


def _finish_reasons(response: ChatCompletion | Completion | None) -> list[str | None]:
    reasons = [] if response is None else [choice.finish_reason for choice in response.choices]
    return [mend_surrogates(reason)[0] if isinstance(reason, str) else None for reason in reasons]


def _integer(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if -MOST <= value <= MOST else None


def error_cells(error: Exception | None) -> Row:
    """Return the cells that say what ended the reading."""
    if error is None:
        return {"error_code": None, "error_message": None}
    if isinstance(error, StreamkitError):
        code, message = error.code, str(error)
    elif isinstance(error, OSError):
        code, message = "unreadable", error.strerror or str(error)
    elif isinstance(error, TypeError):
        code, message = "wrong_type", str(error)
    else:  # a mistake of ours, which is not to cost the other rows
        code, message = "unexpected", f"{type(error).__name__}: {quote(str(error))}"
    return {"error_code": code, "error_message": mend_surrogates(message)[0]}
