"""The shared samples of Python text, when they lie beside the project."""

from __future__ import annotations

from streamkit import to_dict
from streamkit.recordings._python import FORMS

from .shared import all_samples, best, outcomes, response_of, sample, samples


@samples("26_python_dict_lines.log")
def test_dicts(name):
    """Dicts give the response of the plain sample."""
    ((outcome, _),) = outcomes(FORMS[0], sample(name))
    assert to_dict(outcome.response) == response_of()
    assert outcome.complete


@samples("27_python_sdk_repr.log")
def test_sdk_objects(name):
    """Objects of an SDK give the response that they show."""
    ((outcome, pieces),) = outcomes(FORMS[0], sample(name))
    (choice,) = outcome.response.choices
    assert (choice.message.content, choice.finish_reason) == ("Hi", "stop")
    assert outcome.response.system_fingerprint == "fp_x"
    assert (outcome.complete, outcome.chunks, len(pieces)) == (True, 3, 3)


@all_samples()
def test_other_samples(name):
    """No other sample is taken for Python text."""
    assert (best(FORMS, sample(name)) is not None) == name.startswith(("26_python", "27_python"))
