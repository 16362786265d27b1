"""The shared sample recordings, when they lie beside the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamkit import Limits, rebuild_all, to_dict
from streamkit.recordings._wrappers import peel

from .samples import blocks, read


SAMPLES = Path(__file__).resolve().parents[2].parent / "shared" / "forms"
HEAD = 1 << 16


def samples(*names):
    """Parametrize a test over the names of samples; it is skipped where they are not there."""
    absent = pytest.mark.skip(reason="no shared samples")
    marks = () if SAMPLES.is_dir() else absent
    return pytest.mark.parametrize("name", [pytest.param(name, marks=marks) for name in names])


def all_samples():
    return samples(*(sorted(path.name for path in SAMPLES.glob("*")) or ["absent"]))


def sample(name):
    """Return the bytes of a sample, without its wrappers."""
    return b"".join(peel(blocks((SAMPLES / name).read_bytes(), 1000), Limits()).blocks)


def best(forms, data):
    """Return the form that *data* looks like most, or None."""
    scores = {form.name: form.looks(data[:HEAD]) for form in forms}
    name = max(scores, key=scores.__getitem__)
    return next(form for form in forms if form.name == name) if scores[name] else None


def outcomes(form, data):
    """Return what becomes of each response in *data*, and the pieces that it came in."""
    return [
        (outcome, pieces)
        for _, pieces in read(form, data, 500)
        for outcome in rebuild_all([piece.data for piece in pieces])
    ]


def response_of(name="01_plain.sse"):
    """Return the response in a sample that needs no reader."""
    (outcome,) = rebuild_all(sample(name))
    return to_dict(outcome.response)
