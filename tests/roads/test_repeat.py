"""Chunks that are like the one before are merged by their differences alone."""

from __future__ import annotations

import copy

import pytest

from hypothesis import given, settings
from hypothesis import strategies as st

from streamkit import Accumulator, Limits, Rule, to_dict
from streamkit._plain import parts_of
from streamkit._repeat import CHOICE, DELTA, FUNCTION, LONGEST_WAIT, Level, shape_of
from streamkit._rules import RULES

from .helpers import HEAD, added_alike, logprobs, rows, say, tool, write
from .streams import by_the_rules, described


def slow_chunks(chunks, **options):
    """Return how many of *chunks* were merged by the rules."""
    accumulator = Accumulator(**options)
    merged = []
    add_plain = accumulator.add_plain
    accumulator.add_plain = lambda chunk: merged.append(1) or add_plain(chunk)
    for chunk in chunks:
        accumulator.add(chunk)
    return len(merged)


def opened(index=0):
    """Return the chunk that opens a tool call."""
    call = {"index": index, "id": f"call_{index}", "type": "function"}
    return say(None, tool_calls=[{**call, "function": {"name": "f", "arguments": ""}}])


def fragment(arguments, index=0, *, content=None, function=None, **call):
    """Return a chunk that goes on with a tool call."""
    function = {"name": None, "arguments": arguments, **(function or {})}
    return say(content, tool_calls=[{"index": index, **call, "function": function}])


# -- What repeats --------------------------------------------------------------------

REPEATS = {
    "numbers": ([write(str(n), token=n) for n in range(50)], 1),
    "text": ([say(str(n)) for n in range(50)], 1),
    "two texts": ([say(str(n), reasoning=str(-n)) for n in range(50)], 1),
    "text of a choice": ([write(str(n)) for n in range(50)], 1),
    "both": ([say(str(n), choice={"text": "t"}) for n in range(50)], 1),
    "choices": ([say(str(n), n % 3) for n in range(60)], 3),
    "no text": ([say(None) for _ in range(50)], 1),
    "a long name": ([say(str(n), top={"x" * 2000: "a"}) for n in range(50)], 1),
    "no delta": ([{**HEAD, "choices": [{"index": 0}]} for _ in range(50)], 1),
    "no index": ([{**HEAD, "choices": [{"delta": {"content": "a"}}]} for _ in range(50)], 1),
    "created": ([{**say(), "created": n + 1} for n in range(50)], 1),
    "padding": ([say(top={"obfuscation": "x" * n}) for n in range(50)], 1),
    "arguments": ([opened(), *(tool(str(n)) for n in range(50))], 3),
    "arguments and nulls": (
        [opened(), *(fragment(str(n), id=None, type="function") for n in range(50))],
        3,
    ),
    "arguments and text": ([opened(), *(fragment(str(n), content="a") for n in range(50))], 3),
    "nulls": ([say("a", top={"usage": None}, choice={"finish_reason": None})] * 50, 1),
}


@pytest.mark.parametrize(("chunks", "most"), REPEATS.values(), ids=REPEATS)
def test_what_repeats_is_not_merged_by_the_rules(chunks, most):
    """But for the first chunk of each choice; the outcome is the same."""
    assert slow_chunks(chunks) == most
    added_alike(chunks)
    added_alike(copy.deepcopy(chunks))


NEVER = {
    "logprobs": [say(choice={"logprobs": logprobs(str(n))}) for n in range(9)],
    "rows": [write(str(n), logprobs=rows(at=n)) for n in range(9)],
    "two calls": [say(tool_calls=tool("a")["choices"][0]["delta"]["tool_calls"] * 2)] * 9,
    "a number of a call": [tool("a", type=None, x=0) for n in range(9)],
    "usage": [say(top={"usage": {"total_tokens": n}}) for n in range(9)],
    "a list": [say(top={"citations": [n]}) for n in range(9)],
    "a number": [say(top={"x": n % 2 == 1}) for n in range(9)],
    "a number of a choice": [say(choice={"x": 1}) for n in range(9)],
    "an object of a delta": [say(x={}) for n in range(9)],
    "parts": [say([{"type": "text", "text": "a"}]) for n in range(9)],
    "errors": [{**say(), "error": {"message": "no"}} for n in range(9)],
    "no choices": [{**HEAD, "choices": []} for n in range(9)],
    "issues": [say(role=role) for role in ("user", *["tool"] * 8)],
    "an odd index": [say("a", index) for index in (0, *[None] * 8)],
}


@pytest.mark.parametrize("chunks", NEVER.values(), ids=NEVER)
def test_what_cannot_be_compared_is_merged_by_the_rules(chunks):
    """Numbers that compare equal may differ, and containers may change."""
    assert slow_chunks(chunks) == len(chunks)
    added_alike(chunks)


SAME = say("a", role="assistant", top={"x": "1"}, choice={"y": "2"})
OTHER = {
    "a key more": say("b", role="assistant", top={"x": "1", "z": None}, choice={"y": "2"}),
    "a key more in the choice": say(
        "b", role="assistant", top={"x": "1"}, choice={"y": "2", "z": 1}
    ),
    "a key more in the delta": say("b", role="assistant", z="1", top={"x": "1"}, choice={"y": "2"}),
    "a key less": say("b", role="assistant", choice={"y": "2"}),
    "another key": say("b", role="assistant", top={"z": "1"}, choice={"y": "2"}),
    "another key in the delta": say("b", rule="assistant", top={"x": "1"}, choice={"y": "2"}),
    "another value": say("b", role="assistant", top={"x": "2"}, choice={"y": "2"}),
    "another value in the choice": say("b", role="assistant", top={"x": "1"}, choice={"y": "3"}),
    "another value in the delta": say("b", role="tool", top={"x": "1"}, choice={"y": "2"}),
    "another type": say("b", role="assistant", top={"x": 1}, choice={"y": "2"}),
    "text is null": say(None, role="assistant", top={"x": "1"}, choice={"y": "2"}),
    "text is a number": say(5, role="assistant", top={"x": "1"}, choice={"y": "2"}),
    "text is a list": say(["b"], role="assistant", top={"x": "1"}, choice={"y": "2"}),
    "no text": say("b", role="assistant", top={"x": "1"}, choice={"y": "2"}) | {"choices": []},
    "no choices": {**HEAD, "x": "1", "y": "2"},
    "choices are odd": {**SAME, "choices": {}},
    "choices are null": {**SAME, "choices": None},
    "a choice is odd": {**SAME, "choices": ["odd"]},
    "a choice is null": {**SAME, "choices": [None]},
    "a choice is a list": {**SAME, "choices": [[]]},
    "two choices": {**SAME, "choices": [*SAME["choices"], say("x", 1)["choices"][0]]},
    "delta is null": {**SAME, "choices": [{"index": 0, "delta": None, "y": "2"}]},
    "delta is odd": {**SAME, "choices": [{"index": 0, "delta": "odd", "y": "2"}]},
    "delta is empty": {**SAME, "choices": [{"index": 0, "delta": {}, "y": "2"}]},
    "another choice": say("b", 1, role="assistant", top={"x": "1"}, choice={"y": "2"}),
    "index is a bool": say("b", False, role="assistant", top={"x": "1"}, choice={"y": "2"}),
    "index is a float": say("b", 0.0, role="assistant", top={"x": "1"}, choice={"y": "2"}),
    "index is null": say("b", None, role="assistant", top={"x": "1"}, choice={"y": "2"}),
    "a created of another type": {**SAME, "created": "5"},
    "no created": {name: value for name, value in SAME.items() if name != "created"},
    "a ping": {"type": "ping"},
    "null": None,
}


@pytest.mark.parametrize("other", OTHER.values(), ids=OTHER)
def test_what_differs_is_merged_by_the_rules(other):
    """And so is the first chunk behind it that is as before."""
    for rest in ([other], [other, SAME, SAME, SAME], [other, other, SAME]):
        added_alike([SAME, SAME, SAME, *rest])


PIECE = fragment("1", id=None, type="function")
OTHER_PIECES = {
    "a name": fragment("2", id=None, type="function", function={"name": "f"}),
    "another name": fragment("2", id=None, type="function", function={"name": "g"}),
    "an id": fragment("2", id="call_0", type="function"),
    "another id": fragment("2", id="call_1", type="function"),
    "another type": fragment("2", id=None, type="custom"),
    "a key more": fragment("2", id=None, type="function", x="y"),
    "a key more in the function": fragment("2", id=None, type="function", function={"x": "y"}),
    "a key less": fragment("2", type="function"),
    "another key": fragment("2", x=None, type="function"),
    "another call": fragment("2", 1, id=None, type="function"),
    "index is a bool": fragment("2", False, id=None, type="function"),
    "index is a float": fragment("2", 0.0, id=None, type="function"),
    "index is null": fragment("2", None, id=None, type="function"),
    "arguments are null": fragment(None, id=None, type="function"),
    "arguments are an object": fragment({"a": 1}, id=None, type="function"),
    "arguments are empty": fragment("", id=None, type="function"),
    "function is null": say(None, tool_calls=[{"index": 0, "id": None, "type": "function"}]),
    "function is odd": say(
        None, tool_calls=[{"index": 0, "id": None, "type": "function", "function": "odd"}]
    ),
    "a call is odd": say(None, tool_calls=["odd"]),
    "a call is null": say(None, tool_calls=[None]),
    "two calls": say(None, tool_calls=PIECE["choices"][0]["delta"]["tool_calls"] * 2),
    "no call": say(None, tool_calls=[]),
    "calls are null": say(None, tool_calls=None),
    "calls are an object": say(None, tool_calls={"0": {}}),
    "text beside it": fragment("2", id=None, type="function", content="a"),
    "a new call": opened(),
    "another new call": opened(1),
    "another choice": {**PIECE, "choices": [{**PIECE["choices"][0], "index": 1}]},
}


@pytest.mark.parametrize("other", OTHER_PIECES.values(), ids=OTHER_PIECES)
def test_what_differs_in_a_tool_call_is_merged_by_the_rules(other):
    """Which call a fragment belongs to is decided there, and so is what repeats arguments."""
    whole = fragment('{"a":1}', id=None, type="function")
    for first in ([opened()], [opened(), opened(1)], [opened(1), opened()], []):
        for rest in ([other], [other, PIECE, PIECE, PIECE], [other, other, PIECE]):
            added_alike([*first, PIECE, PIECE, PIECE, *rest])
            added_alike([*first, whole, *rest])


def test_two_texts_of_which_one_is_null():
    """Neither is added before both are known to be text."""
    chunks = [say("a", x="b"), say("c", x="d"), say("e", x=None), say(None, x="f")]
    added_alike(chunks)


@pytest.mark.parametrize("change", ["created", "model", "role", "content", "x", "y"])
def test_values_are_compared_each_time(change):
    """The caller may change the very chunk that it added before, and add it again."""
    told = []
    for fast in (True, False):
        accumulator = Accumulator()
        if not fast:
            by_the_rules(accumulator)
        chunk = copy.deepcopy(SAME)
        for number in range(6):
            accumulator.add(chunk)
            place = {"role": chunk["choices"][0]["delta"], "y": chunk["choices"][0]}
            place["content"] = place["role"]
            place.get(change, chunk)[change] = f"new {number // 2}"
        told.append(described(accumulator.finish()))
    assert told[0] == told[1]


@pytest.mark.parametrize("values", [[[1], [1, 2]], [1, True]], ids=repr)
def test_a_value_under_the_name_of_a_hole_of_another_level(values):
    """`content` of the choice is no hole because `content` of the delta is one."""
    told = []
    for fast in (True, False):
        accumulator = Accumulator()
        if not fast:
            by_the_rules(accumulator)
        chunk = say("a", choice={"content": copy.deepcopy(values[0])})
        accumulator.add(chunk)
        accumulator.add(chunk)
        if isinstance(values[0], list):
            chunk["choices"][0]["content"].append(2)
        else:
            chunk["choices"][0]["content"] = values[1]
        accumulator.add(chunk)
        choice = to_dict(accumulator.snapshot())["choices"][0]
        told.append((repr(choice["content"]), choice["message"]))
    assert told[0] == told[1]


class Model:
    """A chunk of another library."""

    def __init__(self, chunk):
        self.chunk = chunk

    def model_dump(self):
        return self.chunk


@pytest.mark.parametrize(
    "chunk",
    [say("b", top={"system_fingerprint": "fp_2"}), say([{"type": "text", "text": "b"}])],
    ids=["another value", "parts"],
)
def test_a_model_between_dicts(chunk):
    """It may change what a chunk as before would add."""
    like = say("a", top={"system_fingerprint": "fp_1"})
    added_alike([like, like, Model(chunk), like, like])


def test_a_callers_text_of_the_chunk():
    """A rule may concatenate a field of the chunk itself."""
    added_alike([say(top={"x": text}) for text in "abcd"], rules={"x": Rule.CONCAT})


@pytest.mark.parametrize("rule", list(Rule), ids=lambda rule: rule.name)
@pytest.mark.parametrize("path", ["choices.x", "choices.delta.x"])
def test_a_callers_rules(path, rule):
    """Whatever the rule."""
    for values in (["a", "b", "b", "b"], [1, 2, 2, 2], [[1], [2], [2]], [{"a": 1}, {"a": 2}] * 2):
        name = "choice" if path == "choices.x" else "delta"
        chunks = [
            say("t", choice={"x": value}) if name == "choice" else say("t", x=value)
            for value in values
        ]
        added_alike(chunks, rules={path: rule})


# -- Bounds, and what learning costs -------------------------------------------------


@pytest.mark.parametrize("bound", [1, 2, 5, 9])
@pytest.mark.parametrize("limit", ["chunks", "text"])
def test_bounds(limit, bound):
    """The chunk that is too much raises the same error, with the same partial response."""
    calls = [opened(), *[fragment("x", content="y")] * 9]
    for chunks in (
        calls,
        [say("x")] * 10,
        [say("x", x="")] * 10,
        [say("x", n % 2) for n in range(10)],
    ):
        _, failed = added_alike(chunks, limits=Limits(**{limit: bound}))
        assert failed[3]["limit"] == limit


def test_a_cumulative_stream_is_merged_by_the_rules():
    """Each piece replaces what it repeats."""
    chunks = [say("a" * n) for n in range(1, 10)]
    assert slow_chunks(chunks, cumulative=True) == len(chunks)
    added_alike(chunks, cumulative=True)


def test_waits_grow_where_no_chunk_repeats():
    """Shapes are made ever more seldom, and chunks that repeat are still found later."""
    accumulator = Accumulator()
    made = []
    for number in range(4000):
        known = accumulator._repeater._shape
        accumulator.add(say("a", top={f"x{number}": "b"}))
        made.append(accumulator._repeater._shape is not known)
    assert accumulator._repeater._wait == LONGEST_WAIT
    assert sum(made) < 60
    assert slow_chunks([*[say("a", top={f"x{n}": "b"}) for n in range(99)], *[say()] * 999]) < 500


# -- Shapes --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "chunk",
    [
        say("a", top={"x": 1}),
        say("a", choice={"x": 1.5}),
        say("a", x=True),
        say("a", top={"usage": {}}),
        say(["a"]),
        tool("a", id="call_1"),
        fragment("a", x=0),
        fragment("a", function={"x": {}}),
        say(choice={"logprobs": logprobs()}),
        write(logprobs=rows()),
        {**say(), "choices": []},
    ],
    ids=repr,
)
def test_chunks_without_a_shape(chunk):
    """Only strings and nulls can be compared, and only texts are added."""
    assert shape_of(chunk, RULES["completion"]) is None


@pytest.mark.parametrize(
    ("chunk", "holes"),
    [
        (say("a"), [(DELTA, "content")]),
        (
            say("a", choice={"text": "b"}, x="c"),
            [(CHOICE, "text"), (DELTA, "content"), (DELTA, "x")],
        ),
        (say(None), []),
        (write(), [(CHOICE, "text")]),
        (write(token=5), [(CHOICE, "text"), (CHOICE, "token")]),
        (fragment("a", content="b"), [(DELTA, "content"), (FUNCTION, "arguments")]),
    ],
    ids=repr,
)
def test_the_holes_of_a_shape(chunk, holes):
    """They are where the plan has holes, in the order in which the rules merge them."""
    shape = shape_of(chunk, RULES["completion"])
    assert shape.holes == holes
    assert shape.fields_of(*parts_of(chunk))[CHOICE] is chunk["choices"][0]


@pytest.mark.parametrize("holes", [set(), {"a"}, {"a", "b"}], ids=len)
def test_level(holes):
    """The values outside the holes, however many."""
    level = Level({"a": 1, "b": 2}, holes)
    expected = {0: (1, 2), 1: 2, 2: 2}
    assert level.values == expected[len(holes)]
    assert (level.get({"a": 1, "b": 3}) == level.values) is ("b" in holes)


PIECES = st.sampled_from(["a", "", "é", "\ud83d", "\ude00", None, 5])
CHUNKS = st.builds(
    lambda content, index, role, top, choice: say(
        content, index, top=top, choice=choice, **({"role": role} if role else {})
    ),
    PIECES,
    st.sampled_from([0, 0, 0, 1, True, None]),
    st.sampled_from([None, None, "assistant", "user"]),
    st.sampled_from([{}, {}, {"model": "other"}, {"x": None}, {"x": "a"}, {"created": 0}]),
    st.sampled_from([{}, {}, {"finish_reason": None}, {"finish_reason": "stop"}, {"text": "t"}]),
)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.one_of(CHUNKS, st.just(say("r"))), max_size=20), st.integers(1, 4))
def test_any_sequence(chunks, times):
    """Each chunk several times over: the outcome is that of the rules."""
    added_alike([chunk for chunk in chunks for _ in range(times)])
    added_alike(chunks * 2)


def test_a_choice_fed_by_itself():
    """What a choice got past the accumulator may change what a chunk as before would add."""
    fast, slow = Accumulator(), by_the_rules(Accumulator())
    for accumulator in (fast, slow):
        for text in "ab":
            accumulator.add(say(text))
        accumulator.choices[0].add({"delta": {"content": [{"type": "text", "text": "c"}]}})
        for text in "de":
            accumulator.add(say(text))
    assert to_dict(fast.snapshot()) == to_dict(slow.snapshot())
    assert fast.snapshot().choices[0].message.content == ({"type": "text", "text": "abcde"},)
