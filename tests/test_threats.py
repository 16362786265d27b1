"""The rows of the table of threats in SECURITY.md: each has its test, and here are some of them."""

from __future__ import annotations

import ast
import re
import time

from pathlib import Path

import pytest

import streamkit

from streamkit import NO_LIMITS, StreamkitError, rebuild, rebuild_all, recordings


ROOT = Path(__file__).parents[1]
PACKAGE = Path(streamkit.__file__).parent
CHUNK = '{"choices":[{"index":0,"delta":{"content":"%s"}}]}'


# -- The table -----------------------------------------------------------------------


def named():
    """Return each test, or file of tests, that the table names."""
    path = ROOT / "SECURITY.md"
    text = path.read_text(encoding="utf-8").partition("## Threats")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    assert all(len(row) == 3 for row in rows)
    assert all("`tests/" in row[2] for row in rows), "each row names a test"
    return sorted({name for row in rows for name in re.findall(r"`(tests/[^`]+)`", row[2])})


@pytest.mark.parametrize("name", named())
def test_named_tests_exist(name):
    """A row whose test is gone proves nothing."""
    path, _, test = name.partition("::")
    assert (ROOT / path).is_file()
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    found = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert test in found if test else any(each.startswith("test_") for each in found)


# -- Rows ----------------------------------------------------------------------------


def test_text_is_no_path(tmp_path, monkeypatch):
    """Text that is the name of a file is text."""
    monkeypatch.chdir(tmp_path)
    Path("secret.sse").write_text(f"data: {CHUNK % 'secret'}\n\n", encoding="utf-8")
    for outcomes in (rebuild_all("secret.sse"), recordings.rebuild("secret.sse")):
        assert [outcome.response for outcome in outcomes] == [None]


@pytest.mark.parametrize(
    "number", ["9" * 1_000_000, "NaN", "-Infinity", "1e999", "-1" + "0" * 5000]
)
@pytest.mark.parametrize("where", ['"cost":%s,', '"created":%s,', '"usage":{"total_tokens":%s},'])
def test_numbers(number, where):
    """A number that no float and no interpreter holds is reported, or refused by a typed error."""
    chunk = "{" + where % number + (CHUNK % "Hi")[1:]
    try:
        outcome = rebuild(f"data: {chunk}\n\n")
    except StreamkitError:
        return
    assert outcome.issues


ONE = (CHUNK % "x").encode()[1:]
# Each repeats something that a careless reader would look at again and again.
SHAPES = {
    "one line": lambda n: [b"data: " + b"x" * n],
    "one line in small blocks": lambda n: [b"x" * 64] * (n // 64),
    "open quotes": lambda n: [b'data: {"' + b'\\"' * (n // 2)],
    "open braces": lambda n: [b"data: " + b"{" * n],
    "one event of many lines": lambda n: [b"data:\n" * (n // 6)],
    "comments": lambda n: [b":\n" * (n // 2)],
    "blank lines": lambda n: [b"\n" * n],
    "carriage returns, one by one": lambda n: [b"\r"] * (n // 16),
    "types behind data": lambda n: [
        b'data: {"' + b"x" * (n // 2) + b'":1}\n' + b"event: x\n" * (n // 18)
    ],
    "broken JSON": lambda n: [b'data: {"a":\n\n' * (n // 13)],
    "glued events": lambda n: [b"data: {}" * (n // 8)],
    "many streams": lambda n: [
        b"".join(b'data: {"id":"%d",%b\n\n' % (i, ONE) for i in range(n // 70))
    ],
    "one piece of tool arguments a chunk": lambda n: [
        b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":'
        b'{"name":"f","arguments":"{"}}]}}]}\n\n' * (n // 110)
    ],
    "one annotation a chunk": lambda n: [
        b"".join(
            b'data: {"choices":[{"index":0,"delta":{"annotations":[{"a":%d}]}}]}\n\n' % i
            for i in range(n // 70)
        )
    ],
}  # fmt: skip


def seconds(blocks):
    """Return the processor time of a rebuild of *blocks*, without bounds on the input."""
    began = time.process_time()
    try:
        for _ in rebuild_all(iter(blocks), limits=NO_LIMITS):
            pass
    except StreamkitError:
        pass
    return time.process_time() - began


@pytest.mark.parametrize("shape", SHAPES)
def test_time_is_linear(shape):
    """Eight times the input takes about eight times as long; its square would be sixty-four."""
    small, large = SHAPES[shape](1 << 15), SHAPES[shape](1 << 18)
    least = min(seconds(small) for _ in range(3))
    assert min(seconds(large) for _ in range(2)) < 24 * max(least, 0.004)


def rooms(*without):
    """Return the files of the package, but for those in the rooms *without*."""
    return [
        path
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] not in without
    ]


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module


NETWORK = ("socket", "ssl", "http", "urllib.request", "ftplib", "smtplib", "httpx", "requests")


def test_no_network():
    """Nothing but the room for tests can open a connection, and its server listens on loopback."""
    for path in rooms("testing"):
        for name in imported(path):
            assert not any(f"{name}.".startswith(f"{each}.") for each in NETWORK), (path, name)
    from streamkit.testing import StreamServer

    with StreamServer(b"data: [DONE]\n\n") as server:
        assert server.url.startswith("http://127.0.0.1:")


def test_no_environment():
    """What somebody else's program does, does not hang on the environment."""
    for path in rooms("cli", "testing"):
        text = path.read_text(encoding="utf-8")
        assert "environ" not in text, path
        assert "getenv" not in text, path
