"""What a payload is."""

from __future__ import annotations

import pytest

from streamkit._kinds import dict_entries, is_chunk, is_ping, kind_of


DELTA, TEXT = [{"delta": {}}], [{"text": ""}]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([{"a": 1}, 5, None, {}], [{"a": 1}, {}]),
        ([], []),
        (None, []),
        ({"a": 1}, []),
        ("ab", []),
    ],
    ids=repr,
)
def test_dict_entries(value, expected):
    """Only objects in a list count."""
    assert dict_entries(value) == expected


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        ({"object": "chat.completion.chunk"}, "chat"),
        ({"object": "chat.completion"}, "chat"),
        ({"object": "chat.completion.chunk", "choices": TEXT}, "chat"),
        ({"object": "text_completion", "choices": DELTA}, "chat"),
        ({"object": "text_completion", "choices": TEXT}, "completion"),
        ({"object": "text_completion", "choices": [{"message": {}}]}, "chat"),
        ({"object": "text_completion", "choices": []}, "completion"),
        ({"object": "text_completion"}, "completion"),
        ({"choices": [{"text": "a", "delta": {"content": "a"}}]}, "completion"),
        ({"choices": [{"delta": None, "message": {}}]}, "chat"),
        ({"choices": [{}, {"text": "a"}]}, "completion"),
        ({"choices": [{}]}, None),
        ({"choices": ["odd"]}, None),
        ({"choices": "odd"}, None),
        ({"object": 5}, None),
        ({"object": "odd"}, None),
        ({}, None),
    ],
    ids=repr,
)
def test_kind_of(chunk, expected):
    """A chat object tells first, then text, then a delta or a message, then the object."""
    assert kind_of(chunk) == expected


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"choices": None}, True),
        ({"choices": [], "type": "ping"}, True),
        ({"error": {}}, True),
        ({"error": None}, False),
        ({"usage": None}, True),
        ({"usage": {}, "type": "message_delta"}, False),
        ({"object": "chat.completion.chunk"}, True),
        ({"object": "text_completion"}, True),
        ({"object": "list"}, False),
        ({"object": 5}, False),
        ({}, False),
    ],
    ids=repr,
)
def test_is_chunk(payload, expected):
    """Choices, usage, an error or the name of a known object make a chunk."""
    assert is_chunk(payload) is expected


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"type": "ping"}, True),
        ({"type": "keepalive", "x": 1}, True),
        ({"type": "ping", "choices": []}, False),
        ({"type": "pong"}, False),
        ({"type": ["ping"]}, False),
        ({}, False),
    ],
    ids=repr,
)
def test_is_ping(payload, expected):
    """A sign of life has a known type, and no choices."""
    assert is_ping(payload) is expected
