"""`streamkit serve`, as a process of its own, and what clients get from it."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time

from urllib.parse import urlsplit

import pytest

from streamkit import rebuild
from streamkit.cli import _serve
from streamkit.testing._playback_faults import TRANSPORT_FAULTS

from .helpers import CUT, WHOLE, chunk, sse


POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
TIMED = "".join(
    json.dumps({"t": time, "chunk": part}) + "\n"
    for time, part in ((0.0, chunk(content="Hel")), (0.4, chunk(content="lo", finish="stop")))
)


@contextlib.contextmanager
def serving(folder, *argv, stdin=b"", port="0"):
    """Run the command and return the process and its base URL."""
    command = [sys.executable, "-W", "error", "-m", "streamkit", "serve", "--port", port, *argv]
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        process.stdin.write(stdin)
        process.stdin.close()
        try:
            yield process, process.stdout.readline().decode().strip()
        finally:
            process.kill()


def ask(url, body=b'{"stream": true}', **headers):
    """Return status, headers and body of a chat, and how its connection broke."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=5)
    connection.request("POST", address.path + "/chat/completions", body, headers)
    response = connection.getresponse()
    data, error = b"", None
    try:
        while block := response.read1():
            data += block
    except (http.client.HTTPException, OSError) as failure:
        error = failure
    response.close()
    connection.close()
    return response, data, error


def test_plays(files):
    """The recording, as it is; the base URL on standard output, all else on standard error."""
    with serving(files, "--requests", "1", "whole.sse") as (process, url):
        response, data, _ = ask(url)
        assert process.wait(10) == 0
        said = process.stderr.read().decode().splitlines()
        assert process.stdout.read() == b""
    assert (response.status, response.headers["Content-Type"]) == (200, "text/event-stream")
    assert data == WHOLE
    assert said == [
        "streamkit: 1 stream at this base URL; Ctrl-C ends it",
        "streamkit: POST /v1/chat/completions 200 whole.sse 3 blocks, close",
    ]


def test_without_stream(files):
    """The full response, if no stream is asked for."""
    with serving(files, "--requests", "1", "whole.sse") as (process, url):
        _, data, _ = ask(url, b'{"messages": []}')
        assert process.wait(10) == 0
        assert process.stderr.read().endswith(b"whole.sse 1 block, close\n")
    assert json.loads(data)["choices"][0]["message"]["content"] == "Hello"


def test_in_turn(files):
    """File after file, exchange after exchange, then the first again."""
    body = {"mimeType": "text/event-stream", "text": CUT.decode()}
    entry = {"response": {"status": 200, "content": body, "headers": []}}
    other = {"mimeType": "text/event-stream", "text": 'data: {"type":"message_start"}\n\n'}
    entries = [entry, {"response": {"content": other}}, entry]
    (files / "a.har").write_text(json.dumps({"log": {"entries": entries}}))
    with serving(files, "--requests", "4", "whole.sse", "a.har") as (process, url):
        played = [ask(url)[1] for _ in range(4)]
        assert process.wait(10) == 0
        said = process.stderr.read().decode()
    assert played == [WHOLE, CUT, CUT, WHOLE]
    assert "streamkit: a.har#2: other_dialect: this is the Messages API" in said
    assert "3 streams at this base URL" in said
    assert "200 a.har#3 1 block, close" in said


def test_standard_input(files):
    """A recording from a pipe."""
    with serving(files, "--requests", "1", "-", stdin=WHOLE) as (process, url):
        assert ask(url)[1] == WHOLE
        assert process.wait(10) == 0
        assert b"<stdin>" in process.stderr.read()


@pytest.mark.parametrize(
    ("options", "least", "most"),
    [
        ((), 0.39, 5),
        (("--speed", "4"), 0.09, 0.35),
        (("--speed", "inf"), 0, 0.35),
        (("--rate", "10"), 0.19, 5),
    ],
)
def test_speed(files, options, least, most):
    """As recorded, faster, at once, or so many chunks a second."""
    (files / "timed.jsonl").write_text(TIMED)
    with serving(files, *options, "--requests", "1", "timed.jsonl") as (process, url):
        start = time.monotonic()
        _, data, _ = ask(url)
        took = time.monotonic() - start
        assert process.wait(10) == 0
    assert rebuild(data).response.choices[0].message.content == "Hello"
    assert least <= took < most


def test_gzip(files):
    """For a client that accepts it."""
    with serving(files, "--gzip", "--requests", "1", "whole.sse") as (process, url):
        _, data, _ = ask(url, **{"Accept-Encoding": "gzip"})
        assert process.wait(10) == 0
    assert gzip.decompress(data) == WHOLE


@pytest.mark.parametrize(
    ("fault", "status", "error"),
    [
        ("reset", 200, ConnectionResetError),
        ("cut_transfer", 200, http.client.IncompleteRead),
        ("rate_limited", 429, None),
    ],
)
def test_fault(files, fault, status, error):
    """Each answer is broken in that way."""
    with serving(files, "--fault", fault, "--requests", "1", "whole.sse") as (process, url):
        response, _, failure = ask(url)
        assert process.wait(10) == 0
    assert response.status == status
    assert failure is None if error is None else isinstance(failure, error)


def test_faults_are_all():
    """The names are written down, as the room of faults is loaded late; they are those there."""
    assert _serve.FAULTS == tuple(sorted({*TRANSPORT_FAULTS} - {"gzipped"}))


@POSIX
def test_interrupt(files):
    """Ctrl-C ends it quietly, also while a client waits."""
    with serving(files, "--fault", "stall", "whole.sse") as (process, url):
        address = urlsplit(url)
        with socket.create_connection((address.hostname, address.port), 5) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 200")
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 130
        said = process.stderr.read().decode().splitlines()
    assert said[1:] == ["streamkit: GET / 200 whole.sse 1 block, server closed"]


def test_host(files):
    """Who opens it to others is told so."""
    with serving(files, "--host", "0.0.0.0", "--requests", "1", "whole.sse") as (process, url):
        assert url.startswith("http://0.0.0.0:")
        ask(url.replace("0.0.0.0", "127.0.0.1"))
        assert process.wait(10) == 0
        assert b"streamkit: 0.0.0.0 is open to others: who reaches it" in process.stderr.read()


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("host.example", False),
    ],
)
def test_loopback(host, is_loopback):
    """Addresses of this machine alone; of a name it is not known."""
    assert _serve._is_loopback(host) is is_loopback


def test_port_taken(run, files):
    """Told, with what to do, and status 2."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = run("serve", "--port", str(port), "whole.sse")
    assert (result.status, result.out) == (2, "")
    assert f"cannot listen at 127.0.0.1, port {port}: " in result.err
    assert result.err.endswith("; --port 0 takes a free port\n")


@pytest.mark.parametrize(
    ("argv", "status", "said"),
    [
        (["none.sse"], 2, "none.sse: No such file or directory"),
        (["--from", "pickle", "whole.sse"], 1, "whole.sse: unknown_form: "),
        (["empty.sse"], 1, "there is no stream to serve"),
        (["--port", "65536", "whole.sse"], 2, "must be 0 to 65535, not '65536'"),
        (["--port", "\u0663", "whole.sse"], 2, "must be 0 to 65535"),
        (["--speed", "0", "whole.sse"], 2, "must be a number above 0, or inf, not '0'"),
        (["--speed", "nan", "whole.sse"], 2, "must be a number above 0, or inf, not 'nan'"),
        (["--rate", "fast", "whole.sse"], 2, "must be a number above 0, or inf, not 'fast'"),
        (["--speed", "2", "--rate", "2", "whole.sse"], 2, "not allowed with"),
        (["--requests", "0", "whole.sse"], 2, "must be an integer above 0, not '0'"),
        (["--fault", "none", "whole.sse"], 2, "invalid choice: 'none'"),
    ],
)
def test_nothing_is_served(run, files, argv, status, said):
    """What is wrong is said before anything listens."""
    result = run("serve", *argv)
    assert (result.status, result.out) == (status, "")
    assert said in result.err


@POSIX
@pytest.mark.parametrize("line", _serve.COMMAND.examples.splitlines())
def test_example(files, line):
    """Each of the help's examples serves, but for the port, which may be taken here."""
    for name, data in {"recording": WHOLE, "before": WHOLE, "after": CUT}.items():
        (files / f"{name}.sse").write_bytes(data)
    (files / "timed.jsonl").write_text(TIMED)
    program, command, *argv = line.partition("#")[0].split()
    assert (program, command) == ("streamkit", "serve")
    with serving(files, *argv) as (process, url):
        assert ask(url)[0].status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(10) in (0, 130)


def test_two_streams_back_to_back(files):
    """They are one recording of one exchange, and played as it is."""
    both = sse(chunk(content="a", finish="stop")) * 2
    (files / "two.sse").write_bytes(both)
    with serving(files, "--requests", "1", "two.sse") as (process, url):
        assert ask(url)[1] == both
        assert process.wait(10) == 0
