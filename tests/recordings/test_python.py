"""Python text: dicts, SDK objects, bytes, read and never run."""

from __future__ import annotations

import json
import pprint
import warnings

import pytest

from streamkit import rebuild_all
from streamkit.recordings._python import FORMS
from streamkit.recordings._python_value import LONGEST, NoValue, data_of, parse_value

from .samples import BODY, CHUNKS, EVENTS, LINES, TEXT, joined, misses, read, texts


(PYTHON,) = FORMS


def sdk(content, finish=None):
    delta = f"ChoiceDelta(content={content!r}, role=None, tool_calls=None)"
    choice = f"Choice(delta={delta}, finish_reason={finish!r}, index=0, logprobs=None)"
    return (
        f"ChatCompletionChunk(id='chatcmpl-1', choices=[{choice}], created=1790000000, "
        f"model='m-1', object='chat.completion.chunk', usage=None)"
    )


SDK = [sdk("Hel. "), sdk("lo"), sdk(None, "stop")]
RECORDINGS = {
    "dict lines": "\n".join(map(repr, CHUNKS)),
    "a list of dicts": repr(CHUNKS),
    "a tuple of dicts": repr(tuple(CHUNKS)),
    "pretty dicts": "\n".join(map(pprint.pformat, CHUNKS)),
    "a pretty list": pprint.pformat(CHUNKS),
    "sdk lines": "\n".join(SDK),
    "a list of sdk objects": "[" + ", ".join(SDK) + "]",
    "black's sdk objects": "\n".join(SDK).replace("(", "(\n    ").replace("[", "[\n    "),
    "enumerations": "\n".join(SDK).replace("finish_reason='stop'", "finish_reason=<R.s: 'stop'>"),
    "other names": "\n".join(SDK).replace("ChatCompletionChunk", "litellm.ModelResponseStream"),
    "prose between": "Starting\n" + "\n\nnext\n".join(SDK) + "\nDone.\n",
    "bytes events": "\n".join(map(repr, EVENTS)),
    "bytes lines": "\n".join(map(repr, LINES)),
    "bytes reads": "\n".join(repr(BODY[at : at + 100]) for at in range(0, len(BODY), 100)),
    "a list of bytes": repr(EVENTS),
    "string lines": "\n".join(repr(line.decode()) for line in LINES),
    "string events": "\n".join(repr(each.decode()) for each in EVENTS),
    "double quotes": "\n".join(repr(each + b": it's\n\n") for each in EVENTS),
    "crlf": "\r\n".join(map(repr, CHUNKS)),
    "bytearrays": "\n".join(repr(bytearray(each)) for each in EVENTS),
    "ordered dicts": "\n".join(f"OrderedDict({each!r})" for each in CHUNKS),
    "older ordered dicts": "\n".join(f"OrderedDict({list(each.items())!r})" for each in CHUNKS),
    "strings of JSON": "\n".join(repr(json.dumps(each)) for each in CHUNKS),
    "a list of strings of JSON": repr([json.dumps(each) for each in CHUNKS]),
    "dicts as events": "".join(f"data: {each!r}\n\n" for each in CHUNKS),
    "objects as events": "".join(f"data: {each}\n\n" for each in SDK),
    "a shell": ">>> for each in stream:\n...     print(each)\n...\n" + "\n".join(map(repr, CHUNKS)),
    "a notebook": f"In [2]: chunks\nOut[2]: {CHUNKS!r}\n",
    "colours": "".join(f"\x1b[32m{each!r}\x1b[0m\n" for each in CHUNKS),
}


@misses(FORMS)
def test_near_misses(form, head):
    """Nothing that merely contains such text is taken for it."""
    assert form.looks(head) == 0


@pytest.mark.parametrize("name", RECORDINGS)
def test_recordings(name):
    """All ways of showing a stream give the stream."""
    data = RECORDINGS[name].encode()
    if name != "prose between":
        assert PYTHON.looks(data) == 85
    assert texts(PYTHON, data + b"\n") == [TEXT]
    assert texts(PYTHON, data) == [TEXT]
    ((recording, _),) = read(PYTHON, data)
    assert [note.code for note in recording.notes] == ["python_text"]


TIMED = [(0.5 * number, each) for number, each in enumerate(CHUNKS)]
DATES = ", ".join(
    f"{{'at': datetime.datetime(1970, 1, 1, 0, 0, {number}, tzinfo=datetime.timezone.utc), "
    f"'chunk': {each!r}}}"
    for number, each in enumerate(CHUNKS)
)


@pytest.mark.parametrize(
    ("data", "step"),
    [
        ("\n".join(map(repr, TIMED)), 0.5),
        (repr(TIMED), 0.5),
        ("\n".join(repr({"t": time, "chunk": each}) for time, each in TIMED), 0.5),
        ("\n".join(repr({"chunk": repr(each), "x": 1}) for _, each in TIMED), None),
        ("\n".join(repr({"elapsed_ms": t * 1e3, "data": e}) for t, e in TIMED), 0.5),
        (f"[{DATES}]", 1.0),
    ],
    ids=["pairs", "a list of pairs", "rows", "no row", "milliseconds", "dates"],
)
def test_times(data, step):
    """A row of a time and a chunk is that chunk, at that time."""
    ((_, pieces),) = read(PYTHON, data.encode())
    if step is None:  # a text of Python inside of one: not looked into
        assert all(piece.time is None for piece in pieces)
        return
    assert PYTHON.looks(data.encode()) == 85
    assert [piece.time for piece in pieces] == [step * number for number in range(len(CHUNKS))]
    assert texts(PYTHON, data.encode()) == [TEXT]


def test_json_text():
    """JSON's pairs of surrogates are one character, which in Python's text are two halves."""
    assert parse_value(b'"data: \\ud83c\\udf0d"') == "data: 🌍"
    assert parse_value(b'["\\ud83c\\udf0d"]') == ["🌍"]
    assert parse_value(b'"it\'s \\x41"') == "it's A"
    with pytest.raises(NoValue):
        parse_value(b'["",' + b"[" * 100_000)


def test_places():
    """A piece says in which line its value starts."""
    ((_, pieces),) = read(PYTHON, b"{'a':\n 1}\ntext\n{'b': 2}\n")
    assert [piece.place for piece in pieces] == ["line 1", "line 3", "line 4"]
    assert joined(pieces) == b'{"a":1}\ntext\n{"b":2}\n'


@pytest.mark.parametrize(
    "bad",
    [
        "{'choices': __import__('os').system('true')}",
        "{'choices': __import__('os')}",
        "{'choices': (lambda x: x)('a')}",
        "{'choices': [x for x in y]}",
        "{'choices': 1 + 1}",
        "{'choices': f'{1}'}",
        "{'choices': ...}",
        "{'choices': 1j}",
        "{'choices': -'a'}",
        "{'choices': ~1}",
        "{'choices': {1, 2}}",
        "{**{}, 'choices': 1}",
        "{'a': 1, 2: 3}",
        "X(id='x', **{'choices': 1})",
        "X('x', id='choices')",
        "X(1, 2, choices=3)",
        "{'choices': '\\d'}",
        "{'choices': [",
        "{'choices': '",
        "{'choices': 'a\nb'}",
        "{'choices': (" + "(" * 500 + ")" * 500 + ")}",
        "{'choices': " + "[" * 130 + "]" * 130 + "}",
        "{'choices': " + "-" * 100_000 + "1}",
        "{'choices': 0x" + "f" * 10_000 + "}",
        "{'choices': " + "9" * 10_000 + "}",
        "{'choices': '" + "x" * LONGEST + "'}",
        "{'choices': '\0'}",
        "{'choices': 1}}",
        "b'data: \\xzz'",
        "b'data: \\u00e9'",
        'b"data: \\N{DASH}"',
    ],
)
def test_what_cannot_be_read(bad):
    """What would have to be run, or is no value, is reported; the rest is read."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ((_, pieces),) = read(PYTHON, "\n".join([bad, *map(repr, CHUNKS)]).encode())
    (outcome,) = rebuild_all([piece.data for piece in pieces])
    assert outcome.response.choices[0].message.content == TEXT
    said = {"bad_json", "bad_type", "too_deep", "unframed_text"}
    assert said & outcome.issue_counts.keys()
    assert all(len(issue.message) < 400 for issue in outcome.issues)


def test_cut_at_the_end():
    """A last value that is cut is reported."""
    ((_, pieces),) = read(PYTHON, "\n".join(map(repr, CHUNKS)).encode()[:-40])
    (outcome,) = rebuild_all([piece.data for piece in pieces])
    assert not outcome.complete
    assert outcome.issue_counts["bad_json"] == 1


def test_never_ending_value():
    """A value that never ends is given up when it is too long, and lines after it are read."""
    data = b"{'a': [\n" + b" 'x' * 100,\n" * 100_000 + b"{'choices': 1}\n"
    ((_, pieces),) = read(PYTHON, data)
    assert b"cannot be read" in pieces[0].data
    assert pieces[-1].data == b'{"choices": 1}\n'


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "{'a': nan, 'b': -inf, 'c': 1e999, 'd': -1.5}",
            {"a": None, "b": None, "c": None, "d": -1.5},
        ),
        ("{'a': True, 'b': None, 'c': (1, 'x')}", {"a": True, "b": None, "c": [1, "x"]}),
        ("X(id=UUID('u'), when=Decimal('0.5'))", {"id": "u", "when": "0.5"}),
        ("X(r=<R.a: 1>, s='<R.a: 1>')", {"r": 1, "s": "1"}),
        ("X()", {}),
        ("datetime.datetime(2026, 11, 30, 4, 20, 3, 5)", "2026-11-30T04:20:03.000005"),
        ("datetime(2026, 11, 30, tzinfo=TzInfo.UTC)", "2026-11-30T00:00:00+00:00"),
        ("OrderedDict([('a', 1), ('b', [2])])", {"a": 1, "b": [2]}),
        ("OrderedDict({'a': 1})", {"a": 1}),
        (r"b'\\u00e9 \\'", rb"\u00e9 \\"[:-1]),
    ],
)
def test_values(text, value):
    """Values are those that the text shows; what no JSON can hold is null."""
    assert parse_value(text.encode()) == value


@pytest.mark.parametrize(
    "text",
    [
        "X(1, 2)",
        "X(1, a=2)",
        "x.y().z(1)",
        "_x(1)",
        "X(**a)",
        "1 2",
        "datetime(2026, 11)",
        "datetime(2026, 13, 1)",
        "datetime(2026, 1, 1, *a)",
        "datetime(2026, 1, 'x')",
        "datetime(2026, 1, 1, fold=1)",
        "datetime(2026, 1, 1, tzinfo=zone('Mars'))",
        "datetime(1, 2, 3, 4, 5, 6, 7, 8)",
        "dict(['ab'])",
        "dict([(1, 2)])",
        "dict([(1, 2, 3)])",
    ],
)
def test_calls(text):
    """Only the ways in which objects show themselves are taken for values."""
    with pytest.raises(NoValue):
        parse_value(text.encode())


def test_data():
    """A value gives bytes: its own, its items', or a line of JSON."""
    assert data_of({"a": b"\xff\xc3\xa9", "b": "é\ud83d"}) == [
        b'{"a":"\\ufffd\\u00e9","b":"\\u00e9\\ud83d"}\n'
    ]
    assert data_of(["x\ud83d", [b"y", {}]]) == [b"x?", b"y", b"{}\n"]
    for value in (1, None, [1], {"a": 1 << 100_000}):
        with pytest.raises(NoValue):
            data_of(value)


def test_halves_of_a_character():
    """A character whose halves came in two chunks is whole again."""
    halves = [r"{'choices': [{'index': 0, 'delta': {'content': '\ud83d'}}]}"]
    halves.append(halves[0].replace("d83d", "de00"))
    assert texts(PYTHON, "\n".join(halves).encode()) == ["\U0001f600"]


@pytest.mark.parametrize(
    "head", [b"{'a': 1}\n", b"X(y=1)\n", b"b'hello'\n", b"'hello'\n", b"'a: b', 'c'\n"]
)
def test_looks_without_a_chunk(head):
    """Python text without a chunk is not taken."""
    assert PYTHON.looks(head) == 0
