"""Faults of the transport: what each does to a playback, and what a client sees of it."""

from __future__ import annotations

import http.client
import json
import math

import attrs
import pytest

from streamkit import rebuild
from streamkit.testing import FAULTS, Block, Playback, StreamServer
from streamkit.testing import _playback_faults as faults
from streamkit.testing.faults import STREAM_FAULTS

from .streams import CHUNKS, TEXT, WORDS


PLAIN = Playback.from_chunks(CHUNKS)
ALL = faults.TRANSPORT_FAULTS


def read(server):
    """Return the response, what came of its body, and whether it broke."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=0.5)
    connection.request("POST", "/", b'{"stream": true}')
    response = connection.getresponse()
    got, broken = b"", False
    try:
        while block := response.read1():
            got += block
    except (http.client.HTTPException, OSError):
        broken = True
    response.close()
    connection.close()
    return response, got, broken


def delays(playback):
    return [block.delay for block in playback.blocks]


@pytest.mark.parametrize("fault", ALL.values(), ids=lambda fault: fault.name)
def test_row(fault):
    """The table says of each fault what a client sees; and the playback given is as it was."""
    before = Playback.from_chunks(CHUNKS)
    with StreamServer(fault.apply(PLAIN)) as server:
        response, got, broken = read(server)
    assert (response.status, broken) == (fault.status, fault.breaks)
    outcome = rebuild(got)
    assert outcome.complete is fault.complete
    if fault.complete:
        assert outcome.response.choices[0].message.content == TEXT
    elif fault.breaks:
        half = "".join(WORDS[: len(PLAIN.blocks) // 2])
        assert outcome.response.choices[0].message.content == half
    else:
        assert outcome.error is not None
    assert PLAIN == before


def test_the_head_stays():
    """A fault of the stream changes its body, and nothing else."""
    given = attrs.evolve(PLAIN, headers=[("X-Id", "1")], end="hang", gzip=True)
    broken = STREAM_FAULTS["bom"].playback(given)
    assert broken.data.startswith(b"\xef\xbb\xbf")
    assert attrs.evolve(broken, blocks=given.blocks) == given


@pytest.mark.parametrize("fault", STREAM_FAULTS.values(), ids=lambda fault: fault.name)
def test_played(fault):
    """A client that reads any of them makes of it what the table says."""
    with StreamServer(fault.playback(CHUNKS)) as server:
        response, got, broken = read(server)
    assert (response.status, broken) == (fault.status, fault.breaks)
    outcome = rebuild(got)
    assert outcome.complete is fault.complete
    if fault.whole:
        assert outcome.response == PLAIN.outcome.response


def test_all_faults_are_in_one_table():
    """No two have one name."""
    assert len(STREAM_FAULTS) == len(FAULTS) + len(ALL)


def test_names():
    """Each is under the name of its function, and all are there."""
    assert all(fault.apply is getattr(faults, name) for name, fault in ALL.items())
    assert {*ALL} == {*faults.__all__} - {"TRANSPORT_FAULTS", "TransportFault"}


@pytest.mark.parametrize(("fault", "end"), [(faults.reset, "reset"), (faults.cut_transfer, "cut")])
def test_breaks(fault, end):
    """After half of the blocks, or as many as one says; more than there are: at the end."""
    assert (fault(PLAIN).blocks, fault(PLAIN).end) == (PLAIN.blocks[:6], end)
    assert fault(PLAIN, after=0).blocks == ()
    assert fault(PLAIN, after=99).blocks == PLAIN.blocks


def test_stall():
    """For ever, or for a while; behind the last block, too."""
    assert delays(faults.stall(PLAIN))[5:8] == [0.0, math.inf, 0.0]
    assert delays(faults.stall(PLAIN, after=1, seconds=2))[:3] == [0.0, 2.0, 0.0]
    late = faults.stall(PLAIN, after=99, seconds=3)
    assert late.blocks == (*PLAIN.blocks, Block(b"", 3.0))
    assert faults.stall(Playback([]), seconds=1).blocks == (Block(b"", 1.0),)


def test_stall_is_added():
    """What a block waited already is kept."""
    assert delays(faults.stall(Playback([Block(b"a", 1)]), after=0, seconds=2)) == [3.0]


def test_slow_drip():
    """Pieces of a size, in time; no byte is lost, and waits stay where they were."""
    playback = Playback([Block(b"abcde", 1.0), Block(b"", 2.0), Block(b"f")])
    dripped = faults.slow_drip(playback, size=2, delay=0.5)
    assert [(block.data, block.delay) for block in dripped.blocks] == [
        (b"ab", 1.0),
        (b"cd", 0.5),
        (b"e", 0.5),
        (b"", 2.0),
        (b"f", 0.0),
    ]
    assert faults.slow_drip(PLAIN).data == PLAIN.data
    assert {len(block.data) for block in faults.slow_drip(PLAIN).blocks} == {1}


def test_keep_alives():
    """In long waits between events, not inside one, and not for ever."""
    alive = b": ping\n\n"
    playback = Playback(
        [
            Block(b"data: 1", 1.0),
            Block(b"\r\n\r\n", 9.0),
            Block(b"data: 2\r", 1.1),
            Block(b"\r", 9.0),
            Block(b"data: 3\n\n", 0.5),
            Block(b"x", math.inf),
        ]
    )
    kept = faults.keep_alives(playback, every=0.5, comment="ping")
    assert [(block.data, round(block.delay, 6)) for block in kept.blocks] == [
        (alive, 0.5),
        (b"data: 1", 0.5),
        (b"\r\n\r\n", 9.0),
        (alive, 0.5),
        (alive, 0.5),
        (b"data: 2\r", 0.1),
        (b"\r", 9.0),
        (b"data: 3\n\n", 0.5),
        (b"x", math.inf),
    ]
    assert kept.blocks[0].data == alive
    assert faults.keep_alives(PLAIN) == PLAIN


def test_keep_alives_keep_the_time():
    """A stream is as long as before, and has the same text."""
    slow = Playback.from_chunks(CHUNKS, per_second=0.3)
    kept = faults.keep_alives(slow)
    assert math.isclose(kept.duration, slow.duration)
    assert kept.outcome.response == slow.outcome.response
    assert len(kept.blocks) > len(slow.blocks)


def test_refusals():
    """The error object of the API, and when to come again."""
    limited = faults.rate_limited(PLAIN, retry_after=1.5, message="slow down")
    assert (limited.status, limited.headers) == (429, (("Retry-After", "1.5"),))
    assert json.loads(limited.data)["error"]["message"] == "slow down"
    assert limited.outcome.error.payload["code"] == "rate_limit_exceeded"
    failed = faults.server_error(faults.reset(PLAIN), status=503)
    assert (failed.status, failed.content_type, failed.end) == (503, "application/json", "close")


def test_others():
    """One field of the playback each."""
    assert faults.gzipped(PLAIN).gzip
    assert faults.wrong_content_type(PLAIN).content_type == "text/html; charset=utf-8"
    assert faults.wrong_content_type(PLAIN, content_type="").content_type == ""


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: faults.reset(PLAIN, after=-1),
        lambda: faults.cut_transfer(PLAIN, after=1.0),
        lambda: faults.stall(PLAIN, after=True),
        lambda: faults.stall(PLAIN, seconds=-1),
        lambda: faults.slow_drip(PLAIN, size=-1),
        lambda: faults.slow_drip(PLAIN, size=0),
        lambda: faults.slow_drip(PLAIN, delay=None),
        lambda: faults.keep_alives(PLAIN, every=0),
        lambda: faults.keep_alives(PLAIN, comment="a\nb"),
        lambda: faults.keep_alives(PLAIN, comment="a\rb"),
        lambda: faults.rate_limited(PLAIN, retry_after="soon"),
        lambda: faults.server_error(PLAIN, status=99),
        lambda: faults.wrong_content_type(PLAIN, content_type="a\nb"),
    ],
)
def test_wrong_argument(wrong):
    """It is a TypeError at the call."""
    with pytest.raises(TypeError):
        wrong()
