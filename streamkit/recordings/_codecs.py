"""
What compressed data are decompressed with, in one manner: that of `bz2` and `lzma`.

Those of the standard library are always there; for zstd (before Python 3.14) and
Brotli there is the extra `compression`.
"""

from __future__ import annotations

import bz2
import lzma
import zlib

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, Protocol

from streamkit._errors import UnknownForm


__all__ = ["BROTLI", "BZIP2", "GZIP", "RAW_DEFLATE", "XZ", "ZLIB", "ZSTD", "Codec", "codec_of"]

BROTLI, BZIP2, GZIP, XZ, ZLIB, ZSTD = "brotli", "bzip2", "gzip", "xz", "zlib", "zstd"
RAW_DEFLATE = "deflate"
LZMA_MEMORY = 256 << 20


class Codec(Protocol):
    """What one member of a compressed file is decompressed with; `OSError` if it is damaged."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...

    def salvage(self) -> tuple[bytes, int]:
        """Return what the data that raised has before the damage, and how many bytes are left."""
        ...


class _Inflate:
    """zlib's object, which leaves it to the caller to keep its input."""

    def __init__(self, wbits: int) -> None:
        self._object = zlib.decompressobj(wbits)
        self._before = self._object
        self._data = b""

    @property
    def eof(self) -> bool:
        return self._object.eof

    @property
    def unused_data(self) -> bytes:
        return self._object.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        self._data = self._object.unconsumed_tail + data
        self._before = self._object.copy()  # a microsecond, so that nothing is lost at an error
        try:
            return self._object.decompress(self._data, max_length)
        except zlib.error as error:
            raise OSError(str(error)) from None

    def salvage(self) -> tuple[bytes, int]:
        out = bytearray()
        used = 0
        with suppress(zlib.error):
            while used < len(self._data):
                out += self._before.decompress(self._data[used : used + 1])
                used += 1
        return bytes(out), len(self._data) - used


class _Blocks:
    """The object of another library, which has nothing of a block before all of it is whole."""

    def __init__(self, made: Any, *errors: type[Exception]) -> None:
        self._object = made
        self._errors = errors

    @property
    def eof(self) -> bool:
        return bool(self._object.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._object.unused_data)

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        try:
            return bytes(self._object.decompress(data, max_length))
        except self._errors as error:
            raise OSError(str(error)) from None

    def salvage(self) -> tuple[bytes, int]:
        return b"", 0


class _Brotli(_Blocks):
    """Brotli's object: it does not tell what stands behind the data."""

    @property
    def eof(self) -> bool:
        try:
            return bool(self._object.is_finished())
        except self._errors:  # it has raised before
            return False

    @property
    def unused_data(self) -> bytes:
        return b""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        try:
            return bytes(self._object.process(data, output_buffer_limit=max_length))
        except self._errors as error:
            raise OSError(str(error)) from None


def _zstd() -> Callable[[], Codec]:
    try:
        library = import_module("compression.zstd")  # since Python 3.14
    except ImportError:
        library = import_module("backports.zstd")
    return lambda: _Blocks(library.ZstdDecompressor(), library.ZstdError)


def _brotli() -> Callable[[], Codec]:
    library = import_module("brotli")
    return lambda: _Brotli(library.Decompressor(), library.error)


CODECS: dict[str, Callable[[], Codec]] = {
    GZIP: lambda: _Inflate(16 + zlib.MAX_WBITS),
    ZLIB: lambda: _Inflate(zlib.MAX_WBITS),
    RAW_DEFLATE: lambda: _Inflate(-zlib.MAX_WBITS),
    BZIP2: lambda: _Blocks(bz2.BZ2Decompressor()),
    XZ: lambda: _Blocks(lzma.LZMADecompressor(lzma.FORMAT_XZ, LZMA_MEMORY), lzma.LZMAError),
}
OPTIONAL = {BROTLI: _brotli, ZSTD: _zstd}


def codec_of(name: str) -> Callable[[], Codec]:
    """
    Return what makes a codec for each member of data compressed as *name*.

    Raises:
        UnknownForm: If the library for it is not installed.
    """
    if name in CODECS:
        return CODECS[name]
    try:
        return OPTIONAL[name]()
    except ImportError:
        raise UnknownForm(
            f"the input is compressed with {name}: install streamkit-llm[compression], "
            f"or decompress it first, with `{name} -dc FILE`"
        ) from None
