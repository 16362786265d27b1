"""Logs: times and loggers' prefixes come off, containers' lines are joined, times are kept."""

from __future__ import annotations

import json

import pytest

from streamkit import LimitExceeded, Limits
from streamkit.recordings import rebuild, sniff
from streamkit.recordings._clock import Clock
from streamkit.recordings._lines import FORMS
from streamkit.recordings._text import HEAD

from .samples import BODY, CHUNKS, EVENTS, LINES, TEXT, chunk, joined, misses, named, read, texts


PREFIXED, DOCKER, CRI, JOURNAL = FORMS
MIDNIGHT = 1_796_083_200.0  # 2026-12-01
DAY = 86_400


@misses(FORMS)
def test_near_misses(form, head):
    """Nothing that merely contains such text is taken for a log of a stream."""
    assert form.looks(head) == 0


# -- Prefixes ------------------------------------------------------------------------


def logged(prefix, rows=LINES, end=b"\n"):
    """Put *prefix* before each line; `%d` in it becomes the seconds, two digits."""
    return b"".join(
        prefix.replace(b"%d", b"%02d" % number) + row + end for number, row in enumerate(rows)
    )


# The prefix, and the time of the line number 2, which is the second chunk's.
PREFIXES = {
    b"2026-12-01T00:00:%d.5Z ": MIDNIGHT + 2.5,
    b"2026-12-01T01:00:%d.250000001+01:00 ": MIDNIGHT + 2.25,
    b"2026-11-30T22:30:%d-0130\t": MIDNIGHT + 2,
    b"2026-12-01 00:00:%d,125 DEBUG app.stream: ": MIDNIGHT + 2.125,
    b"2026/12/01 00:00:%d [debug] 12#34: ": MIDNIGHT + 2,
    b"2026-12-01 00:00:%d.500 | DEBUG    | app:run:42 - ": MIDNIGHT + 2.5,
    b"[2026-12-01 00:00:%d][INFO][m-1] ": MIDNIGHT + 2,
    b"2026-12-01T00:00:%d+0000 host app[123]: ": MIDNIGHT + 2,
    b"Dec  1 00:00:%d host app[123]: ": None,
    b"00:00:%d.500 ": 2.5,
    b"[00:00:%d,500] DEBUG: ": 2.5,
    b"0:%d ": 2,
    b"1796083200.%d\t": MIDNIGHT + 0.02,
    b"[1796083200.%d] ": MIDNIGHT + 0.02,
    b"17960832000%d ": MIDNIGHT + 0.002,
    b"0.%d ": 0.02,
    b"+0.%ds ": 0.02,
    b"[    0.%d] ": 0.02,
    b"   0.%d ": 0.02,
    b"1.%d ms ": 0.00102,
    b"app-1  | 2026-12-01T00:00:%d.5Z ": MIDNIGHT + 2.5,
    b"INFO 2026-12-01 00:00:%d stream.py:5] ": MIDNIGHT + 2,
    b"\x1b[36mapp-1  | \x1b[0m2026-12-01T00:00:%d.5Z ": MIDNIGHT + 2.5,
    b"INFO:app.stream:": None,
    b"app-1  | ": None,
    b"[pod/app-%d/main] ": None,
    b"%d: ": None,
    b"<14>1 2026-12-01T00:00:%d.5Z host app 12 - - ": MIDNIGHT + 2.5,
    b"<< ": None,
    b"<- ": None,
}
UNTIMED = (b"<< ", b"<- ", b"INFO:app.stream:", b"app-1  | ", b"[pod/app-%d/main] ", b"%d: ")


@pytest.mark.parametrize("prefix", PREFIXES, ids=lambda prefix: prefix.decode())
def test_prefixes(prefix):
    """The lines come out as they were, blank ones too, each with its time."""
    data = logged(prefix)
    assert PREFIXED.looks(data) == (60 if prefix in UNTIMED else 80)
    assert texts(PREFIXED, data) == [TEXT]
    ((_, pieces),) = read(PREFIXED, data)
    assert joined(pieces) == BODY
    if PREFIXES[prefix] is not None:
        assert pieces[2].time == pytest.approx(PREFIXES[prefix], abs=1e-6)
        assert pieces[3].place == "line 4"


@pytest.mark.parametrize("prefix", PREFIXES, ids=lambda prefix: prefix.decode())
def test_prefixes_without_trailing_blanks(prefix):
    """An editor may have taken the blanks off that end a line of the log."""
    data = b"\n".join(line.rstrip() for line in logged(prefix).split(b"\n"))
    ((_, pieces),) = read(PREFIXED, data)
    assert joined(pieces) == BODY


STAMP = b"2026-12-01 00:00:%d INFO app: "
COMPACT = [json.dumps(each).encode() for each in CHUNKS]
PRETTY = [json.dumps(each, indent=2).encode() for each in CHUNKS]
LOGS = {
    "no blank lines": logged(STAMP, [line for line in LINES if line]),
    "crlf": logged(STAMP, end=b"\r\n"),
    "events at once": logged(STAMP, [each.rstrip() + b"\n" for each in EVENTS]),
    "several events at once": logged(STAMP, [b"".join(EVENTS[:2]), b"".join(EVENTS[2:])]),
    "fields": logged(STAMP, b"".join(b"event: message\nid: 1\n" + e for e in EVENTS).splitlines()),
    "comments": logged(STAMP, b": OK\n\n".join([b"", *EVENTS]).splitlines()),
    "pretty data": logged(STAMP, [b"data: " + each + b"\n" for each in PRETTY]),
    "pretty data, line by line": logged(STAMP, b"data: ".join([b"", *PRETTY]).splitlines()),
    "chunks": logged(STAMP, COMPACT),
    "packets": logged(b"[2026-12-01 00:00:%d][INFO] Generated packet: ", PRETTY),
    "packets without a time": logged(b"DEBUG:app:chunk=", COMPACT),
    "arrays": logged(STAMP, [b"[" + each + b"]" for each in COMPACT]),
    "an array of numbers": logged(STAMP, [PRETTY[0].replace(b'"m-1"', b"[\n  0.5,\n  1.5\n]")])
    + logged(STAMP, PRETTY[1:]),
    "dicts": logged(STAMP, [repr(each).encode() for each in CHUNKS]),
    "bytes": logged(STAMP, [repr(each).encode() for each in EVENTS]),
    "bytes without line ends": logged(STAMP, [repr(line).encode() for line in LINES]),
    "strings": logged(b"00:00:%d got ", [repr(each.decode()).encode() for each in EVENTS]),
    "other levels": STAMP.join([b"", b"data: {}\n"]) + logged(STAMP.replace(b"INFO", b"DEBUG")),
}
OTHERS = [
    b'2026-12-01 00:00:03 INFO httpx: HTTP Request: POST "HTTP/1.1 200 OK"',
    b"2026-12-01 00:00:03 WARNING other: slow",
    b"Traceback (most recent call last):",
    b"ValueError: x",
]


@pytest.mark.parametrize("name", LOGS)
def test_logs(name):
    """Whatever a logger logs a stream as, it is found."""
    data = LOGS[name]
    assert PREFIXED.looks(data) >= 60
    assert texts(PREFIXED, data) == [TEXT]


@pytest.mark.parametrize("name", LOGS)
def test_other_entries(name):
    """Entries that are not of the stream are left out, wherever they stand."""
    if "%d" in name or name in ("packets without a time", "strings"):
        return
    before = b"2026-12-01 00:00:00 INFO root: starting\n" + b"\n".join(OTHERS) + b"\n"
    data = before + LOGS[name] + b"\n".join(OTHERS) + b"\n"
    assert PREFIXED.looks(data) >= 60
    assert texts(PREFIXED, data) == [TEXT]
    found = joined(read(PREFIXED, data)[0][1])
    assert b"slow" not in found
    assert b"POST" not in found
    assert b"ValueError" not in found


def test_between_entries():
    """Entries between those of the stream are left out, and so is what belongs to them."""
    rows = [STAMP.replace(b"%d", b"00") + line for line in LINES if line]
    data = b"\n".join(row + b"\n" + b"\n".join(OTHERS) for row in rows) + b"\n"
    assert texts(PREFIXED, data) == [TEXT]
    assert b"Traceback" not in joined(read(PREFIXED, data)[0][1])


def test_bad_python_in_a_log():
    """Python text that cannot be read is reported, and the rest is read."""
    rows = [b"{'choices': [x]}", *(repr(each).encode() for each in CHUNKS)]
    assert texts(PREFIXED, logged(STAMP, rows)) == [TEXT]
    assert b"cannot be read" in joined(read(PREFIXED, logged(STAMP, rows))[0][1])


def test_many_prefixes():
    """However many prefixes there are, each line is judged by itself."""
    rows = [b"%s data: %s\n" % (b"x" * n, COMPACT[n % 3]) for n in range(1, 30)]
    ((_, pieces),) = read(PREFIXED, b"".join(rows))
    assert len(pieces) == len(rows)
    assert all(piece.data.startswith(b"data: {") for piece in pieces)


def test_bare_stream_read_as_a_log():
    """Told to read a plain stream as a log, it is handed on as it is."""
    ((_, pieces),) = read(PREFIXED, BODY)
    assert joined(pieces) == BODY
    assert read(PREFIXED, b"")[0][1] == []
    mixed = BODY + logged(STAMP)
    assert PREFIXED.looks(mixed) == 0
    assert joined(read(PREFIXED, mixed)[0][1]) == BODY * 2


def test_long_log():
    """More than the first 64 KiB is read, and its times too."""
    rows = [b"data: " + json.dumps(chunk(content="x" * 500)).encode() for _ in range(400)]
    ((_, pieces),) = read(PREFIXED, logged(b"%d.500 ", rows))
    assert len(pieces) == 400
    assert pieces[-1].time == 399.5


@pytest.mark.parametrize(
    "line", [b"x" * 2000, b"2026-12-01 00:00:00 " + b" " * 2000, b"a data: " * 99]
)
def test_long_lines(line):
    """Lines that are no entries cost little; lines beyond the limit are refused."""
    assert PREFIXED.looks((line + b"\n") * 20) == 0
    with pytest.raises(LimitExceeded):
        read(PREFIXED, line, limits=Limits(line=100))


# -- Containers ----------------------------------------------------------------------


def docker(lines, stream="stdout", size=1 << 14):
    rows = []
    for number, line in enumerate(lines):
        for at in range(0, len(line), size):
            entry = {"log": line[at : at + size].decode(), "stream": stream}
            entry["time"] = f"2026-12-01T00:00:{number:02}.123456789Z"
            rows.append(json.dumps(entry).encode() + b"\n")
    return rows


def cri(lines, stream=b"stdout", size=1 << 14):
    rows = []
    for number, line in enumerate(lines):
        for at in range(0, len(line), size):
            mark = b"F" if at + size >= len(line) else b"P"
            text = line[at : at + size].rstrip(b"\n")
            time = b"2026-12-01T00:%02d:%02d.5Z" % divmod(number, 60)
            rows.append(b"%s %s %s %s\n" % (time, stream, mark, text))
    return rows


def journal(lines):
    rows = [{"MESSAGE": line.decode().rstrip("\n")} for line in lines]
    for number, row in enumerate(rows):
        row["__REALTIME_TIMESTAMP"] = str(int((MIDNIGHT + number) * 1e6))
    return [json.dumps(row).encode() + b"\n" for row in rows]


WHOLE = BODY.splitlines(keepends=True)
MADE = {DOCKER: docker, CRI: cri, JOURNAL: journal}
by_form = pytest.mark.parametrize("form", MADE, ids=lambda form: form.name)


@by_form
def test_containers(form):
    """The lines come out as the program wrote them, with their times."""
    data = b"".join(MADE[form](WHOLE))
    assert form.looks(data) == 90
    assert texts(form, data) == [TEXT]
    ((_, pieces),) = read(form, data)
    assert joined(pieces) == BODY
    assert [int(piece.time - MIDNIGHT) for piece in pieces] == list(range(len(WHOLE)))
    assert pieces[1].place == "line 2"


def test_container_with_half_a_character():
    """Half a surrogate pair where a time should be is no time, and ends nothing."""
    data = b"".join(docker(WHOLE)).replace(b'"2026-12-01T00:00:01', b'"\\ude00')
    ((_, pieces),) = read(DOCKER, data)
    assert joined(pieces) == BODY
    assert [piece.time is None for piece in pieces].count(True) == 1


ENTRIES = {
    "objects": [{"level": "debug", "msg": "chunk", "chunk": each} for each in CHUNKS],
    "texts": [{"msg": "chunk", "data": json.dumps(each)} for each in CHUNKS],
    "events": [{"msg": each.decode()} for each in EVENTS],
    "words": [{"msg": f"upstream sent {each.decode()}"} for each in EVENTS],
    "a body": [{"msg": "done", "response": {"body": BODY.decode()}}],
    "json in json": [{"msg": json.dumps({"line": each.decode()})} for each in EVENTS],
}


@by_form
@pytest.mark.parametrize("entries", ENTRIES.values(), ids=ENTRIES)
@pytest.mark.parametrize("noise", [0, 1, 2000])
def test_json_entries_in_containers(form, entries, noise):
    """Most programs in containers log JSON: the stream is in a field of the entries."""
    others = [{"level": "info", "msg": "started", "n": number} for number in range(noise)]
    rows = [json.dumps(each).encode() + b"\n" for each in [*others, *entries, *others[:1]]]
    data = b"".join(MADE[form](rows))
    (outcome,) = rebuild(data)
    assert (outcome.response.choices[0].message.content, outcome.complete) == (TEXT, True)
    assert sniff(data).name == form.name
    assert noise == 2000 or "not_a_chunk" not in outcome.issue_counts


@by_form
def test_errors_among_entries(form):
    """The server's own error is no other entry of the log."""
    entries = [*ENTRIES["objects"][:2], {"error": {"message": "overloaded", "code": 529}}]
    data = b"".join(MADE[form]([json.dumps(each).encode() + b"\n" for each in entries]))
    (outcome,) = rebuild(data)
    assert outcome.error.payload["code"] == 529
    assert outcome.response.choices[0].message.content == "Hel. "


@by_form
def test_entries_beside_the_stream(form):
    """Where the lines of the stream are in the log, nothing is taken from entries as well."""
    rows = [b"\n".join([line, json.dumps({"seen": line.decode()}).encode()]) for line in LINES]
    data = b"".join(MADE[form](b"\n".join(rows).splitlines(keepends=True)))
    (outcome,) = rebuild(data)
    assert outcome.response.choices[0].message.content == TEXT


@by_form
def test_prefixes_in_containers(form):
    """A logger's prefix in a container's log comes off, too; its time is the nearer one."""
    data = b"".join(MADE[form](logged(STAMP.replace(b"00:00", b"01:00")).splitlines(keepends=True)))
    assert texts(form, data) == [TEXT]
    ((_, pieces),) = read(form, data)
    assert joined(pieces) == BODY
    assert pieces[0].time == MIDNIGHT + 3600
    data = b"".join(MADE[form](logged(b"INFO:app:").splitlines(keepends=True)))
    assert [piece.time for piece in read(form, data)[0][1]][:1] == [pytest.approx(MIDNIGHT, abs=1)]


@pytest.mark.parametrize("form", [DOCKER, CRI], ids=lambda form: form.name)
@pytest.mark.parametrize("size", [20, 100])
def test_partial_lines(form, size):
    """Parts of lines are joined, also where those of the two outputs are mixed."""
    parts = MADE[form](WHOLE, size=size)
    other = MADE[form]([b"an error that is " + b"long " * 9 + b"\n"] * len(parts), size=30)
    assert joined(read(form, b"".join(parts))[0][1]) == BODY
    stderr = [row.replace(b"stdout", b"stderr") for row in other]
    mixed = b"".join(a + b for a, b in zip(parts, stderr, strict=False))
    assert texts(form, mixed) == [TEXT]
    assert joined(read(form, b"".join(parts)[:-60])[0][1]) != b""


def test_cut_partial_line():
    """A last line that was never finished is handed on as far as it goes."""
    row = b"2026-12-01T00:00:00Z stdout P data: {\n"
    assert joined(read(CRI, row)[0][1]) == b"data: {"
    row = b'{"log":"data: {","stream":"stdout","time":"x"}\n'
    assert joined(read(DOCKER, row)[0][1]) == b"data: {"


@pytest.mark.parametrize("form", [DOCKER, CRI], ids=lambda form: form.name)
def test_endless_partial_line(form):
    """Parts that are never finished end at the limit on lines."""
    data = b"".join(MADE[form]([b"x" * 5000], size=100))
    with pytest.raises(LimitExceeded):
        read(form, data, limits=Limits(line=1000))


@pytest.mark.parametrize(
    ("form", "row"),
    [
        (DOCKER, b"no entry\n"),
        (DOCKER, b'{"log": 5}\n'),
        (DOCKER, b"[1]\n"),
        (DOCKER, b'{"log": "cut'),
        (CRI, b"no entry\n"),
        (CRI, b"2026-12-01T00:00:00Z stdin F data: {}\n"),
        (JOURNAL, b'{"MESSAGE": null}\n'),
        (JOURNAL, b'{"other": 1}\n'),
    ],
)
def test_no_entries(form, row):
    """What is no entry of the log's is left out."""
    data = b"".join(MADE[form](WHOLE))
    assert texts(form, row + data) == [TEXT]
    assert joined(read(form, data + row)[0][1]) == BODY
    assert form.looks(row) == 0


def test_odd_entries():
    """Marks with tags, bytes that are no text, and times that are none."""
    row = b"2026-12-01T00:00:00.5+01:00 stdout F:tag:x data: {}\n2026-12-01T00:00:00Z stdout F\n"
    assert joined(read(CRI, row)[0][1]) == b"data: {}\n\n"
    row = b'{"MESSAGE": [100, 255, 300, "x"], "__REALTIME_TIMESTAMP": "soon"}\n'
    ((_, pieces),) = read(JOURNAL, row)
    assert (pieces[0].data, pieces[0].time) == (b"d\xff\n", None)
    row = b'{"log": "data: {}\\n", "time": null}\n'
    row += b'{"log": "\\ud83d\\n", "time": "2026-13-40T00:00:00Z"}\n'
    ((_, pieces),) = read(DOCKER, row)
    assert [(piece.data, piece.time) for piece in pieces] == [(b"data: {}\n", None), (b"?\n", None)]


# -- Times ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "time"),
    [
        (b"1970-01-01T00:00:00Z", 0.0),
        (b"1970-01-02 00:00:00 UTC x", DAY),
        (b"1970-01-01T01:00:00+01:00", 0.0),
        (b"1969-12-31T23:00:00-0100", 0.0),
        (b"1970-02-30 00:00:00 ", None),
        (b"1970-13-01 00:00:00 ", None),
        (b"0000-01-01 00:00:00 ", None),
        (b"Jan  2 00:00:01 h", 2 * 365 * DAY + DAY + 1),
        (b"Feb 30 00:00:01 h", None),
        (b"1700000000 x", 1_700_000_000),
        (b"1700000000123 x", 1_700_000_000.123),
        (b"1700000000123456789 x", 1_700_000_000.123456789),
        (b"99:59:59 x", 99 * 3600 + 59 * 60 + 59),
        (b"1.5", 1.5),
        (b"12 x", None),
        (b"1.5.2 x", None),
        (b"v1.5 x", None),
        (b"192.0.2.1 x", None),
        (b"", None),
    ],
)
def test_clock(text, time):
    """Times are seconds; what is none, or no day of the calendar, is no time."""
    assert Clock().read(text)[0] == time


@pytest.mark.parametrize(
    ("text", "time"),
    [
        (b"x 00:00:01 y", 1.0),
        (b"level=debug time=1970-01-01T00:00:02Z ", 2.0),
        (b"version 1.5 ", None),
        (b"a:00:00:01", None),
    ],
)
def test_later_times(text, time):
    """Within a prefix, only what can be nothing else is a time."""
    assert Clock().find(text) == time


def test_midnight():
    """A clock without dates that goes back by much has passed midnight; by little, it has not."""
    clock = Clock()
    texts = [b"23:59:59", b"23:59:58", b"00:00:01", b"23:59:59", b"00:00:00"]
    found = [clock.read(text)[0] for text in texts]
    assert found == [86_399, 86_398, 86_401, 172_799, 172_800]


def test_names():
    """The forms have names of their own."""
    assert [named(FORMS, form.name) for form in FORMS] == list(FORMS)


def test_impossible_times():
    """A moment that there is not is not taken for the one before."""
    rows = [b"2026-12-01T00:00:01Z ", b"2026-02-31T00:00:02Z ", b"2026-12-01T00:00:03Z "]
    data = b"".join(stamp + each.strip() + b"\n" for stamp, each in zip(rows, EVENTS, strict=False))
    ((_, pieces),) = read(PREFIXED, data)
    assert [piece.time for piece in pieces] == [MIDNIGHT + 1, None, MIDNIGHT + 3]


# -- A stream that comes late ---------------------------------------------------------

NOISE = {
    "timed": b"2026-01-01 12:00:00.100 INFO worker started, pool ready\n",
    "levels": b"INFO:     127.0.0.1:5000 - GET /health 200 OK\n",
    "coloured": b"\x1b[32m2026-01-01 12:00:00.100\x1b[0m INFO ready\n",
    "json": b'2026-01-01 12:00:00.100 INFO {"event": "started", "n": 1}\n',
    "entries of two lines": b"12:00:00.100 INFO started\n  with two workers\n12:00:00.200 DEBUG\n",
}


@pytest.mark.parametrize("name", NOISE)
@pytest.mark.parametrize("size", [1 << 12, 1 << 18])
@pytest.mark.parametrize("start", [b"2026-01-01 12:00:01.500 INFO ", b"INFO: ", b"[app] "])
def test_late_stream(name, size, start):
    """What a log has before its first event, however much, is no part of the stream."""
    noise = NOISE[name] * (HEAD * 3 // len(NOISE[name]))
    log = b"".join(start + line for line in BODY.splitlines(keepends=True))
    data = noise + log
    assert sniff(data).name == "prefixed"
    (outcome,) = rebuild([data[at : at + size] for at in range(0, len(data), size)])
    assert outcome.complete
    assert outcome.response.choices[0].message.content == TEXT
    (alone,) = rebuild(log)
    assert outcome.issue_counts == alone.issue_counts
    assert outcome.timing == alone.timing


def test_late_stream_without_prefixes():
    """It is read as it is, and what was skipped is said."""
    data = NOISE["timed"] * 2000 + BODY
    (outcome,) = rebuild(data)
    assert outcome.response.choices[0].message.content == TEXT
    assert [issue.code for issue in outcome.issues] == ["unframed_text"]


def test_late_chunks():
    """Chunks without `data:`, too."""
    rows = [b"INFO " + event.removeprefix(b"data: ").rstrip() + b"\n" for event in EVENTS]
    (outcome,) = rebuild(NOISE["json"] * 2000 + b"".join(rows))
    assert outcome.response.choices[0].message.content == TEXT


def test_a_log_without_a_stream():
    """Then it is said that there is none."""
    (outcome,) = rebuild(NOISE["timed"] * 2000)
    assert {"unframed_text", "no_events"} <= set(outcome.issue_counts)
    assert sniff(b"It was a dark and stormy night.\n" * 4000).name == "sse"


@pytest.mark.parametrize("name", ["<module>", "main.<locals>.<lambda>", "run"])
def test_loguru(name):
    """It names the function that logged, which Python may have no name for."""
    prefix = f"2026-01-01 12:00:00.410 | DEBUG    | __main__:{name}:42 - ".encode()
    data = b"".join(prefix + line for line in BODY.splitlines(keepends=True))
    assert sniff(data).name == "prefixed"
    (outcome,) = rebuild(data)
    assert outcome.response.choices[0].message.content == TEXT


@pytest.mark.parametrize("lead", ["const chunks = ", "chunks: Chunk[] = ", "export let a.b="])
def test_assigned(lead):
    """JSON in a program: the first chunk stands behind the name of what it is assigned to."""
    chunks = [json.dumps(each) for each in CHUNKS]
    for data in (
        lead + "[" + ",\n".join(chunks) + "];\n",
        "// recorded\n" + lead + json.dumps(CHUNKS, indent=2) + ";\n",
        lead + "[" + json.dumps(CHUNKS, indent=2)[1:] + "\n",
    ):
        (outcome,) = rebuild(data)
        assert outcome.chunks == len(CHUNKS)
        assert "bad_json" not in outcome.issue_counts
