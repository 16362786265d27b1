"""Tests of tool calls in fragments: which call a fragment belongs to, and what it adds."""

from __future__ import annotations

import json
import time

from itertools import pairwise

import pytest

from hypothesis import given, settings
from hypothesis import strategies as st

from streamkit import InvalidChunk, LimitExceeded, Limits, finalize, rebuild

from . import accumulate, codes, deltas, entries, message, outcome_of, sse


def call(index=0, id=None, name=None, arguments=None, **more):
    """Return a fragment of a function call; what is None is left out."""
    function = {"name": name, "arguments": arguments}
    function = {key: value for key, value in function.items() if value is not None}
    fragment = {"index": index, "id": id, "function": function or None, **more}
    return {key: value for key, value in fragment.items() if value is not None}


def whole(id=None, name=None, arguments="", **more):
    """Return a function call as the full object has it, without nulls."""
    function = {"name": name, "arguments": arguments}
    function = {key: value for key, value in function.items() if value is not None}
    value = {"id": id, "type": "function", "function": function, **more}
    return {key: item for key, item in value.items() if item is not None}


def chunks_of(*fragments):
    """Return one chunk for each fragment, or list of fragments."""
    return deltas(
        *({"tool_calls": each if isinstance(each, list) else [each]} for each in fragments)
    )


ONE = [
    call(0, "call_1", "look", "", type="function"),
    call(0, arguments='{"a"'),
    call(0, arguments=": 1}"),
]

CALLS = {
    "one call in fragments": (ONE, [whole("call_1", "look", '{"a": 1}')]),
    "everything in one fragment": ([call(0, "a", "f", "{}")], [whole("a", "f", "{}")]),
    "the same index twice in the first chunk": (
        [[call(0, "a", "f", ""), call(0, arguments="{}")]],
        [whole("a", "f", "{}")],
    ),
    "the same index twice in a later chunk": (
        [call(0, "a", "f", ""), [call(0, arguments="{"), call(0, arguments="}")]],
        [whole("a", "f", "{}")],
    ),
    "indexes in reverse, with a gap": (
        [call(2, "c", "h", "{}"), call(0, "a", "f", "{}")],
        [whole("a", "f", "{}"), whole("c", "h", "{}")],
    ),
    "fragments interleave": (
        [
            call(0, "a", "f", ""),
            call(1, "b", "g", ""),
            call(1, arguments="[1]"),
            call(0, arguments="{}"),
        ],
        [whole("a", "f", "{}"), whole("b", "g", "[1]")],
    ),
    "a new id with a name under a used index": (
        [call(0, "a", "f", "{"), call(0, "b", "g", ""), call(0, arguments="{}")],
        [whole("a", "f", "{"), whole("b", "g", "{}")],
    ),
    "the name again after whole arguments": (
        [call(0, name="f", arguments='{"a":1}'), call(0, name="f", arguments='{"a":2}')],
        [whole(None, "f", '{"a":1}'), whole(None, "f", '{"a":2}')],
    ),
    "the name again before the arguments are whole": (
        [call(0, name="f", arguments='{"a"'), call(0, name="f", arguments=":1}")],
        [whole(None, "f", '{"a":1}')],
    ),
    "the same id and name again, with more": (
        [call(0, "a", "f", "{"), call(0, "a", "f", "}")],
        [whole("a", "f", "{}")],
    ),
    "a new id without a name": (
        [call(0, "a", "f", "{"), call(0, "b", arguments="}")],
        [whole("a", "f", "{}")],
    ),
    "a new id with an empty name": (
        [call(0, "a", "f", "{"), call(0, "b", "", "}")],
        [whole("a", "f", "{}")],
    ),
    "whole arguments again with an empty name and no id": (
        [call(0, "a", "", "{}"), call(0, None, "", "{}")],
        [whole("a", None, "{}{}")],
    ),
    "no index: another id without a name": (
        [call(None, "a", "f", "{}"), call(None, "b", arguments="{}")],
        [whole("a", "f", "{}"), whole("b", None, "{}")],
    ),
    "another custom call under a used index": (
        [
            {"index": 0, "id": id, "type": "custom", "custom": {"name": "sh", "input": "ls"}}
            for id in "ab"
        ],
        [{"id": id, "type": "custom", "custom": {"name": "sh", "input": "ls"}} for id in "ab"],
    ),
    "an id that comes late": (
        [call(0, None, "f", "{"), call(0, "a", "f", "}")],
        [whole("a", "f", "{}")],
    ),
    "empty and null id, type and name later": (
        [
            call(0, "a", "f", "{", type="function"),
            call(0, "", "", "}", type=""),
            {"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": None}},
            {"index": 0, "function": None},
        ],
        [whole("a", "f", "{}")],
    ),
    "no id at all": ([call(0, None, "f", "{}")], [whole(None, "f", "{}")]),
    "an empty id": ([call(0, "", "f", "{}")], [whole(None, "f", "{}")]),
    "two whole calls without index in one chunk": (
        [[call(None, "a", "f", "{}"), call(None, "b", "f", "{}")]],
        [whole("a", "f", "{}"), whole("b", "f", "{}")],
    ),
    "no index: an escape is cut, with nothing behind it at first": (
        [
            call(None, name="f", arguments='{"a":"\\'),
            call(None, name="f", arguments=""),
            call(None, name="f", arguments='""}'),
            call(None, name="f", arguments="{}"),
        ],
        [whole(None, "f", '{"a":"\\""}'), whole(None, "f", "{}")],
    ),
    "no index: the arguments go on without id": (
        [call(None, "a", "f", ""), call(None, arguments="{"), call(None, arguments="}")],
        [whole("a", "f", "{}")],
    ),
    "no index: a known id continues its call": (
        [
            call(None, "a", "f", "{"),
            call(None, "b", "g", "{"),
            call(None, "a", arguments="}"),
            call(None, "b", arguments="}"),
        ],
        [whole("a", "f", "{}"), whole("b", "g", "{}")],
    ),
    "no index: an id for a call that has none": (
        [call(None, None, "f", "{"), call(None, "a", arguments="}")],
        [whole("a", "f", "{}")],
    ),
    "no index: an id and a name after a call without id": (
        [call(None, None, "f", "{"), call(None, "a", "g", "{}")],
        [whole(None, "f", "{"), whole("a", "g", "{}")],
    ),
    "no index: another name": (
        [call(None, None, "f", "{"), call(None, None, "g", "{}")],
        [whole(None, "f", "{"), whole(None, "g", "{}")],
    ),
    "no index: the name after a finished call": (
        [call(None, None, "f", "{}"), call(None, None, "f", "{}")],
        [whole(None, "f", "{}"), whole(None, "f", "{}")],
    ),
    "no index: the same name before the call has finished": (
        [call(None, None, "f", "{"), call(None, None, "f", "}")],
        [whole(None, "f", "{}")],
    ),
    "no index: arguments before anything else": (
        [call(None, arguments="{"), call(None, arguments="}")],
        [whole(None, None, "{}")],
    ),
    "indexed calls come before others": (
        [call(None, "x", "h", "{}"), call(5, "b", "g", "{}"), call(0, "a", "f", "{}")],
        [whole("a", "f", "{}"), whole("b", "g", "{}"), whole("x", "h", "{}")],
    ),
    "an index later for a call that had none": (
        [call(None, "a", "f", "{}"), call(0, "b", "g", "{}")],
        [whole("b", "g", "{}"), whole("a", "f", "{}")],
    ),
    "a name in pieces": (
        [call(0, "a", "look"), call(0, name="_up"), call(0, arguments="{}")],
        [whole("a", "look_up", "{}")],
    ),
    "a name that grows": (
        [call(0, "a", "look"), call(0, "a", "look_up"), call(0, arguments="{}")],
        [whole("a", "look_up", "{}")],
    ),
    "a name sent again": (
        [call(0, "a", "f"), call(0, name="f"), call(0, arguments="{")],
        [whole("a", "f", "{")],
    ),
    "another name once arguments have begun": (
        [call(0, "a", "f", "{"), call(0, name="g", arguments="}")],
        [whole("a", "f", "{}")],
    ),
    "a closing chunk repeats the call": (
        [call(0, "a", "f", "{"), call(0, arguments='"a":1}'), call(0, "a", "f", '{"a":1}')],
        [whole("a", "f", '{"a":1}')],
    ),
    "a closing chunk repeats the call as an object": (
        [call(0, "a", "f", '{"a":1}'), call(0, "a", "f", {"a": 1})],
        [whole("a", "f", '{"a":1}')],
    ),
    "closing chunks repeat the call again and again": (
        [call(0, "a", "f", "{}"), *[call(0, "a", "f", "{}")] * 3],
        [whole("a", "f", "{}")],
    ),
    "text after a closing chunk": (
        [
            *[call(0, "a", "f", "{}")] * 2,
            call(0, arguments=" "),
            call(0, "a", "f", "{} "),
            call(0, arguments="x"),
            call(0, "a", "f", "{} x"),
        ],
        [whole("a", "f", "{} x{} x")],
    ),
    "what only looks like a closing chunk": (
        [call(0, "a", "f", "ha"), call(0, "a", "f", "ha")],
        [whole("a", "f", "haha")],
    ),
    "whole arguments again without the name": (
        [call(0, "a", "f", "{}"), call(0, "a", arguments="{}")],
        [whole("a", "f", "{}{}")],
    ),
    "blanks after whole arguments": (
        [call(0, "a", "f", "{}"), call(0, arguments="\n"), call(0, "a", "f", "{}\n")],
        [whole("a", "f", "{}\n")],
    ),
    "text after whole arguments": (
        [
            call(0, None, "f", "{}"),
            call(0, None, "f", None),
            call(0, arguments="{}"),
            call(0, arguments="x"),
            call(0, name="f", arguments="y"),
        ],
        [whole(None, "f", "{}"), whole(None, "f", "{}xy")],
    ),
    "brackets that close, and no object": (
        [call(0, None, "f", "{]"), call(0, None, "f", "}"), call(0, None, "f", "{}")],
        [whole(None, "f", "{]}{}")],
    ),
    "an array is no whole object": (
        [call(0, None, "f", "[1]"), call(0, None, "f", "[2]")],
        [whole(None, "f", "[1][2]")],
    ),
    "a bracket inside a string": (
        [call(0, None, "f", '{"a":"}'), call(0, None, "f", '"}'), call(0, None, "f", "{}")],
        [whole(None, "f", '{"a":"}"}'), whole(None, "f", "{}")],
    ),
    "arguments as an object": (
        [call(0, "a", "f", {"a": [1, None], "é": True})],
        [whole("a", "f", '{"a":[1,null],"é":true}')],
    ),
    "arguments as an empty object": ([call(0, "a", "f", {})], [whole("a", "f", "{}")]),
    "broken arguments are not repaired": (
        [call(0, "a", "f", '{"a": nul')],
        [whole("a", "f", '{"a": nul')],
    ),
    "another type": (
        [call(0, "a", "f", "{}", type="retrieval"), call(0, type="function")],
        [whole("a", "f", "{}", type="retrieval")],
    ),
    "other keys of the call": (
        [
            call(0, "a", "f", "{}", extra_content={"google": {"signature": "s"}}, status="x"),
            call(0, extra_content={"google": {"signature": "s"}, "more": 1}, status="y"),
            call(0, extra_content={}, status="", more=[]),
        ],
        [
            whole(
                "a",
                "f",
                "{}",
                extra_content={"google": {"signature": "s"}, "more": 1},
                status="y",
            )
        ],
    ),
    "other keys of the function": (
        [
            {"index": 0, "id": "a", "function": {"name": "f", "strict": True, "x": "1"}},
            {"index": 0, "function": {"arguments": "{}", "x": "2"}},
        ],
        [
            {
                "id": "a",
                "type": "function",
                "function": {"name": "f", "arguments": "{}", "strict": True, "x": "2"},
            }
        ],
    ),
    "a custom call": (
        [
            {"index": 0, "id": "a", "type": "custom", "custom": {"name": "sh", "input": ""}},
            {"index": 0, "custom": {"input": "l"}},
            {"index": 0, "custom": {"input": "s", "x": 1}},
        ],
        [{"id": "a", "type": "custom", "custom": {"name": "sh", "input": "ls", "x": 1}}],
    ),
    "a custom call without type": (
        [{"index": 0, "id": "a", "custom": {"name": "sh", "input": "ls"}}],
        [{"id": "a", "type": "custom", "custom": {"name": "sh", "input": "ls"}}],
    ),
    "a custom call whose input repeats": (
        [
            {"index": 0, "id": "a", "custom": {"name": "sh", "input": "ha"}},
            {"index": 0, "id": "a", "custom": {"name": "sh", "input": "ha"}},
        ],
        [{"id": "a", "type": "custom", "custom": {"name": "sh", "input": "haha"}}],
    ),
    "custom and function calls side by side": (
        [
            {"index": 1, "id": "b", "custom": {"name": "sh", "input": "ls"}},
            call(0, "a", "f", "{}"),
        ],
        [
            whole("a", "f", "{}"),
            {"id": "b", "type": "custom", "custom": {"name": "sh", "input": "ls"}},
        ],
    ),
    "a function that is no object": (
        [{"index": 0, "id": "a", "function": "f"}],
        [{"id": "a", "type": "function", "function": "f"}],
    ),
    "an id and a type that are no strings": (
        [{"index": 0, "id": 5, "type": 6, "function": {"name": "f", "arguments": "{}"}}],
        [whole(None, "f", "{}")],
    ),
    "two calls by turns under one index, told apart by their ids": (
        [
            call(0, "a", "f", '{"x"'),
            call(0, "b", "g", '{"y"'),
            call(0, "a", arguments=":1"),
            call(0, arguments="}"),
            call(0, "b", "g", ":2"),
            call(0, arguments="}"),
        ],
        [whole("a", "f", '{"x":1}'), whole("b", "g", '{"y":2}')],
    ),
    "one id under two indexes": (
        [call(0, "a", "f", "{"), call(1, "a", "f", "{"), call(0, "a", arguments="}")],
        [whole("a", "f", "{}"), whole("a", "f", "{")],
    ),
    "half a surrogate pair in an id and a name": (
        [call(0, "\ud83d", "f\ud83d"), call(0, "\ud83d", "f\ud83d"), call(0, arguments="{}")],
        [whole("\ufffd", "f\ufffd", "{}")],
    ),
    "half a surrogate pair in an id, and no index": (
        [call(None, "\ud83d", "f", "{"), call(None, "\ud83d", "f", "}")],
        [whole("\ufffd", "f", "{}")],
    ),
    "a surrogate pair over two fragments": (
        [call(0, "a", "f", '{"a":"\ud83d'), call(0, arguments='\ude00"}')],
        [whole("a", "f", '{"a":"\U0001f600"}')],
    ),
}


@pytest.mark.parametrize(("fragments", "expected"), CALLS.values(), ids=CALLS)
def test_calls(fragments, expected):
    """Fragments become calls as the API without streaming returns them, without index."""
    assert message(chunks_of(*fragments))["tool_calls"] == expected


@pytest.mark.parametrize("nothing", [None, []], ids=repr)
def test_no_calls_make_no_key(nothing):
    """Null and an empty list are no calls, and a response without calls has no such key."""
    assert "tool_calls" not in message(deltas({"tool_calls": nothing}))
    chunks = deltas({"tool_calls": nothing}, {"tool_calls": [call(0, "a", "f", "{}")]})
    assert message(chunks)["tool_calls"] == [whole("a", "f", "{}")]


def test_each_choice_has_its_own_calls():
    """Index 0 of one choice is not index 0 of another."""
    chunks = entries(
        {"delta": {"tool_calls": [call(0, "a", "f", "{")]}},
        {"index": 1, "delta": {"tool_calls": [call(0, "b", "g", "[")]}},
        {"delta": {"tool_calls": [call(0, arguments="}")]}},
        {"index": 1, "delta": {"tool_calls": [call(0, arguments="]")]}},
    )
    first, second = accumulate(chunks).snapshot().choices
    assert first.message.tool_calls[0].function.arguments == "{}"
    assert second.message.tool_calls[0].function.arguments == "[]"


@pytest.mark.parametrize(
    ("fragments", "code"),
    [
        ([call(0, "a", "f", "{"), call(0, "b", "g", "")], "index_reused"),
        ([call(0, "a", "f", "{"), call(0, "b", arguments="}")], "tool_call_id_changed"),
        ([call(0, "a", "f", "{}"), call(0, "a", "f", "{}")], "arguments_repeated"),
        ([call(0, "a"), call(0, "a", "f", {"a": 1})], "arguments_encoded"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_was_decided_is_reported(fragments, code):
    """Each decision is an issue of the chunk in which it was made; strict mode allows it."""
    outcome = outcome_of(chunks_of(*fragments))
    assert [(issue.code, issue.event) for issue in outcome.issues if issue.event == 1] == [
        (code, 1)
    ]
    assert codes(accumulate(chunks_of(*fragments), strict=True)) == [code]


@pytest.mark.parametrize(
    ("fragment", "code", "path"),
    [
        ("odd", "bad_type", "$..tool_calls[1]"),
        (None, "bad_type", "$..tool_calls[1]"),
        (call(-1, "b"), "index_range", "$..tool_calls[1]"),
        (call(True, "b"), "index_range", "$..tool_calls[1]"),
        (call(1.0, "b"), "index_range", "$..tool_calls[1]"),
        (call("1", "b"), "index_range", "$..tool_calls[1]"),
        (call(65_536, "b"), "index_range", "$..tool_calls[1]"),
    ],
    ids=repr,
)
def test_what_is_no_fragment_is_refused(fragment, code, path):
    """It is left out with an issue, the others are used; strict mode raises."""
    chunks = chunks_of([call(0, "a", "f", "{}"), fragment, call(1, "c", "g", "{}")])
    outcome = outcome_of(chunks)
    assert codes(outcome)[0] == code
    assert [each.id for each in outcome.response.choices[0].message.tool_calls] == ["a", "c"]
    with pytest.raises(InvalidChunk) as caught:
        accumulate(chunks, strict=True)
    assert caught.value.path == path
    assert [each.id for each in caught.value.partial.choices[0].message.tool_calls] == ["a"]


@pytest.mark.parametrize("name", ["id", "type"])
@pytest.mark.parametrize("value", [5, 0, False, ["a"], {"a": 1}], ids=repr)
def test_labels_that_are_no_strings_are_refused(name, value):
    """An id or a type that is no string is left out with an issue; strict mode raises."""
    chunks = chunks_of({**call(0, "a", "f", "{}"), name: value})
    outcome = outcome_of(chunks)
    assert codes(outcome)[0] == "bad_type"
    assert outcome.response.choices[0].message.tool_calls[0].function.arguments == "{}"
    with pytest.raises(InvalidChunk) as caught:
        accumulate(chunks, strict=True)
    assert caught.value.path == f"$..tool_calls..{name}"


def test_tool_calls_of_another_type_are_refused():
    """An object where a list should be is left out, with an issue."""
    outcome = outcome_of(deltas({"tool_calls": call(0, "a", "f", "{}")}))
    assert codes(outcome)[0] == "bad_type"
    assert outcome.response.choices[0].message.tool_calls is None


def test_calls_are_bounded():
    """One call more than the limit raises; those before stay readable."""
    accumulator = accumulate(chunks_of(call(0, "a", "f", "{}")), limits=Limits(tool_calls=1))
    with pytest.raises(LimitExceeded) as caught:
        accumulator.add(*chunks_of(call(1, "b", "g", "{}")))
    assert (caught.value.limit, caught.value.value) == ("tool_calls", 2)
    assert accumulator.snapshot().choices[0].message.tool_calls[0].id == "a"


def test_the_call_that_is_too_much_is_not_in_the_response():
    """Nothing is invented: no empty call stands for the one that was refused."""
    accumulator = accumulate(chunks_of(call(0, "a", "f", "{}")), limits=Limits(tool_calls=1))
    with pytest.raises(LimitExceeded) as caught:
        accumulator.add(*chunks_of(call(1, "b", "g", "{}")))
    assert [each.id for each in caught.value.partial.choices[0].message.tool_calls] == ["a"]


def test_a_name_in_many_pieces_takes_linear_time():
    """Four times the pieces take about four times as long; the square would be sixteen."""

    def seconds(count):
        pieces = [*chunks_of(call(name="a" * 20), call(name="b" * 20))] * (count // 2)
        began = time.process_time()
        accumulate(pieces)
        return time.process_time() - began

    assert min(seconds(40_000) for _ in range(2)) < 9 * min(seconds(10_000) for _ in range(2))


def test_arguments_count_as_text():
    """The bound on accumulated text holds for arguments, too."""
    with pytest.raises(LimitExceeded) as caught:
        accumulate(
            chunks_of(call(0, "a", "f", "{}"), call(0, arguments="x")), limits=Limits(text=2)
        )
    assert caught.value.limit == "text"


RUNS = {
    "one call": [call(0, "a", "f", ""), *[call(0, arguments="x")] * 20],
    "two calls": [
        call(0, "a", "f", ""),
        *[call(0, arguments="x")] * 9,
        call(1, "b", "g", ""),
        *[call(1, arguments="y")] * 9,
        *[call(0, arguments="z")] * 9,
    ],
    "a call without function": [
        {"index": 0, "custom": {"name": "sh", "input": "l"}},
        *[{"index": 0, "custom": {"input": "s"}}] * 9,
        *[{"index": 0, "function": {"arguments": "x"}}] * 9,
    ],
    "no index": [call(None, "a", "f", ""), *[call(None, arguments="x")] * 9],
    "a call that begins with arguments": [call(3, arguments="x")] * 9,
    "two fragments a chunk": [[call(0, arguments="x"), call(1, arguments="y")]] * 9,
    "whole arguments again and again": [call(0, None, "f", "{}")] * 5,
    "the same name again and again": [call(0, "a", "f", "x")] * 9,
    "the index of the last": [
        call(0, "a", "f", ""),
        *[call(0, arguments="x")] * 9,
        call(0, "b", "g", ""),
        *[call(0, arguments="y")] * 9,
    ],
}


@pytest.mark.parametrize("fragments", RUNS.values(), ids=RUNS)
def test_runs_of_alike_fragments(fragments):
    """Read from bytes, long runs of pieces give the same calls and issues as one by one."""
    chunks = chunks_of(*fragments)
    outcome = rebuild(sse(chunks))
    assert outcome.response == finalize(chunks)
    assert codes(outcome) == codes(outcome_of(chunks))
    assert len(outcome.response.choices[0].message.tool_calls) >= 1


# -- The legacy function call --------------------------------------------------------


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (
            [{"name": "f", "arguments": ""}, {"arguments": "{"}, {"arguments": "}"}],
            {"name": "f", "arguments": "{}"},
        ),
        ([{"name": "f"}, {"name": "f", "arguments": "{}"}], {"name": "f", "arguments": "{}"}),
        ([{"name": "look"}, {"name": "_up"}], {"name": "look_up", "arguments": ""}),
        ([{"arguments": "{}"}], {"arguments": "{}"}),
        ([{"name": "f", "arguments": {"a": 1}}], {"name": "f", "arguments": '{"a":1}'}),
        ([{"name": "f", "arguments": None, "x": 1}], {"name": "f", "arguments": "", "x": 1}),
    ],
    ids=str,
)
def test_function_call(pieces, expected):
    """The name as in tool calls, arguments concatenated."""
    chunks = deltas(*({"function_call": piece} for piece in pieces))
    assert message(chunks)["function_call"] == expected


# -- Properties ----------------------------------------------------------------------


@settings(deadline=None)
@given(
    st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=5), max_size=3),
    st.lists(st.integers(0, 60), max_size=8),
    st.booleans(),
)
def test_arguments_cut_anywhere_come_back(arguments, cuts, ascii_only):
    """However an object's text is cut, it is one call with that text, then another opens."""
    text = json.dumps(arguments, ensure_ascii=ascii_only)
    places = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    pieces = [text[start:end] for start, end in pairwise(places)]
    fragments = [call(0, name="f"), *(call(0, arguments=piece) for piece in pieces)]
    calls = message(chunks_of(*fragments, call(0, name="f", arguments="{}")))["tool_calls"]
    assert calls == [whole(None, "f", text), whole(None, "f", "{}")]
