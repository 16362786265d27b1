from __future__ import annotations

import pytest

from streamkit import Limits, rebuild_all
from streamkit._payloads import DONE
from streamkit.cli._adds import LOST, Addition, additions, payload_kind
from streamkit.recordings._pieces import Piece

from .helpers import CUT, FAILED, GLUED, WHOLE, chunk, sse
from .timed import event, trace


@pytest.mark.parametrize("data", [WHOLE, CUT, FAILED, GLUED, WHOLE + CUT, b"", b"hello\n"])
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_same_as_rebuild(data, size):
    """Tracing changes no outcome, however the bytes come."""
    pieces = [Piece(data[at : at + size]) for at in range(0, len(data), size)]
    _, streams = trace(pieces)
    wanted = list(rebuild_all(data))
    assert [stream.outcome.response for stream in streams] == [one.response for one in wanted]
    assert [dict(stream.outcome.issue_counts) for stream in streams] == [
        dict(one.issue_counts) for one in wanted
    ]
    assert [stream.status for stream in streams] == [int(not one.complete) for one in wanted]


def test_offsets_and_sizes():
    """Rows tile the body."""
    rows, (stream,) = trace([Piece(WHOLE[:30]), Piece(WHOLE[30:])])
    assert rows[0].offset == 0
    assert [row.offset + row.size for row in rows] == [
        *(row.offset for row in rows[1:]),
        len(WHOLE),
    ]
    assert rows[-1].value is DONE
    assert stream.size == rows[-1].offset


def test_time_is_that_of_the_line():
    """A payload is given out late where blank lines lack; its time is its own."""
    lines = sse(*(chunk(content=str(n)) for n in range(4)), done=False).replace(b"\n\n", b"\n")
    pieces = [Piece(line, float(n)) for n, line in enumerate(lines.splitlines(keepends=True), 1000)]
    rows, (stream,) = trace(pieces)
    assert [row.time for row in rows] == [1000, 1001, 1002, 1003]
    assert [*stream.times] == [1000, 1001, 1002, 1003]
    assert stream.outcome.timing.gap_max == 1


def test_time_of_what_spans_pieces():
    """An event is there when its last byte is; also one without an end."""
    rows, _ = trace([Piece(WHOLE[:9], 1000.0), Piece(WHOLE[9:-2], 1001.0), Piece(b"\n\n", 1005.0)])
    assert [row.time for row in rows] == [1001.0, 1001.0, 1005.0]
    rows, _ = trace([Piece(b'{"choices":[{"ind', 1.0), Piece(b'ex":0,"text":"a"}]}', 2.0)])
    assert [row.time for row in rows] == [2.0]


def test_start():
    """An empty first piece says when the request was sent."""
    pieces = [Piece(b"", 1e9), event(chunk(content="a", finish="stop"), 1e9 + 2)]
    _, (stream,) = trace(pieces)
    assert stream.started == 1e9
    assert stream.outcome.timing.first_chunk == 2


def test_wrong_clock_is_an_issue():
    """Of the outcome; it is known when the rows are out."""
    pieces = [event(chunk(content="a"), 1e9), event(chunk(finish="stop"), 1e9 - 5), event("[DONE]")]
    rows, (stream,) = trace(pieces)
    assert stream.outcome.complete
    assert stream.outcome.issue_counts == {"clock_backwards": 1}
    assert stream.outcome.issues[0].event == 1
    assert [(issue.code, issue.event) for issue in stream.late] == [("clock_backwards", 1)]
    assert not any(row.issues for row in rows)


def test_clock_issue_without_an_event():
    """One that is of no chunk in particular stays so."""
    _, (stream,) = trace([event(chunk(content="a", finish="stop"), 1e9)] * 3)
    issue = next(issue for issue in stream.outcome.issues if issue.code == "clock_stands")
    assert issue.event is None


def test_lost_payloads_have_rows():
    """Where they were, in order."""
    data = b'data: {"choices": [oops\n\n' + WHOLE + b"data: {broken\n\n" + b'data: {"choices": [1'
    rows, _ = trace([Piece(data[at : at + 11]) for at in range(0, len(data), 11)])
    assert [payload_kind(row.value) for row in rows] == [
        "lost",
        "chunk",
        "chunk",
        "done",
        "lost",
        "lost",
    ]
    assert [row.offset for row in rows] == sorted(row.offset for row in rows)
    assert all(row.issues for row in rows if row.value is LOST)


def test_issues_of_merging():
    """They are of the row that they came with."""
    rows, _ = trace([event(chunk(content="a")), event(chunk("other", content="b"))])
    assert [[issue.code for issue in row.issues] for row in rows] == [[], ["id_changed"]]


def test_rows_forget_payloads():
    """Unless they are to be kept, they do not outlive their turn."""
    from streamkit.cli._trace import Tracer

    items = list(Tracer().run([Piece(WHOLE)]))
    assert all(item.value is None for item in items[:-1])


def test_limits():
    """A bound ends the trace, with what there was."""
    rows, (stream,) = trace([Piece(WHOLE + b"data: " + b"x" * 999)], limits=Limits(line=500))
    assert stream.outcome.error.code == "limit_exceeded"
    assert len(rows) == 3
    _, (stream,) = trace([Piece(WHOLE)], limits=Limits(chunks=1))
    assert stream.outcome.error.code == "limit_exceeded"


def test_interleaved_streams():
    """Rows are in the order of the body, and each stream has its own."""
    parts = [chunk(f"chatcmpl-{n % 2}", content=str(n)) for n in range(6)]
    rows, streams = trace([event(part, 1e9 + n) for n, part in enumerate(parts)])
    assert [row.number for row in rows] == list(range(6))
    assert [stream.number for stream in streams] == [1, 2]
    assert [[row.number for row in stream.rows] for stream in streams] == [[0, 2, 4], [1, 3, 5]]


# -- What a payload adds -------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (DONE, "done"),
        (LOST, "lost"),
        (7, "no object"),
        ({"error": {}}, "error"),
        ({"type": "ping"}, "ping"),
        ({"choices": [{"index": 0, "delta": {}}]}, "chunk"),
        ({"object": "chat.completion", "choices": [{"message": {}}]}, "final"),
        ({"choices": [], "usage": {"a": 1}}, "usage"),
        ({"choices": []}, "chunk"),
        ({"type": "response.created"}, "other"),
    ],
)
def test_kinds(payload, kind):
    """A word for each."""
    assert payload_kind(payload) == kind


@pytest.mark.parametrize(
    ("payload", "found"),
    [
        (DONE, []),
        (LOST, []),
        ([1], [Addition("value", [1])]),
        ({"error": "no", "choices": 3}, [Addition("error", "no")]),
        ({"usage": {"a": 1}}, [Addition("usage", {"a": 1})]),
        ({"choices": [{"text": "a"}]}, [Addition("text", "a", 0)]),
        (
            {"choices": [{"index": 2, "finish_reason": "stop"}]},
            [Addition("finish_reason", "stop", 2)],
        ),
        ({"choices": [{"message": {"content": "a"}}]}, [Addition("content", "a", 0)]),
        (
            {"choices": [{"delta": {"role": "assistant", "content": ""}}]},
            [Addition("role", "assistant", 0)],
        ),
        ({"choices": [{"delta": 5, "logprobs": 3}]}, []),
        (
            {"choices": [{"logprobs": {"content": [1], "tokens": "x"}}]},
            [Addition("logprobs", 1, 0)],
        ),
        (
            {
                "choices": [
                    {"delta": {"tool_calls": [{"function": {"name": "f", "arguments": ""}}, 1]}}
                ]
            },
            [Addition("tool 0 name", "f", 0)],
        ),
        (
            {"choices": [{"delta": {"tool_calls": [{"index": 1, "custom": {"input": "i"}}]}}]},
            [Addition("tool 1 input", "i", 0)],
        ),
        (
            {"choices": [{"delta": {"tool_calls": [{"function": {"name": n}} for n in "fg"]}}]},
            [Addition("tool 0 name", "f", 0), Addition("tool 1 name", "g", 0)],
        ),
    ],
)
def test_additions(payload, found):
    """What is empty adds nothing."""
    assert list(additions(payload)) == found
