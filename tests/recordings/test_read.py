"""From a source in any form to recordings, and to outcomes."""

from __future__ import annotations

import gzip
import io
import json

import pytest

from streamkit import (
    EmptyStream,
    IncompleteStream,
    InvalidChunk,
    LimitExceeded,
    Limits,
    UnknownForm,
)
from streamkit.recordings import FORMS, ReadOptions, read, rebuild, sniff


def chunk(text, *, identity="chatcmpl-1", finish=None):
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return {"id": identity, "object": "chat.completion.chunk", "choices": [choice]}


CHUNKS = [chunk("Hel"), chunk("lo"), chunk("", finish="stop")]
SSE = b"".join(b"data: " + json.dumps(c).encode() + b"\n\n" for c in CHUNKS) + b"data: [DONE]\n\n"
HAR = json.dumps(
    {
        "log": {
            "version": "1.2",
            "entries": [
                {
                    "request": {"method": "POST", "url": "https://example.test/v1/chat"},
                    "response": {
                        "status": 200,
                        "content": {"mimeType": "text/event-stream", "text": text},
                    },
                }
                for text in (SSE.decode(), "")
            ],
        }
    }
).encode()


def texts(outcomes):
    return [
        outcome.response and outcome.response.choices[0].message.content for outcome in outcomes
    ]


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (SSE, "sse"),
        (b"\n\n: hello\n\n" + SSE, "sse"),
        (json.dumps(CHUNKS[0]).encode(), "sse"),
        (HAR, "har"),
        (b'2026-01-01T00:00:00Z data: {"choices": []}\n2026-01-01T00:00:00Z \n' * 9, "prefixed"),
        (b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}.", "pickle"),
        (b"nothing that is known", "sse"),
        (b"", "sse"),
    ],
    ids=["events", "a comment first", "json", "har", "prefixed", "pickle", "text", "nothing"],
)
def test_sniff(data, form):
    """The bytes tell; what tells nothing is left to the framing, which says what it is."""
    assert sniff(data).name == form


def test_forms_have_names_titles_and_scores():
    """What `--from` offers is in order."""
    assert list(FORMS)[:3] == ["sse", "json", "jsonl"]
    for name, form in FORMS.items():
        assert form.name == name
        assert form.title
        assert form.looks(b"") in range(101)


@pytest.mark.parametrize(
    "source",
    [
        SSE,
        SSE.decode(),
        io.BytesIO(SSE),
        [SSE[:7], SSE[7:]],
        [SSE[at : at + 1] for at in range(len(SSE))],
        gzip.compress(SSE),
        "\ufeff".encode("utf-16-le") + SSE.decode().encode("utf-16-le"),
    ],
    ids=["bytes", "text", "file", "two blocks", "drip", "gzip", "utf-16"],
)
def test_rebuild(source):
    """Whatever the source and its wrapper."""
    [outcome] = rebuild(source)
    assert texts([outcome]) == ["Hello"]
    assert outcome.complete


def test_a_path_is_a_source(tmp_path):
    """And is closed when it was read."""
    path = tmp_path / "a.har"
    path.write_bytes(HAR)
    whole, empty = rebuild(path)
    assert texts([whole, empty]) == ["Hello", None]
    assert not empty.complete
    assert [issue.code for issue in empty.issues] == ["missing_body", "empty_stream"]


def test_a_live_stream_is_not_waited_for():
    """What starts as events is handed on block by block."""
    asked = []

    def blocks():
        for number in range(4):
            asked.append(number)
            yield SSE

    [recording] = read(blocks())
    assert asked == [0]
    assert b"".join(piece.data for piece in recording.pieces) == SSE * 4


def test_notes_are_issues():
    """What the form says of itself comes first, and is counted."""
    [outcome] = rebuild("> " + SSE.decode().replace("\n", "\n> "))
    assert texts([outcome]) == ["Hello"]
    assert outcome.issues[0].code == "paste_quoted"
    assert outcome.issue_counts["paste_quoted"] == 1


def test_a_form_can_be_named():
    """It is not questioned then."""
    [recording] = read(HAR, form="json")
    assert b"".join(piece.data for piece in recording.pieces) == HAR
    with pytest.raises(UnknownForm, match="form must be auto, sse, json"):
        list(read(SSE, form="sea"))


def test_refusals():
    """They are ours, and say what to do."""
    with pytest.raises(UnknownForm, match="pickle"):
        list(rebuild(b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}."))
    with pytest.raises(LimitExceeded, match="decompressed"):
        list(rebuild(gzip.compress(SSE * 100), limits=Limits(decompressed=1000)))
    with pytest.raises(TypeError, match="source must be"):
        list(read(5))
    with pytest.raises(TypeError, match="an iterable of bytes yielded dict"):
        list(read([{}]))


def test_what_cannot_be_rebuilt_is_counted_and_strictly_refused():
    """Another API's stream has a note, and no response."""
    other = b'event: message_start\ndata: {"type":"message_start","message":{}}\n\n'
    [outcome] = rebuild(other)
    assert outcome.response is None
    assert outcome.issue_counts == {"other_dialect": 1}
    with pytest.raises(EmptyStream):
        list(rebuild(other, strict=True))


def test_options_reach_the_core():
    """Strict mode, the kind, and the rest."""
    with pytest.raises(IncompleteStream):
        list(rebuild(SSE.split(b"\n\n")[0] + b"\n\n", strict=True))
    with pytest.raises(InvalidChunk):
        list(rebuild(b'data: {"choices": 5}\n\ndata: [DONE]\n\n', strict=True))
    [outcome] = rebuild(SSE, kind="completion")
    assert outcome.response.choices[0].text == "Hello"


def test_rows_by_column():
    """The column may be named."""
    rows = "\n".join(json.dumps({"when": number, "mine": SSE.decode()}) for number in (1, 2))
    assert texts(rebuild(rows, form="rows", options=ReadOptions(field="mine"))) == ["Hello"] * 2
