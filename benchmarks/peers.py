"""
Other libraries that do the same or a part of it, each where it is installed.

What they need as input is made before the time starts: they get chunk objects
where streamkit gets bytes.  They have a shorter stream, because some take a time
that grows with its square; streamkit has to carry what it costs to begin.
"""

from __future__ import annotations

import json
import os

from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce
from operator import add
from typing import Any

from streamkit import rebuild

from .floors import if_installed
from .ours import accumulate, live, parse
from .rows import Goal, Row, against
from .streams import Chunk, Stream, make
from .timing import Effort, Run, consume


__all__ = ["builders", "parsers"]


def builders(effort: Effort) -> Iterator[Row]:
    """What makes a response, or a message, of the chunks of a stream."""
    goals = {"openai helper": Goal(at_least=100)}
    yield from _openai_alone(effort, goals)
    text = make("text", effort.chunks // 10)
    others = _builders(text)
    ours = partial(rebuild, text.data, json="json")
    yield from against(effort, "rebuild text", ours, others, goals)
    yield from against(effort, "live text, event by event", partial(live, text.events), others)
    yield from against(effort, "Accumulator text", partial(accumulate, text.chunks), others)
    top5 = make("top5", effort.chunks // 10)
    ours = partial(rebuild, top5.data, json="json")
    yield from against(effort, "rebuild top5", ours, _builders(top5))


def _openai_alone(effort: Effort, goals: Mapping[str, Goal]) -> Iterator[Row]:
    """Measure the one peer with a goal also with a stream of ordinary length."""
    text = make("text", effort.chunks)
    others = {"openai helper": if_installed(_openai, text.chunks)}
    ours = partial(rebuild, text.data, json="json")
    return against(effort, f"rebuild text, {effort.chunks:,} chunks", ours, others, goals)


def _builders(stream: Stream) -> dict[str, Run | None]:
    return {
        "plain loop": partial(_plain_loop, stream.data),
        "openai helper": if_installed(_openai, stream.chunks),
        "litellm": if_installed(_litellm, stream.chunks),
        "langchain-core": if_installed(_langchain, stream.chunks),
        "openinference": if_installed(_openinference, stream.chunks),
    }


def _plain_loop(data: bytes) -> str:
    """Take the text alone, of one choice, from a stream that has no fault."""
    text = ""
    for event in data.split(b"\n\n"):
        payload = event.removeprefix(b"data: ")
        if payload and payload != b"[DONE]":
            for choice in json.loads(payload)["choices"]:
                text += choice["delta"].get("content") or ""
    return text


def _openai(chunks: Sequence[Chunk]) -> Run:
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    objects = [ChatCompletionChunk.model_validate(chunk) for chunk in chunks]

    def run() -> object:
        state: Any = ChatCompletionStreamState()
        for chunk in objects:
            consume(state.handle_chunk(chunk))
        return state.get_final_completion()

    return run


def _litellm(chunks: Sequence[Chunk]) -> Run:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the import downloads it
    import litellm

    from litellm.types.utils import ModelResponseStream

    litellm.suppress_debug_info = True
    objects = [ModelResponseStream(**chunk) for chunk in chunks]
    run = partial(litellm.stream_chunk_builder, objects)
    run()  # the first call loads a tokenizer
    return run


def _langchain(chunks: Sequence[Chunk]) -> Run:
    from langchain_core.messages import AIMessageChunk
    from langchain_openai import ChatOpenAI

    model: Any = ChatOpenAI(api_key="none", model="demo-1-mini")
    objects = [model._convert_chunk_to_generation_chunk(c, AIMessageChunk, None) for c in chunks]
    messages = [each.message for each in objects if each is not None]
    return lambda: reduce(add, messages)


def _openinference(chunks: Sequence[Chunk]) -> Run:
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
    from openinference.instrumentation.openai._response_accumulator import (
        _ChatCompletionAccumulator,
    )

    objects = [ChatCompletionChunk.model_validate(chunk) for chunk in chunks]

    def run() -> object:
        accumulator: Any = _ChatCompletionAccumulator({}, ChatCompletion)
        for chunk in objects:
            accumulator.process_chunk(chunk)
        return accumulator._result()

    return run


# -- Parsers of server-sent events ---------------------------------------------------


def parsers(effort: Effort) -> Iterator[Row]:
    """What makes events of bytes."""
    stream = make("padded", effort.chunks // 2)
    for cut, pieces in (("4 KiB blocks", stream.blocks(4096)), ("event by event", stream.events)):
        others = {
            "httpx-sse": if_installed(_httpx_sse, pieces),
            "openai decoder": if_installed(_openai_decoder, pieces),
            "anthropic decoder": if_installed(_anthropic_decoder, pieces),
        }
        yield from against(effort, f"SSEParser, {cut}", partial(parse, pieces), others)


def _httpx_sse(blocks: Sequence[bytes]) -> Run:
    import httpx
    import httpx_sse

    def run() -> None:
        headers = {"content-type": "text/event-stream"}
        response = httpx.Response(200, headers=headers, content=iter(blocks))
        consume(httpx_sse.EventSource(response).iter_sse())

    return run


def _openai_decoder(blocks: Sequence[bytes]) -> Run:
    from openai._streaming import SSEDecoder

    return lambda: consume(SSEDecoder().iter_bytes(iter(blocks)))


def _anthropic_decoder(blocks: Sequence[bytes]) -> Run:
    from anthropic._streaming import SSEDecoder

    return lambda: consume(SSEDecoder().iter_bytes(iter(blocks)))
