"""A chat client on aiohttp."""

from collections.abc import Callable
from typing import Any

import aiohttp

from streamkit import AsyncStream, ContentDelta, Outcome


async def ask(url: str, body: dict[str, Any], show: Callable[[str], Any]) -> Outcome:
    """Post *body*, show the text as it comes, and return the outcome."""
    timeout = aiohttp.ClientTimeout(total=None, sock_read=60)
    async with (
        aiohttp.ClientSession(timeout=timeout, raise_for_status=True) as session,
        session.post(url, json={**body, "stream": True}) as response,
        AsyncStream(response.content.iter_any()) as stream,
    ):
        async for event in stream:
            if isinstance(event, ContentDelta):
                show(event.delta)
    return stream.outcome
