"""Tests of the context of a merge, and of text in pieces."""

from __future__ import annotations

import json

import pytest

from hypothesis import given, settings
from hypothesis import strategies as st

from streamkit import InvalidChunk, LimitExceeded, Limits
from streamkit._issues import IssueLog
from streamkit._json import MAX_DEPTH
from streamkit._limits import NO_LIMITS
from streamkit._state import (
    LEAST_JOINED,
    PIECES,
    Context,
    Text,
    is_empty,
    plain_value,
    plain_values,
    unbound_context,
)


def context_of(**options):
    limits = options.pop("limits", Limits())
    return Context(IssueLog(), limits, **options)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, True),
        ("", True),
        ([], True),
        ({}, True),
        (0, False),
        (0.0, False),
        (False, False),
        (" ", False),
        ([None], False),
        ({"a": None}, False),
    ],
    ids=repr,
)
def test_what_says_nothing_is_empty(value, expected):
    """Null and empty containers are empty; zero and false do say something."""
    assert is_empty(value) is expected


# -- Context -------------------------------------------------------------------------


def test_issues_carry_event_and_offset():
    """An issue says which chunk it came from, and where that starts."""
    context = context_of(event=3, offset=40)
    context.issue("id_changed", "from 'a' to 'b'")
    (issue,) = context.log.issues
    assert (issue.code, issue.event, issue.offset) == ("id_changed", 3, 40)


def test_a_refusal_is_an_issue():
    """Lenient: the value is left out and the message says where it was."""
    context = context_of()
    context.refuse("bad_type", "expected str, got int", "$.id")
    assert context.log.issues[0].message == "expected str, got int @ $.id"


def test_a_refusal_raises_in_strict_mode():
    """Strict: the same, raised, with the path; the issue is kept as well."""
    context = context_of(strict=True)
    with pytest.raises(InvalidChunk) as caught:
        context.refuse("bad_type", "expected str, got int", "$.id")
    assert caught.value.path == "$.id"
    assert caught.value.errors == ("expected str, got int @ $.id",)
    assert context.log.counts == {"bad_type": 1}


def test_kept_values_share_nothing_with_the_callers():
    """Dicts, lists and tuples are copied, at every depth; tuples become lists."""
    value = {"a": [{"b": [1]}, ({"c": 2},)]}
    kept = context_of().keep(value)
    assert kept == {"a": [{"b": [1]}, [{"c": 2}]]}
    assert kept["a"] is not value["a"]
    assert kept["a"][0] is not value["a"][0]
    assert kept["a"][0]["b"] is not value["a"][0]["b"]
    assert kept["a"][1][0] is not value["a"][1][0]


@pytest.mark.parametrize("wrap", [lambda it: [it], lambda it: {"a": it}], ids=["list", "object"])
def test_values_nested_too_deep_are_not_kept(wrap):
    """What could not be read again is refused when it comes; one level less is kept."""
    value = wrap(5)
    for _ in range(MAX_DEPTH - 1):
        value = wrap(value)
    assert context_of().keep(value) == value
    with pytest.raises(RecursionError):
        context_of().keep(wrap(value))


def test_owned_values_are_not_copied():
    """What was decoded here belongs to nobody else."""
    value = {"a": [1]}
    assert context_of(owned=True).keep(value) is value


@pytest.mark.parametrize(
    ("value", "kept", "replaced"),
    [
        ("a\ud83d", "a\ufffd", True),
        ("\ud83d\ude00", "\U0001f600", False),
        ("é", "é", False),
        (["\ude00"], ["\ufffd"], True),
        ({"\ude00": "\ud83d"}, {"\ufffd": "\ufffd"}, True),
        (
            [{"\ud83d\ude00": 1, "é": 2, 5: 3, ("a",): 4}],
            [{"\U0001f600": 1, "é": 2, 5: 3, ("a",): 4}],
            False,
        ),
    ],
    ids=ascii,
)
def test_kept_strings_have_no_half_surrogates(value, kept, replaced):
    """Pairs are joined, halves replaced, and the replacement is noted."""
    context = context_of()
    assert context.keep(value) == kept
    assert context.has_lone_surrogate is replaced


def test_a_half_surrogate_is_noted_for_good():
    """Later whole strings do not take the note back."""
    context = context_of()
    context.keep("\ud83d")
    context.keep("é")
    assert context.has_lone_surrogate


def test_text_is_bounded():
    """The bound is on all text together; one character more raises."""
    context = context_of(limits=Limits(text=4), offset=7)
    context.grow(4)
    with pytest.raises(LimitExceeded) as caught:
        context.grow(1)
    assert (caught.value.limit, caught.value.value, caught.value.offset) == ("text", 5, 7)


def test_text_without_a_bound():
    """None switches the bound off."""
    context = context_of(limits=Limits(text=None))
    context.grow(1 << 60)
    assert context.text == 1 << 60


def test_a_context_without_bounds():
    """For what was merged once before: what it would tell has been told."""
    context = unbound_context()
    context.issue("arguments_encoded", "again")
    context.grow(1 << 60)
    assert context.log.issues == []
    assert context.limits is NO_LIMITS


# -- Text ----------------------------------------------------------------------------


def text_of(*pieces, **options):
    context = context_of(**options)
    text = Text()
    for piece in pieces:
        text.add(piece, context)
    return text, context


@pytest.mark.parametrize(
    ("pieces", "expected", "is_lone"),
    [
        ([], "", False),
        (["", ""], "", False),
        (["a", "", "b"], "ab", False),
        (["a", "a"], "aa", False),
        (["é", "é"], "éé", False),
        (["a\ud83d", "\ude00b"], "a\U0001f600b", False),
        (["\ud83d", "", "\ude00"], "\U0001f600", False),
        (["a\ud83d"], "a\ufffd", True),
        (["\ud83d", "a"], "\ufffda", True),
        (["\ude00", "a"], "\ufffda", True),
        (["\ud83d", "\ud83d", "\ude00"], "\ufffd\U0001f600", True),
    ],
    ids=ascii,
)
def test_pieces_are_joined(pieces, expected, is_lone):
    """Pieces are concatenated; a pair split over two is one character."""
    text, context = text_of(*pieces)
    assert text.value(context) == expected
    assert context.has_lone_surrogate is is_lone
    assert context.text == sum(map(len, pieces))


@pytest.mark.parametrize(
    ("high", "low", "pair"),
    [
        ("\ud83d", "\ude00", "\U0001f600"),
        ("\ud800", "\udc00", "\U00010000"),
        ("\udbff", "\udfff", "\U0010ffff"),
    ],
    ids=ascii,
)
def test_a_half_at_the_end_waits_for_its_other_half(high, low, pair):
    """Read in between, the half shows as U+FFFD; joined later, the pair is whole."""
    text, context = text_of("a" + high)
    assert text.so_far() == "a"
    assert text.value(context) == "a\ufffd"
    text.add(low, context)
    assert text.value(context) == "a" + pair


def test_setting_replaces_the_whole():
    """`set` forgets the pieces, and the count of characters follows."""
    text, context = text_of("abc", "\ud83d")
    assert text.so_far() == "abc"
    text.set("xy", context)
    assert text.value(context) == "xy"


@pytest.mark.parametrize(
    ("pieces", "expected", "count"),
    [
        (["He", "Hello", "Hello!"], "Hello!", 6),
        (["Hello", "Hello"], "Hello", 5),
        (["Hello", ""], "Hello", 5),
        (["Hello", "!"], "Hello!", 6),
        (["a", "ab", "c"], "abc", 3),
    ],
    ids=str,
)
def test_a_cumulative_piece_replaces_what_it_repeats(pieces, expected, count):
    """Opt-in: a piece that starts with all before it is the whole; others are appended."""
    text, context = text_of(*pieces, cumulative=True)
    assert text.value(context) == expected
    assert context.text == count


def test_without_opt_in_a_repeated_prefix_is_appended():
    """No heuristics: text that happens to repeat is text."""
    text, context = text_of("ha", "haha")
    assert text.value(context) == "hahaha"


def test_many_pieces_are_joined_now_and_then():
    """Short pieces are not kept one by one; the text is the same."""
    text, context = text_of(*(str(n % 10) for n in range(5000)))
    assert text.so_far() == "0123456789" * 500
    text.add("x", context)
    assert text.value(context) == "0123456789" * 500 + "x"


def test_how_much_is_kept_in_pieces():
    """They become blocks, and blocks the text: never many strings, and rarely a long copy."""
    text, _ = text_of(*["x"] * PIECES)
    assert (len(text._pieces), text._blocks) == (0, ["x" * PIECES])
    for count in range(LEAST_JOINED // PIECES - 1):
        text.extend("y" * PIECES)
        assert len(text._blocks) == count + 2
    text.extend("z")
    assert (text._blocks, len(text._whole)) == ([], LEAST_JOINED + 1)
    text.extend("y" * LEAST_JOINED)
    assert len(text._blocks) == 1
    text.extend("y")
    assert (text._blocks, text.size) == ([], 2 * (LEAST_JOINED + 1))


def test_how_much_is_new_when_a_long_text_is_joined():
    """More than a sixteenth."""
    text = Text()
    text.extend("x" * 16 * 20_000)
    text.extend("y" * 20_000)
    assert len(text._blocks) == 1
    text.extend("z")
    assert text._blocks == []


def test_pieces_that_a_reader_has_not_seen():
    """A reader that sets a list gets each piece once, however it was added."""
    text, context = text_of("before")
    text.untold = []
    text.add("a", context)
    text.extend("b")
    assert text.untold == ["a", "b"]
    text.untold = []
    text.add("c", context)
    assert text.untold == ["c"]
    assert text.size == len("beforeabc")


def test_a_reader_is_told_of_what_was_set():
    """A cumulative sender's text replaces what came before, and its size follows."""
    context = context_of(cumulative=True)
    text = Text()
    text.untold = []
    text.add("ab", context)
    text.add("abc", context)
    assert text.size == 3
    assert "".join(text.untold).endswith("c")


def test_a_joined_run_of_pieces_is_appended():
    """`extend` takes text whose size was counted elsewhere."""
    text, context = text_of("a\ud83d")
    text.extend("\ude00b")
    assert text.value(context) == "a\U0001f600b"
    assert context.text == 2


@settings(deadline=None)
@given(
    st.text(st.characters(codec=None, exclude_categories=[]), max_size=30),
    st.lists(st.integers(0, 30)),
    st.lists(st.booleans(), min_size=32, max_size=32),
)
def test_any_split_gives_the_same_text(whole, cuts, reads):
    """Cut anywhere, between surrogates too, and read in between or not, the text is the same."""
    whole = json.loads(json.dumps(whole))
    units = whole.encode("utf-16-le", "surrogatepass")
    places = sorted({0, len(units), *(min(cut * 2, len(units)) for cut in cuts)})
    context = context_of()
    text = Text()
    for start, end, read in zip(places, places[1:], reads, strict=False):
        piece = units[start:end].decode("utf-16-le", "surrogatepass")
        text.add(piece, context)
        if read:
            text.value(context)
    expected = units.decode("utf-16-le", "replace")
    assert text.value(context) == expected


# -- Values --------------------------------------------------------------------------


def test_plain_values_are_copies():
    """Later merges change what is kept, not what was read."""
    text, context = text_of("a")
    state = {"text": text, "list": [1, {"a": [2]}], "object": {"t": text}, "number": 1.5}
    plain = plain_values(state, context)
    state["list"][1]["a"].append(3)
    text.add("b", context)
    assert plain == {
        "text": "a",
        "list": [1, {"a": [2]}],
        "object": {"t": "a"},
        "number": 1.5,
    }


@pytest.mark.parametrize("value", [None, "a", 0, 1.5, True])
def test_atoms_are_themselves(value):
    """Nothing happens to what cannot change."""
    assert plain_value(value, context_of()) is value


def test_an_object_of_another_kind_is_kept():
    """What a caller's chunk holds besides JSON data is handed on as it is."""
    value = object()
    assert plain_value(value, context_of()) is value


def test_limits_of_another_type_are_a_type_error():
    """Not an error of the first chunk."""
    with pytest.raises(TypeError, match="limits must be a Limits, not None"):
        Context(IssueLog(), None)
