"""The same on httpx's async client, with a time-out that comments wind up."""

import asyncio

from collections.abc import Callable
from typing import Any

import httpx

from streamkit import AsyncStream, ContentDelta, Outcome


IDLE = 60  # seconds without anything, not even a comment


async def ask(url: str, body: dict[str, Any], show: Callable[[str], Any]) -> Outcome:
    """Post *body*, show the text as it comes, and return the outcome."""
    loop = asyncio.get_running_loop()
    async with (
        asyncio.timeout(IDLE) as watchdog,
        httpx.AsyncClient(timeout=httpx.Timeout(10, read=None)) as client,
        client.stream("POST", url, json={**body, "stream": True}) as response,
    ):
        response.raise_for_status()
        blocks = response.aiter_bytes()
        async with AsyncStream(
            blocks, on_life=lambda: watchdog.reschedule(loop.time() + IDLE)
        ) as stream:
            async for event in stream:
                if isinstance(event, ContentDelta):
                    show(event.delta)
    return stream.outcome
