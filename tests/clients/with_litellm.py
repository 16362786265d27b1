"""A program that asks litellm, and says what came; it runs alone, as litellm leaves loops open."""

from __future__ import annotations

import asyncio
import json
import sys

from importlib import import_module

from streamkit import AsyncStream, ContentDelta, Stream, atee, tee


def text_of(events):
    """Return what the deltas of *events* add up to."""
    return "".join(event.delta for event in events if isinstance(event, ContentDelta))


def handed_on(chunks):
    """Return what a reader of litellm's own *chunks* sees."""
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


def whole(outcome):
    """Return the text of *outcome*."""
    return outcome.response.choices[0].message.content


def ask(asked):
    litellm = import_module("litellm")
    with Stream(litellm.completion(**asked)) as stream:
        text = text_of(stream)
    chunks = tee(litellm.completion(**asked))
    return [text, whole(stream.outcome), handed_on(chunks), whole(chunks.outcome)]


async def ask_async(asked):
    litellm = import_module("litellm")
    async with AsyncStream(await litellm.acompletion(**asked)) as stream:
        events = [event async for event in stream]
    chunks = atee(await litellm.acompletion(**asked))
    seen = [chunk async for chunk in chunks]
    return [text_of(events), whole(stream.outcome), handed_on(seen), whole(chunks.outcome)]


if __name__ == "__main__":
    question = json.loads(sys.argv[1])
    sys.stdout.write(json.dumps([*ask(question), *asyncio.run(ask_async(question))]))
