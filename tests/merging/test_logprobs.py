"""Tests of log probabilities, in either shape on either kind."""

from __future__ import annotations

import time

import pytest

from hypothesis import given, settings
from hypothesis import strategies as st

from streamkit import LimitExceeded, Limits, rebuild, to_json
from streamkit._views import ListView

from . import accumulate, codes, entries, final, outcome_of, sse, texts


def token(value, logprob=-0.5, **more):
    return {"token": value, "logprob": logprob, "bytes": list(value.encode()), **more}


A, B = token("a"), token("b", top_logprobs=[{"token": "c", "logprob": -2, "bytes": None}])


@pytest.mark.parametrize("make", [entries, texts], ids=["chat", "completion"])
@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([{"content": [A]}, {"content": [B]}], {"content": [A, B]}),
        ([{"content": [A, B]}], {"content": [A, B]}),
        ([{"content": [A]}, {"content": [A]}], {"content": [A, A]}),
        ([None, {"content": [A]}, None, {"content": None}], {"content": [A]}),
        ([{"content": [A]}, {"content": []}], {"content": [A]}),
        ([{"content": []}], {"content": []}),
        ([{"refusal": [A]}, {"refusal": [B]}], {"refusal": [A, B]}),
        ([{"content": [A], "refusal": [B]}], {"content": [A], "refusal": [B]}),
        ([{"reasoning": [A]}, {"reasoning": [B]}], {"reasoning": [A, B]}),
        ([{"content": [A], "x": 1}, {"x": 2}, {"x": None}], {"content": [A], "x": 2}),
        ([{"content": ["odd", 5]}], {"content": ["odd", 5]}),
        ([{"content": "odd"}], {"content": "odd"}),
    ],
    ids=str,
)
def test_lists_of_entries_are_extended(make, pieces, expected):
    """Entries are appended, identical ones kept; null and [] add nothing."""
    chunks = make(*({"logprobs": piece} for piece in pieces))
    assert without_nulls_at_top(final(chunks)["choices"][0]["logprobs"]) == expected


def without_nulls_at_top(fields):
    return {name: value for name, value in fields.items() if value is not None}


@pytest.mark.parametrize("make", [entries, texts], ids=["chat", "completion"])
@pytest.mark.parametrize("pieces", [[None], [None, None], []], ids=str)
def test_null_stays_null(make, pieces):
    """If nothing ever came, `logprobs` is null, and present."""
    chunks = make({}, *({"logprobs": piece} for piece in pieces))
    assert final(chunks)["choices"][0]["logprobs"] is None


@pytest.mark.parametrize("make", [texts, entries], ids=["completion", "chat"])
@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (
            [
                {"tokens": ["a"], "token_logprobs": [-1], "top_logprobs": [{"a": -1}]},
                {"tokens": ["b"], "token_logprobs": [-2], "top_logprobs": [{"b": -2}]},
            ],
            {
                "tokens": ["a", "b"],
                "token_logprobs": [-1, -2],
                "top_logprobs": [{"a": -1}, {"b": -2}],
            },
        ),
        (
            [{"tokens": ["a"], "top_logprobs": None}, {"tokens": ["b"], "top_logprobs": [{}]}],
            {"tokens": ["a", "b"], "top_logprobs": [None, {}]},
        ),
        (
            [{"tokens": ["a"], "top_logprobs": [{}]}, {"tokens": ["b", "c"], "top_logprobs": None}],
            {"tokens": ["a", "b", "c"], "top_logprobs": [{}, None, None]},
        ),
        (
            [{"tokens": ["a"]}, {"tokens": ["b"], "token_ids": [7]}],
            {"tokens": ["a", "b"], "token_ids": [None, 7]},
        ),
        (
            [{"tokens": ["a"], "token_ids": [7]}, {"tokens": ["b"]}],
            {"tokens": ["a", "b"], "token_ids": [7, None]},
        ),
        ([{"tokens": ["a"]}, {"tokens": [], "text_offset": []}], {"tokens": ["a"]}),
        ([{"tokens": [], "text_offset": []}], {"tokens": [], "text_offset": []}),
        (
            [{"tokens": ["a"], "text_offset": []}, {"tokens": ["b"], "text_offset": [1]}],
            {"tokens": ["a", "b"], "text_offset": [None, 1]},
        ),
        ([{"tokens": ["a"], "text_offset": [120]}], {"tokens": ["a"], "text_offset": [120]}),
        (
            [{"token_logprobs": [-1]}, {"token_logprobs": [-2, -3]}],
            {"token_logprobs": [-1, -2, -3]},
        ),
        ([None, {"tokens": ["a"]}, None], {"tokens": ["a"]}),
        ([{"tokens": ["a"], "x": 1}, {"tokens": None, "x": 2}], {"tokens": ["a"], "x": 2}),
        ([{"tokens": None, "text_offset": None}], {}),
    ],
    ids=str,
)
def test_parallel_lists_stay_in_step(make, pieces, expected):
    """Each list has an entry for every token; where one is missing it is padded with null."""
    chunks = make(*({"logprobs": piece} for piece in pieces))
    assert without_nulls_at_top(final(chunks)["choices"][0]["logprobs"]) == expected


BOTH_SHAPES = [
    ([{"tokens": ["a"]}, {"content": [A]}], {"tokens": ["a"], "content": [A]}),
    ([{"content": [A], "tokens": None}, *[{"content": [B]}] * 4], {"content": [A, *[B] * 4]}),
    (
        [{"content": [A], "tokens": ["a"]}, {"content": [B]}],
        {"content": [A, B], "tokens": ["a", None]},
    ),
    ([{"content": [A]}, {"content": [B], "tokens": ["b"]}], {"content": [A, B], "tokens": ["b"]}),
    (
        [{"token_ids": [1]}, {"token_ids": [2], "tokens": ["b"]}],
        {"token_ids": [1, 2], "tokens": ["b"]},
    ),
]


@pytest.mark.parametrize(("pieces", "expected"), BOTH_SHAPES, ids=str)
def test_both_shapes_in_one_choice(pieces, expected):
    """A server that changes its mind loses nothing: a list goes on as it began."""
    chunks = texts(*({"logprobs": piece} for piece in pieces))
    assert without_nulls_at_top(final(chunks)["choices"][0]["logprobs"]) == expected
    outcome = rebuild(sse(chunks), kind="completion")
    assert to_json(outcome.response) == to_json(outcome_of(chunks, kind="completion").response)


def test_lists_of_different_length_are_reported():
    """Short lists are padded; the issue says which list, and in which chunk."""
    chunks = texts(
        {"logprobs": {"tokens": ["a", "b"], "token_logprobs": [-1]}},
        {"logprobs": {"tokens": ["c"], "token_logprobs": [-3]}, "finish_reason": "stop"},
    )
    outcome = outcome_of(chunks)
    assert outcome.response.choices[0].logprobs.token_logprobs == [-1, None, -3]
    (issue,) = outcome.issues
    assert (issue.code, issue.event) == ("logprobs_uneven", 0)
    assert issue.message == "1 token_logprobs for 2 tokens"


def test_a_list_longer_than_the_tokens_does_not_shift_what_follows():
    """The lists stay parallel whichever of them is short."""
    chunks = texts(
        {"logprobs": {"tokens": ["a"], "token_logprobs": [-1, -2]}},
        {"logprobs": {"tokens": ["b"], "token_logprobs": [-3]}},
    )
    logprobs = accumulate(chunks).snapshot().choices[0].logprobs
    assert len(logprobs.tokens) == len(logprobs.token_logprobs)


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        ([[0], [1], [1]], 0),
        ([[0, 5], [None], [6]], 0),
        ([[5], [0]], 1),
        ([[5, 0]], 1),
        ([[5], [0], [9], [1]], 1),
        ([["5"], ["0"]], 0),
    ],
    ids=str,
)
def test_offsets_that_go_backwards_are_reported_once(offsets, expected):
    """`text_offset` is kept as sent, and the first step back is an issue."""
    chunks = texts(
        *({"logprobs": {"tokens": ["a"] * len(each), "text_offset": each}} for each in offsets)
    )
    accumulator = accumulate(chunks)
    assert codes(accumulator).count("text_offset_order") == expected
    sent = [offset for each in offsets for offset in each]
    assert accumulator.snapshot().choices[0].logprobs.text_offset == sent


def test_each_choice_has_its_own_lists():
    """Log probabilities of interleaved choices do not mix."""
    chunks = entries(
        {"logprobs": {"content": [A]}},
        {"index": 1, "logprobs": {"content": [B]}},
        {"logprobs": {"content": [A]}},
    )
    first, second = final(chunks)["choices"]
    assert first["logprobs"]["content"] == [A, A]
    assert second["logprobs"]["content"] == [B]


@pytest.mark.parametrize(
    ("make", "piece"),
    [(entries, {"content": [A, A], "refusal": [A]}), (texts, {"tokens": ["a"] * 3})],
    ids=["chat", "completion"],
)
def test_entries_are_bounded(make, piece):
    """One entry more than the limit raises, and what came stays readable."""
    chunks = make({"logprobs": piece})
    accumulate(chunks, limits=Limits(logprobs=3))
    accumulate(chunks, limits=Limits(logprobs=None))
    accumulator = accumulate([], limits=Limits(logprobs=2))
    with pytest.raises(LimitExceeded) as caught:
        accumulator.add(chunks[0])
    assert (caught.value.limit, caught.value.value) == ("logprobs", 3)
    assert accumulator.snapshot().choices[0].logprobs is not None


def columns(count, length=1):
    """Return so many parallel lists: more than servers send."""
    return {"tokens": ["a"] * length, **{f"x{n}": [n] * length for n in range(1, count)}}


@pytest.mark.parametrize(
    ("pieces", "value"),
    [
        ([columns(8, 10)], None),
        ([columns(8, 11)], 11),
        ([columns(9, 5)], None),
        ([columns(9, 6)], 12),
        ([columns(8, 9), columns(9)], 20),
        ([columns(9), *[{"tokens": ["a"]}] * 4], None),
        ([columns(9), *[{"tokens": ["a"]}] * 5], 12),
        ([columns(17), {"tokens": ["a", "b", "c"]}], 12),
    ],
    ids=lambda it: str(it)[:20],
)
def test_padding_is_bounded(pieces, value):
    """Many lists of which one is long are padded: that, too, is refused before it is done."""
    chunks = texts({}, *({"logprobs": piece} for piece in pieces))
    outcome = rebuild(sse(chunks), limits=Limits(logprobs=10))
    accumulator = accumulate([], limits=Limits(logprobs=10))
    try:
        for each in chunks:
            accumulator.add(each)
    except LimitExceeded as error:
        assert error.value == value
    assert (accumulator.error is None) == (value is None)
    assert getattr(outcome.error, "value", None) == value
    assert to_json(outcome.response) == to_json(accumulator.snapshot())


@pytest.mark.parametrize("beside", [{}, {"tokens": []}], ids=["alone", "in step"])
def test_many_lists_take_linear_time(beside):
    """Four times the lists take about four times as long; the square would be sixteen."""

    def seconds(count):
        chunks = texts(*({"logprobs": {f"x{n}": [], **beside}} for n in range(count)))
        began = time.process_time()
        accumulate(chunks)
        return time.process_time() - began

    assert min(seconds(12_000) for _ in range(2)) < 9 * min(seconds(3_000) for _ in range(2))


def test_logprobs_of_another_type_are_refused():
    """A list where an object should be is left out, with an issue."""
    accumulator = accumulate(entries({"logprobs": [A]}))
    assert codes(accumulator) == ["bad_type"]
    assert accumulator.snapshot().choices[0].logprobs is None


@pytest.mark.parametrize(
    ("make", "piece", "name"),
    [(entries, {"content": [A]}, "content"), (texts, {"tokens": ["a"]}, "tokens")],
    ids=["chat", "completion"],
)
def test_a_snapshot_neither_copies_nor_changes(make, piece, name):
    """The lists of a snapshot are views of their time."""
    accumulator = accumulate(make({"logprobs": piece}))
    snapshot = accumulator.snapshot()
    before = to_json(snapshot)
    view = getattr(snapshot.choices[0].logprobs, name)
    assert type(view) is ListView
    accumulator.add(*make({"logprobs": piece}))
    assert len(view) == 1
    assert to_json(snapshot) == before


@pytest.mark.parametrize("limit", [30, 31, 15, None])
def test_runs_of_entries(limit):
    """Read from bytes, long runs of entries are the same as one by one, limits included."""
    rows = [[token(f"t{n}")] if n % 7 else [] for n in range(36)]
    chunks = entries(*({"logprobs": {"content": row, "refusal": None}} for row in rows))
    outcome = rebuild(sse(chunks), limits=Limits(logprobs=limit))
    sent = [entry for row in rows for entry in row]
    if limit == 15:
        assert outcome.error.limit == "logprobs"
        sent = sent[:16]
    content = outcome.response.choices[0].logprobs.content
    assert [entry.token for entry in content] == [entry["token"] for entry in sent]
    assert content[0].bytes == tuple(sent[0]["bytes"])


NAMES = ("tokens", "token_logprobs", "top_logprobs", "text_offset", "x_ids")


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3), st.sets(st.sampled_from(NAMES[1:]))), max_size=6))
def test_parallel_lists_are_parallel(rows):
    """Whichever lists a chunk leaves out, all end up as long as `tokens`."""
    pieces = [
        {"tokens": ["a"] * count, **{name: [1] * count for name in names}} for count, names in rows
    ]
    chunks = texts(*({"logprobs": piece} for piece in pieces), {"text": "a"})
    logprobs = final(chunks)["choices"][0]["logprobs"] or {}
    total = sum(count for count, _ in rows)
    came = {"tokens", *(name for _, names in rows for name in names)} if rows else set()
    assert {name for name, value in logprobs.items() if value is not None} == came
    assert all(len(logprobs[name]) == total for name in came)
