from __future__ import annotations

import json
import sys

import pytest

from streamkit import Issue, Outcome, from_dict
from streamkit.cli._inputs import Found
from streamkit.cli._page import page, render
from streamkit.cli._pretty import pretty_json

from .helpers import chunk, sse


def show(**fields):
    """Return the page on a complete chat response with *fields*, line by line."""
    response = from_dict({"object": "chat.completion", "id": "a", "choices": [], **fields})
    return lines(Outcome(response=response, complete=True))


def lines(outcome):
    return render(page(Found("f", 1, outcome)), has_colour=False).splitlines()


def message(**fields):
    """Return the lines below the head of the only choice."""
    choice = {"index": 0, "message": {"role": "assistant", **fields}, "finish_reason": "stop"}
    return show(choices=[choice])[2:]


def test_whole_page(run):
    """Head, choice, text, usage."""
    first = {**chunk(content="Hel"), "created": 1_700_000_000}
    last = {**chunk(content="lo", finish="stop"), "usage": {"total_tokens": 3}}
    result = run("show", stdin=sse(first, last))
    assert result.status == 0
    assert result.out == (
        "<stdin> · chat · chatcmpl-1 · m-1 · 2023-11-14 22:13:20 UTC · 2 chunks · complete\n"
        "choice 0 · finish_reason stop · no logprobs\n"
        "  content:\n"
        "    Hello\n"
        "usage: total_tokens 3\n"
    )


def test_several_streams(run, files):
    """Parted by a blank line; files that cannot be read are told on standard error."""
    result = run("show", "cut.sse", "missing.sse", "failed.sse", "empty.sse")
    assert result.status == 2
    cut, failed, empty = result.out.split("\n\n")
    assert "cut.sse · chat · chatcmpl-2 · m-1 · 1 chunk · cut\n" in cut
    assert "issues:\n  finish_missing: no finish reason for choice 0" in cut
    assert "\nerror: upstream_error: the server sent an error: 'over\\x1bload'\n" in failed
    assert empty.startswith("empty.sse · 0 chunks · empty\nissues:\n  empty_stream: ")
    assert result.err == "streamkit: missing.sse: No such file or directory\n"


def test_second_stream_of_a_file(run):
    """It has its number."""
    out = run("show", stdin=sse(chunk(finish="stop")) + sse(chunk("b", finish="stop"))).out
    assert "\n<stdin> #2 · chat · b · " in out


def test_completion(run):
    """Its text, and its own shape of logprobs."""
    logprobs = {"tokens": ["a", "b"], "token_logprobs": [-1, -2]}
    choice = {"index": 0, "text": "a\n\nb", "finish_reason": "length", "logprobs": logprobs}
    out = run("show", stdin=sse({"id": "cmpl-1", "choices": [choice]})).out
    assert "choice 0 · finish_reason length · logprobs 2\n  text:\n    a\n\n    b\n" in out


def test_chat_logprobs():
    """Those of content and refusal count together."""
    entry = {"token": "a", "logprob": -1}
    choice = {
        "index": 0,
        "message": {"role": "assistant"},
        "logprobs": {"content": [entry, entry], "refusal": [entry]},
    }
    assert show(choices=[choice])[1] == "choice 0 · finish_reason none · logprobs 3"


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking"])
def test_reasoning_comes_first(name):
    """Under its own name, and its details are not repeated."""
    details = [{"type": "reasoning.text", "text": "hm"}]
    shown = message(content="yes", reasoning_details=details, **{name: "hm"})
    assert shown == [f"  {name}:", "    hm", "  content:", "    yes"]


def test_reasoning_details():
    """Shown where there is no reasoning besides."""
    details = [{"type": "reasoning.summary", "summary": "short"}, {"data": "c2VjcmV0"}]
    assert message(reasoning_details=details) == ["  reasoning summary:", "    short"]


def test_content_parts():
    """Texts under the type of their part, anything else as JSON."""
    parts = [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": "b"}, {"x": 1}]
    assert message(content=parts) == [
        "  content text:",
        "    a",
        "  content thinking:",
        "    b",
        "  content part:",
        '    {"x":1}',
    ]


def test_refusal_and_other_texts():
    """A provider's own texts are not lost."""
    assert message(refusal="no", own="x", other=[1]) == ["  refusal:", "    no", "  own:", "    x"]


def test_tool_calls():
    """Arguments are laid out if they are JSON, else as they came."""
    calls = [
        {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}},
        {"id": "call_2", "type": "function", "function": {"name": "g", "arguments": '{"a":'}},
        {"id": None, "type": "custom", "custom": {"name": "h", "input": "free\ntext"}},
        {"id": "call_4", "type": "function", "function": {"arguments": ""}},
    ]
    assert message(tool_calls=calls) == [
        "  tool call · call_1 · f",
        "    {",
        '      "a": 1',
        "    }",
        "  tool call · call_2 · g",
        '    {"a":',
        "  tool call · h",
        "    free",
        "    text",
        "  tool call · call_4 · (no name)",
    ]


def test_function_call():
    """The legacy form."""
    call = {"name": "f", "arguments": "[]"}
    assert message(function_call=call) == ["  function call · f", "    []"]


def test_audio_and_annotations():
    """The transcript, and what is cited."""
    citation = {"title": "T", "url": "https://example.org/"}
    shown = message(
        audio={"id": "audio_1", "transcript": "hi", "data": "AAAA"},
        annotations=[{"type": "url_citation", "url_citation": citation}, {"type": "file"}],
    )
    assert shown == [
        "  audio transcript:",
        "    hi",
        "  annotation · T · https://example.org/",
        '  annotation · {"type":"file"}',
    ]


def test_usage_is_flat():
    """Dotted names; what is null is left out."""
    details = {"reasoning_tokens": 2, "audio_tokens": None}
    usage = {
        "completion_tokens": 3,
        "completion_tokens_details": details,
        "cost": "0.1",
        "tier": None,
    }
    assert show(usage=usage)[-1] == (
        "usage: completion_tokens 3 · completion_tokens_details.reasoning_tokens 2 · cost 0.1"
    )


@pytest.mark.parametrize(
    ("created", "shown"),
    [
        (1, "1970-01-01 00:00:01 UTC"),
        (1_700_000_000_000, "1700000000000"),
        (10**400, "1" + "0" * 9),
    ],
)
def test_created(created, shown):
    """In UTC; a number beyond the calendar as it is."""
    assert shown in show(created=created)[0]


@pytest.mark.parametrize("created", [1.5, "yesterday", True, [1]])
def test_created_of_any_type(run, created):
    """It is kept as the server sent it."""
    out = run("show", stdin=sse({**chunk(finish="stop"), "created": created})).out
    assert "complete" in out.splitlines()[0]


def test_issues_beyond_those_kept():
    """The count says how many there were."""
    outcome = Outcome(
        response=None,
        complete=False,
        issues=(Issue("id_changed", "from 'a' to 'b'", 3),),
        issue_counts={"id_changed": 5},
    )
    assert lines(outcome)[1:] == [
        "issues:",
        "  id_changed: from 'a' to 'b' (event 3)",
        "  id_changed: 5 in all",
    ]


NASTY = "a\x1b]0;x\x07\u202e\r\n\u2028\U000e0041choice 1"


def test_no_text_of_the_stream_drives_the_terminal(run):
    """Wherever it stands; and it cannot pass for a head line."""
    delta = {
        "content": NASTY,
        "reasoning": NASTY,
        "own": NASTY,
        NASTY: NASTY,
        "tool_calls": [
            {"id": NASTY, "function": {"name": NASTY, "arguments": json.dumps([NASTY])}}
        ],
        "annotations": [{"url_citation": {"url": NASTY, "title": NASTY}}],
    }
    nasty = {**chunk(NASTY, finish=NASTY, **delta), "model": NASTY, "created": NASTY}
    nasty["usage"] = {"total_tokens": 1, NASTY: NASTY}
    result = run("show", stdin=sse(nasty, {"error": {"message": NASTY}}))
    assert all(text.isprintable() for text in result.out.split("\n"))
    heads = [text for text in result.out.split("\n") if text.startswith("choice")]
    assert len(heads) == 1


@pytest.mark.parametrize("value", ["x", 1, [1], [[1]], {"a": 1}, True, 0.5])
def test_values_of_any_type(run, value):
    """Servers send what they like, and the page shows it."""
    names = ("content", "refusal", "reasoning", "tool_calls", "function_call", "audio")
    more = ("annotations", "reasoning_details")
    nasty = chunk(finish="stop", **dict.fromkeys((*names, *more), value))
    nasty["choices"][0]["logprobs"] = value
    assert run("show", stdin=sse({**nasty, "usage": value, "model": value})).out


# -- Colours -------------------------------------------------------------------------


@pytest.fixture
def terminal(monkeypatch):
    """Standard output is a terminal, of a kind that knows colours."""
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_colours_on_a_terminal(run, files, terminal):
    """Heads only."""
    out = run("show", "whole.sse").out
    assert out.startswith("\x1b[1mwhole.sse · ")
    assert "\n  \x1b[2mcontent:\x1b[0m\n    Hello\n" in out


@pytest.mark.parametrize("setting", [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_colours(run, files, terminal, monkeypatch, setting):
    """Whoever does not want them says so."""
    monkeypatch.setenv(*setting)
    assert "\x1b" not in run("show", "whole.sse").out


def test_no_colours_in_a_pipe(run, files):
    """Without a terminal there are none."""
    assert "\x1b" not in run("show", "whole.sse").out


# -- JSON laid out -------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7",
        '"a"',
        '{"a":',
        '{"a":1,"a":2}',
        "[1.10]",
        "[1e400]",
        "[-0]",
        "[NaN]",
        "[" * 100_000,
        "[" + "9" * 5000 + "]",
        "[" * 100_000 + "]" * 100_000,
    ],
)
def test_what_a_reading_would_change_is_left(text):
    """Shown as the model wrote it."""
    assert pretty_json(text) == text


def test_pretty_json_says_the_same():
    """The same value over several lines."""
    value = {"a": [1, -2.5, "é\n", None, True], "b": {}}
    assert json.loads(pretty_json(json.dumps(value))) == value
    assert "\n" in pretty_json(json.dumps(value))
