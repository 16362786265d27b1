"""What the forms that keep whole exchanges share: which response fits, its body, its name."""

from __future__ import annotations

import io
import re
import zlib

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from streamkit._errors import LimitExceeded, UnknownForm
from streamkit._issues import Issue
from streamkit._limits import Limits

from ._binary import from_base64
from ._codecs import BROTLI, GZIP, RAW_DEFLATE, ZLIB, ZSTD
from ._dialects import HEAD, dialect_of, is_stream_text, other_dialect
from ._elements import bound_of
from ._pieces import Piece, Recording
from ._wrappers import Unpacker


__all__ = [
    "GZIP_MARK",
    "STREAMED_THROUGH",
    "BlockFile",
    "as_dict",
    "as_text",
    "base64_bytes",
    "body_recording",
    "exchange_name",
    "fits",
    "header",
    "undone",
    "whole",
]

STREAM_TYPES = ("text/event-stream", "application/x-ndjson", "application/jsonl")
# Encodings (IANA's registry of them) that have a name, and no reader here.
UNREAD = ("compress", "dcb", "dcz", "x-compress")
OPTIONAL = {"br": BROTLI, "zstd": ZSTD}
COMPLETION = re.compile(rb'\s*[{\[].{0,65536}?"choices"\s*:\s*\[', re.DOTALL)
ERROR = re.compile(rb'\s*\{\s*"error"\s*:')
GZIP_MARK = b"\x1f\x8b"
STREAMED_THROUGH = (
    "mitmproxy streamed it through without keeping it: run it with "
    "`--set store_streamed_bodies=true`, or without `stream_large_bodies`"
)
PATH_LENGTH = 80


class BlockFile(io.RawIOBase):
    """Blocks of bytes as a file to read."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        self._rest = b""

    @classmethod
    def buffered(cls, blocks: Iterable[bytes]) -> io.BufferedReader:
        """Return *blocks* as a file that can also be read by lines."""
        return io.BufferedReader(cls(blocks))

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill *buffer* with what is there, and return how much that was."""
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = block
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def whole(blocks: Iterable[bytes], bound: int | None) -> bytes:
    """
    Return *blocks* joined.

    Raises:
        LimitExceeded: If they are more than *bound* bytes.
    """
    data = bytearray()
    for block in blocks:
        data += block
        if bound is not None and len(data) > bound:
            raise LimitExceeded("line", len(data), bound=bound)
    return bytes(data)


def fits(content_type: str, body: bytes, path: str) -> bool:
    """Tell whether a response is a stream, or a completion, or the error in place of one."""
    head = body[:HEAD]
    if content_type.partition(";")[0].strip().lower() in STREAM_TYPES or is_stream_text(head):
        return True
    if COMPLETION.match(head) or dialect_of(head):
        return True
    return path.rstrip("/").endswith("completions") and ERROR.match(head) is not None


def exchange_name(number: int, kind: str, method: object, url: object) -> tuple[str, str]:
    """
    Return what to call an exchange, and the path of its address.

    The query and the host stay out: keys stand there.

    >>> exchange_name(2, "entry", "POST", "https://a.example/v1/completions?key=k")
    ('entry 2: POST /v1/completions', '/v1/completions')
    """
    try:
        path = urlsplit(url).path if isinstance(url, str) else ""
    except ValueError:
        path = ""
    verb = method if isinstance(method, str) and method.isalpha() else ""
    shown = path if path.isprintable() else ascii(path)[1:-1]
    words = [word for word in (verb[:PATH_LENGTH], shown[:PATH_LENGTH]) if word]
    return f"{kind} {number}" + (": " + " ".join(words) if words else ""), path


def header(headers: object, name: str) -> str:
    """
    Return the value of the header called *name*, or "".

    Headers are kept as `{name: value}`, as `{name: [value]}`, as lists of pairs
    or as lists of `{"name": …, "value": …}`.
    """
    for key, value in _pairs(headers):
        if as_text(key).lower() == name:
            return as_text(value[0] if isinstance(value, (list, tuple)) and value else value)
    return ""


def _pairs(headers: object) -> Iterator[tuple[Any, Any]]:
    if isinstance(headers, Mapping):
        yield from headers.items()
    elif isinstance(headers, (list, tuple)):
        for item in headers:
            if isinstance(item, Mapping):
                yield item.get("name"), item.get("value")
            elif isinstance(item, (list, tuple)) and len(item) == 2:  # noqa: PLR2004 -- a pair
                yield item[0], item[1]


def as_dict(value: Any) -> dict[str, Any]:
    """Return *value* if it is a dict, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_text(value: object) -> str:
    """Return *value* as text if it is text or bytes, or nothing."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value if isinstance(value, str) else ""


def base64_bytes(text: object) -> tuple[bytes, tuple[Issue, ...]]:
    """Return the bytes that *text* is the base64 of, and a note if it is not."""
    data = from_base64(as_text(text))
    if data is not None:
        return data, ()
    note = Issue("bad_base64", "the body says that it is base64, but it is not; it was left out")
    return b"", (note,)


def undone(body: bytes, encoding: str, limits: Limits) -> tuple[bytes, tuple[Issue, ...]]:
    """
    Undo the content encodings of *body*: those of the header, or gzip by its mark.

    Raises:
        LimitExceeded: If it expands to more than `Limits.decompressed`, or than may be held.
    """
    if body.startswith(GZIP_MARK):
        return _unpacked(body, GZIP, limits)
    names = [name.strip().lower() for name in encoding.split(",") if name.strip()]
    is_plain = is_stream_text(body[:HEAD]) or body.lstrip()[:1] in (b"{", b"[", b"")
    if is_plain or not names or names == ["identity"]:
        return body, ()  # most recorders undo the encoding and leave the header
    if names == ["deflate"]:
        is_wrapped = body[0] & 15 == zlib.DEFLATED and int.from_bytes(body[:2]) % 31 == 0
        return _unpacked(body, ZLIB if is_wrapped else RAW_DEFLATE, limits)
    if len(names) == 1 and names[0] in OPTIONAL:
        with suppress(UnknownForm):  # the library is not installed
            return _unpacked(body, OPTIONAL[names[0]], limits)
    if names[-1] not in (*OPTIONAL, *UNREAD):
        return body, ()
    return b"", (_encoded_body(names[-1]),)


def _encoded_body(name: str) -> Issue:
    install = "install streamkit-llm[compression], or " if name in OPTIONAL else ""
    return Issue(
        "encoded_body",
        f"the body is encoded as {name}, which is not read here; {install}"
        f"record it with the request header `accept-encoding: gzip`",
    )


def _unpacked(body: bytes, name: str, limits: Limits) -> tuple[bytes, tuple[Issue, ...]]:
    """Return *body* decompressed, step by step so that a bomb is not built: it is held whole."""
    unpacker = Unpacker(name, limits)
    return whole(unpacker.run([body]), bound_of(limits)), tuple(unpacker.issues)


def body_recording(
    name: str, pieces: Iterable[Piece], *, notes: Iterable[Issue] = (), head: bytes | None = None
) -> Recording:
    """Return the recording of a body, or, if it is in another dialect, of that fact."""
    if head is None:
        pieces = list(pieces)
        head = b"".join(piece.data for piece in pieces[:16])
    dialect = dialect_of(head)
    if dialect is not None:
        return Recording(name=name, notes=(*notes, other_dialect(dialect)))
    return Recording(name=name, pieces=pieces, notes=tuple(notes))
