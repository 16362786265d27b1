"""Hypothesis, or the error that says what to install."""

from __future__ import annotations

from streamkit._errors import NotInstalled


try:
    from hypothesis import strategies as st
except ImportError:
    raise NotInstalled(
        "streamkit.testing.strategies needs Hypothesis: install streamkit-llm[testing]"
    ) from None


__all__ = ["st"]
