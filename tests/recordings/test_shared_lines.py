"""The shared samples of logs, when they lie beside the project."""

from __future__ import annotations

import pytest

from streamkit import to_dict
from streamkit.recordings._lines import FORMS

from .shared import all_samples, best, outcomes, response_of, sample, samples


START = 1_790_000_000
MORNING = 1_796_012_400
LOGS = {
    "08_ts_iso_prefixed.log": ("prefixed", START + 0.25, 0.3),
    "30_logger_prefix.log": ("prefixed", MORNING + 3.493, 0.207),
    "32_k8s_cri.log": ("cri", START + 0.25, 0.168),
    "55_local_server_log_pretty.log": ("prefixed", MORNING, 8),
}


@samples(*LOGS)
def test_response(name):
    """Each gives the response of the plain sample, and its times."""
    form = best(FORMS, sample(name))
    assert form.name == LOGS[name][0]
    ((outcome, pieces),) = outcomes(form, sample(name))
    assert to_dict(outcome.response) == response_of()
    assert outcome.complete
    times = [piece.time for piece in pieces]
    assert times == sorted(times)
    assert times[0] == pytest.approx(LOGS[name][1])
    assert times[-1] - times[0] == pytest.approx(LOGS[name][2])


@all_samples()
def test_other_samples(name):
    """No other sample is taken for one of these, but curl's, which its own forms are surer of."""
    form = best(FORMS, sample(name))
    if name.startswith("07_curl_trace"):
        assert form.looks(sample(name)) < 95
    else:
        assert (form is not None) == (name in LOGS)
