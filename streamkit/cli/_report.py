"""An outcome as JSON data: what `streamkit rebuild --outcome` prints."""

from __future__ import annotations

from typing import Any

from streamkit._converter import to_dict
from streamkit._errors import FramingError, StreamkitError, UpstreamError
from streamkit._issues import Issue
from streamkit._models import ChatCompletion, Completion
from streamkit._outcome import Outcome


__all__ = ["report", "report_failure"]


def report(outcome: Outcome, source: str) -> dict[str, Any]:
    """Return the JSON form of *outcome*, a stream of *source*."""
    return {
        "response": None if outcome.response is None else to_dict(outcome.response),
        "complete": outcome.complete,
        "done": outcome.done,
        "chunks": outcome.chunks,
        "error": None if outcome.error is None else _error(outcome.error),
        "issues": [_issue(issue) for issue in outcome.issues],
        "issue_counts": dict(outcome.issue_counts),
        "source": source,
    }


def report_failure(error: StreamkitError, source: str) -> dict[str, Any]:
    """Return the same form for a stream of *source* that strict mode ended with *error*."""
    is_response = isinstance(error.partial, (ChatCompletion, Completion))
    issue = error.issue if isinstance(error, FramingError) else None
    return {
        "response": to_dict(error.partial) if is_response else None,
        "complete": False,
        "done": None,
        "chunks": None,
        "error": _error(error),
        "issues": [] if issue is None else [_issue(issue)],
        "issue_counts": {} if issue is None else {issue.code: 1},
        "source": source,
    }


def _error(error: StreamkitError) -> dict[str, Any]:
    payload = error.payload if isinstance(error, UpstreamError) else None
    return {"code": error.code, "message": str(error), "payload": payload}


def _issue(issue: Issue) -> dict[str, Any]:
    return {
        "code": issue.code,
        "message": issue.message,
        "event": issue.event,
        "offset": issue.offset,
    }
