"""Rows: a body per row, a chunk per row, rows to be sorted; traces; JSON, CSV."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from streamkit import LimitExceeded, Limits, UnknownForm
from streamkit.recordings import ReadOptions, _csv, _row_values, _rows, _traces, rebuild, sniff
from streamkit.recordings._row_streams import stream_of_rows
from tests.recordings.making import (
    BODY,
    CHUNKS,
    FINAL,
    MESSAGES_STREAM,
    chunk,
    codes,
    form_of,
    lines,
    outcomes,
    read,
    sse,
    text,
)


JSON = form_of(_rows.FORMS, "rows")
CSV = form_of(_csv.FORMS, "csv")

OTHER = sse(chunk("chatcmpl-9", content="Bye", finish="stop"))


def body_rows(name):
    return [{"ts": 1.5, "status": 200, name: body} for body in (BODY, OTHER)]


# -- A body per row --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["response_body", "response", "raw", "text", "output", "whatever"])
def test_body_per_row(name):
    """Each row is a recording of its own, whatever the column is called."""
    recordings = read(JSON, lines(*body_rows(name)))
    assert [each.name for each in recordings] == ["row 1", "row 2"]
    assert [text(each) for each in recordings] == ["Hello", "Bye"]


def coded(body):
    return base64.b64encode(gzip.compress(body.encode())).decode()


@pytest.mark.parametrize(
    "value",
    [
        BODY,
        BODY.replace("\n", "\r\n"),
        ": hello\n\n" + BODY,
        coded(BODY),
        CHUNKS,
        json.dumps(CHUNKS),
        FINAL,
        json.dumps(FINAL),
        {"status": 200, "body": BODY},
        json.dumps({"status": 200, "body": json.dumps(FINAL)}),
        [f"data: {json.dumps(each)}\n\n" for each in CHUNKS],
    ],
    ids=[
        "sse",
        "crlf",
        "comment",
        "gzip",
        "list",
        "json list",
        "final",
        "json",
        "nested",
        "opened",
        "events",
    ],
)
def test_kinds_of_bodies(value):
    """A body is text, JSON, or objects; it may lie deeper, even in JSON inside JSON."""
    for rows in ([{"value": value, "n": 1}], [{"value": value, "n": 1}, {"value": value, "n": 2}]):
        for each in read(JSON, lines(*rows)):
            assert text(each) == "Hello"


def test_cut_bodies():
    """Bodies that never end are bodies too, if no two rows share an id."""
    bodies = [
        sse(chunk(f"c-{n}", role="assistant"), chunk(f"c-{n}", content="Hi"), done=False)
        for n in "ab"
    ]
    first, second = read(JSON, lines(*({"body": body} for body in bodies)))
    assert [text(each) for each in (first, second)] == ["Hi", "Hi"]
    body = json.dumps(FINAL)[:-30]
    (recording,) = read(JSON, lines({"response": body}))
    assert "cut_value" in outcomes(recording)[0].issue_counts


def test_rows_that_lack_one():
    """There is a recording for each row, so that they can be matched; what is missing is said."""
    rows = [
        *body_rows("body"),
        {"ts": 1.5, "body": None},
        {"ts": 1.5, "other": OTHER},
        {"body": ""},
    ]
    data = lines(*rows) + b"\n" + b'{"body": "data:'
    recordings = read(JSON, data)
    found = [[] if each.pieces else codes(each) for each in recordings]
    assert found == [[], [], ["missing_body"], [], ["missing_body"], ["bad_row"]]
    assert text(recordings[3]) == "Bye"


def test_field():
    """A column can be named, with dots where it lies deeper."""
    rows = [{"a": BODY, "b": {"c": OTHER}, "d.e": OTHER}]
    for field in ("b.c", "d.e"):
        assert text(read(JSON, lines(*rows), field=field)[0]) == "Bye"
    for field in ("nothing", "a.b", "b.c.d"):
        with pytest.raises(UnknownForm, match="no row has the column"):
            read(JSON, lines(*rows), field=field, block=99)


def test_columns_that_no_row_has():
    """A misspelled name is told, as rows that nothing tells apart would be one stream."""
    rows = [{"a": BODY, "b": 1}, {"a": OTHER, "b": 2}]
    for name in ("group_by", "order_by", "time_field"):
        assert read(JSON, lines(*rows), **{name: "b"})
        with pytest.raises(UnknownForm, match="no row has the column 'c'"):
            read(JSON, lines(*rows), **{name: "c"})


@pytest.mark.parametrize("bare", [1, 2, 5])
def test_chunks_with_and_without_something_around_them(bare):
    """As when files are written one behind the other; whichever are more."""
    around = [{"t": 1.5, "chunk": chunk(content="a")}, {"t": 2.5, "chunk": chunk(content="a")}]
    (recording,) = read(JSON, lines(*around, *[chunk(content="b")] * bare))
    assert text(recording) == "aa" + "b" * bare
    assert "not_a_chunk" not in outcomes(recording)[0].issue_counts


def test_times_that_only_some_rows_have():
    """They are taken where they are, and say nothing of an order."""
    rows = [{"t": 1.5, "chunk": chunk(content="a")}, {"t": None, "chunk": chunk(content="b")}]
    for order in (rows, rows[::-1]):
        (recording,) = read(JSON, lines(*order))
        assert [piece.time for piece in recording.pieces] == [row["t"] for row in order]


def test_field_that_is_no_stream():
    """What was asked for is taken as it is: the core says what it is."""
    (recording,) = read(JSON, lines({"a": BODY, "b": "text"}), field="b")
    assert outcomes(recording)[0].response is None


def test_requests_are_never_read():
    """What went to the server is not looked at, and nothing of it is shown."""
    row = {"request_body": BODY, "input": FINAL, "headers": {"a": BODY}, "messages": [FINAL]}
    row |= {"httpRequest": BODY, "llm.input": BODY, "proxy_server_request": BODY}
    assert JSON.looks(lines(row)) == 0
    with pytest.raises(UnknownForm, match="no column of the rows"):
        read(JSON, lines(row), block=99)


def test_other_dialect():
    """Rows of another API are named one by one."""
    recordings = read(JSON, lines({"body": MESSAGES_STREAM}, {"body": BODY}))
    assert [codes(each) for each in recordings] == [["other_dialect"], []]


def test_pretty_json():
    """Rows may be laid out over many lines, in a list or one behind another."""
    rows = body_rows("body")
    for data in (
        json.dumps(rows).encode(),
        json.dumps(rows, indent=2).encode(),
        "\n".join(json.dumps(row, indent=2) for row in rows).encode(),
        b"\xef\xbb\xbf\n" + lines(*rows),
        b"[" + lines(rows[0]) + b"," + lines(rows[1]) + b"]",
        lines([rows[0]], [rows[1]]),
    ):
        assert [text(each) for each in read(JSON, data)] == ["Hello", "Bye"]


def test_exports():
    """Rows inside one object are rows."""
    for key in ("data", "observations", "items"):
        recordings = read(JSON, lines({"object": "list", key: body_rows("body")}))
        assert [text(each) for each in recordings] == ["Hello", "Bye"]
    (recording,) = read(JSON, lines({"t": 1, "data": CHUNKS}))
    assert text(recording) == "Hello"


# -- A chunk per row -------------------------------------------------------------------


def timed(values, name="chunk", time="t", start=100.0):
    return [{time: start + number, name: value} for number, value in enumerate(values)]


EVENTS = [f"data: {json.dumps(each)}\n\n" for each in CHUNKS]


@pytest.mark.parametrize(
    "values",
    [
        CHUNKS,
        [json.dumps(each) for each in CHUNKS],
        EVENTS,
        [event.strip() for event in EVENTS],
        [*EVENTS, "data: [DONE]\n\n"],
        [*map(json.dumps, CHUNKS), "[DONE]"],
        [BODY[:150], BODY[150:300], BODY[300:]],
        [line for event in EVENTS for line in (event.strip(), "")],
        [None, *CHUNKS],
    ],
    ids=["objects", "json", "events", "lines", "done", "json done", "reads", "blank", "null"],
)
@pytest.mark.parametrize("name", ["chunk", "data", "x"])
def test_chunk_per_row(values, name):
    """Rows of one stream are its pieces, each with its time."""
    (recording,) = read(JSON, lines(*timed(values, name)))
    assert text(recording) == "Hello"
    expected = [100.0 + n for n, value in enumerate(values) if value is not None]
    assert [piece.time for piece in recording.pieces] == expected
    assert recording.name == ""
    assert recording.pieces[0].place.startswith("row ")


def test_chunk_with_a_time_of_its_own():
    """A chunk may have been given the time as a further key."""
    rows = [{"t": 5 + n} | each for n, each in enumerate(CHUNKS)]
    assert JSON.looks(lines(*rows)) == 70
    (recording,) = read(JSON, lines(*rows))
    assert [piece.time for piece in recording.pieces] == [5, 6, 7]
    assert json.loads(recording.pieces[0].data) == CHUNKS[0]


def test_pairs():
    """A list of a time and a chunk is a row."""
    (recording,) = read(JSON, lines(*([5 + n, each] for n, each in enumerate(CHUNKS))))
    assert text(recording) == "Hello"
    assert recording.pieces[2].time == 7


def test_bad_row_in_a_stream():
    """A line that was cut goes to the core, which says so."""
    rows = lines(*timed(CHUNKS))
    (recording,) = read(JSON, rows[:-40])
    assert "cut_value" in outcomes(recording)[0].issue_counts
    (recording,) = read(JSON, lines(*timed(CHUNKS[:1])) + b"5\n" + lines(*timed(CHUNKS[1:])))
    assert text(recording) == "Hello"


def test_stream_of_another_dialect():
    (recording,) = read(
        JSON, lines({"t": 1, "data": MESSAGES_STREAM}, {"t": 2, "data": MESSAGES_STREAM})
    )
    assert codes(recording) == ["other_dialect"]


def test_a_stream_is_not_held():
    """Chunks of one stream are passed on as they come, however many there are."""
    taken = 0

    def blocks():
        nonlocal taken
        while True:
            taken += 1
            yield lines(*timed(CHUNKS[:1]))

    recording = next(JSON.read(blocks(), _rows.ReadOptions()))
    pieces = iter(recording.pieces)
    for _ in range(1000):
        next(pieces)
    assert taken < 1100


def test_times():
    """Times in all units and spellings are seconds."""
    for row, expected in (
        ({"ts": "2026-09-21T14:13:20.250Z"}, 1790000000.25),
        ({"ts": "2026-09-21T14:13:20.250000"}, 1790000000.25),
        ({"timestamp": 1790000000250}, 1790000000.25),
        ({"ts_ns": "1790000000250000000"}, 1790000000.25),
        ({"t_ms": 250}, 0.25),
        ({"clock": 3}, None),
    ):
        (recording,) = read(JSON, lines(row | {"chunk": CHUNKS[0]}))
        assert [piece.time for piece in recording.pieces] == [pytest.approx(expected, abs=1e-6)]
    (recording,) = read(JSON, lines({"clock": 3, "chunk": CHUNKS[0]}), time_field="clock")
    assert recording.pieces[0].time == 3


# -- Rows to be sorted and joined ------------------------------------------------------


def sequence(group, chunks, name="request_id", order="seq"):
    return [
        {name: group, order: number, "data": f"data: {json.dumps(each)}\n\n"}
        for number, each in enumerate(chunks)
    ]


BYE = [chunk("chatcmpl-9", content=each) for each in ("B", "y", "e")]


def test_sequence_rows():
    """Rows are joined by the column that tells streams apart, and sorted by their number."""
    first, second = sequence("r1", CHUNKS), sequence("r2", BYE)
    rows = [second[1], first[2], first[0], second[0], second[2], first[1]]
    recordings = read(JSON, lines(*rows))
    assert [each.name for each in recordings] == ["request_id 'r2'", "request_id 'r1'"]
    assert [text(each) for each in recordings] == ["Bye", "Hello"]
    assert [codes(each) for each in recordings] == [["rows_sorted"], ["rows_sorted"]]


def test_sequence_rows_by_option():
    """The columns can be named."""
    first = sequence("r1", CHUNKS, "who", "when")
    rows = [first[2], first[0], first[1], {"who": "r1", "when": 9}]
    (recording,) = read(JSON, lines(*rows), group_by="who", order_by="when")
    assert (text(recording), codes(recording)) == ("Hello", ["rows_sorted"])
    (recording,) = read(JSON, lines(*rows), order_by="when")
    assert (recording.name, text(recording)) == ("", "Hello")
    (recording,) = read(JSON, lines(*rows), group_by="who", field="data")
    assert text(recording) == "Hello"


def test_order_of_texts():
    """Numbers in texts count as numbers; other texts come after, by the alphabet."""
    rows = [{"k": key, "chunk": chunk(content=key)} for key in ("10", "9", "x", "b")]
    rows += [
        {"k": "2026-01-01T00:00:00", "chunk": chunk(content="T")},
        {"chunk": chunk(content="-")},
    ]
    (recording,) = read(JSON, lines(*rows), order_by="k")
    assert text(recording) == "910Tbx-"


def test_sorted_by_time():
    """Without numbers, the rows of a stream are sorted by time."""
    rows = [row | {"request_id": "r1"} for row in timed(CHUNKS)]
    (recording,) = read(JSON, lines(*rows[::-1]))
    assert (text(recording), codes(recording)) == ("Hello", ["rows_sorted"])
    (recording,) = read(JSON, lines(*({**row, "t": None} for row in rows)))
    assert (text(recording), codes(recording)) == ("Hello", [])


def test_repeated_and_missing_rows():
    """A row that came twice is taken once, and gaps are reported."""
    rows = sequence("r1", CHUNKS)
    (recording,) = read(JSON, lines(rows[0], rows[1], rows[1], rows[2]))
    assert (text(recording), codes(recording)) == ("Hello", ["rows_repeated"])
    assert recording.notes[0].message == "1 row came twice; each was taken once"
    many = sequence("r1", [chunk(content=str(n)) for n in range(9)])
    (recording,) = read(JSON, lines(*many[:4], *many[6:]))
    assert codes(recording) == ["rows_missing"]
    assert recording.notes[0].message.startswith("2 numbers")
    (recording,) = read(JSON, lines(*many[:4], *many[5:]))
    assert recording.notes[0].message.startswith("1 number of 'seq' is missing")
    stepped = [row | {"seq": 10 * row["seq"]} for row in many]
    assert codes(read(JSON, lines(*stepped))[0]) == []


SAME = [chunk(content=text) for text in ("a", "a", "b", "c")]
NANOSECONDS = 1_790_000_000_000_000_000


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (range(NANOSECONDS, NANOSECONDS + 4), []),
        ([str(NANOSECONDS + n) for n in range(4)], []),
        ([Decimal(n) for n in (1, 2, 3, 4)], []),
        (
            [Decimal(n) for n in (NANOSECONDS, NANOSECONDS + 1, 5, 6)],
            ["rows_sorted", "rows_missing"],
        ),
        ([Decimal("0.5"), Decimal(1), Decimal("1.5"), 2], []),
        ([Decimal("NaN"), Decimal("Infinity"), Decimal(10**301), 10**400], []),
        ([1790000000] * 4, []),
        (["2026-11-30T10:00:00Z"] * 4, []),
    ],
)
def test_rows_that_did_not_come_twice(numbers, said):
    """Numbers are not rounded, and what is the same for all rows tells none from another."""
    rows = stream_of_rows(zip(numbers, map(json.dumps, SAME), strict=True), "seq")
    wanted = "bcaa" if said else "aabc"
    assert (text(rows), [issue.code for issue in rows.notes]) == (wanted, said)


@pytest.mark.parametrize("kind", [int, str, float, Decimal])
def test_rows_that_came_twice(kind):
    """Of whatever type the numbers are; what has another chunk is another row."""
    numbers = [kind(n) for n in (1, 1, 2, 3)]
    rows = stream_of_rows(zip(numbers, map(json.dumps, SAME), strict=True), "seq")
    assert (text(rows), [issue.code for issue in rows.notes]) == ("abc", ["rows_repeated"])


def test_bad_rows_among_sorted_ones():
    rows = lines(*sequence("r1", CHUNKS)) + b'{"request_id": "r1", "se'
    (recording,) = read(JSON, rows)
    assert (text(recording), codes(recording)) == ("Hello", ["bad_row"])
    assert recording.notes[0].message == "1 line is no row; it was left out"
    (recording,) = read(JSON, rows + b"\n{")
    assert recording.notes[0].message == "2 lines are no rows; they were left out"


def test_strange_groups():
    """Any value can tell streams apart."""
    rows = [{"who": {"a": n % 2}, "chunk": each} for n, each in enumerate(CHUNKS[:2] + BYE[:2])]
    recordings = read(JSON, lines(*rows), group_by="who")
    assert [len(each.pieces) for each in recordings] == [2, 2]


def test_the_index_of_a_choice_is_no_order():
    """A column whose numbers come again and again orders nothing."""
    rows = [{"index": n % 2, "chunk": each} for n, each in enumerate(CHUNKS * 3)]
    (recording,) = read(JSON, lines(*rows))
    assert [json.loads(piece.data) for piece in recording.pieces] == CHUNKS * 3


def test_what_is_held_is_bounded():
    """Streams that have to be sorted must fit into memory."""
    row = {"request_id": "r", "seq": 0, "data": "data: " + "x" * (1 << 20) + "\n\n"}
    data = (lines(row | {"seq": n}) for n in range(99))
    with pytest.raises(LimitExceeded, match="line"):
        list(JSON.read(data, _rows.ReadOptions()))
    rows = sequence("r", CHUNKS)
    assert len(read(JSON, lines(*rows), limits=Limits(line=None))) == 1


# -- Traces ----------------------------------------------------------------------------


def test_gateway_payload():
    """A gateway's log with the whole response inside is passed through."""
    row = {"id": "x", "call_type": "acompletion", "startTime": 1.5, "response": FINAL}
    for data in (lines(row), lines(row, row), json.dumps(row, indent=1).encode()):
        for recording in read(JSON, data):
            assert (text(recording), codes(recording)) == ("Hello", [])
            assert "already_final" in outcomes(recording)[0].issue_counts


MESSAGE = {"role": "assistant", "content": "Hello"}
OTEL = {
    "gen_ai.response.model": "m-1",
    "gen_ai.usage.input_tokens": 5,
    "gen_ai.usage.output_tokens": 4,
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "Hello",
    "gen_ai.completion.0.finish_reason": "stop",
    "gen_ai.prompt.0.content": "secret",
}
PARTS = [
    {
        "role": "assistant",
        "parts": [{"type": "text", "content": "Hello"}, {}],
        "finish_reason": "stop",
    }
]


def listed(attributes):
    kinds = {int: "intValue", str: "stringValue"}
    return [{"key": key, "value": {kinds[type(value)]: value}} for key, value in attributes.items()]


@pytest.mark.parametrize(
    "row",
    [
        {"type": "GENERATION", "startTime": "x", "model": "m-1", "output": MESSAGE},
        {"startTime": 1, "output": json.dumps(MESSAGE), "usageDetails": {"input": 5, "output": 4}},
        {"startTime": 1, "output": "Hello", "input": "secret"},
        {
            "startTime": 1,
            "output": [{"role": "user", "content": "x"}, MESSAGE, {"role": "tool", "content": "y"}],
        },
        {"trace_id": 1, "outputs": {"message": MESSAGE}},
        {"attributes": OTEL},
        {"attributes": listed(OTEL)},
        {"attributes": {"gen_ai.output.messages": PARTS}},
        {"attributes": {"gen_ai.output.messages": json.dumps(PARTS)}},
        {"attributes": {"llm.output_messages.0.message.content": "Hello", "llm.model_name": "m-1"}},
        {"attributes": listed({"output.value": "Hello"})},
    ],
)
def test_messages_of_traces(row):
    """A trace that keeps the message alone gives it, and says so."""
    assert JSON.looks(lines(row)) == 80
    (recording,) = read(JSON, lines(row))
    assert (text(recording), codes(recording)) == ("Hello", ["message_only"])
    assert "secret" not in repr(recording)


def test_what_a_trace_knows():
    """Model, usage and finish reason are kept; what is not known stays absent."""
    response = _traces.final_of({"attributes": OTEL})
    assert response["model"] == "m-1"
    assert response["usage"] == {"prompt_tokens": 5, "completion_tokens": 4}
    assert response["choices"][0]["finish_reason"] == "stop"
    response = _traces.final_of({"startTime": 1, "output": MESSAGE, "usage": {"total": 9}})
    assert response["usage"] == {"total_tokens": 9}
    assert response.keys() == {"object", "choices", "usage"}


@pytest.mark.parametrize(
    "row",
    [
        5,
        {"output": MESSAGE},
        {"startTime": 1},
        {"startTime": 1, "output": ""},
        {"startTime": 1, "output": {"role": "user", "content": "x"}},
        {"startTime": 1, "output": {"role": "assistant"}},
        {"startTime": 1, "output": []},
        {"attributes": [5, {"key": 5}, {"key": "a", "value": 5}, {"key": "b", "value": {}}]},
        {"attributes": {"gen_ai.output.messages": 5}},
        {"attributes": {"gen_ai.output.messages": "[]"}},
    ],
)
def test_no_message(row):
    assert _traces.final_of(row) is None


def test_otel_export():
    """The spans of an export are rows; those of a body are found among their attributes."""
    spans = [
        {"attributes": listed(OTEL)},
        {"attributes": listed({"output.value": json.dumps(FINAL)})},
    ]
    row = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    recordings = read(JSON, lines(row))
    assert [text(each) for each in recordings] == ["Hello", "Hello"]
    assert sorted(map(codes, recordings)) == [[], ["message_only"]]


# -- CSV -------------------------------------------------------------------------------


def csv_of(*rows, separator=",", **kwargs):
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, rows[0].keys(), delimiter=separator, **kwargs)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv(separator):
    """CSV is rows as well, with bodies that hold line ends and quotation marks."""
    data = csv_of(*body_rows("body"), separator=separator)
    assert CSV.looks(data) == 87
    assert [text(each) for each in read(CSV, data)] == ["Hello", "Bye"]
    data = b"\xef\xbb\xbf" + csv_of(
        *timed(map(json.dumps, CHUNKS)), separator=separator, lineterminator="\n"
    )
    (recording,) = read(CSV, data)
    assert (text(recording), recording.pieces[1].time) == ("Hello", 101.0)


def test_csv_of_a_sequence():
    first = sequence("r1", CHUNKS)
    (recording,) = read(CSV, csv_of(*first[::-1]))
    assert (text(recording), codes(recording)) == ("Hello", ["rows_sorted"])


def test_long_csv_field():
    """Bodies are longer than the csv module's own bound."""
    body = sse(chunk(content="x" * 200_000, finish="stop"))
    (recording,) = read(CSV, csv_of({"n": 1, "body": body}), block=1 << 16)
    assert len(text(recording)) == 200_000


def test_csv_bytes():
    """Bad UTF-8 is replaced."""
    data = csv_of({"n": 1, "body": "data: X\n\n"}).replace(b"X", b"\xff")
    assert read(CSV, data, field="body")[0].pieces[0].data == "data: \ufffd\n\n".encode()


def test_broken_csv(monkeypatch):
    """A row is bounded, however its quotation marks fall; what the module refuses is told."""
    for data in (b'a,b\n1,"' + b"x\n" * 900, b"a,b\n1," + b"x" * 2000):
        with pytest.raises(LimitExceeded, match="line"):
            read(CSV, data, block=99, limits=Limits(line=1000))
    assert text(read(CSV, csv_of(*body_rows("body")), limits=Limits(line=None))[0]) == "Hello"

    def refuse(*_, **__):
        raise csv.Error("no")

    monkeypatch.setattr(_csv.csv, "reader", refuse)
    with pytest.raises(UnknownForm, match="CSV cannot be read at line 0: no"):
        read(CSV, b"a,b\n1,x\n", block=99)


# -- What rows look like ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (lines(*body_rows("body")), 86),
        (b"\xef\xbb\xbf\n" + lines(*timed(CHUNKS)), 86),
        (lines(*timed(CHUNKS), [5, CHUNKS[0]]), 86),
        (json.dumps(body_rows("body"), indent=1).encode(), 86),
        (b'{"ts": 1, "response_body": "data: {', 75),
        (b'[{"ts": 1, "response_body": "event: x', 75),
        (b'{"id": 1, "response": {"id": 2, "choices": [', 75),
        (b'{"log": {"entries": [{"text": "data: {', 0),
        (b'{"id": 1, "choices": [', 0),
        (lines(*CHUNKS), 0),
        (json.dumps(CHUNKS).encode(), 0),
        (json.dumps(CHUNKS, indent=1).encode(), 0),
        (json.dumps(FINAL).encode(), 0),
        (lines({"log": BODY, "stream": "stdout", "time": "t"}), 0),
        (lines({"log": {"entries": [{"text": BODY}]}}), 0),
        (lines({"log": {"text": BODY}}), 86),
        (lines({"version": 1, "interactions": [{"body": BODY}]}), 0),
        (lines({"level": "info", "msg": "started"}), 0),
        (lines({"type": "message_start"}), 0),
        (lines({"error": {"message": "no"}}), 0),
        (b"{\n", 0),
        (b"[1, 2]\n", 0),
        (b"[5, 6, 7]", 0),
        (BODY.encode(), 0),
        (b"", 0),
        (b"{" * 70_000, 0),
        (b'{"a": [' * 9000, 0),
    ],
)
def test_looks_json(head, score):
    """Rows are told from chunks, from other forms, and from other JSON."""
    assert JSON.looks(head) == score


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (csv_of(*body_rows("body")), 87),
        (csv_of({"a": 1, "b": "text"}), 0),
        (b"a,b\n", 0),
        (b'a,b\n1,"' + b"x" * 140_000, 0),
        (b"a,b\n1,2,data: {}\n", 0),
        (b"Hello, world\ndata: {}\n", 0),
        (b"data: 1,2\n", 0),
        (BODY.encode(), 0),
        (b"", 0),
    ],
)
def test_looks_csv(head, score):
    assert CSV.looks(head) == score


# -- Hostile input ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "error", "match"),
    [
        (b"", UnknownForm, "no column"),
        (b"text\n", UnknownForm, "no column"),
        (b"\n\n", UnknownForm, "no column"),
        (b"[" * 900, UnknownForm, "no column"),
        (b'{"a":' * 100, UnknownForm, "cut"),
        (b"[" * 100_000, LimitExceeded, "line"),
        (lines({"a": {"b": 1}}), UnknownForm, "no column"),
        (b'{"a":"' + b"x" * 2000 + b'"}', LimitExceeded, "line"),
        (b"{}\n" + b"x" * 2000, LimitExceeded, "line"),
    ],
)
def test_hostile(data, error, match):
    """What is no row is an error that says so."""
    with pytest.raises(error, match=match):
        read(JSON, data, block=1 << 16, limits=Limits(line=1000))


def test_search_is_bounded():
    """A row with ten thousand columns, or deep ones, is searched only so far."""
    wide = {f"k{n}": {"a": n} for n in range(5000)} | {"zzz": [BODY]}
    assert _row_values.find(wide | {"text": BODY}) == ("text",)
    assert _row_values.find({"a": {"b": wide}}) is None
    deep = BODY
    for _ in range(9):
        deep = {"a": deep}
    assert _row_values.find(deep) is None


def test_values():
    """The small judgements, one by one."""
    assert _row_values.is_stream([]) is False
    assert _row_values.is_stream([[FINAL]]) is False
    assert _row_values.is_stream(5) is False
    assert _row_values.is_stream('see "choices": there') is False
    assert _row_values.is_stream(memoryview(BODY.encode())) is True
    assert _row_values.as_bytes(bytearray(b"x")) == b"x"
    assert _row_values.at({"a": [5]}, ("a", 3)) is None
    assert _row_values.number_of(True) is None
    assert _row_values.number_of(10**400) is None
    assert _row_values.number_of("nan") is None
    assert _row_values.seconds(None) is None
    assert _row_values.seconds("soon") is None
    assert _row_values.seconds(datetime(1970, 1, 2, tzinfo=UTC)) == 86400.0
    assert _row_values.seconds(datetime(1970, 1, 2, tzinfo=UTC).replace(tzinfo=None)) == 86400.0
    assert _row_values.find({5: BODY}) is None


# -- Rows in a row ---------------------------------------------------------------------


EVENTS = [f"data: {json.dumps(each)}" for each in CHUNKS] + ["data: [DONE]"]


@pytest.mark.parametrize(
    "value",
    [
        [{"data": each} for each in EVENTS],
        [{"type": "start"}, *({"data": each} for each in CHUNKS)],
        [{"t": number, "chunk": each} for number, each in enumerate(CHUNKS)],
        [[number, each] for number, each in enumerate(CHUNKS)],
        [[f"2026-11-30T04:20:0{number}Z", each] for number, each in enumerate(CHUNKS)],
    ],
    ids=["events", "mixed", "timed", "pairs", "dated pairs"],
)
@pytest.mark.parametrize("name", ["events", "chunks", "whatever"])
def test_list_of_rows(name, value):
    """A row may hold the rows of its stream; each of them is read, not the first alone."""
    rows = [{"id": number, name: value} for number in range(2)]
    assert [text(each) for each in read(JSON, lines(*rows))] == ["Hello"] * 2
    (recording,) = read(JSON, json.dumps(rows[0], indent=1).encode())
    assert (recording.name, text(recording)) == ("row 1", "Hello")


def test_rows_with_and_without_a_list():
    """A row without a list is read by itself."""
    rows = [{"events": [{"data": each} for each in EVENTS]}, {"events": []}, {"response": BODY}]
    recordings = read(JSON, lines(*rows) + b"{cut", field=None)
    assert [codes(each) for each in recordings] == [[], ["missing_body"], [], ["bad_row"]]
    assert [text(recordings[number]) for number in (0, 2)] == ["Hello"] * 2


def test_log_search():
    """What a search of a log store gives: its lines in a list, with times."""
    values = [[str(10**18 + 10**9 * number), each] for number, each in enumerate(EVENTS)]
    result = [{"stream": {"app": "x"}, "values": values}]
    export = {"status": "success", "data": {"resultType": "streams", "result": result}}
    (recording,) = read(JSON, json.dumps(export).encode())
    assert text(recording) == "Hello"
    assert [piece.time for piece in recording.pieces] == [1e9, 1e9 + 1, 1e9 + 2, 1e9 + 3]
    assert codes(recording) == []


def test_newest_first():
    """Rows whose times run backwards are turned round; rows of one moment keep their places."""
    times = [5, 7, 7, 7, 9]
    texts = ["a", "b", "b", "c", "d"]
    chunks = [chunk(content=each) for each in texts]
    rows = [{"ts": 1e9 + time, "chunk": each} for time, each in zip(times, chunks, strict=True)]
    (recording,) = read(JSON, lines(*reversed(rows)))
    assert (text(recording), codes(recording)) == ("abbcd", ["rows_sorted"])
    assert [piece.time - 1e9 for piece in recording.pieces] == times
    (recording,) = read(JSON, lines(*rows))
    assert (text(recording), codes(recording)) == ("abbcd", [])


@pytest.mark.parametrize(
    "texts",
    [
        [f"{each}\n\n" for each in EVENTS],
        EVENTS,
        BODY.split("\n"),
        [json.dumps(each) for each in CHUNKS] + ["[DONE]"],
        [BODY],
    ],
    ids=["events", "bare events", "lines", "payloads", "body"],
)
def test_json_texts(texts):
    """JSON of texts is read as JSON: one to a line, or in a list."""
    for data in (lines(*texts), json.dumps(texts).encode()):
        assert JSON.looks(data) > 85
        assert text(read(JSON, data)[0]) == "Hello"
    (recording,) = read(JSON, lines(f"data: {json.dumps(chunk(content='🌍'))}"))
    assert text(recording) == "🌍"


@pytest.mark.parametrize(
    "body",
    [
        base64.b64encode(BODY.encode()).decode(),
        base64.urlsafe_b64encode(json.dumps(FINAL).encode()).decode().rstrip("="),
        gzip.compress(BODY.encode()).hex(),
        [part.encode().hex() for part in BODY.partition("choices")],
    ],
    ids=["base64", "url-safe", "gzip in hexadecimal", "parts in hexadecimal"],
)
def test_body_as_text_of_bytes(body):
    """Mocks keep the bytes of a body in base64, or in hexadecimal."""
    rows = [{"scope": "https://a.example", "response": {"status": 200, "raw": body}}]
    assert JSON.looks(lines(*rows)) > 85
    assert text(read(JSON, lines(*rows))[0]) == "Hello"
    assert JSON.looks(lines({"token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbg"})) == 0
    assert JSON.looks(lines({"cursor": base64.b64encode(b'{"sub": 12345}').decode()})) == 0


def test_rows_longer_than_what_is_looked_at():
    """A prompt of any length may stand before the response; a long chunk is none."""
    row = json.dumps({"prompt": 'say "choices": ' * 9000, "response": BODY})
    assert sniff(row.encode()).name == "rows"
    assert [outcome.complete for outcome in rebuild(f"{row}\n{row}\n")] == [True, True]
    long = json.dumps({**CHUNKS[0], "padding": "x" * 99_000})
    assert sniff(long.encode()).name == "json"


def test_cut_rows():
    """Rows laid out over lines, and cut: those before are whole, and the last is told of."""
    data = json.dumps(body_rows("body"), indent=1).encode()
    first, last = read(JSON, data[: data.rindex(b"[DONE]")], block=1000)
    assert (text(first), codes(last)) == ("Hello", ["bad_row"])


NESTED = [
    {"_id": i, "_source": {"ts": 5 + i, "x": i * 10, "chunk": c}} for i, c in enumerate(CHUNKS)
]


@pytest.mark.parametrize(("field", "gap"), [(None, 1.0), ("_source.x", 10.0), ("_source.ts", 1.0)])
def test_times_beside_the_chunk(field, gap):
    """They may stand in the object that the chunk is in, as in what a search found."""
    (outcome,) = rebuild(lines(*NESTED), options=ReadOptions(time_field=field))
    assert outcome.timing.gap_max == gap
    assert "clock_missing" not in outcome.issue_counts


def test_times_newest_first_beside_the_chunk():
    """They tell the order, too; it is said by which."""
    (outcome,) = rebuild(lines(*reversed(NESTED)))
    assert outcome.response.choices[0].message.content == "Hello"
    assert "rows_sorted" in outcome.issue_counts


@pytest.mark.parametrize("field", ["y", "_source.y", "_id.y", "chunk.y"])
def test_no_such_time(field):
    """A column that is not there is refused."""
    with pytest.raises(UnknownForm, match=f"no row has the column.*{field}"):
        list(rebuild(lines(*NESTED), options=ReadOptions(time_field=field)))


def test_terminal_recording():
    """What asciinema recorded: its own header, and triples of a time, a kind and a text."""
    rows = [[i / 2, "o", e + "\r\n\r\n"] for i, e in enumerate(BODY.split("\n\n")) if e]
    (outcome,) = rebuild(lines({"version": 2, "width": 80, "timestamp": 1790000000}, *rows))
    assert outcome.response.choices[0].message.content == "Hello"
    assert outcome.timing.gap_max == 0.5
