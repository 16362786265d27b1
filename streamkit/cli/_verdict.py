"""What is said of an outcome in a word or two, by more than one command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from streamkit._models import ChatCompletion
from streamkit._outcome import REASONS, Outcome


__all__ = ["issue_counts", "issue_lines", "kind_of", "reasons", "state"]


def state(outcome: Outcome) -> str:
    """Return `complete`, `error`, `empty` or `cut`."""
    if outcome.complete:
        return "complete"
    if outcome.error is not None:
        return "error"
    return "empty" if outcome.response is None else "cut"


def kind_of(outcome: Outcome) -> str | None:
    """Return the kind of the response, `chat` or `completion`, or None if there is none."""
    if outcome.response is None:
        return None
    return "chat" if isinstance(outcome.response, ChatCompletion) else "completion"


def reasons(outcome: Outcome) -> str:
    """Return why *outcome* is not complete: codes, then what its error says, or that of nothing."""
    codes = [] if outcome.error is None else [outcome.error.code]
    is_empty = outcome.response is None
    codes += [code for code in outcome.issue_counts if is_empty or code in REASONS]
    told = [] if outcome.error is None else [str(outcome.error)]
    if is_empty and not told:
        messages = [issue.message for issue in outcome.issues if issue.code != "empty_stream"]
        told = (messages or [issue.message for issue in outcome.issues])[-1:]
    return ": ".join([", ".join(codes), *told])


def issue_counts(outcome: Outcome) -> list[str]:
    """Return the issue codes of *outcome* with how often each came: `id_changed=3`."""
    return [f"{code}={count}" for code, count in outcome.issue_counts.items()]


def issue_lines(outcome: Outcome) -> Iterator[str]:
    """Yield what was noticed, and how often where not each instance was kept."""
    kept = Counter(issue.code for issue in outcome.issues)
    yield from map(str, outcome.issues)
    for code, count in outcome.issue_counts.items():
        if kept[code] < count:
            yield f"{code}: {count} in all"
