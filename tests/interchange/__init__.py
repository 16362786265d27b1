"""Tests of the forms of others; here what they share."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from streamkit import Accumulator, ChatCompletion, finalize
from streamkit._json import encode
from tests.merging.strategies import hostile_chunks, streams


def response_of(message, **choice):
    """Return the response whose one choice has *message*."""
    entry = {"index": 0, "message": message, "finish_reason": "stop", **choice}
    return finalize([{"object": "chat.completion.chunk", "choices": [entry]}])


def snapshot_of(chunks):
    """Return the response of *chunks*, which may be anything; an empty one if they are none."""
    accumulator = Accumulator()
    for chunk in chunks:
        accumulator.add(chunk)
    return accumulator.snapshot() or ChatCompletion()


def same(value):
    """Return *value* as JSON has it, so that NaN equals itself and 1 equals 1.0."""
    return json.loads(encode(value))


responses = streams().map(finalize)
odd_responses = st.lists(hostile_chunks, max_size=4).map(snapshot_of)
