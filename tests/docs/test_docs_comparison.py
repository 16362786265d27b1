"""The page that compares says what the libraries do, in the versions that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import truth


PAGE = (Path(__file__).parents[2] / "docs" / "comparison.md").read_text(encoding="utf-8")
LINES = PAGE.partition("<!-- table: truth -->")[2].partition("<!-- end")[0].split("\n")
ROWS = [line.strip("|").split(" | ") for line in LINES if line.startswith("|")][2:]
CELLS = {row[0].strip(): [cell.strip() for cell in row[1:]] for row in ROWS}


def test_each_case_has_a_row():
    """In order, and with what is right."""
    assert list(CELLS) == [case.name for case in truth.CASES]
    assert [cells[0] for cells in CELLS.values()] == [f"`{case.right!r}`" for case in truth.CASES]


@pytest.mark.parametrize("case", truth.CASES, ids=lambda case: case.name)
def test_streamkit_is_right(case):
    """A table of what is wrong with others had better begin at home."""
    assert truth.answer(case, "streamkit") == "right" == CELLS[case.name][1]


@pytest.mark.parametrize("peer", list(truth.PEERS)[1:])
def test_a_peer(peer):
    """It does what the page says; each version is on the page."""
    version = truth.versions().get(peer)
    if version is None:
        pytest.skip("not installed")
    if f" {version} |" not in PAGE:
        pytest.skip(f"the page is about another version than {version}")
    column = list(truth.PEERS).index(peer) + 1
    found = {case.name: truth.answer(case, peer) for case in truth.CASES}
    assert found == {name: cells[column] for name, cells in CELLS.items()}
