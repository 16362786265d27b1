"""Chunks that are made again."""

from __future__ import annotations

import json

import pytest

from streamkit import ChunkReader
from streamkit._learn import learn
from streamkit._mould import Mould, unescape
from streamkit._rules import RULES

from .helpers import HEAD, event, logprobs, rows, say, tool, write


CHUNKS = {
    "flat": say(),
    "padded": say(top={"obfuscation": "xx"}),
    "padded behind": {**say(), "obfuscation": "xx"},
    "delta is null": write(delta=None),
    "no delta": write(),
    "empty delta": {**HEAD, "choices": [{"index": 0, "delta": {}}]},
    "usage": say(top={"usage": {"total_tokens": 1, "details": {"a": [1, [2]]}}}),
    "list": say(top={"citations": ["x", {"y": 1}]}),
    "logprobs": say(choice={"logprobs": logprobs(bytes=[1, 2], top_logprobs=[])}),
    "arguments": tool("{"),
    "call": tool("{", id="call_1", type="function"),
    "filters": say(choice={"content_filter_results": {"hate": {"filtered": False}}}),
    "number": write(token=5),
    "rows": write(logprobs=rows(2)),
    "two of a kind": say("a", reasoning="b", x="c"),
}


def mould_of(chunk, *, many=True):
    template = learn(event(chunk), chunk, RULES["completion"], many=many, still=False)
    return Mould(template)


def containers(value):
    """Return each dict and list in *value*, by identity."""
    found = {}
    if isinstance(value, (dict, list)):
        found[id(value)] = value
        for item in value.values() if isinstance(value, dict) else value:
            found |= containers(item)
    return found


@pytest.mark.parametrize("many", [True, False], ids=["many", "one"])
@pytest.mark.parametrize("chunk", CHUNKS.values(), ids=CHUNKS)
def test_a_cast_of_the_same_contents_is_the_same_chunk(chunk, many):
    """Keys, their order, and types."""
    mould = mould_of(chunk, many=many)
    groups = mould.template.match(event(chunk)).groups()
    assert json.dumps(mould.cast(groups)) == json.dumps(chunk)


@pytest.mark.parametrize("chunk", CHUNKS.values(), ids=CHUNKS)
def test_chunks_share_no_container(chunk):
    """A caller may change what it gets: neither other chunks nor the template change with it."""
    mould = mould_of(chunk)
    groups = mould.template.match(event(chunk)).groups()
    made = [mould.cast(groups) for _ in range(3)]
    each = [containers(it) for it in (*made, mould.template.chunk)]
    assert len(set().union(*each)) == sum(map(len, each))


@pytest.mark.parametrize("chunk", CHUNKS.values(), ids=CHUNKS)
@pytest.mark.parametrize("way", ["one by one", "at once"])
def test_a_caller_may_change_every_chunk_of_a_reader(chunk, way):
    """Also the one that the template was learned from."""
    reader = ChunkReader(json="json")
    for _ in range(3):
        got = reader.feed(event(chunk) * (1 if way == "one by one" else 2))
        for each in got:
            assert each == chunk
            for container in containers(each).values():
                container.clear()


def test_holes():
    """Each hole is read as what it is."""
    chunk = {
        **say("a", choice={"logprobs": logprobs()}, top={"obfuscation": "x"}),
        "object": "text_completion",
    }
    chunk["choices"][0]["token"] = 3
    cast = mould_of(chunk).cast([b"7", b"pad", b"2", b"\\u00e9\xc3\xa9", b'{"a":1}', b"88"])
    (choice,) = cast["choices"]
    assert (cast["created"], cast["obfuscation"], choice["index"]) == (7, "pad", 2)
    assert (choice["delta"]["content"], choice["token"]) == ("éé", 88)
    assert choice["logprobs"] == {"content": [{"a": 1}], "refusal": None}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", ""),
        (b"a\xc3\xa9", "aé"),
        (b'\\"\\\\\\/\\b\\f\\n\\r\\t', '"\\/\b\f\n\r\t'),
        (b"\\u00E9\\u2028", "é\u2028"),
        (b"\\ud83d\\ude00", "😀"),
        (b"\\ud83d", "\ud83d"),
    ],
    ids=repr,
)
def test_unescape(body, expected):
    """The body of a string is what `json.loads` makes of it."""
    assert unescape(body) == json.loads(b'"' + body + b'"') == expected


@pytest.mark.parametrize("body", [b"\xff", b"\xed\xa0\xbd", b"\xc3", b"\xff\\n"], ids=repr)
def test_what_is_no_utf_8_is_an_error(body):
    """The slow road replaces it, and reports it."""
    with pytest.raises(UnicodeDecodeError):
        unescape(body)
    with pytest.raises(UnicodeDecodeError):
        mould_of(say()).cast([b"5", b"0", body])


def test_raw_json_is_decoded_by_the_decoder_that_is_given():
    """The reader's own, for example."""
    chunk = say(choice={"logprobs": logprobs()})
    template = learn(event(chunk), chunk, RULES["chat"], many=False, still=False)
    made = Mould(template, lambda raw: [raw]).cast([b"a", b'{"a":1}'])
    assert made["choices"][0]["logprobs"]["content"] == [[b'{"a":1}']]
