"""Tests of the rule tables, and of a caller's own rules."""

from __future__ import annotations

import pytest

from streamkit import RULES, Accumulator, ChoiceAccumulator, Rule, rebuild, to_dict
from streamkit._rules import CHUNK, DELTA, Table

from . import accumulate, chunk, codes, deltas, entries, final, sse, texts


TABLE = Table(
    {"known": Rule.DROP},
    string=Rule.CONCAT,
    array=Rule.EXTEND,
    object=Rule.MERGE,
    scalar=Rule.LAST,
    identities=frozenset({"type"}),
)


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("known", "a", Rule.DROP),
        ("known", 5, Rule.DROP),
        ("text", "a", Rule.CONCAT),
        ("text", "", Rule.CONCAT),
        ("type", "a", Rule.LAST),
        ("request_id", "a", Rule.LAST),
        ("request_id", [], Rule.EXTEND),
        ("list", [1], Rule.EXTEND),
        ("object", {}, Rule.MERGE),
        ("number", 5, Rule.LAST),
        ("number", 0.5, Rule.LAST),
        ("flag", True, Rule.LAST),
    ],
)
def test_the_rule_is_found_by_name_then_by_type(name, value, rule):
    """A field's own rule comes first; all others go by JSON type, identities apart."""
    assert TABLE.rule_for(name, value) is rule


def test_extending_leaves_the_table_as_it_is():
    """`extended` returns another table, in which the new rules come first."""
    extended = TABLE.extended({"known": Rule.LAST, "new": Rule.FIRST})
    assert extended.rule_for("known", "a") is Rule.LAST
    assert extended.rule_for("new", [1]) is Rule.FIRST
    assert extended.rule_for("text", "a") is Rule.CONCAT
    assert TABLE.rule_for("known", "a") is Rule.DROP


def test_every_rule_says_what_it_does():
    """The rules are told apart by a sentence each."""
    assert len({rule.value for rule in Rule}) == len(Rule)


def test_both_kinds_share_the_tables_of_chunk_and_delta():
    """A completion differs from a chat in the choice only, by Friendli's token."""
    chat, completion = RULES["chat"], RULES["completion"]
    assert chat.chunk is completion.chunk is CHUNK
    assert chat.delta is completion.delta is DELTA
    assert set(completion.choice.fields) - set(chat.choice.fields) == {"token", "tokens"}


LEVELS = {
    "x": ([chunk(x="a"), chunk(x="b")], lambda response: response),
    "choices.x": (entries({"x": "a"}, {"x": "b"}), lambda response: response["choices"][0]),
    "choices.delta.x": (
        deltas({"x": "a"}, {"x": "b"}),
        lambda response: response["choices"][0]["message"],
    ),
}


@pytest.mark.parametrize("path", LEVELS)
@pytest.mark.parametrize(
    ("rule", "name", "expected"),
    [
        (Rule.FIRST, "x", "a"),
        (Rule.LAST, "x", "b"),
        (Rule.CONCAT, "x", "ab"),
        (Rule.COLLECT, "xs", ["a", "b"]),
        (Rule.DROP, "x", None),
        (Rule.CONTENT, "x", "ab"),
    ],
    ids=lambda value: value.name if isinstance(value, Rule) else "",
)
def test_a_callers_rule_holds_at_its_level(path, rule, name, expected):
    """A rule for a provider's own field decides how its values become one."""
    chunks, where = LEVELS[path]
    response = accumulate(chunks, rules={path: rule}).snapshot()
    assert where(to_dict(response)).get(name) == expected


def test_a_callers_rule_holds_at_its_level_only():
    """The same name elsewhere keeps its rule."""
    chunks = [
        chunk({"index": 0, "x": "a", "delta": {"x": "a"}}, x="a"),
        chunk({"index": 0, "x": "b", "delta": {"x": "b"}}, x="b"),
    ]
    response = to_dict(accumulate(chunks, rules={"choices.x": Rule.FIRST}).snapshot())
    answer = response["choices"][0]
    assert (response["x"], answer["x"], answer["message"]["x"]) == ("b", "a", "ab")


def test_a_callers_rule_overrides_a_known_field():
    """Even a field with a rule of its own can have another."""
    chunks = deltas({"content": "He"}, {"content": "Hello"})
    rules = {"choices.delta.content": Rule.LAST}
    response = accumulate(chunks, rules=rules).snapshot()
    assert response.choices[0].message.content == "Hello"


def test_rules_hold_for_a_kind_that_is_decided_later():
    """The chunks tell the kind; the caller's rules hold in both."""
    chunks = texts({"text": "a", "x": "1"}, {"text": "b", "x": "2"})
    response = accumulate(chunks, rules={"choices.x": Rule.CONCAT}).snapshot()
    assert response.choices[0].extra == {"x": "12"}


def test_rules_reach_a_choice_alone_and_rebuild():
    """`ChoiceAccumulator` and `rebuild` take the same rules."""
    rules = {"choices.x": Rule.CONCAT}
    alone = ChoiceAccumulator(rules=rules)
    alone.add({"x": "a"})
    alone.add({"x": "b"})
    assert alone.snapshot().extra == {"x": "ab"}
    outcome = rebuild(sse(entries({"x": "a"}, {"x": "b"})), rules=rules)
    assert outcome.response.choices[0].extra == {"x": "ab"}


@pytest.mark.parametrize(
    "rules",
    [
        {"": Rule.LAST},
        {"choices.": Rule.LAST},
        {".x": Rule.LAST},
        {"usage.x": Rule.LAST},
        {"choices.message.x": Rule.LAST},
        {"choices.delta.x.y": Rule.LAST},
        {"delta.x": Rule.LAST},
        {"x": "LAST"},
        {"x": None},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "take",
    [
        lambda rules: Accumulator(rules=rules),
        lambda rules: ChoiceAccumulator(rules=rules),
        lambda rules: rebuild([], rules=rules),
    ],
    ids=["Accumulator", "ChoiceAccumulator", "rebuild"],
)
def test_a_wrong_path_or_rule_is_a_type_error(take, rules):
    """The message shows what was given."""
    with pytest.raises(TypeError, match="rules take paths like") as caught:
        take(rules)
    assert repr(next(iter(rules))) in str(caught.value)


@pytest.mark.parametrize(
    "rules",
    [
        {5: Rule.LAST},
        {("x",): Rule.LAST},
        5,
        ["x"],
    ],
    ids=repr,
)
def test_rules_that_are_no_mapping_of_paths_are_a_type_error(rules):
    """Every wrong argument is a TypeError."""
    with pytest.raises(TypeError):
        Accumulator(rules=rules)


def test_a_callers_reported_field_has_a_code_of_the_catalogue():
    """Also for a field that the package does not know, the code is a key of ISSUES."""
    from streamkit import ISSUES

    chunks = [chunk(x="a"), chunk(x="b")]
    accumulator = accumulate(chunks, rules={"x": Rule.LAST_REPORTED})
    assert set(codes(accumulator)) <= ISSUES.keys()


def test_a_finish_reason_in_pieces():
    """Whatever the rule, the response holds JSON data."""
    chunks = entries({"finish_reason": "st"}, {"finish_reason": "op"})
    accumulator = accumulate(chunks, rules={"choices.finish_reason": Rule.CONCAT})
    assert accumulator.snapshot().choices[0].finish_reason == "stop"


def test_without_rules_the_defaults_hold():
    """No rules, and an empty mapping of them, are the same."""
    chunks = deltas({"x": "a"}, {"x": "b"})
    assert to_dict(accumulate(chunks, rules={}).snapshot()) == final(chunks)
