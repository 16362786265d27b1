"""Timed recordings, and commands put into the table for a test."""

from __future__ import annotations

import json

from streamkit.cli import _each, _main, _trace
from streamkit.cli._files import Files
from streamkit.recordings._pieces import Piece


def add_command(monkeypatch, command):
    """Put *command* into the table, in place of one of its name."""
    others = [other for other in _main.COMMANDS if other.name != command.name]
    monkeypatch.setattr(_main, "COMMANDS", (*others, command))


def give(monkeypatch, *recordings):
    """Let commands read *recordings*, lists of pieces, instead of files."""
    named = {f"r{number}": pieces for number, pieces in enumerate(recordings)}
    monkeypatch.setattr(_each, "files_of", lambda args: Files([*named]))
    monkeypatch.setattr(_trace, "inputs", lambda args, file: [(file.name, named[file.name])])


def event(payload, time=None):
    """Return the piece of one event."""
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return Piece(f"data: {text}\n\n".encode(), time)


def start(time):
    """Return the piece that says when the request was sent."""
    return Piece(b"", time)


def trace(pieces, **options):
    """Return the rows and the streams of *pieces*."""
    found = list(_trace.Tracer(keep=True, **options).run(pieces))
    rows = [item for item in found if isinstance(item, _trace.Row)]
    return rows, [item for item in found if isinstance(item, _trace.Traced)]
