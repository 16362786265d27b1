"""The dialects of CSV: whoever wrote it, and however, the rows are the same."""

from __future__ import annotations

import base64
import csv
import io
import json

import pytest

from streamkit import UnknownForm
from streamkit.recordings import _csv, rebuild, sniff
from tests.recordings.making import BODY, CHUNKS, chunk, codes, read, sse, text


(CSV,) = _csv.FORMS
HEADER = ["id", "time", "body"]
QUOTED = sse({**CHUNKS[0]}, *CHUNKS[1:-1], {**CHUNKS[-1], "note": 'a "b" \\ c\td\ne, f; g | h'})
ROWS = [["1", "2026-11-30T04:20:03Z", QUOTED], ["2", "2026-11-30T04:20:04Z", BODY]]


def written(rows, **dialect):
    file = io.StringIO(newline="")
    csv.writer(file, **dialect).writerows(rows)
    return file.getvalue()


def escaped(text):
    for char, code in (("\\", "\\\\"), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        text = text.replace(char, code)
    return text


DIALECTS = {
    "plain": written([HEADER, *ROWS]),
    "all quoted": written([HEADER, *ROWS], quoting=csv.QUOTE_ALL),
    "tabs": written([HEADER, *ROWS], delimiter="\t"),
    "bar": written([HEADER, *ROWS], delimiter="|"),
    "semicolon": written([HEADER, *ROWS], delimiter=";"),
    "Excel": "sep=;\r\n" + written([HEADER, *ROWS], delimiter=";"),
    "Spark": written([HEADER, *ROWS], doublequote=False, escapechar="\\"),
    "old Mac": written([HEADER, *ROWS], lineterminator="\r"),
    "names with blanks": written([["Row #", "Created (UTC)", "Response"], *ROWS]),
    "names in Cyrillic": written([["№", "время", "ответ"], *ROWS]),
    "a column too many": written([HEADER, *([*row, "x"] for row in ROWS)]),
    "blank lines": written([HEADER, [], ROWS[0], [], ROWS[1]]),
    "one column": written([["response"], *([row[2]] for row in ROWS)]),
    "one quoted column": written(
        [["response"], *([row[2]] for row in ROWS)], quoting=csv.QUOTE_ALL
    ),
    "no header": written(ROWS),
    "no header, all quoted": written(ROWS, quoting=csv.QUOTE_ALL),
    "no header, one column": written([row[2:] for row in ROWS]),
    "COPY": "".join("\t".join(map(escaped, row)) + "\n" for row in [HEADER, *ROWS]),
    "COPY with nulls": "id\ttime\tbody\n"
    + "".join(f"{row[0]}\t\\N\t{escaped(row[2])}\n" for row in ROWS),
}


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects(name):
    """Each row is found, and every character of it."""
    data = DIALECTS[name].encode()
    assert sniff(data).name == "csv"
    first, second = read(CSV, data)
    assert first.pieces[0].data.decode() == QUOTED
    assert second.pieces[0].data.decode() == BODY
    assert codes(first) == codes(second) == []


@pytest.mark.parametrize("dialect", [{}, {"doublequote": False, "escapechar": "\\"}])
@pytest.mark.parametrize("header", [[["t", "chunk"]], []], ids=["header", "no header"])
def test_chunks(dialect, header):
    """A chunk per row, whose JSON has quotation marks."""
    rows = [[number, json.dumps(each)] for number, each in enumerate(CHUNKS)]
    data = written([*header, *rows], **dialect).encode()
    assert sniff(data).name == "csv"
    (recording,) = read(CSV, data)
    assert text(recording) == "Hello"
    assert [piece.time for piece in recording.pieces] == ([0, 1, 2] if header else [None] * 3)


@pytest.mark.parametrize("header", ["", "id\ttime\tchunk\n"], ids=["no header", "header"])
@pytest.mark.parametrize("content", ['a "b" \\ c\td\ne', "é"], ids=["quotes", "an escape"])
def test_copied_chunks(header, content):
    """PostgreSQL's `COPY` writes each backslash of JSON twice."""
    chunks = [*CHUNKS[:-1], chunk(content=content, finish="stop")]
    rows = [["1", f"2026-12-01 00:00:0{n}+00", json.dumps(x)] for n, x in enumerate(chunks)]
    data = header + "".join("\t".join(map(escaped, row)) + "\n" for row in rows)
    assert sniff(data.encode()).name == "csv"
    assert "".join(text(each) for each in read(CSV, data.encode())) == "Hello" + content


def test_backslashes_of_json():
    """In a table that quotes nothing they are none of the table's."""
    chunks = [*CHUNKS[:-1], chunk(content='{"a"', finish="stop")]
    table = " id | chunk \n----+-------\n"
    table += "".join(f"  {n} | {json.dumps(each)}\n" for n, each in enumerate(chunks))
    (outcome,) = rebuild(table)
    assert outcome.response.choices[0].message.content.endswith('{"a"')
    assert "bad_json" not in outcome.issue_counts


def test_row_longer_than_the_head():
    """What the first block does not hold whole goes on in the next."""
    body = BODY.replace("lo", "x" * 100_000)
    data = written([["n", "body"], [1, body], [2, BODY]]).encode()
    assert sniff(data).name == "csv"
    assert [len(text(each)) for each in read(CSV, data, block=1000)] == [100_003, 5]


def test_base64():
    """What needs no quotation marks has none."""
    data = written([HEADER[1:], [1, base64.b64encode(BODY.encode()).decode()]]).encode()
    assert sniff(data).name == "csv"
    assert text(read(CSV, data)[0]) == "Hello"


@pytest.mark.parametrize(
    "head",
    [
        "Hello\ndata: {}\n",
        "Hello\n\nworld",
        "response\n",
        ",".join(["x" * 90] * 3) + "\ndata: {}\n",
        "," * 60_000,
        '"",' * 20_000,
        'a,"' * 20_000,
        'data: {"a": "b,c", "d": "e"}\n' * 9,
        '"data: {\\"a\\": 1}',
        "HTTP/1.1 200 OK (mended), fine\nA: b, c\n\n" + BODY,
        "Well, look\n" + BODY,
    ],
)
def test_what_is_no_csv(head):
    """Prose, streams and long lines of commas are told apart, and soon."""
    assert CSV.looks(head.encode()) == 0 or head.startswith('"data')


def test_asked_for():
    """Who says that it is CSV is believed, and told what is missing."""
    with pytest.raises(UnknownForm, match="no column of the rows"):
        read(CSV, b"", block=9)
    with pytest.raises(UnknownForm, match="no column of the rows"):
        read(CSV, b"{a: 1}\n{b: 2}\n", block=9)
