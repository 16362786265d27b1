"""One connection of the replay server: requests in, answers out."""

from __future__ import annotations

import re
import threading

from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any, TypeAlias, cast

from ._line import Ended, Line, LineEnded
from ._playback import Playback
from ._receiving import BadBody, read_body
from ._request import Request
from ._sending import Framing, framing_of, send_body


__all__ = ["Handler"]

# A proxy is sent the whole address.
ORIGIN = re.compile(r"https?://[^/?]*")

Choose: TypeAlias = Callable[[Request], Playback]
Log: TypeAlias = Callable[[Request], None]


class Handler(BaseHTTPRequestHandler):
    """
    Answer the requests of one connection.

    Args:
        choose: Returns what a request is answered with.
        log: Takes each request after its answer.
        closing: Set once the server is being closed.
        arguments: Those of a handler of `socketserver`.
    """

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # each block is a packet, at its time

    def __init__(self, choose: Choose, log: Log, closing: threading.Event, *arguments: Any) -> None:
        self._choose = choose
        self._log = log
        self._closing = closing
        super().__init__(*arguments)  # this answers all requests

    def log_message(self, format: str, *arguments: Any) -> None:
        """Write nothing: there is `StreamServer.requests`."""

    def _answer(self) -> None:
        try:
            headers = cast("Mapping[str, str]", self.headers)
            body = read_body(headers, self.rfile)
        except BadBody as bad:
            self.close_connection = True  # where the next request starts is not known
            self.send_error(bad.status, bad.message)
            return
        path, _, query = ORIGIN.sub("", self.path).partition("?")
        request = Request(self.command, path or "/", query, headers, body)
        try:
            self._play(request, self._choose(request))
        finally:
            self._log(request)

    # The standard library looks for a method of this name.
    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _answer  # noqa: N815

    def _play(self, request: Request, playback: Playback) -> None:
        line = Line(self.connection, self._closing)
        framing = framing_of(playback, request, self.request_version)
        request.status = playback.status
        try:
            self._send_head(line, playback, framing)
            if framing.has_body:
                send_body(line, request, playback, framing)
            request.end(self._end(line, playback, framing))
        except LineEnded as ended:
            self.close_connection = True
            request.end(ended.how)

    def _send_head(self, line: Line, playback: Playback, framing: Framing) -> None:
        self.send_response_only(playback.status)
        for name, value in _headers(playback, framing, self.date_time_string()):
            self.send_header(name, value)
        try:
            self.end_headers()
        except OSError:
            raise line.ended() from None

    def _end(self, line: Line, playback: Playback, framing: Framing) -> Ended:
        if not framing.has_body:
            return "close"
        assert playback.end != "hang"  # only the client ends that, or the end of the server
        if playback.end != "close" or framing.ends_connection:
            self.close_connection = True
        if playback.end == "reset":
            self.rfile.close()  # it holds the connection open
            line.reset()
        return playback.end


def _headers(playback: Playback, framing: Framing, date: str) -> Iterator[tuple[str, str]]:
    given = {name.lower() for name, _ in playback.headers}
    for name, value in (("Date", date), ("Server", "streamkit"), ("Cache-Control", "no-cache")):
        if name.lower() not in given:
            yield name, value
    if playback.content_type:
        yield "Content-Type", playback.content_type
    yield from playback.headers
    yield from framing.headers()
