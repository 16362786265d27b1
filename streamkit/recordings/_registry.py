"""Every form, and which of them a recording is in."""

from __future__ import annotations

import re

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from streamkit._errors import UnknownForm
from streamkit._json import BadJSON, Decoder
from streamkit._limits import NO_LIMITS
from streamkit._rebuild import Source, source_blocks

from . import (
    _csv,
    _curl,
    _curl_trace,
    _curl_verbose,
    _escaped,
    _har,
    _lines,
    _mitm,
    _parquet,
    _paste,
    _python,
    _refused,
    _rows,
    _vcr,
)
from ._pieces import Form, Piece, ReadOptions, Recording
from ._wrappers import peel


__all__ = ["FORMS", "HEAD", "form_named", "form_of", "sniff"]

# How much of a recording is looked at, in bytes.
HEAD = 1 << 16

# Events of chunks, plainly so: what is kept in no other form starts like this, and looking
# for all of them takes longer than reading a stream.
PLAIN_EVENTS = re.compile(
    rb'data: ?\{(?>"[^\r\n]{0,4096}?"choices")[^\r\n]*+(?<=\})(\r?\n)\1data: ?[\[{]'
)
EVENTS = re.compile(rb"(?:\xef\xbb\xbf)?[ \t]*(?:(?:data|event|id|retry|error)[ \t]*:|:)")
JSON = re.compile(rb"(?:\xef\xbb\xbf)?[ \t]*[{\[]")
# What starts like the form, and what only the framing can tell anything of.
PLAIN_SCORE, LEAST_SCORE = 50, 1


def _looks_like_events(head: bytes) -> int:
    """Tell whether the first line is one of server-sent events; if nothing fits, they may be."""
    return PLAIN_SCORE if EVENTS.match(head.lstrip()) else LEAST_SCORE


def _looks_like_json(head: bytes) -> int:
    return PLAIN_SCORE if JSON.match(head.lstrip()) and not _has_json_lines(head) else 0


def _looks_like_json_lines(head: bytes) -> int:
    return PLAIN_SCORE if _has_json_lines(head) else 0


def _has_json_lines(head: bytes) -> bool:
    """Tell whether two lines, or more, are JSON values each: the second may be cut."""
    lines = [line for line in head.split(b"\n") if not line.isspace() and line]
    return len(lines) > 1 and all(map(JSON.match, lines[:2])) and _is_json(lines[0])


def _is_json(line: bytes) -> bool:
    try:
        Decoder("json", NO_LIMITS).whole(line.strip())
    except BadJSON:
        return False
    return True


def _read_plain(blocks: Iterator[bytes], _: ReadOptions) -> Iterator[Recording]:
    """Hand the bytes on: the framing reads these forms as they are."""
    yield Recording(pieces=map(Piece, blocks))


_PLAIN = tuple(
    Form(name=name, title=title, looks=looks, read=_read_plain)
    for name, title, looks in (
        ("sse", "server-sent events, in any framing", _looks_like_events),
        (
            "json",
            "JSON: chunks one after another, an array, or a whole response",
            _looks_like_json,
        ),
        ("jsonl", "JSON lines of chunks", _looks_like_json_lines),
    )
)
_ROOMS = (
    _csv,
    _curl,
    _curl_trace,
    _curl_verbose,
    _escaped,
    _har,
    _lines,
    _mitm,
    _parquet,
    _paste,
    _python,
    _refused,
    _rows,
    _vcr,
)

FORMS: Mapping[str, Form] = MappingProxyType(
    {form.name: form for form in (*_PLAIN, *(form for room in _ROOMS for form in room.FORMS))}
)
"""The forms by name; the first three are read by the core itself."""


def sniff(source: Source) -> Form:
    """
    Return the form that *source*, a recording or the start of one, looks like.

    What looks like no form at all is `sse`: the framing then says what it skips.

    Args:
        source: As for `read`; not more than 64 KiB are looked at, and a file stands
            behind what was read of it.  Compression and UTF-16 come off first.

    Raises:
        OSError: If a path or a file cannot be read.

    >>> sniff(b'data: {"choices": []}').name
    'sse'
    >>> sniff(b'{"log": {"entries": [{"response": {"content": {}}}], "version": "1.2"}}').name
    'har'
    """
    raw = _start_of(source_blocks(source))
    try:
        head = _start_of(peel([raw], NO_LIMITS).blocks)
    except UnknownForm:  # the compression: what is inside is not known
        head = b""
    return form_of(head)


def _start_of(blocks: Iterator[bytes]) -> bytes:
    head = b""
    for block in blocks:
        head += block
        if len(head) >= HEAD:
            break
    return head[:HEAD]


def form_of(head: bytes) -> Form:
    """Return the form that *head*, the start of a recording without wrappers, looks like."""
    if PLAIN_EVENTS.match(head):
        return FORMS["sse"]
    return max(FORMS.values(), key=lambda form: form.looks(head))


def form_named(name: str) -> Form:
    """
    Return the form called *name*.

    Raises:
        UnknownForm: If there is none.
    """
    if name not in FORMS:
        raise UnknownForm(f"form must be auto, {', '.join(FORMS)}, not {name!r}")
    return FORMS[name]
