"""Streams in a Spark table; needs the extra `spark`."""

from __future__ import annotations

from .engines.spark import rebuild


__all__ = ["rebuild"]
