"""The shared samples, pasted, when they lie beside the project."""

from __future__ import annotations

import pytest

from streamkit import to_dict
from streamkit.recordings._paste import FORMS

from .shared import all_samples, best, outcomes, response_of, sample, samples


def quoted(data):
    return b"".join(b"> " + line for line in data.splitlines(keepends=True))


def indented(data):
    return b"".join(b"    " + line for line in data.splitlines(keepends=True))


def fenced(data):
    return b"See:\n\n```\n" + data + b"```\n"


def curly(data):
    text = data.decode()
    for before in "{[:,":
        text = text.replace(before + '"', before + "“").replace(before + ' "', before + " “")
    return text.replace('"', "”").encode()


@pytest.mark.parametrize("paste", [quoted, indented, fenced, curly])
@samples("01_plain.sse", "02_plain_crlf.sse", "10_chunks.jsonl", "46_keepalive_comments.sse")
def test_pasted(name, paste):
    """A sample that was pasted gives the response that it gives as it is."""
    form = best(FORMS, paste(sample(name)))
    ((outcome, _),) = outcomes(form, paste(sample(name)))
    assert to_dict(outcome.response) == response_of(name)


@all_samples()
def test_samples_as_they_are(name):
    """No sample is taken for a paste."""
    assert best(FORMS, sample(name)) is None
