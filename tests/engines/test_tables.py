"""Tables as inputs and outputs of a job: JSON lines and Parquet, cut anywhere."""

from __future__ import annotations

import base64
import decimal
import gzip
import json

from datetime import datetime

import pytest

from streamkit import Limits
from streamkit.engines._arrow import MOST_ROWS, RowBuffer
from streamkit.engines._batch import Reading, rebuild_batch
from streamkit.engines._begin import parts_of
from streamkit.engines._folder import Folder
from streamkit.engines._job import Job
from streamkit.engines._plan import Input, Slice, in_parts
from streamkit.engines._row import COLUMNS
from streamkit.engines._tables import rows_at_once
from streamkit.engines._tally import Tally
from tests.cli.helpers import CUT, WHOLE, chunk, sse


def body(number):
    return sse(chunk(f"chatcmpl-{number}", content=f"é{number}", finish="stop")).decode()


def write(folder, job, *paths):
    """Run *job* over *paths* and return the folder."""
    job, parts = parts_of(job, [Input.of(str(path)) for path in paths])
    for part in parts:
        Folder(folder).meta.mkdir(parents=True, exist_ok=True)
        Folder(folder).write(part, job, lambda _: None)
    return folder


def json_rows(folder):
    data = [path.read_bytes() for path in sorted(folder.glob("part-*.jsonl"))]
    return [json.loads(line) for line in b"".join(data).splitlines()]


def parquet_rows(folder):
    pq = pytest.importorskip("pyarrow.parquet")
    tables = [pq.read_table(path) for path in sorted(folder.glob("part-*.parquet"))]
    assert len({str(table.schema) for table in tables}) == 1
    return [row for table in tables for row in table.to_pylist()]


# -- JSON lines ----------------------------------------------------------------------------


@pytest.fixture
def lines(tmp_path):
    """Fifty rows, with blank lines, other newlines, and two that are none."""
    texts = [json.dumps({"id": n, "in": {"sse": body(n)}}, ensure_ascii=False) for n in range(50)]
    texts[7] = "no row"
    texts[9] = "[1]"
    texts[11] = '{"id": 11}'
    data = "\n".join(texts[:20]) + "\n\n" + "\r\n".join(texts[20:])
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + data.encode())
    return path


def test_lines(tmp_path, lines):
    """Each line has a row with what is kept; one that is no row says so."""
    job = Job(body="in.sse", keep=("id",), prefix="its_")
    found = json_rows(write(tmp_path / "out", job, lines))
    assert len(found) == 50
    assert [*found[0]] == ["source", "position", "id", *(f"its_{name}" for name in COLUMNS)]
    wrong = {7: "framing_error", 9: "framing_error", 11: "empty_stream"}
    for number, row in enumerate(found):
        assert row["its_error_code"] == wrong.get(number)
        assert row["its_text"] == (None if number in wrong else f"é{number}")
        assert row["id"] == (None if number in (7, 9) else number)
        line = lines.read_bytes()[row["position"] :].splitlines()[0]
        assert number in wrong or json.loads(line.removeprefix(b"\xef\xbb\xbf"))["id"] == number


@pytest.mark.parametrize("size", [399, 400, 401, 1000, 1 << 20])
def test_lines_are_cut_anywhere(tmp_path, lines, size):
    """However large the parts are, each line is read once."""
    job = Job(body="in.sse", keep=("id",))
    whole = json_rows(write(tmp_path / "whole", job, lines))
    cut = write(tmp_path / "cut", Job(body="in.sse", keep=("id",), part_size=size), lines)
    assert json_rows(cut) == whole


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_few_bytes(tmp_path, size):
    """Parts shorter than a line have no rows, or one."""
    path = tmp_path / "rows"
    path.write_bytes(b'{"b": 1}\n\n{"b": 2}\n{"b": 3}')
    job = Job(body="b", keep=("b",), part_size=size)
    found = json_rows(write(tmp_path / "out", job, path))
    assert [(row["position"], row["b"]) for row in found] == [(0, 1), (10, 2), (19, 3)]


def test_lines_compressed(tmp_path, lines):
    """They are one slice, and the rows are the same."""
    job = Job(body="in.sse", keep=("id",), part_size=1000)
    packed = tmp_path / "rows.jsonl.gz"
    lines.write_bytes(lines.read_bytes()[3:])  # the mark comes off with the compression
    packed.write_bytes(gzip.compress(lines.read_bytes()))
    one = json_rows(write(tmp_path / "one", job, lines))
    two = json_rows(write(tmp_path / "two", job, packed))
    assert [{**row, "source": ""} for row in one] == [{**row, "source": ""} for row in two]


def test_lines_too_long(tmp_path, lines):
    """A line beyond the bound is one row, the next is read from its start."""
    long = json.dumps({"in": {"sse": "x" * 5000}}).encode()
    data = b"\n".join([long, *lines.read_bytes().splitlines()[1:3], long])
    for name, content in (("plain", data), ("packed", gzip.compress(data))):
        path = tmp_path / name
        path.write_bytes(content)
        reading = Reading(limits=Limits(line=1000))
        for size in (900, 1 << 20):
            job = Job(body="in.sse", reading=reading, part_size=size)
            found = json_rows(write(tmp_path / f"{name}-{size}", job, path))
            codes = [row["error_code"] for row in found]
            assert codes == ["limit_exceeded", None, None, "limit_exceeded"]


def test_damaged_compression(tmp_path, lines):
    """What came before is read, and that there was more is said."""
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(lines.read_bytes())[:-40])
    found = json_rows(write(tmp_path / "out", Job(body="in.sse"), packed))
    assert found[0]["text"] == "é0"
    assert found[-1]["error_code"] == "framing_error"
    assert "cut_body" in found[-1]["error_message"]


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz", "rows.log"])
def test_first_line_is_none(tmp_path, lines, name):
    """It costs its own row, not all the others: logs are cut where they are rotated."""
    data = b'"} the end of a line\n' + lines.read_bytes()[3:]
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    found = json_rows(write(tmp_path / "out", Job(body="in.sse"), path))
    assert [row["error_code"] for row in found[:3]] == ["framing_error", None, None]
    assert len(found) == 51


@pytest.mark.parametrize("data", [b"\x00\x01", b"a,b\n1,2\n", b'[\n {\n  "b": 1\n }\n]\n'])
def test_neither(tmp_path, data):
    """What is no table says so once, not in each line."""
    path = tmp_path / "x"
    path.write_bytes(data)
    (row,) = json_rows(write(tmp_path / "out", Job(body="b"), path))
    assert row["error_code"] == "unknown_form"


def test_gone(tmp_path):
    """A file that is not there is a row."""
    (row,) = json_rows(write(tmp_path / "out", Job(body="b"), tmp_path / "gone"))
    assert row["error_code"] == "unreadable"


# -- Parquet -------------------------------------------------------------------------------


@pytest.fixture
def pa():
    pytest.importorskip("pyarrow.parquet")
    return pytest.importorskip("pyarrow")


@pytest.fixture
def table(pa, tmp_path):
    """Rows in groups of seven, with columns of many types."""
    import pyarrow.parquet as pq

    when = datetime.fromisoformat("2025-01-02T03:04:05.000006")
    columns = {
        "id": pa.array(range(50), pa.int32()),
        "when": pa.array([1_735_787_045_000_006_007] * 50, pa.timestamp("ns")),
        "cost": pa.array([decimal.Decimal("1.50")] * 50),
        "raw": pa.array([b"\xff"] * 50),
        "tags": pa.array([[{"at": when, "b": b"\xfe", "c": decimal.Decimal(2)}]] * 50),
        "body": pa.array([None if n == 5 else body(n).encode() for n in range(50)]),
    }
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=7)
    return path


KEEP = ("id", "when", "cost", "raw", "tags")


def test_parquet_to_parquet(tmp_path, table, pa):
    """Columns that are kept keep their types; the rows are those of `rebuild_batch`."""
    import pyarrow.parquet as pq

    job = Job(body="body", keep=KEEP, to="parquet", part_size=1)
    out = write(tmp_path / "out", job, table)
    assert len([*out.glob("part-*")]) == 8
    files = [pq.read_table(path) for path in sorted(out.glob("part-*"))]
    got, given = pa.concat_tables(files), pq.read_table(table)
    assert got.select(KEEP).equals(given.select(KEEP))
    assert got.column("position").to_pylist() == [*range(50)]
    rows = got.select([*COLUMNS]).to_pylist()
    assert rows == rebuild_batch(given.column("body").to_pylist())


def test_parquet_to_lines(tmp_path, table):
    """Times and decimals are texts there, bytes are base64."""
    found = json_rows(write(tmp_path / "out", Job(body="body", keep=KEEP), table))
    assert found[3]["when"] == "2025-01-02 03:04:05.000006007"
    assert (found[3]["cost"], found[3]["raw"]) == ("1.50", base64.b64encode(b"\xff").decode())
    assert found[3]["tags"] == [{"at": "2025-01-02T03:04:05.000006", "b": "/g==", "c": "2"}]
    assert [row["text"] for row in found[3:7]] == ["é3", "é4", None, "é6"]


def test_lines_to_parquet(tmp_path, lines, pa):
    """What is kept becomes text: JSON, unless it is one."""
    job = Job(body="in.sse", keep=("id", "in.sse"), to="parquet", part_size=1000)
    found = parquet_rows(write(tmp_path / "out", job, lines))
    assert [row["id"] for row in found[:9]] == [*"0123456", None, "8"]
    assert found[3]["in.sse"] == body(3)


def test_recordings_to_parquet(tmp_path, pa):
    """Many rows of one file come in several batches."""
    path = tmp_path / "a.sse"
    path.write_text("".join(map(body, range(MOST_ROWS + 10))), encoding="utf-8")
    found = parquet_rows(write(tmp_path / "out", Job(to="parquet"), path))
    assert len(found) == MOST_ROWS + 10
    assert [row["position"] for row in found] == [*range(1, MOST_ROWS + 11)]
    assert found[MOST_ROWS]["text"] == f"é{MOST_ROWS}"


def test_mixed_tables(tmp_path, table, lines):
    """With JSON lines among them, what is kept of Parquet is text, too."""
    job = Job(body="body", keep=("id",), to="parquet")
    found = parquet_rows(write(tmp_path / "out", job, table, lines))
    assert [row["id"] for row in found[48:52]] == ["48", "49", "0", "1"]


def test_other_types(tmp_path, table, pa):
    """A later file's column is made what it is in the first; if it cannot be, that is a row."""
    import pyarrow.parquet as pq

    for name, ids in (("wide", pa.array([5], pa.int64())), ("odd", pa.array(["x"]))):
        pq.write_table(pa.table({"id": ids, "body": [body(1)]}), tmp_path / name)
    pq.write_table(pa.table({"id": [5]}), tmp_path / "lacks")
    job = Job(body="body", keep=("id",), to="parquet")
    paths = [table, *(tmp_path / name for name in ("wide", "odd", "lacks"))]
    wide, odd, lacks = parquet_rows(write(tmp_path / "out", job, *paths))[50:]
    assert (wide["id"], wide["text"]) == (5, "é1")
    assert (odd["id"], odd["error_code"]) == (None, "unknown_form")
    assert "no column 'body'" in lacks["error_message"]


@pytest.mark.parametrize("name", ["body", "id"])
def test_no_such_column(pa, tmp_path, name):
    """That the first file lacks a column is told before anything is read."""
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": [1]}), tmp_path / "x")
    with pytest.raises(ValueError, match="no column"):
        parts_of(
            Job(body="x" if name == "id" else name, keep=(name,)), [Input.of(str(tmp_path / "x"))]
        )


@pytest.mark.parametrize("cut", [4, 100, -10])
def test_damaged_parquet(tmp_path, table, cut):
    """It is one row, or the rows that are whole and one more."""
    path = tmp_path / "damaged"
    path.write_bytes(table.read_bytes()[:cut])
    (row,) = json_rows(write(tmp_path / "out", Job(body="body", keep=("id",)), path))
    assert row["error_code"] in ("unknown_form", "unreadable")


def parquet(path, *columns, names=("id", "body"), **options):
    """Write a file with *columns*."""
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    fields = [pa.field(name, column.type) for name, column in zip(names, columns, strict=True)]
    pq.write_table(pa.table(columns, schema=pa.schema(fields)), path, **options)
    return path


def test_text_that_is_no_utf8(tmp_path, pa):
    """Nobody looked at it when it was written; it costs its own row nothing but itself."""
    texts = pa.array(
        [body(0).encode(), body(1).encode().replace(rb"\u00e9", b"\xff"), body(2).encode()]
    )
    kept = pa.array([b"a\xff", b"b", None])
    path = parquet(tmp_path / "a", kept.view(pa.string()), texts.view(pa.string()))
    found = json_rows(write(tmp_path / "out", Job(body="body", keep=("id",)), path))
    assert [row["text"] for row in found] == ["é0", "\ufffd1", "é2"]
    assert [row["id"] for row in found] == ["a\\xff", "b", None]


def test_values_that_python_has_not(tmp_path, pa):
    """They are kept as Arrow writes them, in lists and structs and dictionaries, too."""
    far, bad = pa.array([10**18], pa.timestamp("us")), pa.array([b"\xff"]).view(pa.string())
    text = "<value out of range: 1000000000000000000>"
    one = pa.array([0, 1], pa.int32())
    columns = {
        "list": (pa.ListArray.from_arrays(one, far), [text]),
        "struct": (pa.StructArray.from_arrays([far, bad], ["a", "b"]), {"a": text, "b": "\\xff"}),
        "map": (pa.MapArray.from_arrays(one, pa.array(["a"]), far), [["a", text]]),
        "dictionary": (bad.dictionary_encode(), "\\xff"),
    }
    bodies = pa.array([body(0)])
    for name, (column, wanted) in columns.items():
        path = parquet(tmp_path / name, column, bodies)
        (row,) = json_rows(write(tmp_path / f"of-{name}", Job(body="body", keep=("id",)), path))
        assert (row["id"], row["text"]) == (wanted, "é0")
        (row,) = json_rows(write(tmp_path / f"as-{name}", Job(body="id"), path))
        assert row["complete"] is False


def test_column_without_a_type(tmp_path, pa):
    """One that is null all through the first file has the type it has in the next."""
    bodies = pa.array([body(0)])
    first = parquet(tmp_path / "a", pa.nulls(1), bodies)
    second = parquet(tmp_path / "b", pa.array([5]), bodies)
    job = Job(body="body", keep=("id",), to="parquet")
    rows = parquet_rows(write(tmp_path / "out", job, first, second))
    assert [(row["id"], row["text"]) for row in rows] == [(None, "é0"), (5, "é0")]
    (row,) = parquet_rows(write(tmp_path / "null", job, first))
    assert row["id"] is None


def test_column_without_nulls(tmp_path, pa):
    """It has some in the output, of what could not be read."""
    import pyarrow.parquet as pq

    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("body", pa.string())])
    pq.write_table(pa.table([[1], [body(0)]], schema=schema), tmp_path / "a")
    odd = parquet(tmp_path / "b", pa.array(["x"]), pa.array([body(1)]))
    job = Job(body="body", keep=("id",), to="parquet")
    rows = parquet_rows(write(tmp_path / "out", job, tmp_path / "a", odd))
    assert [(row["id"], row["error_code"]) for row in rows] == [(1, None), (None, "unknown_form")]


def test_two_columns_of_one_name(tmp_path, pa):
    """Which of them is meant is not known."""
    bodies = pa.array([body(0)])
    path = parquet(tmp_path / "a", bodies, bodies, names=("body", "body"))
    with pytest.raises(ValueError, match="2 columns 'body'"):
        parts_of(Job(body="body"), [Input.of(str(path))])


@pytest.mark.parametrize("to", ["jsonl", "parquet"])
def test_columns_called_as_ours(tmp_path, pa, to):
    """With a prefix, one called `source` can be kept."""
    bodies = pa.array([body(0)])
    path = parquet(tmp_path / "a", pa.array(["web"]), bodies, names=("source", "body"))
    with pytest.raises(ValueError, match="two columns 'source'"):
        parts_of(Job(body="body", keep=("source",)), [Input.of(str(path))])
    job = Job(body="body", keep=("source",), prefix="our_", to=to)
    out = write(tmp_path / "out", job, path, tmp_path / "gone")
    found = json_rows(out) if to == "jsonl" else parquet_rows(out)
    assert [row["our_source"] for row in found] == [str(path), str(tmp_path / "gone")]
    assert [row["source"] for row in found] == ["web", None]
    assert [row["position"] for row in found] == [0, 0]


def test_row_groups_of_the_output(tmp_path, pa):
    """They do not depend on how few rows are read at once; each costs as much as many rows."""
    import pyarrow.parquet as pq

    count = 1000
    names = pa.array([str(number % 200) for number in range(count)]).dictionary_encode()
    path = parquet(tmp_path / "a", names, pa.array([body(0)] * count), row_group_size=300)
    out = write(tmp_path / "out", Job(body="body", keep=("id",), to="parquet"), path)
    file = pq.ParquetFile(out / "part-000000.parquet")
    assert file.metadata.num_row_groups == 1
    assert file.read().column("id").to_pylist() == names.to_pylist()
    large = parquet(tmp_path / "b", pa.array([*range(40)]), pa.array([body("x" * 400_000)] * 40))
    out = write(tmp_path / "large", Job(body="body", to="parquet"), large)
    assert pq.ParquetFile(out / "part-000000.parquet").metadata.num_row_groups > 1


def test_large_rows_are_read_one_by_one(tmp_path, pa):
    """What is held does not depend on how large bodies are."""
    import pyarrow.parquet as pq

    small = parquet(tmp_path / "a", pa.array([1] * 9), pa.array([body(0)] * 9))
    assert rows_at_once(pq.ParquetFile(small).metadata, [0]) == 64
    other = pa.array([1, 2, 3])
    texts = pa.array([str(number) * (20 << 20) for number in range(3)])
    large = parquet(tmp_path / "b", other, texts, compression="none")
    assert rows_at_once(pq.ParquetFile(large).metadata, [0]) == 1
    assert rows_at_once(pq.ParquetFile(large).metadata, []) == 64


def test_parts_of_names_with_dots(tmp_path, pa):
    """Their row groups have sizes, too."""
    path = parquet(tmp_path / "a", pa.array([1] * 9), pa.array([body(0)] * 9), names=("a", "b.c"))
    _, parts = parts_of(Job(body="b.c"), [Input.of(str(path))])
    assert parts[0].size > 0


def test_damaged_pages(tmp_path, table):
    """Damage inside costs the rest of its row group."""
    data = bytearray(table.read_bytes())
    place = data.find(b"chatcmpl-20")
    data[place - 200 : place + 200] = bytes(400)
    path = tmp_path / "damaged"
    path.write_bytes(data)
    found = json_rows(write(tmp_path / "out", Job(body="body", keep=("id",), part_size=1), path))
    assert found[0]["text"] == "é0"
    assert found[-1]["text"] == "é49"


# -- Pieces ----------------------------------------------------------------------------------


def test_parts():
    """They hold what fits, and one slice at least."""
    one = Input("a", 10, 0)
    sizes = [5, 5, 1, 30, 2, 2]
    parts = [*in_parts([Slice(one, "whole", size=size) for size in sizes], 10)]
    assert [part.size for part in parts] == [10, 1, 30, 4]
    assert [part.number for part in parts] == [0, 1, 2, 3]


def test_parts_of_many_files():
    """Empty files do not all come into one part."""
    parts = [*in_parts([Slice(Input("a", 0, 0), "whole")] * 20_001, 10)]
    assert [len(part.slices) for part in parts] == [10_000, 10_000, 1]


def test_buffer_is_bounded():
    """It is full when it holds many rows, or large ones."""
    (row,) = rebuild_batch([WHOLE])
    buffer = RowBuffer()
    while not buffer.is_full:
        buffer.add(row)
    assert len(buffer.take()) == MOST_ROWS
    assert not buffer.rows
    buffer.add({**row, "text": "x" * (8 << 20)})
    assert buffer.is_full


def test_tallies_add_up():
    """However the rows are parted, and through JSON."""
    rows = rebuild_batch([WHOLE, CUT, b"", 5, WHOLE + CUT] * 4)
    total = Tally()
    for start in range(0, 20, 3):
        part = Tally()
        for row in rows[start : start + 3]:
            part.count(row["complete"], row["error_code"], row["issue_codes"], row["chunks"])
        total.add(Tally.of(json.loads(json.dumps(part.plain()))))
    assert total.states == {"complete": 8, "cut": 4, "empty": 4, "error": 4}
    assert total.errors == {"empty_stream": 4, "wrong_type": 4}
    assert total.streams == 20
