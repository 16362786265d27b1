"""What is played in turn, one playback for each request."""

from __future__ import annotations

import threading

from collections.abc import Iterable, Iterator

from ._playback import Playback


__all__ = ["Program"]


class Program:
    """
    Playbacks in turn; threads may share it.

    Args:
        playbacks: The playbacks.
        cycle: After the last comes the first; else the last again.
    """

    def __init__(self, playbacks: Iterable[Playback], *, cycle: bool = False) -> None:
        self._playbacks = list(playbacks)
        self._cycle = cycle
        self._place = 0
        self._lock = threading.Lock()

    def next(self) -> Playback | None:
        """Return the one whose turn it is, or None if there are none."""
        with self._lock:
            place, self._place = self._place, self._place + 1
        if not self._playbacks:
            return None
        last = len(self._playbacks) - 1
        return self._playbacks[place % (last + 1) if self._cycle else min(place, last)]

    def models(self) -> Iterator[str]:
        """Yield the names of the models whose responses they hold."""
        for playback in self._playbacks:
            response = playback.outcome.response
            if response is not None and response.model:
                yield response.model
