"""Every form, and which of them a recording is in."""

from __future__ import annotations

import re

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from streamkit._errors import UnknownForm

from . import (
    _csv,
    _curl,
    _curl_trace,
    _curl_verbose,
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


__all__ = ["FORMS", "HEAD", "form_named", "sniff"]

# How much of a recording is looked at, in bytes.
HEAD = 1 << 16

PLAIN = re.compile(rb"(?:\xef\xbb\xbf)?[ \t]*(?:(?:data|event|id|retry|error)[ \t]*:|:|[{\[])")


def _looks_plain(head: bytes) -> int:
    """Tell whether the first line is one of server-sent events, or of JSON."""
    return 50 if PLAIN.match(head.lstrip()) else 1


def _read_plain(blocks: Iterator[bytes], _: ReadOptions) -> Iterator[Recording]:
    """Hand the bytes on: the framing reads these forms as they are."""
    yield Recording(pieces=map(Piece, blocks))


_PLAIN = tuple(
    Form(name=name, title=title, looks=_looks_plain, read=_read_plain)
    for name, title in (
        ("sse", "server-sent events, in any framing"),
        ("json", "JSON: chunks one after another, an array, or a whole response"),
        ("jsonl", "JSON lines of chunks"),
    )
)
_ROOMS = (
    _csv,
    _curl,
    _curl_trace,
    _curl_verbose,
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


def sniff(data: bytes) -> Form:
    """
    Return the form that *data*, the start of a recording, looks like.

    Args:
        data: Its first bytes, unwrapped; not more than 64 KiB are looked at.

    >>> sniff(b'data: {"choices": []}').name
    'sse'
    >>> sniff(b'{"log": {"entries": [{"response": {"content": {}}}], "version": "1.2"}}').name
    'har'
    """
    head = data[:HEAD]
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
