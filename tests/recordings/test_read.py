"""From a source in any form to recordings, and to outcomes."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import zlib

import pytest

import streamkit

from streamkit import (
    EmptyStream,
    IncompleteStream,
    InvalidChunk,
    LimitExceeded,
    Limits,
    Timing,
    UnknownForm,
)
from streamkit.recordings import (
    FORMS,
    Form,
    Piece,
    ReadOptions,
    Recording,
    _registry,
    read,
    rebuild,
    sniff,
)
from tests.cli.timed import trace


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
        (json.dumps(CHUNKS[0]).encode(), "json"),
        (json.dumps(CHUNKS).encode(), "json"),
        (json.dumps(CHUNKS, indent=1).encode(), "json"),
        (json.dumps(CHUNKS[0], indent=1).encode() * 2, "json"),
        ("\n".join(map(json.dumps, CHUNKS)).encode(), "jsonl"),
        ("\r\n\r\n".join(map(json.dumps, CHUNKS)).encode(), "jsonl"),
        (gzip.compress("\n".join(map(json.dumps, CHUNKS)).encode()), "jsonl"),
        (json.dumps(CHUNKS).encode("utf-16"), "json"),
        (b"\x28\xb5\x2f\xfd" + bytes(20), "sse"),
        (gzip.compress(b"data: 1\n\n" * 20_000), "sse"),
        (HAR, "har"),
        (b'2026-01-01T00:00:00Z data: {"choices": []}\n2026-01-01T00:00:00Z \n' * 9, "prefixed"),
        (b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}.", "pickle"),
        (b"nothing that is known", "sse"),
        (b"", "sse"),
    ],
    ids=[
        "events",
        "a comment first",
        "one chunk",
        "array",
        "indented array",
        "indented chunks",
        "lines",
        "lines, with blank ones",
        "lines in gzip",
        "array in utf-16",
        "zstd",
        "many events in gzip",
        "har",
        "prefixed",
        "pickle",
        "text",
        "nothing",
    ],
)
def test_sniff(data, form):
    """The bytes tell; what tells nothing is left to the framing, which says what it is."""
    assert sniff(data).name == form


def test_sniff_takes_what_rebuild_takes(tmp_path):
    """A path, a file, text and blocks; a file that is not there is the system's own error."""
    (tmp_path / "x.har").write_bytes(HAR)
    assert sniff(tmp_path / "x.har").name == "har"
    with (tmp_path / "x.har").open("rb") as file:
        assert sniff(file).name == "har"
    assert sniff(HAR.decode()).name == "har"
    assert sniff(HAR[at : at + 1] for at in range(len(HAR))).name == "har"
    with pytest.raises(FileNotFoundError):
        sniff(tmp_path / "y.har")
    with pytest.raises(TypeError, match="source must be bytes, str, a path"):
        sniff(None)


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


def test_the_core_says_who_knows_the_other_forms():
    """`streamkit.rebuild` reads the plain ones, and says where the others are read."""
    with pytest.raises(UnknownForm, match=r"not 'har'; .* streamkit\.recordings\.rebuild"):
        streamkit.rebuild(HAR, form="har")


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


# -- What comes to light on the way --------------------------------------------------


def packed_and_cut(data, keep):
    """Return *data* in gzip, of which about the first *keep* bytes are whole."""
    packer = zlib.compressobj(wbits=31)
    start = packer.compress(data[:keep]) + packer.flush(zlib.Z_FULL_FLUSH)
    return start, start + (packer.compress(data[keep:]) + packer.flush())[:20]


def codes(outcome):
    return [issue.code for issue in outcome.issues]


def test_a_file_that_is_cut():
    """What is whole is rebuilt, and the last outcome says where the file ends."""
    entry = SSE.replace(b"chatcmpl-1", b"chatcmpl-2")
    for data in packed_and_cut(SSE + entry, len(SSE) + SSE.index(b"\n\n") + 20):
        first, last = rebuild(data)
        assert texts([first]) == ["Hello"]
        assert codes(first) == []
        assert "cut_body" in codes(last)
        assert last.issue_counts["cut_body"] == 1
        assert next(issue for issue in last.issues if issue.code == "cut_body").offset == len(data)


def test_a_cut_behind_the_last_outcome():
    """It is said of the last outcome, though all of that had been read."""
    start, _ = packed_and_cut(HAR, HAR.index(b'"request"', 100))
    found = []
    with contextlib.suppress(UnknownForm):  # the list of entries was cut, too
        found.extend(rebuild(start))
    assert texts(found)[0] == "Hello"
    assert "cut_body" in codes(found[-1])


def test_recordings_tell_later():
    """The same, for those who read the pieces themselves."""
    whole, cut = gzip.compress(SSE), gzip.compress(SSE)[:-9]
    for data, told in ((SSE, None), (whole, []), (cut, ["cut_body"])):
        [recording] = read(data)
        assert b"".join(piece.data for piece in recording.pieces).startswith(SSE[:300])
        found = recording.later
        assert (found and [issue.code for issue in found]) == (told or found)


def test_bodies_tell_later():
    """A body that is cut inside a recording; and both, if the file is cut too."""
    body = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n" + gzip.compress(SSE)[:-9]
    [outcome] = rebuild(body)
    assert texts([outcome]) == ["Hello"]
    assert codes(outcome) == ["cut_body"]
    [outcome] = rebuild(gzip.compress(body)[:-3])
    assert codes(outcome) == ["cut_body"] * 2
    for recording in read(gzip.compress(body)[:-3]):
        assert list(recording.pieces)
    assert [issue.code for issue in recording.later] == ["cut_body"] * 2


def test_a_cut_before_any_outcome():
    """With no recording found there is nobody to tell it of."""
    empty = json.dumps({"log": {"version": "1.2", "entries": []}}).encode() + b" " * 99
    with pytest.raises(UnknownForm, match="the HAR has 0 entries, and no"):
        list(rebuild(gzip.compress(empty)[:-3], form="har"))


# -- Times ---------------------------------------------------------------------------


def timed(times, chunks=CHUNKS):
    rows = ({"t": time, "chunk": chunk} for time, chunk in zip(times, chunks, strict=True))
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize("cumulative", [False, True])
def test_timing(cumulative):
    """A form that has times gives timing; one that has none gives None."""
    [outcome] = rebuild(timed([0.5, 0.75, 1.0]), cumulative=cumulative)
    assert outcome.timing == Timing(
        origin="recording",
        chunks=3,
        timed=3,
        first_chunk=0.5,
        first_content=0.5,
        duration=1.0,
        gap_p50=0.25,
        gap_p95=0.25,
        gap_max=0.25,
        chunks_per_second=4.0,
    )
    [outcome] = rebuild(SSE)
    assert outcome.timing is None


def log_of(times):
    lines = (f"{time} data: {json.dumps(c)}\n" for time, c in zip(times, CHUNKS, strict=True))
    return "".join(lines)


def test_timing_of_a_log():
    """The prefix has the times."""
    [outcome] = rebuild(log_of(f"2026-01-01T00:00:0{n}Z" for n in (1, 2, 4)))
    assert (outcome.timing.gap_max, outcome.timing.origin) == (2.0, "first chunk")


@pytest.mark.parametrize(
    ("times", "code", "timed_chunks"),
    [
        (("12:00:05", "12:00:04", "12:00:06"), "clock_backwards", 3),
        (("12:00:05", "12:00:05", "12:00:05"), "clock_stands", 3),
        (("12:00:05Z", "12:00:05+01:00", "12:00:06Z"), "clock_backwards", 3),
        (("12:00:05+0200", "12:00:06Z", "12:00:07Z"), "clock_jumps", 3),
    ],
)
def test_wrong_clocks(times, code, timed_chunks):
    """They are issues of the outcome, with the place, and the response is right."""
    [outcome] = rebuild(log_of(f"2026-01-01T{time}" for time in times))
    assert texts([outcome]) == ["Hello"]
    assert outcome.issue_counts[code] == 1
    assert outcome.timing.timed == timed_chunks


@pytest.mark.parametrize(
    "time", ["9999-12-31T23:59:59Z", "0000-00-00T00:00:00Z", "2026-02-31T1:1:1"]
)
def test_impossible_times(time):
    """They are no errors."""
    times = ["2026-01-01T00:00:00Z", time, "2026-01-01T00:00:02Z"]
    [outcome] = rebuild(log_of(times))
    assert texts([outcome]) == ["Hello"]
    assert outcome.timing.timed >= 2


def pieces_form(monkeypatch, pieces):
    """Let a form of the name `made` give *pieces*."""
    form = Form(
        name="made",
        title="made",
        looks=lambda _: 0,
        read=lambda *_: iter([Recording(pieces=pieces)]),
    )
    monkeypatch.setattr(_registry, "FORMS", {**FORMS, "made": form})


def event_of(chunk):
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


@pytest.mark.parametrize("joined", [1, 7, 1000])
def test_timing_of_long_streams(monkeypatch, joined):
    """The fast road has the same times as the slow one, and the same first content."""
    opening = {"index": 0, "delta": {"role": "assistant", "content": ""}}
    chunks = [{**CHUNKS[0], "choices": [opening]}]
    chunks += [chunk(f"w{number % 7}") for number in range(2000)]
    chunks += [{**chunk("", finish="stop"), "usage": {"completion_tokens": 1000}}]
    events = [Piece(event_of(chunk), 100.0 + number / 4) for number, chunk in enumerate(chunks)]
    pieces = [
        Piece(b"".join(piece.data for piece in some), some[-1].time)
        for some in (events[at : at + joined] for at in range(0, len(events), joined))
    ]
    pieces_form(monkeypatch, [Piece(b"", 99.0), *pieces])
    [fast] = rebuild(b"x", form="made")
    _, (slow,) = trace([Piece(b"", 99.0), *pieces])
    assert fast.timing == slow.outcome.timing
    assert fast.timing.timed == len(chunks)
    assert fast.timing.tokens_per_second == pytest.approx(1000 / fast.timing.duration)
    if joined == 1:
        assert (fast.timing.first_chunk, fast.timing.first_content) == (1.0, 1.25)


def test_first_content_behind_chunks_that_are_alike(monkeypatch):
    """Many that add nothing come first: they are no content, whatever road they go."""
    chunks = [chunk("")] * 50 + [chunk(f"w{number % 7}") for number in range(50)]
    pieces_form(monkeypatch, [Piece(event_of(c), 100.0 + n) for n, c in enumerate(chunks)])
    [outcome] = rebuild(b"x", form="made")
    assert outcome.timing.first_content == outcome.timing.first_chunk + 50
    assert outcome.timing.chunks == 100


def test_place_of_a_wrong_clock_in_a_run(monkeypatch):
    """The event and the offset are those of its chunk, on the fast road too."""
    chunks = [event_of(chunk(f"w{number % 7}")) for number in range(500)]
    times = [1000.0 + number for number in range(500)]
    times[400] = 5.0
    pieces_form(monkeypatch, list(map(Piece, chunks, times)))
    [outcome] = rebuild(b"x", form="made")
    issue = next(issue for issue in outcome.issues if issue.code == "clock_backwards")
    assert (issue.event, issue.offset) == (400, sum(map(len, chunks[:400])))


def test_times_that_begin_late(monkeypatch):
    """The chunks before them have none; those of no chunk count for nothing."""
    ping = b'data: {"type": "ping"}\n\n'
    events = [Piece(event_of(c), time) for c, time in zip(CHUNKS, (None, 7.0, 8.0), strict=True)]
    other = b'data: {"x": 1}\n\n'
    pieces_form(monkeypatch, [*events[:2], Piece(ping, 7.5), Piece(other, 7.6), events[2]])
    [outcome] = rebuild(b"x", form="made")
    assert (outcome.timing.chunks, outcome.timing.timed) == (3, 2)
    assert outcome.timing.first_content == 7.0
    (issue,) = (each for each in outcome.issues if each.code == "clock_missing")
    assert (issue.event, issue.message) == (0, "1 chunk without a time")


def test_place_of_a_time_that_is_missing(monkeypatch):
    """Of the first."""
    events = list(map(event_of, CHUNKS))
    pieces_form(monkeypatch, list(map(Piece, events, (7.0, None, None))))
    [outcome] = rebuild(b"x", form="made")
    issue = next(issue for issue in outcome.issues if issue.code == "clock_missing")
    assert (issue.event, issue.offset) == (1, len(events[0]))


def test_times_of_a_stream_without_a_response(monkeypatch):
    """An error is all that came."""
    pieces_form(monkeypatch, [Piece(event_of({"id": "a", "error": "overloaded"}), 7.0)])
    [outcome] = rebuild(b"x", form="made")
    assert (outcome.response, outcome.error.code) == (None, "upstream_error")


def test_the_request_is_of_the_first_stream(monkeypatch):
    """A further stream of the recording has another, which is not known."""
    second = [chunk(text, identity="chatcmpl-2") for text in ("a", "b")]
    events = [Piece(event_of(c), 1e9 + n) for n, c in enumerate([*CHUNKS, *second], 1)]
    events.insert(3, Piece(b"data: [DONE]\n\n", 1e9 + 3))
    pieces_form(monkeypatch, [Piece(b"", 1e9), *events])
    first, last = rebuild(b"x", form="made")
    assert (first.timing.origin, last.timing.origin) == ("request", "first chunk")
    assert (first.timing.chunks, last.timing.chunks) == (3, 2)
