"""What a figure is: a row of the table, with its goal beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal

import attrs

from .timing import Effort, Run, race


__all__ = ["NO_GOAL", "Goal", "Group", "Row", "against"]

Unit = Literal["x", "us", "KiB", "blocks"]
# Microseconds are of one machine; the other units mean the same on each.
NEUTRAL: Final = frozenset({"x", "KiB", "blocks"})


@attrs.frozen
class Goal:
    """
    What a figure has to reach.

    >>> str(Goal(at_least=2.5)), Goal(at_most=1.2).is_met(1.3)
    ('>= 2.5', False)
    """

    at_least: float | None = None
    at_most: float | None = None

    def is_met(self, value: float) -> bool:
        above = self.at_least is None or value >= self.at_least
        return above and (self.at_most is None or value <= self.at_most)

    def __str__(self) -> str:
        if self.at_least is not None:
            return f">= {self.at_least:g}"
        return "" if self.at_most is None else f"<= {self.at_most:g}"


NO_GOAL: Final = Goal()


@attrs.frozen
class Row:
    """
    One figure.

    Attributes:
        name: What is measured, against what; the key in the record.
        value: The figure; None if what it needs is not installed.
        unit: `"x"` for a ratio; more is better where the goal is at least, or none.
        goal: What it has to reach.
    """

    name: str
    value: float | None
    unit: Unit = "x"
    goal: Goal = NO_GOAL

    @property
    def is_neutral(self) -> bool:
        """Whether the figure means the same on another machine."""
        return self.unit in NEUTRAL

    @property
    def verdict(self) -> str:
        """Return whether the goal was met, in a word; nothing without a goal."""
        if self.value is None:
            return "not installed"
        if self.goal == NO_GOAL:
            return ""
        return "met" if self.goal.is_met(self.value) else "MISSED"

    def plain(self) -> dict[str, Any]:
        """Return the row as JSON data."""
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "goal": str(self.goal),
            "verdict": self.verdict,
        }


Group = Callable[[Effort], Iterator[Row]]


def against(
    effort: Effort,
    name: str,
    ours: Run,
    others: Mapping[str, Run | None],
    goals: Mapping[str, Goal] | None = None,
) -> Iterator[Row]:
    """
    Yield how many times as long each of *others* takes as *ours*.

    Args:
        effort: How much is measured.
        name: What *ours* does.
        ours: Our side; it has its turn beside each of the others.
        others: By name; None for what is not installed.
        goals: By the others' names.
    """
    goals = goals or {}
    runs = {other: run for other, run in others.items() if run is not None}
    times = race(effort, {"": ours, **runs})
    for other in others:
        value = times[other] / times[""] if other in times else None
        yield Row(f"{name} | {other}", value, goal=goals.get(other, NO_GOAL))
