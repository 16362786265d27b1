"""
Make the recordings in this folder: `python examples/make.py`.

They are invented, small, and the same on each run; a test compares the files
with what this makes.  Change them here, never by hand.
"""

from __future__ import annotations

import json

from pathlib import Path
from typing import Any


HERE = Path(__file__).parent
CREATED = 1_750_000_000
DONE = "data: [DONE]\n\n"
WORDS = ("Sure", ":", " one", ",", " two", ",", " three", ".")


def chat(choices: list[dict[str, Any]], *, id: str = "chatcmpl-1", **more: Any) -> dict[str, Any]:
    """Return a chunk of a chat stream."""
    head = {"id": id, "object": "chat.completion.chunk", "created": CREATED}
    return {**head, "model": "example-1", "choices": choices, **more}


def delta(index: int = 0, finish_reason: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return one choice of a chunk of a chat stream."""
    return {"index": index, "delta": fields, "finish_reason": finish_reason}


def usage(prompt: int, completion: int) -> dict[str, int]:
    """Return a usage report."""
    total = prompt + completion
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}


def event(chunk: dict[str, Any]) -> str:
    """Return *chunk* as one server-sent event."""
    return f"data: {json.dumps(chunk)}\n\n"


def stream(chunks: list[dict[str, Any]]) -> str:
    """Return *chunks* as a whole stream of events."""
    return "".join(map(event, chunks)) + DONE


# -- What the recordings hold --------------------------------------------------------


def chat_chunks(id: str = "chatcmpl-1", words: tuple[str, ...] = WORDS) -> list[dict[str, Any]]:
    """Return the chunks of a plain answer, the usage in a chunk of its own."""
    return [
        chat([delta(role="assistant", content="")], id=id),
        *(chat([delta(content=word)], id=id) for word in words),
        chat([delta(finish_reason="stop")], id=id),
        chat([], id=id, usage=usage(9, len(words))),
    ]


def tool_call(index: int, **function: Any) -> dict[str, Any]:
    """Return a fragment of the tool call at *index*."""
    head = {"id": f"call-{index}", "type": "function"} if "name" in function else {}
    return {"index": index, **head, "function": function}


def tools_chunks() -> list[dict[str, Any]]:
    """Return the chunks of two parallel tool calls, their arguments in fragments."""
    fragments = [
        tool_call(0, name="get_weather", arguments=""),
        tool_call(0, arguments='{"city": "Pa'),
        tool_call(0, arguments='ris"}'),
        tool_call(1, name="get_time", arguments=""),
        tool_call(1, arguments='{"zone":'),
        tool_call(1, arguments=' "Europe/Paris"}'),
    ]
    return [
        chat([delta(role="assistant", content=None)]),
        *(chat([delta(tool_calls=[fragment])]) for fragment in fragments),
        chat([delta(finish_reason="tool_calls")]),
    ]


def logprobs(token: str, logprob: float, other: str) -> dict[str, Any]:
    """Return the log probabilities of one token and one alternative."""
    entries = [
        {"token": text, "logprob": value, "bytes": list(text.encode())}
        for text, value in ((token, logprob), (other, round(logprob - 2, 3)))
    ]
    return {"content": [{**entries[0], "top_logprobs": entries}], "refusal": None}


def n2_chunks() -> list[dict[str, Any]]:
    """Return the chunks of two choices that interleave, the second one first."""
    tokens = [
        (1, "Good", -0.25, "Hello"),
        (0, "Hello", -0.5, "Good"),
        (1, " day", -0.125, " morning"),
        (0, "!", -0.75, "."),
    ]
    return [
        *(
            chat([{**delta(index, content=token), "logprobs": logprobs(token, logprob, other)}])
            for index, token, logprob, other in tokens
        ),
        chat([delta(1, "stop"), delta(0, "stop")]),
        chat([], usage=usage(5, 4)),
    ]


def completion_chunks() -> list[dict[str, Any]]:
    """Return the chunks of a legacy completion, with log probabilities and token ids."""
    head = {"id": "cmpl-1", "object": "text_completion", "created": CREATED, "model": "example-1"}
    tokens = [(" such", 101, -0.5, 0), (" a", 7, -0.125, 5), (" day", 88, -1.5, 7)]
    chunks = [
        {"index": 0, "text": text, "token": token, "finish_reason": None}
        | {
            "logprobs": {
                "tokens": [text],
                "token_logprobs": [logprob],
                "top_logprobs": [{text: logprob, " the": -3.0}],
                "text_offset": [offset],
            }
        }
        for text, token, logprob, offset in tokens
    ]
    last = {"index": 0, "text": "", "finish_reason": "length", "logprobs": None}
    return [
        *({**head, "choices": [choice]} for choice in [*chunks, last]),
        {**head, "choices": [], "usage": usage(4, 3)},
    ]


def cut_stream() -> str:
    """Return a stream whose connection broke inside a value."""
    text = stream(chat_chunks())
    return text[: text.index(" three") + 4]


def error_stream() -> str:
    """Return a stream in which the server gives up half-way."""
    error = {"error": {"message": "The server is overloaded.", "type": "overloaded", "code": 529}}
    return "".join(map(event, [*chat_chunks()[:4], error]))


def two_streams() -> str:
    """Return two streams back to back, as a log keeps them."""
    second = chat_chunks("chatcmpl-2", ("Four", ",", " five", "."))
    return stream(chat_chunks()) + stream(second)


def docs_style() -> str:
    """Return a sample as documentation prints it: indented JSON, prose, and an ellipsis."""
    first, second, *_, last, total = completion_chunks()
    parts = [f"data: {json.dumps(chunk, indent=2)}\n" for chunk in (first, second, last, total)]
    return "\n".join(["A chunk of a completion\n", *parts[:2], "...\n", *parts[2:], DONE])


def recordings() -> dict[str, bytes]:
    """Return all recordings, by file name."""
    texts = {
        "chat.sse": stream(chat_chunks()),
        "tools.sse": stream(tools_chunks()),
        "n2_logprobs.sse": stream(n2_chunks()),
        "completion.sse": stream(completion_chunks()),
        "cut.sse": cut_stream(),
        "error.sse": error_stream(),
        "two_streams.sse": two_streams(),
        "chunks.jsonl": "".join(f"{json.dumps(chunk)}\n" for chunk in chat_chunks()),
        "docs_style.txt": docs_style(),
    }
    return {name: text.encode() for name, text in texts.items()}


if __name__ == "__main__":
    for name, data in recordings().items():
        (HERE / name).write_bytes(data)
