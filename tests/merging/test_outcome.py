"""Tests of `Outcome`."""

from __future__ import annotations

import attrs
import pytest

from streamkit import (
    ChatCompletion,
    EmptyStream,
    IncompleteStream,
    Issue,
    LimitExceeded,
    Outcome,
    UpstreamError,
)


RESPONSE = ChatCompletion(id="chatcmpl-1")


def test_a_complete_outcome_raises_nothing():
    """Nothing is missing, so there is nothing to say."""
    issues = (Issue("id_changed", "from 'a' to 'b'"),)
    assert Outcome(response=RESPONSE, complete=True, issues=issues).raise_if_incomplete() is None


@pytest.mark.parametrize(
    ("response", "partial"), [(RESPONSE, RESPONSE), (None, None)], ids=["some", "none"]
)
@pytest.mark.parametrize(
    "error", [UpstreamError("overloaded"), LimitExceeded("chunks", 2)], ids=lambda it: it.code
)
def test_the_error_that_ended_it_is_raised(error, response, partial):
    """The error comes before all else, with the response so far."""
    with pytest.raises(type(error)) as caught:
        Outcome(response=response, complete=False, error=error).raise_if_incomplete()
    assert caught.value is error
    assert caught.value.partial is partial


def test_no_response_is_an_empty_stream():
    """There is nothing to be incomplete."""
    with pytest.raises(EmptyStream, match=r"^no usable chunk in the stream$") as caught:
        Outcome(response=None, complete=False).raise_if_incomplete()
    assert caught.value.partial is None


@pytest.mark.parametrize(
    ("issues", "why"),
    [
        ((), "no finish reason and no [DONE]"),
        ((Issue("id_changed", "an id"),), "no finish reason and no [DONE]"),
        ((Issue("cut_value", "a cut"), Issue("role_changed", "a role")), "a cut"),
        ((Issue("finish_missing", "a"), Issue("done_missing", "b")), "a; b"),
    ],
    ids=["none", "unrelated", "cut", "two"],
)
def test_what_is_missing_is_told(issues, why):
    """The message gives the issues that made it incomplete; `partial` is the response."""
    with pytest.raises(IncompleteStream) as caught:
        Outcome(response=RESPONSE, complete=False, issues=issues).raise_if_incomplete()
    assert str(caught.value) == f"the stream ended too early: {why}"
    assert caught.value.partial is RESPONSE


def test_an_outcome_is_frozen_and_its_defaults_are_its_own():
    """Nothing can be assigned, and no default is shared."""
    first, second = (Outcome(response=None, complete=False) for _ in range(2))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        first.complete = True
    assert first == second
    assert first.issue_counts is not second.issue_counts
