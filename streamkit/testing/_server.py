"""A server on loopback that plays streams: `StreamServer`."""

from __future__ import annotations

import contextlib
import os
import socket
import threading

from collections.abc import Callable
from functools import partial
from socketserver import TCPServer
from types import TracebackType
from typing import Any, Self, TypeAlias

from streamkit._errors import InputRefused
from streamkit._json import encode

from ._block import Block
from ._handler import Handler
from ._playable import Playable, playback_of
from ._playback import JSON, Playback
from ._program import Program
from ._request import Request


__all__ = ["StreamServer"]

# How often the thread that accepts connections looks whether it is to end, in seconds.
LOOK = 0.02

Condition: TypeAlias = str | Callable[[Request], Any]


class _Listener(TCPServer):
    """Accept connections, each handled by a thread of its own, and end them all at once."""

    # On Windows it would let another process take the port as well.
    allow_reuse_address = os.name == "posix"
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: Callable[..., Any]) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self._threads: dict[threading.Thread, socket.socket] = {}
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start the thread of a connection."""
        thread = threading.Thread(
            target=self._handle, args=(request, client_address), name="streamkit-line", daemon=True
        )
        self._threads[thread] = request
        thread.start()

    def _handle(self, connection: socket.socket, address: Any) -> None:
        try:
            with contextlib.suppress(OSError):  # the client has left
                self.finish_request(connection, address)
        finally:
            self.shutdown_request(connection)
            self._threads.pop(threading.current_thread(), None)

    def end_all(self) -> None:
        """Shut all connections down, and wait until their threads have ended."""
        for thread, connection in self._threads.copy().items():
            with contextlib.suppress(OSError):  # the client was faster
                connection.shutdown(socket.SHUT_RDWR)
            thread.join()


class StreamServer:
    r"""
    A server on loopback that plays streams over real HTTP/1.1, for tests.

    Use it in `with` or `async with`, or call `start` and `close`.  It answers any
    path.  A request of the API without `"stream": true` gets the full response as
    JSON, and `GET …/models` the names of the models that are played.

    Args:
        sources: What is played, one for each request, the last one again and
            again: a `Playback`, bytes, text, a path, a full response, or chunks.
            See `play` and `on`.
        host: The address to listen at; whatever is not loopback is open to others.
        port: The port; 0 takes a free one.
        cycle: After the last source comes the first, not the last again.
        log: Takes each request after its answer, in the thread that gave it.

    Raises:
        TypeError: If a source is nothing that can be played.
        StreamkitError: If a path cannot be played.
        OSError: Likewise; and, when it starts, if the port is taken.

    >>> from urllib.request import urlopen
    >>> with StreamServer(b"data: [DONE]\n\n") as server:
    ...     urlopen(server.base_url + "/chat/completions").read()
    b'data: [DONE]\n\n'
    >>> [(request.method, request.path) for request in server.requests]
    [('GET', '/v1/chat/completions')]
    """

    def __init__(
        self,
        *sources: Playable,
        host: str = "127.0.0.1",
        port: int = 0,
        cycle: bool = False,
        log: Callable[[Request], None] | None = None,
    ) -> None:
        self._address = (host, port)
        self._log = log
        self._program = Program(map(playback_of, sources), cycle=cycle)
        self._rules: list[tuple[Callable[[Request], Any], Program]] = []
        self._requests: list[Request] = []
        self._closing = threading.Event()
        self._listener: _Listener | None = None
        self._thread: threading.Thread | None = None

    # -- What is played --------------------------------------------------------------

    def play(self, *sources: Playable, cycle: bool = False) -> None:
        """
        Play *sources* from now on, in place of what was played.

        Args:
            sources: As for the class.
            cycle: Likewise.

        Raises:
            TypeError: As the class; StreamkitError and OSError likewise.
        """
        self._program = Program(map(playback_of, sources), cycle=cycle)

    def on(self, condition: Condition, *sources: Playable, cycle: bool = False) -> None:
        """
        Play *sources* to the requests that meet *condition*, the first that is met.

        Args:
            condition: A path, such as `"/v1/completions"`; or a function that is
                given a `Request` and tells whether it is meant.
            sources: As for the class.
            cycle: Likewise.

        Raises:
            TypeError: As the class; StreamkitError and OSError likewise.
        """
        if isinstance(condition, str):
            condition = partial(_has_path, condition)
        elif not callable(condition):
            raise TypeError(f"condition must be a path or a function, not {condition!r}")
        self._rules.append((condition, Program(map(playback_of, sources), cycle=cycle)))

    # -- Running ---------------------------------------------------------------------

    def start(self) -> Self:
        """
        Listen, and return this server.

        Raises:
            InputRefused: If it is running.
            OSError: If the port is taken, or the address is not this machine's.
        """
        if self._listener is not None:
            raise InputRefused("the server is running already")
        self._closing.clear()
        handler = partial(Handler, self._choose, self._done, self._closing)
        self._listener = _Listener(self._address, handler)
        self._thread = threading.Thread(
            target=self._listener.serve_forever, args=(LOOK,), name="streamkit-server", daemon=True
        )
        self._thread.start()
        return self

    def close(self) -> None:
        """End all connections at once, hanging ones too; a closed server stays closed."""
        if self._listener is None or self._thread is None:
            return
        self._closing.set()
        self._listener.shutdown()
        self._thread.join()
        self._listener.end_all()
        self._listener.server_close()
        self._listener = self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # Neither waits for anything that takes long, so that any event loop will do.
    async def __aenter__(self) -> Self:
        return self.start()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- What clients and tests ask for ----------------------------------------------

    @property
    def port(self) -> int:
        """
        The port that it listens at.

        Raises:
            InputRefused: If it is not running.
        """
        if self._listener is None:
            raise InputRefused("the server is not running; use it in `with`, or call start()")
        return int(self._listener.server_address[1])

    @property
    def url(self) -> str:
        """
        Its address, without a slash at the end: `http://127.0.0.1:8000`.

        Raises:
            InputRefused: If it is not running.
        """
        host = self._address[0]
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def base_url(self) -> str:
        """
        What a client of the API takes as its base: `url` and `/v1`.

        Raises:
            InputRefused: If it is not running.
        """
        return f"{self.url}/v1"

    @property
    def requests(self) -> tuple[Request, ...]:
        """The requests so far, in order; of each answer is known how far it is."""
        return tuple(self._requests)

    # -- In the threads of connections -----------------------------------------------

    def _choose(self, request: Request) -> Playback:
        self._requests.append(request)
        try:
            playback = self._playback_for(request)
        except Exception as error:  # noqa: BLE001 -- of a condition: the test's own code
            return _refusal(500, f"a condition failed: {type(error).__name__}: {error}")
        if playback is None:
            return _refusal(404, f"nothing is played to {request.method} {request.path}")
        request.playback = playback
        return playback if request.wants_stream else playback.unstreamed()

    def _playback_for(self, request: Request) -> Playback | None:
        for condition, program in self._rules:
            if condition(request):
                return program.next()
        if request.method == "GET" and request.path.endswith("/models"):
            return self._models()
        return self._program.next()

    def _models(self) -> Playback:
        programs = [self._program, *(program for _, program in self._rules)]
        names = {name: None for program in programs for name in program.models()}
        data = [{"id": name, "object": "model", "owned_by": "streamkit"} for name in names]
        return _json({"object": "list", "data": data})

    def _done(self, request: Request) -> None:
        if self._log is not None:
            self._log(request)


def _has_path(path: str, request: Request) -> bool:
    return request.path == path


def _json(value: Any, status: int = 200) -> Playback:
    return Playback([Block(encode(value).encode())], status=status, content_type=JSON)


def _refusal(status: int, message: str) -> Playback:
    return _json({"error": {"message": message, "type": "streamkit"}}, status)
