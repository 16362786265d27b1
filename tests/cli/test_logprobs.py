from __future__ import annotations

import math

import pytest

from streamkit.cli import _logprobs
from streamkit.cli._tokens import Token, least_sure, percent, perplexity, token_lists

from .helpers import WHOLE, chunk, sse
from .timed import add_command


HALF = math.log(0.5)


def entry(token, logprob, *others):
    top = [{"token": other, "logprob": value} for other, value in others]
    return {"token": token, "logprob": logprob, "bytes": None, "top_logprobs": top}


def stream(*entries):
    content = "".join(one["token"] for one in entries)
    part = chunk(content=content, finish="stop")
    part["choices"][0]["logprobs"] = {"content": list(entries), "refusal": None}
    return sse(part)


@pytest.fixture(autouse=True)
def command(monkeypatch):
    add_command(monkeypatch, _logprobs.COMMAND)
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(_logprobs, "has_colour", lambda: True)
    monkeypatch.setattr(_logprobs, "terminal_width", lambda: 30)


def test_plain(run):
    """Without a terminal: the text, and the least sure tokens."""
    result = run(
        "logprobs", stdin=stream(entry("a", HALF, ("a", HALF), ("b", -3)), entry("\nc", HALF))
    )
    assert result.status == 0
    assert result.out.splitlines() == [
        "<stdin> #1 · chatcmpl-1",
        "  choice 0 · content · 2 tokens · perplexity 2",
        "    a",
        "    c",
        "  least sure:",
        '         0  "a"' + " " * 21 + '   50.0 %  else "b" 5.0 %',
        r'         1  "\nc"' + " " * 19 + "   50.0 %",
    ]


def test_how_many(run):
    """As many as are asked for."""
    data = stream(entry("a", -1), entry("b", -2))
    assert run("logprobs", "--least", "1", stdin=data).out.count(" %") == 1
    assert "least" not in run("logprobs", "--least", "0", stdin=data).out
    assert run("logprobs", "--least", "-3", stdin=data).status == 2


def test_colours(run, terminal):
    """From green to red; what is unknown is faint."""
    levels = [-0.01, -0.3, -1, -2, -9, None]
    result = run("logprobs", stdin=stream(*(entry("word", level) for level in levels)))
    text = result.out.splitlines()[3:6]
    paints = ["\x1b[32mword\x1b[0m", "word", "\x1b[33mword\x1b[0m", "\x1b[31mword\x1b[0m"]
    paints += ["\x1b[1;7;31mword\x1b[0m", "\x1b[2mword\x1b[0m"]
    assert text[0] == "    " + "".join(paints)
    assert "1 without a usable logprob" in run("logprobs", stdin=stream(entry("a", None))).out
    assert "≥ 90 %" in result.out


def test_one_token(run):
    """It is counted in the singular."""
    out = run("logprobs", stdin=stream(entry("Hi", HALF))).out
    assert "choice 0 · content · 1 token · perplexity 2\n" in out


def test_wrapped_between_tokens(run, terminal):
    """At the width of the terminal."""
    out = run("logprobs", stdin=stream(*(entry("0123456789", -0.5) for _ in range(5)))).out
    assert out.count("    01234567890123456789\n") == 2


def test_hostile_tokens(run, terminal):
    """Escapes come from us alone."""
    out = run("logprobs", stdin=stream(entry("\x1b[2J\u202e", -0.5, ("\x1b]0;", -1)))).out
    assert r"\x1b[2J\u202e" in out
    assert "\x1b[2J" not in out
    assert "\x1b]" not in out


def test_none(run, files):
    """Say how to get them; a file that cannot be read is told."""
    result = run("logprobs", "whole.sse", "missing.sse")
    assert result.status == 2
    assert "  no logprobs: ask the server for them" in result.out
    assert "missing.sse" in result.err
    assert (
        "<stdin> #1 · -\n  no response: empty_stream: there is no usable chunk\n"
        in run("logprobs", stdin=b"").out
    )
    assert run("logprobs", stdin=WHOLE).status == 0


def test_completion(run):
    """Parallel lists, as legacy completions have them."""
    logprobs = {
        "tokens": ["a", "b", None],
        "token_logprobs": [None, HALF],
        "top_logprobs": [None, {"b": HALF, "c": -2}],
    }
    choice = {"index": 0, "text": "ab", "logprobs": logprobs, "finish_reason": "stop"}
    out = run(
        "logprobs", stdin=sse({"id": "cmpl-1", "object": "text_completion", "choices": [choice]})
    ).out
    assert "choice 0 · text · 3 tokens · perplexity 2 · 2 without a usable logprob" in out
    assert 'else "c" 13.5 %' in out


def test_unknown_perplexity(run):
    """If no number is usable."""
    assert "perplexity unknown" in run("logprobs", stdin=stream(entry("a", None))).out


# -- Tokens --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("logprobs", "wanted"),
    [
        (None, []),
        ({}, []),
        ({"content": [], "tokens": []}, []),
        ({"content": [3]}, [("content", [Token("", None)])]),
        ({"refusal": [{"token": 5, "logprob": True}]}, [("refusal", [Token("5", None)])]),
        (
            {"content": [{"token": "a", "logprob": float("-inf")}]},
            [("content", [Token("a", None)])],
        ),
        (
            {
                "content": [
                    {
                        "token": "a",
                        "logprob": -1,
                        "top_logprobs": [1, {"token": "b", "logprob": "x"}],
                    }
                ]
            },
            [("content", [Token("a", -1.0, [("b", None)])])],
        ),
        (
            {"tokens": ["a"], "top_logprobs": ["x"], "token_logprobs": 3},
            [("text", [Token("a", None, [])])],
        ),
        (
            {"tokens": ["a", "b"], "top_logprobs": [5, [1]], "token_logprobs": [-1, "x"]},
            [("text", [Token("a", -1.0, []), Token("b", None, [])])],
        ),
    ],
)
def test_token_lists(logprobs, wanted):
    """Whatever the server sent."""
    found = [(name, tokens) for name, tokens in token_lists({"logprobs": logprobs})]
    assert [
        (name, [(t.text, t.logprob, list(t.alternatives)) for t in ts]) for name, ts in found
    ] == [(name, [(t.text, t.logprob, list(t.alternatives)) for t in ts]) for name, ts in wanted]


def test_figures():
    """Perplexity overflows to infinity; probabilities above 1 are 1."""
    assert perplexity([Token("a", -1e9)]) == math.inf
    assert perplexity([]) is None
    assert Token("a", 3.0).probability == 1.0
    assert percent(3.0) == "100.0 %"
    tokens = [Token("a", -1.0), Token("b", None), Token("c", -2.0)]
    assert [place for place, _ in least_sure(tokens, 5)] == [2, 0]
