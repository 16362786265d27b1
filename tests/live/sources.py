"""Sources of blocks: they count what is read, and know whether they were closed."""

from __future__ import annotations

import asyncio


class Source:
    """An iterable that can be closed, as a client's response or stream."""

    def __init__(self, *items, error=None):
        self.items = items
        self.error = error
        self.read = 0
        self.closed = 0

    def __iter__(self):
        for item in self.items:
            self.read += 1
            yield item
        if self.error is not None:
            raise self.error

    def close(self):
        self.closed += 1


class AsyncSource(Source):
    """The same, async; an Event among the items is waited for."""

    async def __aiter__(self):
        for item in self.items:
            if isinstance(item, asyncio.Event):
                await item.wait()
                continue
            self.read += 1
            yield item
        if self.error is not None:
            raise self.error

    async def close(self):
        self.closed += 1
