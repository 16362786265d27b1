"""Many inputs to a folder of rows, and what is there after a kill."""

from __future__ import annotations

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

from streamkit.cli import _batch
from streamkit.cli._main import make_parser
from streamkit.engines import _folder, _plan
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
@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_memory_is_bounded(tmp_path):
    """Ten times as many rows, in one file and one part, take no more memory."""
    peaks = []
    for count in (400, 4000):
        row = {"b": sse(*[chunk(content="word " * 20)] * 100, chunk(finish="stop")).decode()}
        (tmp_path / "rows.jsonl").write_text((json.dumps(row) + "\n") * count)
        script = (
            "import re, sys; from streamkit.cli import main; main(sys.argv[1:]);"
            "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
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


def test_two_at_once(run, inputs):
    """The second is refused while the first is at work, and not after."""
    (inputs / "out/_streamkit").mkdir(parents=True)
    with locked(inputs / "out/_streamkit/lock"):
        result = run("batch", "in", "out")
    assert result.status == 2
    assert "another process is at work in" in result.err
    assert run("batch", "in", "out").status == 1


# -- What goes wrong on the way ------------------------------------------------------------


def test_input_changes_meanwhile(run, inputs, monkeypatch):
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
    assert "1 parts are missing" in result.err
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


def test_disk_is_full(run, inputs, monkeypatch):
    """The command ends, and nothing half is left."""

    def full(*_args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_folder, "_copy", full)
    result = run("batch", "in", "out", "--jobs", "1")
    assert result.status == 2
    assert "cannot write: out: No space left on device" in result.err
    assert not parts(inputs / "out")
    assert not left_over(inputs)


def test_interrupted(run, inputs, monkeypatch):
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
    """Enough to be at for seconds: forty parts."""
    (tmp_path / "in").mkdir()
    content = [chunk(content="word ") for _ in range(400)]
    for number in range(40):
        data = b"".join(sse(*content, chunk(f"{number}-{n}", finish="stop")) for n in range(6))
        (tmp_path / f"in/{number:02}.sse").write_bytes(data)
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
    dice, killed = random.Random(7), 0
    for _ in range(10):
        process = batch(large, "many", "--resume")
        time.sleep(dice.uniform(0.1, max(seconds / 4, 0.5)))
        killed += process.poll() is None
        process.kill()
        process.communicate()
        assert all(
            data == parts(large / "one")[name] for name, data in parts(large / "many").items()
        )
    assert killed >= 3
    last = batch(large, "many", "--resume")
    out, err = last.communicate()
    assert (last.returncode, err) == (whole.returncode, b"")
    assert parts(large / "many") == parts(large / "one")
    assert out.splitlines()[0].replace(b"many", b"one") == whole_summary(large)
    assert not left_over(large)


def whole_summary(large):
    process = batch(large, "one", "--resume")
    return process.communicate()[0].splitlines()[0]


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.slow
def test_worker_killed(large):
    """The part that it was at is missing, and told; the others are there."""
    process = batch(large, "out")
    while process.poll() is None and len(parts(large / "out")) < 2:
        time.sleep(0.02)
    found = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(process.pid)], capture_output=True
    )
    workers = [line.split()[0] for line in found.stdout.splitlines() if b"spawn_main" in line]
    os.kill(int(workers[0]), 9)
    _, err = process.communicate()
    assert process.returncode == 2
    assert b"the process that read it died (SIGKILL)" in err
    assert b"1 parts are missing" in err
    assert len(parts(large / "out")) == 39
    again = batch(large, "out", "--resume")
    assert again.communicate()[1] == b""
    assert again.returncode != 2
    assert len(parts(large / "out")) == 40
    assert not left_over(large)
