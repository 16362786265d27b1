"""Tests of several streams in one recording: which payload belongs to which response."""

from __future__ import annotations

import json

from itertools import pairwise

import pytest

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from streamkit import (
    Accumulator,
    InvalidChunk,
    LimitExceeded,
    Limits,
    UpstreamError,
    _streams,
    rebuild,
    rebuild_all,
)
from streamkit._errors import quote
from streamkit._open_stream import id_of, is_final, is_opening
from streamkit._state import Context
from streamkit._streams import HELD

from . import HEAD, chunk, codes, sse
from .strategies import interleaved


def say(id, content, finish=None, role=False):
    """Return a chunk of the stream *id*; an id of None is left out."""
    delta = {"role": "assistant", "content": content} if role else {"content": content}
    plain = chunk({"index": 0, "delta": delta, "finish_reason": finish}, id=id)
    return {key: value for key, value in plain.items() if value is not None}


def stream(id, *pieces, finish="stop"):
    """Return the chunks of one stream: it opens with the role, and ends with a reason."""
    return [
        say(id, pieces[0], role=True),
        *(say(id, piece) for piece in pieces[1:]),
        *([say(id, "", finish)] if finish else []),
    ]


def whole(id, content, **more):
    """Return a whole response, as a body that is not streamed."""
    message = {"role": "assistant", "content": content}
    answer = {"index": 0, "message": message, "finish_reason": "stop"}
    return {**HEAD, "id": id, "object": "chat.completion", "choices": [answer], **more}


def whole_completion(id, text):
    answer = {"index": 0, "text": text, "finish_reason": "stop"}
    return {"id": id, "object": "text_completion", "choices": [answer], "usage": {"x": 1}}


def summary(outcomes):
    """Return id, text and completeness of each outcome."""
    return [
        (
            outcome.response.id,
            "".join(
                getattr(each, "text", None) or each.message.content
                for each in outcome.response.choices
            ),
            outcome.complete,
        )
        for outcome in outcomes
    ]


def of(chunks, **options):
    return summary(rebuild_all(chunks, **options))


DONE = b"data: [DONE]\n\n"


def lines(*payloads):
    return "".join(json.dumps(payload) + "\n" for payload in payloads).encode()


# -- What a payload looks like -------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (whole("a", "x"), True),
        (whole("a", "x", object=None), True),
        ({"object": "chat.completion", "choices": []}, True),
        ({"object": "chat.completion", "choices": [{"delta": {}}]}, False),
        (whole_completion("a", "x"), True),
        ({**whole_completion("a", "x"), "usage": {}}, False),
        (whole_completion("a", ""), False),
        ({**whole_completion("a", "x"), "choices": []}, False),
        (say("a", "x", "stop"), False),
    ],
    ids=str,
)
def test_what_is_a_whole_response(payload, expected):
    """A body that is not streamed: by its object, or text, reason and usage at once."""
    assert is_final(payload) is expected


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (say("a", "x", role=True), True),
        (say("a", "x"), False),
        (say("a", "x", "stop", role=True), False),
        ({"choices": [{"text": "a"}]}, True),
        ({"choices": [{"text": ""}]}, False),
        ({"choices": [{"delta": "odd"}]}, False),
        ({"choices": []}, False),
        ({}, False),
    ],
    ids=str,
)
def test_what_opens_a_stream(payload, expected):
    """It begins something and ends nothing."""
    assert is_opening(payload) is expected


# -- After [DONE] --------------------------------------------------------------------


A, B = stream("a", "1", "2"), stream("b", "3", "4")
BOTH = [("a", "12", True), ("b", "34", True)]


def test_a_new_id_after_done_is_another_stream():
    """Back to back, in order of appearance."""
    assert of(sse(A) + sse(B)) == BOTH


def test_streams_without_ids_are_parted_by_done():
    """Where no chunk has an id, one with choices after `[DONE]` begins another stream."""
    none = [say(None, "1"), say(None, "2", "stop")]
    assert of(sse(none) + sse(none)) == [("", "12", True)] * 2


@pytest.mark.parametrize(
    "late",
    [say("a", "late"), chunk(id=None, usage={"x": 1}), {**chunk(), "id": ""}, say(None, "late")],
    ids=["same id", "usage", "empty id", "no id"],
)
def test_late_payloads_are_left_out(late):
    """A payload with the same id, or none, adds nothing after `[DONE]`, and is reported."""
    (outcome,) = rebuild_all(sse(A) + sse([late], done=False))
    assert summary([outcome]) == [BOTH[0]]
    assert codes(outcome) == ["data_after_done"]
    assert outcome.issues[0].event == 4


def test_late_payloads_without_choices_do_not_begin_a_stream():
    """Without ids, a usage chunk after `[DONE]` is late, too."""
    (outcome,) = rebuild_all(sse([say(None, "1", "stop")]) + sse([{"usage": {"x": 1}}]))
    assert codes(outcome) == ["data_after_done"]
    assert outcome.response.usage is None


def test_an_azure_stream_behind_another():
    """Azure's first chunk has an empty id; it belongs to the stream that follows it."""
    first = {"id": "", "model": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}
    outcomes = list(rebuild_all(sse([first, *A]) + sse([first, *B])))
    assert summary(outcomes) == BOTH
    for outcome in outcomes:
        assert outcome.response.extra == {"prompt_filter_results": [{"prompt_index": 0}]}
        assert codes(outcome) == []


def test_a_late_payload_before_another_stream_is_the_firsts():
    """What has no `id` at all is late; what has an empty one is early."""
    late = {"usage": {"total_tokens": 1}}
    first, second = rebuild_all(sse(A) + sse([late], done=False) + sse(B))
    assert codes(first) == ["data_after_done"]
    assert codes(second) == []
    assert summary([first, second]) == BOTH


def test_many_late_payloads_are_reported_as_they_come():
    """They are not held without bound."""
    late = [{"usage": {"total_tokens": 1}}] * (HELD + 2)
    (outcome,) = rebuild_all(sse(A) + sse(late, done=False))
    assert outcome.issue_counts["data_after_done"] == len(late)


@pytest.mark.parametrize(("count", "early"), [(HELD, True), (HELD + 1, False)])
def test_payloads_that_may_be_early_are_held(count, early):
    """As many as of any others: they are of the stream that follows, or else late."""
    payloads = [{"id": "", "choices": []}] * count
    first, second = rebuild_all(sse(A) + sse(payloads, done=False) + sse(B))
    assert first.issue_counts.get("data_after_done", 0) == (0 if early else count)
    assert second.chunks == len(B) + (count if early else 0)


def test_late_payloads_are_told():
    """What they are, and where; one with the id of the stream is not of the next."""
    late = say("a", "late")
    first, _ = rebuild_all(sse(A) + sse([late], done=False) + sse(B))
    (issue,) = first.issues
    assert (issue.code, issue.event, issue.offset) == ("data_after_done", 4, len(sse(A)))
    assert issue.message == quote(late)


@pytest.mark.parametrize("extra", [DONE, DONE + DONE], ids=["twice", "thrice"])
def test_done_may_come_again(extra):
    """More `[DONE]` changes nothing."""
    assert of(sse(A) + extra + sse(B) + extra) == BOTH


def test_done_before_any_chunk_begins_nothing():
    """A `[DONE]` at the start ends no stream."""
    assert of(DONE + sse(A)) == [BOTH[0]]


# -- Ids that interleave -------------------------------------------------------------


def zipped(*streams, done=True):
    longest = max(map(len, streams))
    rows = [each[n] for n in range(longest) for each in streams if n < len(each)]
    return sse(rows, done=False) + (DONE * len(streams) if done else b"")


def test_ids_that_interleave_are_streams():
    """A log of two requests at once: each response on its own."""
    assert of(zipped(A, B)) == BOTH
    assert of(zipped(A, B, done=False)) == BOTH
    assert of([*zip_chunks(A, B)]) == BOTH


def zip_chunks(*streams):
    for row in zip(*streams, strict=True):
        yield from row


def log(text):
    """Return the bytes of a log: `a1` is a chunk with an id and a text, `-1` has no id.

    A dot at the end is a finish, a plus says that it is of a further choice, and `|`
    is the end of a stream.
    """
    return b"".join(DONE if word == "|" else sse([row(word)], done=False) for word in text.split())


def row(word):
    finish = "stop" if word.endswith(".") else None
    choice = {"index": int("+" in word), "delta": {"content": word[1]}, "finish_reason": finish}
    id = word[0].replace("-", "")
    return {"choices": [choice], **({"id": id} if id else {})}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a1 b2 c3 d4 a5", "a15 b2 c3 d4"),
        ("a1 b2 c3 b4", "a1 b24 c3"),
        ("a1 b2 -3 b4", "a1234"),
        ("a1 b2 -3 a4", "a14 b23"),
        ("a1 b2 b3 b4", "a1234"),
        ("a1 b2 c3 a4 -5 | c6", "a145| b2 c36"),
        ("a1 b2 a3. a4 | b5. |", "a134| b25|"),
        ("a1. b2 | a3", "a13| b2"),
        ("a1 b2. c3 a4 | -5", "a145 b2| c3"),
        ("a1 b2 a3. a4+ b5. | a6+. c7 |", "a1346| b25| c7"),
    ],
)
def test_logs(text, expected):
    """Which chunk is of which stream, and which of them had its `[DONE]`."""
    outcomes = rebuild_all(log(text))
    assert expected.split() == [
        outcome.response.id
        + "".join(choice.message.content for choice in outcome.response.choices)
        + "|" * outcome.done
        for outcome in outcomes
    ]


def test_three_streams_interleave():
    """Once ids are known to interleave, a further id is a further stream."""
    c = stream("c", "5", "6")
    assert of(zipped(A, B, c)) == [*BOTH, ("c", "56", True)]


def test_done_ends_the_stream_that_has_finished():
    """While several are open, `[DONE]` belongs to one whose choices have finished."""
    a, b = stream("a", "1"), stream("b", "2", "3", "4")
    rows = [a[0], b[0], a[1]]
    data = sse(rows) + sse(b[1:])
    assert of(data) == [("a", "1", True), ("b", "234", True)]
    outcomes = list(rebuild_all(data))
    assert [outcome.done for outcome in outcomes] == [True, True]
    assert [codes(outcome) for outcome in outcomes] == [[], []]


def test_done_while_none_has_finished_ends_the_last():
    """Then it belongs to the stream that spoke last."""
    rows = [say("a", "1"), say("b", "2"), say("a", "3"), say("b", "4")]
    outcomes = list(rebuild_all(sse(rows)))
    assert summary(outcomes) == [("a", "13", False), ("b", "24", True)]
    assert [outcome.done for outcome in outcomes] == [False, True]


def test_done_is_not_of_a_stream_that_went_on():
    """A stream that had finished, and then opened another choice, is not what `[DONE]` ends."""
    more = chunk({"index": 1, "delta": {"content": "5"}}, id="a")
    rows = [say("a", "1"), say("b", "2"), say("a", "3", "stop"), say("b", "4", "stop"), more]
    outcomes = list(rebuild_all(sse(rows) + sse([say("a", "")], done=False)))
    assert [outcome.done for outcome in outcomes] == [False, True]


def test_done_is_of_the_first_that_has_finished():
    """In order of opening: the others wait for theirs."""
    rows = [
        say("a", "1"),
        say("b", "2"),
        say("a", "3"),
        say("b", "4", "stop"),
        say("a", "", "stop"),
    ]
    outcomes = list(rebuild_all(sse(rows)))
    assert [outcome.done for outcome in outcomes] == [True, False]


def test_a_long_log_is_not_searched_through(monkeypatch):
    """However many streams are open, each `[DONE]` looks at no more than a few of them."""
    asked = []
    has_finished = Accumulator.has_finished.fget
    monkeypatch.setattr(
        Accumulator, "has_finished", property(lambda it: asked.append(1) or has_finished(it))
    )
    count = 100
    opened = [say("a", "0"), say("b", "0"), say("a", "0")]
    others = [say(f"{n}", "1", "stop") for n in range(count)]
    data = sse([*opened, *others], done=False) + DONE * count
    outcomes = list(rebuild_all(data))
    assert [outcome.done for outcome in outcomes] == [False, False, *[True] * count]
    assert len(asked) < 10 * count


def test_a_chunk_without_id_belongs_to_the_stream_that_spoke_last():
    """Between interleaved chunks, too."""
    rows = [say("a", "1"), say("b", "2"), say("a", "3"), say(None, "4"), say("b", "5")]
    assert [text for _, text, _ in of(rows)] == ["134", "25"]


def test_a_chunk_without_id_after_one_done_belongs_to_an_open_stream():
    """The stream that has ended takes no more."""
    rows = [say("a", "1"), say("b", "2"), say("a", "3", "stop")]
    data = sse(rows) + sse([say(None, "4"), say("b", "5", "stop")])
    assert of(data) == [("a", "13", True), ("b", "245", True)]


def test_held_chunks_without_id_stay_in_place():
    """While it is open whether ids interleave, nothing is lost or moved."""
    rows = [say("a", "1"), say("b", "2"), say(None, "3"), say("a", "4")]
    assert [text for _, text, _ in of(rows)] == ["14", "23"]
    rows = [say("a", "1"), say("b", "2"), say(None, "3"), say("c", "4")]
    assert [text for _, text, _ in of(rows)] == ["1234"]


# -- An id for each chunk ------------------------------------------------------------


def test_an_id_for_each_chunk_is_one_stream():
    """Some gateways do that: one response with the first id, and an issue."""
    rows = [say(f"a{n}", str(n), "stop" if n == 4 else None) for n in range(5)]
    (outcome,) = rebuild_all(sse(rows))
    assert summary([outcome]) == [("a0", "01234", True)]
    assert codes(outcome) == ["id_changed"]
    assert outcome.issue_counts["id_changed"] == 4


def test_a_stream_longer_than_what_is_held():
    """After so many ids that never came back it is decided, and stays so."""
    count = HELD + 100
    rows = [say(f"a{n}", "x") for n in range(count)]
    (outcome,) = rebuild_all([*rows, say("a0", "y"), say("a1", "z", "stop")])
    assert summary([outcome]) == [("a0", "x" * count + "yz", True)]


@pytest.mark.parametrize(("count", "streams"), [(HELD - 1, HELD), (HELD, 1)])
def test_how_many_chunks_are_held(count, streams):
    """An id that comes back behind as many chunks is too late."""
    rows = [say("a", ""), *(say(f"{n}", "") for n in range(count)), say("a", "")]
    assert len(of(rows)) == streams


def test_what_is_held_is_not_searched_through(monkeypatch):
    """However many chunks are held, the id of each is asked for a few times."""
    asked = []
    monkeypatch.setattr(_streams, "id_of", lambda it: asked.append(1) or id_of(it))
    count = 500
    assert of([say(f"{n}", "1") for n in range(count)])[0][1] == "1" * count
    assert len(asked) < 10 * count


def test_ids_are_decided_anew_for_the_next_stream():
    """What one gateway does is no rule for the stream behind `[DONE]`."""
    rows = [say("x1", "1"), say("x2", "2", "stop")]
    assert of(sse(rows) + zipped(A, B)) == [("x1", "12", True), *BOTH]


# -- Back to back without [DONE] -----------------------------------------------------


@pytest.mark.parametrize("form", [list, lambda rows: lines(*rows)], ids=["chunks", "lines"])
def test_a_finished_stream_and_an_opening_chunk(form):
    """A log without `[DONE]`: a finish, then an opening chunk of another id."""
    assert of(form([*A, *B])) == BOTH


def test_an_opening_chunk_behind_a_failed_stream():
    """It ended with its error, so the next is not of it."""
    failing = {"id": "a", "error": {"message": "overloaded"}}
    assert of(lines(A[0], failing, *B)) == [("a", "1", False), BOTH[1]]


def test_an_opening_chunk_without_id_is_of_the_stream_before():
    """Only an id tells that it is another."""
    assert of([*A, say(None, "3", role=True)]) == [("a", "123", True)]


def test_an_opening_chunk_behind_an_unfinished_stream_is_held():
    """A stream that has not finished may be a gateway's: ids that never return are one."""
    rows = [*stream("a", "1", "2", finish=None), *stream("b", "3")]
    assert of(rows) == [("a", "123", True)]


def test_completions_back_to_back():
    """Text opens a completion."""

    def completion(id, *pieces):
        head = {"id": id, "object": "text_completion"}
        rows = [{**head, "choices": [{"index": 0, "text": piece}]} for piece in pieces]
        return [*rows, {**head, "choices": [{"index": 0, "text": "", "finish_reason": "stop"}]}]

    assert of([*completion("a", "1", "2"), *completion("b", "3")]) == [
        ("a", "12", True),
        ("b", "3", True),
    ]


# -- Whole responses -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "form"),
    [(whole, "lines"), (whole_completion, "lines"), (whole, "chunks"), (whole, "array")],
    ids=["chat", "completion", "chunks", "array"],
)
def test_whole_responses_in_a_row(make, form):
    """Each is a stream of its own."""
    rows = [make(id, id.upper()) for id in ("a", "b", "c")]
    source = {"lines": lines(*rows), "chunks": rows, "array": json.dumps(rows).encode()}[form]
    assert of(source) == [("a", "A", True), ("b", "B", True), ("c", "C", True)]


@pytest.mark.parametrize(("end", "done"), [(b"", None), (DONE, True)])
def test_a_whole_response_misses_no_done(end, done):
    """It was never streamed; one that comes is seen."""
    (outcome,) = rebuild_all(b"data: " + json.dumps(whole("a", "1")).encode() + b"\n\n" + end)
    assert (outcome.done, codes(outcome)) == (done, ["already_final"])


def test_whole_responses_without_ids():
    """Without ids, each object with choices is a response."""
    rows = [{**whole("", text), "id": None} for text in ("1", "2")]
    assert of(rows) == [("", "1", True), ("", "2", True)]


def test_a_whole_response_that_comes_twice_is_one():
    """The same id again is the same response, whose message is already there."""
    assert [id for id, _, _ in of([whole("a", "1"), whole("a", "1")])] == ["a"]


def test_a_usage_chunk_without_id_behind_a_whole_response():
    """It belongs to that response: it has no choices."""
    (outcome,) = rebuild_all([whole("a", "1"), {"usage": {"total_tokens": 3}}])
    assert outcome.response.usage.total_tokens == 3


def test_a_stream_behind_a_whole_response_and_the_other_way_round():
    """They are told apart either way."""
    assert of([whole("w", "0"), *A]) == [("w", "0", True), BOTH[0]]
    assert of([*A, whole("w", "0")]) == [BOTH[0], ("w", "0", True)]


# -- Odd payloads --------------------------------------------------------------------


def test_pings_are_no_stream():
    """Signs of life begin nothing and report nothing."""
    ping = {"type": "ping"}
    (outcome,) = rebuild_all(sse([ping, *A, ping]))
    assert (codes(outcome), outcome.chunks) == ([], len(A))


@pytest.mark.parametrize("payload", [5, "odd", [1], None], ids=repr)
def test_what_is_no_object_is_reported(payload):
    """Bytes: every payload that is no object; an iterable may hold None."""
    (outcome,) = rebuild_all(sse([payload, *A]))
    assert codes(outcome) == ["not_a_chunk"]
    (outcome,) = rebuild_all([A[0], payload, *A[1:]])
    assert codes(outcome) == ([] if payload is None else ["not_a_chunk"])
    assert summary([outcome]) == [BOTH[0]]


def test_what_is_no_object_is_told():
    """What it is, and its place; the next chunk has its own."""
    first, odd = sse(A[:1], done=False), chunk("odd", id="a")
    (outcome,) = rebuild_all(first + sse(["odd"], done=False) + sse([odd, *A[1:]]))
    told = [(issue.code, issue.message, issue.event, issue.offset) for issue in outcome.issues]
    assert told == [
        ("not_a_chunk", "the payload is 'odd'", 1, len(first)),
        ("bad_choice", "got 'odd' @ $.choices[0]", 2, len(first + sse(["odd"], done=False))),
    ]


@pytest.mark.parametrize("choices", [[], A[0]["choices"]], ids=["nothing", "a chunk"])
def test_a_recording_that_is_cut(choices):
    """Its last outcome is not complete, whether a chunk came before or not, or an end."""
    for data in (sse([{**A[0], "choices": choices}, *A[1:]]), b""):
        (outcome,) = rebuild_all(data + b'data: {"id": "a", "choices": [')
        assert not outcome.complete
        assert "cut_value" in codes(outcome)


# -- Issues go to the stream they belong to ------------------------------------------


def test_framing_issues_go_to_the_stream_they_were_met_in():
    """By event number, before, within and behind a stream; the order is that of events."""
    bad = b"data: {bad}\n\n"
    data = (
        bad + sse(A[:1], done=False) + bad + sse(A[1:]) + sse(B[:1], done=False) + bad + sse(B[1:])
    )
    first, second = rebuild_all(data)
    assert [(issue.code, issue.event) for issue in first.issues] == [
        ("bad_json", 0),
        ("bad_json", 2),
    ]
    assert [(issue.code, issue.event) for issue in second.issues] == [("bad_json", 7)]


def test_framing_issues_among_streams_that_interleave():
    """They are of the stream that was opened last before them."""
    bad = b"data: {bad}\n\n"
    data = log("a1 b2 a3") + bad + log("c4 a5 b6") + bad + log("d7") + bad
    told = (outcome.issues for outcome in rebuild_all(data))
    events = [[issue.event for issue in issues if issue.event] for issues in told]
    assert events == [[], [3], [7], [9]]


def test_issues_of_both_halves_are_in_order_and_bounded():
    """The first so many of both together, sorted by event, are kept; all are counted."""
    rows = [say("a", "1"), chunk("odd", id="a"), say("a", "2", "stop")]
    data = sse(rows[:2], done=False) + b"data: {bad}\n\n" + sse(rows[2:], done=False)
    (outcome,) = rebuild_all(data)
    assert codes(outcome) == ["bad_choice", "bad_json", "done_missing"]
    (outcome,) = rebuild_all(data, limits=Limits(issues=1))
    assert codes(outcome) == ["bad_choice"]
    assert outcome.issue_counts == {"bad_choice": 1, "bad_json": 1, "done_missing": 1}


# -- Errors and limits ---------------------------------------------------------------


def test_an_error_of_one_stream_is_not_the_others():
    """Each outcome has its own error."""
    failing = {"id": "a", "error": {"message": "overloaded"}}
    first, second = rebuild_all(sse([*A[:1], failing]) + sse(B))
    assert type(first.error) is UpstreamError
    assert second.error is None
    assert summary([first, second]) == [("a", "1", False), BOTH[1]]


def test_a_bound_ends_one_stream_only():
    """The stream that crossed it takes no more; those behind it are rebuilt."""
    long = stream("a", *"123456")
    outcomes = list(rebuild_all(sse(long) + sse(B), limits=Limits(chunks=4)))
    assert [type(outcome.error) for outcome in outcomes] == [LimitExceeded, type(None)]
    assert summary(outcomes) == [("a", "1234", False), BOTH[1]]


def test_a_bound_raises_in_strict_mode():
    """With the response so far."""
    with pytest.raises(LimitExceeded) as caught:
        list(rebuild_all(sse(A), strict=True, limits=Limits(chunks=1)))
    assert caught.value.partial.choices[0].message.content == "1"


def in_bytes(data):
    return [data[at : at + 1] for at in range(len(data))]


@pytest.mark.parametrize("form", [lambda data: data, in_bytes], ids=["whole", "bytes"])
def test_a_refusal_raises_in_strict_mode(form):
    """Whole streams before it are given out first."""
    source = form(sse(A) + sse([*B[:2], chunk("odd", id="b")]))
    outcomes = rebuild_all(source, strict=True)
    assert summary([next(outcomes)]) == [BOTH[0]]
    with pytest.raises(InvalidChunk) as caught:
        next(outcomes)
    assert caught.value.partial.choices[0].message.content == "34"


def test_the_input_that_ends_with_a_bound_ends_the_open_stream():
    """A line beyond the limit ends the stream that was open, with what it had."""
    data = sse(A[:2], done=False) + b"data: " + b"x" * 3000
    outcome = rebuild(data, limits=Limits(line=2000))
    assert outcome.error.limit == "line"
    assert summary([outcome]) == [("a", "12", False)]


def test_a_bound_before_any_stream_is_the_outcomes_error():
    """There is no response, and the error says why."""
    outcome = rebuild(b"data: " + b"x" * 3000, limits=Limits(line=2000))
    assert (outcome.response, outcome.error.limit) == (None, "line")
    assert codes(outcome) == ["empty_stream"]


def test_a_bound_of_its_own_is_not_replaced():
    """A stream that has failed keeps its error when the input fails as well."""
    data = sse(A, done=False) + b"data: " + b"x" * 3000
    outcome = rebuild(data, limits=Limits(line=2000, chunks=1))
    assert outcome.error.limit == "chunks"


# -- The price -----------------------------------------------------------------------


def test_one_stream_is_not_asked_for_its_end(monkeypatch):
    """Chunk by chunk, while there is no other."""
    asked = []
    monkeypatch.setattr(Accumulator, "has_finished", property(lambda _: asked.append(1)))
    list(rebuild_all([say("a", "1")] * 100))
    assert len(asked) < 10


def test_what_was_decoded_is_not_copied(monkeypatch):
    """It is nobody else's; what a caller gave is."""
    copied = []
    copy = Context._copy
    monkeypatch.setattr(
        Context, "_copy", lambda self, *value: copied.append(value) or copy(self, *value)
    )
    rows = [chunk(x={"y": [1]})]
    assert (rebuild(sse(rows)).response.extra, copied) == ({"x": {"y": [1]}}, [])
    assert (rebuild(rows).response.extra, bool(copied)) == ({"x": {"y": [1]}}, True)


# -- Properties ----------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.lists(st.text("xyz", min_size=1, max_size=2), min_size=2, max_size=4),
        min_size=1,
        max_size=3,
    ),
    st.booleans(),
)
def test_streams_in_a_row_come_out_in_order(texts, done):
    """However many streams follow each other, framed or not, each comes out whole."""
    streams = [stream(f"id-{n}", *pieces) for n, pieces in enumerate(texts)]
    expected = [(f"id-{n}", "".join(pieces), True) for n, pieces in enumerate(texts)]
    assert of(b"".join(sse(each, done=done) for each in streams)) == expected
    assert of([row for each in streams for row in each]) == expected


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_interleaved_streams_come_out_whole(data):
    """Two streams in any mixture in which one's id comes back are two responses."""
    rows = data.draw(interleaved([A, B]))
    ids = [row["id"] for row in rows]
    changes = sum(one != other for one, other in pairwise(ids))
    assume(changes > 1)
    assert sorted(of(rows)) == BOTH


def test_a_late_chunk_without_id_behind_ids_that_were_held():
    """The two ids are one stream after all, and what is behind its [DONE] is late."""
    held = [chunk({"index": 0, "delta": {"content": text}}, id=id) for text, id in ("1a", "2b")]
    (outcome,) = rebuild_all(sse(held) + sse([{**held[1], "id": None}], done=False))
    assert outcome.response.choices[0].message.content == "12"
    assert {"id_changed", "data_after_done"} <= set(codes(outcome))


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        pytest.param("{0}\n{1}\n{2}\n{3}\n", [2, 2], id="lines"),
        pytest.param("{4}\n{5}\n", [1, 1], id="whole responses"),
        pytest.param("[{0},{1},{2},{3}]", [1, 0], id="one array"),
    ],
)
def test_issues_of_each(text, counts):
    """What the framing says of a chunk is counted for the stream of that chunk."""
    chunks = [*stream("a", "x"), *stream("b", "y"), whole("a", "x"), whole("b", "y")]
    outcomes = list(rebuild_all(text.format(*map(json.dumps, chunks))))
    assert [outcome.issue_counts.get("bare_json", 0) for outcome in outcomes] == counts
    assert [codes(outcome).count("bare_json") for outcome in outcomes] == list(map(bool, counts))
