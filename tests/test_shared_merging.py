"""
The merging half against the cases and recordings that lie beside the project.

They are no part of it: without the folder these tests are skipped.  Null equals
absent where responses are compared.
"""

from __future__ import annotations

import copy
import json

from pathlib import Path

import pytest

from streamkit import StreamkitError, finalize, from_dict, rebuild, rebuild_all, to_dict

from .merging import without_nulls


SHARED = Path(__file__).parents[1].parent / "shared"
CASES = SHARED / "cases" / "accumulate.jsonl"
CORPUS = SHARED / "corpus"
SEEDS = SHARED / "seeds"

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared folder is absent")


def cases():
    if not CASES.is_file():
        return []
    lines = CASES.read_text("utf-8").splitlines()
    return [pytest.param(case, id=case["id"]) for case in map(json.loads, lines)]


def recordings():
    return [
        pytest.param(path, CORPUS / path.parent.name / path.stem, id=path.stem)
        for path in sorted(CORPUS.glob("expected/*/*.json"))
    ]


def plain(response):
    return None if response is None else without_nulls(to_dict(response))


@pytest.mark.parametrize("case", cases())
def test_cases(case):
    """The response is the expected one; strict mode raises the expected error."""
    before = copy.deepcopy(case["chunks"])
    expected = case["expected"]
    if set(expected) == {"error"}:
        with pytest.raises(StreamkitError) as caught:
            finalize(case["chunks"], kind=case["kind"], strict=True)
        assert caught.value.code == expected["error"]
    else:
        response = finalize(case["chunks"], kind=case["kind"])
        assert plain(response) == without_nulls(expected)
        assert from_dict(to_dict(response)) == response
    assert case["chunks"] == before


@pytest.mark.parametrize("backend", ["json", "orjson", "msgspec"])
@pytest.mark.parametrize(("path", "recording"), recordings())
def test_recordings(path, recording, backend):
    """A real recording gives the expected response: whole, and in small blocks."""
    expected = json.loads(path.read_text("utf-8"))
    raw = recording.read_bytes()
    size = 1000 if backend == "json" else 61
    for source in (raw, [raw[at : at + size] for at in range(0, len(raw), size)]):
        outcome = rebuild(source, json=backend)
        wanted = expected["response"]
        assert plain(outcome.response) == (without_nulls(wanted) if wanted else None)
        assert bool(outcome.error) == bool(expected["error"])


@pytest.mark.parametrize("path", sorted(SEEDS.glob("*.txt")), ids=lambda path: path.stem)
def test_seeds(path):
    """The wire objects of the seed documents work, read as recordings."""
    responses = [
        to_dict(outcome.response)
        for outcome in rebuild_all(path.read_bytes())
        if outcome.response is not None
    ]
    completions = [each for each in responses if each["object"] == "text_completion"]
    chats = [each for each in responses if each["object"] == "chat.completion" and each["created"]]
    assert completions or chats
    for each in completions:
        assert each["choices"][0]["text"] == " such as"
        assert each["choices"][0]["finish_reason"] == "length"
        assert each["choices"][0]["tokens"] == [1778, 439]
        assert each["usage"]["total_tokens"] == 15
    for each in chats[:1] if not completions else []:
        assert each["choices"][0]["message"]["content"] == "Hello! today?"
        assert each["choices"][0]["finish_reason"] == "stop"
