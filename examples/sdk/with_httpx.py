"""A chat client on httpx: text while it streams, the full response at the end."""

from collections.abc import Callable
from typing import Any

import httpx

from streamkit import ContentDelta, Outcome, Stream


def ask(url: str, body: dict[str, Any], show: Callable[[str], Any]) -> Outcome:
    """Post *body*, show the text as it comes, and return the outcome."""
    with httpx.stream("POST", url, json={**body, "stream": True}, timeout=60) as response:
        response.raise_for_status()
        with Stream(response.iter_bytes()) as stream:
            for event in stream:
                if isinstance(event, ContentDelta):
                    show(event.delta)
    return stream.outcome
