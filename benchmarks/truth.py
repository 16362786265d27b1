"""
What other libraries make of the same chunks, where each of them is installed.

    python -m benchmarks.truth

prints the table of `docs/comparison.md`: a row for each stream, with what it should give,
and what it gives.  A test compares it with the page for the versions that the page names.
What they need as input is made for them: each gets its own chunk objects.
"""

from __future__ import annotations

import io
import os

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import partial, reduce
from importlib.metadata import PackageNotFoundError, version
from operator import add
from typing import Any, Final

import attrs

from streamkit import finalize, to_dict


__all__ = ["CASES", "PEERS", "Case", "answer", "table", "versions"]

Chunk = dict[str, Any]
Response = Mapping[str, Any]
HEAD: Final = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m-1"}
USAGE: Final = {"prompt_tokens": 9, "completion_tokens": 8, "total_tokens": 17}
LITTLE: Final = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}


def chunk(
    *, index: int = 0, finish: str | None = None, also: Chunk | None = None, **delta: Any
) -> Chunk:
    """Return a chunk of one choice; *also* are fields of the chunk itself."""
    choice = {"index": index, "delta": delta, "finish_reason": finish, "logprobs": None}
    return {**HEAD, "choices": [choice], **(also or {})}


def call(text: str, **more: Any) -> Chunk:
    """Return a chunk with a piece of a tool call's arguments."""
    name = more.pop("name", None)
    function = {"arguments": text} | ({"name": name} if name else {})
    return chunk(tool_calls=[{**more, "function": function}])


def logprob(token: str) -> Chunk:
    """Return a chunk with one token and its log probability."""
    entry = {"token": token, "logprob": -0.5, "bytes": [*token.encode()], "top_logprobs": []}
    made = chunk(content=token)
    made["choices"][0]["logprobs"] = {"content": [entry], "refusal": None}
    return made


FIRST: Final = chunk(role="assistant", content="")
STOP: Final = chunk(finish="stop")
CALLS: Final = chunk(finish="tool_calls")


# -- What is looked at ---------------------------------------------------------------


def message(response: Response) -> Mapping[str, Any]:
    """Return the message of the first choice."""
    found: Mapping[str, Any] = response["choices"][0]["message"]
    return found


def texts(response: Response) -> Any:
    """Return the text of each choice, by index."""
    return {each["index"]: each["message"]["content"] for each in response["choices"]}


def calls(response: Response) -> Any:
    """Return each tool call's id, name and arguments."""
    found = message(response).get("tool_calls") or ()
    return [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in found]


def total(response: Response) -> Any:
    """Return the number of all tokens that the usage says."""
    return (response.get("usage") or {}).get("total_tokens")


def finish(response: Response) -> Any:
    """Return the finish reason of the first choice."""
    return response["choices"][0].get("finish_reason")


def tokens(response: Response) -> Any:
    """Return the tokens that have a log probability."""
    found = response["choices"][0].get("logprobs") or {}
    return [each["token"] for each in found.get("content") or ()]


def field(name: str) -> Callable[[Response], Any]:
    """Return what looks at a field of the message."""
    return lambda response: message(response).get(name)


@attrs.frozen
class Case:
    """
    A stream, and what is to come of it.

    Attributes:
        name: What the stream does.
        chunks: Its chunks.
        look: What is looked at.
        right: What that should be.
    """

    name: str
    chunks: Sequence[Chunk]
    look: Callable[[Response], Any]
    right: Any


CASES: Final = (
    Case(
        "one choice, in order",
        [FIRST, chunk(content="Hi"), STOP],
        texts,
        {0: "Hi"},
    ),
    Case(
        "choice 1 comes before choice 0",
        [
            chunk(index=1, role="assistant", content="B"),
            chunk(role="assistant", content="A"),
            chunk(index=1, finish="stop"),
            STOP,
        ],
        texts,
        {0: "A", 1: "B"},
    ),
    Case(
        "the role in each chunk",
        [chunk(role="assistant", content="H"), chunk(role="assistant", content="i"), STOP],
        field("role"),
        "assistant",
    ),
    Case(
        "usage in a chunk of its own",
        [FIRST, chunk(content="Hi"), STOP, {**HEAD, "choices": [], "usage": USAGE}],
        total,
        17,
    ),
    Case(
        "usage in each chunk, growing",
        [chunk(role="assistant", content="H", also={"usage": LITTLE}),
         chunk(content="i", finish="stop", also={"usage": USAGE})],
        total,
        17,
    ),
    Case(
        "usage before the last chunk",
        [FIRST, chunk(content="Hi", also={"usage": USAGE}), STOP],
        total,
        17,
    ),
    Case(
        "no usage at all",
        [FIRST, chunk(content="Hi"), STOP],
        total,
        None,
    ),
    Case(
        "one tool call, in pieces",
        [FIRST, call("{", index=0, id="c1", type="function", name="f"), call("}", index=0), CALLS],
        calls,
        [("c1", "f", "{}")],
    ),
    Case(
        "the id and the name of a call in each piece",
        [
            FIRST,
            call("{", index=0, id="c1", type="function", name="f"),
            call("}", index=0, id="c1", type="function", name="f"),
            CALLS,
        ],
        calls,
        [("c1", "f", "{}")],
    ),
    Case(
        "index 0 for both of two calls",
        [
            FIRST,
            call("{}", index=0, id="c1", type="function", name="f"),
            call("[]", index=0, id="c2", type="function", name="g"),
            CALLS,
        ],
        calls,
        [("c1", "f", "{}"), ("c2", "g", "[]")],
    ),
    Case(
        "log probabilities",
        [FIRST, logprob("H"), logprob("i"), STOP],
        tokens,
        ["H", "i"],
    ),
    Case(
        "reasoning in `reasoning_content`",
        [FIRST, chunk(reasoning_content="Hm"), chunk(reasoning_content="."), STOP],
        field("reasoning_content"),
        "Hm.",
    ),
    Case(
        "a refusal",
        [FIRST, chunk(refusal="I "), chunk(refusal="can't"), STOP],
        field("refusal"),
        "I can't",
    ),
    Case(
        "a field nobody knows, in pieces",
        [FIRST, chunk(mood="ca"), chunk(mood="lm"), STOP],
        field("mood"),
        "calm",
    ),
    Case(
        "no finish reason: the stream was cut",
        [FIRST, chunk(content="Hi")],
        finish,
        None,
    ),
)  # fmt: skip


# -- What answers --------------------------------------------------------------------


def _streamkit(chunks: Sequence[Chunk]) -> Response:
    return to_dict(finalize(chunks))


def _openai(chunks: Sequence[Chunk]) -> Response:
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    state: Any = ChatCompletionStreamState()
    for each in chunks:
        for _ in state.handle_chunk(ChatCompletionChunk.model_validate(each)):
            pass
    found: Response = state.get_final_completion().to_dict()
    return found


def _litellm(chunks: Sequence[Chunk]) -> Response:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the import downloads it
    import litellm

    from litellm.types.utils import ModelResponseStream

    litellm.suppress_debug_info = True
    built: Any = litellm.stream_chunk_builder([ModelResponseStream(**each) for each in chunks])
    found: Response = built.model_dump()
    return found


def _langchain(chunks: Sequence[Chunk]) -> Response:
    from langchain_core.messages import AIMessageChunk
    from langchain_openai import ChatOpenAI

    model: Any = ChatOpenAI(api_key="none", model="m-1")
    made = [model._convert_chunk_to_generation_chunk(each, AIMessageChunk, None) for each in chunks]
    return _of_message(reduce(add, [each for each in made if each is not None]))


def _of_message(generation: Any) -> Response:
    """Return LangChain's message in the API's form, as far as it has that."""
    whole, info = generation.message, generation.generation_info or {}
    named = [
        {"id": each["id"], "function": {"name": each["name"], "arguments": each["args"]}}
        for each in whole.tool_call_chunks
    ]
    role = {"ai": "assistant"}.get(whole.type.removesuffix("MessageChunk").lower(), whole.type)
    more = {**whole.additional_kwargs, "tool_calls": named, "role": role}
    choice = {
        "index": 0,
        "message": {"content": whole.content, **more},
        "finish_reason": info.get("finish_reason"),
        "logprobs": info.get("logprobs"),
    }
    return {"choices": [choice], "usage": whole.usage_metadata}


def _openinference(chunks: Sequence[Chunk]) -> Response:
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
    from openinference.instrumentation.openai._response_accumulator import (
        _ChatCompletionAccumulator,
    )

    accumulator: Any = _ChatCompletionAccumulator({}, ChatCompletion)
    for each in chunks:
        accumulator.process_chunk(ChatCompletionChunk.model_validate(each))
    found: Response = accumulator._result()
    return found


PEERS: Final[Mapping[str, tuple[str, Callable[[Sequence[Chunk]], Response]]]] = {
    "streamkit": ("streamkit-llm", _streamkit),
    "openai's helper": ("openai", _openai),
    "litellm": ("litellm", _litellm),
    "LangChain": ("langchain-core", _langchain),
    "openinference": ("openinference-instrumentation-openai", _openinference),
}


def versions() -> dict[str, str]:
    """Return the version of each peer that is installed."""
    found = {}
    for name, (package, _) in PEERS.items():
        with suppress(PackageNotFoundError):
            found[name] = version(package)
    return found


def answer(case: Case, peer: str) -> str:
    """Return `"right"`, what *peer* gives instead, or what it raises."""
    _, build = PEERS[peer]
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            found = case.look(build(case.chunks))
    except Exception as error:  # noqa: BLE001 -- it is what is looked at
        return f"raises `{type(error).__name__}`"
    return "right" if found == case.right else f"`{found!r}`"


def table() -> Iterator[str]:
    """Yield the lines of the table, in Markdown."""
    yield "| " + " | ".join(["the stream", "right is", *PEERS]) + " |"
    yield "| " + " | ".join(["---"] * (len(PEERS) + 2)) + " |"
    for case in CASES:
        cells = [case.name, f"`{case.right!r}`", *map(partial(answer, case), PEERS)]
        yield "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    print("\n".join(table()), *(f"{n} {v}" for n, v in versions().items()), sep="\n")
