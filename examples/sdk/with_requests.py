"""A chat client on requests."""

from collections.abc import Callable
from typing import Any

import requests

from streamkit import ContentDelta, Outcome, Stream


def ask(url: str, body: dict[str, Any], show: Callable[[str], Any]) -> Outcome:
    """Post *body*, show the text as it comes, and return the outcome."""
    with requests.post(url, json={**body, "stream": True}, stream=True, timeout=60) as response:
        response.raise_for_status()
        # None: whatever has come.  A number would wait until there is as much.
        with Stream(response.iter_content(None)) as stream:
            for event in stream:
                if isinstance(event, ContentDelta):
                    show(event.delta)
    return stream.outcome
