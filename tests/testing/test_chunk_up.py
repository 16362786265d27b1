"""`chunk_up` is the inverse of `finalize`, or says what has none."""

from __future__ import annotations

import copy
import json

import pytest

from streamkit import RULES, Rule, finalize, from_dict, rebuild, to_dict
from streamkit.testing import DIALECTS, Dialect, Unstreamable, chunk_up
from tests.merging import Dumped, without_nulls

from . import CALLS, USAGE, chat, completion, said, token


LEGACY = {
    "tokens": ["Sunny", " day", "s"],
    "token_logprobs": [None, -1.0, -0.25],
    "top_logprobs": [None, {" day": -1.0}, {"s": -0.25, "z": -3.0}],
    "text_offset": [0, 5, 9],
}
PARTS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see."}], "closed": True},
    {"type": "text", "text": "Yes, I do.", "x": 1},
    {"type": "image_url", "image_url": {"url": "https://example.org/1.png"}},
    {"type": "text", "text": ""},
    {"type": "thinking", "thinking": []},
]
CITATION = {"type": "url_citation", "url_citation": {"url": "https://example.org", "title": None}}

RESPONSES = {
    "nothing": chat(),
    "no completion": completion(),
    "text": chat(said("Sure: one, two, three.")),
    "empty text": chat(said("")),
    "no text": chat(said(None)),
    "little said": {"choices": [{"index": 0, "message": {"content": "Hi"}}]},
    "little text": {"choices": [{"index": 3, "text": "Hi"}]},
    "a person": chat({"message": {"role": "user", "content": "Hi"}}),
    "far from ASCII": chat(said("Grüße 👩‍👩‍👧 𝒳 \u2028 \x00 \u200d")),
    "refusal": chat(said(None, refusal="I'm sorry, no.")),
    "reasoning": chat(said("42", reasoning_content="Let me think.", reasoning="Hm, so.")),
    "cut": chat({**said("Sure: one"), "finish_reason": None}),
    "gaps": chat({**said("a"), "index": 2}, {**said("b"), "index": 70_000}),
    "choices": chat(*(said(text) for text in ("One is this.", "Two", "", "Number four here")))
    | {"usage": USAGE},
    "calls": chat({**said(None, tool_calls=CALLS), "finish_reason": "tool_calls"}),
    "odd calls": chat(
        said(
            None,
            tool_calls=[
                {},
                {"function": {}},
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "b", "type": "x", "extra_content": {"google": {"signature": "s"}}},
                {"id": "c", "function": {"name": "f", "x": 1}, "custom": {"name": "g"}},
            ],
        )
    ),
    "function call": chat(said(None, function_call={"name": "f", "arguments": '{"a": 1}', "x": 2})),
    "empty function call": chat(said(None, function_call={})),
    "audio": chat(
        said(
            None,
            audio={"id": "a1", "data": "AAECAwQFBg==", "transcript": "Hello you", "expires_at": 9},
        )
    ),
    "odd audio": chat(said(None, audio={"data": "AA==BB=", "x": 1}), said(None, audio={})),
    "annotations": chat(said("x", annotations=[CITATION, {"type": "other", "a": [1, None]}])),
    "no annotations": chat(said("x", annotations=[])),
    "annotated by name": chat(said("x", annotations={"files": ["a"], "n": {"m": 1}})),
    "parts": chat(said(PARTS)),
    "bare parts": chat(said(["a", 1, None, {"type": "text", "text": "b"}, {"type": ["c"]}])),
    "reasoning details": chat(
        said(
            "x",
            reasoning_details=[
                {"type": "reasoning.text", "index": 0, "id": "r1", "text": "So it is", "n": 1},
                {"type": "reasoning.encrypted", "index": 0, "data": "QUJDREVG", "format": None},
                {"type": "reasoning.summary", "summary": "All in all"},
                "odd",
                {"type": "reasoning.text", "index": 0, "id": "r2", "text": "And again"},
            ],
        )
    ),
    "executed tools": chat(
        said("x", executed_tools=[{"index": 1, "type": "a"}, {"index": 0, "b": {"c": []}}, "d"])
    ),
    "other fields": chat(
        {**said("x", channel="final", note="long and dull", n=1, flag=False, empty=[]), "seed": 7},
        system_fingerprint="fp_1",
        service_tier="default",
        provider="someone",
        citations=["https://example.org"],
        x_groq={"id": "req_1", "n": {"a": None, "b": 1}},
        cost=0.5,
        nothing=None,
    ),
    "filters": chat(
        {**said("Hello"), "content_filter_results": {"hate": {"filtered": False}}},
        prompt_filter_results=[{"prompt_index": 0, "content_filter_results": {}}],
    ),
    "log probabilities": chat(
        {
            **said("Sunny days"),
            "logprobs": {"content": [token("Sunny"), token(" day"), token("s")], "refusal": None},
        }
    ),
    "log probabilities beside": chat(
        {
            **said("é!", refusal="No"),
            "logprobs": {
                "content": [token("\\xc3"), token("\\xa9"), token("!")],
                "refusal": [token("No")],
                "other": [{"token": 1}, "odd"],
                "n": 1,
            },
        },
        {**said(None), "logprobs": {"content": [token("x")], "refusal": []}},
        {**said("a"), "logprobs": {"content": [], "refusal": None}},
        {**said("a"), "logprobs": {"content": None}},
        {**said("a"), "logprobs": {}},
        {**said("ab"), "logprobs": {"tokens": ["a", "b"], "top_logprobs": None}},
    ),
    "completion": completion({"text": "Sunny days", "logprobs": LEGACY}, usage=USAGE),
    "completions": completion(
        {"text": " such a day", "tokens": [1778, 439, 352], "seed": 5},
        {"text": "", "tokens": []},
        {"text": "é", "tokens": [1, 2, 3], "token_ids": [1, 2, 3]},
        {"text": "ab", "tokens": [1, None]},
        {"text": "a", "logprobs": {"tokens": [], "token_logprobs": []}, "token_ids": []},
        {"text": "a", "logprobs": {"content": [token("a")], "refusal": [token("b")]}},
        {"text": "a", "logprobs": {"tokens": ["a"], "content": [1, 2]}},
        {"text": "a", "logprobs": {"tokens": None}, "stop_reason": None},
    ),
    "nothing used": chat(said("a"), usage={"prompt_tokens": 0, "total_tokens": 0}),
    "odd usage": chat(said("a"), usage={"completion_tokens": "9", "x": {"y": 1.5}}),
}


def back(chunks):
    return without_nulls(to_dict(finalize(chunks, strict=False)))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", RESPONSES)
def test_comes_back(name, dialect):
    """The response comes back, in each dialect, whatever the size of pieces."""
    response = RESPONSES[name]
    want = without_nulls(response)
    for seed, size in enumerate([1, 3, (1, 20), 1000]):
        chunks = chunk_up(response, seed=seed, size=size, dialect=dialect, interleave=seed % 2 == 0)
        found = back(chunks)
        assert contains(found, want)
        assert back(json.loads(json.dumps(chunks))) == found


def contains(found, want):
    """Tell whether *found* is *want*, with defaults added at most."""
    if isinstance(want, dict) and isinstance(found, dict):
        return all(
            contains(found.get(key), item) or (item == {} and key not in found)
            for key, item in want.items()
        )
    if isinstance(want, list) and isinstance(found, list):
        return len(want) == len(found) and all(map(contains, found, want))
    return type(want) is type(found) and want == found


DEFAULTS = {"id": "", "created": 0, "model": "", "role": "assistant", "type": "function"}


@pytest.mark.parametrize("name", RESPONSES)
def test_nothing_is_added(name):
    """What comes back besides are the fields that a response always has."""
    found = back(chunk_up(RESPONSES[name]))

    def added(found, want):
        if isinstance(found, dict) and isinstance(want, dict):
            for key, item in found.items():
                if key in want:
                    yield from added(item, want[key])
                else:
                    yield key, item
        elif isinstance(found, list) and isinstance(want, list):
            for one, other in zip(found, want, strict=True):
                yield from added(one, other)

    allowed = {*DEFAULTS.items(), ("object", found["object"]), ("arguments", ""), ("input", "")}
    assert set(added(found, RESPONSES[name])) <= allowed


def test_each_rule_is_tried():
    """The responses above have a field for each rule that a response can have one for."""
    levels = RULES["chat"].delta, RULES["chat"].choice, RULES["chat"].chunk
    tried = set()
    for response in RESPONSES.values():
        for choice in response["choices"]:
            rules = [(levels[0], choice.get("message", {})), (levels[1], choice)]
            rules += [(RULES["completion"].choice, choice), (levels[2], response)]
            tried |= {
                table.rule_for(name, value)
                for table, fields in rules
                for name, value in fields.items()
                if value is not None
            }
    never = {Rule.FIRST, Rule.COLLECT}  # a caller's own; `token`, which responses do not have
    assert set(Rule) - tried <= never


# -- What it takes -------------------------------------------------------------------


def test_models_dicts_and_dumps():
    """A model, its dict and a pydantic-like object give the same chunks."""
    plain = RESPONSES["log probabilities"]
    model = from_dict(plain)
    assert chunk_up(model) == chunk_up(to_dict(model))
    assert chunk_up(Dumped(plain)) == chunk_up(plain)
    assert finalize(chunk_up(model)) == model


def test_rebuilt_response():
    """What `rebuild` gives can be streamed again."""
    response = rebuild(b'data: {"choices":[{"index":0,"text":"Hi","token":5}]}\n\n').response
    assert finalize(chunk_up(response)) == response


def test_caller_keeps_what_is_his():
    """The response is not changed, and shares nothing with the chunks."""
    response = RESPONSES["other fields"]
    before = copy.deepcopy(response)
    for dialect in DIALECTS:
        for chunk in chunk_up(response, dialect=dialect):
            scribble(chunk)
    assert response == before


def test_chunks_share_nothing():
    """Changing one chunk changes no other."""
    fields = ("citations", "x_groq", "provider")
    mine = Dialect(name="mine", each=fields, first=fields)
    chunks = chunk_up(RESPONSES["other fields"], dialect=mine, usage="each")
    before = copy.deepcopy(chunks[1:])
    scribble(chunks[0])
    assert chunks[1:] == before


def scribble(value):
    if isinstance(value, dict):
        for item in value.values():
            scribble(item)
        value["scribble"] = 1
    elif isinstance(value, list):
        for item in value:
            scribble(item)
        value.append("scribble")


@pytest.mark.parametrize("wrong", [None, 5, "text", [], [{}], Dumped([])])
def test_no_response(wrong):
    """What is no response is refused by its type."""
    with pytest.raises(TypeError, match="response must be"):
        chunk_up(wrong)


@pytest.mark.parametrize(
    "options",
    [
        *({"size": size} for size in (0, -1, True, 1.5, "3", (2, 1), (0, 1), (1, 2, 3), [1, 2])),
        *({"seed": seed} for seed in (None, 1.5, "a", True)),
        {"dialect": "nobody"},
        {"dialect": None},
        {"usage": "often"},
    ],
    ids=str,
)
def test_wrong_arguments(options):
    """A wrong argument is a TypeError that says what is right."""
    (name,) = options
    with pytest.raises(TypeError, match=f"{name} must be"):
        chunk_up(RESPONSES["text"], **options)


# -- What has no stream --------------------------------------------------------------

ONE = "$.choices[0]"
REFUSED = [
    (chat(said("a"), object="list"), "$.object"),
    ({"id": "a"}, "$.choices"),
    ({"choices": {}}, "$.choices"),
    ({"choices": []}, "$.object"),
    ({"choices": [{"index": 0}]}, "$.object"),
    ({"object": "chat.completion", "choices": [5]}, ONE),
    ({"choices": [{"message": {}}]}, f"{ONE}.index"),
    (chat({**said("a"), "index": -1}), f"{ONE}.index"),
    (chat({**said("a"), "index": True}), f"{ONE}.index"),
    (chat({"message": "Hi"}), f"{ONE}.message"),
    (chat({**said("a"), "index": 1}, {**said("b"), "index": 0}), f"{ONE}.index"),
    (chat({**said("a"), "index": 1}, {**said("b"), "index": 1}), "$.choices"),
    (chat({"message": {"role": "", "content": "a"}}), f"{ONE}.message.role"),
    (chat(said(5)), f"{ONE}.message.content"),
    (chat(said([])), f"{ONE}.message.content"),
    (
        chat(said([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])),
        f"{ONE}.message.content",
    ),
    (chat(said("\ud83d")), f"{ONE}.message.content"),
    (chat(said("a", refusal=["no"])), f"{ONE}.message.refusal"),
    (chat(said("a", index=0)), f"{ONE}.message.index"),
    (chat(said("a", tool_calls=[])), f"{ONE}.message.tool_calls"),
    (chat(said("a", tool_calls="x")), f"{ONE}.message.tool_calls"),
    (chat(said("a", tool_calls=["x"])), f"{ONE}.message.tool_calls"),
    (
        chat(said("a", tool_calls=[{"index": 0, "function": {"name": "f"}}])),
        f"{ONE}.message.tool_calls[0].index",
    ),
    (
        chat(said("a", tool_calls=[{"function": {"name": "f", "arguments": {"a": 1}}}])),
        f"{ONE}.message.tool_calls[0].function.arguments",
    ),
    (chat(said("a", function_call="x")), f"{ONE}.message.function_call"),
    (chat(said("a", audio="x")), f"{ONE}.message.audio"),
    (chat(said("a", annotations=[{"a": 1}, {"a": 1}])), f"{ONE}.message.annotations"),
    (chat(said("a", annotations=5)), f"{ONE}.message.annotations"),
    (chat(said("a", reasoning_details=[])), f"{ONE}.message.reasoning_details"),
    (chat(said("a", reasoning_details=5)), f"{ONE}.message.reasoning_details"),
    (chat(said("a", status="")), f"{ONE}.message.status"),
    (chat({**said("a"), "finish_reason": "null"}), f"{ONE}.finish_reason"),
    (chat({**said("a"), "finish_reason": ""}), f"{ONE}.finish_reason"),
    (chat({**said("a"), "logprobs": "x"}), f"{ONE}.logprobs"),
    (
        completion({"text": "a", "logprobs": {"tokens": ["a", "b"], "token_logprobs": [-1.0]}}),
        f"{ONE}.logprobs.token_logprobs",
    ),
    (chat({**said("a"), "delta": {"x": 1}}), f"{ONE}.delta"),
    (chat({**said("a"), "usage": {"x": 1}}), f"{ONE}.usage"),
    (completion({"text": 5}), f"{ONE}.text"),
    (completion({"text": "a", "message": {"x": 1}}), f"{ONE}.message"),
    (chat(said("a"), usage={}), "$.usage"),
    (chat(said("a"), usage="x"), "$.usage"),
    (chat(said("a"), x_groq={"usage": {"total_tokens": 5}}), "$.usage"),
    (chat(said("a"), citations=[]), "$.citations"),
    (chat(said("a"), system_fingerprint=""), "$.system_fingerprint"),
    (chat(said("a"), error={"message": "no"}), "$.error"),
    (chat(said("a"), obfuscation="abc"), "$.obfuscation"),
    (chat(said("a"), id=5), "$.id"),
    (chat(said("a"), x=float("nan")), "$.x"),
    (chat(said("a"), x=[1, {"a b": float("-inf")}]), "$.x[1]['a b']"),
    (chat(said("a"), x=b"bytes"), "$.x"),
    (chat(said("a"), x={1: 2}), "$.x"),
]


@pytest.mark.parametrize(("response", "path"), REFUSED, ids=[path for _, path in REFUSED])
def test_refused(response, path):
    """A value that no chunks give back is an error with its path."""
    with pytest.raises(Unstreamable) as caught:
        chunk_up(response)
    assert (caught.value.path, caught.value.code) == (path, "unstreamable")
    assert str(caught.value).endswith(f" @ {path}")


def test_too_deep():
    """Nesting that nothing could read is refused, never a RecursionError."""
    for depth in (130, 200, 300, 400, 480, 700, 950, 5_000, 200_000):
        deep = {}
        for _ in range(depth):
            deep = {"x": deep}
        for options in ({}, {"lossy": True}):
            if depth < 5_000 and options:
                continue
            with pytest.raises(Unstreamable):
                chunk_up(chat(said("a"), deep=deep), **options)


def test_lossy():
    """If asked to, it leaves out what cannot be streamed, and no more."""
    message = {"role": "assistant", "content": "Hi", "tool_calls": [], "index": 0, "n": 1}
    response = chat({"message": message}, citations=[], error={"message": "no"}, x="y")
    found = back(chunk_up(response, lossy=True))
    assert found["choices"][0]["message"] == {"role": "assistant", "content": "Hi", "n": 1}
    assert (found["x"], "error" in found, "citations" in found) == ("y", False, False)
    for each, path in REFUSED:
        if path.startswith(f"{ONE}.message.") or path in ("$.usage", "$.citations"):
            assert chunk_up(each, lossy=True)


# -- How it is cut -------------------------------------------------------------------


def contents(chunks):
    return [
        c["delta"]["content"] for k in chunks for c in k["choices"] if c["delta"].get("content")
    ]


def test_same_arguments_same_chunks():
    """The seed decides, and nothing else."""
    response = RESPONSES["choices"]
    assert chunk_up(response, seed=5) == chunk_up(response, seed=5)
    assert len({json.dumps(chunk_up(response, seed=seed)) for seed in range(9)}) == 9


def test_same_chunks_on_each_python():
    """Seeds mean the same on each version of Python and each system."""
    assert contents(chunk_up(RESPONSES["text"], seed=1)) == PINNED


PINNED = ["Su", "re: one", ", two, ", "thr", "ee."]


def test_sizes():
    """Pieces are as long as was asked for; only the last may be shorter."""
    text = "x" * 1000
    for size, low, high in [(1, 1, 1), (7, 7, 7), ((2, 5), 2, 5)]:
        *pieces, last = contents(chunk_up(chat(said(text)), size=size))
        assert {*map(len, pieces)} == {*range(low, high + 1)}
        assert 1 <= len(last) <= high


def test_tokens_stay_whole():
    """Beside log probabilities, text is cut between tokens."""
    chunks = chunk_up(RESPONSES["log probabilities"], size=1)
    assert contents(chunks) == ["Sunny", " day", "s"]
    entries = [c["logprobs"]["content"] for k in chunks for c in k["choices"] if c["logprobs"]]
    assert entries == [[token("Sunny")], [token(" day")], [token("s")]]


def test_surrogates():
    """A character beyond the BMP is split only if that is asked for, and comes back whole."""
    response = chat(said("😀" * 20, reasoning="😀😀"))
    whole = chunk_up(response, size=1)
    halves = chunk_up(response, size=1, surrogates=True)
    assert contents(whole) == ["😀"] * 20
    assert contents(halves) == ["\ud83d", "\ude00"] * 20
    assert finalize(halves) == finalize(whole)


def indexes(chunks):
    return [choice["index"] for chunk in chunks for choice in chunk["choices"]]


def test_interleave():
    """Choices take turns, or come one after the other; so do calls of tools."""
    response = chat(said("a" * 50), said("b" * 50, tool_calls=[CALLS[0], CALLS[1], CALLS[0]]))
    mixed, sorted_ = (chunk_up(response, size=2, interleave=each) for each in (True, False))
    assert indexes(sorted_) == sorted(indexes(mixed)) != indexes(mixed)
    calls = [
        [c["delta"]["tool_calls"][0]["index"] for k in chunks for c in k["choices"]
         if "tool_calls" in c["delta"]]
        for chunks in (mixed, sorted_)
    ]  # fmt: skip
    assert calls[1] == sorted(calls[0]) != calls[0]


# -- Usage ---------------------------------------------------------------------------


def usages(form, **options):
    chunks = chunk_up(RESPONSES["choices"], usage=form, size=2, **options)
    return [chunk.get("usage", "absent") for chunk in chunks], chunks


def test_usage_of_its_own():
    """Usage comes last, in a chunk without choices; elsewhere it is null."""
    found, chunks = usages("own")
    assert found[-1] == USAGE
    assert {*map(str, found[:-1])} == {"None"}
    assert chunks[-1]["choices"] == []
    assert {*map(str, usages("own", dialect="plain")[0][:-1])} == {"absent"}


def test_usage_at_the_finish():
    """Usage comes in the last chunk, which finishes a choice."""
    found, chunks = usages("finish")
    assert (found[-1], chunks[-1]["choices"][0]["finish_reason"]) == (USAGE, "stop")


def test_usage_in_each():
    """Usage comes in each chunk, and grows to what it is at the end."""
    found, _ = usages("each")
    made = [each["completion_tokens"] for each in found]
    assert made == sorted(made)
    assert made[0] < made[-1]
    assert found[-1] == USAGE
    assert {each["total_tokens"] - each["completion_tokens"] for each in found} == {9}


def test_usage_in_a_choice():
    """Usage comes inside the last choice, or by itself where there is none."""
    found, chunks = usages("choice", dialect="plain")
    assert {*found} == {"absent"}
    assert chunks[-1]["choices"][0]["usage"] == USAGE
    (chunk,) = chunk_up(chat(usage=USAGE), usage="choice")
    assert chunk["usage"] == USAGE


def test_no_usage():
    """Asked to, it leaves usage out: all else comes back."""
    _, chunks = usages("none")
    whole = to_dict(finalize(chunk_up(RESPONSES["choices"])))
    assert to_dict(finalize(chunks)) == {k: v for k, v in whole.items() if k != "usage"}
