"""What a recording costs in memory does not grow with its length."""

from __future__ import annotations

import base64
import gzip
import json
import tracemalloc

import pytest

from streamkit import LimitExceeded
from streamkit.recordings import rebuild
from tests.recordings.making import CHUNKS, sse


LONG = [CHUNKS[0], *[CHUNKS[1]] * 80, CHUNKS[2]]
BODY = sse(*LONG)
ENTRY = {
    "request": {"method": "POST", "url": "https://a.example/v1/chat/completions"},
    "response": {"content": {"mimeType": "text/event-stream", "text": BODY}},
}
DOCKER = [
    json.dumps({"log": f"{line}\n", "stream": "stdout", "time": "2026-11-30T00:00:00Z"})
    for line in BODY.splitlines()
]
# What comes first, what comes again and again, what comes last.
FORMS = {
    "har": ('{"log": {"creator": {"name": "x"}, "entries": [{}', f", {json.dumps(ENTRY)}", "]}}"),
    "rows": ("", json.dumps({"id": 1, "response": BODY}) + "\n", ""),
    "chunks": ("", "".join(json.dumps({"t": 1.5, "chunk": c}) + "\n" for c in LONG), ""),
    "csv": ("id,body\n", '1,"' + BODY.replace('"', '""') + '"\n', ""),
    "docker": ("", "\n".join(DOCKER) + "\n", ""),
    "prefixed": ("", "".join(f"00:00:01.5 {line}\n" for line in BODY.splitlines()), ""),
    "vcr-json": (
        '{"interactions": [{}',
        ", " + json.dumps({"response": {"body": {"string": BODY}}}),
        "]}",
    ),
}


def peak(form, size):
    """Return the most memory that reading *size* bytes of *form* takes, and how many it has."""
    start, unit, end = FORMS[form]

    def blocks():
        yield start.encode()
        for number in range(size // len(unit)):
            yield unit.replace("chatcmpl-1", f"chatcmpl-{number}").encode()
        yield end.encode()

    tracemalloc.start()
    try:
        count = sum(outcome.complete for outcome in rebuild(blocks()))
        return tracemalloc.get_traced_memory()[1], count
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_memory_is_flat(form):
    """Three times the recording, and no more memory than noise would be."""
    peak(form, 50_000)  # what is loaded once is loaded
    less, few = peak(form, 1_200_000)  # more than a block, and than what tells a plan
    more, many = peak(form, 3_600_000)
    assert many > 2 * few > 20
    assert more < less + 700_000


@pytest.mark.parametrize("form", ["har", "rows", "vcr-json"])
def test_bombs_in_a_body(form):
    """A body that is held whole is bounded by what may be held, and not by what may be read."""
    bomb = base64.b64encode(gzip.compress(BODY.encode() + bytes(80 << 20))).decode()
    content = {"mimeType": "text/event-stream", "encoding": "base64", "text": bomb}
    row = {
        "har": {"request": {}, "response": {"content": content}},
        "rows": {"id": 1, "response": bomb},
        "vcr-json": {"response": {"body": {"base64_string": bomb}}},
    }[form]
    start, _, end = FORMS[form]
    data = (start.replace("{}", json.dumps(row)) or json.dumps(row) + "\n") + end
    with pytest.raises(LimitExceeded, match="67108864"):
        list(rebuild(data))
