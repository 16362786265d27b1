"""Made streams, their mutations, and the slow twins that the fast roads are held against."""

from __future__ import annotations

import json
import random

from streamkit import Accumulator, Limits, to_dict
from streamkit._framing import Framer
from streamkit._issues import IssueLog
from streamkit._json import Decoder
from streamkit._merging_road import MergingRoad
from streamkit._payloads import DONE
from streamkit._streams import StreamSplitter


WORDS = [
    " the", "\n", " naïve", ' "q"', " 日本", "\\", "", "a" * 50, "\u2028", "😀", "\x7f",
    "\ud83d", "\ude00", " data: ", "}}]}", "null", "\t", "é", "0", '","x":"',
]  # fmt: skip
KEYS = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 5, "model": "demo"}


def token(r):
    return {
        "token": r.choice(WORDS[:9]),
        "logprob": -r.random() * 9,
        "bytes": [r.randrange(256) for _ in range(r.randrange(4))] or None,
    }


def entry(r, top=2):
    return {**token(r), "top_logprobs": [token(r) for _ in range(top)]}


def top_of(r):
    """Return the fields that all chunks of a chat stream have."""
    top = dict(KEYS)
    if r.random() < 0.5:
        top["system_fingerprint"] = r.choice([None, "fp_1", ""])
    if r.random() < 0.3:
        top["usage"] = r.choice([None, {}, {"prompt_tokens": 1}])
    if r.random() < 0.3:
        top["citations"] = ["x"]
    return top


def choice_of(r, index, name, style):
    """Return one choice with a word of text, of a style that a stream keeps."""
    delta = {name: r.choice(WORDS)}
    if style["with_role"]:
        delta = {"role": "assistant", **delta}
    made = {"index": index, "delta": delta, "finish_reason": None}
    if style["with_logprobs"]:
        made["logprobs"] = {"content": [entry(r)], "refusal": None}
    return made


def opening(index, name):
    return {"index": index, "delta": {"role": "assistant", name: ""}, "finish_reason": None}


def tool_choices():
    """Return the choices of one tool call in pieces."""
    function = {"name": "f", "arguments": ""}
    calls = [{"index": 0, "id": "call_1", "type": "function", "function": function}]
    for piece in ['{"a"', ":", ' "', "\\u00e9", '\\"', '"', "}"]:
        calls.append({"index": 0, "function": {"arguments": piece}})
    return [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None} for call in calls]


def chat_choices(r):
    """Return choices of a chat stream: text, reasoning, tools, logprobs, n of them."""
    n = r.choice([1, 1, 1, 2, 4])
    style = {"with_role": r.random() < 0.3, "with_logprobs": r.random() < 0.3}
    name = r.choice(["content", "reasoning_content", "refusal", "x_text"])
    choices = [opening(index, name) for index in range(n)]
    for _ in range(r.randrange(60)):
        choices.append(choice_of(r, r.randrange(n), name, style))
        if r.random() < 0.02:
            name = r.choice(["content", "reasoning_content"])
    if r.random() < 0.4:
        choices += tool_choices()
    for index in range(n):
        if r.random() < 0.9:
            choices.append({"index": index, "delta": {}, "finish_reason": "stop"})
    return choices


def chat_chunks(r):
    """Return chunks of a chat stream: its choices, usage, padding."""
    top = top_of(r)
    is_padded = r.random() < 0.5
    chunks = [{**top, "choices": [choice]} for choice in chat_choices(r)]
    for chunk in chunks:
        if is_padded:
            chunk["obfuscation"] = "".join(r.choice("aZ09 ") for _ in range(r.randrange(9)))
        if r.random() < 0.02:
            chunk["created"] = r.choice([0, 6, 7])
    return chunks


def legacy_style(r):
    """Return which parallel lists a stream has, how many tokens a chunk, and what is odd."""
    names = ["token_logprobs", "top_logprobs", "text_offset", "token_ids"]
    return {
        "names": ["tokens", *r.sample(names, r.randrange(5))],
        "counts": r.choice([[1], [1], [2], [3], [1, 2], [0, 1]]),
        "alternatives": r.choice([[2], [0, 1, 2], [None, 2], [None]]),
        "odd": r.choice([0, 0, 0.02, 0.1]),
    }


def legacy_list(r, name, count, offset, style):
    """Return the parallel list called *name*."""
    if name == "tokens":
        return [r.choice(WORDS) for _ in range(count)]
    if name == "token_logprobs":
        return [r.choice([-r.random(), -r.random(), 0, -1e-7, -9999.0, None]) for _ in range(count)]
    if name == "text_offset":
        return [offset + n for n in range(count)]
    if name == "token_ids":
        return [r.randrange(99999) for _ in range(count)]
    most = r.choice(style["alternatives"])
    return [
        None if most is None else {r.choice(WORDS): -r.random() for _ in range(most)}
        for _ in range(count)
    ]


ODD_LISTS = [None, [], [None], [-1], [5, 3], ["a", "b", "c"], [{}], [{"a": {}}], [[1]], "odd", 5]


def legacy_logprobs(r, offset, style):
    """Return log probabilities in parallel lists, now and then odd ones."""
    count = r.choice(style["counts"])
    lists = {name: legacy_list(r, name, count, offset, style) for name in style["names"]}
    if r.random() < style["odd"]:
        name = r.choice([*lists, "x"])
        if r.random() < 0.3:
            lists.pop(name, None)
        else:
            lists[name] = r.choice(ODD_LISTS)
    return lists


def completion_chunks(r):
    """Return chunks of a legacy stream, with tokens."""
    top = {"id": "cmpl-1", "object": "text_completion", "created": 5, "model": "demo"}
    n = r.choice([1, 1, 3])
    style = legacy_style(r) if r.random() < 0.6 else None
    chunks = []
    for position in range(r.randrange(60)):
        choice = {"index": r.randrange(n), "text": r.choice(WORDS), "token": r.randrange(99999)}
        choice["logprobs"] = style and legacy_logprobs(r, position, style)
        choice["finish_reason"] = None
        chunks.append({**top, "choices": [choice]})
    for index in range(n):
        chunks.append({**top, "choices": [{"index": index, "text": "", "finish_reason": "length"}]})
    return chunks


def framed(r, chunks):
    """Return *chunks* as bytes, in one of the framings."""
    ending = r.choice(["\n\n", "\n\n", "\n\n", "\r\n\r\n", "\n", "\r\r"])
    prefix = (
        r.choice(["data: ", "data: ", "data:", ""])
        if ending == "\n" or r.random() < 0.9
        else "data: "
    )
    if prefix == "" and ending != "\n":
        prefix = "data: "
    options = {"ensure_ascii": r.random() < 0.4}
    if r.random() < 0.6:
        options["separators"] = (",", ":")
    parts = []
    for chunk in chunks:
        parts.append(prefix + json.dumps(chunk, **options) + ending)
        if r.random() < 0.02:
            parts.append(": ping" + ending)
    if r.random() < 0.7:
        parts.append("data: [DONE]" + ending)
    return "".join(parts).encode("utf-8", "surrogatepass")


PATCHES = [
    b'"', b"\\", b"\n", b"\r", b"\\u00", b"\\ud83d", b"\xff", b"\x00", b"{", b"}", b"1e999", b"NaN",
    b'"tokens":["z"],', b'"a":-1,"a":-2,', b'"\\ud83d":-1,', b"[1,2]", b"[]", b",null",
    b"true", b"null", b"1.0", b"-1", b"01", b',"content":"z"', b',"model":"other"', b',"id":"two"',
    b',"error":{"message":"no"}', b"  ", b'"index":true,', b"\n\n", b"data: ", b"[DONE]",
]  # fmt: skip


def mutated(r, data):
    """Return *data* with a few bytes replaced, dropped, doubled or put in."""
    data = bytearray(data)
    for _ in range(r.choice([0, 0, 1, 1, 2, 5])):
        if not data:
            break
        at = r.randrange(len(data))
        kind = r.randrange(5)
        if kind == 0:
            data[at:at] = r.choice(PATCHES)
        elif kind == 1:
            del data[at : at + r.choice([1, 1, 5, 300])]
        elif kind == 2:
            data[at] = r.randrange(256)
        elif kind == 3:
            data[at:at] = data[at : at + r.choice([3, 40, 400])]
        else:
            for old, new in (
                (b'"index": 0', b'"index": 1'),
                (b'"index":0', b'"index":"0"'),
                (b"null", b'""'),
                (b"stop", b"null"),
            ):
                found = data.find(old, at)
                if found >= 0 and r.random() < 0.5:
                    data[found : found + len(old)] = new
                    break
    return bytes(data[: r.randrange(len(data) + 1)] if data and r.random() < 0.2 else data)


def split(r, data):
    """Return *data* in pieces."""
    kind = r.randrange(4)
    if kind == 0:
        return [data]
    if kind == 1:
        size = r.choice([1, 7, 64, 400, 4096])
        return [data[at : at + size] for at in range(0, len(data), size)]
    cuts = sorted(r.randrange(len(data) + 1) for _ in range(r.randrange(12)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def made(seed):
    """Return the bytes of a made and mutated stream, and the randomness for the rest."""
    r = random.Random(seed)
    data = b""
    for number in range(r.choice([1, 1, 1, 2])):
        chunks = (chat_chunks if r.random() < 0.75 else completion_chunks)(r)
        if number:
            for chunk in chunks:
                chunk["id"] = "chatcmpl-2"
        data += framed(r, chunks)
    return mutated(r, data), r


def outcomes(pieces, *, fast, limits=Limits(), strict=False):
    """Return all that can be told of *pieces*, over one road or the other."""
    log = IssueLog(limits.issues)
    splitter = StreamSplitter(lambda: Accumulator(limits=limits), log, owned=True, framed=True)
    decoder = Decoder("json", limits)
    road = (
        MergingRoad(splitter, log, limits, decoder)
        if fast
        else Framer(log, limits, decoder, splitter.take)
    )
    for piece in pieces:
        road.feed(piece)
    road.finish()
    return [described(outcome) for outcome in splitter.finish(cut=road.cut)]


class NoRepeater:
    """What stands for a `Repeater`, and knows of no chunk that repeats."""

    def add(self, *_parts):
        return None

    def learn(self, _chunk, _rules):
        pass

    def forget(self):
        pass


def by_the_rules(accumulator):
    """Return *accumulator*, so changed that it compares no chunk with the last one."""
    assert hasattr(accumulator, "_repeater")
    accumulator._repeater = NoRepeater()
    return accumulator


def described(outcome):
    """Return *outcome* as plain data."""
    return {
        "response": outcome.response and to_dict(outcome.response),
        "complete": outcome.complete,
        "error": str(outcome.error),
        "issues": outcome.issues,
        "counts": dict(outcome.issue_counts),
        "chunks": outcome.chunks,
        "done": outcome.done,
    }


def slow_chunks(data):
    """Return what `ChunkReader` gives for *data*, over the slow road."""
    frames = []
    log = IssueLog()
    framer = Framer(log, Limits(), Decoder("json"), frames.append)
    framer.feed(data)
    framer.finish()
    return [frame.value for frame in frames if frame.value is not DONE], log
