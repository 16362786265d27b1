"""
Streams by the million: the same rebuilding on all cores, on Spark and on Ray.

`rebuild_batch` makes rows of bodies, and never raises for one of them; the other
rooms bring bodies to it, and its rows to where they belong.
"""

from __future__ import annotations

from ._batch import rebuild_batch


__all__ = ["rebuild_batch"]
