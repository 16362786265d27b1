"""
Secrets covered in what curl wrote: traces, the log of `-v`, and responses with headers.

Rows and blocks cut a message anywhere; so each message is put together, secrets in
it are covered in place, and each byte goes back to where it was shown.
"""

from __future__ import annotations

import io
import re

from collections.abc import Iterable, Iterator

import attrs

from streamkit._limits import NO_LIMITS
from streamkit.recordings._curl import parts
from streamkit.recordings._curl_trace import BLOCK, HEX_BYTES, PAIR, ROW, not_shown
from streamkit.recordings._curl_verbose import Demixer
from streamkit.recordings._dots import DotMender
from streamkit.recordings._wrappers import compression_of

from ._masks import Masker
from ._secrets import MASK


__all__ = ["Unseen", "masked_body", "masked_response", "masked_trace", "masked_verbose"]

PAIR_SIZE = len("00 ")
TEXT_AT = HEX_BYTES * PAIR_SIZE
IDS = re.compile(rb"\[\S{1,40}\] ")
ENCODED = re.compile(rb"(?im)^content-encoding:[ \t]*(?!identity)\S")
FORM_BODY = re.compile(rb"[\w.~%+-]+=")
# Of a chunk (RFC 9112, section 7.1); a CRLF that a block cuts in two is shown as dots.
LINE_END = re.compile(rb"\r?\n|\.\.")
CHUNK_HEAD = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n.]*)?(?:" + LINE_END.pattern + rb")")
HEADER, DATA = b"header", b"data"


COMPRESSED = "a body is compressed, which hides secrets"


class Unseen(Exception):
    """Secrets cannot be covered; the message says why."""


# -- Traces --------------------------------------------------------------------------


@attrs.frozen
class _Row:
    """What a row shows: *data*, in the file from *start* to *end*."""

    start: int
    end: int
    data: bytes


@attrs.define
class _Block:
    """A block of a trace: its rows are (offset, start, text)."""

    flow: tuple[bytes, bytes]
    kind: bytes
    size: int
    rows: list[tuple[int, int, bytes]] = attrs.field(factory=list)

    def shown(self, *, is_hex: bool) -> Iterator[_Row]:
        ends = [*(offset for offset, _, _ in self.rows), self.size][1:]
        for (offset, start, text), end in zip(self.rows, ends, strict=True):
            if is_hex:
                left = max(0, self.size - offset)
                pairs = PAIR.findall(text[: min(HEX_BYTES, left) * PAIR_SIZE])
                data = bytes.fromhex(b"".join(pairs).decode())
            else:
                data = text + not_shown(len(text), end - offset)
            yield _Row(start, start + len(text), data)


@attrs.define
class _Message:
    """The head or the body of a message, block by block."""

    kind: bytes
    is_sent: bool
    rows: list[_Row] = attrs.field(factory=list)


def masked_trace(data: bytes, masker: Masker, *, is_hex: bool) -> bytes:
    """
    Return *data*, a trace of curl's, without its secrets.

    Raises:
        Unseen: If a body in it is compressed.
    """
    out = bytearray(data)
    show = _show_hex if is_hex else _show_ascii
    for message in _messages(_blocks(data, out, masker), is_hex=is_hex):
        was = b"".join(row.data for row in message.rows)
        now = _masked_message(message, was, masker, is_hex=is_hex)
        at = 0
        for row in message.rows:
            end = at + len(row.data)
            if was[at:end] != now[at:end]:
                show(out, row, now[at:end])
            at = end
    return bytes(out)


def _blocks(data: bytes, out: bytearray, masker: Masker) -> Iterator[_Block]:
    """Yield the blocks of *data*; secrets in other lines are covered in *out*."""
    block: _Block | None = None
    at = 0
    for line in io.BytesIO(data):  # only LF ends one
        start = BLOCK.match(line)
        row = None if start or block is None else ROW.fullmatch(line)
        if row is not None and block is not None:
            text = row[2] or b""
            block.rows.append((int(row[1], 16), at + max(row.start(2), 0), text))
        elif start is not None and start["way"]:
            if block is not None:
                yield block
            ids = IDS.search(line, 0, start.start("way"))
            flow = (ids[0] if ids else b"", start["way"])
            block = _Block(flow, start["kind"], int(start["size"]))
        else:
            out[at : at + len(line)] = masker.masked(line)
        at += len(line)
    if block is not None:
        yield block


def _messages(blocks: Iterable[_Block], *, is_hex: bool) -> Iterator[_Message]:
    """Put blocks of one kind together that went one way on one connection."""
    open_ones: dict[tuple[bytes, bytes], _Message] = {}
    for block in blocks:
        is_sent = block.flow[1] == b"=>"
        message = open_ones.get(block.flow)
        if block.kind not in (HEADER, DATA):  # what encrypts the connection
            yield _Message(block.kind, is_sent, list(block.shown(is_hex=is_hex)))
            continue
        if message is None or message.kind != block.kind:
            if message is not None:
                yield message
            message = open_ones[block.flow] = _Message(block.kind, is_sent)
        message.rows += block.shown(is_hex=is_hex)
    yield from open_ones.values()


def _masked_message(message: _Message, data: bytes, masker: Masker, *, is_hex: bool) -> bytes:
    if message.kind == HEADER:
        if ENCODED.search(data):
            raise Unseen(COMPRESSED)
        return masker.masked(data, is_head=True)
    if message.kind != DATA:
        return MASK.encode() * len(data)
    if message.is_sent and FORM_BODY.match(data):
        return masker.masked(b"&" + data)[1:]  # each field has its mark then
    return masked_body(data, masker, is_dotted=not is_hex)


def _show_hex(out: bytearray, row: _Row, data: bytes) -> None:
    for column, (was, now) in enumerate(zip(row.data, data, strict=True)):
        if was != now:
            pair = row.start + column * PAIR_SIZE
            out[pair : pair + 2] = b"%02x" % now
            if row.start + TEXT_AT + column < row.end:
                out[row.start + TEXT_AT + column] = now


def _show_ascii(out: bytearray, row: _Row, data: bytes) -> None:
    for column, (was, now) in enumerate(zip(row.data, data, strict=True)):
        if was != now and row.start + column < row.end:
            out[row.start + column] = now


# -- Bodies --------------------------------------------------------------------------


def masked_body(data: bytes, masker: Masker, *, is_dotted: bool = False) -> bytes:
    """
    Return *data*, a body as it came over the wire, without its secrets.

    With *is_dotted*, line ends are shown as dots.

    Raises:
        Unseen: If it is compressed.
    """
    spans, tail = _spans(data)
    body = b"".join(data[start:end] for start, end in spans)
    if compression_of(body) is not None:
        raise Unseen(COMPRESSED)
    text = body
    if is_dotted:
        mender = DotMender()
        text = mender.feed(body) + mender.finish()
    covered = masker.masked(text)
    out = bytearray(data[:tail] + masker.masked(data[tail:], is_head=True))
    at = 0
    for start, end in spans:
        for place in range(start, end):
            if text[at] != covered[at]:
                out[place] = covered[at]
            at += 1
    return bytes(out)


def _spans(data: bytes) -> tuple[list[tuple[int, int]], int]:
    """Return where in *data* the body is, in the chunked coding or not, and where trailers are."""
    spans: list[tuple[int, int]] = []
    at = 0
    while (head := CHUNK_HEAD.match(data, at)) is not None:
        size = int(head[1], 16)
        if not size:
            return spans, head.end()
        at = min(head.end() + size, len(data))
        spans.append((head.end(), at))
        end = LINE_END.match(data, at)
        at = at if end is None else end.end()
    return [*spans, (at, len(data))], len(data)


# -- What -i and -v write -------------------------------------------------------------------


def masked_response(data: bytes, masker: Masker) -> bytes:
    """
    Return *data*, responses with their headers, without its secrets.

    Raises:
        Unseen: If a body in it is compressed.
    """
    out = bytearray(data)
    spans: list[tuple[int, int]] = []
    for part in parts(iter([data]), NO_LIMITS):
        start = int(part.place.removeprefix("byte "))
        end = start + len(part.data)
        if part.is_header:
            _cover_spans(out, data, spans, masker)
            out[start:end] = masker.masked(part.data, is_head=True)
        else:
            spans.append((start, end))
    _cover_spans(out, data, spans, masker)
    return bytes(out)


def masked_verbose(data: bytes, masker: Masker) -> bytes:
    """
    Return *data*, a body and what `curl -v` says about it, without its secrets.

    Raises:
        Unseen: If a body in it is compressed.
    """
    out = bytearray(data)
    spans: list[tuple[int, int]] = []
    demixer = Demixer()
    at = 0
    for line in io.BytesIO(data):  # only LF ends one
        found = list(demixer.take(line, ""))
        part = found[0] if found else None
        start = -1 if part is None or part.is_header else line.find(part.data)
        if part is not None and start >= 0:
            end = start + len(part.data)
            spans.append((at + start, at + end))
            out[at + end : at + len(line)] = masker.masked(line[end:])
        else:
            is_head = part is not None and line == part.data
            out[at : at + len(line)] = masker.masked(line, is_head=is_head)
        if any(each.is_header for each in found):
            _cover_spans(out, data, spans, masker)
        at += len(line)
    _cover_spans(out, data, spans, masker)
    return bytes(out)


def _cover_spans(out: bytearray, data: bytes, spans: list[tuple[int, int]], masker: Masker) -> None:
    """Cover what is in *spans*, a body, and forget them."""
    body = masked_body(b"".join(data[start:end] for start, end in spans), masker)
    at = 0
    for start, end in spans:
        out[start:end] = body[at : at + end - start]
        at += end - start
    spans.clear()
