"""Any response comes back: chunked up, written, cut anywhere, through the server."""

from __future__ import annotations

import http.client

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamkit import rebuild
from streamkit.testing import Block, Playback, StreamServer, chunk_up, split_bytes, to_sse
from streamkit.testing.strategies import responses


def ask(server, body):
    """Return the body of the answer, as the blocks that came."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("POST", "/v1/chat/completions", body, {"Accept-Encoding": "identity"})
    response = connection.getresponse()
    try:
        while block := response.read1():
            yield block
    finally:
        response.close()
        connection.close()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(responses(), st.integers(0, 999))
def test_any_response_comes_back(response, seed):
    """As a stream whose blocks are cut anywhere, and as the full response."""
    data = to_sse(chunk_up(response, seed=seed))
    playback = Playback([Block(piece) for piece in split_bytes(data, seed=seed)])
    with StreamServer(playback) as server:
        streamed = rebuild(ask(server, b'{"stream": true}'))
        whole = rebuild(ask(server, b'{"stream": false}'))
    assert (streamed.response, streamed.complete) == (response, True)
    assert whole.response == response
