"""The page of providers counts the recordings that lie beside the project."""

from __future__ import annotations

import json

from collections import Counter
from pathlib import Path

import pytest


ROOT = Path(__file__).parents[1]
INDEX = ROOT.parent / "shared" / "corpus" / "index.jsonl"
PAGE = ROOT / "docs" / "providers.md"


@pytest.mark.skipif(not INDEX.is_file(), reason="the shared folder is absent")
def test_counts():
    """As many of chats and of completions, by provider, whatever their names are."""
    rows = map(json.loads, INDEX.read_text("utf-8").splitlines())
    found = {kind: Counter() for kind in ("chat", "completion")}
    for row in rows:
        if row["dialect"] in found:
            found[row["dialect"]][row["provider"]] += 1
    table = PAGE.read_text("utf-8").partition("<!-- table: providers -->")[2]
    lines = table.partition("<!-- end")[0].splitlines()
    cells = [line.strip("| ").split("|") for line in lines if line.startswith("| ")][1:]
    shown = [[int(cell.strip() or 0) for cell in row[1:3]] for row in cells]
    providers = {*found["chat"], *found["completion"]}
    counted = [[found[kind][name] for kind in ("chat", "completion")] for name in providers]
    assert sorted(shown) == sorted(counted)
