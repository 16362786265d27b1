"""Tests of `finalize`: a chunk sequence in, the full response out."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamkit import (
    ChatCompletion,
    Completion,
    EmptyStream,
    IncompleteStream,
    InvalidChunk,
    LimitExceeded,
    Limits,
    UpstreamError,
    finalize,
)

from . import Dumped, chunk, deltas, entries, final, texts


FINISHED = entries({"delta": {"role": "assistant", "content": "a"}}, {"finish_reason": "stop"})
ERROR = {"error": {"message": "overloaded", "code": 503}}


def test_a_chat_as_the_api_returns_it():
    """The object has the fields of the API's own, in full."""
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    assert final([*FINISHED, chunk(usage=usage, system_fingerprint="fp_1")]) == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "model-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "a", "refusal": None},
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
        "usage": usage,
        "system_fingerprint": "fp_1",
    }


def test_a_completion_as_the_api_returns_it():
    """The same for legacy completions, Friendli's fields included."""
    chunks = texts(
        {"text": " such", "token": 1778, "finish_reason": None, "logprobs": None},
        {"text": " as", "token": 439, "finish_reason": None, "logprobs": None},
        {"text": "", "finish_reason": "length", "logprobs": None, "seed": 42},
    )
    assert final(chunks) == {
        "id": "cmpl-1",
        "object": "text_completion",
        "created": 1700000000,
        "model": "model-1",
        "choices": [
            {
                "index": 0,
                "text": " such as",
                "finish_reason": "length",
                "logprobs": None,
                "tokens": [1778, 439],
                "seed": 42,
            }
        ],
    }


@pytest.mark.parametrize("source", [list, tuple, iter, lambda chunks: (each for each in chunks)])
def test_any_iterable_is_taken(source):
    """Chunks are read once, one after another."""
    assert finalize(source(FINISHED)) == finalize(FINISHED)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "chunks",
    [[], [None], [{"type": "ping"}], [{"type": "keepalive"}, None]],
    ids=["nothing", "null", "ping", "both"],
)
def test_no_usable_chunk_is_an_empty_stream(chunks, strict):
    """There is no response to return, strict or not."""
    with pytest.raises(EmptyStream) as caught:
        finalize(chunks, strict=strict)
    assert caught.value.code == "empty_stream"
    assert caught.value.partial is None


@pytest.mark.parametrize(
    "chunks", ["data: {}", b"data: {}", {"choices": []}, Path("a.sse")], ids=repr
)
def test_what_is_no_sequence_of_chunks_is_a_type_error(chunks):
    """Its characters or keys would be no chunks, and the error would not tell why."""
    with pytest.raises(TypeError, match=r"iterable of chunks, not \w+; rebuild\(\) reads text"):
        finalize(chunks)


def test_the_kind_can_be_given():
    """What the caller says holds, whatever the chunks look like."""
    assert type(finalize([{"choices": []}], kind="completion")) is Completion
    assert type(finalize(texts({"text": "a"}), kind="chat")) is ChatCompletion


@pytest.mark.parametrize("kind", ["text", 5, ""], ids=repr)
def test_an_unknown_kind_is_a_type_error(kind):
    """There are two kinds."""
    with pytest.raises(TypeError, match="kind must be"):
        finalize([], kind=kind)


@pytest.mark.parametrize(
    ("chunks", "error", "text"),
    [
        ([*FINISHED, "odd"], InvalidChunk, "a"),
        ([*FINISHED, {"type": "response.created"}], InvalidChunk, "a"),
        ([*FINISHED, *deltas({"content": 5})], InvalidChunk, "a"),
        ([*FINISHED, chunk("odd")], InvalidChunk, "a"),
        ([*FINISHED, chunk({"index": -1, "delta": {}})], InvalidChunk, "a"),
        ([*FINISHED, ERROR], UpstreamError, "a"),
        ([*FINISHED, {**ERROR, "choices": []}], UpstreamError, "a"),
        (FINISHED[:1], IncompleteStream, "a"),
        ([*FINISHED, *entries({"index": 1})], IncompleteStream, "a"),
    ],
    ids=["text", "no chunk", "type", "choice", "index", "error", "error too", "cut", "one cut"],
)
def test_strict_mode_raises_with_the_partial_response(chunks, error, text):
    """The error has the response so far; the lenient mode returns it, or what follows it."""
    with pytest.raises(error) as caught:
        finalize(chunks, strict=True)
    assert caught.value.code == error.code
    assert caught.value.partial.choices[0].message.content == text
    assert finalize(chunks).choices[0].message.content == text


def test_strict_mode_returns_a_whole_stream():
    """Nothing is wrong, so nothing is raised."""
    assert finalize(FINISHED, strict=True) == finalize(FINISHED)


def test_an_error_alone_is_no_response():
    """The server sent an error and nothing else: lenient, it is an empty stream."""
    with pytest.raises(EmptyStream):
        finalize([ERROR])
    with pytest.raises(UpstreamError) as caught:
        finalize([ERROR], strict=True)
    assert caught.value.payload == ERROR["error"]
    assert caught.value.body == ERROR
    assert caught.value.partial is None


def test_a_bound_that_is_crossed_raises_in_either_mode():
    """`LimitExceeded` has the response so far."""
    for strict in (False, True):
        with pytest.raises(LimitExceeded) as caught:
            finalize(FINISHED, strict=strict, limits=Limits(chunks=1))
        assert caught.value.limit == "chunks"
        assert caught.value.partial.choices[0].message.content == "a"


def test_an_index_may_be_any_integer_unless_limits_say_otherwise():
    """The caller's own list has no bound on indexes; memory is bounded by the count."""
    chunks = entries({"index": 4_000_000_000, "delta": {"content": "a"}})
    assert [each.index for each in finalize(chunks).choices] == [4_000_000_000]
    assert finalize(chunks, limits=Limits()).choices == ()


def test_an_iterable_that_raises_is_not_caught():
    """The caller's own error is the caller's."""

    def broken():
        yield FINISHED[0]
        raise ConnectionError("reset by peer")

    with pytest.raises(ConnectionError, match="reset by peer"):
        finalize(broken())


def test_objects_of_other_libraries_are_taken():
    """Anything with `model_dump()` is a chunk."""
    assert finalize([Dumped(each) for each in FINISHED]) == finalize(FINISHED)


def test_nothing_usable_is_told():
    """The message is for people."""
    with pytest.raises(EmptyStream, match=r"^no usable chunk in the sequence$"):
        finalize([])
