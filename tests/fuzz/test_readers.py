"""What fuzzing the readers knows of holds: a stream in each form, and what once failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamkit.recordings import sniff


FUZZ = Path(__file__).parents[2] / "fuzz"
CORPUS = sorted((FUZZ / "recordings").glob("*"))

if not CORPUS:
    pytest.skip("the fuzz target is not here", allow_module_level=True)

from fuzz.readers import check  # noqa: E402 -- only where it is
from fuzz.samples import samples  # noqa: E402


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_corpus(path):
    """The invariant holds for each committed input."""
    check(path.read_bytes())


def test_the_seeds_are_in_many_forms():
    """A seed that no longer looks like its form would fuzz nothing."""
    pytest.importorskip("pyarrow")  # for the seed of Parquet
    forms = {sniff(data).name for data in samples()}
    assert forms >= {
        "sse", "json", "rows", "prefixed", "docker", "cri", "journal", "curl-i", "curl-raw",
        "curl-v", "curl-trace", "curl-trace-ascii", "har", "vcr", "vcr-json", "mitmproxy", "csv",
        "paste", "python", "escaped", "pickle", "parquet", "other-file", "other-dialect",
    }  # fmt: skip
