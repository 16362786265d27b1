"""What fuzzing knows of holds: its seeds, and what once failed."""

from __future__ import annotations

from pathlib import Path

import pytest


FUZZ = Path(__file__).parents[2] / "fuzz"
CORPUS = sorted((FUZZ / "corpus").glob("*"))

if not CORPUS:
    pytest.skip("the fuzz target is not here", allow_module_level=True)

from fuzz.roads import check, told_error  # noqa: E402 -- only where it is
from streamkit import UpstreamError  # noqa: E402


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_corpus(path):
    """The invariant holds for each committed input."""
    check(path.read_bytes())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\r",
        b"data",
        b"{",
        b"[DONE]",
        b"\xef\xbb\xbf",
        b"\xff",
        b"data: \xed\xa0\x80\n\n",
    ],
)
def test_almost_nothing(data):
    """It holds for inputs of a few bytes."""
    check(data)


def test_errors_are_told_apart():
    """The comparison sees what an error holds, not only its text."""
    one, two = UpstreamError("no", payload=1), UpstreamError("no", payload=True)
    assert repr(told_error(one)) != repr(told_error(two))
