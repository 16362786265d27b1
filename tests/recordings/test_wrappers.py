"""Wrappers come off: compression, byte order marks, UTF-16."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import zlib

import pytest

from streamkit import NO_LIMITS, LimitExceeded, Limits, UnknownForm
from streamkit.recordings._text import head_lines, lines
from streamkit.recordings._wrappers import BLOCK, Unpacker, compression_of, peel
from tests.recordings.making import without_libraries

from .samples import BODY, blocks


UTF16 = BODY.decode().encode("utf-16-le")
PACKED = {
    "gzip": gzip.compress(BODY),
    "zlib": zlib.compress(BODY),
    "zlib, other levels": zlib.compress(BODY, 1),
    "bzip2": bz2.compress(BODY),
    "xz": lzma.compress(BODY),
    "gzip twice in a row": gzip.compress(BODY[:50]) + gzip.compress(BODY[50:]),
    "gzip, padded": gzip.compress(BODY) + b"\0" * 5000,
    "gzip, padded between": gzip.compress(BODY[:9]) + b"\0" * 700 + gzip.compress(BODY[9:]),
    "gzip and something": gzip.compress(BODY) + b"something else",
    "gzip, many empty members": gzip.compress(b"") * 500 + gzip.compress(BODY),
    "bom": b"\xef\xbb\xbf" + BODY,
    "utf-16-le": b"\xff\xfe" + UTF16,
    "utf-16-be": b"\xfe\xff" + BODY.decode().encode("utf-16-be"),
    "gzip of utf-16": gzip.compress(b"\xff\xfe" + UTF16),
    "gzip of a bom": gzip.compress(b"\xef\xbb\xbf" + BODY),
    "nothing": BODY,
}
NOTED = {
    "gzip and something": ["after_compressed"],
    "utf-16-le": ["utf16"],
    "utf-16-be": ["utf16"],
    "gzip of utf-16": ["utf16"],
}


def peeled(data, size=1 << 18, limits=Limits()):
    """Return what comes out, the codes of the notes, and of what came to light on the way."""
    found = peel(blocks(data, size), limits)
    data = b"".join(found.blocks)
    return data, [note.code for note in (*found.notes, *(found.later or ()))]


@pytest.mark.parametrize("name", PACKED)
def test_wrappers_come_off(name):
    """Whatever the blocks are, what was wrapped comes out."""
    for size in (1, 2, 3, 5, 100, 1 << 18):
        found, notes = peeled(PACKED[name], size)
        assert found == BODY
        assert notes == NOTED.get(name, [])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        b"x^2 is a square, and no zlib header",
        b"x^",
        b"BZh is no magic by itself",
        b"BZh9 neither, nor is this",
        b"\x1f\x8b",
        b"\xef\xbb",
        b"\xff",
        b"x\x9c\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    ],
)
def test_no_wrapper(data):
    """What only starts like one is left alone."""
    assert peeled(data) == (data, [])


@pytest.mark.parametrize("size", [1, 16, 17, 100])
def test_blocks_do_not_tell(size):
    """What starts like zlib, and is damaged further on, is zlib however long the first block is."""
    data = zlib.compress(BODY)
    damaged = data[:20] + b"\xff" * 40 + data[60:]
    with pytest.raises(zlib.error):
        zlib.decompress(damaged)
    with pytest.raises(UnknownForm, match="the zlib data are damaged"):
        peeled(damaged, size)


def test_one_level():
    """Of two levels of compression one comes off."""
    once = gzip.compress(BODY)
    assert peeled(gzip.compress(once)) == (once, [])


def test_empty_archives():
    """Nothing, compressed, is nothing."""
    for pack in (gzip.compress, bz2.compress, lzma.compress):
        assert peeled(pack(b"")) == (b"", [])
    assert compression_of(zlib.compress(b"")) == "zlib"


PACKERS = [gzip.compress, zlib.compress, bz2.compress, lzma.compress]
# Of these each byte that is whole can be had; of the others, blocks.
BYTEWISE = [gzip.compress, zlib.compress]


@pytest.mark.parametrize("pack", PACKERS)
@pytest.mark.parametrize("size", [999, 1 << 20])
def test_cut(pack, size):
    """A file that is cut gives what it has, and says where it was cut."""
    noise = random.Random(1).randbytes(2_000_000)
    data = pack(noise)[:-1000]
    found = peel(blocks(data, size), Limits())
    assert noise.startswith(b"".join(found.blocks))
    [issue] = found.later
    assert (issue.code, issue.offset) == ("cut_body", len(data))
    assert "end too early" in issue.message


@pytest.mark.parametrize("pack", PACKERS)
def test_damage(pack):
    """A file that is damaged gives what stands before that, and says where it was."""
    noise = random.Random(1).randbytes(2_000_000)
    data = bytearray(pack(noise))
    middle = len(data) * 2 // 3
    data[middle : middle + 64] = bytes(64)
    found = peel([bytes(data)], Limits())
    whole = b"".join(found.blocks)
    [issue] = found.later
    assert issue.code == "cut_body"
    assert "are damaged" in issue.message
    assert 0 < issue.offset <= len(data)
    assert whole[: 1 << 19] == noise[: 1 << 19]


@pytest.mark.parametrize("pack", BYTEWISE)
def test_all_before_the_damage_is_kept(pack):
    """To the byte: a wrong checksum at the end loses nothing."""
    data = pack(BODY)
    assert peeled(data[:-1] + bytes([data[-1] ^ 1])) == (BODY, ["cut_body"])
    stored = pack(BODY * 9, 0)  # blocks as they are, so that damage shows at the next block
    assert peeled(stored[:100])[0] == (BODY * 9)[: len(peeled(stored[:100])[0])] != b""


@pytest.mark.parametrize("pack", PACKERS)
def test_nothing_comes_out(pack):
    """Then it is refused, with the reason and the place."""
    data = pack(BODY * 100)
    with pytest.raises(UnknownForm, match=r"nothing can be read: .* too early \(byte 20\)"):
        peeled(data[:20])
    if pack not in BYTEWISE:
        data = data[:14] + bytes(40) + data[54:]
        with pytest.raises(UnknownForm, match=r"nothing can be read: .* are damaged \("):
            peeled(data)


def test_what_follows_the_members():
    """A further member that is damaged is one; what is none at all is told apart."""
    data = gzip.compress(BODY)
    found = peel([data + b"hello"], Limits())
    assert b"".join(found.blocks) == BODY
    assert (found.later[0].code, found.later[0].offset) == ("after_compressed", len(data))
    further = data + gzip.compress(BODY)[:-1] + b"\xff"
    assert peeled(further) == (BODY * 2, ["cut_body"])


def test_zstd_is_named(monkeypatch):
    """What needs a library that is not there is refused, with two ways to read it."""
    without_libraries(monkeypatch)
    with pytest.raises(UnknownForm, match=r"streamkit-llm\[compression\].*zstd -dc FILE"):
        peel([b"\x28\xb5\x2f\xfd" + b"\0" * 20], Limits())


@pytest.mark.parametrize("pack", PACKERS)
def test_bomb(pack):
    """A bomb ends at the limit, and its blocks are never large."""
    bomb = pack(bytes(8 << 20))
    found = peel([bomb], Limits(decompressed=1 << 20)).blocks
    sizes = []
    with pytest.raises(LimitExceeded) as caught:
        sizes.extend(len(block) for block in found)
    assert caught.value.limit == "decompressed"
    assert 0 < max(sizes) <= BLOCK
    assert len(peeled(bomb, limits=NO_LIMITS)[0]) == 8 << 20


def test_memory_of_xz():
    """An xz file that asks for gigabytes is refused."""
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}]
    packer = lzma.LZMACompressor(filters=[{**filters[0], "dict_size": 1 << 20}])
    data = bytearray(packer.compress(BODY) + packer.flush())
    assert peeled(bytes(data))[0] == BODY
    # The dictionary's size, and the header's checksum: 1.5 GiB.
    head = bytearray(data[12:24])
    head[4] = 37
    data[12:24] = head[:8] + zlib.crc32(head[:8]).to_bytes(4, "little")
    with pytest.raises(UnknownForm, match="emory"):
        peeled(bytes(data))


def test_utf16_breaks():
    """Half a character at the end becomes a replacement character."""
    assert peeled(b"\xff\xfea\0b") == ("a\ufffd".encode(), ["utf16"])
    assert peeled(b"\xff\xfe\x3d\xd8a\0") == ("\ufffda".encode(), ["utf16"])


def test_unpacker_of_nothing():
    """No input is no output, and nothing is wrong."""
    unpacker = Unpacker("gzip", Limits())
    assert not list(unpacker.run([]))
    assert not unpacker.issues


def test_lines():
    """Lines end in LF alone; blocks do not matter."""
    data = b"a\r\n\nb\rc\n\xe2\x80\xa8\nlast"
    expected = [b"a\r\n", b"\n", b"b\rc\n", b"\xe2\x80\xa8\n", b"last"]
    for size in range(1, len(data) + 1):
        assert list(lines(blocks(data, size), Limits())) == expected
    assert list(lines([b"", b"a\n"], Limits())) == [b"a\n"]


@pytest.mark.parametrize("data", [b"ok\n" + b"x" * 11, b"ok\n" + b"x" * 11 + b"\n"])
@pytest.mark.parametrize("size", [1, 4, 100])
def test_long_lines(data, size):
    """A line beyond the limit is refused, finished or not, with its place."""
    with pytest.raises(LimitExceeded) as caught:
        list(lines(blocks(data, size), Limits(line=10)))
    assert (caught.value.limit, caught.value.offset) == ("line", 3)
    assert list(lines(blocks(data[:-2] + b"\n", size), Limits(line=10)))


def test_head_lines():
    """The last line of a full head may be cut, and does not count; of a short one it does."""
    assert head_lines(b"a\r\nb") == [b"a", b"b"]
    assert head_lines(b"a\n" + b"b" * (1 << 16)) == [b"a"]
    assert len(head_lines(b"b" * (1 << 16))) == 1
