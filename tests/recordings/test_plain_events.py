"""What is plainly events is told without a look for other forms, and told right."""

from __future__ import annotations

import time

from pathlib import Path

import pytest

from streamkit.recordings import FORMS, sniff
from streamkit.recordings._registry import PLAIN_EVENTS
from tests.cli.helpers import CUT, WHOLE


EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.sse"))
ALIKE = [WHOLE, WHOLE.replace(b"\n", b"\r\n"), WHOLE.replace(b"data: ", b"data:")]
NOT = [CUT, b"\n" + WHOLE, WHOLE.replace(b"\n\n", b"\n"), b'data: {"x": 1}\n\ndata: {', b"data: x"]


@pytest.mark.parametrize("data", ALIKE)
def test_told_at_once(data):
    """Two events after one another, the first a chunk."""
    assert PLAIN_EVENTS.match(data)
    assert sniff(data) is FORMS["sse"]


@pytest.mark.parametrize("data", NOT)
def test_looked_at(data):
    """Anything else is looked at as ever."""
    assert not PLAIN_EVENTS.match(data)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_same_as_a_whole_look(path):
    """The short way finds what the long way finds."""
    head = path.read_bytes()
    if PLAIN_EVENTS.match(head):
        assert max(FORMS.values(), key=lambda form: form.looks(head)).name == "sse"


def test_hostile_line():
    """A long line of what nearly fits is one scan."""
    head = b'data: {"' + b'"choices"}' * 6500
    start = time.process_time()
    assert not PLAIN_EVENTS.match(head)
    assert time.process_time() - start < 0.1
