"""Streams in a Ray dataset; needs the extra `ray`."""

from __future__ import annotations

from .engines.ray import rebuild


__all__ = ["rebuild"]
