"""What became of many streams, in numbers that can be added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import attrs


__all__ = ["Tally"]


@attrs.define
class Tally:
    """
    Counts over rows.

    Attributes:
        states: How many streams are `complete`, `cut`, `empty`, or ended in an `error`.
        errors: How often each error code came.
        issues: In how many streams each issue code came.
        chunks: How many chunks there were.
        size: How many bytes were read.
    """

    states: Counter[str] = attrs.field(factory=Counter)
    errors: Counter[str] = attrs.field(factory=Counter)
    issues: Counter[str] = attrs.field(factory=Counter)
    chunks: int = 0
    size: int = 0

    @property
    def streams(self) -> int:
        """How many rows were counted."""
        return self.states.total()

    def count(
        self, complete: bool, code: str | None, issues: Iterable[str], chunks: int | None
    ) -> None:
        """Count the row of these cells."""
        state = "complete" if complete else "cut" if code is None else "error"
        self.states["empty" if code == "empty_stream" else state] += 1
        if code is not None:
            self.errors[code] += 1
        self.issues.update(issues)
        self.chunks += chunks or 0

    def add(self, other: Tally) -> None:
        """Count all that *other* has counted."""
        self.states += other.states
        self.errors += other.errors
        self.issues += other.issues
        self.chunks += other.chunks
        self.size += other.size

    def plain(self) -> dict[str, Any]:
        """Return the counts as JSON data, in an order that does not depend on what came first."""
        counts = {
            name: dict(sorted(counter.items()))
            for name, counter in attrs.asdict(self, recurse=False).items()
            if isinstance(counter, Counter)
        }
        return {"streams": self.streams, "chunks": self.chunks, "bytes": self.size, **counts}

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Tally:
        """Return what *plain* was made of."""
        return cls(
            states=Counter(plain["states"]),
            errors=Counter(plain["errors"]),
            issues=Counter(plain["issues"]),
            chunks=plain["chunks"],
            size=plain["bytes"],
        )
