"""What a template matches, and above all what it does not."""

from __future__ import annotations

import json

from unittest.mock import patch

import attrs
import pytest

from hypothesis import example, given
from hypothesis import strategies as st

from streamkit import Limits, Rule
from streamkit._issues import IssueLog
from streamkit._learn import STILL, learn
from streamkit._merge import APPLY
from streamkit._rules import RULES
from streamkit._state import Context, is_empty, plain_values
from streamkit._template import LONG

from .helpers import HEAD, event, logprobs, read_alike, rebuilt_alike, rows, say, tool, write


CHAT, COMPLETION = RULES["chat"], RULES["completion"]
LEARNED = say("a", top={"obfuscation": "x"}, choice={"finish_reason": None})
DATA = event(LEARNED)


def learned(data, *, rules=CHAT, many=False, still=True):
    chunk = json.loads(data[data.index(b"{") :])
    return learn(data, chunk, rules, many=many, still=still)


def kinds(chunk, **options):
    """Return the kinds of the holes of *chunk* that are not skipped; None without a template."""
    template = learned(event(chunk), **options)
    return template and [hole.kind for hole in template.holes]


@pytest.mark.parametrize("ending", ["\n\n", "\r\n\r\n", "\n", "\r\n"], ids=repr)
@pytest.mark.parametrize("prefix", ["data: ", "data:", ""])
def test_framings(prefix, ending):
    """The framing is literal: a template matches its own and no other."""
    data = event(LEARNED, ending, prefix)
    template = learned(data)
    assert template.match(data).groups() == (b"a",)
    assert (template.ending, template.is_bare) == (ending.encode(), not prefix)
    for other in ("\n\n", "\r\n\r\n", "\n", "\r\n"):
        assert bool(template.fullmatch(event(LEARNED, other, prefix))) is (other == ending)


@pytest.mark.parametrize(
    "data",
    [
        DATA.replace(b"data: ", b"data:  "),
        DATA.replace(b"data: ", b" data: "),
        DATA.replace(b"data: ", b"id: 1\ndata: "),
        DATA.replace(b"data: ", b"\xef\xbb\xbfdata: "),
        DATA.replace(b"data: ", b"error: "),
        DATA.replace(b"\n\n", b" \n\n"),
        DATA.replace(b"\n\n", b"\r\r"),
        DATA.replace(b"\n\n", b"\n\n\n"),
        DATA.replace(b"\n\n", b""),
        DATA.replace(b'"id"', b'"id":"x","id"'),
        DATA.replace(b'"id"', b'"i\\u0064"'),
    ],
    ids=repr,
)
def test_framings_without_a_template(data):
    """What is not one line of one payload is left to the slow road."""
    assert learn(data, LEARNED, CHAT, many=False, still=True) is None


# -- Near misses ---------------------------------------------------------------------

OTHER = {
    "key order": DATA.replace(b'"created":5,"model":"demo"', b'"model":"demo","created":5'),
    "extra key": DATA.replace(b'"created"', b'"x":1,"created"'),
    "key missing": DATA.replace(b'"created":5,', b""),
    "blank": DATA.replace(b'"content":', b'"content": '),
    "blank in front": DATA.replace(b"data: ", b"data:  "),
    "no blank in front": DATA.replace(b"data: ", b"data:"),
    "escaped key": DATA.replace(b'"content"', b'"c\\u006fntent"'),
    "escaped value": DATA.replace(b'"demo"', b'"d\\u0065mo"'),
    "key twice": DATA.replace(b'"content":"a"', b'"content":"a","content":"b"'),
    "key twice at the top": DATA.replace(b'"choices"', b'"choices":[],"choices"'),
    "number for a string": DATA.replace(b'"content":"a"', b'"content":1'),
    "null for a string": DATA.replace(b'"content":"a"', b'"content":null'),
    "list for a string": DATA.replace(b'"content":"a"', b'"content":["a"]'),
    "object for a string": DATA.replace(b'"content":"a"', b'"content":{"a":1}'),
    "two strings": DATA.replace(b'"content":"a"', b'"content":"a""b"'),
    "open string": DATA.replace(b'"content":"a"', b'"content":"a'),
    "leading zero": DATA.replace(b'"created":5', b'"created":05'),
    "plus": DATA.replace(b'"created":5', b'"created":+5'),
    "zero": DATA.replace(b'"created":5', b'"created":0'),
    "minus": DATA.replace(b'"created":5', b'"created":-5'),
    "float": DATA.replace(b'"created":5', b'"created":5.0'),
    "exponent": DATA.replace(b'"created":5', b'"created":5e0'),
    "overflow": DATA.replace(b'"created":5', b'"created":1e999'),
    "NaN": DATA.replace(b'"created":5', b'"created":NaN'),
    "nineteen digits": DATA.replace(b'"created":5', b'"created":' + b"1" * 19),
    "bool": DATA.replace(b'"created":5', b'"created":true'),
    "string for a number": DATA.replace(b'"created":5', b'"created":"5"'),
    "index is another": DATA.replace(b'"index":0', b'"index":1'),
    "index is a bool": DATA.replace(b'"index":0', b'"index":false'),
    "index is a float": DATA.replace(b'"index":0', b'"index":0.0'),
    "index is a string": DATA.replace(b'"index":0', b'"index":"0"'),
    "index is null": DATA.replace(b'"index":0', b'"index":null'),
    "index is -0": DATA.replace(b'"index":0', b'"index":-0'),
    "index is 00": DATA.replace(b'"index":0', b'"index":00'),
    "another id": DATA.replace(b"chatcmpl-1", b"chatcmpl-2"),
    "id in another case": DATA.replace(b"chatcmpl-1", b"Chatcmpl-1"),
    "another model": DATA.replace(b"demo", b"dem0"),
    "model of one dot": DATA.replace(b"demo", b"d.mo"),
    "finish reason": DATA.replace(b"null", b'"stop"'),
    "error": DATA.replace(b'"choices"', b'"error":{"message":"no"},"choices"'),
    "two choices": DATA.replace(b'"choices":[', b'"choices":[{"index":1,"delta":{}},'),
    "no choice": DATA.replace(DATA[DATA.index(b"[{") : DATA.index(b"}]") + 2], b"[]"),
    "control character": DATA.replace(b'"a"', b'"\x01"'),
    "tab": DATA.replace(b'"a"', b'"\t"'),
    "NUL": DATA.replace(b'"a"', b'"\x00"'),
    "line end in a string": DATA.replace(b'"a"', b'"a\nb"'),
    "CR in a string": DATA.replace(b'"a"', b'"a\rb"'),
    "bad escape": DATA.replace(b'"a"', b'"\\x41"'),
    "cut escape": DATA.replace(b'"a"', b'"\\u12"'),
    "odd hex": DATA.replace(b'"a"', b'"\\u12g4"'),
    "escaped quote": DATA.replace(b'"a"', b'"a\\"'),
    "padding with a quote": DATA.replace(b'"x"', b'"\\"x"'),
    "padding with an escape": DATA.replace(b'"x"', b'"\\u0041"'),
    "padding beyond ASCII": DATA.replace(b'"x"', b'"\xc3\xa9"'),
    "padding not UTF-8": DATA.replace(b'"x"', b'"\xff"'),
    "padding is a number": DATA.replace(b'"x"', b"1"),
    "CRLF": DATA.replace(b"\n\n", b"\r\n\r\n"),
    "CR": DATA.replace(b"\n\n", b"\r\r"),
    "LF and CRLF": DATA.replace(b"\n\n", b"\n\r\n"),
    "one line end": DATA.replace(b"\n\n", b"\n"),
    "cut": DATA[:-9] + b"\n\n",
    "garbage behind": DATA.replace(b"\n\n", b"x\n\n"),
    "garbage in front": b"x" + DATA,
    "BOM in front": b"\xef\xbb\xbf" + DATA,
    "glued": DATA.replace(b"\n\n", DATA[6:]),
    "BOM in a key": DATA.replace(b'"content"', b'"\xef\xbb\xbfcontent"'),
}


@pytest.mark.parametrize("still", [True, False], ids=["merging", "reading"])
@pytest.mark.parametrize("data", OTHER.values(), ids=OTHER)
def test_what_means_something_else_does_not_match(data, still):
    """Not as a whole, and not where a scan for more events comes to it."""
    assert data != DATA
    template = learned(DATA, still=still)
    assert template.match(data) is None
    around = DATA + data + DATA
    assert template.prefix(around, 0, len(around)) == template.prefix(DATA, 0, len(DATA))


@pytest.mark.parametrize("data", OTHER.values(), ids=OTHER)
def test_what_means_something_else_goes_the_slow_road(data):
    """In the middle of a run it is read and merged as if there were no fast road."""
    pieces = [*[DATA] * 3, data, *[DATA] * 3]
    for way in (pieces, [b"".join(pieces)]):
        rebuilt_alike(way)
        read_alike(way)


@pytest.mark.parametrize(
    "body",
    ["", "a", " ", "é", "日", "\u2028", "\x7f", "\\\\", '\\"', "\\/", "\\n", "\\u0000", "\\uD83d"],
    ids=ascii,
)
@pytest.mark.parametrize("still", [True, False], ids=["merging", "reading"])
def test_a_text_is_the_body_of_any_valid_string(body, still):
    """Escapes and all, and its group is that body."""
    template = learned(event(say("a")), still=still)
    data = event(say("@@")).replace(b"@@", body.encode())
    assert template.match(data)[1] == body.encode()


def test_what_is_dropped_is_skipped_in_merging_and_a_hole_in_reading():
    """Padding and a later `created` add nothing to a response, but a reader sees them."""
    assert kinds(LEARNED) == ["text"]
    assert kinds(LEARNED, still=False) == ["padding", "text"]
    assert kinds(LEARNED, still=False, many=True) == ["number", "padding", "index", "text"]
    other = event({**LEARNED, "created": 77, "obfuscation": "~ !x"})
    assert learned(DATA).match(other)[1] == b"a"
    assert learned(DATA, still=False).match(other) is None
    groups = learned(DATA, still=False, many=True).match(other).groups()
    assert groups == (b"77", b"~ !x", b"0", b"a")


# -- Runs ----------------------------------------------------------------------------

SHAPES = {
    "a text": say("a"),
    "two texts": say("a", x="b"),
    "a text, and padding that nobody reads": LEARNED,
    "no hole": say(None),
    "an entry": say(choice={"logprobs": logprobs()}),
}


@pytest.mark.parametrize("chunk", SHAPES.values(), ids=SHAPES)
def test_a_run(chunk):
    """A row for each event, as far as there is no gap."""
    data = event(chunk)
    template = learned(data)
    groups = template.match(data).groups()
    row = groups[0] if len(groups) == 1 else groups
    run = data * 3 + b": ping\n\n" + data
    assert template.prefix(run, 0, len(run)) == ([row] * 3, 3 * len(data))


def test_a_long_run():
    """The end of it is taken by another expression, and is the same."""
    template, size = learned(DATA), len(DATA)
    for _ in range(LONG // 512 + 2):
        assert template.run(DATA * 512, 0, 512 * size) == ([b"a"] * 512, 512 * size)
    assert template.run(DATA * 3 + b":\n" + DATA, 0, 4 * size + 2) == ([b"a"] * 3, 3 * size)
    assert template.run(DATA + b"x" + DATA, 0, 2 * size + 1) == ([b"a"], size)


def test_a_run_is_between_two_places():
    """An event that ends behind the second is not of it."""
    template, size = learned(DATA), len(DATA)
    assert template.prefix(b"x" + DATA, 0, 10_000) == ([], 0)
    assert template.prefix(b"x" + DATA, 1, 10_000) == ([b"a"], 1 + size)
    for end in range(2 * size):
        count = end // size
        assert template.prefix(DATA * 2, 0, end) == ([b"a"] * count, count * size)


NEARLY = st.sampled_from([DATA, event(say("b", top={"obfuscation": ""})), *OTHER.values()])


@given(st.lists(NEARLY, min_size=1))
@example([OTHER["CR"]])
def test_a_run_is_its_events_one_by_one(pieces):
    """The road ahead does not matter."""
    template, data = learned(event(say("b", top={"obfuscation": ""}))), b"".join(pieces)
    rows, at = [], 0
    while found := template.match(data, at):
        rows.append(found[1])
        at = template.end(found)
    assert template.prefix(data, 0, len(data)) == (rows, at)
    with patch("streamkit._template.LONG", -1):
        assert template.run(data, 0, len(data)) == (rows, at)


# -- Which chunks have a template ----------------------------------------------------

HOLES = {
    "many": (say(), {"many": True}, ["index", "text"]),
    "no index": ({**HEAD, "choices": [{"delta": {"content": ""}}]}, {"many": True}, ["text"]),
    "index is a bool": (say(index=True), {"many": True}, ["text"]),
    "no delta": (write(), {"rules": COMPLETION}, ["text"]),
    "delta is null": (write(delta=None), {}, ["text"]),
    "null": (say(None, role=None), {}, []),
    "two texts": (say("a", reasoning="b", x="c"), {}, ["text"] * 3),
    "identities": (say("a", type="b", x_id="c"), {}, ["text"]),
    "number": (write(token=5), {"rules": COMPLETION}, ["text", "number"]),
    "number of chat": (write(token=5), {}, ["text"]),
    "arguments": (tool("a"), {}, ["text"]),
    "logprob": (say(choice={"logprobs": logprobs()}), {}, ["text", "logprob"]),
    "no logprob": (say(choice={"logprobs": {"content": []}}), {}, ["text"]),
    "empty lists": (say(tool_calls=[], annotations=[], x=[]), {}, ["text"]),
    "objects": (say(top={"usage": {"a": 1}, "x": {}}, x={"a": [1]}), {}, ["text"]),
    "annotations": (say(annotations=[{"a": 1}]), {}, ["text"]),
    "unknown string": (say(x="a"), {"many": True}, ["index", "text", "text"]),
    "rows": (write(logprobs=rows()), {}, ["text", "column", "column", "column", "offsets"]),
    "rows of chat": (say(choice={"logprobs": {"tokens": ["a"]}}), {}, ["text", "column"]),
    "two rows": (write(logprobs=rows(2)), {}, ["text", "column", "column", "column", "offsets"]),
    "rows and nulls": (
        write(logprobs={"tokens": ["a"], "top_logprobs": None, "text_offset": [], "x": [5]}),
        {},
        ["text", "column", "column"],
    ),
    "no rows": (write(logprobs={"tokens": [], "text_offset": None}), {}, ["text"]),
}


@pytest.mark.parametrize(("chunk", "options", "expected"), HOLES.values(), ids=HOLES)
def test_holes(chunk, options, expected):
    """Texts, the index of several choices, numbers and log probabilities."""
    assert kinds(chunk, **options) == expected


def with_call(**entry):
    return say(tool_calls=[entry])


NOT_STILL = {
    "list content": say(["a"]),
    "token ids": say(choice={"token_ids": [1]}),
    "tokens": write(tokens=[1]),
    "a list by index": say(executed_tools=[{"index": 0}]),
    "reasoning details": say(reasoning_details=[{"index": 0, "text": "a"}]),
    "audio": say(audio={"data": "a"}),
    "function call": say(function_call={"arguments": "a"}),
    "two calls": say(tool_calls=[{"index": 0, "function": {"arguments": ""}}] * 2),
    "call is odd": say(tool_calls=["odd"]),
    "calls are odd": say(tool_calls={"index": 0}),
    "call with an id": tool("a", id="call_1"),
    "call with a name": with_call(index=0, function={"name": "f", "arguments": ""}),
    "call with more": with_call(index=0, function={"arguments": ""}, extra_content={"a": 1}),
    "call without index": with_call(function={"arguments": ""}),
    "index is no int": with_call(index=True, function={"arguments": ""}),
    "no function": with_call(index=0),
    "arguments are null": with_call(index=0, function={"arguments": None}),
    "delta is a string": {**HEAD, "choices": [{"index": 0, "delta": "a"}]},
    "logprobs are odd": say(choice={"logprobs": "odd"}),
    "logprobs are empty": say(choice={"logprobs": {}}),
    "no list": say(choice={"logprobs": {"content": "odd"}}),
    "two entries": say(choice={"logprobs": {"content": [{}, {}]}}),
    "entry is odd": say(choice={"logprobs": {"content": ["odd"]}}),
    "refusals": say(choice={"logprobs": {"content": [{}], "refusal": []}}),
    "uneven rows": write(logprobs={"tokens": ["a"], "token_logprobs": [-1, -2]}),
    "rows beside a number": write(logprobs={"tokens": ["a"], "x": 5}),
    "rows beside a string": write(logprobs={"tokens": ["a"], "x": ""}),
    "rows beside an object": write(logprobs={"tokens": ["a"], "x": {}}),
}


@pytest.mark.parametrize("chunk", NOT_STILL.values(), ids=NOT_STILL)
def test_what_would_add_something_has_no_template_for_merging(chunk):
    """For reading, whatever is no hole is literal."""
    assert kinds(chunk, rules=COMPLETION) is None
    assert kinds(chunk, still=False) is not None
    assert learned(event(chunk), still=False).fullmatch(event(chunk))


@pytest.mark.parametrize("value", [-1, True, "5", [5]], ids=repr)
def test_only_natural_numbers_are_collected(value):
    """A number that the pattern does not cover is not still either."""
    assert kinds(write(token=value), rules=COMPLETION) is None


@pytest.mark.parametrize(
    "chunk",
    [
        {**HEAD},
        {**HEAD, "choices": None},
        {**HEAD, "choices": {}},
        {**HEAD, "choices": []},
        {**HEAD, "choices": ["odd"]},
        {**HEAD, "choices": say()["choices"] * 2},
        {**say(), "error": {"message": "no"}},
    ],
    ids=repr,
)
@pytest.mark.parametrize("still", [True, False], ids=["merging", "reading"])
def test_chunks_without_a_template(chunk, still):
    """A template is of one choice, and of no error."""
    assert kinds(chunk, still=still) is None


# -- Raw log probabilities -----------------------------------------------------------

ENTRY = {"token": "a", "logprob": -1.5, "bytes": [97, 98], "top_logprobs": [{"token": "b"}] * 2}
ENTRIES = event(say("t", choice={"logprobs": {"content": [ENTRY]}}))
SAME_SHAPE = {
    "token": ENTRIES.replace(b'"token":"a"', b'"token":"\\n\xc3\xa9\\u00e9"'),
    "number": ENTRIES.replace(b"-1.5", b"-9999.0"),
    "integer": ENTRIES.replace(b"-1.5", b"0"),
    "small": ENTRIES.replace(b"-1.5", b"-1.5e-07"),
    "minus zero": ENTRIES.replace(b"-1.5", b"-0"),
    "bytes": ENTRIES.replace(b"[97,98]", b"[0,255,1,2]"),
    "one byte": ENTRIES.replace(b"[97,98]", b"[7]"),
    "alternatives": ENTRIES.replace(b'[{"token":"b"},', b'[{"token":"b"},{"token":"c"},'),
}
OTHER_SHAPE = {
    "no bytes": ENTRIES.replace(b"[97,98]", b"[]"),
    "null": ENTRIES.replace(b"[97,98]", b"null"),
    "a float": ENTRIES.replace(b"[97,98]", b"[97,98.5]"),
    "leading zero": ENTRIES.replace(b"[97,98]", b"[097,98]"),
    "comma": ENTRIES.replace(b"[97,98]", b"[97,98,]"),
    "string": ENTRIES.replace(b"-1.5", b'"-1.5"'),
    "NaN": ENTRIES.replace(b"-1.5", b"NaN"),
    "Infinity": ENTRIES.replace(b"-1.5", b"-Infinity"),
    "overflow": ENTRIES.replace(b"-1.5", b"-1e999"),
    "dot": ENTRIES.replace(b"-1.5", b"-1."),
    "no digit": ENTRIES.replace(b"-1.5", b"-.5"),
    "large": ENTRIES.replace(b"-1.5", b"-" + b"1" * 19),
    "surrogate": ENTRIES.replace(b'"token":"a"', b'"token":"\\ud83d"'),
    "upper surrogate": ENTRIES.replace(b'"token":"a"', b'"token":"\\uD83D\\uDE00"'),
    "control": ENTRIES.replace(b'"token":"a"', b'"token":"\x01"'),
    "key": ENTRIES.replace(b'"logprob"', b'"log_prob"'),
    "key more": ENTRIES.replace(b'"bytes"', b'"x":1,"bytes"'),
    "key twice": ENTRIES.replace(b'"bytes"', b'"token":"x","bytes"'),
    "two entries": ENTRIES.replace(b'"content":[', b'"content":[{"token":"z"},'),
}


@pytest.mark.parametrize("data", SAME_SHAPE.values(), ids=SAME_SHAPE)
def test_an_entry_of_the_same_shape_matches(data):
    """Strings, numbers and the number of entries of an array may differ."""
    assert data != ENTRIES
    assert learned(ENTRIES).fullmatch(data)
    assert json.loads(learned(ENTRIES).match(data)[2])
    rebuilt_alike([ENTRIES * 3 + data * 3])
    read_alike([ENTRIES * 3 + data * 3])


@pytest.mark.parametrize("data", OTHER_SHAPE.values(), ids=OTHER_SHAPE)
def test_an_entry_of_another_shape_does_not_match(data):
    """What the decoder would have to mend is of another shape as well."""
    assert data != ENTRIES
    assert learned(ENTRIES).match(data) is None
    rebuilt_alike([ENTRIES * 3 + data + ENTRIES * 2])
    read_alike([ENTRIES * 3 + data + ENTRIES * 2])


@pytest.mark.parametrize(
    "entry",
    [
        b"{}",
        b"{ }",
        b'{"a": [1, 2], "b": {"c": true}}',
        b'{"a":[[1,2],[3]]}',
        b'{"a":[],"b":[false,null],"c":["x","y"]}',
        b'{"a":[1.5,2],"b":-3e+10}',
        b'{"\xc3\xa9":"\\u00e9"}',
    ],
    ids=repr,
)
def test_shapes(entry):
    """Any entry whose arrays are of like entries has a shape that it matches itself."""
    data = ENTRIES.replace(json.dumps(ENTRY, separators=(",", ":")).encode(), entry)
    assert learned(data).match(data)[2] == entry


@pytest.mark.parametrize(
    "entry",
    [
        b'{"a":[1,"x"]}',
        b'{"a":[{"b":1},{"c":1}]}',
        b'{"a":[1, 2 ,3]}',
        b'{"a":[ 1]}',
        b'{"a":[1 ]}',
        b'{"a" :1}',
        b'{"a":1 }',
        b'{"a":\t1}',
        b'{\t"a":1}',
        b'{"a":1e100}',
        b'{"a":"\\ud83d"}',
        b'{"a":NaN}',
    ],
    ids=repr,
)
def test_entries_without_a_shape(entry):
    """Where the entries differ, or the blanks are odd, the slow road it is."""
    data = ENTRIES.replace(json.dumps(ENTRY, separators=(",", ":")).encode(), entry)
    assert learned(data) is None


# -- Raw rows of legacy completions ---------------------------------------------------

ROWS = event(write("t", logprobs={**rows(), "top_logprobs": [{"a": -1.5, "b": -2}]}))
SAME_ROWS = {
    "token": ROWS.replace(b'["a"]', b'["\\n\xc3\xa9\\u00e9"]'),
    "null": ROWS.replace(b'["a"]', b"[null]"),
    "number": ROWS.replace(b"[-0.5]", b"[-9999.0]"),
    "integer": ROWS.replace(b"[-0.5]", b"[0]"),
    "small": ROWS.replace(b"[-0.5]", b"[-1.5e-07]"),
    "no number": ROWS.replace(b"[-0.5]", b"[null]"),
    "offset": ROWS.replace(b'"text_offset":[0]', b'"text_offset":[123]'),
    "other names": ROWS.replace(b'"a":-1.5,"b"', b'"\\n":-1.5,"\xf0\x9f\x99\x82"'),
    "fewer": ROWS.replace(b'"a":-1.5,', b""),
    "none": ROWS.replace(b'{"a":-1.5,"b":-2}', b"{}"),
    "no object": ROWS.replace(b'{"a":-1.5,"b":-2}', b"null"),
    "blanks": ROWS.replace(b'"a":-1.5,"b":-2', b'"a": -1.5, "b":-2'),
    "a name twice": ROWS.replace(b'"b"', b'"a"'),
    "a name twice, otherwise": ROWS.replace(b'"b"', b'"\\u0061"'),
}
OTHER_ROWS = {
    "two tokens": ROWS.replace(b'["a"]', b'["a","b"]'),
    "two of each": event(write("t", logprobs=rows(2))),
    "no token": ROWS.replace(b'["a"]', b"[]"),
    "tokens are null": ROWS.replace(b'["a"]', b"null"),
    "token is a number": ROWS.replace(b'["a"]', b"[5]"),
    "token is true": ROWS.replace(b'["a"]', b"[true]"),
    "token is a list": ROWS.replace(b'["a"]', b'[["a"]]'),
    "token is an object": ROWS.replace(b'["a"]', b'[{"a":1}]'),
    "comma": ROWS.replace(b'["a"]', b'["a",]'),
    "comma in front": ROWS.replace(b'["a"]', b'[,"a"]'),
    "blank": ROWS.replace(b'["a"]', b'[ "a"]'),
    "control character": ROWS.replace(b'["a"]', b'["\x01"]'),
    "surrogate": ROWS.replace(b'["a"]', b'["\\ud83d"]'),
    "open string": ROWS.replace(b'["a"]', b'["a]'),
    "NaN": ROWS.replace(b"[-0.5]", b"[NaN]"),
    "Infinity": ROWS.replace(b"[-0.5]", b"[-Infinity]"),
    "overflow": ROWS.replace(b"[-0.5]", b"[-1e999]"),
    "leading zero": ROWS.replace(b"[-0.5]", b"[-00.5]"),
    "large": ROWS.replace(b"[-0.5]", b"[" + b"1" * 19 + b"]"),
    "offset is null": ROWS.replace(b'"text_offset":[0]', b'"text_offset":[null]'),
    "offset is negative": ROWS.replace(b'"text_offset":[0]', b'"text_offset":[-1]'),
    "offset is a float": ROWS.replace(b'"text_offset":[0]', b'"text_offset":[0.5]'),
    "offset is a string": ROWS.replace(b'"text_offset":[0]', b'"text_offset":["0"]'),
    "more names": ROWS.replace(b'"b":-2', b'"b":-2,"c":-3'),
    "name is a number": ROWS.replace(b'"b"', b"5"),
    "name is half a pair": ROWS.replace(b'"b"', b'"\\ude00"'),
    "value is null": ROWS.replace(b'"b":-2', b'"b":null'),
    "value is a string": ROWS.replace(b'"b":-2', b'"b":"-2"'),
    "values are nested": ROWS.replace(b'"b":-2', b'"b":{}'),
    "colon": ROWS.replace(b'"b":-2', b'"b" :-2'),
    "no colon": ROWS.replace(b'"b":-2', b'"b"-2'),
    "comma in an object": ROWS.replace(b'"b":-2', b'"b":-2,'),
    "blank in an object": ROWS.replace(b'"b":-2', b'"b":-2 '),
    "open object": ROWS.replace(b'"b":-2}', b'"b":-2'),
    "list missing": ROWS.replace(b'"token_logprobs":[-0.5],', b""),
    "list more": ROWS.replace(b'"token_logprobs"', b'"x":[1],"token_logprobs"'),
    "list twice": ROWS.replace(b'"token_logprobs"', b'"tokens":["x"],"token_logprobs"'),
    "another order": ROWS.replace(b'"tokens":["a"],', b"").replace(
        b'"text_offset"', b'"tokens":["a"],"text_offset"'
    ),
}


@pytest.mark.parametrize("data", SAME_ROWS.values(), ids=SAME_ROWS)
def test_rows_of_the_same_kind_match(data):
    """Names and their number may differ: an alternative is a token."""
    assert data != ROWS
    template = learned(ROWS)
    groups = template.match(data).groups()
    for hole, raw in zip(template.holes[1:], groups[1:], strict=True):
        assert json.loads(b"[" + raw + b"]") == sent(data)[hole.path[-1]]
    for ending in (data, ROWS):
        rebuilt_alike([ROWS * 3 + data * 3 + ending * 2])
        read_alike([ROWS * 3 + data * 3 + ending * 2])


def sent(data):
    return json.loads(data[len("data: ") :])["choices"][0]["logprobs"]


@pytest.mark.parametrize("data", OTHER_ROWS.values(), ids=OTHER_ROWS)
def test_rows_of_another_kind_do_not_match(data):
    """What the decoder would mend, what is not in step, and what is deeper or wider."""
    assert data != ROWS
    assert learned(ROWS).match(data) is None
    for rest in (ROWS, data):
        rebuilt_alike([ROWS * 3 + data * 2 + rest * 2])
        read_alike([ROWS * 3 + data * 2 + rest * 2])


def test_rows_learned_from_an_event_with_odd_names():
    """Names of alternatives are no part of a path."""
    data = ROWS.replace(b'"a":-1.5,"b"', b'"\\n":-1.5,"\\u0061"')
    assert learned(data).fullmatch(data)
    twice = data.replace(b'"\\n"', b'"a"')
    assert learned(twice) is None
    for pieces in ([data * 5, twice * 5], [twice * 5, data * 5]):
        rebuilt_alike(pieces)
        read_alike(pieces)


@pytest.mark.parametrize("bound", [2, 3])
def test_the_bound_on_keys(bound):
    """An object may have no more names than the learned one had, which did not cross the bound."""
    more = ROWS.replace(b'"b":-2', b'"b":-2,"c":-3,"d":-4,"e":-5,"f":-6')
    limits = Limits(keys=7)
    wider = more.replace(b'"f":-6', b'"f":-6,"g":-7,"h":-8')
    for pieces in ([ROWS] * bound + [more] * bound, [more] * bound + [wider] * bound + [ROWS]):
        rebuilt_alike(pieces, limits=limits)
        rebuilt_alike([b"".join(pieces)], limits=limits)


def test_the_bound_on_depth():
    """Where none of the learned lists held an object, none that matches does."""
    flat = ROWS.replace(b'{"a":-1.5,"b":-2}', b"null")
    for depth in (4, 5, 6, 7, 8):
        for pieces in ([flat, flat, ROWS, flat], [ROWS, ROWS, flat, ROWS]):
            rebuilt_alike(pieces, limits=Limits(depth=depth))
            read_alike(pieces, limits=Limits(depth=depth))


# -- What is literal adds nothing ----------------------------------------------------

NAMES = st.sampled_from(["a", "b", "usage", "index", "type"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", "null", "b"]),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(NAMES, each, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("rule", sorted(STILL, key=lambda rule: rule.name), ids=lambda it: it.name)
@given(before=st.lists(JSON, max_size=2), value=JSON)
def test_the_same_value_again_adds_nothing(rule, before, value):
    """Each rule in STILL, applied twice, equals once, unless it reports something."""
    context = Context(IssueLog(), Limits())
    state = {}

    def apply(each):
        if each is not None and not (is_empty(each) and state.get("x") is not None):
            APPLY[rule](state, "x", each, context)
        return json.dumps(plain_values(state, context)), context.log.counts.total()

    for each in before:
        apply(each)
    reported = context.log.counts.total()
    once = apply(value)
    if once[1] == reported:
        assert apply(value) == once


def test_the_other_rules_are_not_still():
    """Each rule that is missing in STILL has a value that adds something when it comes again."""
    values = {
        Rule.CONCAT: "a",
        Rule.EXTEND: [1],
        Rule.BY_INDEX: [1],
        Rule.COLLECT: 1,
        Rule.LOGPROBS: {"content": [{}]},
        Rule.CONTENT: "a",
        Rule.TOOL_CALLS: [{"index": 0, "function": {"arguments": "a"}}],
        Rule.FUNCTION_CALL: {"arguments": "a"},
        Rule.AUDIO: {"transcript": "a"},
        Rule.REASONING_DETAILS: [{"index": 0, "text": "a"}],
    }
    assert STILL.isdisjoint(values)
    assert STILL | values.keys() == set(Rule)
    for rule, value in values.items():
        context, state, told = Context(IssueLog(), attrs.evolve(Limits())), {}, []
        for _ in range(2):
            APPLY[rule](state, "x", value, context)
            told.append(repr(plain_values(state, context)))
        assert told[0] != told[1], rule
