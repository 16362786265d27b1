"""A request that the replay server was sent, and how its answer ended."""

from __future__ import annotations

import re
import threading

from collections.abc import Mapping
from typing import Any

import attrs

from streamkit._json import BadJSON, Decoder

from ._line import Ended
from ._playback import Playback


__all__ = ["Request"]

NEVER = re.compile(r"q=0(?:\.0{0,3})?")
# What only a request to the API has; whoever sends other JSON is not asked about `stream`.
API_KEYS = frozenset({"messages", "model", "prompt", "stream"})


@attrs.define(eq=False)
class Request:
    """
    A request, and how its answer ended.

    Attributes:
        method: `"POST"`, `"GET"`, …
        path: The path, without the query.
        query: What stands behind the `?`, as it was sent.
        headers: The headers; their names may be written in any case.
        body: The body, transfer coding undone.
        playback: What was chosen to answer it; None if nothing fits.
        status: The status of the answer.
        sent: How many blocks of the answer were sent.
        ended: How it ended: as the playback says, or `"client left"`, or
            `"server closed"`; None while it goes on.  A client that ends at `[DONE]`
            may have left before the last bytes.
    """

    method: str
    path: str
    query: str = ""
    # Keys stand in these: a repr in a test's log does not show them.
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    body: bytes = attrs.field(default=b"", repr=False)
    playback: Playback | None = attrs.field(default=None, repr=False)
    status: int = 0
    sent: int = 0
    ended: Ended | None = None
    _over: threading.Event = attrs.field(factory=threading.Event, init=False, repr=False)

    @property
    def json(self) -> Any:
        """
        The body as JSON; None if it is none.

        >>> Request("POST", "/", body=b'{"stream": true}').json
        {'stream': True}
        """
        try:
            return Decoder().whole(self.body)
        except BadJSON:
            return None

    @property
    def wants_stream(self) -> bool:
        """
        Whether it is to be answered with a stream.

        The API streams only if asked to by `"stream": true`.  What is no request
        of the API, such as one without a body, gets the stream as it is.
        """
        body = self.json
        if not isinstance(body, dict) or API_KEYS.isdisjoint(body):
            return True
        return bool(body.get("stream"))

    @property
    def accepts_gzip(self) -> bool:
        """Whether `Accept-Encoding` allows gzip (RFC 9110, 12.5.3)."""
        weights = {}
        for item in self.headers.get("Accept-Encoding", "").split(","):
            coding, _, weight = item.partition(";")
            weights[coding.strip().lower()] = weight.replace(" ", "").lower()
        weight = weights.get("gzip", weights.get("*", "q=0"))
        return NEVER.fullmatch(weight) is None

    def end(self, how: Ended) -> None:
        """Take note that the answer has ended."""
        self.ended = how
        self._over.set()

    def wait(self, timeout: float = 5.0) -> Ended | None:
        """
        Wait until the answer has ended, and return how.

        A server learns that a client has left a little after the client does.

        Args:
            timeout: How long to wait at most, in seconds; then None is returned.
        """
        self._over.wait(timeout)
        return self.ended
