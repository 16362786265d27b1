"""`StreamServer` on the wire: framing, time, routes, ends, threads."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import socket
import struct
import sys
import threading
import time
import zlib

import attrs
import pytest

from streamkit import InputRefused, rebuild
from streamkit.testing import Block, Playback, Request, StreamServer

from .streams import CHUNKS, RESPONSE, TEXT, chunk, get, talk


PLAIN = Playback.from_chunks(CHUNKS)
LINGER = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
STREAM = b'{"stream": true, "model": "m"}'


@pytest.fixture(autouse=True)
def no_thread_is_left():
    """Whatever a test does, its server leaves no thread behind."""
    before = {*threading.enumerate()}
    yield
    assert {*threading.enumerate()} <= before


def post(server, body=STREAM, path="/v1/chat/completions", **headers):
    """Return the response to a request, its body read."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    try:
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        response.data = response.read()
        return response
    finally:
        connection.close()


# -- Framing -------------------------------------------------------------------------


def test_chunked():
    """Each block is a chunk of the transfer coding."""
    with StreamServer(Playback([Block(b"data: 1\n\n"), Block(b""), Block(b"x" * 300)])) as server:
        head, _, body = talk(server, get()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"Content-Type: text/event-stream" in head
    assert b"Transfer-Encoding: chunked" in head
    assert b"Content-Length" not in head
    assert body == b"9\r\ndata: 1\n\n\r\n12c\r\n" + b"x" * 300 + b"\r\n0\r\n\r\n"


def test_http_1_0():
    """No coding: the end of the connection is the end of the body."""
    with StreamServer(PLAIN) as server:
        head, _, body = talk(server, get(version="HTTP/1.0")).partition(b"\r\n\r\n")
    assert b"Transfer-Encoding" not in head
    assert b"Connection: close" in head
    assert body == PLAIN.data


def test_head():
    """The head alone."""
    with StreamServer(attrs.evolve(PLAIN, end="hang")) as server:
        said = talk(server, get(method="HEAD"))
        assert server.requests[0].wait() == "close"
    assert said.endswith(b"\r\n\r\n")
    assert said.count(b"\r\n\r\n") == 1


@pytest.mark.parametrize("status", [204, 304])
def test_statuses_without_a_body(status):
    """They have none, whatever the blocks are, and the connection goes on."""
    with StreamServer(Playback([Block(b"x")], status=status)) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        for _ in range(2):
            connection.request("GET", "/")
            response = connection.getresponse()
            assert (response.status, response.read()) == (status, b"")
        connection.close()


def test_json_has_a_length():
    """As servers do it; a body that is to break is chunked."""
    whole = Playback([Block(b"{}")], content_type="application/json")
    with StreamServer(whole, attrs.evolve(whole, end="cut")) as server:
        assert b"Content-Length: 2\r\n" in talk(server, get())
        assert b"Transfer-Encoding: chunked\r\n" in talk(server, get())


def test_head_is_as_asked():
    """Status, type and headers are the playback's; its own come before the server's."""
    headers = {"X-Id": "\u00fc", "Server": "uvicorn"}
    playback = Playback([], status=529, content_type="text/plain", headers=headers)
    with StreamServer(playback) as server:
        response = post(server)
    assert (response.status, response.headers["Content-Type"]) == (529, "text/plain")
    assert (response.headers["X-Id"], response.headers.get_all("Server")) == ("\u00fc", ["uvicorn"])


def test_no_content_type():
    """None is sent for an empty one."""
    with StreamServer(Playback([], content_type="")) as server:
        assert "Content-Type" not in post(server).headers


@pytest.mark.parametrize(
    ("accepted", "is_packed"),
    [
        ("gzip", True),
        ("br, GZip;q=0.5", True),
        ("*", True),
        ("*;q=0, gzip", True),
        ("gzip;q=0.001", True),
        ("gzip; q=0", False),
        ("gzip;q=0.000, *", False),
        ("identity", False),
        ("", False),
        (None, False),
    ],
)
def test_gzip(accepted, is_packed):
    """Only for who accepts it."""
    headers = {} if accepted is None else {"Accept-Encoding": accepted}
    if accepted is None:
        with StreamServer(attrs.evolve(PLAIN, gzip=True)) as server:
            assert PLAIN.blocks[0].data in talk(server, get())
        return
    with StreamServer(attrs.evolve(PLAIN, gzip=True)) as server:
        response = post(server, **headers)
    assert (response.headers["Content-Encoding"] == "gzip") is is_packed
    assert (gzip.decompress(response.data) if is_packed else response.data) == PLAIN.data


def test_gzip_block_by_block():
    """Each block can be read as soon as it is there."""
    playback = attrs.evolve(PLAIN, gzip=True, end="hang")
    with StreamServer(playback) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        connection.request("GET", "/", headers={"Accept-Encoding": "gzip"})
        response = connection.getresponse()
        unpack, got = zlib.decompressobj(31), b""
        while len(got) < len(PLAIN.data):
            got += unpack.decompress(response.read1())
        assert got == PLAIN.data
        response.close()
        connection.close()


def test_keep_alive():
    """Many requests on one connection, each with its playback."""
    playbacks = [Playback.from_bytes(b"data: %d\n\n" % number) for number in range(5)]
    with StreamServer(*playbacks) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        connection.connect()
        port = connection.sock.getsockname()[1]
        for playback in playbacks:
            connection.request("POST", "/", STREAM)
            assert connection.getresponse().read() == playback.data
        assert connection.sock.getsockname()[1] == port
        connection.close()


def test_pipelined():
    """A client that sends its next request early gets both answers, in order."""
    slow = Playback([Block(b"data: 1\n\n", 0.05)])
    with StreamServer(slow, Playback.from_bytes(b"data: 2\n\n")) as server:
        said = talk(server, get("/a", "Connection: keep-alive") + get("/b"))
    assert said.index(b"data: 1") < said.index(b"data: 2")


def test_next_request_while_it_waits():
    """It is not taken for the client's leaving, nor does it shorten the wait."""
    slow = Playback([Block(b"data: 1\n\n"), Block(b"data: 2\n\n", 0.15)])
    with StreamServer(slow, Playback.from_bytes(b"data: 3\n\n")) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
            start = time.monotonic()
            connection.sendall(get("/a", "Connection: keep-alive"))
            said = connection.recv(1000)
            connection.sendall(get("/b"))
            while block := connection.recv(1000):
                said += block
        took = time.monotonic() - start
        assert [request.wait() for request in server.requests] == ["close", "close"]
    assert said.index(b"data: 2") < said.index(b"data: 3")
    assert took >= 0.145


# -- Requests ------------------------------------------------------------------------


def test_requests():
    """What was asked for can be looked at; keys are not in the repr."""
    with StreamServer(PLAIN) as server:
        assert server.requests == ()
        post(server, path="/v1/chat/completions?a=b", Authorization="Bearer secret-1")
        talk(server, get("http://host.example/v1/x?y"))
        first, second = server.requests
    assert (first.method, first.path, first.query) == ("POST", "/v1/chat/completions", "a=b")
    assert first.headers["authorization"] == "Bearer secret-1"
    assert (first.body, first.json) == (STREAM, {"stream": True, "model": "m"})
    assert (first.status, first.sent, first.wait(), first.ended) == (200, 12, "close", "close")
    assert first.playback is PLAIN
    assert "secret" not in repr(first)
    assert (second.path, second.query, second.json) == ("/v1/x", "y", None)


def test_chunked_request():
    """Its coding is undone; extensions and trailers are skipped."""
    body = b'7;a=b\r\n{"strea\r\n9 \r\nm": true}\r\n0\r\nTrailer: x\r\n\r\n'
    with StreamServer(PLAIN) as server:
        said = talk(server, get("/", "Transfer-Encoding: chunked", method="POST", body=body))
        assert b"200 OK" in said
        assert server.requests[0].json == {"stream": True}


BAD = [
    ("Content-Length: x", b"", 400),
    ("Content-Length: -1", b"", 400),
    ("Content-Length: 5", b"abc", 400),
    ("Content-Length: 999999999999", b"", 413),
    ("Transfer-Encoding: gzip", b"", 400),
    ("Transfer-Encoding: chunked\r\nContent-Length: 3", b"0\r\n\r\n", 400),
    ("Transfer-Encoding: chunked", b"x\r\n", 400),
    ("Transfer-Encoding: chunked", b"", 400),
    ("Transfer-Encoding: chunked", b"3\r\nabcdef\r\n0\r\n\r\n", 400),
    ("Transfer-Encoding: chunked", b"FFFFFFFFFFFF\r\n", 413),
    ("Transfer-Encoding: chunked", b"5\r\nab", 400),
]


@pytest.mark.parametrize(("header", "body", "status"), BAD)
def test_bad_body(header, body, status):
    """It is refused, and the connection ends."""
    with StreamServer(PLAIN) as server:
        said = talk(server, get("/", header, method="POST", body=body), half_close=True)
        assert said.startswith(b"HTTP/1.1 %d " % status)
        assert server.requests == ()


@pytest.mark.parametrize(
    "data",
    [b"\r\n\r\n", b"\x16\x03\x01\x00\xff\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b""],
)
def test_what_is_no_http(data):
    """It harms nobody, and the next client is served."""
    with StreamServer(PLAIN) as server:
        talk(server, data, half_close=True)
        assert post(server).data == PLAIN.data


def test_100_continue():
    """A client that asks first is told to go on."""
    with StreamServer(PLAIN) as server:
        request = get("/", "Content-Length: 2", "Expect: 100-continue", method="POST", body=b"{}")
        assert talk(server, request).startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_any_method_and_path(method):
    """All are answered."""
    with StreamServer(PLAIN) as server:
        assert b"data: [DONE]" in talk(server, get("/any/path", method=method))


# -- Stream or not -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "is_stream"),
    [
        (b'{"model": "m", "stream": true}', True),
        (b'{"model": "m", "stream": false}', False),
        (b'{"model": "m", "stream": null}', False),
        (b'{"messages": []}', False),
        (b'{"prompt": ""}', False),
        (b'{"question": 1}', True),
        (b"[1]", True),
        (b"no JSON", True),
        (b"", True),
    ],
)
def test_stream_or_not(body, is_stream):
    """As the API: only if asked to; who asks for something else gets the stream."""
    with StreamServer(PLAIN) as server:
        response = post(server, body)
    expected = "text/event-stream" if is_stream else "application/json"
    assert response.headers["Content-Type"] == expected
    assert rebuild(response.data).response.choices[0].message.content == TEXT


# -- What is played ------------------------------------------------------------------


def text(response):
    return rebuild(response.data).response.choices[0].message.content


def streams(*words):
    return [[chunk(word, finish="stop")] for word in words]


def test_in_turn():
    """One for each request, the last again and again; or the first again."""
    with StreamServer(*streams("a", "b")) as server:
        assert [text(post(server)) for _ in range(3)] == ["a", "b", "b"]
    with StreamServer(*streams("a", "b"), cycle=True) as server:
        assert [text(post(server)) for _ in range(3)] == ["a", "b", "a"]


def test_play():
    """What is played can be changed while it runs."""
    with StreamServer() as server:
        assert post(server).status == 404
        server.play(*streams("a"))
        assert text(post(server)) == "a"
        server.play(*streams("b", "c"), cycle=True)
        assert [text(post(server)) for _ in range(3)] == ["b", "c", "b"]


def test_on():
    """By path or by what is asked; the first condition that is met, else what is played."""
    with StreamServer(*streams("else")) as server:
        server.on("/v1/completions", *streams("path"))
        server.on(lambda request: request.json["model"] == "m-1", *streams("model", "again"))
        server.on(lambda request: True if request.json["model"] == "m-1" else 0, *streams("never"))
        m1 = json.dumps({"model": "m-1", "stream": True})
        assert text(post(server, path="/v1/completions")) == "path"
        assert text(post(server, m1)) == "model"
        assert text(post(server)) == "else"
        assert text(post(server, m1)) == "again"


def test_condition_that_fails():
    """The client is told what failed: the test fails near the reason."""
    with StreamServer(PLAIN) as server:
        server.on(lambda request: request.json["nothing"], PLAIN)
        response = post(server)
    assert response.status == 500
    assert (
        json.loads(response.data)["error"]["message"] == "a condition failed: KeyError: 'nothing'"
    )


def test_nothing_to_play():
    """404, and what was asked for."""
    with StreamServer() as server:
        response = post(server)
        assert server.requests[0].playback is None
    assert response.status == 404
    message = json.loads(response.data)["error"]["message"]
    assert message == "nothing is played to POST /v1/chat/completions"


def test_models():
    """The models of what is played, each once; a condition of one's own comes first."""
    with StreamServer(CHUNKS, RESPONSE, CHUNKS, b": ping\n\n") as server:
        server.on("/other", [chunk("x", model="example-3")])
        listed = json.loads(talk(server, get("/v1/models")).partition(b"\r\n\r\n")[2])
        server.on("/v1/models", Playback([Block(b"[]")], content_type="application/json"))
        assert talk(server, get("/v1/models")).endswith(b"\r\n\r\n[]")
    assert [model["id"] for model in listed["data"]] == ["example-1", "example-2", "example-3"]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda server: server.on(5, PLAIN),
        lambda server: server.on("/", 5),
        lambda server: server.play(5),
        lambda server: StreamServer(None),
    ],
)
def test_wrong_argument(wrong):
    """It is a TypeError at the call."""
    with pytest.raises(TypeError):
        wrong(StreamServer())


# -- Time ----------------------------------------------------------------------------


def arrivals(server):
    """Return when each block came, since the request."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    start = time.monotonic()
    connection.request("POST", "/", STREAM)
    response = connection.getresponse()
    times = []
    while response.read1():
        times.append(time.monotonic() - start)
    response.close()
    connection.close()
    return times


def test_delays():
    """Each block comes when it is due, and no sooner."""
    with StreamServer(Playback([Block(b"a", 0.1), Block(b"b", 0.1), Block(b"c", 0.2)])) as server:
        times = arrivals(server)
    assert len(times) == 3
    for came, due in zip(times, (0.1, 0.2, 0.4), strict=True):
        assert due - 0.005 <= came < due + 0.5


def test_delays_do_not_add_up():
    """What the sending costs is not added to each wait: 500 blocks of 1 ms take half a second."""
    with StreamServer(Playback([Block(b"x", 0.001)] * 500)) as server:
        times = arrivals(server)
    assert 0.5 - 0.005 <= times[-1] < 1.5


# -- Ends ----------------------------------------------------------------------------


def read_all(response):
    """Return what came of a body, and the error that ended it."""
    got = b""
    try:
        while block := response.read1():
            got += block
    except (http.client.HTTPException, OSError) as error:
        return got, error
    finally:
        response.close()
    return got, None


@pytest.mark.parametrize(
    ("end", "error"),
    [("close", None), ("cut", http.client.IncompleteRead), ("reset", ConnectionResetError)],
)
@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/1.0"])
def test_ends(end, error, version):
    """What came before arrives; how it ends is seen by the client, and known of the request."""
    with StreamServer(attrs.evolve(PLAIN, end=end)) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        connection._http_vsn, connection._http_vsn_str = int(version[-1]) + 10, version
        connection.request("POST", "/", STREAM)
        got, failure = read_all(connection.getresponse())
        connection.close()
        assert server.requests[0].wait() == end
    assert got == PLAIN.data
    if version == "HTTP/1.0" and end == "cut":  # nothing tells it from the end
        assert failure is None
    else:
        assert failure is None if error is None else isinstance(failure, error)


def test_hang():
    """The client gives up, and the server learns of it."""
    with StreamServer(attrs.evolve(PLAIN, end="hang")) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=0.3)
        connection.request("POST", "/", STREAM)
        got, failure = read_all(connection.getresponse())
        assert server.requests[0].wait(0.01) is None
        connection.close()
        assert server.requests[0].wait() == "client left"
    assert got == PLAIN.data
    assert isinstance(failure, TimeoutError)


def test_client_leaves_half_way():
    """The rest is not sent."""
    with StreamServer(PLAIN.at_rate(20)) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        connection.request("POST", "/", STREAM)
        response = connection.getresponse()
        response.read1()
        response.close()
        connection.close()
        assert server.requests[0].wait() == "client left"
        assert 0 < server.requests[0].sent < len(PLAIN.blocks)


def reset_by(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)
    connection.close()


@pytest.mark.parametrize("playback", [attrs.evolve(PLAIN, end="hang"), PLAIN], ids=["wait", "head"])
def test_client_resets(playback):
    """While the server waits, or before it has sent a byte: it is known, and nothing is printed."""
    gone, choosing = threading.Event(), threading.Event()

    def is_meant(request):
        choosing.set()
        return gone.wait(5) and time.sleep(0.05) is None

    with StreamServer() as server:
        if playback is PLAIN:
            server.on(is_meant, playback)
        server.play(playback)
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=5)
        connection.sendall(get())
        assert choosing.wait(5) if playback is PLAIN else connection.recv(10)
        reset_by(connection)
        gone.set()
        assert server.requests[0].wait() == "client left"


def test_client_that_does_not_read():
    """A server that is being closed does not wait for it."""
    with StreamServer(Playback([Block(b"x" * (1 << 20))] * 64)) as server:
        connection = socket.create_connection(("127.0.0.1", server.port))
        connection.sendall(get())
        time.sleep(0.2)
        start = time.monotonic()
        server.close()
        assert time.monotonic() - start < 2
        assert server.requests[0].ended == "server closed"
        connection.close()


# -- Starting and closing ------------------------------------------------------------


def test_closes_at_once():
    """Also with streams that hang, wait, and connections that idle."""
    playbacks = [attrs.evolve(PLAIN, end="hang"), Playback([Block(b"x", 60.0)])]
    server = StreamServer(*playbacks, cycle=True).start()
    connections = []
    for _ in range(6):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        connection.request("POST", "/", STREAM)
        connections.append((connection, connection.getresponse()))
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(3)]
    start = time.monotonic()
    server.close()
    assert time.monotonic() - start < 2
    assert {request.ended for request in server.requests} == {"server closed"}
    for connection, response in connections:
        response.close()
        connection.close()
    for connection in idle:
        connection.close()


def test_close_twice_and_start_again():
    """Closing is done once; a server may run again, at another free port."""
    server = StreamServer(PLAIN)
    server.close()
    for _ in range(2):
        with server:
            assert post(server).data == PLAIN.data
        server.close()
    assert len(server.requests) == 2


def test_not_running():
    """There is no address; the message says what to do."""
    server = StreamServer(PLAIN)
    for name in ("port", "url", "base_url"):
        with pytest.raises(InputRefused, match="use it in `with`, or call start"):
            getattr(server, name)


def test_start_twice():
    """Refused: it would lose the first."""
    with StreamServer(PLAIN) as server, pytest.raises(InputRefused, match="running already"):
        server.start()


def test_port_taken():
    """An error of the system, at the start."""
    with StreamServer(PLAIN) as server:
        other = StreamServer(PLAIN, port=server.port)
        with pytest.raises(OSError):
            other.start()
        other.close()


def test_addresses():
    """Of this machine alone, unless asked otherwise."""
    with StreamServer(PLAIN) as server:
        assert server.url == f"http://127.0.0.1:{server.port}"
        assert server.base_url == f"{server.url}/v1"


def test_ipv6():
    """Its address is in brackets."""
    try:
        server = StreamServer(PLAIN, host="::1").start()
    except OSError:
        pytest.skip("no IPv6 here")
    assert server.url == f"http://[::1]:{server.port}"
    server.close()


def test_error_in_the_block_is_not_swallowed():
    """`with` closes, and hands the error on."""
    with pytest.raises(ZeroDivisionError), StreamServer(PLAIN):
        raise ZeroDivisionError


def test_async_with():
    """In an event loop that goes on meanwhile."""

    async def ask():
        async with StreamServer(PLAIN) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(get())
            said = await reader.read()
            writer.close()
            await writer.wait_closed()
            return said

    assert b"data: [DONE]" in asyncio.run(ask())


def test_log():
    """Each request after its answer, when it is known how that ended."""
    seen = []
    with StreamServer(PLAIN, log=seen.append) as server:
        post(server)
        post(server)
        for request in server.requests:
            request.wait()
    assert [request.ended for request in seen] == ["close", "close"]


def test_many_at_once():
    """A hundred clients, each with the whole stream."""
    with StreamServer(PLAIN.at_rate(100)) as server:
        texts = []
        threads = [
            threading.Thread(target=lambda: texts.append(text(post(server)))) for _ in range(100)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert texts == [TEXT] * 100
        assert [request.wait() for request in server.requests] == ["close"] * 100


def test_request_alone():
    """A request can be made for the test of a condition."""
    request = Request("POST", "/v1/completions", body=b'{"prompt": "a"}')
    assert (request.json, request.wants_stream, request.accepts_gzip) == (
        {"prompt": "a"},
        False,
        False,
    )
