"""`assert_rebuilds`: what it takes, and what it says."""

from __future__ import annotations

import json

import pytest

from streamkit import Outcome, rebuild, to_dict
from streamkit.testing import Playback, assert_rebuilds

from .streams import CHUNKS, RESPONSE, TEXT, chunk


STREAM = Playback.from_chunks(CHUNKS)
EXPECTED = rebuild(STREAM.data).response


def said(*arguments, **options):
    """Return the lines of the failure."""
    with pytest.raises(AssertionError) as failure:
        assert_rebuilds(*arguments, **options)
    first, *lines = str(failure.value).split("\n")
    assert first == "the stream does not rebuild to what was expected"
    return [line[2:] for line in lines]


@pytest.mark.parametrize(
    "source", [STREAM.data, STREAM, CHUNKS, [STREAM.data], STREAM.outcome], ids=type
)
@pytest.mark.parametrize("expected", [EXPECTED, TEXT], ids=type)
def test_same(source, expected):
    """Nothing is said, and the outcome is returned."""
    outcome = assert_rebuilds(source, expected)
    assert isinstance(outcome, Outcome)
    assert outcome.response == EXPECTED


def test_null_is_absent():
    """On both sides, at any depth."""
    expected = json.loads(json.dumps(RESPONSE))
    del expected["choices"][0]["logprobs"]
    expected["choices"][0]["message"]["tool_calls"] = None
    expected["usage"] = None
    assert_rebuilds(json.dumps(RESPONSE), expected)


def test_choices_by_index():
    """Their order in the list means nothing."""
    chunks = [chunk("a", index=1, finish="stop"), chunk("b", index=0, finish="stop")]
    response = rebuild(chunks).response
    expected = to_dict(response)
    expected["choices"].reverse()
    assert_rebuilds(chunks, expected)
    expected["choices"][0]["message"]["content"] = "c"
    assert said(chunks, expected)[0] == "choices[1].message.content, from character 0 on"


def test_odd_expectations():
    """Choices of one index, or without, or none at all: compared as they stand."""
    twice = {"choices": [{"index": 0, "x": 1}, {"index": 0, "x": 2}]}
    assert "choices" in "\n".join(said(CHUNKS, twice))
    assert said(CHUNKS, {"choices": [5]})
    assert said(CHUNKS, {"choices": 5})
    assert said(CHUNKS, [1])


def test_text():
    """Where it differs first, with what is around it."""
    assert said(STREAM, TEXT.replace("five", "fife")) == [
        "choices[0].message.content, from character 22 on",
        "  expected: ' one two three four fife six seven eight nine ten'",
        "  got:      ' one two three four five six seven eight nine ten'",
    ]


def test_long_text():
    """Only a part of it is shown."""
    chunks = [chunk("a" * 1000 + "b" + "c" * 1000, finish="stop")]
    lines = said(chunks, "a" * 1000 + "x" + "c" * 1000)
    assert lines[0] == "choices[0].message.content, from character 1000 on"
    assert lines[1] == f"  expected: …'{'a' * 24}x{'c' * 47}'…"


def test_text_is_escaped():
    """What a stream has cannot drive the terminal of who reads the failure."""
    lines = said([chunk("\x1b[31m\u202e", finish="stop")], "red")
    assert lines[2] == r"  got:      '\x1b[31m\u202e'"


def test_text_of_a_completion():
    """It has no message."""
    chunks = [
        {
            "object": "text_completion",
            "choices": [{"index": 0, "text": "a", "finish_reason": "stop"}],
        }
    ]
    assert_rebuilds(chunks, "a")
    assert said(chunks, "b")[0] == "choices[0].text, from character 0 on"


def test_text_of_no_choice():
    """There is none of index 0, or no response."""
    assert said([chunk("a", index=1, finish="stop")], "a")[0] == "choices[0]"
    assert said(b"", "a", complete=None) == ["choices[0]", "  expected: 'a'", "  got:      nothing"]


def test_text_that_is_null():
    """It is no text."""
    lines = said([chunk(None, finish="stop")], "a")
    assert lines == ["choices[0].message.content", "  expected: 'a'", "  got:      None"]


def test_no_response():
    """None is what is expected then."""
    assert_rebuilds(b"", None, complete=False)
    assert said(STREAM, None)[0] == "response"
    assert said(b"", EXPECTED, complete=None)[0] == "response"


def test_complete():
    """It is asked for, unless told otherwise; why it is not is said."""
    cut = Playback.from_chunks(CHUNKS[:-1]).data.replace(b"data: [DONE]\n\n", b"")
    assert said(cut, TEXT) == [
        "complete, expected: True",
        "          got:      False",
        *[f"          {issue.code}: {issue.message}" for issue in rebuild(cut).issues],
    ]
    assert "finish_missing" in said(cut, TEXT)[2]
    assert_rebuilds(cut, TEXT, complete=False)
    assert_rebuilds(cut, TEXT, complete=None)
    assert said(STREAM, TEXT, complete=False)[1] == "          got:      True"


def test_error_of_the_stream():
    """It is the first reason."""
    lines = said([*CHUNKS[:1], {"error": {"message": "busy"}}], " one")
    assert lines[2] == "          upstream_error: the server sent an error: 'busy'"


def test_issues():
    """Exactly these, or none, or any."""
    glued = STREAM.data.replace(b"\n\n", b"\n", 1)
    codes = {*rebuild(glued).issue_counts}
    assert codes
    assert_rebuilds(glued, TEXT)
    assert_rebuilds(glued, TEXT, issues=codes)
    assert_rebuilds(STREAM, TEXT, issues=())
    assert said(glued, TEXT, issues=()) == [
        "issues, expected: none",
        f"        got:      {', '.join(sorted(codes))}",
    ]
    assert said(STREAM, TEXT, issues={"b", "a"})[0] == "issues, expected: a, b"


def test_many_differences():
    """The first twenty, and how many more there are."""
    expected = {**{f"x{number}": number for number in range(50)}, "choices": []}
    lines = said(STREAM, expected)
    assert len([line for line in lines if line.startswith("x")]) <= 20
    assert lines[-1].startswith("… and ")


def test_true_is_not_one():
    """Values are compared as JSON."""
    expected = {**RESPONSE, "created": True}
    assert said(json.dumps({**RESPONSE, "created": 1}), expected) == [
        "created",
        "  expected: True",
        "  got:      1",
    ]
