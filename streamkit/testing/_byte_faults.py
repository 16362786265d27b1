"""
Faults in the bytes of a stream.

Each function takes bytes and returns bytes; *at* is the number of an event that has
a chunk, counted from 0.
"""

from __future__ import annotations

import re

from typing import Final


__all__ = [
    "add_bom",
    "add_comments",
    "add_data_after_done",
    "bad_json",
    "bad_number",
    "bare_lines",
    "concatenate_json",
    "control_character",
    "cut_after",
    "cut_bytes",
    "cut_inside",
    "double_prefix",
    "drop_done",
    "glue_events",
    "indent_field",
    "invalid_utf8",
    "late_bom",
    "one_newline",
    "trailing_garbage",
]

BOM: Final = "\ufeff".encode()
# A block ends with a blank line; the last one may not.
BLOCK = re.compile(rb".*?(?:\r\n\r\n|\n\n|\r\r|\Z)", re.DOTALL)
CHUNK = re.compile(rb"(?:^|[\r\n])data: ?(?=\{)")
DONE = re.compile(rb"(?:^|[\r\n])data: ?\[DONE\]")


def _spans(data: bytes) -> list[tuple[int, int]]:
    """Return where the events that have a chunk start, past their prefix, and end."""
    blocks = BLOCK.finditer(data)
    found = ((CHUNK.search(match[0]), match) for match in blocks)
    return [(match.start() + prefix.end(), match.end()) for prefix, match in found if prefix]


def _span(data: bytes, at: int) -> tuple[int, int]:
    spans = _spans(data)
    if type(at) is not int or not 0 <= at < len(spans):
        raise TypeError(f"at must be the number of an event below {len(spans)}, not {at!r}")
    return spans[at]


def _inserted(data: bytes, place: int, new: bytes) -> bytes:
    return data[:place] + new + data[place:]


def _joined(data: bytes, at: int, joint: bytes) -> bytes:
    """Return *data* with *joint* between event *at* and the next, in place of what parts them."""
    (_, end), (start, _) = _span(data, at), _span(data, at + 1)
    return data[:end].rstrip(b"\r\n") + joint + data[start:]


def _newline(data: bytes) -> bytes:
    found = re.search(rb"\r\n|\r|\n", data)
    return found[0] if found else b"\n"


def _line_start(data: bytes, place: int) -> int:
    return len(data[:place].removesuffix(b" ").removesuffix(b"data:"))


# -- Cuts ----------------------------------------------------------------------------


def cut_bytes(data: bytes, at: int) -> bytes:
    """Return the first *at* bytes of *data*: cut anywhere."""
    if type(at) is not int or not 0 <= at <= len(data):
        raise TypeError(f"at must be a place in {len(data)} bytes, not {at!r}")
    return data[:at]


def cut_inside(data: bytes, at: int) -> bytes:
    """Return *data* up to the middle of event *at*."""
    start, end = _span(data, at)
    return data[: (start + end) // 2]


def cut_after(data: bytes, at: int) -> bytes:
    """Return *data* up to the end of event *at*."""
    return data[: _span(data, at)[1]]


def drop_done(data: bytes) -> bytes:
    """Return *data* without `[DONE]`."""
    return b"".join(match[0] for match in BLOCK.finditer(data) if not DONE.search(match[0]))


def add_data_after_done(data: bytes, payload: bytes = b'{"x": 1}') -> bytes:
    """Return *data* and one more event, with *payload*."""
    return data + b"data: " + payload + b"\n\n"


# -- Framing that is wrong -----------------------------------------------------------


def glue_events(data: bytes, at: int) -> bytes:
    """Return *data* with event *at* and the next on one line, both with their prefix."""
    return _joined(data, at, b"data: ")


def concatenate_json(data: bytes, at: int) -> bytes:
    """Return *data* with the payloads of event *at* and the next in one event."""
    return _joined(data, at, b"")


def one_newline(data: bytes, at: int) -> bytes:
    """Return *data* with no blank line between event *at* and the next."""
    return _joined(data, at, _newline(data) + b"data: ")


def double_prefix(data: bytes, at: int) -> bytes:
    """Return *data* with `data:` twice before the payload of event *at*."""
    return _inserted(data, _span(data, at)[0], b"data: ")


def indent_field(data: bytes, at: int) -> bytes:
    """Return *data* with a blank before the field of event *at*."""
    return _inserted(data, _line_start(data, _span(data, at)[0]), b" ")


def bare_lines(data: bytes) -> bytes:
    """Return the payloads of *data* line by line, without any framing, `[DONE]` left out."""
    return b"".join(data[start:end].rstrip(b"\r\n") + b"\n" for start, end in _spans(data))


def add_bom(data: bytes) -> bytes:
    """Return *data* with a byte order mark before it, which is no fault at all."""
    return BOM + data.removeprefix(BOM)


def late_bom(data: bytes, at: int) -> bytes:
    """Return *data* with a byte order mark before event *at*."""
    return _inserted(data, _line_start(data, _span(data, at)[0]), BOM)


def add_comments(data: bytes, comment: str = "keep-alive") -> bytes:
    """Return *data* with a comment before each event, which is no fault at all."""
    said = b": " + comment.encode() + 2 * _newline(data)
    body = data.removeprefix(BOM)
    blocks = [said + match[0] for match in BLOCK.finditer(body) if match[0]]
    return data[: len(data) - len(body)] + b"".join(blocks)


# -- JSON that is wrong --------------------------------------------------------------


def _with_padding(data: bytes, at: int, value: bytes) -> bytes:
    """Return *data* with *value* in event *at*, in a field that is padding and dropped."""
    return _inserted(data, _span(data, at)[0] + 1, b'"p":' + value + b",")


def bad_json(data: bytes, at: int) -> bytes:
    """Return *data* with a payload in event *at* that is no JSON, and not for being cut."""
    return _inserted(data, _span(data, at)[0] + 1, b"oops ")


def bad_number(data: bytes, at: int) -> bytes:
    """Return *data* with NaN in event *at*."""
    return _with_padding(data, at, b"NaN")


def control_character(data: bytes, at: int) -> bytes:
    """Return *data* with a raw control character in a string of event *at*."""
    return _with_padding(data, at, b'"\x01"')


def invalid_utf8(data: bytes, at: int) -> bytes:
    """Return *data* with a byte in event *at* that is no UTF-8."""
    return _with_padding(data, at, b'"\xff"')


def trailing_garbage(data: bytes, at: int) -> bytes:
    """Return *data* with text after the payload of event *at*."""
    return _inserted(data, len(data[: _span(data, at)[1]].rstrip(b"\r\n")), b" oops")
