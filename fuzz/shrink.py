"""
Shrink a failing input, and keep it in `corpus/`.

    python -m fuzz.shrink crash-1 crash-2

Whole events go first, then ever smaller parts, as long as the same comparison fails.
Where to cut depends on the input, so several ways to cut are tried for each.
"""

from __future__ import annotations

import hashlib
import random
import re
import sys

from pathlib import Path

from fuzz.roads import check, hold


CORPUS = Path(__file__).parent / "corpus"
PARTS = (
    re.compile(rb".+?(?:\r\n\r\n|\n\n|\r\r|\Z)", re.DOTALL),
    re.compile(rb"[^\n]*\n|[^\n]+"),
    re.compile(rb',?[ ]?"(?:[^"\\]|\\.)*+":|[^,{}]+|.', re.DOTALL),
    re.compile(rb".", re.DOTALL),
)
WAYS = 24


def failure(data: bytes, *, own: bool = False) -> str:
    """Return what fails for *data*, or ""; *own*: only with the cuts drawn from itself."""
    try:
        check(data)
        for seed in () if own else range(WAYS):
            hold(data, random.Random(seed))
    except Exception as error:  # noqa: BLE001 -- whatever escapes is a failure
        return f"{type(error).__name__} {error}".split(":", 1)[0]
    return ""


def shrink(data: bytes) -> bytes:
    """Return the least part of *data* that fails in the same way."""
    what = failure(data)
    if not what:
        return data
    size = len(data) + 1
    while len(data) < size:
        size = len(data)
        for part in PARTS:
            data = without_parts(data, part, what)
    return data


def without_parts(data: bytes, part: re.Pattern[bytes], what: str) -> bytes:
    """Leave out rows of parts, long ones first, as long as *what* still fails."""
    parts = part.findall(data)
    size = len(parts) // 2
    while size:
        at = 0
        while at < len(parts):
            fewer = parts[:at] + parts[at + size :]
            if failure(b"".join(fewer)) == what:
                parts = fewer
            else:
                at += size
        size //= 2
    return b"".join(parts)


def drawn(data: bytes) -> bytes:
    """Return *data* with a comment behind it that makes its own cuts fail, if one does."""
    for number in range(500):
        made = data if not number else data + b"\n\n: %d\n\n" % number
        if failure(made, own=True):
            return made
    return data


def main() -> None:
    """Shrink the files named on the command line."""
    for name in sys.argv[1:]:
        data = drawn(shrink(Path(name).read_bytes()))
        path = CORPUS / hashlib.sha256(data).hexdigest()[:16]
        path.write_bytes(data)
        print(path, failure(data, own=True) or "passes", data)


if __name__ == "__main__":
    main()
