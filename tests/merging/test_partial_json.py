"""The value so far of JSON that was cut: every cut of every value, and texts that are none."""

from __future__ import annotations

import json
import re
import sys

import pytest

from hypothesis import given, settings
from hypothesis import strategies as st

from streamkit import PartialJSON, _partial_scalars, partial_json
from streamkit import _partial_json as room
from streamkit._json import MAX_DEPTH, Decoder, join_surrogates
from streamkit._partial_scalars import NOTHING, CutNumber, CutString

from .strategies import json_values


relaxed = settings(deadline=None)  # a cut at each character takes its time on a busy machine


def read(pieces, **options):
    """Return a reader that was fed *pieces*."""
    reader = PartialJSON(**options)
    for piece in pieces:
        reader.feed(piece)
    return reader


def facts(reader):
    """Return what *reader* tells; its value as text, for NaN and -0.0 and 1 next to 1.0."""
    return repr(reader.value()), reader.complete, reader.valid


def three_ways(text, **options):
    """Return what becomes of *text* fed whole, which is what it becomes piece by piece."""
    whole = read([text], **options)
    assert facts(read(text, **options)) == facts(whole)
    assert facts(read(re.findall("(?s).{1,3}", text), **options)) == facts(whole)
    assert repr(partial_json(text, **options)) == repr(whole.value())
    return whole


def joined(value):
    """Return *value* with the surrogate pairs in its strings joined."""
    if isinstance(value, dict):
        return {joined(key): joined(item) for key, item in value.items()}
    if isinstance(value, list):
        return [joined(item) for item in value]
    return join_surrogates(value) if isinstance(value, str) else value


@st.composite
def texts(draw):
    """Return JSON in each way it is written."""
    value = draw(json_values)
    options = {"ensure_ascii": draw(st.booleans()), "indent": draw(st.sampled_from([None, 1]))}
    return json.dumps(value, **options)


def is_part(less, more):
    """Tell whether *more* can be what became of *less* when more text came."""
    if isinstance(less, str):
        return isinstance(more, str) and more.startswith(less)
    if isinstance(less, list):
        return isinstance(more, list) and len(less) <= len(more) and all(map(is_part, less, more))
    if isinstance(less, dict):
        return isinstance(more, dict) and all(
            key in more and is_part(item, more[key]) for key, item in less.items()
        )
    if isinstance(less, (int, float)) and not isinstance(less, bool):
        return more is None or isinstance(more, (int, float))  # more digits change a number
    return less is None or less is more


# -- Cuts ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        (" \n", None),
        ("{", {}),
        ('{"', {}),
        ('{"ci', {}),
        ('{"city"', {}),
        ('{"city":', {}),
        ('{"city": "', {"city": ""}),
        ('{"city": "Par', {"city": "Par"}),
        ('{"city": "Paris"', {"city": "Paris"}),
        ('{"city": "Paris",', {"city": "Paris"}),
        ('{"a": [', {"a": []}),
        ('{"a": [{"b": 1}, {"c', {"a": [{"b": 1}, {}]}),
        ('{"a": tru', {}),
        ('{"a": n', {}),
        ('{"a": null', {"a": None}),
        ("[fals", []),
        ("[false", [False]),
        ("[-", []),
        ("[-1", [-1]),
        ("[1.", [1]),
        ("[1.5", [1.5]),
        ("[1e", [1]),
        ("[1.5e+", [1.5]),
        ("[1.5e+1", [15.0]),
        ("[0", [0]),
        ("12", 12),
        ('"a\\', "a"),
        ('"a\\n', "a\n"),
        ('"a\\u00e', "a"),
        ('"a\\u00e9', "aé"),
        ('"a\\ud83d', "a"),
        ('"a\\ud83d\\ude', "a"),
        ('"a\\ud83d\\ude00', "a😀"),
        ('"a\ud83d', "a"),
        ('"a\ud83d\ude00', "a😀"),
        ('"a\\ud83dx', "a\ud83dx"),
        ('"\\ud83d"', "\ud83d"),
        ('"\\\\\\"', '\\"'),
        ('{"a": 1, "a": ', {"a": 1}),
        ('{"a": 1, "a": 2', {"a": 2}),
        ('{"\\ud83d\\ude00": 1', {"😀": 1}),
    ],
)
def test_cut(text, expected):
    """A cut text gives what is there, in strict mode too, and is the beginning of valid JSON."""
    lenient, strict = three_ways(text), three_ways(text, strict=True)
    assert repr(lenient.value()) == repr(strict.value()) == repr(expected)
    assert lenient.valid and strict.valid


@relaxed
@given(texts())
def test_whole(text):
    """A whole text gives what the library's own decoder gives."""
    reader = three_ways(text)
    value, _ = Decoder("json").prefix(text, 0)
    assert repr(reader.value()) == repr(joined(value))
    assert reader.complete
    assert reader.valid is not bool(re.search("NaN|Infinity", re.sub('(?s)".*?"', "", text)))


@relaxed
@given(texts())
def test_every_cut(text):
    """The value only grows, whatever the cut; strictly too, as long as it is valid."""
    reader, strict = PartialJSON(), PartialJSON(strict=True)
    before = None
    for char in text:
        reader.feed(char)
        strict.feed(char)
        value = reader.value()
        assert is_part(before, value), (before, value)
        assert repr(strict.value()) == (repr(value) if strict.valid else "None")
        before = value


@relaxed
@given(texts(), st.data())
def test_snapshots_stay(text, data):
    """A value that was returned does not change when more is fed."""
    at = data.draw(st.integers(0, len(text)))
    reader = read([text[:at]])
    value = reader.value()
    shown = repr(value)
    reader.feed(text[at:])
    assert repr(value) == shown


def test_complete():
    """It is told whether the value is whole; null is a value, nothing is none."""
    assert not read([""]).complete
    assert read(["null"]).complete and read(["null"]).value() is None
    assert not read(["{"]).complete
    assert read(["{}"]).complete
    assert read(["1"]).complete and not read(["1."]).complete
    assert read(["[1]", "2"]).complete
    assert not read(["[1]", "2"], strict=True).complete


# -- Texts that are not JSON ---------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected", "complete"),
    [
        ("[1] and more", [1], True),
        ('{"a": 1}{"b": 2}', {"a": 1}, True),
        ("[1]]", [1], True),
        ('```json\n{"a": 1}\n```', {"a": 1}, True),
        ("```\n[1", [1], False),
        ('```{"a"', {}, False),
        ("``", None, False),
        ("```json", None, False),
        ("`x", None, False),
        ("[`", [], False),
        ("\ufeff[1]", [1], True),
        ("[1,]", [1], True),
        ('{"a": 1,}', {"a": 1}, True),
        ('{"a":}', {}, False),
        ('{"a" 1}', {}, False),
        ("{a: 1}", {}, False),
        ("[1 2]", [1], False),
        ("[1}", [1], False),
        ('{"a": 1]', {"a": 1}, False),
        ("[,1]", [], False),
        ("{,", {}, False),
        (",", None, False),
        ("]", None, False),
        ("}", None, False),
        (":", None, False),
        ("[01]", [0], False),
        ("[1.x]", [1], False),
        ("[-x]", [], False),
        ("[+1]", [], False),
        ("[.5]", [], False),
        ("1.5.5", 1.5, True),
        ("[NaN, Infinity, -Infinity", [None, None, None], False),
        ("[-Inf", [], False),
        ("Na", None, False),
        ("Nope", None, False),
        ("[truth", [], False),
        ("[truex", [True], False),
        ('["a\nb\tc', ["a\nb\tc"], False),
        ('["\\d\\(', ["\\d\\("], False),
        ('["\\u12x4"]', ["\\u12x4"], True),
        ("\ud83d", None, False),
        ("[1]\x00", [1], True),
        ("'a'", None, False),
        ("// no", None, False),
    ],
)
def test_mistakes(text, expected, complete):
    """What precedes a mistake counts; strictly there is no value, and both tell."""
    reader = three_ways(text)
    assert (repr(reader.value()), reader.complete) == (repr(expected), complete)
    assert not reader.valid
    strict = three_ways(text, strict=True)
    assert (strict.value(), strict.complete, strict.valid) == (None, False, False)


@relaxed
@given(st.text(st.sampled_from('{}[]",:\\ \n\tu0d83e1-+.trfalsn`NI\ud83d\ude00é'), max_size=40))
def test_never_raises(text):
    """Any text has a value, the same in any pieces, that a JSON encoder can write."""
    for strict in (False, True):
        json.dumps(three_ways(text, strict=strict).value())


@relaxed
@given(st.text(st.sampled_from('{}[]",:\\ u0d83e1-+.'), max_size=12))
def test_strict_is_strict(text):
    """What the decoder takes whole is complete and valid; what is both, it takes."""
    reader = read([text], strict=True)
    try:
        json.loads(text)
    except ValueError:
        assert not (reader.complete and reader.valid)
    else:
        assert reader.complete and reader.valid


@relaxed
@given(texts())
def test_each_prefix_is_valid(text):
    """Strict reading takes each beginning of valid JSON."""
    reader = PartialJSON(strict=True)
    if not re.search("NaN|Infinity", text):
        for char in text:
            reader.feed(char)
            assert reader.valid


def test_deep():
    """What nests too deep is no JSON any more; what precedes it counts."""
    text = "[" * MAX_DEPTH
    assert three_ways(text + "1").valid
    assert not three_ways(text + "[1").valid
    assert partial_json(text + "[1") == partial_json(text) != []
    assert partial_json(text + "1" + "]" * MAX_DEPTH) == json.loads(text + "1" + "]" * MAX_DEPTH)


def test_huge():
    """Nothing is too deep, too long or too large."""
    for text in ("[" * 1_000_000, '{"a":' * 1_000_000, "9" * 1_000_000, "1." + "9" * 1_000_000):
        partial_json(text)
    assert len(partial_json('"' + "a\\n" * 500_000)) == 1_000_000
    assert partial_json("[" + "9" * 5000 + ",") == [None]
    assert partial_json("[1e999, -1e999, 1e-999]") == [None, None, 0.0]


def test_long_numbers():
    """A number of very many characters has a value when it has ended."""
    third = "0." + "3" * 5000
    assert partial_json(f"[{third}") == [None]
    assert partial_json(f"[{third} ") == [float(third)]
    assert partial_json("[" + "1" * 4300) == [int("1" * 4300)]


def test_interpreters_bound():
    """A bound on digits that is lower still makes the number None."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert partial_json("[" + "1" * 700) == [None]
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize("wrong", [None, b"{}", 1])
def test_wrong_type(wrong):
    """What is no text is a mistake of the caller's."""
    with pytest.raises(TypeError, match="piece must be a str"):
        partial_json(wrong)


# -- Cost ----------------------------------------------------------------------------


class Counted:
    """A pattern that counts the characters it was asked to look at."""

    def __init__(self, pattern):
        self.pattern = pattern
        self.seen = 0

    def match(self, text, at=0):
        found = self.pattern.match(text, at)
        self.seen += found.end() - at + 1
        return found


def test_each_character_once(monkeypatch):
    """Whatever the pieces, a string's characters are matched once, and white space too."""
    text = json.dumps({"a": "x" * 20_000, "b": ["é\n" * 2000, {"c": "y" * 5000}]}, indent=1)
    for size in (1, 7, 100_000):
        body, space = Counted(_partial_scalars.BODY), Counted(room.SPACE)
        monkeypatch.setattr(_partial_scalars, "BODY", body)
        monkeypatch.setattr(room, "SPACE", space)
        reader = read(text[at : at + size] for at in range(0, len(text), size))
        assert reader.value() == json.loads(text)
        assert body.seen + space.seen < 3 * len(text)
        monkeypatch.undo()


def test_closed_containers_are_not_copied():
    """Reading touches what is open, and shares the rest."""
    reader = read(['{"a": [1, [2]], "b": ['])
    first = reader.value()
    reader.feed("3")
    second = reader.value()
    assert first["a"] is second["a"]
    assert first["b"] is not second["b"]
    assert (first["b"], second["b"]) == ([], [3])


# -- The parts -----------------------------------------------------------------------


def test_string_keeps_its_place():
    """A cut escape is left; nothing behind the quotation mark is taken."""
    string = CutString()
    assert string.take("ab\\u00", 0) == 2
    assert not string.closed
    assert string.take('c"d', 0) == 2
    assert (string.closed, string.so_far(), string.faulty) == (True, "abc", False)


@relaxed
@given(st.text("0123456789-+.eE", max_size=12))
def test_number_is_the_longest_prefix(text):
    """A number so far is what the longest prefix makes that is one."""
    number = CutNumber()
    number.take(text, 0)
    found = re.match(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", text)
    expected = NOTHING if found is None else Decoder("json").prefix(found.group(), 0)[0]
    assert repr(number.so_far()) == repr(expected)
