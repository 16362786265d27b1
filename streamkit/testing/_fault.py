"""One thing that can be wrong with a stream: `Fault`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs


__all__ = ["Break", "Fault"]

Break: TypeAlias = Callable[[Sequence[Any], int | None, Mapping[str, Any]], bytes]


@attrs.frozen(kw_only=True)
class Fault:
    """
    One thing that can be wrong with a stream.

    Call it with chunks for the bytes of the broken stream.

    Attributes:
        name: Its name in `FAULTS`.
        what: What is wrong.
        issues: The codes that streamkit reports.
        may: Codes that it may report besides; no others.
        complete: Whether the outcome is complete.
        error: The code of the outcome's error, or `""`.
        whole: The response comes back as if nothing were wrong; else it may not.
        empty: There is no response at all.
        chat_only: A legacy completion cannot have it, and is not changed.
        make: What breaks chunks, given where (or None) and options of `to_sse`.

    >>> from streamkit import rebuild
    >>> from streamkit.testing import FAULTS
    >>> chunks = [
    ...     {"choices": [{"index": 0, "delta": {"content": "Hi"}}]},
    ...     {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ... ]
    >>> fault = FAULTS["late_bom"]
    >>> outcome = rebuild(fault(chunks))
    >>> {*outcome.issue_counts} == fault.issues, outcome.complete == fault.complete
    (True, True)
    """

    name: str
    what: str
    issues: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    complete: bool = True
    error: str = ""
    whole: bool = False
    empty: bool = False
    chat_only: bool = False
    make: Break = attrs.field(repr=False)

    def __call__(self, chunks: Sequence[Any], *, at: int | None = None, **options: Any) -> bytes:
        """
        Return the bytes of *chunks* with this fault.

        Args:
            chunks: Those of a whole stream, of which each choice is finished.
            at: Which chunk it is about, if it is about one, counted from 0; where
                something comes between two or after one, that before it.  None:
                one near the middle, after which a choice goes on.
            options: As for `to_sse`; a cut stream has no `[DONE]` in any case.

        Raises:
            TypeError: If *at* is no chunk's number, or no choice goes on anywhere.
        """
        return self.make(chunks, at, {"done": True, **options})
