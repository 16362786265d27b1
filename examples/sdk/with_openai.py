"""The openai client: its own chunks for whoever reads them, and the outcome beside them."""

from collections.abc import Callable
from typing import Any

import openai

from streamkit import Outcome, tee


def ask(client: openai.OpenAI, body: dict[str, Any], show: Callable[[str], Any]) -> Outcome:
    """Ask for a chat completion, show the text as it comes, and return the outcome."""
    with tee(client.chat.completions.create(**body, stream=True)) as stream:
        for chunk in stream:  # the client's own objects
            for choice in chunk.choices:
                show(choice.delta.content or "")
    return stream.outcome
