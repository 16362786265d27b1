"""The command as a process of its own: pipes, signals, locale, memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from .helpers import WHOLE, chunk, sse


COMMAND = [sys.executable, "-W", "error", "-m", "streamkit"]
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")


def test_standard_input_and_output():
    """Bytes in, a line out."""
    done = subprocess.run([*COMMAND, "rebuild"], input=WHOLE, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b'"content":"Hello"' in done.stdout
    assert done.stdout.endswith(b"}\n")


def test_output_is_utf8_in_any_locale():
    """Also where the locale knows ASCII only."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    text = sse(chunk(content="é日", finish="stop"))
    for command in ("rebuild", "show"):
        done = subprocess.run(
            [*COMMAND, command], input=text, capture_output=True, check=False, env=environment
        )
        assert done.returncode == 0
        assert "é日" in done.stdout.decode()


@POSIX
@pytest.mark.parametrize("command", ["rebuild", "show", "check"])
def test_broken_pipe(tmp_path, command):
    """As with `| head -1`: no complaint."""
    recording = tmp_path / "many.sse"
    recording.write_bytes(
        b"".join(sse(chunk(f"chatcmpl-{n}", content="x" * 999, finish="stop")) for n in range(999))
    )
    with subprocess.Popen(
        [*COMMAND, command, str(recording)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


@POSIX
def test_both_outputs_closed_early():
    """Not even what would be told on standard error makes a noise."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*COMMAND, "rebuild"], input=b"", stdout=write, stderr=write, check=False)
    os.close(write)
    assert done.returncode == 1


@POSIX
def test_interrupt():
    """Ctrl-C while it waits."""
    with subprocess.Popen(
        [*COMMAND, "rebuild"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        # The first response shows that it is past its imports.
        process.stdin.write(WHOLE + sse(chunk("chatcmpl-2", content="x"), done=False))
        process.stdin.flush()
        assert process.stdout.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b""
        assert process.wait() == 130


@POSIX
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")  # noqa: PTH110
def test_full_device():
    """Told once, without a complaint of the interpreter behind it."""
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            [*COMMAND, "rebuild"], input=WHOLE, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"streamkit: cannot write: No space left on device\n"


def test_output_file(tmp_path):
    """With the mode that the umask gives, and nothing else in the folder."""
    recording = tmp_path / "in.sse"
    recording.write_bytes(WHOLE)
    subprocess.run([*COMMAND, "rebuild", recording, "-o", tmp_path / "out.json"], check=True)
    assert {path.name for path in tmp_path.iterdir()} == {"in.sse", "out.json"}
    assert (tmp_path / "out.json").stat().st_mode == recording.stat().st_mode


MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss in KiB")
@pytest.mark.parametrize("command", ["rebuild", "check", "stats"])
def test_memory_is_bounded(tmp_path, command):
    """A stream of 50 MB is read in blocks, not whole, and its events are not kept."""
    recording = tmp_path / "large.sse"
    padding = {"obfuscation": "x" * 300}
    block = sse(*[{**chunk(content=f" w{n}"), **padding} for n in range(1000)], done=False)
    with recording.open("wb") as file:
        for _ in range(50_000_000 // len(block) + 1):
            file.write(block)
        file.write(sse(chunk(finish="stop")))
    measured = subprocess.run(
        [sys.executable, "-c", MEASURE, *COMMAND, command, recording],
        capture_output=True,
        check=True,
    )
    assert recording.stat().st_size >= 50_000_000
    assert int(measured.stdout) < 60 * 1024


def test_what_is_loaded_late():
    """Plain work loads neither the machinery of processes nor the libraries of the extra."""
    script = """
import sys
before = {*sys.modules}
import streamkit.cli
print(*{name.partition(".")[0] for name in {*sys.modules} - before})
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "argparse" in done.stdout.split()
    assert not {"multiprocessing", "rich", "argcomplete"} & {*done.stdout.split()}
