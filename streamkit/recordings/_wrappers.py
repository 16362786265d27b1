"""
What a recording is wrapped in: compression, a byte order mark, UTF-16.

One level of compression is undone, then one of encoding.  All of it streams, in
pieces of bounded size: a bomb costs no more memory than its first block.
"""

from __future__ import annotations

import codecs
import re
import zlib

from collections.abc import Iterable, Iterator

import attrs

from streamkit._errors import UnknownForm
from streamkit._issues import Issue
from streamkit._limits import Limits
from streamkit._lines import BOM

from ._codecs import BZIP2, GZIP, XZ, ZLIB, ZSTD, codec_of
from ._text import is_long_enough, look_ahead


__all__ = ["Peeled", "Unpacker", "compression_of", "peel"]

# What tells a compression by its first bytes needs no more than these many.
MAGIC_SIZE = 16
# Small slices bound the cost of a file of a million empty members, whose rest
# is copied at the end of each.
SLICE = 1 << 12
BLOCK = 1 << 18

# The method in a zlib header; the window is at most 32 KiB.
DEFLATE = 0x08
TEXT = re.compile(rb"[\t\n\r -~]+")
UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def compression_of(head: bytes) -> str | None:
    """
    Return the name of the compression that *head*, a recording's first bytes, is of.

    More than `MAGIC_SIZE` of them are not looked at: what it is must not depend on
    how large the first block was.
    """
    head = head[:MAGIC_SIZE]
    for magic, name in (
        (b"\x1f\x8b\x08", GZIP),
        (b"\xfd7zXZ\x00", XZ),
        (b"\x28\xb5\x2f\xfd", ZSTD),
    ):
        if head.startswith(magic):
            return name
    if head[:3] == b"BZh" and head[3:4].isdigit() and head[4:10] in BZIP2_BLOCKS:
        return BZIP2
    return ZLIB if _is_zlib(head) else None


# Digits of pi start a block, those of its root the end of an empty file.
BZIP2_BLOCKS = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")


def _is_zlib(head: bytes) -> bool:
    """
    Tell whether *head* starts a zlib stream (RFC 1950, section 2.2).

    `x^` is a possible header and a possible text: so not all of it may be ASCII,
    and it must inflate.
    """
    if len(head) < MAGIC_SIZE // 2 or head[0] & 0x8F != DEFLATE or int.from_bytes(head[:2]) % 31:
        return False
    try:
        zlib.decompressobj().decompress(head, 1)
    except zlib.error:
        return False
    return not head.isascii()


# -- Decompression -------------------------------------------------------------------


class Unpacker:
    """
    Decompress data, whatever is wrong with them.

    Members that follow one another are read as one (`gzip` appends so).  What
    is cut or damaged is read as far as it is whole.

    Args:
        name: The compression: one that `compression_of` told.
        limits: `decompressed` bounds the result.

    Attributes:
        issues: What is wrong with the data, once it is met.
        reason: Why nothing more can be read; "" if all was.

    Raises:
        UnknownForm: If it cannot be undone here.
    """

    def __init__(self, name: str, limits: Limits) -> None:
        self._name = name
        self._limits = limits
        self._make = codec_of(name)
        self._codec = self._make()
        self._start = 0  # of the member, in the compressed data
        self._is_empty = True  # the member gave nothing yet
        self._is_over = False
        self._taken = 0
        self._given = 0
        self.issues: list[Issue] = []
        self.reason = ""

    def run(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """
        Yield what *blocks*, all there are, decompress to.

        Raises:
            LimitExceeded: As `feed`.
        """
        for block in blocks:
            yield from self.feed(block)
        self.finish()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """
        Yield what *data* decompresses to, in blocks.

        Raises:
            LimitExceeded: If all of it is more than the limit.
        """
        for start in range(0, len(data), SLICE):
            yield from self._slice(data[start : start + SLICE])

    def finish(self) -> None:
        """Take note of the end of the data, and whether it is too early."""
        if self._taken and not (self._is_over or self._codec.eof):
            self._end("end too early", self._taken)

    def _slice(self, data: bytes) -> Iterator[bytes]:
        self._taken += len(data)
        while not self._is_over:
            if self._codec.eof:
                data = data.lstrip(b"\0")  # some tools pad with zeros
                if not data:
                    return
                self._codec = self._make()
                self._start = self._taken - len(data)
                self._is_empty = True
            block = self._decompress(data)
            if block:
                self._is_empty = False
                self._given += len(block)
                self._limits.check("decompressed", self._given, self._taken)
                yield block
            if not self._codec.eof and len(block) < BLOCK:  # all that came was used
                return
            data = self._codec.unused_data

    def _decompress(self, data: bytes) -> bytes:
        try:
            return self._codec.decompress(data, BLOCK)
        except OSError as error:
            block, left = self._codec.salvage()
            self._is_empty = self._is_empty and not block
            self._end(f"are damaged ({error})", self._taken - left)
            return block

    def _end(self, what: str, offset: int) -> None:
        """Take note that nothing more can be read."""
        self._is_over = True
        self.reason = f"the {self._name} data {what} (byte {offset})"
        if self._start and self._is_empty:
            message = f"behind the {self._name} data stands something else; it was left out"
            self.issues.append(Issue("after_compressed", message, offset=self._start))
        else:
            message = f"the {self._name} data {what}; what came before that was kept"
            self.issues.append(Issue("cut_body", message, offset=offset))


# -- Encoding ------------------------------------------------------------------------


def _without_start(blocks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Yield *blocks* without their first *size* bytes."""
    for block in blocks:
        if rest := block[size:]:
            yield rest
        size = max(0, size - len(block))


def _as_utf8(blocks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for block in blocks:
        if text := decoder.decode(block):
            yield text.encode()
    if text := decoder.decode(b"", final=True):
        yield text.encode()


@attrs.frozen
class Peeled:
    """
    A recording without the wrappers around it.

    Attributes:
        blocks: Its bytes.
        notes: What is to be said about the wrappers.
        later: What came to light while it was read; None if nothing can: it is
            not compressed.
    """

    blocks: Iterator[bytes]
    notes: tuple[Issue, ...] = ()
    later: list[Issue] | None = None


def peel(blocks: Iterable[bytes], limits: Limits) -> Peeled:
    """
    Take the wrappers off *blocks*.

    Only the first bytes are read here, the rest when it is asked for.

    Raises:
        UnknownForm: If the compression is not one that can be undone, or if
            nothing comes out.
    """
    first, rest = look_ahead(iter(blocks), is_long_enough(MAGIC_SIZE, len))
    compression = compression_of(b"".join(first))
    later = None
    if compression is not None:
        unpacker = Unpacker(compression, limits)
        first, rest = look_ahead(unpacker.run(rest), is_long_enough(MAGIC_SIZE, len))
        later = unpacker.issues
        if later and not first:
            raise UnknownForm(f"nothing can be read: {unpacker.reason}")
    rest, notes = _decoded(b"".join(first), rest)
    return Peeled(rest, notes, later)


def _decoded(head: bytes, blocks: Iterator[bytes]) -> tuple[Iterator[bytes], tuple[Issue, ...]]:
    """Undo the encoding that *head*, the start of *blocks*, tells."""
    if head.startswith(BOM):
        return _without_start(blocks, len(BOM)), ()
    marked = UTF16.get(head[:2])
    encoding = marked or _unmarked_utf16(head)
    if encoding is None:
        return blocks, ()
    note = Issue("utf16", "the text was UTF-16, as redirects of Windows PowerShell write it")
    return _as_utf8(_without_start(blocks, 2 if marked else 0), encoding), (note,)


def _unmarked_utf16(head: bytes) -> str | None:
    """Tell UTF-16 without a mark: of ASCII, as streams begin, each other byte is zero."""
    head = head[:MAGIC_SIZE]
    for name, zeros, chars in (
        ("utf-16-le", head[1::2], head[::2]),
        ("utf-16-be", head[::2], head[1::2]),
    ):
        if len(head) == MAGIC_SIZE and not any(zeros) and TEXT.fullmatch(chars):
            return name
    return None
