from __future__ import annotations

import io
import sys

import pytest

from streamkit.cli import main

from .helpers import CUT, FAILED, GLUED, WHOLE, Result


@pytest.fixture
def run(capsysbinary, tmp_path, monkeypatch):
    """Run the command in a folder of its own; bytes are its standard input."""
    monkeypatch.chdir(tmp_path)

    def run(*argv: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main(argv)
        return Result(status, *capsysbinary.readouterr())

    return run


@pytest.fixture
def files(tmp_path):
    """The recordings that most tests read, in the folder that `run` works in."""
    contents = {"whole": WHOLE, "cut": CUT, "failed": FAILED, "glued": GLUED, "empty": b""}
    for name, content in contents.items():
        (tmp_path / f"{name}.sse").write_bytes(content)
    return tmp_path
