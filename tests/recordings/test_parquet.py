"""Parquet, read by row groups."""

from __future__ import annotations

import io
import sys

from datetime import UTC, datetime, timedelta

import pytest

from streamkit import LimitExceeded, Limits, UnknownForm
from streamkit.recordings import _parquet
from tests.recordings.making import BODY, CHUNKS, codes, read, text


FORM = _parquet.FORMS[0]


def parquet(rows, **options):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file, **options)
    return file.getvalue()


def test_body_per_row():
    """Bodies as text and as bytes, over several row groups."""
    rows = [{"id": n, "body": BODY.encode()} for n in range(100)]
    recordings = read(FORM, parquet(rows, row_group_size=40))
    assert [each.name for each in recordings] == [f"row {n}" for n in range(1, 101)]
    assert {text(each) for each in recordings} == {"Hello"}


def test_sequence():
    """Rows with timestamps are joined and sorted."""
    start = datetime(2026, 9, 21, tzinfo=UTC)
    rows = [
        {"stream_id": "a", "ts": start + timedelta(seconds=n), "chunk": each}
        for n, each in enumerate(CHUNKS)
    ]
    (recording,) = read(FORM, parquet(rows[::-1]))
    assert (text(recording), codes(recording)) == ("Hello", ["rows_sorted"])
    assert recording.pieces[1].time == start.timestamp() + 1


def test_path(tmp_path):
    """A path or a file that can seek is read where it lies."""
    path = tmp_path / "rows.parquet"
    path.write_bytes(parquet([{"body": BODY}]))
    for source in (path, str(path), io.BytesIO(path.read_bytes())):
        assert [text(each) for each in _parquet.read_parquet(source)] == ["Hello"]
    with pytest.raises(FileNotFoundError):
        list(_parquet.read_parquet(tmp_path / "none"))


@pytest.mark.parametrize("cut", [4, 12, 100, -1, -8])
def test_damaged(cut):
    """A damaged file is refused."""
    with pytest.raises(UnknownForm, match="damaged"):
        read(FORM, parquet([{"body": BODY}])[:cut], block=99)


def test_limits():
    """What goes to the temporary file is bounded, and what a row group expands to."""
    data = parquet([{"body": BODY * 500}] * 50)
    assert len(data) < 50_000
    for bound in (1000, 60_000):
        with pytest.raises(LimitExceeded, match="decompressed"):
            read(FORM, data, block=99, limits=Limits(decompressed=bound))


def test_without_pyarrow(monkeypatch):
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UnknownForm, match=r"install streamkit-llm\[parquet\]"):
        read(FORM, b"PAR1", block=9)


@pytest.mark.parametrize(
    ("head", "score"), [(b"PAR1\x15", 99), (b"PAR", 0), (b"data: PAR1", 0), (b"", 0)]
)
def test_looks(head, score):
    assert FORM.looks(head) == score
