"""The strategies reach what they should, and say what they need."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hypothesis import HealthCheck, Phase, find, settings

from streamkit.testing import strategies
from streamkit.testing.strategies import chat_completions, completions, responses


# What is found need not be small.
QUICK = settings(
    deadline=None,
    max_examples=5_000,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def some(check):
    return lambda response: any(map(check, response.choices))


REACHED = {
    "calls": (chat_completions(), some(lambda c: c.message.tool_calls)),
    "custom calls": (
        chat_completions(),
        some(lambda c: any(call.custom for call in c.message.tool_calls or ())),
    ),
    "parts": (chat_completions(), some(lambda c: type(c.message.content) not in (str, type(None)))),
    "no content": (chat_completions(), some(lambda c: c.message.content is None)),
    "audio": (chat_completions(), some(lambda c: c.message.audio)),
    "strange fields": (chat_completions(), some(lambda c: c.message.extra and c.extra)),
    "log probabilities": (
        chat_completions(),
        some(lambda c: c.logprobs and c.logprobs.content and c.logprobs.refusal),
    ),
    "legacy lists": (completions(), some(lambda c: c.logprobs and c.logprobs.top_logprobs)),
    "ids of tokens": (completions(), some(lambda c: c.tokens)),
    "several choices": (responses(), lambda response: len(response.choices) > 2),
    "usage": (responses(), lambda response: response.usage and response.usage.extra),
    "cut": (responses(finished=False), some(lambda c: c.finish_reason is None)),
}


@pytest.mark.parametrize("name", REACHED)
def test_reached(name):
    """There is an example that has it."""
    strategy, check = REACHED[name]
    assert check(find(strategy, check, settings=QUICK))


def test_wrong_kind():
    """A kind that does not exist is a TypeError."""
    with pytest.raises(TypeError, match="kind must be"):
        responses("list")


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_without_hypothesis():
    """Without Hypothesis the import says what to install; all else needs it not."""
    hide = "import sys; sys.modules['hypothesis'] = None\n"
    failed = run(hide + "import streamkit.testing.strategies")
    assert failed.stderr.endswith(
        "streamkit.NotInstalled: streamkit.testing.strategies needs Hypothesis: "
        "install streamkit-llm[testing]\n"
    )
    assert run(hide + "from streamkit.testing import *; chunk_up").returncode == 0


def test_only_this_room_imports_hypothesis():
    """Making and breaking streams loads neither Hypothesis nor pytest."""
    code = "import sys, streamkit.testing.faults\nfrom streamkit.testing import *\n"
    done = run(code + "assert not {'hypothesis', 'pytest', '_pytest'} & {*sys.modules}")
    assert done.returncode == 0, done.stderr


def test_all():
    """What the room offers is there."""
    assert all(hasattr(strategies, name) for name in strategies.__all__)
