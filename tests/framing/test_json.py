"""The one strict decoder: the same outcome with each library, and the encoder."""

from __future__ import annotations

import json
import math
import re
import sys

import pytest

from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamkit import LimitExceeded, Limits, NotInstalled, _json
from streamkit._json import (
    MAX_DEPTH,
    BadJSON,
    Decoder,
    encode,
    is_whole_object,
    mend_surrogates,
    skip_space,
)
from streamkit._limits import NO_LIMITS

from .helpers import BACKENDS


def decoder(backend, limits=Limits()):
    if backend != "json":
        pytest.importorskip(backend)
    return Decoder(backend, limits)


def outcome(made, raw):
    """What became of *raw*, with types told apart (1, 1.0 and True; 0.0 and -0.0)."""
    made.notes.clear()
    try:
        value = made.whole(raw)
    except BadJSON as error:
        return error.code, error.cut
    except LimitExceeded as error:
        return error.limit, error.value
    return repr(value), made.notes


DEFAULT = sys.int_info.default_max_str_digits


@pytest.fixture
def interpreters_bound():
    """Set the interpreter's own bound on the digits of an integer, for one test."""
    yield sys.set_int_max_str_digits
    sys.set_int_max_str_digits(DEFAULT)


def nested(depth):
    """*depth* lists, one in the other."""
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.fixture(params=BACKENDS)
def backend(request):
    if request.param != "json":
        pytest.importorskip(request.param)
    return request.param


GOOD = [
    pytest.param(b"{}", {}, [], id="object"),
    pytest.param(b' \t\r\n[1, "a"]\n', [1, "a"], [], id="blanks-around"),
    pytest.param(b"[true,false,null]", [True, False, None], [], id="literals"),
    pytest.param(b"[1,1.0,-0,-0.0,1E2]", [1, 1.0, 0, -0.0, 100.0], [], id="numbers"),
    pytest.param(b"NaN", None, ["bad_number"], id="nan"),
    pytest.param(b"[Infinity,-Infinity]", [None, None], ["bad_number"] * 2, id="infinity"),
    pytest.param(b"[1e400,-1e400,1]", [None, None, 1], ["bad_number"] * 2, id="1e400"),
    pytest.param(b"1.7976931348623159e308", None, ["bad_number"], id="just-too-large"),
    pytest.param(b"[1e-400,5e-324]", [0.0, 5e-324], [], id="tiny"),
    pytest.param(b"18446744073709551616", 2**64, [], id="2**64"),
    pytest.param(
        b"[9223372036854775808,-9223372036854775809]", [2**63, -(2**63) - 1], [], id="64-bit"
    ),
    pytest.param(b"123456789012345678901234567890.5", 1.2345678901234568e29, [], id="long-float"),
    pytest.param(b"9" * 4300, 10**4300 - 1, [], id="4300-digits"),
    pytest.param(b"[-" + b"9" * 4301 + b",7]", [None, 7], ["bad_number"], id="4301-digits"),
    pytest.param(
        b"[-" + b"9" * 4300 + b"," + b"9" * 4301 + b"]",
        [1 - 10**4300, None],
        ["bad_number"],
        id="4300-digits-and-a-sign",
    ),
    pytest.param(b'{"a":' + b"9" * 5000 + b"}", {"a": None}, ["bad_number"], id="5000-digits"),
    pytest.param(b'"\\ud83d"', "\ud83d", [], id="high-surrogate"),
    pytest.param(b'{"\\ude00":"\\ude00"}', {"\ude00": "\ude00"}, [], id="low-surrogate"),
    pytest.param(b'"\\ud83d\\ude00"', "\U0001f600", [], id="surrogate-pair"),
    pytest.param(b'"\\uD83D\\u0041"', "\ud83dA", [], id="half-a-pair-then-text"),
    pytest.param(b'"a\nb"', "a\nb", ["control_character"], id="raw-newline"),
    pytest.param(b'"a\0\tb"', "a\0\tb", ["control_character"], id="raw-nul-and-tab"),
    pytest.param(b'"\\u0000\x7f"', "\0\x7f", [], id="escaped-nul-and-del"),
    pytest.param(b'"\xe2\x80\xa8"', "\u2028", [], id="line-separator"),
    pytest.param(b'{"a":1,"b":2,"a":3}', {"a": 3, "b": 2}, [], id="duplicate-key"),
    pytest.param(b'"\xff"', "\ufffd", ["invalid_utf8"], id="invalid-utf-8"),
    pytest.param(b'"\xed\xa0\x80"', "\ufffd" * 3, ["invalid_utf8"], id="surrogate-bytes"),
    pytest.param(b'"\xf4\x90\x80\x80"', "\ufffd" * 4, ["invalid_utf8"], id="beyond-unicode"),
    pytest.param(
        b'[NaN,"\xff\n"]',
        [None, "\ufffd\n"],
        ["invalid_utf8", "bad_number", "control_character"],
        id="all-at-once",
    ),
    pytest.param(
        b'["\n",NaN,' + b"9" * 5000 + b"]",
        ["\n", None, None],
        ["bad_number", "bad_number", "control_character"],
        id="control-character-and-many-digits",
    ),
    pytest.param(
        b"[NaN," + b"9" * 5000 + b',"\n"]',
        [None, None, "\n"],
        ["bad_number", "bad_number", "control_character"],
        id="many-digits-and-control-character",
    ),
    pytest.param(b"[" * 64 + b"]" * 64, nested(64), [], id="64-deep"),
    pytest.param(b"[" + b"[]," * 99 + b"{}]", [[]] * 99 + [{}], [], id="wide-is-not-deep"),
]

BAD = [
    pytest.param(b"", "bad_json", True, id="empty"),
    pytest.param(b" \n", "bad_json", True, id="blank"),
    pytest.param(b"\xef\xbb\xbf{}", "bad_json", False, id="bom"),
    pytest.param(b"\xc2\xa0{}", "bad_json", False, id="other-blank"),
    pytest.param(b"\x0b{}", "bad_json", False, id="vertical-tab"),
    pytest.param(b"\0", "bad_json", False, id="nul"),
    pytest.param(b"{}\0", "bad_json", False, id="nul-behind"),
    pytest.param(b"{}\x0b", "bad_json", False, id="vertical-tab-behind"),
    pytest.param(b"{} {}", "bad_json", False, id="two-values"),
    pytest.param(b"{}//x", "bad_json", False, id="comment"),
    pytest.param(b"[1,]", "bad_json", False, id="trailing-comma"),
    pytest.param(b'{"a":1,}', "bad_json", False, id="trailing-comma-in-object"),
    pytest.param(b"[,", "bad_json", False, id="leading-comma"),
    pytest.param(b"[1 2]", "bad_json", False, id="no-comma"),
    pytest.param(b'{"a" 1}', "bad_json", False, id="no-colon"),
    pytest.param(b"{1:2}", "bad_json", False, id="number-key"),
    pytest.param(b"{'a':1}", "bad_json", False, id="single-quotes"),
    pytest.param(b"[True]", "bad_json", False, id="python-literal"),
    pytest.param(b"[01]", "bad_json", False, id="leading-zero"),
    pytest.param(b"[.5]", "bad_json", False, id="no-integer"),
    pytest.param(b"[+1]", "bad_json", False, id="plus"),
    pytest.param(b"[1.]", "bad_json", False, id="no-fraction"),
    pytest.param(b"[-]", "bad_json", False, id="only-a-sign"),
    pytest.param(b"[0x10]", "bad_json", False, id="hexadecimal"),
    pytest.param(b"[1_0]", "bad_json", False, id="underscore"),
    pytest.param("[\u0661]".encode(), "bad_json", False, id="other-digit"),
    pytest.param(b'["\\x"]', "bad_json", False, id="bad-escape"),
    pytest.param(b'["\\u12_3"]', "bad_json", False, id="bad-unicode-escape"),
    pytest.param(b'["\\u+123"]', "bad_json", False, id="signed-unicode-escape"),
    pytest.param(b'["\\u1"]', "bad_json", False, id="short-unicode-escape"),
    pytest.param(b"[" * 65 + b"]" * 65, "too_deep", False, id="65-deep"),
    pytest.param(b'{"a":' * 900 + b"1" + b"}" * 900, "too_deep", False, id="900-deep"),
    pytest.param(b"[" * 100_000 + b"]" * 100_000, "too_deep", False, id="100000-deep"),
    pytest.param(b"[" * 100_000, "too_deep", False, id="100000-open"),
]


@pytest.mark.parametrize(("raw", "value", "notes"), GOOD)
def test_good(backend, raw, value, notes):
    """What is JSON, or can be mended, has one reading, and its repairs are noted."""
    assert outcome(decoder(backend), raw) == (repr(value), notes)


@pytest.mark.parametrize(("raw", "code", "cut"), BAD)
def test_bad(backend, raw, code, cut):
    """What is no JSON is refused by one rule, and whether it was cut is known."""
    assert outcome(decoder(backend), raw) == (code, cut)


@pytest.mark.parametrize("literal", ["true", "false", "null", "NaN", "Infinity", "-Infinity"])
def test_literal_cut_anywhere(backend, literal):
    """A literal cut at any place is cut, alone and in a container."""
    made = decoder(backend)
    for end in range(1, len(literal)):
        for before in ("", "[", '{"a":', "[1, "):
            assert outcome(made, (before + literal[:end]).encode()) == ("bad_json", True)
        assert outcome(made, f"[{literal[:end]}x".encode()) == ("bad_json", False)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        pytest.param("[-", True, id="sign"),
        pytest.param("[1.", True, id="point"),
        pytest.param("[1e", True, id="exponent"),
        pytest.param("[1.5E+", True, id="exponent-sign"),
        pytest.param('["\\', True, id="escape"),
        pytest.param('["\\u', True, id="unicode-escape"),
        pytest.param('["\\u00e', True, id="unicode-escape-3"),
        pytest.param('["\\ud83d\\ude0', True, id="second-half"),
        pytest.param("[.", False, id="point-first"),
        pytest.param("[\x0b", False, id="vertical-tab"),
        pytest.param("[e", False, id="exponent-first"),
        pytest.param("[+", False, id="plus"),
        pytest.param("[--", False, id="two-signs"),
        pytest.param("[-e", False, id="sign-exponent"),
        pytest.param("[1..", False, id="two-points"),
        pytest.param("[1.e", False, id="point-exponent"),
        pytest.param("[1ee", False, id="two-exponents"),
        pytest.param("[1 e", False, id="blank-exponent"),
        pytest.param("[1 2e+", False, id="blank-number"),
        pytest.param("[1 -", False, id="blank-sign"),
        pytest.param("[1 t", False, id="literal-for-comma"),
        pytest.param("{t", False, id="literal-for-key"),
        pytest.param('{"a" n', False, id="literal-for-colon"),
        pytest.param('{"a" .', False, id="point-for-colon"),
        pytest.param("[truet", False, id="after-a-literal"),
        pytest.param("[01", False, id="leading-zero"),
        pytest.param('["\\u1"', False, id="short-unicode-escape"),
        pytest.param('["\\ux', False, id="bad-unicode-escape"),
    ],
)
def test_cut(text, cut):
    """A text is cut exactly if more of it could make it a value."""
    assert outcome(Decoder("json"), text.encode()) == ("bad_json", cut)


# -- Properties --------------------------------------------------------------

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**25), 10**25)
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["\ud83d", "a\nb", "\U0001f600", '\\"'])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.text(max_size=3), values, min_size=1, max_size=3)


@st.composite
def texts(draw, values):
    """A JSON text of one of *values*, written in one of the ways of writing it."""
    text = json.dumps(
        draw(values),
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, None, 1])),
        separators=draw(st.sampled_from([None, (",", ":"), (" , ", " : ")])),
    )
    return text.encode("utf-8", "replace")


marks = st.sampled_from([bytes([byte]) for byte in b'{}[]",:\\/u0159eE+-. tfnNaIy\xc3\xff\n\0'])


@st.composite
def mutated(draw):
    """A JSON text with a few bytes put in, left out or replaced, or cut off."""
    text = draw(texts(values))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(marks | st.just(b"")) + text[at + draw(st.integers(0, 1)) :]
    return text[: draw(st.integers(0, len(text)) | st.just(len(text)))]


@settings(max_examples=400, deadline=None)
@given(mutated())
def test_same_with_each_library(raw):
    """The outcome does not depend on the library that is installed."""
    expected = outcome(Decoder("json"), raw)
    for backend in BACKENDS[1:]:
        assert outcome(decoder(backend), raw) == expected


@settings(max_examples=150, deadline=None)
@given(texts(objects), st.data())
@example(b'{"a": [1, -2.5e+10, NaN, -Infinity, "\\u00e9\\ud83d\\ude00"]}', None)
def test_every_proper_prefix_is_cut(raw, data):
    """An object cut at any byte is cut, not bad."""
    made = Decoder("json")
    made.whole(raw)
    ends = range(len(raw)) if data is None else [data.draw(st.integers(0, len(raw) - 1))]
    for end in ends:
        assert outcome(made, raw[:end]) == ("bad_json", True)


@settings(max_examples=400, deadline=None)
@given(mutated())
@example(b'{"a":"\\u12"}')
@example(b"[1 e")
def test_cut_agrees_with_the_grammar(raw):
    """A container is whole, cut or bad as a plain recursive reader of the grammar says."""
    text = raw.decode("utf-8", "replace").lstrip(" \t\r\n")
    if not text.startswith(("{", "[")):
        return
    got = outcome(Decoder("json"), raw)
    expected = by_the_grammar(text)
    assert got == ("bad_json", expected == "cut") if expected != "whole" else got[0] != "bad_json"


class Cut(Exception):
    """The text ended before the value."""


def by_the_grammar(text):
    """*text*, a container, is `whole`, `cut` or `bad`."""
    try:
        end = skip_space(text, read_value(text, 0))
    except Cut:
        return "cut"
    except ValueError:
        return "bad"
    return "whole" if end == len(text) else "bad"


def peek(text, at):
    if at == len(text):
        raise Cut
    return text[at]


def read_value(text, at):
    mark = peek(text, at)
    if mark in "{[":
        return read_container(text, at + 1, "}" if mark == "{" else "]")
    if mark == '"':
        return read_string(text, at)
    return read_scalar(text, at)


def read_container(text, at, closing):
    at = skip_space(text, at)
    if peek(text, at) == closing:
        return at + 1
    while True:
        if closing == "}":
            at = skip_space(text, read_string(text, at))
            at = skip_space(text, expect(text, at, ":"))
        at = skip_space(text, read_value(text, at))
        if peek(text, at) == closing:
            return at + 1
        at = skip_space(text, expect(text, at, ","))


def expect(text, at, marks):
    if peek(text, at) not in marks:
        raise ValueError
    return at + 1


def read_string(text, at):
    at = expect(text, at, '"')
    while peek(text, at) != '"':
        if text[at] != "\\":
            at += 1
        elif peek(text, at + 1) == "u":
            for place in range(at + 2, at + 6):
                expect(text, place, "0123456789abcdefABCDEF")
            at += 6
        else:
            at = expect(text, at + 1, '"\\/bfnrt')
    return at + 1


NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
NUMBER_START = re.compile(r"-?((0|[1-9][0-9]*)(\.[0-9]*|(\.[0-9]+)?[eE][+-]?[0-9]*)?)?")
NAMES = ("true", "false", "null", "NaN", "Infinity", "-Infinity")


def read_scalar(text, at):
    rest = text[at:]
    if NUMBER_START.fullmatch(rest) or any(name.startswith(rest) for name in NAMES):
        raise Cut
    for name in NAMES:
        if rest.startswith(name):
            return at + len(name)
    number = NUMBER.match(rest)
    if number is None:
        raise ValueError
    return at + number.end()


# -- Limits, prefixes, backends ----------------------------------------------


@pytest.mark.parametrize(
    ("raw", "limits", "expected"),
    [
        pytest.param(b"[[]]", Limits(depth=1), ("too_deep", False), id="depth"),
        pytest.param(b"[[1]]", Limits(depth=2), ("[[1]]", []), id="depth-fits"),
        pytest.param(b'["[[[[",{}]', Limits(depth=2), ("['[[[[', {}]", []), id="brackets-in-text"),
        pytest.param(b'{"a":{"b":[]}}', Limits(depth=2), ("too_deep", False), id="objects"),
        pytest.param(b"[1,2]", Limits(depth=0), ("too_deep", False), id="depth-zero"),
        pytest.param(b"1", Limits(depth=0), ("1", []), id="scalar"),
        pytest.param(b'{"a":1,"b":2}', Limits(keys=1), ("keys", 2), id="keys"),
        pytest.param(
            b'[{"a":1},{"b":{"c":1,"d":2}}]', Limits(keys=1), ("keys", 2), id="keys-inside"
        ),
        pytest.param(b'{"a":1,"b":2}', Limits(keys=2), ("{'a': 1, 'b': 2}", []), id="keys-fit"),
        pytest.param(b'{"a":"::::"}', Limits(keys=1), ("{'a': '::::'}", []), id="colons-in-text"),
        pytest.param(b'":::"', Limits(keys=0), ("':::'", []), id="no-object"),
        pytest.param(
            b'{"a":[1,NaN],"b":2}', Limits(keys=1), ("keys", 2), id="keys-on-the-slow-road"
        ),
        pytest.param(b"[[NaN]]", Limits(depth=1), ("too_deep", False), id="depth-on-the-slow-road"),
    ],
)
def test_limits(backend, raw, limits, expected):
    """Depth and keys are counted in the value, not in its text."""
    assert outcome(decoder(backend, limits), raw) == expected


def test_no_limits(backend):
    """Without limits the depth is still bounded, and there is no RecursionError."""
    made = decoder(backend, NO_LIMITS)
    many = {str(number): number for number in range(10_001)}
    assert made.whole(json.dumps(many).encode()) == many
    assert outcome(made, b"[" * MAX_DEPTH + b"]" * MAX_DEPTH) == (repr(nested(MAX_DEPTH)), [])
    assert outcome(made, b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1)) == ("too_deep", False)
    assert outcome(made, b"[" * 100_000 + b"]" * 100_000) == ("too_deep", False)


@pytest.mark.parametrize(
    ("digits", "bound", "expected"),
    [
        pytest.param(4300, 0, (repr(10**4300 - 1), []), id="lifted-fits"),
        pytest.param(4301, 0, ("None", ["bad_number"]), id="lifted"),
        pytest.param(640, 640, (repr(10**640 - 1), []), id="lowered-fits"),
        pytest.param(641, 640, ("None", ["bad_number"]), id="lowered"),
    ],
)
def test_interpreters_own_bound(interpreters_bound, backend, digits, bound, expected):
    """However the interpreter's bound on digits is set, a number too long becomes null."""
    interpreters_bound(bound)
    got = outcome(decoder(backend), b"9" * digits)
    interpreters_bound(DEFAULT)
    assert got == expected


def test_integers_cost_nothing(monkeypatch):
    """The interpreter counts their digits, but where its bound was lifted."""
    monkeypatch.setattr(Decoder, "_integer", lambda *_args: pytest.fail("it was asked"))
    assert Decoder("json").whole(b"[1]") == [1]


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        pytest.param("{}{}", 0, ({}, 2), id="first"),
        pytest.param("{}{}", 2, ({}, 4), id="second"),
        pytest.param("x \t\r\n[1] y", 1, ([1], 8), id="blanks"),
        pytest.param("1x", 0, (1, 1), id="number"),
        pytest.param("[\x0b]", 0, None, id="bad"),
    ],
)
def test_prefix(text, start, expected):
    """One value is taken at the place, and what is behind it is not looked at."""
    made = Decoder("json")
    if expected is None:
        with pytest.raises(BadJSON, match="bad_json"):
            made.prefix(text, start)
    else:
        assert made.prefix(text, start) == expected


def test_unknown_backend():
    """A wrong name is the caller's error, at the call."""
    with pytest.raises(TypeError, match="must be auto, json, orjson or msgspec, not 'simplejson'"):
        Decoder("simplejson")


@pytest.mark.parametrize("name", BACKENDS[1:])
def test_missing_backend(monkeypatch, name):
    """A library that was asked for by name and is missing is an ImportError."""
    hide(monkeypatch, name)
    with pytest.raises(NotInstalled, match=f"needs {name}.*: install {name}") as caught:
        Decoder(name)
    assert isinstance(caught.value, ImportError)


@pytest.mark.parametrize("hidden", [(), ("msgspec",), ("msgspec", "orjson")], ids=len)
def test_auto(monkeypatch, hidden):
    """`auto` takes the first there is; the standard library is always there."""
    expected = BACKENDS[::-1][len(hidden)]
    decoder(expected)
    hide(monkeypatch, *hidden)
    made = Decoder()
    assert made.whole(b'{"a":[1]}') == {"a": [1]}
    taken, named = made._fast, Decoder(expected)._fast
    assert (taken and taken.__qualname__) == (named and named.__qualname__)


def test_what_the_library_is_asked(monkeypatch, backend):
    """Everything, but orjson not what may be an integer beyond 64 bits: it makes a float of it."""
    load = Decoder(backend)._fast
    if load is None:
        assert Decoder(backend).trusting is json.loads
        return
    assert load(b"[" + b"1" * 18 + b"]") == [int("1" * 18)]
    assert Decoder(backend).trusting(b"[1e400]") == [None]
    with monkeypatch.context() as patch:
        patch.setattr(Decoder, "text", None)
        assert Decoder(backend).whole(b"[1]") == [1]
    if backend == "orjson":
        with pytest.raises(ValueError, match=r"^an integer may be inexact$"):
            load(b"[" + b"1" * 19 + b"]")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"[x]", "Expecting value"),
        (b"{} {}", "extra data at character 2"),
        (b"[[]]", "nested deeper than 1 levels"),
        (b"[" * 100_000, "nested too deep"),
    ],
)
def test_reason(raw, reason):
    """What is wrong, in a few words, for a message."""
    with pytest.raises(BadJSON) as caught:
        Decoder("json", Limits(depth=1)).whole(raw)
    assert caught.value.reason == reason


def hide(monkeypatch, *names):
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.setitem(sys.modules, f"{name}.json", None)


# -- Encoding ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param({"a": [1, 2.5, None, True]}, '{"a":[1,2.5,null,true]}', id="plain"),
        pytest.param("é\u2028\U0001f600", '"é\u2028\U0001f600"', id="no-ascii-escapes"),
        pytest.param({"a": math.nan, "b": [math.inf]}, '{"a":null,"b":[null]}', id="nan"),
        pytest.param((1.0, -math.inf, "x"), '[1.0,null,"x"]', id="tuple"),
        pytest.param("\ud83d\ude00", '"\U0001f600"', id="pair"),
        pytest.param({"\ud83d": "\ude00"}, '{"\ufffd":"\ufffd"}', id="halves"),
        pytest.param(2**64, "18446744073709551616", id="large"),
        pytest.param([10**5000, 1], "[null,1]", id="too-many-digits"),
        pytest.param("\0\n", '"\\u0000\\n"', id="control"),
    ],
)
def test_encode(value, text):
    """What is written is strict JSON that encodes as UTF-8."""
    assert encode(value) == text
    text.encode()


def test_encode_within_the_interpreters_bound(interpreters_bound):
    """What has more digits than that is null; no other integer is, beside NaN or alone."""
    assert encode([10**4300 - 1, math.nan]) == f"[{10**4300 - 1},null]"
    interpreters_bound(640)
    assert encode([10**640, -1]) == "[null,-1]"
    assert encode([1 - 10**640, math.nan]) == f"[{1 - 10**640},null]"


def test_one_encoder_for_all(monkeypatch):
    """Making one takes longer than writing a chunk."""
    monkeypatch.setattr(_json, "_encoder", None)
    assert encode({}) == "{}"


def test_encode_indented():
    """With an indent, one blank follows each colon."""
    assert encode({"a": [1, math.nan]}, indent=1) == '{\n "a": [\n  1,\n  null\n ]\n}'


@settings(max_examples=100, deadline=None)
@given(values)
def test_encode_any(value):
    """Any value is written as JSON that a strict reader takes, and that stays as it is."""
    text = encode(value)
    made = Decoder("json", NO_LIMITS)
    assert encode(made.whole(text.encode())) == text
    assert made.notes == []


@pytest.mark.parametrize(
    ("text", "mended", "replaced"),
    [
        pytest.param("", "", False, id="empty"),
        pytest.param("abc", "abc", False, id="ascii"),
        pytest.param("é\U0001f600", "é\U0001f600", False, id="no-surrogates"),
        pytest.param("a\ud83d\ude00b", "a\U0001f600b", False, id="pair"),
        pytest.param("\ud83d", "\ufffd", True, id="high"),
        pytest.param("\ude00\ud83d", "\ufffd\ufffd", True, id="wrong-order"),
        pytest.param("\ud83d\ud83d\ude00", "\ufffd\U0001f600", True, id="half-and-pair"),
    ],
)
def test_mend_surrogates(text, mended, replaced):
    """Pairs join; halves are replaced, and that is told."""
    assert mend_surrogates(text) == (mended, replaced)


def test_ascii_is_not_searched(monkeypatch):
    """It has no surrogates, and most text is."""
    monkeypatch.setattr(_json, "SURROGATE", None)
    assert mend_surrogates("abc") == ("abc", False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(' {"a": 1} ', True, id="object"),
        pytest.param("[]", False, id="array"),
        pytest.param("1", False, id="number"),
        pytest.param("", False, id="empty"),
        pytest.param('{"a":', False, id="cut"),
        pytest.param("{} {}", False, id="two"),
        pytest.param("[" * 100_000, False, id="deep"),
    ],
)
def test_is_whole_object(text, expected):
    """One object and nothing else."""
    assert is_whole_object(text) is expected


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [("", 0, 0), ("a", 0, 0), (" \t\r\na", 0, 4), ("  ", 1, 2), ("\x0b\xa0", 0, 0)],
)
def test_skip_space(text, start, end):
    """JSON has four white-space characters and no others."""
    assert skip_space(text, start) == end
