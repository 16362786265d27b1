"""
Faults: what can go wrong with a stream, one function each, and tables of them.

`FAULTS` has those of chunks and bytes by name, each with what is to be reported;
`TRANSPORT_FAULTS` those of the transport, each with what a client sees;
`STREAM_FAULTS` all of them, to be played by a server: made for
`pytest.mark.parametrize`.  The functions take what they break, chunks, bytes or a
`Playback`, and return it broken; the caller's is never changed.
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
from ._fault import Fault
from ._fault_matrix import STREAM_FAULTS, StreamFault
from ._faults import FAULTS
from ._playback_faults import (
    TRANSPORT_FAULTS,
    TransportFault,
    cut_transfer,
    gzipped,
    keep_alives,
    rate_limited,
    reset,
    server_error,
    slow_drip,
    stall,
    wrong_content_type,
)


__all__ = [
    "FAULTS",
    "STREAM_FAULTS",
    "TRANSPORT_FAULTS",
    "Fault",
    "StreamFault",
    "TransportFault",
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
    "cut_transfer",
    "double_prefix",
    "drop_chunk",
    "drop_done",
    "drop_finish_reasons",
    "drop_indexes",
    "duplicate_chunk",
    "error_chunk",
    "error_event",
    "glue_events",
    "gzipped",
    "indent_field",
    "invalid_utf8",
    "keep_alives",
    "late_bom",
    "one_newline",
    "open_place",
    "rate_limited",
    "repeat_roles",
    "reset",
    "server_error",
    "slow_drip",
    "spoil_index",
    "stall",
    "swap_chunks",
    "trailing_garbage",
    "wrong_content_type",
]
