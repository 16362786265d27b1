"""
What can be wrong with a stream, by name, and what is to be reported: `FAULTS`.

A table for tests that are run once for each fault.  Each row says what streamkit
makes of it, so that a program can be held to as much.
"""

from __future__ import annotations

import gzip

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from . import _byte_faults as in_bytes
from . import _chunk_faults as in_chunks
from ._fault import Break, Fault
from ._to_sse import to_sse


__all__ = ["FAULTS"]

CUT: Final = frozenset({"done_missing", "finish_missing"})
# What mixed up pieces of calls and of log probabilities can look like.
MIXED: Final = frozenset(
    {"arguments_repeated", "index_reused", "text_offset_order", "tool_call_id_changed"}
)
TEXT: Final = frozenset({"unframed_text"})
GARBAGE: Final = frozenset(
    {"bad_json", "bare_json", "cut_value", "not_a_chunk", "trailing_garbage", "unframed_text"}
)
HTML: Final = b"<!DOCTYPE html>\n<html><body><h1>502 Bad Gateway</h1></body></html>\n"
REFUSED: Final = b'{"error": {"message": "Rate limit reached", "type": "rate_limit", "code": 429}}'
FINAL: Final = (
    b'{"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", '
    b'"content": "Hi"}, "finish_reason": "stop"}]}'
)


def _place(chunks: Sequence[Any], at: int | None) -> int:
    if at is None:
        return in_chunks.open_place(chunks)
    in_chunks.check_place(chunks, at)
    return at


def _chunks(change: Callable[[Sequence[Any], int], list[Any]], *, done: bool = True) -> Break:
    """Return what breaks chunks at one place by *change*, and writes them."""

    def broken(chunks: Sequence[Any], at: int | None, options: Mapping[str, Any]) -> bytes:
        wanted = {**options, "done": done and options["done"]}
        return to_sse(change(chunks, _place(chunks, at)), **wanted)

    return broken


def _all_chunks(change: Callable[[Sequence[Any]], list[Any]]) -> Break:
    return lambda chunks, _, options: to_sse(change(chunks), **options)


def _bytes(change: Callable[[bytes, int], bytes]) -> Break:
    """Return what writes chunks, and breaks the bytes at one place by *change*."""
    return lambda chunks, at, options: change(to_sse(chunks, **options), _place(chunks, at))


def _next(change: Callable[[bytes, int], bytes]) -> Callable[[bytes, int], bytes]:
    return lambda data, at: change(data, at + 1)


def _all_bytes(change: Callable[[bytes], bytes]) -> Break:
    return lambda chunks, _, options: change(to_sse(chunks, **options))


def _body(body: bytes) -> Break:
    return lambda *_: body


def _fault(name: str, what: str, broken: Break, *issues: str, **facts: Any) -> Fault:
    return Fault(name=name, what=what, issues=frozenset(issues), make=broken, **facts)


def _event_of_text(chunks: Sequence[Any], at: int) -> list[Any]:
    return in_chunks.error_event(chunks, at, "overloaded, try again")


def _ping(chunks: Sequence[Any], at: int) -> list[Any]:
    return in_chunks.add_chunk(chunks, at, {"type": "ping"})


def _stranger(chunks: Sequence[Any], at: int) -> list[Any]:
    return in_chunks.add_chunk(chunks, at, {"x": 1})


_ROWS = (
    # What is no fault, though parsers break on it.
    _fault("none", "Nothing is wrong.", _all_bytes(lambda data: data), whole=True),
    _fault("bom", "A byte order mark comes first.", _all_bytes(in_bytes.add_bom), whole=True),
    _fault(
        "comments", "A comment before each event.", _all_bytes(in_bytes.add_comments), whole=True
    ),
    _fault("ping", "A payload that is a sign of life.", _chunks(_ping), whole=True),
    _fault(
        "role_repeated", "The role in each delta.", _all_chunks(in_chunks.repeat_roles), whole=True
    ),
    # Cut.
    _fault(
        "cut_after",
        "The stream ends between two events.",
        _bytes(in_bytes.cut_after),
        *CUT,
        complete=False,
    ),
    _fault(
        "cut_inside",
        "The stream ends inside an event.",
        _bytes(_next(in_bytes.cut_inside)),
        *CUT,
        "cut_value",
        complete=False,
    ),
    _fault(
        "done_missing", "No `[DONE]`.", _all_bytes(in_bytes.drop_done), "done_missing", whole=True
    ),
    _fault(
        "finish_missing",
        "No choice says why it ends.",
        _all_chunks(in_chunks.drop_finish_reasons),
        "finish_missing",
    ),
    _fault("empty", "No bytes at all.", _body(b""), "empty_stream", complete=False, empty=True),
    # The server says so.
    _fault(
        "error_chunk",
        "An error payload, and the end.",
        _chunks(in_chunks.error_chunk, done=False),
        *CUT,
        complete=False,
        error="upstream_error",
    ),
    _fault(
        "error_then_done",
        "An error payload, then `[DONE]`.",
        _chunks(in_chunks.error_chunk),
        "finish_missing",
        complete=False,
        error="upstream_error",
    ),
    _fault(
        "error_event",
        "An event of type `error`, and the end.",
        _chunks(in_chunks.error_event, done=False),
        *CUT,
        complete=False,
        error="upstream_error",
    ),
    _fault(
        "error_text",
        "An event of type `error` whose data is no JSON.",
        _chunks(_event_of_text, done=False),
        *CUT,
        "non_json_error",
        complete=False,
        error="upstream_error",
    ),
    _fault(
        "error_body",
        "An error in JSON instead of a stream.",
        _body(REFUSED),
        "empty_stream",
        "bare_json",
        complete=False,
        error="upstream_error",
        empty=True,
    ),
    _fault(
        "html_body",
        "A page instead of a stream.",
        _body(HTML),
        "html_body",
        "empty_stream",
        may=TEXT,
        complete=False,
        empty=True,
    ),
    _fault(
        "final_body",
        "A whole response instead of a stream.",
        _body(FINAL),
        "already_final",
        "bare_json",
    ),
    _fault(
        "gzip_body",
        "Bytes that nobody decompressed.",
        _all_bytes(lambda data: gzip.compress(data, mtime=0)),
        "compressed_body",
        "empty_stream",
        may=GARBAGE,
        complete=False,
        empty=True,
    ),
    # Chunks lost, doubled, out of order: nothing tells.
    _fault(
        "chunk_dropped", "A chunk is lost; nothing tells.", _chunks(in_chunks.drop_chunk), may=MIXED
    ),
    _fault(
        "chunk_twice",
        "A chunk comes twice; nothing tells.",
        _chunks(in_chunks.duplicate_chunk),
        may=MIXED,
    ),
    _fault(
        "chunks_swapped",
        "Two chunks change places; nothing tells.",
        _chunks(in_chunks.swap_chunks),
        may=MIXED,
    ),
    # Fields.
    _fault(
        "index_missing", "Choices have no index.", _all_chunks(in_chunks.drop_indexes), may=MIXED
    ),
    _fault("index_negative", "An index is -1.", _chunks(in_chunks.spoil_index), "index_range"),
    _fault(
        "id_changes",
        "Each chunk has an id of its own.",
        _all_chunks(in_chunks.change_ids),
        "id_changed",
    ),
    _fault(
        "model_changes", "The model changes.", _chunks(in_chunks.change_models), "model_changed"
    ),
    _fault(
        "role_changes",
        "The role changes.",
        _all_chunks(in_chunks.change_roles),
        "role_changed",
        whole=True,
        chat_only=True,
    ),
    _fault(
        "no_chunk", "A payload that is no chunk.", _chunks(_stranger), "not_a_chunk", whole=True
    ),
    # Framing.
    _fault(
        "events_glued",
        "Two events on one line.",
        _bytes(in_bytes.glue_events),
        "glued_events",
        "concatenated_json",
        whole=True,
    ),
    _fault(
        "json_concatenated",
        "Two payloads in one event.",
        _bytes(in_bytes.concatenate_json),
        "concatenated_json",
        whole=True,
    ),
    _fault(
        "one_newline",
        "No blank line between two events.",
        _bytes(in_bytes.one_newline),
        "missing_blank_line",
        whole=True,
    ),
    _fault(
        "double_prefix",
        "`data:` twice.",
        _bytes(in_bytes.double_prefix),
        "double_prefix",
        whole=True,
    ),
    _fault(
        "indented",
        "A blank before a field.",
        _bytes(in_bytes.indent_field),
        "field_whitespace",
        whole=True,
    ),
    _fault(
        "late_bom",
        "A byte order mark inside.",
        _bytes(_next(in_bytes.late_bom)),
        "late_bom",
        whole=True,
    ),
    _fault(
        "bare_lines",
        "JSON lines, not events.",
        _all_bytes(in_bytes.bare_lines),
        "bare_json",
        "done_missing",
        whole=True,
    ),
    _fault(
        "data_after_done",
        "A payload after `[DONE]`.",
        _all_bytes(in_bytes.add_data_after_done),
        "data_after_done",
        whole=True,
    ),
    # JSON.
    _fault("bad_json", "A payload is no JSON.", _bytes(in_bytes.bad_json), "bad_json", may=MIXED),
    _fault("bad_number", "A number is NaN.", _bytes(in_bytes.bad_number), "bad_number", whole=True),
    _fault(
        "control_character",
        "A raw control character in a string.",
        _bytes(in_bytes.control_character),
        "control_character",
        whole=True,
    ),
    _fault(
        "invalid_utf8",
        "A byte that is no UTF-8.",
        _bytes(in_bytes.invalid_utf8),
        "invalid_utf8",
        whole=True,
    ),
    _fault(
        "trailing_garbage",
        "Text after a payload.",
        _bytes(in_bytes.trailing_garbage),
        "trailing_garbage",
        whole=True,
    ),
)

FAULTS: Mapping[str, Fault] = MappingProxyType({row.name: row for row in _ROWS})
"""The faults by name.  Rows hold for `streamkit.rebuild`, lenient, of any stream whose
choices are all finished and go on over more than one chunk."""
