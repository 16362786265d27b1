"""The streams measured are what they say: a benchmark of the wrong result is worth nothing."""

from __future__ import annotations

import json

import pytest

from benchmarks import ours
from benchmarks.streams import STREAMS, make
from streamkit import rebuild


COUNT = 200


def via_blocks(stream, json):
    """Rebuild from blocks that are cut anywhere."""
    return ours.rebuild_blocks(stream.blocks(1000), json)


def via_live(stream, json):
    """Read and merge, event by event."""
    return ours.live(stream.events, json)


def via_drip(stream, json):
    """Read and merge, byte by byte."""
    return ours.live(stream.blocks(1), json)


def via_chunks(stream, json):
    """Merge chunks that were decoded before."""
    return ours.accumulate(stream.chunks)


def via_whole(stream, json):
    """Rebuild from all bytes at once."""
    return rebuild(stream.data, json=json)


WAYS = [via_whole, via_blocks, via_live, via_drip, via_chunks]


def text_of(choice, field):
    """Return what the stream's text field became in the response."""
    if field == "text":
        return choice.text
    if field == "arguments":
        return choice.message.tool_calls[0].function.arguments
    return choice.message.content


def entries_of(choice):
    """Return how many log probabilities there are."""
    if choice.logprobs is None:
        return 0
    entries = getattr(choice.logprobs, "tokens", None) or choice.logprobs.content
    return len(entries)


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("backend", ["json", "auto"])
def test_what_comes_out(name, way, backend):
    """Each way gives the text, the log probabilities and the tokens that were put in."""
    stream = make(name, COUNT)
    outcome = way(stream, backend)
    choices = outcome.response.choices
    assert outcome.complete
    assert not outcome.issue_counts
    assert outcome.chunks == len(stream.payloads)
    assert {choice.index: text_of(choice, stream.field) for choice in choices} == stream.texts
    assert entries_of(choices[0]) == stream.entries
    assert list(getattr(choices[0], "tokens", None) or []) == stream.tokens


def test_reasoning():
    """It comes out whole, beside the content."""
    stream = make("reasoning", COUNT)
    message = rebuild(stream.data).response.choices[0].message
    assert stream.reasoning
    assert message.extra["reasoning_content"] == stream.reasoning


@pytest.mark.parametrize(("name", "top"), [("top5", 5), ("top20", 20)])
def test_top_logprobs(name, top):
    """Each entry has as many alternatives as the name says."""
    stream = make(name, COUNT)
    entries = rebuild(stream.data).response.choices[0].logprobs.content
    assert {len(entry.top_logprobs) for entry in entries} == {top}


@pytest.mark.parametrize("name", STREAMS)
def test_same_on_every_run(name):
    """The same name and count give the same bytes."""
    assert make(name, COUNT).data == make(name, COUNT).data


@pytest.mark.parametrize("name", STREAMS)
def test_bytes_are_the_payloads(name):
    """What the floors decode is what stands in the stream's bytes."""
    stream = make(name, COUNT)
    events = stream.data.decode().split("\n\n")
    assert [event.removeprefix("data: ").encode() for event in events[:-2]] == stream.payloads
    assert events[-2:] == ["data: [DONE]", ""]
    assert [json.loads(payload) for payload in stream.payloads] == stream.chunks


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_blocks_are_the_bytes(size):
    """Nothing is lost between blocks."""
    stream = make("escapes", COUNT)
    blocks = stream.blocks(size)
    assert b"".join(blocks) == stream.data
    assert {len(block) for block in blocks[:-1]} <= {size}


def test_escapes_are_escaped():
    """The one stream has escapes, the other the characters themselves."""
    assert make("escapes", COUNT).data.isascii()
    assert rb"\ud83d" in make("escapes", COUNT).data
    assert not make("utf8", COUNT).data.isascii()


def test_padding_differs():
    """Padded chunks have padding, and not all of one length."""
    sizes = {len(chunk.get("obfuscation", "")) for chunk in make("padded", COUNT).chunks}
    assert len(sizes) > 5
