"""Tests of the merging half: chunks in, the full response out; and the builders they share."""

from __future__ import annotations

import json

from typing import Any

from streamkit import Accumulator, Outcome, finalize, to_dict


HEAD = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "created": 1700000000,
    "model": "model-1",
}
COMPLETION_HEAD = {**HEAD, "id": "cmpl-1", "object": "text_completion"}


def chunk(*choices: Any, **fields: Any) -> dict[str, Any]:
    """Return a chat chunk with these choices; *fields* are of the chunk."""
    return {**HEAD, "choices": list(choices), **fields}


def deltas(*each: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one chat chunk for each delta, all of choice 0."""
    return [chunk({"index": 0, "delta": delta}) for delta in each]


def entries(*each: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one chat chunk for each choice entry; each has a delta unless it says otherwise."""
    return [chunk({"index": 0, "delta": {}, **entry}) for entry in each]


def texts(*each: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one completion chunk for each choice entry."""
    return [{**COMPLETION_HEAD, "choices": [{"index": 0, **entry}]} for entry in each]


def final(chunks: list[Any], **options: Any) -> dict[str, Any]:
    """Return the full response of *chunks* as a dict."""
    return to_dict(finalize(chunks, **options))


def choice(chunks: list[Any], **options: Any) -> dict[str, Any]:
    """Return the first choice of the full response, without what is null."""
    return without_nulls(final(chunks, **options)["choices"][0])


def message(chunks: list[Any], **options: Any) -> dict[str, Any]:
    """Return the message of the first choice, without what is null."""
    return choice(chunks, **options)["message"]


def accumulate(chunks: list[Any], kind: Any = None, **options: Any) -> Accumulator:
    """Return an accumulator that has merged *chunks*."""
    accumulator = Accumulator(kind, **options)
    for each in chunks:
        accumulator.add(each)
    return accumulator


def outcome_of(chunks: list[Any], **options: Any) -> Outcome:
    """Return the outcome of *chunks*."""
    return accumulate(chunks, **options).finish()


def codes(holder: Any) -> list[str]:
    """Return the codes of the issues of an outcome or an accumulator."""
    return [issue.code for issue in holder.issues]


def without_nulls(value: Any) -> Any:
    """Return JSON data without the keys whose value is null."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def sse(chunks: list[Any], *, done: bool = True) -> bytes:
    """Return *chunks* as the bytes of an event stream."""
    data = [*map(json.dumps, chunks), *(["[DONE]"] if done else [])]
    return "".join(f"data: {each}\n\n" for each in data).encode()


class Dumped:
    """A pydantic-like object: all that is known of it is `model_dump()`."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields

    def __repr__(self) -> str:
        return f"Dumped({self.fields!r})"

    def model_dump(self) -> dict[str, Any]:
        return self.fields
