"""The one-liners of the documentation for pandas, Polars, Dask and DuckDB, as they stand there."""

from __future__ import annotations

import re

from pathlib import Path

import pytest

from streamkit import rebuild_batch
from tests.cli.helpers import CUT, WHOLE


PAGE = (Path(__file__).parents[2] / "docs/spark-and-ray.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (pandas|Polars|Dask|DuckDB) \| `([^`]+)`", PAGE, re.MULTILINE))
META = re.search(r"with `META = ([^`]+)`", PAGE)[1]
BODIES = [WHOLE, CUT, b"\0", None] * 5
TEXTS = ["Hello", "Hel", None, None] * 5
pytestmark = pytest.mark.filterwarnings("default")


def test_each_is_there():
    """The table has a row for each."""
    assert {*ROWS} == {"pandas", "Polars", "Dask", "DuckDB"}


def plain(values):
    return [value if isinstance(value, str) else None for value in values]


def test_pandas():
    pd = pytest.importorskip("pandas")
    df = pd.DataFrame({"body": BODIES}, index=range(100, 120))
    found = eval(ROWS["pandas"], {"pd": pd, "df": df, "rebuild_batch": rebuild_batch})
    assert plain(found["text"]) == TEXTS
    assert [*found.index] == [*df.index]


def test_polars():
    pl = pytest.importorskip("polars")
    df = pl.DataFrame({"body": BODIES})
    found = eval(ROWS["Polars"], {"pl": pl, "df": df, "rebuild_batch": rebuild_batch})
    assert found["text"].to_list() == TEXTS


def test_dask():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    space = {"pd": pd, "rebuild_batch": rebuild_batch}
    frame = pd.DataFrame({"body": [body or b"" for body in BODIES]})
    space |= {"META": eval(META, space), "ddf": dd.from_pandas(frame, npartitions=3)}
    found = eval(ROWS["Dask"], space).compute(scheduler="threads")
    assert plain(found["text"]) == TEXTS
    assert [*found.index] == [*range(20)]


def test_duckdb():
    duckdb, pa = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    t = pa.table({"body": BODIES})
    space = {"duckdb": duckdb, "pa": pa, "rebuild_batch": rebuild_batch, "t": t}
    found = eval(ROWS["DuckDB"], space)
    assert [text for (text,) in found.select("text").fetchall()] == TEXTS
