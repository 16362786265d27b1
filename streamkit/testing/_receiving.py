"""The body of a request, read off a connection."""

from __future__ import annotations

import re

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from io import BufferedIOBase

import attrs


__all__ = ["BadBody", "read_body"]

# What a request may have; images in messages are large.
MOST = 256 << 20
LINE = 4096
STEP = 1 << 18
LENGTH = re.compile(r"[0-9]{1,18}")
SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")


@attrs.define
class BadBody(Exception):
    """A body too large, or not framed as RFC 9112, 6, has it; it never leaves the package."""

    status: HTTPStatus
    message: str


def read_body(headers: Mapping[str, str], file: BufferedIOBase) -> bytes:
    """
    Return the body of the request with *headers*, transfer coding undone.

    Raises:
        BadBody: If it cannot be read.
    """
    coding = headers.get("Transfer-Encoding")
    length = headers.get("Content-Length")
    if coding is None:
        return b"".join(_counted(file, _length(length)))
    if length is not None or coding.strip().lower() != "chunked":
        raise BadBody(HTTPStatus.BAD_REQUEST, "this framing of a body is not understood")
    return b"".join(_unchunked(file))


def _length(text: str | None) -> int:
    if text is None:
        return 0
    if not LENGTH.fullmatch(text.strip()):
        raise BadBody(HTTPStatus.BAD_REQUEST, "the content length is no number")
    return int(text)


def _counted(file: BufferedIOBase, size: int, before: int = 0) -> Iterator[bytes]:
    """Yield *size* bytes of *file*; *before* is how many the body had before them."""
    if before + size > MOST:
        raise BadBody(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {MOST} bytes")
    while size:
        data = file.read(min(size, STEP))
        if not data:
            raise BadBody(HTTPStatus.BAD_REQUEST, "the body was cut")
        size -= len(data)
        yield data


def _unchunked(file: BufferedIOBase) -> Iterator[bytes]:
    """Yield the chunks' data (RFC 9112, 7.1); extensions and trailers are skipped."""
    total = 0
    while size := _size(file.readline(LINE)):
        yield from _counted(file, size, total)
        total += size
        if file.readline(LINE).strip():
            raise BadBody(HTTPStatus.BAD_REQUEST, "a chunk is longer than it says")
    while file.readline(LINE).strip():
        pass


def _size(line: bytes) -> int:
    found = SIZE.fullmatch(line)
    if found is None:
        raise BadBody(HTTPStatus.BAD_REQUEST, "the size of a chunk is no number")
    return int(found[1], 16)
