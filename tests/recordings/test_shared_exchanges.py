"""
The sample recordings that lie beside the project: exchanges, rows, other dialects.

They are no part of it: without the folder these tests are skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from streamkit.recordings import _har, _mitm, _parquet, _refused, _rows, _vcr
from tests.recordings.making import codes, outcomes, read


FOLDER = Path(__file__).parents[2].parent / "shared" / "forms"
ALL = [form for room in (_har, _mitm, _parquet, _refused, _rows, _vcr) for form in room.FORMS]
CHAT = ["Aa one", "Bb two"]

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the shared folder is absent")


def data_of(name):
    path = FOLDER / name
    if not path.is_file():
        pytest.skip(f"{name} is absent")
    return path.read_bytes()


def form_for(data):
    """Return the only form that *data* looks like."""
    (form,) = (form for form in ALL if form.looks(data[: 1 << 16]))
    return form


def texts(recording):
    return [
        [
            choice.message.content if hasattr(choice, "message") else choice.text
            for choice in outcome.response.choices
        ]
        for outcome in outcomes(recording)
    ]


@pytest.mark.parametrize(
    ("name", "form", "expected"),
    [
        ("11_chunks_timed.jsonl", "rows", [[CHAT]]),
        ("15_chrome_full.har", "har", [[CHAT]]),
        ("19_mitmproxy_stored.har", "har", [[CHAT]]),
        ("21_mitmproxy.flow", "mitmproxy", [[CHAT]]),
        ("22_vcr.yaml", "vcr", [[CHAT]]),
        ("24_vcr.json", "vcr-json", [[CHAT]]),
        ("33_gateway_log_row.jsonl", "rows", [[CHAT], [["Hi all", "Yo!"]]]),
        ("36_log_payload_final.json", "rows", [[["Aa one"]]]),
        ("37_trace_export_final.jsonl", "rows", [[["Aa one"]]]),
        ("53_body_per_row.parquet", "parquet", [[CHAT], [["Hi all", "Yo!"]]]),
    ],
)
def test_samples(name, form, expected):
    """Each sample is known for what it is, and gives the right response."""
    data = data_of(name)
    if form in ("vcr", "parquet"):
        pytest.importorskip({"vcr": "yaml", "parquet": "pyarrow"}[form])
    assert form_for(data).name == form
    assert [texts(each) for each in read(form_for(data), data)] == expected


def test_mojibake():
    data = data_of("18_mojibake.har")
    (recording,) = read(form_for(data), data)
    assert codes(recording) == ["mojibake"]
    (recording,) = read(form_for(data), data, fix_mojibake=True)
    assert texts(recording) == [["Åå one", "Bb two"]]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("16_chrome_sanitized.har", "missing_body"),
        ("48_other_api_responses.sse", "other_dialect"),
        ("49_other_api_messages.sse", "other_dialect"),
    ],
)
def test_named(name, code):
    """What cannot be rebuilt is named, and gives no pieces."""
    data = data_of(name)
    for recording in read(form_for(data), data):
        assert (codes(recording), recording.pieces) == ([code], ())


OTHERS = (*range(1, 11), 12, 13, 14, 26, 27, 30, 32, 35, 38, 40, 41, 42, 45, 46, 47, 51, 55)


@pytest.mark.parametrize("number", OTHERS)
def test_other_forms(number):
    """The samples of other families look like none of these."""
    for path in FOLDER.glob(f"{number:02}_*"):
        assert not [form.name for form in ALL if form.looks(path.read_bytes()[: 1 << 16])]
