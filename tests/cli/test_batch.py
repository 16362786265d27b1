"""Many inputs to a folder of rows, and what is there after a kill."""

from __future__ import annotations

import argparse
import errno
import gzip
import json
import os
import random
import subprocess
import sys
import time

from pathlib import Path

import pytest

from streamkit.cli import _batch, _parts
from streamkit.cli._each import said_of
from streamkit.cli._main import make_parser
from streamkit.cli._said import Said
from streamkit.engines import _deaths, _folder, _lock, _plan
from streamkit.engines._job import Job
from streamkit.engines._lock import locked

from .helpers import CUT, FAILED, WHOLE, chunk, sse


COMMAND = [sys.executable, "-m", "streamkit", "batch"]


@pytest.fixture
def inputs(files):
    """Twelve recordings in a folder, of all kinds."""
    (files / "in").mkdir()
    for number in range(12):
        end = chunk(f"chatcmpl-{number}", content=f"é{number}", finish="stop")
        kinds = (sse(end), sse(end) + CUT, FAILED, gzip.compress(WHOLE))
        (files / f"in/{number:02}.sse").write_bytes(kinds[number % 4])
    return files


def parts(folder):
    return {path.name: path.read_bytes() for path in folder.glob("part-*")}


def rows(folder):
    """Return the rows of all parts, in order."""
    data = b"".join(data for _, data in sorted(parts(folder).items()))
    return [json.loads(line) for line in data.splitlines()]


def left_over(folder):
    """Return the names of what a writer that was killed leaves."""
    return [path.name for path in folder.rglob("*.tmp")]


# -- What is written ---------------------------------------------------------------------


def test_rows_of_recordings(run, inputs):
    """Each stream has a row, in the order of the names; the summary has the numbers."""
    result = run("batch", "in", "out", "--jobs", "1", "--part-size", "1K")
    assert result.status == 1
    found = rows(inputs / "out")
    assert len(found) == 15
    places = [(Path(row["source"]).name, row["position"]) for row in found]
    assert places == sorted(places)
    assert places[1:3] == [("01.sse", 1), ("01.sse", 2)]
    assert [row["text"] for row in found[:5]] == ["é0", "é1", "Hel", "Hel", "Hello"]
    head, errors, issues, rate = result.out.splitlines()
    assert head.endswith("15 streams · 21 chunks · complete=9 · cut=3 · error=3")
    assert errors == "errors · upstream_error=3"
    assert issues.startswith("issues · ")
    assert "streams/s" in rate
    summary = json.loads((inputs / "out/_streamkit/summary.json").read_bytes())
    assert summary["states"] == {"complete": 9, "cut": 3, "error": 3}
    assert summary["parts"] == len(parts(inputs / "out")) > 2
    assert not left_over(inputs)


def test_all_complete(run, files):
    """Status 0 means that nothing at all was wrong."""
    result = run("batch", "whole.sse", "out")
    assert (result.status, result.err) == (0, "")
    assert len(result.out.splitlines()) == 2


def test_nothing_at_all(run, files):
    """A folder without recordings is a job without parts."""
    (files / "in").mkdir()
    result = run("batch", "in", "out")
    assert result.status == 1
    assert result.out.startswith("out · 0 parts · 0 streams")


def test_jobs_change_nothing(run, inputs):
    """Two processes write what one does."""
    run("batch", "in", "one", "--jobs", "1", "--part-size", "1K")
    run("batch", "in", "two", "--jobs", "2", "--part-size", "1K")
    assert parts(inputs / "one") == parts(inputs / "two")


def test_bad_inputs(run, inputs):
    """What cannot be read has a row, and the others theirs."""
    (inputs / "in/00.sse").write_bytes(b"PAR1 but damaged")
    result = run("batch", "in", "gone.sse", "whole.sse", "out")
    assert result.status == 1
    found = rows(inputs / "out")
    codes = {Path(row["source"]).name: row["error_code"] for row in found}
    assert (codes["00.sse"], codes["gone.sse"], codes["whole.sse"]) == (
        "unknown_form",
        "unreadable",
        None,
    )


def test_options(run, files):
    """Those of reading are the same as of other commands."""
    result = run("batch", "whole.sse", "out", "--limit", "chunks=1", "--from", "sse")
    assert result.status == 1
    (row,) = rows(files / "out")
    assert row["error_code"] == "limit_exceeded"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-", "out"], "cannot be read again"),
        (["--keep", "id", "in", "out"], "--body"),
        (["--body", "a", "--group-by", "id", "in", "out"], "put together"),
        (["--body", "a", "--keep", "text", "in", "out"], "two columns 'text'"),
        (["--part-size", "0", "in", "out"], "such as 64M"),
        (["--part-size", "5T", "in", "out"], "such as 64M"),
        (["in", "whole.sse"], "is a file"),
        (["in", "in"], "something else"),
    ],
)
def test_wrong_usage(run, inputs, arguments, message):
    """Each is told, and nothing is written."""
    before = sorted(inputs.rglob("*"))
    result = run("batch", *arguments)
    assert result.status == 2
    assert message in result.err
    assert sorted(inputs.rglob("*")) == before


def test_without_pyarrow(run, inputs, monkeypatch):
    """What to install is said, before anything is written."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = run("batch", "in", "out", "--to", "parquet")
    assert result.status == 2
    assert "not_installed: tables need pyarrow: install streamkit-llm[parquet]" in result.err
    assert not (inputs / "out").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is Linux's")
def test_memory_is_bounded(tmp_path):
    """Ten times as many rows, in one file and one part, take no more memory."""
    peaks = []
    for count in (400, 4000):
        row = {"b": sse(*[chunk(content="word " * 20)] * 100, chunk(finish="stop")).decode()}
        (tmp_path / "rows.jsonl").write_text((json.dumps(row) + "\n") * count)
        script = (
            "import sys; from resource import *; from streamkit.cli import main;"
            "main(sys.argv[1:]); print(getrusage(RUSAGE_CHILDREN).ru_maxrss)"
        )
        options = ["--body", "b", "--jobs", "1", "--part-size", "1G"]
        command = [sys.executable, "-c", script, "batch", *options, "rows.jsonl", f"out{count}"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
        peaks.append(int(done.stdout.split()[-1]))
    assert peaks[1] < peaks[0] + 8_000


# -- Going on ----------------------------------------------------------------------------


def test_resume(run, inputs):
    """Parts that are missing are made again, the others are left alone."""
    run("batch", "in", "out", "--part-size", "1K")
    out = inputs / "out"
    before, times = parts(out), {path: path.stat().st_mtime_ns for path in out.glob("part-*")}
    (out / "part-000001.jsonl").unlink()
    (out / ".streamkit-0123456789ab.tmp").write_bytes(b"half")
    result = run("batch", "in", "out", "--part-size", "1K", "--resume", "--jobs", "1")
    assert result.out.startswith(f"out · {len(before)} parts · 15 streams")
    assert parts(out) == before
    assert not left_over(out)
    changed = [path.name for path in times if path.stat().st_mtime_ns != times[path]]
    assert changed == ["part-000001.jsonl"]


def test_resume_of_nothing(run, inputs):
    """A script can always say --resume; and a folder left before there was a job is free."""
    (inputs / "out/_streamkit").mkdir(parents=True)
    assert run("batch", "in", "out", "--resume").status == 1
    assert len(rows(inputs / "out")) == 15


def test_without_resume(run, inputs):
    """A job that is there is not overwritten by mistake."""
    run("batch", "in", "out")
    result = run("batch", "in", "out")
    assert (result.status, result.out) == (2, "")
    assert "--resume goes on with it" in result.err


CHANGES = {
    "changed": lambda folder: (folder / "in/00.sse").write_bytes(WHOLE + CUT),
    "touched": lambda folder: os.utime(folder / "in/00.sse", ns=(0, 5)),
    "no longer there": lambda folder: (folder / "in/00.sse").unlink(),
    "is new": lambda folder: (folder / "in/zz.sse").write_bytes(WHOLE),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_inputs(run, inputs, change):
    """Rows of two states of an input are not mixed."""
    run("batch", "in", "out")
    before = parts(inputs / "out")
    CHANGES[change](inputs)
    result = run("batch", "in", "out", "--resume")
    assert result.status == 2
    assert "cannot resume: the input" in result.err
    assert change.replace("touched", "changed") in result.err
    assert parts(inputs / "out") == before


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["--part-size", "1K"], "part_size"),
        (["--to", "parquet"], "to"),
        (["--limit", "chunks=5"], "reading"),
        (["--kind", "chat"], "reading"),
    ],
)
def test_changed_settings(run, inputs, options, name):
    """Nor are rows made with two settings."""
    if name == "to":
        pytest.importorskip("pyarrow")
    run("batch", "in", "out")
    result = run("batch", "in", "out", "--resume", *options)
    assert result.status == 2
    assert f"the settings are not those it was begun with ({name})" in result.err


def test_other_order(run, inputs):
    """The rows would come in another order."""
    run("batch", "whole.sse", "cut.sse", "out")
    result = run("batch", "cut.sse", "whole.sse", "out", "--resume")
    assert "another order" in result.err


def test_other_processes_settings_do_not_count(run, inputs):
    """How many processes, and which JSON library, change nothing in the output."""
    run("batch", "in", "out", "--jobs", "1")
    result = run("batch", "in", "out", "--resume", "--jobs", "2", "--json-library", "json")
    assert result.status == 1


@pytest.mark.parametrize("names", [["in/*"], ["in/**"], ["in/00.sse", "in/01.sse", "in/out"]])
def test_output_among_the_inputs(run, inputs, names):
    """A pattern finds it there at the second time, whether streamkit or the shell expands it."""
    first = [name for name in names if name != "in/out"]
    run("batch", *first, "in/out", "--part-size", "1K")
    before = parts(inputs / "in/out")
    (inputs / "in/out/part-000000.jsonl").unlink()
    assert run("batch", "--resume", *names, "in/out", "--part-size", "1K").status == 1
    assert parts(inputs / "in/out") == before


def test_output_alone(run, inputs):
    """It is an input like any other folder, and refused, as it holds something."""
    run("batch", "in", "out")
    result = run("batch", "out", "out", "--resume")
    assert (result.status, "cannot resume" in result.err) == (2, True)


@pytest.mark.parametrize("content", ["", "[", "[]", "{}", '{"job": 5, "inputs": []}'])
def test_damaged_manifest(run, inputs, content):
    """Why it is no job any more is said."""
    run("batch", "in", "out")
    (inputs / "out/_streamkit/job.json").write_text(content)
    result = run("batch", "in", "out", "--resume")
    assert result.status == 2
    assert "out/_streamkit/job.json' is damaged; begin anew" in result.err.replace("\\\\", "/")


@pytest.mark.parametrize("content", [None, "", "{}", "[]", '{"states": 5}'])
def test_damaged_numbers(run, inputs, content):
    """The part is made again, to the same bytes."""
    whole = run("batch", "in", "out", "--part-size", "1K")
    before, numbers = parts(inputs / "out"), inputs / "out/_streamkit/000000.json"
    kept = numbers.read_bytes()
    numbers.unlink()
    if content is not None:
        numbers.write_text(content)
    again = run("batch", "in", "out", "--part-size", "1K", "--resume")
    assert (again.status, again.out.splitlines()[:3]) == (1, whole.out.splitlines()[:3])
    assert (parts(inputs / "out"), numbers.read_bytes()) == (before, kept)


def test_no_locks(run, inputs, monkeypatch):
    """A file system without locks is not taken for another process at work."""

    def refuse(_number):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(_lock, "_try_lock", refuse)
    result = run("batch", "in", "out")
    assert result.status == 2
    assert "cannot write: " in result.err
    assert "another process" not in result.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
@pytest.mark.parametrize("options", [[], ["--body", "b"]])
def test_pipe_among_the_inputs(run, inputs, options):
    """Nobody waits for what is written to it; after a kill it could not be read again."""
    os.mkfifo(inputs / "pipe")
    result = run("batch", *options, "pipe", "whole.sse", "out")
    assert result.status == 1
    first = rows(inputs / "out")[0]
    assert (first["error_code"], first["error_message"]) == ("unreadable", "not a regular file")
    assert len(rows(inputs / "out")) == 2
    assert run("batch", *options, "pipe", "whole.sse", "out", "--resume").status == 1


def test_folder_of_tables(run, files):
    """Those whose columns show no stream are read, too; what is no table is counted."""
    (files / "in").mkdir()
    (files / "in/a.jsonl").write_text('{"id": 1, "b": null}\n')
    (files / "in/notes.csv").write_text("id,b\n1,x\n")
    result = run("batch", "--body", "b", "--keep", "id", "in", "out")
    assert "1 no tables" in result.err
    assert [row["id"] for row in rows(files / "out")] == [1]


def test_nothing_is_left_of_an_error(run, inputs, monkeypatch, in_this_process):
    """What a process that was ended has left is removed at once."""

    def full(self, *_args):
        (self.path / ".streamkit-0123456789ab.tmp").write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_folder.Folder, "write", full)
    assert run("batch", "in", "out", "--jobs", "1").status == 2
    assert not left_over(inputs)


def test_two_at_once(run, inputs):
    """The second is refused while the first is at work, and not after."""
    (inputs / "out/_streamkit").mkdir(parents=True)
    with locked(inputs / "out/_streamkit/lock"):
        result = run("batch", "in", "out")
    assert result.status == 2
    assert "another process is at work in" in result.err
    assert run("batch", "in", "out").status == 1


# -- What goes wrong on the way ------------------------------------------------------------


@pytest.fixture
def in_this_process(monkeypatch):
    """Parts are written by this process, where what they call can be replaced."""

    def said_of_parts(args, files):
        return said_of(args, _parts.write_part, iter(files), len(files))

    monkeypatch.setattr(_batch, "said_of_parts", said_of_parts)


def test_input_changes_meanwhile(run, inputs, monkeypatch, in_this_process):
    """Its part is not written, the others are; what is there can be gone on with."""
    check = _plan.Input.check

    def spoil(one):
        if one.name.endswith("04.sse"):
            raise OSError(errno.ESTALE, "the file changed while the job ran", one.name)
        check(one)

    with monkeypatch.context() as patch:
        patch.setattr(_plan.Input, "check", spoil)
        result = run("batch", "in", "out", "--jobs", "1", "--part-size", "1")
    assert result.status == 2
    assert "part 4 (" in result.err
    assert "04.sse: the file changed" in result.err
    assert "1 part is missing" in result.err
    assert len(parts(inputs / "out")) == 11
    assert not left_over(inputs)
    assert not (inputs / "out/_streamkit/summary.json").exists()
    assert run("batch", "in", "out", "--resume", "--part-size", "1").status == 1
    assert len(parts(inputs / "out")) == 12


def test_input_really_changes(tmp_path):
    """What tells is size and time."""
    path = tmp_path / "a"
    path.write_bytes(b"a")
    one = _plan.Input.of(str(path))
    one.check()
    path.write_bytes(b"ab")
    with pytest.raises(OSError, match="changed while"):
        one.check()


def test_disk_is_full(run, inputs, monkeypatch, in_this_process):
    """The command ends, and nothing half is left."""

    def full(*_args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_folder, "_copy", full)
    result = run("batch", "in", "out", "--jobs", "1")
    assert result.status == 2
    assert "cannot write: out: No space left on device" in result.err
    assert not parts(inputs / "out")
    assert not left_over(inputs)


def test_interrupted(run, inputs, monkeypatch, in_this_process):
    """Ctrl-C says how to go on."""

    def stop(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(_folder, "_copy", stop)
    result = run("batch", "in", "out", "--jobs", "1")
    assert result.status == 130
    assert "--resume goes on" in result.err


def test_progress(run, inputs):
    """The bar is told of all parts, and of each byte that is read."""

    class Meter:
        def __init__(self):
            self.size, self.names = 0, []

        def expect(self, files, what="files"):
            self.what, self.expected = what, sum(file.size for file in files)

        def start(self, file):
            self.names.append(file.label)

        def add(self, size):
            self.size += size

        def finish(self):
            pass

        def skip(self, file):
            pass

    meter = Meter()
    args = make_parser().parse_args(["batch", "in", "out", "--part-size", "500", "--jobs", "1"])
    args.meter = meter
    assert _batch.run(args) == 1
    assert meter.size == sum(path.stat().st_size for path in (inputs / "in").iterdir())
    assert (meter.what, meter.expected) == ("parts", meter.size)
    assert meter.names[0].startswith("part 0 (in")
    assert any(" … " in name for name in meter.names)


# -- Killed -------------------------------------------------------------------------------


@pytest.fixture
def large(tmp_path):
    """Enough to be at for seconds, on a fast machine too: a hundred and sixty parts."""
    (tmp_path / "in").mkdir()
    content = [chunk(content="word ") for _ in range(200)]
    for number in range(160):
        data = b"".join(sse(*content, chunk(f"{number}-{n}", finish="stop")) for n in range(2))
        (tmp_path / f"in/{number:03}.sse").write_bytes(data)
    return tmp_path


def batch(folder, out, *options):
    """Start the command in *folder*."""
    command = [*COMMAND, "in", out, "--part-size", "1", "--jobs", "2", *options]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.slow
def test_killed_at_ten_moments(large):
    """After ten kills at random moments, the output is that of one run."""
    whole = batch(large, "one")
    start = time.monotonic()
    assert whole.communicate()[1] == b""
    seconds = time.monotonic() - start
    expected = parts(large / "one")
    dice, killed = random.Random(7), 0
    for _ in range(10):
        process = batch(large, "many", "--resume")
        time.sleep(dice.uniform(0.1, max(seconds / 4, 0.5)))
        killed += process.poll() is None
        process.kill()
        process.communicate()
        assert parts(large / "many").items() <= expected.items()
    assert killed >= 3
    last = batch(large, "many", "--resume")
    out, err = last.communicate()
    assert (last.returncode, err) == (whole.returncode, b"")
    assert parts(large / "many") == expected
    assert out.splitlines()[0].replace(b"many", b"one") == whole_summary(large)
    assert not left_over(large)


def whole_summary(large):
    process = batch(large, "one", "--resume")
    return process.communicate()[0].splitlines()[0]


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.slow
def test_worker_killed(large):
    """Its part is made again; as it died of no input, the output is that of one run."""
    process = batch(large, "out")
    while process.poll() is None and not parts(large / "out"):
        time.sleep(0.01)
    found = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(process.pid)], capture_output=True
    )
    workers = [line.split()[0] for line in found.stdout.splitlines() if b"spawn_main" in line]
    os.kill(int(workers[0]), 9)
    _, err = process.communicate()
    whole = batch(large, "one")
    whole.communicate()
    assert process.returncode == whole.returncode
    first, second = err.splitlines()
    assert b"the process that read it died (SIGKILL)" in first
    assert b"it is read again" in second
    assert parts(large / "out") == parts(large / "one")
    assert not left_over(large)


# -- Inputs that end the process that reads them ---------------------------------------------

HOOK = """\
import os, pathlib, signal, sys
import streamkit.engines._batch as batch, streamkit.engines._slices as slices
import streamkit.engines._folder as folder, streamkit.cli._parts as parts
import streamkit.engines._tables

def die_of(text):
    if b"DEADLY" in text: os.kill(os.getpid(), signal.SIGKILL)
    if b"FATAL" in text: os._exit(3)

def wrap(module, name, before):
    inner = getattr(module, name)
    def wrapped(*args, **more):
        before(*args)
        return inner(*args, **more)
    setattr(module, name, wrapped)

def as_bytes(body):
    body = body.as_py() if hasattr(body, "as_py") else body
    return body.encode() if isinstance(body, str) else body or b""

wrap(slices, "counted", lambda path, add: die_of(path.read_bytes()))
wrap(slices, "row_of_body", lambda body, reading: die_of(as_bytes(body)))
def stuck(file):
    if b"STUCK" in file.peek().split(b"\\n")[0]: die_of(b"DEADLY")

wrap(slices, "_skip_line", stuck)
if os.environ.get("HOOK") == "writing":
    wrap(folder.Folder, "write", lambda self, part, *rest: os._exit(part.number + 1))
if os.environ.get("HOOK") == "beginning":
    wrap(folder, "_written", lambda *rest: os._exit(7))
if os.environ.get("HOOK") == "said":
    import multiprocessing.connection as c
    inner = c.Connection.send_bytes
    def send_bytes(self, data, *rest):
        inner(self, data, *rest)
        if data[:1] == b"s" and b'"part": 0' in data: os._exit(9)
    c.Connection.send_bytes = send_bytes
"""
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture
def deadly(tmp_path, monkeypatch):
    """Processes that are started die of some inputs; this one does not."""
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook/sitecustomize.py").write_text(HOOK)
    paths = [str(tmp_path / "hook"), str(Path(_batch.__file__).parents[2])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


def with_deadly(inputs):
    for number, word in ((3, "DEADLY"), (4, "DEADLY"), (8, "FATAL")):
        (inputs / f"in/{number:02}.sse").write_bytes(sse(chunk(content=word, finish="stop")))


@posix
@pytest.mark.parametrize(("size", "jobs"), [("1K", "2"), ("64M", "2"), ("1K", "1")])
def test_deadly_recordings(run, inputs, deadly, size, jobs):
    """Each is a row with an error, and all others have theirs, one part or many."""
    run("batch", "in", "alive", "--jobs", "1")
    with_deadly(inputs)
    result = run("batch", "in", "out", "--jobs", jobs, "--part-size", size)
    assert result.status == 1
    errors = result.out.splitlines()[1]
    assert "worker_died=3" in errors
    assert "in/04.sse, position 1: each process that read it died (SIGKILL)" in result.err
    found = rows(inputs / "out")
    died = {row["source"]: row for row in found if row["error_code"] == "worker_died"}
    assert [Path(name).name for name in died] == ["03.sse", "04.sse", "08.sse"]
    messages = [row["error_message"] for row in died.values()]
    assert messages[0] == messages[1] == "each process that read it died (SIGKILL)"
    assert messages[2] == "each process that read it died (status 3)"
    others = [row for row in rows(inputs / "alive") if row["source"] not in died]
    assert [row for row in found if row["source"] not in died] == others
    summary = json.loads((inputs / "out/_streamkit/summary.json").read_bytes())
    assert summary["errors"]["worker_died"] == 3
    assert not left_over(inputs)
    before = parts(inputs / "out")
    again = run("batch", "in", "out", "--jobs", jobs, "--part-size", size, "--resume")
    assert (again.status, again.err) == (1, "")
    assert again.out.splitlines()[:2] == result.out.splitlines()[:2]
    (inputs / "out/part-000000.jsonl").unlink()
    run("batch", "in", "out", "--jobs", jobs, "--part-size", size, "--resume")
    assert parts(inputs / "out") == before


def table(count, *words):
    """Return rows of a table; those with a word are deadly."""
    names = dict(words)
    return [
        {"id": n, "b": sse(chunk(content=names.get(n, f"é{n}"), finish="stop")).decode()}
        for n in range(count)
    ]


DEADLY_ROWS = [(0, "DEADLY"), (63, "DEADLY"), (64, "FATAL"), (199, "DEADLY")]


@posix
@pytest.mark.parametrize(
    ("form", "to"), [("jsonl", "jsonl"), ("jsonl.gz", "parquet"), ("parquet", "jsonl")]
)
def test_deadly_rows(run, tmp_path, deadly, form, to):
    """A body costs its own row alone, in the first and last place of a batch too."""
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    data = table(200, *DEADLY_ROWS)
    text = "".join(json.dumps(row) + "\n" for row in data).encode()
    path = tmp_path / f"rows.{form}"
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(data), path, row_group_size=100)
    else:
        path.write_bytes(gzip.compress(text) if form.endswith("gz") else text)
    options = ["--body", "b", "--keep", "id", "--to", to, "--part-size", "16K", "--jobs", "2"]
    result = run("batch", *options, path.name, "out")
    assert result.status == 1
    assert "200 streams" in result.out
    files = sorted((tmp_path / "out").glob("part-*"))
    found = (
        rows(tmp_path / "out")
        if to == "jsonl"
        else [row for file in files for row in pq.read_table(file).to_pylist()]
    )
    died = [n for n, row in enumerate(found) if row["error_code"] == "worker_died"]
    assert died == [n for n, _ in DEADLY_ROWS]
    assert all(row["text"] == f"é{n}" for n, row in enumerate(found) if n not in died)
    assert len({row["position"] for row in found}) == 200
    kept = [row["id"] for n, row in enumerate(found) if n not in died or form == "parquet"]
    assert [*map(int, kept)] == [n for n in range(200) if n not in died or form == "parquet"]


@posix
def test_deadly_to_pass_by(run, tmp_path, deadly):
    """What cannot even be skipped ends its slice, with a row that says where."""
    data = table(20, (10, "DEADLY STUCK"))
    lines = [json.dumps(row) + "\n" for row in data]
    (tmp_path / "rows.jsonl").write_text("".join(lines))
    (tmp_path / "more.jsonl").write_text("".join(lines[:5]))
    result = run("batch", "--body", "b", "--jobs", "2", "rows.jsonl", "more.jsonl", "out")
    assert result.status == 1
    found = rows(tmp_path / "out")
    assert [row["text"] for row in found[:10]] == [f"é{n}" for n in range(10)]
    assert found[10]["position"] == sum(map(len, lines[:10]))
    assert found[10]["error_message"] == "each process that read on from here died (SIGKILL)"
    assert [row["text"] for row in found[11:]] == [f"é{n}" for n in range(5)]


@posix
def test_too_many_deaths(run, inputs, deadly, monkeypatch):
    """It is tried so often, and no more; the other parts are there."""
    monkeypatch.setattr(_parts, "MOST_DEATHS", 3)
    with_deadly(inputs)
    result = run("batch", "in", "out", "--jobs", "2")
    assert result.status == 2
    assert "3 processes and one died, no more are tried" in result.err
    assert "1 part is missing" in result.err
    assert not left_over(inputs)


@posix
@pytest.mark.parametrize(
    "case",
    [
        ("writing", "the process that wrote it died (status 1)"),
        ("beginning", "a process died before it read anything (status 7)"),
    ],
)
def test_deaths_of_no_input(run, inputs, deadly, monkeypatch, case):
    """They are told, and cost the part; a later run can make it."""
    hook, message = case
    monkeypatch.setenv("HOOK", hook)
    result = run("batch", "in", "out", "--jobs", "2")
    assert result.status == 2
    assert message in result.err
    assert "1 part is missing" in result.err
    assert not left_over(inputs)
    monkeypatch.delenv("HOOK")
    assert run("batch", "in", "out", "--jobs", "2", "--resume").status == 1
    assert len(rows(inputs / "out")) == 15


@posix
def test_death_behind_the_part(run, inputs, deadly, monkeypatch):
    """A part that is there is not made again, nor counted twice."""
    monkeypatch.setenv("HOOK", "said")
    result = run("batch", "in", "out", "--jobs", "2")
    assert result.status == 1
    assert result.out.startswith("out · 1 part · 15 streams")
    assert "read again" not in result.err


def test_rehearsal(inputs, monkeypatch):
    """It reads all, writes nothing, and leaves what is wrong to the writing."""
    monkeypatch.chdir(inputs)
    source = _plan.Input.of("in/00.sse")
    part = _plan.Part(0, (_plan.Slice(source, "whole"), _plan.Slice(source, "whole")))
    before = sorted(inputs.rglob("*"))
    (inputs / "note").touch()
    deaths = _deaths.Deaths(note=inputs / "note")
    args = argparse.Namespace(job=Job(), deaths=deaths)
    assert [*_parts.rehearse_part(args, _parts.PartFile.of(part))] == [Said()]
    assert deaths.noted() == (1, 1)
    (inputs / "in/00.sse").write_bytes(b"other")
    deaths.forget()
    assert [*_parts.rehearse_part(args, _parts.PartFile.of(part))] == [Said()]
    assert deaths.noted() is None
    (inputs / "note").unlink()
    assert sorted(inputs.rglob("*")) == before


@posix
@pytest.mark.slow
def test_deadly_and_killed(large, deadly):
    """With deadly inputs, too, what many runs leave is that of one."""
    for number in (1, 17, 39):
        (large / f"in/{number:02}.sse").write_bytes(sse(chunk(content="DEADLY")))
    whole = batch(large, "one")
    whole.communicate()
    assert whole.returncode == 1
    dice = random.Random(5)
    for _ in range(6):
        process = batch(large, "many", "--resume")
        time.sleep(dice.uniform(0.3, 4))
        process.kill()
        process.communicate()
    last = batch(large, "many", "--resume")
    out, _ = last.communicate()
    assert last.returncode == 1
    assert b"worker_died=3" in out
    assert parts(large / "many") == parts(large / "one")
    assert not left_over(large)
