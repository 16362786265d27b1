"""What the rooms of `streamkit.testing` may import."""

from __future__ import annotations

import sys

from pathlib import Path

import pytest

import streamkit.testing

from tests.test_house import imports, parse


ROOMS = sorted(Path(streamkit.testing.__file__).parent.glob("*.py"))
# No extra is needed but by these two.
ALLOWED = {"_hypothesis": {"hypothesis"}, "plugin": {"pytest"}}


@pytest.mark.parametrize("path", ROOMS, ids=lambda path: path.stem)
def test_imports(path):
    """attrs and the standard library, and nothing of the command or the engines."""
    found = {module for module, level in imports(parse(path)) if not level}
    ours = {module for module in found if module.split(".")[0] == "streamkit"}
    others = {module.split(".")[0] for module in found - ours}
    assert others <= {"attrs"} | ALLOWED.get(path.stem, set()) | sys.stdlib_module_names
    assert not {"cli", "engines"} & {part for module in ours for part in module.split(".")}
