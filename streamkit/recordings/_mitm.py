"""
mitmproxy's flow files: tnetstrings, one flow behind another.

A tnetstring is `length:payload` and a letter for the type.  The layout of a flow
has been the same since mitmproxy 0.18 in what is used here: `type`, `request`
and `response` with `content`, `headers` and times.
"""

from __future__ import annotations

import re

from collections.abc import Iterator
from typing import Any

from streamkit._errors import LimitExceeded, UnknownForm, amount
from streamkit._issues import Issue

from ._bodies import (
    STREAMED_THROUGH,
    BlockFile,
    as_dict,
    as_text,
    body_recording,
    exchange_name,
    fits,
    header,
    undone,
)
from ._elements import bound_of
from ._pieces import Form, Piece, ReadOptions, Recording


__all__ = ["FORMS"]

START = re.compile(rb"[0-9]{1,10}:[0-9]{1,4}:[a-z_]{1,40}[;,]")
DIGITS = 12
DEPTH = 32  # flows nest six deep


def _looks(head: bytes) -> int:
    return 95 if START.match(head) else 0


def _read(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    number = found = 0
    for number, flow in enumerate(_flows(blocks, bound_of(options.limits)), 1):
        recording = _recording(flow, number, options)
        if recording is not None:
            found += 1
            yield recording
    if not found:
        raise UnknownForm(
            f"the file has {amount(number, 'flow')}, and no event stream or completion"
        )


def _recording(flow: Any, number: int, options: ReadOptions) -> Recording | None:
    if not isinstance(flow, dict):
        raise UnknownForm(f"flow {number} is no flow of mitmproxy's")
    request, response = as_dict(flow.get("request")), flow.get("response")
    if not isinstance(response, dict):
        return None  # the connection failed, or it was no HTTP
    method, path = as_text(request.get("method")), as_text(request.get("path"))
    name, path = exchange_name(number, "flow", method, path)
    headers = response.get("headers")
    content = response.get("content")
    body, notes = undone(
        content if isinstance(content, bytes) else b"",
        header(headers, "content-encoding"),
        options.limits,
    )
    if not fits(header(headers, "content-type"), body, path):
        return None
    if not body and not notes:
        notes = (
            Issue("missing_body", f"the flow has no body for this response; {STREAMED_THROUGH}"),
        )
    pieces = [Piece(body, None, f"flow {number}")] if body else []
    return body_recording(name, pieces, notes=notes)


# -- tnetstrings -------------------------------------------------------------------------


def _flows(blocks: Iterator[bytes], bound: int | None) -> Iterator[Any]:
    """Return the outermost values of *blocks*, one in memory at a time."""
    buffer = bytearray()
    offset = 0
    file = BlockFile(blocks)
    while True:
        while b":" not in buffer[:DIGITS] and (block := file.read(1 << 18)):
            buffer += block
        if not buffer.strip():
            return
        size, start = _size(buffer, offset)
        if bound is not None and size > bound:
            raise LimitExceeded("line", size, offset, bound=bound)
        end = start + size + 1
        while len(buffer) < end and (block := file.read(1 << 20)):
            buffer += block
        if len(buffer) < end:
            raise UnknownForm(f"the flow at byte {offset} is cut; the flows before it were read")
        payload = memoryview(bytes(buffer[start : end - 1]))
        yield _value(payload, buffer[end - 1], offset, DEPTH)
        del buffer[:end]
        offset += end


def _size(data: bytes | bytearray, offset: int) -> tuple[int, int]:
    """Return the size of the payload that *data* begins with, and where it starts."""
    digits, colon, _ = bytes(data[: DIGITS + 1]).partition(b":")
    if not colon or not digits.isdigit():
        raise _broken(offset)
    return int(digits), len(digits) + 1


def _broken(offset: int) -> UnknownForm:
    return UnknownForm(
        f"the flow file is damaged, or newer than what is known here, at byte {offset}; "
        f"`mitmdump -nr FILE --set hardump=FILE.har` makes a HAR of it"
    )


def _value(payload: memoryview, type: int, offset: int, depth: int) -> Any:
    """Return the value of *payload*, whose letter is *type*."""
    try:
        match chr(type):
            case ",":
                return bytes(payload)
            case ";":
                return bytes(payload).decode("utf-8", "replace")
            case "#":
                return int(bytes(payload))
            case "^":
                return float(bytes(payload))
            case "!":
                return bytes(payload) == b"true"
            case "~":
                return None
            case "]":
                return list(_values(payload, offset, depth - 1))
            case "}":
                items = list(_values(payload, offset, depth - 1))
                return {
                    as_text(key): value for key, value in zip(items[::2], items[1::2], strict=True)
                }
    except ValueError:
        raise _broken(offset) from None
    raise _broken(offset)


def _values(payload: memoryview, offset: int, depth: int) -> Iterator[Any]:
    if depth <= 0:
        raise _broken(offset)
    at = 0
    while at < len(payload):
        size, start = _size(bytes(payload[at : at + DIGITS + 1]), offset)
        end = at + start + size
        if end >= len(payload):
            raise _broken(offset)
        yield _value(payload[at + start : end], payload[end], offset, depth)
        at = end + 1


FORMS = (Form(name="mitmproxy", title="a flow file of mitmproxy's", looks=_looks, read=_read),)
