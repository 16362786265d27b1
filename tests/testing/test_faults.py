"""Each fault is what its row says, and streamkit reports what the row says."""

from __future__ import annotations

import copy
import gzip
import inspect
import itertools

import pytest

from streamkit import ISSUES, ServerSentEvent, StreamkitError, finalize, rebuild
from streamkit.testing import DIALECTS, FAULTS, chunk_up, faults, split_bytes, to_sse

from . import CALLS, USAGE, chat, completion, said, token
from .test_chunk_up import LEGACY


RESPONSES = {
    "text": chat(said("Sure: one, two, three."), usage=USAGE),
    "choices": chat(said("One is this."), said("Two"), said("Number 3"), system_fingerprint="fp"),
    "calls": chat(said(None, tool_calls=CALLS), said("Grüße", reasoning="So it is.")),
    "log probabilities": chat(
        {**said("Sunny days"), "logprobs": {"content": [token("Sunny"), token(" days")]}}
    ),
    "completion": completion({"text": "Sunny days", "logprobs": LEGACY}, {"text": "No more"}),
}
WAYS = [
    {},
    {"newline": "\r\n", "ids": True, "comments": "hm", "bom": True},
    {"newline": "\r", "event": "x", "retry": 3, "space": False, "comments": {2: "a\nb"}},
]


@pytest.mark.parametrize("dialect", ["plain", "azure", "openrouter"])
@pytest.mark.parametrize("name", FAULTS)
def test_row_holds(name, dialect):
    """The outcome of a stream with the fault is what the row says, however it is written."""
    fault = FAULTS[name]
    ways = itertools.cycle(WAYS[len(dialect) % len(WAYS) :] + WAYS[: len(dialect) % len(WAYS)])
    for seed, (kind, way) in enumerate(zip(RESPONSES, ways, strict=False)):
        if fault.chat_only and kind == "completion":
            continue
        chunks = chunk_up(RESPONSES[kind], dialect=dialect, size=2, seed=seed)
        data = fault(chunks, dialect=dialect, **way)
        outcome = rebuild(split_bytes(data, seed))
        codes = {*outcome.issue_counts}
        assert fault.issues <= codes <= fault.issues | fault.may
        assert outcome.complete is fault.complete
        assert (outcome.error.code if outcome.error else "") == fault.error
        assert (outcome.response is None) is fault.empty
        assert not fault.whole or outcome.response == finalize(chunks)


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if not fault.whole])
def test_what_is_not_whole_differs(name):
    """A fault that is said to cost something does, for some stream."""
    found = set()
    for seed, response in enumerate(RESPONSES.values()):
        chunks = chunk_up(response, size=2, seed=seed)
        found.add(rebuild(FAULTS[name](chunks)).response == finalize(chunks))
    assert False in found


@pytest.mark.parametrize("name", FAULTS)
def test_chunks_stay_the_callers(name):
    """The chunks are not changed; the same arguments give the same bytes."""
    chunks = chunk_up(RESPONSES["calls"], size=2)
    before = copy.deepcopy(chunks)
    assert FAULTS[name](chunks) == FAULTS[name](chunks)
    assert chunks == before


def test_rows():
    """Rows are named as they are found, and name codes that exist."""
    errors = {cls.code for cls in all_errors(StreamkitError)} | {""}
    for name, fault in FAULTS.items():
        assert fault.name == name
        assert fault.what.endswith(".")
        assert fault.issues | fault.may <= ISSUES.keys()
        assert fault.error in errors


def all_errors(cls):
    yield cls
    for child in cls.__subclasses__():
        yield from all_errors(child)


def test_place():
    """A fault is where it is wanted; elsewhere there is none."""
    chunks = chunk_up(RESPONSES["text"], dialect="plain", size=5)
    for at in range(len(chunks) - 1):
        for name in ("cut_inside", "cut_after"):
            assert rebuild(FAULTS[name](chunks, at=at)).chunks == at + 1
    for wrong in (-1, len(chunks), "1", True):
        for name in ("cut_inside", "chunk_dropped", "chunk_twice", "ping", "error_chunk"):
            with pytest.raises(TypeError, match="at must be"):
                FAULTS[name](chunks, at=wrong)
    with pytest.raises(TypeError, match="at must be"):
        FAULTS["chunks_swapped"](chunks, at=len(chunks) - 1)


def test_no_place():
    """Where each choice is one chunk, faults inside a choice are refused, the others are not."""
    chunks = chunk_up(RESPONSES["text"], dialect="plain", size=1000, usage="finish")
    with pytest.raises(TypeError, match="make smaller pieces"):
        FAULTS["cut_inside"](chunks)
    assert FAULTS["html_body"](chunks).startswith(b"<!DOCTYPE")
    assert gzip.decompress(FAULTS["gzip_body"](chunks)) == FAULTS["none"](chunks)


@pytest.mark.parametrize("name", DIALECTS)
def test_open_place(name):
    """The place is inside a choice: cut after it, a finish reason is missing."""
    for seed, response in enumerate(RESPONSES.values()):
        chunks = chunk_up(response, dialect=name, size=2, seed=seed)
        cut = faults.cut_chunks(chunks, faults.open_place(chunks))
        assert "finish_missing" in rebuild(cut).issue_counts


# -- The functions by themselves -----------------------------------------------------


def test_cut_anywhere():
    """Cut at any byte, it is never complete, and never more than what came."""
    chunks = chunk_up(RESPONSES["text"], dialect="plain", size=8, usage="finish")
    data = to_sse(chunks, done=False)
    text = RESPONSES["text"]["choices"][0]["message"]["content"]
    for at in range(len(data)):
        outcome = rebuild(faults.cut_bytes(data, at))
        said = outcome.response.choices[0].message.content if outcome.response else None
        assert text.startswith(said or "")
        assert outcome.complete is (at >= len(data) - len(b"\n\n"))
    for wrong in (-1, len(data) + 1, "1"):
        with pytest.raises(TypeError, match="at must be"):
            faults.cut_bytes(data, wrong)


def test_error_of_ones_own():
    """The error is the caller's, as an object or as text."""
    chunks = chunk_up(RESPONSES["text"])
    for error in ({"message": "no", "code": 1}, "no"):
        assert faults.error_chunk(chunks, 1, error)[2:] == [{"error": error}]
        (event,) = faults.error_event(chunks, 1, error)[2:]
        assert isinstance(event, ServerSentEvent)
        assert rebuild(to_sse([*chunks[:2], event])).error.payload["message"] == "no"


def test_models_are_taken():
    """Chunks may be models, or whatever `to_sse` takes."""
    event = ServerSentEvent("x", "{}", "", None)
    assert faults.add_chunk([{"choices": []}], 0, event) == [{"choices": []}, event]
    chunks = [event, {"choices": []}]
    assert faults.drop_indexes(chunks) == chunks
    text = chunk_up(RESPONSES["completion"])
    assert faults.change_roles(text) == faults.repeat_roles(text) == text


def test_only_what_is_there():
    """Without newlines or events nothing breaks but the arguments' promise."""
    assert faults.add_comments(b"data: 1") == b": keep-alive\n\ndata: 1"
    assert faults.add_bom(faults.add_bom(b"x")) == b"\xef\xbb\xbfx"
    assert faults.add_comments(faults.add_bom(b"x\r\r")) == b"\xef\xbb\xbf: keep-alive\r\rx\r\r"
    assert faults.drop_done(b"data: [DONE]") == b""
    assert faults.bare_lines(b"data: [DONE]\n\n") == b""
    with pytest.raises(TypeError, match="at must be"):
        faults.cut_inside(b"data: [DONE]\n\n", 0)


def test_all_is_documented():
    """What `faults` offers is sorted, there, and says what it does."""
    assert [*faults.__all__] == sorted(
        faults.__all__, key=lambda n: (not n.isupper(), n[0].islower(), n)
    )
    for name in filter(str.islower, faults.__all__):
        assert inspect.getdoc(getattr(faults, name))
