"""
Faults: what can go wrong with a stream, one function each, and a table of them.

`FAULTS` has them by name, each with what is to be reported: made for
`pytest.mark.parametrize`.  The functions take what they break, chunks or bytes, and
return it broken; the caller's is never changed.
"""

from __future__ import annotations

from ._byte_faults import (
    add_bom,
    add_comments,
    add_data_after_done,
    bad_json,
    bad_number,
    bare_lines,
    concatenate_json,
    control_character,
    cut_after,
    cut_bytes,
    cut_inside,
    double_prefix,
    drop_done,
    glue_events,
    indent_field,
    invalid_utf8,
    late_bom,
    one_newline,
    trailing_garbage,
)
from ._chunk_faults import (
    add_chunk,
    change_ids,
    change_models,
    change_roles,
    cut_chunks,
    drop_chunk,
    drop_finish_reasons,
    drop_indexes,
    duplicate_chunk,
    error_chunk,
    error_event,
    open_place,
    repeat_roles,
    spoil_index,
    swap_chunks,
)
from ._faults import FAULTS, Fault


__all__ = [
    "FAULTS",
    "Fault",
    "add_bom",
    "add_chunk",
    "add_comments",
    "add_data_after_done",
    "bad_json",
    "bad_number",
    "bare_lines",
    "change_ids",
    "change_models",
    "change_roles",
    "concatenate_json",
    "control_character",
    "cut_after",
    "cut_bytes",
    "cut_chunks",
    "cut_inside",
    "double_prefix",
    "drop_chunk",
    "drop_done",
    "drop_finish_reasons",
    "drop_indexes",
    "duplicate_chunk",
    "error_chunk",
    "error_event",
    "glue_events",
    "indent_field",
    "invalid_utf8",
    "late_bom",
    "one_newline",
    "open_place",
    "repeat_roles",
    "spoil_index",
    "swap_chunks",
    "trailing_garbage",
]
