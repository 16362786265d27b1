"""
HAR, as browsers, mitmproxy and Playwright export it.

The file is one JSON value that may be far larger than memory: its entries are
cut out one by one.  Of an entry, only the response body and the times of its
events are used; headers and request bodies are not looked at, but for the type.

The text of the response is what came over the wire.  Chrome also keeps the
events that it made of it, with times: their times go to the events of the text,
and they stand in for the text where it is missing.
"""

from __future__ import annotations

import re

from collections.abc import Iterator
from typing import Any

from streamkit._errors import UnknownForm, amount
from streamkit._issues import Issue
from streamkit._json import Decoder
from streamkit._timing import LONGEST_WAIT

from ._binary import from_text, is_binary_text
from ._bodies import (
    STREAMED_THROUGH,
    as_dict,
    base64_bytes,
    body_recording,
    exchange_name,
    fits,
    header,
    undone,
)
from ._elements import CutShort, after, cut_recording, decoded, objects, of_cut
from ._mojibake import FIXED, fix_mojibake, looks_like_mojibake
from ._pieces import Form, Piece, ReadOptions, Recording
from ._row_values import json_of, seconds


__all__ = ["FORMS"]

LOG = re.compile(rb'\s*\{\s*"log"\s*:\s*\{')
ENTRIES = re.compile(rb'"entries"\s*:\s*\[')
STARTED = re.compile(rb'"startedDateTime"\s*:')
CREATOR = re.compile(rb'"creator"\s*:\s*\{[^{}]*?"name"\s*:\s*"([^"\\]{0,200})"')
# The end of an event: two line ends, of which CR LF is one.
EVENT_END = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2,}")
DATA_LINE = re.compile(rb"(?:\A|[\r\n])(?:\xef\xbb\xbf)?data(?:[:\r\n]|\Z)")
SURROGATES = "surrogatepass"
# Chrome's name for its events, and the one that others gave theirs.
MESSAGES = ("_eventSourceMessages", "_eventStreamMessages")

ADVICE = {
    "mitmproxy": STREAMED_THROUGH,
    "playwright": "record with `recordHar: { content: 'embed' }`; 'omit' drops bodies, and "
    "'attach' keeps them in files beside the HAR, which can be read as they are",
    "firefox": "set `devtools.netmonitor.har.includeResponseBodies`, and export before the tab "
    "is closed",
    "webinspector": "in DevTools, allow HAR with sensitive data (Settings, Preferences, Network), "
    "and choose 'Export HAR (with sensitive data)'; keep the panel open while the stream runs",
}
OTHER_ADVICE = "export with response bodies ('with content', 'with sensitive data')"


def _looks(head: bytes) -> int:
    if not LOG.match(head):
        return 80 if ENTRIES.search(head) and STARTED.search(head) and head[:1] == b"{" else 0
    return 95 if CREATOR.search(head) or ENTRIES.search(head) else 50


def _read(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    head, rest = after(blocks, ENTRIES, options.limits)
    creator = CREATOR.search(head)
    advice = _advice(creator[1].decode("utf-8", "replace") if creator else "")
    decoder = Decoder(limits=options.limits)
    number = found = 0

    def read(raw: bytes) -> Recording | None:
        nonlocal number
        number += 1
        return _entry(decoded(raw, decoder, f"entry {number}"), number, advice, options)

    # Of a large entry no more is held than what is given out: map forgets the rest.
    entries = objects(blocks, options.limits, rest=rest, in_list=True)
    try:
        for recording in map(read, entries):
            if recording is not None:
                found += 1
                yield recording
    except CutShort as cut:
        last = _entry(of_cut(cut.rest, decoder), number + 1, advice, options)
        if last is None and not found:
            raise
        yield cut_recording(last, f"entry {number + 1}", cut)
        return
    if not found:
        raise UnknownForm(
            f"the HAR has {amount(number, 'entry')}, and no event stream or completion"
        )


def _advice(creator: str) -> str:
    name = creator.lower()
    return next((advice for mark, advice in ADVICE.items() if mark in name), OTHER_ADVICE)


def _entry(entry: Any, number: int, advice: str, options: ReadOptions) -> Recording | None:
    """Return the recording of *entry*, or None if its response is of another kind."""
    entry = as_dict(entry)
    request, response = as_dict(entry.get("request")), as_dict(entry.get("response"))
    content = as_dict(response.get("content"))
    name, path = exchange_name(number, "entry", request.get("method"), request.get("url"))
    kind = content.get("mimeType")
    if not isinstance(kind, str) or not kind:
        kind = header(response.get("headers"), "content-type")
    encoding = header(response.get("headers"), "content-encoding")
    body, notes = _body(content, encoding, options)
    if not fits(kind, body, path):
        return None
    place = f"entry {number}"
    pieces, more = _pieces(body, _messages(entry), place)
    pieces = [*_sent(entry.get("startedDateTime"), pieces, place), *pieces]
    if not pieces and not notes:
        notes = (Issue("missing_body", f"the HAR has no body for this response; {advice}"),)
    return body_recording(name, pieces, notes=(*notes, *more))


def _sent(started: Any, pieces: list[Piece], place: str) -> list[Piece]:
    """Return the piece that says when the request was sent, if that fits the times of *pieces*."""
    sent = seconds(started)
    first = next((piece.time for piece in pieces if piece.time is not None), None)
    if sent is None or first is None or not 0 <= first - sent < LONGEST_WAIT:
        return []
    return [Piece(b"", sent, place)]


def _messages(entry: dict[str, Any]) -> list[dict[str, Any]]:
    lists = [entry[name] for name in MESSAGES if isinstance(entry.get(name), list)]
    return [as_dict(item) for item in next(filter(None, lists), ())]


def _body(
    content: dict[str, Any], encoding: str, options: ReadOptions
) -> tuple[bytes, tuple[Issue, ...]]:
    """Return the body that *content* holds, and what is to be said about it."""
    text = content.get("text")
    if not isinstance(text, str):
        return b"", ()
    raw, notes = _binary(content, text)
    if raw is not None:
        body, more = undone(raw, encoding, options.limits)
        return body, (*notes, *more)
    if not looks_like_mojibake(text):
        return text.encode("utf-8", SURROGATES), ()
    if options.fix_mojibake:
        return fix_mojibake(text), (FIXED,)
    note = Issue(
        "mojibake",
        "the text seems to be UTF-8 read as Latin-1; it was left as it is "
        "(fix_mojibake puts it right)",
    )
    return text.encode("utf-8", SURROGATES), (note,)


def _binary(content: dict[str, Any], text: str) -> tuple[bytes | None, tuple[Issue, ...]]:
    """Return the bytes that *text* is the base64 of, or of whose parts it is a list (Polly.js)."""
    parts = json_of(text) if text.startswith('["') else None
    is_base64 = str(content.get("encoding")).lower() == "base64"
    if isinstance(parts, list) and (is_base64 or is_binary_text(parts[0])):
        data = from_text(parts)
        if data is not None:
            return data, ()
    if is_base64:
        return base64_bytes(text)
    return None, ()


def _pieces(
    body: bytes, messages: list[dict[str, Any]], place: str
) -> tuple[list[Piece], tuple[Issue, ...]]:
    """Return the pieces of *body* with the times of *messages*, or those of *messages* alone."""
    times = [_time(message) for message in messages]
    if not body:
        texts = [message.get("data") for message in messages]
        if not all(isinstance(text, str) for text in texts):
            return [], ()
        events = [_event(message) for message in messages]
        return [Piece(*pair, place) for pair in zip(events, times, strict=True)], ()
    events = _events(body) if messages else [body]
    have_data = [event.startswith(b"data:") or bool(DATA_LINE.search(event)) for event in events]
    if messages and sum(have_data) < len(messages):
        note = Issue("uneven_times", "there are more times than events; they were left out")
        return [Piece(body, None, place)], (note,)
    left = iter(times)
    return [
        Piece(event, next(left, None) if has_data else None, place)
        for event, has_data in zip(events, have_data, strict=True)
    ], ()


def _time(message: dict[str, Any]) -> float | None:
    time = message.get("time")
    return float(time) if isinstance(time, (int, float)) else None


def _event(message: dict[str, Any]) -> bytes:
    """Return *message* as it must have come over the wire."""
    lines = [f"data: {line}" for line in re.split(r"\r\n|\n|\r", message["data"])]
    name, identity = message.get("eventName"), message.get("eventId")
    if isinstance(identity, str) and identity:
        lines.insert(0, f"id: {identity}")
    if isinstance(name, str) and name not in ("", "message"):
        lines.insert(0, f"event: {name}")
    return ("\n".join(lines) + "\n\n").encode("utf-8", SURROGATES)


def _events(body: bytes) -> list[bytes]:
    """Return *body* cut after each blank line."""
    if b"\r" not in body and b"\n\n\n" not in body:  # the same, and sooner
        *events, last = body.split(b"\n\n")
        return [event + b"\n\n" for event in events] + ([last] if last else [])
    cuts = [0, *(end.end() for end in EVENT_END.finditer(body))]
    events = [body[start:end] for start, end in zip(cuts, [*cuts[1:], len(body)], strict=True)]
    return [event for event in events if event]


FORMS = (
    Form(name="har", title="HAR, an export of a browser or a proxy", looks=_looks, read=_read),
)
