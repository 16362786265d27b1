"""Tests of the delta's fields that need more than their last value."""

from __future__ import annotations

import base64

from fractions import Fraction
from itertools import pairwise

import pytest

from hypothesis import given, settings
from hypothesis import strategies as st

from streamkit import InvalidChunk, Limits, rebuild, to_dict
from streamkit._cells import Audio, Content, is_index
from streamkit._issues import IssueLog
from streamkit._state import Context

from . import accumulate, codes, deltas, message, outcome_of, sse


@pytest.mark.parametrize(
    ("value", "limit", "expected"),
    [
        (0, 5, True),
        (5, 5, True),
        (6, 5, False),
        (6, None, True),
        (-1, None, False),
        (True, None, False),
        (1.0, None, False),
        ("1", None, False),
        (None, None, False),
    ],
    ids=repr,
)
def test_an_index_is_a_real_integer_in_range(value, limit, expected):
    """Booleans, floats and strings are no index, and neither is what is beyond the limit."""
    assert is_index(value, limit) is expected


# -- Content -------------------------------------------------------------------------


def text(value, **more):
    return {"type": "text", "text": value, **more}


def thinking(value, **more):
    return {"type": "thinking", "thinking": value, **more}


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["He", "llo"], "Hello"),
        ([" ", "\n", " a "], " \n a "),
        (["| a ", "|"], "| a |"),
        ([None, "a", None], "a"),
        ([""], ""),
        ([None], None),
        ([[]], None),
        ([[], "a"], "a"),
        ([[text("a")], [text("b")]], [text("ab")]),
        ([[text("a"), text("b")]], [text("ab")]),
        ([[text("a", x=1)], [text("b", y=2)]], [text("ab", x=1, y=2)]),
        ([[text("a")], "b", "c"], [text("abc")]),
        ([[thinking("a")], "b"], [thinking("a"), text("b")]),
        ([[thinking("a")], ""], [thinking("a")]),
        (["a", [text("b")]], [text("ab")]),
        (["a", [thinking("b")]], [text("a"), thinking("b")]),
        (["", [text("b")]], [text("b")]),
        ([[thinking("a")], [thinking("b", closed=True)]], [thinking("ab", closed=True)]),
        (
            [[thinking([text("a")])], [thinking([text("b")])]],
            [thinking([text("ab")])],
        ),
        (
            [[{"type": "image", "url": "a"}], [{"type": "image", "url": "a"}]],
            [{"type": "image", "url": "a"}, {"type": "image", "url": "a"}],
        ),
        (
            [[text("a"), {"type": "image"}, text("b")], [text("c")]],
            [text("a"), {"type": "image"}, text("bc")],
        ),
        ([["a", 5, None]], ["a", 5, None]),
        (
            [[{"type": ["odd"], "text": "a"}], [{"text": "b"}]],
            [{"type": ["odd"], "text": "a"}, {"text": "b"}],
        ),
        ([[text("a")], [text(None)]], [text("a")]),
    ],
    ids=str,
)
def test_content(pieces, expected):
    """Strings are concatenated; a list stays a list, neighbours of text and thinking merge."""
    assert message(deltas(*({"content": piece} for piece in pieces))).get("content") == expected


@pytest.mark.parametrize("first", ["a", [text("a")]], ids=["text", "parts"])
def test_a_run_of_alike_pieces(first):
    """Many strings in a row go on with what is there, as text or as a trailing part."""
    chunks = deltas({"content": first}, *[{"content": "b"}] * 20)
    expected = "a" + "b" * 20
    for source in (chunks, sse(chunks)):
        content = rebuild(source).response.choices[0].message.content
        assert content == (expected if first == "a" else (text(expected),))


def test_content_of_another_type_is_refused():
    """Neither string nor list: left out with an issue; strict mode raises."""
    chunks = deltas({"content": "a"}, {"content": {"text": "b"}})
    outcome = outcome_of(chunks)
    assert outcome.response.choices[0].message.content == "a"
    assert (outcome.issues[0].code, outcome.issues[0].event) == ("bad_type", 1)
    with pytest.raises(InvalidChunk, match="expected str or list") as caught:
        accumulate(chunks, strict=True)
    assert caught.value.path == "$..content"
    assert caught.value.partial.choices[0].message.content == "a"


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [(["He", "Hello"], "Hello"), (["He", "llo"], "Hello"), (["a", "a"], "a")],
    ids=str,
)
def test_cumulative_content(pieces, expected):
    """Opt-in: a piece that repeats all before it replaces it."""
    chunks = deltas(*({"content": piece, "reasoning": piece} for piece in pieces))
    answer = accumulate(chunks, cumulative=True).snapshot().choices[0].message
    assert answer.content == expected
    assert answer.extra == {"reasoning": expected}


# -- Annotations ---------------------------------------------------------------------


CITE = {"type": "url_citation", "url_citation": {"url": "https://example.org", "title": "t"}}


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([[CITE]], [CITE]),
        ([[CITE], [CITE]], [CITE]),
        ([[CITE, CITE]], [CITE]),
        ([[CITE], [{**CITE, "x": 1}]], [CITE, {**CITE, "x": 1}]),
        ([[CITE], []], [CITE]),
        ([[], [CITE]], [CITE]),
        ([[1], [True], ["1"]], [1, True, "1"]),
        ([{"a": [1]}, {"a": [1]}], {"a": [1]}),
        ([{"a": [1]}, {"b": 2}], {"a": [1], "b": 2}),
        ([{"a": {"b": 1}}, {"a": {"c": 2}}], {"a": {"b": 1, "c": 2}}),
        ([[], {"a": 1}], {"a": 1}),
        ([{"a": 1}, {}], {"a": 1}),
    ],
    ids=str,
)
def test_annotations(pieces, expected):
    """A list is extended without exact repeats; an object merges key by key."""
    chunks = deltas(*({"annotations": piece} for piece in pieces))
    assert message(chunks)["annotations"] == expected


@pytest.mark.parametrize(
    "pieces", [["odd"], [[CITE], {"a": 1}], [{"a": 1}, [CITE]], [[CITE], 5]], ids=str
)
def test_annotations_that_do_not_fit_are_refused(pieces):
    """Neither list nor object, or one after the other: the first is kept, with an issue."""
    chunks = deltas(*({"annotations": piece} for piece in pieces))
    outcome = outcome_of(chunks)
    assert codes(outcome)[0] == "bad_type"
    if len(pieces) > 1:
        assert message(chunks)["annotations"] == pieces[0]


def test_repeats_of_what_is_no_json():
    """A caller's own objects are told apart by their repr."""
    one, other = Fraction(1, 2), Fraction(1, 3)
    chunks = deltas({"annotations": [one, other]}, {"annotations": [one]})
    assert accumulate(chunks).choices[0].plain("chat", Context(IssueLog(), Limits()))["message"][
        "annotations"
    ] == [one, other]


# -- Lists by index ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["executed_tools", "x_list"])
@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (
            [[{"index": 0, "name": "a"}], [{"index": 0, "output": "b", "name": ""}]],
            [{"index": 0, "name": "a", "output": "b"}],
        ),
        ([[{"index": 0, "a": "1"}], [{"index": 0, "a": "2"}]], [{"index": 0, "a": "2"}]),
        ([[{"index": 1}], [{"index": 0}]], [{"index": 1}, {"index": 0}]),
        ([[{"a": 1}], [{"a": 1}]], [{"a": 1}, {"a": 1}]),
        ([[1, "a"], [1]], [1, "a", 1]),
        ([[{"index": True}], [{"index": True}]], [{"index": True}, {"index": True}]),
        ([[{"index": 99_999}], [{"index": 99_999}]], [{"index": 99_999}] * 2),
        ([[1], []], [1]),
    ],
    ids=str,
)
def test_lists(name, pieces, expected):
    """Entries with an index merge by it, later keys overwrite; all others are appended."""
    assert message(deltas(*({name: piece} for piece in pieces)), limits=Limits())[name] == expected


def test_an_executed_tool_that_is_no_list_is_kept():
    """A value of another type is set, not lost."""
    assert message(deltas({"executed_tools": "odd"}))["executed_tools"] == "odd"


# -- Objects -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([{"a": 1}, {"b": 2}], {"a": 1, "b": 2}),
        ([{"a": 1}, {"a": 2}], {"a": 2}),
        ([{"a": "x"}, {"a": "y"}], {"a": "y"}),
        ([{"a": 1}, {"a": None}], {"a": 1}),
        ([{"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}], {"a": {"b": 3, "c": 2}}),
        ([{"a": 1}, {}], {"a": 1}),
        ([{"a": 1}, {"a": {}}], {"a": 1}),
        ([{"a": [1]}, {"a": []}], {"a": [1]}),
        ([{"a": 1}, {"a": {"b": 2}}], {"a": {"b": 2}}),
        ([{"a": {"b": 2}}, {"a": 1}], {"a": 1}),
        ([{}], {}),
    ],
    ids=str,
)
def test_objects(pieces, expected):
    """Unknown objects merge key by key, at every depth; empty values erase nothing."""
    assert message(deltas(*({"x": piece} for piece in pieces)))["x"] == expected


def test_an_object_nested_too_deep_is_left_out():
    """What could not be read again is an issue; the rest of the stream is merged."""
    value = {"leaf": 1}
    for _ in range(1000):
        value = {"a": value}
    outcome = outcome_of(deltas({"content": "a"}, {"x": value}, {"content": "b"}))
    assert codes(outcome)[0] == "too_deep"
    assert outcome.response.choices[0].message.content == "ab"


# -- Reasoning details ---------------------------------------------------------------


def detail(index, value, kind="reasoning.text", **more):
    return {"type": kind, "index": index, "text": value, **more}


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([[detail(0, "a")], [detail(0, "b")]], [detail(0, "ab")]),
        ([[detail(0, "a"), detail(0, "b")]], [detail(0, "ab")]),
        ([[detail(0, "a")], [detail(1, "b")]], [detail(0, "a"), detail(1, "b")]),
        (
            [[detail(0, "a")], [detail(0, "b", "reasoning.summary")]],
            [detail(0, "a"), detail(0, "b", "reasoning.summary")],
        ),
        (
            [
                [{"index": 0, "summary": "a", "data": "x"}],
                [{"index": 0, "summary": "b", "data": "y"}],
            ],
            [{"index": 0, "summary": "ab", "data": "xy"}],
        ),
        (
            [[detail(0, "a", signature="s")], [detail(0, "b", signature="t", format=None)]],
            [detail(0, "ab", signature="t")],
        ),
        (
            [[detail(0, "a", id="1")], [detail(0, "b", id="2")], [detail(0, "c", id="2")]],
            [detail(0, "a", id="1"), detail(0, "bc", id="2")],
        ),
        (
            [[detail(0, "a", id="1")], [detail(0, "b", id="")], [detail(0, "c")]],
            [detail(0, "abc", id="1")],
        ),
        ([[{"text": "a"}], [{"text": "b"}]], [{"text": "a"}, {"text": "b"}]),
        (
            [[{"index": -1, "text": "a"}], [{"index": -1, "text": "b"}]],
            [
                {"index": -1, "text": "a"},
                {"index": -1, "text": "b"},
            ],
        ),
        (
            [[{"index": 0, "type": ["odd"], "text": "a"}], [{"index": 0, "type": 5, "text": "b"}]],
            [{"index": 0, "type": 5, "text": "ab"}],
        ),
        ([[detail(0, "a")], [detail(0, 5)]], [detail(0, 5)]),
        ([["odd", 5], ["odd"]], ["odd", 5, "odd"]),
    ],
    ids=str,
)
def test_reasoning_details(pieces, expected):
    """Entries merge by index and type; another id, or no index, is another entry."""
    chunks = deltas(*({"reasoning_details": piece} for piece in pieces))
    assert message(chunks)["reasoning_details"] == expected


# -- Audio ---------------------------------------------------------------------------


def encoded(data):
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([{"id": "audio_1"}, {"id": "audio_2"}], {"id": "audio_1"}),
        ([{"id": ""}, {"id": "audio_1"}], {"id": "audio_1"}),
        ([{"transcript": "a"}, {"transcript": "b"}], {"transcript": "ab"}),
        ([{"expires_at": 1}, {"expires_at": 2}], {"expires_at": 2}),
        ([{"data": "AAA"}, {"data": "A"}], {"data": "AAAA"}),
        ([{"data": "AAAA"}, {"data": ""}, {"data": "AA=="}], {"data": "AAAAAA=="}),
        (
            [{"data": encoded(b"a")}, {"data": encoded(b"bc")}, {"data": encoded(b"def")}],
            {"data": encoded(b"abcdef")},
        ),
        ([{"data": "A==="}, {"data": "AAAA"}], {"data": "A===AAAA"}),
        ([{"data": "é="}, {"data": "é"}], {"data": "é=é"}),
        ([{"data": ""}], {"data": ""}),
        ([{"data": "AA"}, {"data": "A="}, {"data": "AAAA"}], {"data": "AAAAAAA="}),
        ([{"data": "AAB="}], {"data": "AAB="}),
        ([{"data": "AA*A="}, {"data": "AAAA"}], {"data": "AA*A=AAAA"}),
        ([{"data": None}, {"x": 1}, {"x": None}], {"x": 1}),
    ],
    ids=str,
)
def test_audio(pieces, expected):
    """The transcript is concatenated; data stays one valid base64 text."""
    assert message(deltas(*({"audio": piece} for piece in pieces)))["audio"] == expected


@pytest.mark.parametrize("name", ["data", "transcript"])
def test_audio_text_of_another_type_is_refused(name):
    """What is no string cannot be concatenated: it is reported, and what came before is kept."""
    accumulator = accumulate(deltas({"audio": {name: "AAAA"}}, {"audio": {name: 5}}))
    assert codes(accumulator) == ["bad_type"]
    assert to_dict(accumulator.snapshot())["choices"][0]["message"]["audio"][name] == "AAAA"
    alone = accumulate(deltas({"audio": {name: 5, "id": "audio_1"}}))
    assert to_dict(alone.snapshot())["choices"][0]["message"]["audio"] == {"id": "audio_1"}


def test_audio_read_in_between_is_the_same():
    """A snapshot joins the pieces so far; what follows is still appended right."""
    chunks = deltas(*({"audio": {"data": piece}} for piece in ("QQ==", "Qg==", "QwA=")))
    accumulator = accumulate([])
    for number, chunk in enumerate(chunks, 1):
        accumulator.add(chunk)
        data = accumulator.snapshot().choices[0].message.audio.data
        assert base64.b64decode(data) == b"ABC\x00"[: number + (number == 3)]


@settings(deadline=None)
@given(st.lists(st.binary(max_size=7), max_size=6), st.lists(st.booleans(), min_size=6, max_size=6))
def test_audio_pieces_decode_to_the_bytes_that_were_sent(pieces, reads):
    """Each piece encoded on its own, read in between or not: the same bytes, in one encoding."""
    context = Context(IssueLog(), Limits())
    audio = Audio()
    for piece, read in zip(pieces, reads, strict=False):
        audio.add({"data": encoded(piece)}, context)
        if read:
            audio.value(context)
    data = audio.value(context).get("data", "")
    assert base64.b64decode(data, validate=True) == b"".join(pieces)


@settings(deadline=None)
@given(st.binary(max_size=40), st.lists(st.integers(0, 60)))
def test_audio_cut_anywhere_is_the_same_text(data, cuts):
    """One encoding cut into pieces comes back unchanged."""
    whole = encoded(data)
    places = sorted({0, len(whole), *(min(cut, len(whole.rstrip("="))) for cut in cuts)})
    context = Context(IssueLog(), Limits())
    audio = Audio()
    for start, end in pairwise(places):
        audio.add({"data": whole[start:end]}, context)
    assert audio.value(context).get("data", "") == whole


def test_an_empty_string_behind_parts_makes_no_part():
    """It says nothing."""
    context = Context(IssueLog(), Limits())
    content = Content()
    for value in ([{"type": "image"}], "", "a"):
        content.add(value, context)
    assert content.value(context) == [{"type": "image"}, {"type": "text", "text": "a"}]
