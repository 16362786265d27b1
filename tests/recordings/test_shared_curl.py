"""The shared samples of what curl writes, when they lie beside the project."""

from __future__ import annotations

import pytest

from streamkit import to_dict

from .shared import all_samples, best, outcomes, response_of, sample, samples
from .test_curl import FORMS


CURL = {
    "04_curl_i.log": "curl-i",
    "05_curl_v.log": "curl-v",
    "07_curl_trace_ascii.txt": "curl-trace-ascii",
}


@samples(*CURL)
def test_response(name):
    """Each gives the response of the plain sample."""
    form = best(FORMS, sample(name))
    assert form.name == CURL[name]
    ((outcome, _),) = outcomes(form, sample(name))
    assert to_dict(outcome.response) == response_of()
    assert outcome.complete
    assert not outcome.issues


@samples("07_curl_trace_ascii.txt")
def test_times(name):
    """A trace has the times of what was received, behind that of the request."""
    ((_, (sent, *pieces)),) = outcomes(best(FORMS, sample(name)), sample(name))
    times = [piece.time for piece in pieces]
    assert not sent.data
    assert sent.time <= times[0]
    assert times == sorted(times)
    assert times[0] == pytest.approx(4 * 3600 + 20 * 60 + 3.493999)
    assert times[-1] - times[0] == pytest.approx(0.182176)


@all_samples()
def test_other_samples(name):
    """No other sample is taken for one of these."""
    assert (best(FORMS, sample(name)) is not None) == (name in CURL)
