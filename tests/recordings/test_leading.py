"""Values of Python's with more behind them, in a log's lines and elsewhere."""

from __future__ import annotations

import json

import pytest

from streamkit.recordings import rebuild, sniff
from streamkit.recordings._leading import values_in
from streamkit.recordings._python_value import NoValue

from .making import CHUNKS, chunk, sse


TEXT = "It's \"{'x': 1}\" `y` \n é"
MADE = [chunk(role="assistant", content=TEXT), chunk(content="!", finish="stop")]
EVENTS = [*(sse(each, done=False) for each in MADE), "data: [DONE]\n\n"]


def shown(value):
    """Return *value* as a model of pydantic's shows itself."""
    if isinstance(value, dict):
        return "X(" + ", ".join(f"{key}={shown(item)}" for key, item in value.items()) + ")"
    return "[" + ", ".join(map(shown, value)) + "]" if isinstance(value, list) else repr(value)


def printed(value):
    """Return *value* as `print` shows such a model."""
    return " ".join(f"{key}={shown(item)}" for key, item in value.items())


def yaml_quoted(text):
    """Return *text* between YAML's marks, where a backslash is no escape."""
    return "'" + text.replace("'", "''") + "'"


LOGS = {
    "structlog": [f"2026-01-01T12:00:00Z [info ] read [app] chunk={e!r} n=1" for e in EVENTS],
    "bytes": [f"2026-01-01T12:00:00Z [info ] read [app] chunk={e.encode()!r} n=1" for e in EVENTS],
    "logfmt": [f"time=2026-01-01T12:00:00Z level=info data={json.dumps(e)} n=3" for e in EVENTS],
    "yaml": [f"- textPayload: {yaml_quoted(e.strip())}" for e in EVENTS],
    "json in quotes": [f"12:00:00 INFO chunk={json.dumps(json.dumps(each))} n=1" for each in MADE],
    "no time": [f"chunk={e!r}, size={len(e)}" for e in EVENTS],
    "dicts": [f"INFO chunk={each!r} n={{'a': 1}} 'b'" for each in MADE],
    "two dicts": ["12:00:00 INFO " + " ".join(map(repr, MADE)) + " x", "12:00:01 end"],
    "objects": [f"INFO chunk={shown(each)} n=1" for each in MADE],
    "models": [f"2026-01-01 12:00:00 INFO {printed(each)}" for each in MADE],
}


@pytest.mark.parametrize("name", LOGS)
def test_logs(name):
    """A logger's fields stand behind a chunk, or the event it came in: they are left out."""
    data = "".join(line + "\n" for line in LOGS[name]).encode()
    assert sniff(data).name == "prefixed"
    (outcome,) = rebuild(data)
    assert outcome.response.choices[0].message.content == TEXT + "!"
    assert outcome.chunks == 2
    assert not {"bad_json", "trailing_garbage", "not_a_chunk"} & outcome.issue_counts.keys()


def test_backticks():
    """A log may quote with them what stands there as it is."""
    (outcome,) = rebuild("".join(f"INFO read `{line}`\n" for line in sse(*CHUNKS).split("\n\n")))
    assert outcome.response.choices[0].message.content == "Hello"
    assert outcome.complete


def test_models():
    """What `print` shows of a model of pydantic's: fields, and no brackets around them."""
    data = "\n".join(map(printed, MADE)) + "\n"
    assert sniff(data.encode()).name == "python"
    (outcome,) = rebuild(data)
    assert outcome.response.choices[0].message.content == TEXT + "!"
    assert set(outcome.issue_counts) == {"python_text", "bare_json", "done_missing"}


def test_what_follows_a_value():
    """Further values are read, other text is reported."""
    one, two, three = map(repr, CHUNKS)
    (outcome,) = rebuild(f"{one} {two}\n{three} (said last)\n")
    assert outcome.response.choices[0].message.content == "Hello"
    assert outcome.issue_counts["bad_json"] == 1
    assert any("said last" in issue.message for issue in outcome.issues)


def test_javascript():
    """Literals that are none of Python's."""
    text = json.dumps(chunk(content="a\u00e9`", finish="stop"))[:-1]
    data = f"'data: {text}, \"x\": \"\\/\\u{{1F600}}\\$\"}}\\n\\n',\n'data: [DONE]\\n\\n'\n"
    assert sniff(data.encode()).name == "python"
    (outcome,) = rebuild(data)
    assert outcome.chunks == 1
    assert "bad_json" not in outcome.issue_counts


def test_values():
    """One behind another, and the rest."""
    assert values_in(b"'a', b'b' [1] X(y=2) z") == (["a", b"b", [1], {"y": 2}], b"z")
    assert values_in(rb'`{"a": "\\n"}`') == ([rb'{"a": "\\n"}'], b"")
    assert values_in(rb'`{"a": "\\n"}\n`') == ([b'{"a": "\\n"}\n'], b"")
    assert values_in(rb"'a\n'") == (["a\n"], b"")
    assert values_in(b"'it''s' 1") == ([b"it's"], b"1")
    assert values_in(b"{'a': 1} {'b': }") == ([{"a": 1}], b"{'b': }")
    assert values_in(b"id='a b=c' choices=[X(d='e f=g', h=1)]") == (
        [{"id": "a b=c", "choices": [{"d": "e f=g", "h": 1}]}],
        b"",
    )


@pytest.mark.parametrize("text", [b"", b"x", b"'a", b"{'a': 1", b"{'a': x}", b"id='a' b", b"`"])
def test_no_value(text):
    """Nothing is made of what shows none, or has no end."""
    with pytest.raises(NoValue):
        values_in(text)
