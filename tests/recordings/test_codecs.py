"""Compression by libraries that are optional: zstd and Brotli."""

from __future__ import annotations

import sys

import pytest

from streamkit import LimitExceeded, Limits
from streamkit.recordings import rebuild, sniff
from streamkit.recordings._bodies import undone
from streamkit.recordings._codecs import BROTLI, ZSTD
from streamkit.recordings._wrappers import Unpacker
from tests.recordings.making import BODY, without_libraries


if sys.version_info >= (3, 14):
    zstd = pytest.importorskip("compression.zstd")
else:
    zstd = pytest.importorskip("backports.zstd")
brotli = pytest.importorskip("brotli")

PACK = {ZSTD: zstd.compress, BROTLI: brotli.compress}
ENCODINGS = {"zstd": zstd.compress, "br": brotli.compress}


def unpacked(name, data, size=1 << 18, limits=Limits()):
    unpacker = Unpacker(name, limits)
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    found = b"".join(unpacker.run(blocks))
    return found, [issue.code for issue in unpacker.issues]


@pytest.mark.parametrize("name", PACK)
@pytest.mark.parametrize("size", [1, 100, 1 << 18])
def test_unpacked(name, size):
    """Whatever the blocks, and however large the result."""
    data = BODY.encode() * 2000
    assert unpacked(name, PACK[name](data), size) == (data, [])


@pytest.mark.parametrize("name", PACK)
def test_cut_and_damaged(name):
    """What is whole is kept, and the rest is an issue."""
    data = BODY.encode() * 2000
    whole = PACK[name](data)
    found, codes = unpacked(name, whole[:-5])
    assert data.startswith(found)
    assert codes == ["cut_body"]
    bad = bytearray(whole)
    bad[len(bad) // 2 :] = bytes([0xFF]) * (len(bad) - len(bad) // 2)
    found, codes = unpacked(name, bytes(bad))
    assert codes == ["cut_body"]


@pytest.mark.parametrize("name", PACK)
def test_what_follows(name):
    """Something else behind the data is told, in a block of its own or not."""
    unpacker = Unpacker(name, Limits())
    data = PACK[name](BODY.encode())
    assert b"".join(unpacker.run([data, b"\xff" * 9])) == BODY.encode()
    assert [issue.code for issue in unpacker.issues] == ["after_compressed"]


@pytest.mark.parametrize("name", PACK)
def test_bomb(name):
    """The bound holds."""
    with pytest.raises(LimitExceeded):
        unpacked(name, PACK[name](bytes(8 << 20)), limits=Limits(decompressed=1 << 20))


def test_a_file():
    """One in zstd is read as one in gzip; two frames are one."""
    data = zstd.compress(BODY.encode()[:50]) + zstd.compress(BODY.encode()[50:])
    assert sniff(data).name == "sse"
    [outcome] = rebuild(data)
    assert outcome.complete
    assert not outcome.issues


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_bodies(encoding, monkeypatch):
    """A body is undone by its header; without the library its name and the way are said."""
    body = ENCODINGS[encoding](BODY.encode())
    assert undone(body, encoding, Limits()) == (BODY.encode(), ())
    without_libraries(monkeypatch)
    nothing, (note,) = undone(body, encoding, Limits())
    assert nothing == b""
    assert note.code == "encoded_body"
    assert "install streamkit-llm[compression]" in note.message
