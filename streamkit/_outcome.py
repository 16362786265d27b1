"""What became of a stream: `Outcome`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from ._errors import EmptyStream, IncompleteStream, StreamkitError
from ._issues import Issue


if TYPE_CHECKING:
    from ._models import ChatCompletion, Completion
    from ._timing import Timing


__all__ = ["Outcome", "class_name"]


@attrs.frozen(kw_only=True)
class Outcome:
    """
    The full response of one stream, and the truth about it.

    Attributes:
        response: The full response, a `ChatCompletion` or a `Completion`; None if
            there was no usable chunk.
        complete: Whether nothing is missing: no error came, no value was cut, and
            either `[DONE]` was seen or every choice has a finish reason.
        error: What ended the stream early: an `UpstreamError`, with the server's
            own error object, or a `LimitExceeded`; else None.
        issues: What was repaired, left out or noticed, in order; as many as
            `Limits.issues` keeps.
        issue_counts: How often each issue code came, those not kept included.
        chunks: How many chunks there were.
        done: Whether `[DONE]` was seen; None if the source cannot have one.
        timing: When the chunks came, if the recording has times; else None.
    """

    response: ChatCompletion | Completion | None
    complete: bool
    error: StreamkitError | None = None
    issues: tuple[Issue, ...] = ()
    issue_counts: Mapping[str, int] = attrs.field(factory=dict)
    chunks: int = 0
    done: bool | None = None
    timing: Timing | None = None

    def among(
        self, issues: Iterable[Issue], counts: Mapping[str, int], keep: int | None
    ) -> Outcome:
        """
        Return the outcome with the framing's *issues* among its own, in order of events.

        Args:
            issues: Those of them that were kept.
            counts: How often each code came.
            keep: How many are kept at most.
        """
        joined = sorted(
            [*issues, *self.issues], key=lambda issue: (issue.event is None, issue.event)
        )
        counted = Counter(counts) + Counter(self.issue_counts)
        return attrs.evolve(self, issues=tuple(joined[:keep]), issue_counts=dict(counted))

    def raise_if_incomplete(self) -> None:
        """
        Raise what strict mode raises; `partial` of the error is the response.

        Raises:
            EmptyStream: If there is no response.
            UpstreamError: If the stream carried an error.
            LimitExceeded: If a bound ended it.
            IncompleteStream: If it is not complete for another reason.

        >>> Outcome(response=None, complete=False).raise_if_incomplete()
        Traceback (most recent call last):
        ...
        streamkit.EmptyStream: no usable chunk in the stream
        """
        if self.error is not None:
            self.error.partial = self.response
            raise self.error
        if self.response is None:
            raise EmptyStream("no usable chunk in the stream")
        if not self.complete:
            why = "; ".join(issue.message for issue in self.issues if issue.code in REASONS)
            raise IncompleteStream(
                f"the stream ended too early: {why or 'no finish reason and no [DONE]'}",
                partial=self.response,
            )


REASONS = frozenset({"cut_value", "done_missing", "finish_missing"})


def class_name(value: Any) -> str:
    """
    Return what *value*, passed where a response is wanted, is, and what to pass instead.

    >>> class_name(1), class_name(Outcome(response=None, complete=False))
    ('int', 'Outcome; pass its `response`')
    """
    name = type(value).__name__
    return f"{name}; pass its `response`" if isinstance(value, Outcome) else name
