"""The bounds that hold by default, in one frozen class."""

from __future__ import annotations

import math

import attrs

from ._errors import LimitExceeded


__all__ = ["NO_LIMITS", "Limits", "check_limits"]

MIB = 1 << 20


@attrs.frozen(kw_only=True)
class Limits:
    """
    Bounds on what one stream may cost; None switches a bound off.

    The defaults are far above what providers send and far below what hurts:
    event limits of 64 KiB to 1 MiB have all been met by real streams.

    Attributes:
        line: Bytes in one line, a pending unterminated one included.
        event: Bytes of data in one event.
        chunks: Chunks in one stream.
        text: Characters of accumulated text, over all fields and choices.
        choices: Choices in one stream.
        index: The highest `index` of a choice or a tool call.
        tool_calls: Tool calls in one choice.
        logprobs: Log probability entries in one choice; parallel lists, which are
            padded to one length, count once for each eight of them.
        depth: Nesting of JSON containers; never more than 128.
        keys: Keys in one JSON object.
        issues: Issues kept; counting goes on.
        decompressed: Bytes that a compressed recording may expand to.

    Raises:
        TypeError: If a bound is neither None nor an integer of at least 0.

    >>> Limits(line=1024).line
    1024
    >>> Limits().choices
    1024
    """

    line: int | None = 32 * MIB
    event: int | None = 32 * MIB
    chunks: int | None = 10_000_000
    text: int | None = 256 * MIB
    choices: int | None = 1024
    index: int | None = 65_535
    tool_calls: int | None = 1024
    logprobs: int | None = 4_000_000
    depth: int | None = 64
    keys: int | None = 10_000
    issues: int | None = 100
    decompressed: int | None = 4096 * MIB

    def __attrs_post_init__(self) -> None:
        for field in attrs.fields(Limits):
            bound = getattr(self, field.name)
            is_bound = isinstance(bound, int) and not isinstance(bound, bool) and bound >= 0
            if bound is not None and not is_bound:
                raise TypeError(
                    f"{field.name} must be an integer of at least 0, or None, not {bound!r}"
                )

    @property
    def longest(self) -> float:
        """How many bytes can cross neither the bound on lines nor that on events."""
        bounds = [bound for bound in (self.line, self.event) if bound is not None]
        return min(bounds, default=math.inf)

    def check(self, limit: str, value: int, offset: int | None = None) -> None:
        """
        Raise if *value* crosses the bound called *limit*.

        Raises:
            LimitExceeded: With *limit*, *value* and *offset* as attributes.
        """
        bound: int | None = getattr(self, limit)
        if bound is not None and value > bound:
            raise LimitExceeded(limit, value, offset, bound=bound)


NO_LIMITS = Limits(**dict.fromkeys((field.name for field in attrs.fields(Limits)), None))


def check_limits(limits: object) -> None:
    """
    Check an argument of that name.

    Raises:
        TypeError: If it is no `Limits`.
    """
    if not isinstance(limits, Limits):
        raise TypeError(f"limits must be a Limits, not {limits!r}")
