"""
Streams to measure with: made up, and the same on every run.

Each says what has to come out of it; `tests/benchmarks` holds it to that.
"""

from __future__ import annotations

import json
import random

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, Final

import attrs


__all__ = ["STREAMS", "Chunk", "Stream", "blocks_of", "make"]

Chunk = dict[str, Any]

WORDS: Final = (" the", " of", " stream", "ing", " naïve", " and", ".", "\n", " x_1", " 12", " a")
HARD: Final = ('"', "\\", "\n\n", "\t", " é", " 日本", "語", " 🙂", "{", "}", "data: ", "€")
LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

CHAT: Final[Chunk] = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "created": 1700000000,
    "model": "demo-1-mini",
    "service_tier": "default",
    "system_fingerprint": "fp_1",
}
TEXT: Final[Chunk] = {
    "id": "cmpl-1",
    "object": "text_completion",
    "created": 1700000000,
    "model": "demo-1-instruct",
}
USAGE: Final = {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21}


@attrs.frozen(slots=False)
class Stream:
    """
    A stream, and what has to come out of it.

    Attributes:
        payloads: The JSON of each event, `[DONE]` left out.
        texts: What one text field of each choice has to be, by index.
        field: Which: the last part of its path; `"content"`, `"arguments"` and so on.
        reasoning: What the reasoning of choice 0 has to be.
        entries: How many log probabilities choice 0 has to have.
        tokens: What Friendli's tokens of choice 0 have to be.
    """

    payloads: list[bytes]
    texts: dict[int, str]
    field: str = "content"
    reasoning: str = ""
    entries: int = 0
    tokens: list[int] = attrs.Factory(list)

    @cached_property
    def events(self) -> list[bytes]:
        """The events one by one, as bytes."""
        return [b"data: %b\n\n" % payload for payload in [*self.payloads, b"[DONE]"]]

    @cached_property
    def data(self) -> bytes:
        """All of it."""
        return b"".join(self.events)

    @cached_property
    def chunks(self) -> list[Chunk]:
        """The chunks, decoded."""
        return [json.loads(payload) for payload in self.payloads]

    def blocks(self, size: int) -> list[bytes]:
        """Return its bytes in blocks of *size*."""
        return list(blocks_of(self.data, size))


def blocks_of(data: bytes, size: int) -> Iterator[bytes]:
    """Yield *data* in blocks of *size*."""
    return (data[at : at + size] for at in range(0, len(data), size))


def make(name: str, count: int) -> Stream:
    """Return the stream called *name*, of about *count* chunks."""
    return STREAMS[name](random.Random(name), count)


# -- Chunks ------------------------------------------------------------------------------


def _chat(delta: Chunk, *, index: int = 0, finish: str | None = None, **more: Any) -> Chunk:
    choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {**CHAT, "choices": [{**choice, **more}]}


def _completion(text: str, *, finish: str | None = None, **more: Any) -> Chunk:
    choice = {"text": text, "index": 0, "logprobs": None, "finish_reason": finish}
    return {**TEXT, "choices": [{**choice, **more}]}


def _framed(deltas: list[Chunk], *, choices: int = 1, finish: str = "stop") -> list[Chunk]:
    """Put the chunks that open and close a chat stream around *deltas*."""
    role = {"role": "assistant", "content": "", "refusal": None}
    opening = [_chat(role, index=index) for index in range(choices)]
    closing = [_chat({}, index=index, finish=finish) for index in range(choices)]
    return [*opening, *deltas, *closing, {**CHAT, "choices": [], "usage": USAGE}]


def _encoded(chunks: list[Chunk], *, ascii_only: bool = False) -> list[bytes]:
    encoder = json.JSONEncoder(ensure_ascii=ascii_only, separators=(",", ":"))
    return [encoder.encode(chunk).encode() for chunk in chunks]


def _padding(rng: random.Random) -> str:
    return "".join(rng.choices(LETTERS, k=rng.randrange(2, 16)))


# -- Streams -----------------------------------------------------------------------------


def text(rng: random.Random, count: int) -> Stream:
    """Content deltas of a token each."""
    pieces = rng.choices(WORDS, k=count)
    chunks = _framed([_chat({"content": piece}) for piece in pieces])
    return Stream(_encoded(chunks), {0: "".join(pieces)})


def padded(rng: random.Random, count: int) -> Stream:
    """The same, each with padding that hides how long its token is."""
    pieces = rng.choices(WORDS, k=count)
    deltas = [_chat({"content": piece}) | {"obfuscation": _padding(rng)} for piece in pieces]
    return Stream(_encoded(_framed(deltas)), {0: "".join(pieces)})


def long(rng: random.Random, count: int) -> Stream:
    """Content deltas of some hundred characters."""
    pieces = ["".join(rng.choices(WORDS, k=100)) for _ in range(count // 4)]
    chunks = _framed([_chat({"content": piece}) for piece in pieces])
    return Stream(_encoded(chunks), {0: "".join(pieces)})


def utf8(rng: random.Random, count: int) -> Stream:
    """Quotes, backslashes, line ends and characters outside ASCII, as UTF-8."""
    pieces = rng.choices(HARD, k=count)
    chunks = _framed([_chat({"content": piece}) for piece in pieces])
    return Stream(_encoded(chunks), {0: "".join(pieces)})


def escapes(rng: random.Random, count: int) -> Stream:
    r"""The same, with all that is not ASCII as \\u escapes."""
    pieces = rng.choices(HARD, k=count)
    chunks = _framed([_chat({"content": piece}) for piece in pieces])
    return Stream(_encoded(chunks, ascii_only=True), {0: "".join(pieces)})


def n4(rng: random.Random, count: int) -> Stream:
    """Four choices, interleaved at random."""
    pieces = [(rng.randrange(4), rng.choice(WORDS)) for _ in range(count)]
    deltas = [_chat({"content": piece}, index=index) for index, piece in pieces]
    texts = {n: "".join(piece for index, piece in pieces if index == n) for n in range(4)}
    return Stream(_encoded(_framed(deltas, choices=4)), texts)


def _entry(rng: random.Random, token: str) -> Chunk:
    return {"token": token, "logprob": -rng.random() * 9, "bytes": list(token.encode())}


def _logprobs(rng: random.Random, token: str, top: int) -> Chunk:
    others = [_entry(rng, rng.choice(WORDS)) for _ in range(top)]
    return {"content": [_entry(rng, token) | {"top_logprobs": others}], "refusal": None}


def _with_logprobs(rng: random.Random, count: int, top: int) -> Stream:
    pieces = rng.choices(WORDS, k=count)
    deltas = [_chat({"content": t}, logprobs=_logprobs(rng, t, top)) for t in pieces]
    return Stream(_encoded(_framed(deltas)), {0: "".join(pieces)}, entries=count)


def top5(rng: random.Random, count: int) -> Stream:
    """Content deltas with log probabilities, and five alternatives each."""
    return _with_logprobs(rng, count // 4, 5)


def top20(rng: random.Random, count: int) -> Stream:
    """The same, with twenty."""
    return _with_logprobs(rng, count // 8, 20)


def tools(rng: random.Random, count: int) -> Stream:
    """The arguments of one tool call, in small pieces."""
    pieces = ['{"', *rng.choices(("city", '":"', " Par", "is", '","', "\\n", " é"), k=count), '"}']
    call = {"index": 0, "id": "call_1", "type": "function"}
    opening = _chat({"tool_calls": [{**call, "function": {"name": "find", "arguments": ""}}]})
    fragments = [{"index": 0, "function": {"arguments": piece}} for piece in pieces]
    deltas = [opening, *(_chat({"tool_calls": [fragment]}) for fragment in fragments)]
    payloads = _encoded(_framed(deltas, finish="tool_calls"))
    return Stream(payloads, {0: "".join(pieces)}, field="arguments")


def reasoning(rng: random.Random, count: int) -> Stream:
    """Reasoning, then content."""
    thoughts, pieces = rng.choices(WORDS, k=count // 2), rng.choices(WORDS, k=count // 2)
    deltas = chain(
        ({"content": None, "reasoning_content": piece} for piece in thoughts),
        ({"content": piece, "reasoning_content": None} for piece in pieces),
    )
    chunks = _framed([_chat(delta) for delta in deltas])
    return Stream(_encoded(chunks), {0: "".join(pieces)}, reasoning="".join(thoughts))


def completion(rng: random.Random, count: int) -> Stream:
    """A text completion with log probabilities, in parallel lists."""
    pieces = rng.choices(WORDS, k=count // 4)
    chunks, offset = [], 0
    for piece in pieces:
        top = {word: -rng.random() * 9 for word in rng.sample(WORDS, 5)}
        columns = {"tokens": [piece], "token_logprobs": [-rng.random()], "top_logprobs": [top]}
        chunks.append(_completion(piece, logprobs=columns | {"text_offset": [offset]}))
        offset += len(piece)
    payloads = _encoded([*chunks, _completion("", finish="stop")])
    return Stream(payloads, {0: "".join(pieces)}, field="text", entries=len(pieces))


def friendli(rng: random.Random, count: int) -> Stream:
    """A text completion with the number of each token, as Friendli sends it."""
    pieces, tokens = rng.choices(WORDS, k=count), rng.choices(range(128_000), k=count)
    pairs = zip(pieces, tokens, strict=True)
    chunks = [_completion(piece, token=token) for piece, token in pairs]
    payloads = _encoded([*chunks, _completion("", finish="stop")])
    return Stream(payloads, {0: "".join(pieces)}, field="text", tokens=tokens)


def unlike(rng: random.Random, count: int) -> Stream:
    """No two chunks in a row alike: an unknown field comes and goes at random."""
    pieces = rng.choices(WORDS, k=count)
    names = [f"x_{rng.randrange(50)}" for _ in pieces]
    deltas = [
        _chat({"content": piece}) | {name: [1]} for piece, name in zip(pieces, names, strict=True)
    ]
    return Stream(_encoded(_framed(deltas)), {0: "".join(pieces)})


STREAMS: Final[Mapping[str, Callable[[random.Random, int], Stream]]] = {
    maker.__name__: maker
    for maker in (
        text,
        padded,
        long,
        utf8,
        escapes,
        n4,
        top5,
        top20,
        tools,
        reasoning,
        completion,
        friendli,
        unlike,
    )
}
