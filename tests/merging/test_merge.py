"""Tests of the merge rules: the chunk's fields row by row, and each rule's odd cases."""

from __future__ import annotations

import pytest

from hypothesis import given
from hypothesis import strategies as st

from streamkit import InvalidChunk, Rule
from streamkit._issues import IssueLog
from streamkit._limits import Limits
from streamkit._merge import APPLY, has_number, merge_fields
from streamkit._rules import Table
from streamkit._state import Context, is_empty, plain_values

from . import accumulate, choice, chunk, codes, deltas, entries, final, message, outcome_of, texts


def merged(name, values, rule, **options):
    """Return what *values* of one field become under *rule*, and the issues' codes."""
    context = Context(IssueLog(), Limits(), **options)
    table = Table(
        {name: rule}, string=Rule.DROP, array=Rule.DROP, object=Rule.DROP, scalar=Rule.DROP
    )
    state = {}
    for value in values:
        merge_fields(state, {name: value}, table, context)
    return plain_values(state, context), [issue.code for issue in context.log.issues]


VALUES = st.one_of(
    st.sampled_from([None, True, False, 0, 1, 1.0, -1, "", "a", "b", "null", "\ud83d", "\ude00"]),
    st.sampled_from([[], ["a"], [1], {}, {"a": 1}, {"a": "b"}, [{"index": 0, "a": "b"}]]),
)


@pytest.mark.parametrize("rule", list(Rule), ids=lambda rule: rule.name)
@given(values=st.lists(VALUES, max_size=6), others=st.sampled_from(["x", "xs"]))
def test_a_value_that_is_kept_already_is_passed_over_as_the_rule_would(rule, values, others):
    """Whatever the rule: values, and issues, are those of applying it each time."""
    table = Table({"x": rule}, Rule.LAST, Rule.LAST, Rule.LAST, Rule.LAST)
    told = []
    for merge in (merge_fields, merge_each):
        context, state = Context(IssueLog(), Limits()), {}
        for number, value in enumerate(values):
            merge(state, {"x" if number % 2 else others: value}, table, context)
        told.append((repr(plain_values(state, context)), context.log.issues, context.text))
    assert told[0] == told[1]


def merge_each(state, fields, table, context):
    for name, value in fields.items():
        if value is not None and not (is_empty(value) and state.get(name) is not None):
            APPLY[table.rule_for(name, value)](state, name, value, context)


def test_every_rule_is_applied():
    """No rule is without a function."""
    assert APPLY.keys() == set(Rule)


# -- The rows of the chunk -----------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("id", ["", None, "a", "b", ""], "a"),
        ("created", [0, None, 5, 7, 0], 5),
        ("created", [], 0),
        ("model", ["", "a", None, "b", ""], "b"),
        ("object", ["chat.completion.chunk", "odd"], "chat.completion"),
        ("system_fingerprint", ["a", "b", None], "b"),
        ("service_tier", [None, "default", None], "default"),
        ("obfuscation", ["x"], None),
        ("p", ["x"], None),
        ("stream_options", [{"include_usage": True}], None),
        (
            "x_groq",
            [{"id": "a"}, {"id": None, "b": {"c": 1}}, {"b": {"d": 2}}],
            {
                "id": "a",
                "b": {"c": 1, "d": 2},
            },
        ),
        ("x_object", [{"a": 1}, "text"], "text"),
        ("prompt_filter_results", [[{"prompt_index": 0}], []], [{"prompt_index": 0}]),
        ("citations", [["a"], ["a", "b"], None], ["a", "b"]),
        ("search_results", [[1], [2]], [2]),
        ("x_list", [[1, 2], [3]], [3]),
        ("x_number", [1, 2, 2], 2),
        ("x_flag", [True, False, None], False),
        ("x_string", ["a", "b", ""], "b"),
        ("x_float", [0.5, 0.0], 0.0),
        ("x_empty", [None], None),
    ],
    ids=str,
)
def test_fields_of_the_chunk(name, values, expected):
    """Each field has its rule; null equals absent, and an empty value erases nothing."""
    chunks = [chunk(**{name: value}) for value in values] or [{"choices": []}]
    assert final(chunks, kind="chat").get(name) == expected


ONE, TWO = {"total_tokens": 1}, {"total_tokens": 2}


@pytest.mark.parametrize(
    ("reports", "expected"),
    [
        ([None, None], None),
        ([ONE, TWO], TWO),
        ([ONE, None], ONE),
        ([ONE, {}], ONE),
        ([{}], None),
        ([{"total_tokens": 1, "prompt_tokens": 1}, TWO], TWO),
        ([ONE, {"total_tokens": 0}], ONE),
        ([{"total_tokens": 0}, {"prompt_tokens": 0}], {"prompt_tokens": 0}),
        ([{"total_tokens": 0}], {"total_tokens": 0}),
        (
            [ONE, {"total_tokens": 0, "extra": {"cost": 0.5}}],
            {
                "total_tokens": 0,
                "extra": {"cost": 0.5},
            },
        ),
        ([ONE, {"note": "text", "flag": None}], ONE),
    ],
    ids=str,
)
def test_usage(reports, expected):
    """The last report replaces the whole; {} is none, and zeros replace no numbers."""
    assert final([chunk(usage=report) for report in reports]).get("usage") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, False),
        (None, False),
        ("5", False),
        (0, False),
        (0.0, False),
        (0.1, True),
        ({"a": {"b": 0}}, False),
        ({"a": 0, "b": {"c": 1}}, True),
    ],
    ids=repr,
)
def test_a_report_counts_if_a_number_in_it_is_not_zero(value, expected):
    """Numbers are looked for at every depth."""
    assert has_number(value) is expected


@pytest.mark.parametrize(
    ("name", "code"), [("id", "id_changed"), ("model", "model_changed")], ids=["id", "model"]
)
def test_changes_are_reported_once_and_counted(name, code):
    """A change is an issue; a gateway that changes it on every chunk makes one, counted."""
    outcome = outcome_of([chunk(**{name: value}) for value in ("a", "", "a", None, "b", "c")])
    assert codes(outcome).count(code) == 1
    assert outcome.issue_counts[code] == 2
    issue = next(issue for issue in outcome.issues if issue.code == code)
    assert (issue.message, issue.event) == ("from 'a' to 'b'", 4)


def test_a_change_of_role_is_reported():
    """The first role is kept."""
    accumulator = accumulate(deltas({"role": "assistant"}, {"role": ""}, {"role": "tool"}))
    assert codes(accumulator) == ["role_changed"]
    assert accumulator.snapshot().choices[0].message.role == "assistant"


@pytest.mark.parametrize("name", ["created", "system_fingerprint", "service_tier"])
def test_other_changes_are_not_reported(name):
    """Servers change these as they please."""
    assert codes(accumulate([chunk(**{name: 1}), chunk(**{name: 2})])) == []


# -- The rows of the delta that are one rule each ------------------------------------


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("role", [None, "", "tool"], "tool"),
        ("refusal", ["a", None, "b"], "ab"),
        ("reasoning_content", ["a", "", "b"], "ab"),
        ("reasoning", ["a", "a"], "aa"),
        ("x_text", ["a", None, "b"], "ab"),
        *((name, ["a", "b", ""], "b") for name in ("type", "name", "id", "object", "format")),
        *((name, ["a", "b", None], "b") for name in ("status", "signature", "phase", "channel")),
        ("item_id", ["a", "b"], "b"),
        ("index", [0], None),
        ("x_number", [1, 2], 2),
        ("x_flag", [True, False], False),
        ("x_list", [["a"], ["a"]], ["a", "a"]),
        ("x_null", [None], None),
    ],
    ids=str,
)
def test_fields_of_the_delta(name, values, expected):
    """Strings are concatenated, identities set, lists extended, scalars the last."""
    assert message(deltas(*({name: value} for value in values))).get(name) == expected


# -- The rows of the choice that are one rule each -----------------------------------


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("finish_reason", [None, "", "null"], None),
        ("finish_reason", ["stop", "", None, "null"], "stop"),
        ("finish_reason", ["stop", "length"], "length"),
        ("token_ids", [[1], None, [], [2, 3]], [1, 2, 3]),
        (
            "content_filter_results",
            [{"hate": {"a": 1, "b": 2}}, {}, {"hate": {"a": 3}, "self_harm": {}}],
            {"hate": {"a": 3}, "self_harm": {}},
        ),
        ("content_filter_results", [{"hate": {"a": 1}}, {"hate": {}}], {"hate": {"a": 1}}),
        ("content_filter_results", ["odd"], "odd"),
        ("content_filter_results", ["odd", {"hate": {"a": 1}}], {"hate": {"a": 1}}),
        ("stop_reason", [None, "eos", None], "eos"),
        ("x_object", [{"a": 1}, {"b": {"c": None}}], {"a": 1, "b": {}}),
        ("x_list", [[1], [2]], [2]),
        ("x_number", [1, 2], 2),
        ("seed", [7], 7),
    ],
    ids=str,
)
@pytest.mark.parametrize("make", [entries, texts], ids=["chat", "completion"])
def test_fields_of_the_choice(make, name, values, expected):
    """Each field has its rule, on either kind."""
    chunks = make({"text": "a"}, *({name: value} for value in values))
    assert final(chunks)["choices"][0].get(name) == expected


def test_friendlis_token_is_collected():
    """Each chunk has one `token`; the full object has the list `tokens`."""
    chunks = texts({"text": " such", "token": 1778}, {"text": " as", "token": 439}, {"token": None})
    assert choice(chunks)["tokens"] == [1778, 439]
    assert "token" not in choice(chunks)


def test_tokens_that_come_as_a_list_are_extended():
    """The plural may be streamed as well; both make one list."""
    assert choice(texts({"text": "a", "tokens": [1, 2]}, {"token": 3}))["tokens"] == [1, 2, 3]


def test_a_chats_token_is_no_list():
    """`token` is Friendli's only in completions: elsewhere it is any other value."""
    assert choice(entries({"token": 1}, {"token": 2}))["token"] == 2


# -- Wrong types ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chunks", "path", "wanted"),
    [
        ([chunk(id=5)], "$..id", "expected str, got int"),
        (deltas({"role": ["a"]}), "$..role", "expected str, got list"),
        ([chunk(usage=5)], "$.usage", "expected an object, got 5"),
        ([chunk(usage=[ONE])], "$.usage", "expected an object"),
        (deltas({"refusal": 5}), "$..refusal", "expected str, got 5"),
        (deltas({"reasoning": {"a": 1}}), "$..reasoning", "expected str"),
        (texts({"text": ["a"]}), "$..text", "expected str"),
        (texts({"text": "a", "token_ids": 5}), "$..token_ids", "expected an array, got 5"),
        (texts({"text": "a", "tokens": "a"}), "$..tokens", "expected an array, got 'a'"),
        (deltas({"content": 5}), "$..content", "expected str or list, got 5"),
        (deltas({"tool_calls": {}}), "$..tool_calls", "expected list"),
        (deltas({"function_call": "f"}), "$..function_call", "expected dict"),
        (deltas({"audio": []}), "$..audio", "expected dict"),
        (deltas({"reasoning_details": {}}), "$..reasoning_details", "expected list"),
        (entries({"logprobs": []}), "$..logprobs", "expected dict"),
        (deltas({"annotations": "a"}), "$..annotations", "neither list nor object"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_value_of_the_wrong_type_is_refused(chunks, path, wanted):
    """Lenient: left out, with an issue that says what and where; strict: the same, raised."""
    accumulator = accumulate(chunks)
    (issue,) = accumulator.issues
    assert issue.code == "bad_type"
    assert wanted in issue.message
    assert issue.message.endswith(f" @ {path}")
    with pytest.raises(InvalidChunk, match="bad_type") as caught:
        accumulate(chunks, strict=True)
    assert caught.value.path == path
    assert caught.value.errors == (issue.message,)
    assert type(caught.value.partial) is type(accumulator.snapshot())


# -- Rules alone ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "values", "expected", "issues"),
    [
        (Rule.FIRST, [None, "", [], "a", "b"], {"x": "a"}, []),
        (Rule.FIRST, [""], {"x": ""}, []),
        (Rule.FIRST_REPORTED, ["a", 5, "b"], {"x": "a"}, ["bad_type", "value_changed"]),
        (Rule.FIRST_NONZERO, [0, 3, 4], {"x": 3}, []),
        (Rule.LAST, ["a", "", None, "b"], {"x": "b"}, []),
        (Rule.LAST, [""], {}, []),
        (Rule.LAST_REPORTED, ["a", "a", "", "b"], {"x": "b"}, ["value_changed"]),
        (Rule.MERGE, [{"a": 1}, {"b": 2}], {"x": {"a": 1, "b": 2}}, []),
        (Rule.MERGE, ["a", {"b": 2}], {"x": {"b": 2}}, []),
        (Rule.MERGE, ["a", {}], {"x": "a"}, []),
        (Rule.MERGE_CATEGORIES, [{"a": {"b": 1}}, {"a": {"c": 1}}], {"x": {"a": {"c": 1}}}, []),
        (Rule.CONCAT, ["a", 5, "b"], {"x": "ab"}, ["bad_type"]),
        (Rule.EXTEND, [[1], {"a": 1}, [2]], {"x": [1, 2]}, ["bad_type"]),
        (Rule.EXTEND_DISTINCT, [[1], [1, 2]], {"x": [1, 2]}, []),
        (
            Rule.BY_INDEX,
            [[{"index": 0, "a": 1}], [{"index": 0, "b": 2}]],
            {"x": [{"index": 0, "a": 1, "b": 2}]},
            [],
        ),
        (Rule.BY_INDEX, [[1], "a", [2]], {"x": [2]}, []),
        (Rule.COLLECT, [1, None, [2]], {"xs": [1, [2]]}, []),
        (Rule.DROP, [1], {}, []),
        (Rule.FINISH_REASON, ["stop", "null", ""], {"x": "stop"}, []),
        (Rule.USAGE, [ONE, {}, "odd"], {"x": ONE}, ["bad_type"]),
        (Rule.LOGPROBS, [{"a": [1]}, {"a": [2]}], {"x": {"a": [1, 2]}}, []),
        (Rule.CONTENT, ["a", "b"], {"x": "ab"}, []),
        (Rule.TOOL_CALLS, [[]], {}, []),
        (Rule.FUNCTION_CALL, [{"name": "f"}], {"x": {"name": "f", "arguments": ""}}, []),
        (Rule.AUDIO, [{"data": "AA"}, {"data": "AA"}], {"x": {"data": "AAAA"}}, []),
        (Rule.REASONING_DETAILS, [[{"text": "a"}]], {"x": [{"text": "a"}]}, []),
    ],
    ids=str,
)
def test_rules(rule, values, expected, issues):
    """What each rule makes of the values of one field, and what it reports."""
    assert merged("x", values, rule) == (expected, issues)


@pytest.mark.parametrize(
    ("values", "expected", "issues"),
    [
        ([{"a": 1}, {"b": 2}], {"a": 1, "b": 2}, []),
        ([[], {"a": 1}], {"a": 1}, []),
        ([{"a": 1}, [1]], {"a": 1}, ["bad_type"]),
        ([[1], {"a": 1}], [1], ["bad_type"]),
        ([[1], "odd"], [1], ["bad_type"]),
    ],
    ids=str,
)
def test_lists_or_objects(values, expected, issues):
    """Annotations may be either; the first that says something decides."""
    assert merged("x", values, Rule.EXTEND_DISTINCT) == ({"x": expected}, issues)


def test_two_rules_on_one_name_raise_nothing():
    """A value that cannot be extended stays; one that cannot be merged is replaced."""
    context = Context(IssueLog(), Limits())
    state = {"x": "kept", "y": "kept"}
    for name, value, rule in (("x", [1], Rule.EXTEND), ("y", {"a": 1}, Rule.MERGE_CATEGORIES)):
        APPLY[rule](state, name, value, context)
    assert state == {"x": "kept", "y": {"a": 1}}


def test_kept_values_are_copies():
    """No rule keeps a container of the caller's."""
    value = {"a": [1], "b": {"c": [2]}}
    chunks = [
        chunk(
            {"index": 0, "delta": {"x": [value], "y": value}, "z": value, "logprobs": value},
            w=value,
            v=[value],
            usage=value,
        )
    ]
    accumulator = accumulate(chunks)
    before = accumulator.snapshot()
    value["a"].append("spoiled")
    value["b"]["c"].append("spoiled")
    assert accumulator.snapshot() == before
    assert "spoiled" not in str(accumulator.snapshot())


# -- What mutations had survived -----------------------------------------------------


def test_an_empty_value_of_another_type_behind_a_value():
    """It says nothing, so there is nothing to refuse; alone it is refused."""
    assert merged("id", ["a", []], Rule.FIRST_REPORTED) == ({"id": "a"}, [])
    assert merged("id", [[]], Rule.FIRST_REPORTED) == ({}, ["bad_type"])


def test_the_first_number_may_be_one():
    """Only 0 is no time."""
    assert merged("created", [1, 7], Rule.FIRST_NONZERO) == ({"created": 1}, [])
    assert merged("created", [0, 0], Rule.FIRST_NONZERO) == ({}, [])


def test_a_change_of_a_callers_field_is_told():
    """Which field, from what, to what."""
    context = Context(IssueLog(), Limits())
    table = Table(
        {"x": Rule.LAST_REPORTED}, string=Rule.DROP, array=Rule.DROP, object=Rule.DROP,
        scalar=Rule.DROP,
    )  # fmt: skip
    state = {}
    for value in ("a", "b"):
        merge_fields(state, {"x": value}, table, context)
    (issue,) = context.log.issues
    assert (issue.code, issue.message) == ("value_changed", "x: from 'a' to 'b'")


def test_what_is_neither_list_nor_object_is_shown():
    """The message of the refusal has the value."""
    context = Context(IssueLog(), Limits())
    table = Table(
        {"x": Rule.EXTEND_DISTINCT}, string=Rule.DROP, array=Rule.DROP, object=Rule.DROP,
        scalar=Rule.DROP,
    )  # fmt: skip
    merge_fields({}, {"x": 5}, table, context)
    (issue,) = context.log.issues
    assert issue.message.startswith("neither list nor object: 5")


def test_an_empty_list_gives_way_to_an_object():
    """What came first said nothing, and nothing of it stays."""
    values = [[], {"a": 1}]
    assert merged("annotations", values, Rule.EXTEND_DISTINCT) == ({"annotations": {"a": 1}}, [])
