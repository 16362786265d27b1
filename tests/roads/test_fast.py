"""What stands in the holes goes where the slow road would have put it."""

from __future__ import annotations

import json

from functools import partial

import pytest

from streamkit import Accumulator, Limits, Rule, to_dict
from streamkit._fast import (
    LogprobSink,
    NumberSink,
    OffsetsSink,
    TextSink,
    apply_run,
    bind,
)
from streamkit._learn import learn
from streamkit._logprobs import Logprobs
from streamkit._rules import RULES
from streamkit._state import Text

from .helpers import event, events, logprobs, rebuilt_alike, rows, rows_of, say, tool, write
from .streams import by_the_rules, described


def bound(first, *, many=False, limits=Limits(), kind=None):
    """Return an accumulator that has *first*, the template of it, and its sinks by index."""
    accumulator = Accumulator(kind, limits=limits)
    accumulator.add(first)
    rules = RULES[kind or "chat"]
    template = learn(event(first), first, rules, many=many, still=True)
    sinks = {index: bind(template, accumulator, index) for index in accumulator.choices}
    return accumulator, template, sinks


def run_of(first, rest, **options):
    """Merge *rest* as a run behind *first*; return the accumulator, and whether it was done."""
    accumulator, template, sinks = bound(first, **options)
    rows = rows_of(template, events(rest))
    assert len(rows) == len(rest)
    return accumulator, apply_run(template, rows, sinks, 0, accumulator.context)


def one_by_one(chunks, **options):
    accumulator = by_the_rules(Accumulator(**options))
    for chunk in chunks:
        accumulator.add(chunk)
    return accumulator


RUNS = {
    "text": (say("a"), [say("b"), say("\\é"), say(""), say("😀"), say('"\n')]),
    "halves": (say("a"), [say("\ud83d"), say("\ude00"), say("\ud83d"), say("x")]),
    "nothing": (say("a"), []),
    "two texts": (say("a", reasoning="b"), [say("c", reasoning="d"), say("", reasoning="é")]),
    "skipped": (say("a", top={"p": "x"}), [say("b", top={"p": "yy"}), say("c", top={"p": ""})]),
    "no hole": (say(None), [say(None), say(None)]),
    "arguments": (tool(""), [tool('{"a"'), tool(":"), tool("1}")]),
    "numbers": (write(token=5), [write("b", token=6), write("c", token=0)]),
    "logprobs": (
        say("a", choice={"logprobs": logprobs()}),
        [say("b", choice={"logprobs": logprobs("é", -0.25)})],
    ),
    "rows": (
        write(logprobs=rows()),
        [write("b", logprobs={**rows(at=n), "tokens": ["é"]}) for n in (0, 0, 7)],
    ),
    "several rows": (
        write(logprobs=rows(3)),
        [write("b", logprobs={**rows(3, at=n), "top_logprobs": [None] * 3}) for n in (3, 9, 12)],
    ),
}


@pytest.mark.parametrize(("first", "rest"), RUNS.values(), ids=RUNS)
def test_a_run_is_its_chunks_one_by_one(first, rest):
    """The response, and how much text is counted."""
    kind = "completion" if "text" in first["choices"][0] else None
    accumulator, done = run_of(first, rest, kind=kind)
    expected = one_by_one([first, *rest], kind=kind)
    assert done
    assert accumulator.context.text == expected.context.text
    accumulator.count_run(len(rest), len(rest))
    assert described(accumulator.finish()) == described(expected.finish())


def test_choices_that_interleave():
    """Rows go to the choice that their index names."""
    accumulator = one_by_one([say("", index) for index in (0, 7)])
    first = say("", 7)
    template = learn(event(first), first, RULES["chat"], many=True, still=True)
    sinks = {index: bind(template, accumulator, index) for index in (0, 7)}
    rest = [say(text, index) for text, index in zip("abcdef", (7, 0, 0, 7, 7, 0), strict=True)]
    rows = rows_of(template, events(rest))
    assert apply_run(template, rows, sinks, 0, accumulator.context)
    choices = to_dict(accumulator.snapshot())["choices"]
    assert [choice["message"]["content"] for choice in choices] == ["bcf", "ade"]
    rows = rows_of(template, [event(say("x", 0)), event(say("y", 3))])
    assert not apply_run(template, rows, sinks, 0, accumulator.context)
    assert to_dict(accumulator.snapshot())["choices"] == choices


def test_interleaving_choices_without_text():
    """A template whose only hole is the index counts chunks, and adds nothing."""
    accumulator = one_by_one([say(None, index) for index in (0, 1)])
    first = say(None, 1)
    template = learn(event(first), first, RULES["chat"], many=True, still=True)
    sinks = {index: bind(template, accumulator, index) for index in (0, 1)}
    rows = rows_of(template, [event(say(None, 0)), event(say(None, 1))])
    assert apply_run(template, rows, sinks, 0, accumulator.context)


def test_a_choice_that_is_not_known_is_not_taken_for_another():
    """Choice 0 is written `0`, which is the byte 48."""
    pieces = [event(say(None, index)) for index in (48, 47, 48, 0)]
    rebuilt_alike([b"".join(pieces)])


@pytest.mark.parametrize("text", [3, 4], ids=["too much", "just enough"])
def test_a_run_that_crosses_the_bound_on_text_changes_nothing(text):
    """It is left to the slow road, which stops at the right event."""
    first, rest = say("a"), [say("b"), say("cd")]
    accumulator, done = run_of(first, rest, limits=Limits(text=text))
    assert done is (text == 4)
    assert accumulator.context.text == (4 if done else 1)
    assert accumulator.snapshot().choices[0].message.content == ("abcd" if done else "a")


@pytest.mark.parametrize(("bound_", "expected"), [(2, False), (3, True), (None, True)])
def test_the_bound_on_log_probabilities(bound_, expected):
    """Likewise."""
    with_one = [say("a", choice={"logprobs": logprobs()}) for _ in range(3)]
    _, done = run_of(with_one[0], with_one[1:], limits=Limits(logprobs=bound_))
    assert done is expected


def test_what_is_no_utf_8_changes_nothing():
    """Not even the texts beside it, in the same run."""
    accumulator, template, sinks = bound(say("a", x="b"))
    data = [event(say("c", x="d")), event(say("c", x="@@")).replace(b"@@", b"\xff")]
    rows = rows_of(template, data)
    assert len(rows) == 2
    assert not apply_run(template, rows, sinks, 0, accumulator.context)
    assert accumulator.snapshot().choices[0].message.content == "a"


# -- Sinks ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "content", "size"),
    [
        ([], "", 0),
        ([b"a", b"b"], "ab", 2),
        ([b"\xc3\xa9", b"\\n"], "é\n", 2),
        ([b"\\\\", b"u0041"], "\\u0041", 6),
        ([b"\\u0041\\n", b"b"], "A\nb", 3),
        ([b"\\ud83d\\ude00"], "😀", 1),
        ([b"\\ud83d", b"\\ude00"], "\ud83d\ude00", 2),
    ],
    ids=repr,
)
def test_text_sink(column, content, size):
    """Pieces are decoded one by one only where halves of a pair may be counted."""
    prepared = TextSink(Text()).prepare(column)
    assert (prepared.content, prepared.size) == (content, size)


@pytest.mark.parametrize("column", [[b"\xff"], [b"\\u0041", b"\xff"], [b"\xed\xa0\x80"]], ids=repr)
def test_text_sink_of_no_utf_8(column):
    """It goes the slow road."""
    assert TextSink(Text()).prepare(column) is None


def test_number_sink():
    """Numbers are decoded, and not added before `add`."""
    numbers = [1]
    prepared = NumberSink(numbers).prepare((b"2", b"0"))
    assert numbers == [1]
    prepared.add(prepared.content)
    assert numbers == [1, 2, 0]


def test_logprob_sink():
    """Entries are kept raw; those that are no UTF-8 go the slow road."""
    kept = Logprobs()
    sink = LogprobSink(kept, 2, kept.extend_raw)
    assert sink.prepare([b'{"token":"\xff"}']) is None
    assert sink.prepare([b"{}"] * 3) is None
    prepared = sink.prepare([b"{}"] * 2)
    assert kept.count == 0
    prepared.add(prepared.content)
    assert kept.count == 2
    assert sink.prepare([b"{}"]) is None


def legacy(**lists):
    kept = Logprobs()
    kept.add(lists, Accumulator().context)
    return kept


def test_logprob_sink_of_a_column():
    """Likewise; the bound is on entries, not on events."""
    kept = legacy(tokens=["a", "b"])
    sink = LogprobSink(kept, 6, partial(kept.extend_column, name="tokens"), 2)
    assert sink.prepare([b'"\xff","b"']) is None
    assert sink.prepare([b'"\xc3"', b'"\xa9"']) is None
    assert sink.prepare([b'"\xc3', b'\xa9"']) is None
    assert sink.prepare([b"1,2"] * 3) is None
    prepared = sink.prepare([b'"\xc3\xa9","d"', b"1,2"])
    assert kept.count == 2
    prepared.add(prepared.content)
    assert kept.count == 6
    assert kept.value(Accumulator().context) == {"tokens": ["a", "b", "é", "d", 1, 2]}


@pytest.mark.parametrize(
    ("earlier", "column", "expected"),
    [
        ([3], [b"3", b"4"], True),
        ([3], [b"3", b"5", b"4"], False),
        ([3], [b"2"], False),
        ([3], [b"4, 5", b"5,6"], True),
        ([3], [b"4,3"], False),
        ([3.5], [b"3"], False),
        ([None], [b"0"], True),
        (["9"], [b"0"], True),
        ([4, 3], [b"1"], True),
    ],
    ids=repr,
)
def test_offsets_sink(earlier, column, expected):
    """A step back goes the slow road, unless one was reported already."""
    kept = legacy(text_offset=earlier)
    prepared = OffsetsSink(kept, None).prepare(column)
    assert (prepared is not None) is expected
    if prepared is not None:
        prepared.add(prepared.content)
        assert kept.count > len(earlier)


def test_offsets_sink_at_the_bound():
    """It is left to the slow road."""
    assert OffsetsSink(legacy(text_offset=[1]), 2).prepare([b"2", b"3"]) is None


@pytest.mark.parametrize(
    ("earlier", "chunk"),
    [
        (write(logprobs=None), write(logprobs=rows())),
        (write(logprobs={"tokens": ["a"]}), write(logprobs=rows())),
        (write(logprobs={**rows(2), "tokens": ["a"]}), write(logprobs=rows())),
        (say(None), say("a")),
        (say(["a"]), say("a")),
        (say(None), say(None, choice={"logprobs": logprobs()})),
        (say(None), write(token=5)),
        (say(None), tool("a")),
        (say(None), say("a", 1)),
    ],
    ids=[
        "no rows",
        "no such rows",
        "short rows",
        "no text",
        "parts",
        "no logprobs",
        "no numbers",
        "no call",
        "no choice",
    ],
)
def test_a_template_without_a_place_is_not_bound(earlier, chunk):
    """The slow road makes the place."""
    accumulator = one_by_one([earlier])
    template = learn(event(chunk), chunk, RULES["completion"], many=False, still=True)
    assert bind(template, accumulator, chunk["choices"][0]["index"]) is None


def test_an_index_alone_binds():
    """There is a place for nothing."""
    chunk = say(None)
    template = learn(event(chunk), chunk, RULES["chat"], many=True, still=True)
    assert bind(template, one_by_one([chunk]), 0) == []


# -- Log probabilities, read ---------------------------------------------------------


@pytest.mark.parametrize("backend", ["json", "orjson", "msgspec"])
def test_raw_log_probabilities_are_read_as_the_slow_road_reads_them(backend):
    """Floats, minus zero, exponents and escapes, with each library."""
    if backend != "json":
        pytest.importorskip(backend)
    numbers = ["-1.5", "0", "-0", "-0.0", "1e5", "1E-7", "123456789012345678", "0.1", "9.99e99"]
    first = event(say("a", choice={"logprobs": logprobs()}))
    data = b"".join(first.replace(b"-1.5", number.encode()) for number in ["-1.5", *numbers])
    data += first.replace(b'"token":"a"', b'"token":"\\u00e9\xc3\xa9\\n"') * 2
    (told,) = rebuilt_alike([data], json=backend)
    entries = told["response"]["choices"][0]["logprobs"]["content"]
    assert len(entries) == len(numbers) + 3
    assert [repr(entry["logprob"]) for entry in entries[1:-2]] == [
        repr(json.loads(number)) for number in numbers
    ]


# -- A caller's rules ----------------------------------------------------------------

LEVELS = {
    "top": ("x", lambda value: {"top": {"x": value}}),
    "choice": ("choices.x", lambda value: {"choice": {"x": value}}),
    "delta": ("choices.delta.x", lambda value: {"x": value}),
}
VALUES = {
    "string": ["a", "b", "c", "c"],
    "number": [1, 2, 3, 3],
    "list": [[1], [2], [3], [3]],
    "object": [{"a": 1}, {"a": 2}, {"b": {"c": 1}}, {"b": {"c": 1}}],
    "logprobs": [logprobs(token) for token in "abcc"],
    "calls": [
        [{"index": 0, "id": "call_1", "function": {"name": "f", "arguments": ""}}],
        *([{"index": 0, "function": {"arguments": piece}}] for piece in "abc"),
    ],
}


@pytest.mark.parametrize("rule", list(Rule), ids=lambda rule: rule.name)
@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("level", LEVELS)
def test_a_callers_rules(level, name, rule):
    """Whatever the rule, at whatever level, for whatever values."""
    path, fields = LEVELS[level]
    pieces = []
    for value in VALUES[name]:
        made = fields(value)
        made.setdefault("choice", {})["logprobs"] = logprobs()
        pieces.append(event(say("t", **made)))
    for way in (pieces, [b"".join(pieces)]):
        rebuilt_alike(way, rules={path: rule})
