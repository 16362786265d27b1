"""The shared recordings over both roads, when they lie beside the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamkit import SSEParser

from .roads.helpers import read, rebuilt
from .roads.test_plain_events import LineByLine, parsed


CORPUS = Path(__file__).resolve().parents[1].parent / "shared" / "corpus"
RECORDINGS = sorted(
    path
    for path in CORPUS.glob("*/*")
    if path.is_file() and path.parent.name != "expected" and CORPUS.exists()
)
BLOCK = 1000


def cases():
    """One parameter for each recording; a skipped one if there are none."""
    if not RECORDINGS:
        return [pytest.param(None, marks=pytest.mark.skip(reason="no shared corpus"), id="absent")]
    return [pytest.param(path, id=f"{path.parent.name}/{path.name}") for path in RECORDINGS]


def ways(path):
    """Return the bytes whole, and in blocks."""
    data = path.read_bytes()
    return [data], [data[at : at + BLOCK] for at in range(0, len(data), BLOCK)]


@pytest.mark.parametrize("path", cases())
def test_rebuild(path):
    """Whole and in blocks, the outcomes are those of the slow road, issues included."""
    whole, blocks = ways(path)
    expected = rebuilt(whole, fast=False)
    assert rebuilt(whole, fast=True) == expected
    assert rebuilt(blocks, fast=True) == expected


@pytest.mark.parametrize("path", cases())
def test_reader(path):
    """The chunks are those of the slow road, issues included."""
    whole, blocks = ways(path)
    expected = read(whole, fast=False)
    assert read(whole, fast=True) == expected
    assert read(blocks, fast=True) == expected


@pytest.mark.parametrize("path", cases())
def test_parser(path):
    """The events of the short way are those of the line by line way."""
    for pieces in ways(path):
        assert parsed(SSEParser, pieces) == parsed(LineByLine, pieces)
