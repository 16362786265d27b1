"""Several files at once: the same output, whatever happens to a worker."""

from __future__ import annotations

import argparse
import io
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from streamkit.cli import _each, _jobs, _worker
from streamkit.cli._files import File
from streamkit.cli._jobs import in_processes
from streamkit.cli._said import Said

from .helpers import CUT, WHOLE, chunk, sse


COMMAND = [sys.executable, "-W", "error", "-m", "streamkit"]
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture
def many(files):
    """Twelve files in a folder, one of them not there."""
    (files / "many").mkdir()
    for number in range(12):
        data = sse(chunk(f"chatcmpl-{number}", content="é\x1b" * 50, finish="stop")) + CUT
        (files / f"many/{number:02}.sse").write_bytes(data)
    return files


COMMANDS = [
    ("check",),
    ("rebuild",),
    ("rebuild", "--outcome"),
    ("rebuild", "--strict", "--outcome"),
    ("show",),
    ("inspect",),
    ("inspect", "--json"),
    ("stats",),
    ("stats", "--json"),
    ("logprobs",),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_same_output(many, command):
    """Byte for byte, in both outputs, and the same status."""

    def run(*options):
        arguments = ["many", "gone", "-", "empty.sse", *options]
        return subprocess.run(
            [*COMMAND, *command, *arguments], input=WHOLE, capture_output=True, cwd=many
        )

    one, two = run(), run("--jobs", "2")
    assert b"many/11.sse" in one.stdout or b"chatcmpl-11" in one.stdout
    assert b"gone: No such file" in one.stderr
    assert (one.stdout, one.stderr, one.returncode) == (two.stdout, two.stderr, two.returncode)


# -- In this process, with functions of this module for the workers --------------------


def options(jobs=2, **more):
    return argparse.Namespace(jobs=jobs, meter=None, **more)


def files(*names):
    return iter([File(name) for name in names])


def say_name(args, file):
    yield Said(file.name, data={"pid": os.getpid()})


def say_much(args, file):
    for number in range(50):
        yield Said(f"{file.name}{number} " + "x" * 10_000)


def say_or_die(args, file):
    yield Said("begun ")
    if file.name == "deadly":
        os.kill(os.getpid(), signal.SIGKILL)
    if file.name == "fatal":
        os._exit(3)
    yield Said(file.name)


def say_and_complain(args, file):
    sys.stderr.write(f"about {file.name}\n")
    yield Said(file.name)


def say_too_deep(args, file):
    yield Said("before")
    raise RecursionError


def say_slowly(args, file):
    time.sleep(0.3 if file.name == "0" else 0)
    args.meter.add(7)
    yield Said(file.name)


def test_order_and_other_processes():
    """In the order of the files; standard input is read here."""
    found = list(in_processes(options(), say_name, files(*"abcdef", "-", *"gh")))
    assert [one.text for one in found] == [*"abcdef", "-", *"gh"]
    pids = {one.text: one.data["pid"] for one in found}
    assert pids.pop("-") == os.getpid()
    assert 1 <= len({*pids.values()}) <= 2
    assert os.getpid() not in pids.values()


def test_what_waits_is_bounded(monkeypatch):
    """A worker that is ahead waits once much is held; all comes out in order."""
    monkeypatch.setattr(_jobs, "MOST_HELD", 100_000)
    monkeypatch.setattr(_jobs, "AHEAD", 2)
    pool = _jobs._Pool(options(), say_much)
    most, texts = 0, []
    for one in pool.run(files(*"abcde")):
        time.sleep(0.001)
        texts.append(one.text.split(" ")[0])
        most = max(most, sum(task.held for task in list(pool.tasks)[1:]))
    pool.dismiss()
    assert texts == [f"{name}{number}" for name in "abcde" for number in range(50)]
    assert most < 200_000


@POSIX
def test_a_worker_dies(capsys):
    """Its file is named, with what it said before; the others come out."""
    names = ["a", "deadly", "b", "fatal", "c"]
    found = list(in_processes(options(), say_or_die, files(*names)))
    assert "".join(one.text for one in found) == "begun abegun begun bbegun begun c"
    assert max(one.status for one in found) == 2
    assert capsys.readouterr().err == (
        "streamkit: deadly: the process that read it died (SIGKILL)\n"
        "streamkit: fatal: the process that read it died (status 3)\n"
    )


def test_a_worker_dies_idle():
    """Then it has no file to be said of: the next is read all the same."""
    pool = _jobs._Pool(options(1), say_name)

    def names():
        yield File("a")
        pool.workers[0].process.kill()
        pool.workers[0].process.join()
        yield from files(*"bc")

    assert [one.text for one in pool.run(names())] == [*"abc"]
    pool.dismiss()


def test_standard_error_in_its_turn(capsys):
    """What a worker tells comes with its file."""
    found = in_processes(options(), say_and_complain, files(*"ab"))
    for name in "ab":
        assert next(found).text == name
        assert capsys.readouterr().err == f"about {name}\n"
    assert list(found) == []


def test_too_deep():
    """As in one process."""
    found = in_processes(options(), say_too_deep, files("a"))
    assert next(found).text == "before"
    with pytest.raises(RecursionError):
        next(found)


class Meter:
    def __init__(self):
        self.read, self.names, self.finished = 0, set(), 0

    def add(self, size):
        self.read += size

    def start(self, file):
        self.names.add(file.name)

    def finish(self):
        self.finished += 1


def test_meter():
    """It is told how much the workers read, and drawn while they are waited for."""
    meter = Meter()
    args = argparse.Namespace(jobs=2, meter=meter)
    assert len(list(in_processes(args, say_slowly, files(*"0123")))) == 4
    assert (meter.read, meter.finished) == (28, 4)
    assert "0" in meter.names


def test_how_far_ahead(monkeypatch):
    """Who is done with all that may be begun waits for the first."""
    monkeypatch.setattr(_jobs, "AHEAD", 1)
    args = argparse.Namespace(jobs=2, meter=Meter())
    found = in_processes(args, say_slowly, files(*"0123"))
    assert [one.text for one in found] == [*"0123"]


def test_no_more_processes(monkeypatch):
    """Then fewer do, or this one alone."""
    starts = []
    context = multiprocessing.get_context("spawn")
    start = context.Process.start

    def refuse(process):
        starts.append(process)
        if len(starts) > allowed:
            raise OSError(11, "Resource temporarily unavailable")
        start(process)

    monkeypatch.setattr(context.Process, "start", refuse)
    for allowed in (0, 1):
        starts.clear()
        found = list(in_processes(options(4), say_name, files(*"abc")))
        assert [one.text for one in found] == [*"abc"]
        assert (os.getpid() in {one.data["pid"] for one in found}) is (allowed == 0)


def test_from_another_thread():
    """Where signals cannot be set."""
    found = []

    def run():
        found.extend(in_processes(options(), say_name, files(*"ab")))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert [one.text for one in found] == ["a", "b"]


def test_stop():
    """Who goes away takes the workers along."""
    pool = _jobs._Pool(options(), say_much)
    running = pool.run(files(*"abc"))
    next(running)
    processes = [worker.process for worker in pool.workers]
    assert processes
    pool.stop()
    assert not any(process.is_alive() for process in processes)


# -- A worker, here --------------------------------------------------------------------


def test_work(monkeypatch):
    """It reads what it is given, until nobody gives more."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    handler = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(_worker, "_die_with_parent", lambda: None)
    ours, theirs = multiprocessing.Pipe()
    for name in ("a", "b"):
        ours.send(File(name))
    thread = threading.Thread(target=close_after, args=(ours, found := [], 8))
    thread.start()
    try:
        _worker.work(theirs, options(), say_all, is_watched=True)
    finally:
        signal.signal(signal.SIGINT, handler)
        thread.join()
    assert found[:4] == [b"r5", b"e\xed\xb3\xbf!", b's["a", 0, null, []]', b"r2"]
    assert found[4] == b"."


def say_all(args, file):
    args.meter.add(5)
    args.meter.add(2)
    sys.stderr.write("\udcff!")
    yield Said(file.name)
    if file.name == "b":
        raise RecursionError


def close_after(connection, found, count):
    while len(found) < count:
        found.append(connection.recv_bytes())
    connection.close()


def test_die_with_parent(monkeypatch):
    """A worker whose command is gone ends."""
    ended = []
    monkeypatch.setattr(os, "_exit", ended.append)
    _worker._die_with_parent()  # this process has none
    monkeypatch.setattr(_worker, "parent_process", lambda: threading.Thread())
    monkeypatch.setattr(threading.Thread, "join", lambda thread: None)
    _worker._die_with_parent()
    assert ended == [1, 1]


def test_unknown_end():
    """A process that is gone without a status, or by a signal without a name."""

    class Process:
        def __init__(self, code):
            self.exitcode = code

        def join(self, timeout):
            pass

    ends = {code: _jobs._Worker(Process(code), None).why_dead() for code in (None, 1, -99)}
    assert ends == {None: "status None", 1: "status 1", -99: "signal 99"}


# -- Signals ---------------------------------------------------------------------------


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def children(pid):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True).stdout
    return [int(child) for child in found.split()]


@POSIX
@pytest.mark.skipif(sys.platform != "linux", reason="ps of Linux")
@pytest.mark.parametrize("how", ["interrupt", "kill"])
def test_no_stray_processes(tmp_path, how):
    """Ctrl-C ends all at once and quietly; workers do not outlive a command that was killed."""
    for name in ("a", "b", "c"):
        os.mkfifo(tmp_path / name)  # whose readers wait for ever
    process = subprocess.Popen(
        [*COMMAND, "check", "a", "b", "c", "--jobs", "2"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while len(found := children(process.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.0)  # let them come to their files
    if how == "interrupt":
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.kill()
    out, err = process.communicate(timeout=10)
    assert (out, err) == (b"", b"")
    assert process.returncode == (130 if how == "interrupt" else -signal.SIGKILL)
    deadline = time.monotonic() + 10
    while any(map(is_running, found)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, found))


# -- The option ------------------------------------------------------------------------


def test_jobs_argument(run, many, monkeypatch):
    """A number, 0 or auto."""
    for value in ("0", "auto", "1", "2"):
        assert run("check", "whole.sse", "--jobs", value).status == 0
    for value in ("-1", "x", "1025", "9" * 5000):
        result = run("check", "whole.sse", f"--jobs={value}")
        assert result.status == 2
        assert "must be auto or 0 to 1024" in result.err


def test_cores(monkeypatch):
    """Those that this process may use, where the system says."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3, 5}, raising=False)
    assert _each._jobs("auto") == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert _each._jobs("0") == 1


def test_most_jobs_on_windows(monkeypatch):
    """No more than can be waited for."""
    monkeypatch.setattr(sys, "platform", "win32")
    assert _each._jobs("1024") == 61
