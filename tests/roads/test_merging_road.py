"""The fast road of `rebuild`: where it may be taken, and where it ends."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from streamkit import Accumulator, Limits
from streamkit import _merging_road as merging
from streamkit._framing import Framer
from streamkit._issues import IssueLog
from streamkit._json import Decoder
from streamkit._merging_road import LEAST_REACH, MOST_REACH, REACH, MergingRoad, last_end
from streamkit._streams import StreamSplitter

from .helpers import (
    HEAD,
    contents,
    event,
    events,
    logprobs,
    rebuilt,
    rebuilt_alike,
    say,
    tool,
    write,
)


DONE = b"data: [DONE]\n\n"


def road_of(limits=Limits()):
    log = IssueLog(limits.issues)
    splitter = StreamSplitter(lambda: Accumulator(limits=limits), log, owned=True, framed=True)
    return MergingRoad(splitter, log, limits, Decoder("json", limits)), splitter


def slow_events(data, pieces=None, **options):
    """Return how many of the chunks in *data* went the slow road."""
    road, splitter = road_of(**options)
    taken = []
    road._framer._payloads._give_out = lambda frame: taken.append(frame) or road._take(frame)
    for piece in pieces or [data]:
        road.feed(piece)
    road.finish()
    splitter.finish(cut=road.cut)
    return len(taken)


def test_what_may_be_a_response_of_its_own_is_not_learned():
    """Without an id it depends on the text whether a chunk with usage is one."""
    parts = [{"choices": [{"text": text}], "usage": {"total_tokens": 1}} for text in "abcd"]
    with patch.object(merging, "learn") as learned:
        rebuilt_alike([b"".join(events(parts))])
    learned.assert_not_called()


# -- What goes the fast road ---------------------------------------------------------

TEXTS = [say(str(number)) for number in range(50)]
STREAMS = {
    "text": TEXTS,
    "choices": [say(str(n), n % 3) for n in range(60)],
    "completion": [write(str(n), token=n) for n in range(50)],
    "completions": [write(str(n), n % 2) for n in range(50)],
    "logprobs": [say(choice={"logprobs": logprobs(str(n))}) for n in range(50)],
    "arguments": [tool("", id="call_1"), *[tool(str(n)) for n in range(50)]],
    "padding": [say(top={"p": "x" * n}) for n in range(50)],
    "created": [{**say(), "created": n + 1} for n in range(50)],
    "finish": [*TEXTS, say(None, choice={"finish_reason": "stop"})],
    "no text": [say(None)] * 50,
}


@pytest.mark.parametrize("framing", [("data: ", "\n\n"), ("data:", "\r\n\r\n"), ("", "\n")])
@pytest.mark.parametrize("chunks", STREAMS.values(), ids=STREAMS)
def test_both_roads(chunks, framing):
    """In one block, in events, and in pieces of them."""
    prefix, ending = framing
    data = b"".join(event(chunk, ending, prefix) for chunk in chunks)
    rebuilt_alike([data])
    rebuilt_alike([event(chunk, ending, prefix) for chunk in chunks])
    rebuilt_alike([data[at : at + 100] for at in range(0, len(data), 100)])


@pytest.mark.parametrize("name", [name for name in STREAMS if name != "finish"])
def test_what_is_alike_goes_the_fast_road(name):
    """All but the first event of each shape and choice, and one for each scan."""
    data = b"".join(events([*STREAMS[name], *STREAMS[name][1:] * 40]))
    assert slow_events(data) < 100


@pytest.mark.parametrize("width", [1, 2, 4])
def test_choices_in_turn_go_the_fast_road(width):
    """Also behind opening chunks of another shape."""
    opening = [say("", index, role="assistant") for index in range(width)]
    chunks = [say(str(number), number % width) for number in range(2000)]
    assert slow_events(b"".join(events([*opening, *chunks]))) < 100


def test_events_that_come_one_by_one_go_the_fast_road():
    """Also where each is cut in two."""
    pieces = events(TEXTS)
    assert slow_events(b"", pieces) <= 3
    halves = [half for piece in pieces for half in (piece[:90], piece[90:])]
    assert slow_events(b"", halves) <= 3


def test_what_comes_once_is_not_learned():
    """Two events in a row with the same fields are; the next may be of their shape."""
    opening, closing = say("", role="assistant"), say(None, choice={"finish_reason": "stop"})
    usage = {**HEAD, "choices": [], "usage": {"total_tokens": 3}}
    data = b"".join(events([opening, *TEXTS, closing, usage])) + DONE
    with patch.object(merging, "learn", wraps=merging.learn) as learned:
        rebuilt([data], fast=True)
    assert [call.args[0] for call in learned.call_args_list] == [event(TEXTS[1])]


def test_the_reach_of_a_scan():
    """It grows while all matches, and shrinks where little does."""
    road, _ = road_of()
    assert road._reach == REACH
    data = b"".join(events(TEXTS))
    road.feed(data * 20)
    assert road._reach == MOST_REACH
    for _ in range(20):
        road.feed(data[: data.index(b"\n\n") + 2] + b": ping\n\n")
    assert LEAST_REACH <= road._reach < REACH


@pytest.mark.parametrize(
    ("at", "reach", "expected"),
    [(0, 100, 8), (0, 8, 8), (0, 7, 4), (0, 4, 4), (0, 3, 4), (4, 1, 8), (8, 100, 8)],
)
def test_last_end(at, reach, expected):
    """The last whole event within reach, at least one, if there is one."""
    assert last_end(b"aa\n\nbb\n\ncc", at, reach, b"\n\n") == expected


# -- Where the fast road ends --------------------------------------------------------

PLAIN = events([say("a"), say("b"), say("c")])
BETWEEN = {
    "a comment": [b": ping\n\n"],
    "blank lines": [b"\n\n\n"],
    "a ping": [event({"type": "ping"})],
    "text": [b"oops\n\n"],
    "bad JSON": [b"data: {oops}\n\n"],
    "another model": [event(say("x", top={"model": "other"}))],
    "another id": [event(say("x", top={"id": "chatcmpl-2"}))],
    "an error": [event({"error": {"message": "no"}})],
    "an error event": [b"event: error\n" + event(say("x"))],
    "a role": [event(say("x", role="assistant"))],
    "another role": events([say("x", role="user"), say("y", role="tool")]),
    "parts": [event(say([{"type": "text", "text": "x"}]))],
    "a number": [event(say(5))],
    "another choice": events([say("x", 1), say("y", 0), say("z", 1)]),
    "two choices": [
        event({**say("x"), "choices": [*say("x", 0)["choices"], *say("y")["choices"]]})
    ],
    "a finish": [event(say(None, choice={"finish_reason": "stop"}))],
    "done": [DONE],
    "done twice": [DONE, DONE],
    "a whole response": [event({**HEAD, "object": "chat.completion", "choices": []})],
    "bare JSON": [event(say("x"), "\n", "")],
    "an open value": [b'data: {"choices":\n'],
    "a value in two lines": [b'data: {"choices":\ndata: []}\n\n'],
    "invalid UTF-8": [event(say("@")).replace(b"@", b"\xff")],
    "half a pair": events([say("\ud83d"), say("\ude00")]),
    "a BOM": [b"\xef\xbb\xbf" + event(say("x"))],
    "an id field": [b"id: 5\n" + event(say("x"))],
    "usage": [event({**HEAD, "choices": [], "usage": {"total_tokens": 5}})],
    "CRLF": [event(say("x"), "\r\n\r\n")],
    "CR": [event(say("x"), "\r\r")],
    "glued": [event(say("x"), "")],
    "one line end": [event(say("x"), "\n")],
    "an event's type": [b"event: error\n"],
    "a long piece": [b'data: {"x":"' + b"x" * 70_000],
}


@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_what_stands_between_two_runs(between):
    """In one block it is all the same."""
    rebuilt_alike([b"".join([*PLAIN, *between, *PLAIN])])


@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_what_comes_between_two_runs(between):
    """In blocks of one event as well."""
    rebuilt_alike([*PLAIN, *between, *PLAIN])
    rebuilt_alike([b"".join(PLAIN), b"".join(between), b"".join(PLAIN)])


@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_strict_mode(between):
    """What is wrong raises the same error, with the same partial response."""
    rebuilt_alike([b"".join([*PLAIN, *between, *PLAIN, DONE])], strict=True)


def test_two_streams_that_interleave():
    """Each goes on with its own."""
    one, two = (
        events([say(text) for text in "abcdef"]),
        events([say(text, top={"id": "chatcmpl-2"}) for text in "uvwxyz"]),
    )
    pieces = [*one[:2], *two[:2], *one[2:4], *two[2:4], *one[4:], *two[4:]]
    told = rebuilt_alike([b"".join(pieces)])
    assert [contents([each]) for each in told] == [["abcdef"], ["uvwxyz"]]


def test_two_streams_one_behind_the_other():
    """With [DONE] between them, and without."""
    one, two = events(TEXTS), events([{**chunk, "id": "chatcmpl-2"} for chunk in TEXTS])
    assert len(rebuilt_alike([b"".join([*one, DONE, *two, DONE])])) == 2
    assert len(rebuilt_alike([b"".join([*one, *two])])) == 1
    finish = event(say(None, choice={"finish_reason": "stop"}))
    opening = event(say("", top={"id": "chatcmpl-2"}, role="assistant"))
    assert len(rebuilt_alike([b"".join([*one, finish, opening, *two])])) == 2


def test_chunks_without_id_behind_one_with_it():
    """Whether another opening chunk starts a stream depends on how many had the id."""
    nameless = [{**say(text), "id": None} for text in "abcd"]
    finish = {**say(None, choice={"finish_reason": "stop"}), "id": None}
    opening = say("x", top={"id": "chatcmpl-2"}, role="assistant")
    rebuilt_alike([b"".join(events([say(""), *nameless, finish, opening]))])


def test_whole_responses_behind_one_without_text():
    """A completion without an id that has finished, used tokens and text is a response alone."""
    whole = [
        {**write(text, finish_reason="stop"), "id": None, "usage": {"total_tokens": 1}}
        for text in ("", "", "a", "b")
    ]
    assert len(rebuilt_alike([b"".join(events(whole))])) == 3


# -- Limits crossed inside a run -----------------------------------------------------


def told_at(limit, bound, chunks):
    """Return what becomes of *chunks* under a bound, as `rebuild_all` tells it."""
    limits = Limits(**{limit: bound})
    data = events(chunks)
    told = rebuilt_alike([b"".join(data)], limits=limits)
    assert rebuilt_alike(data, limits=limits) == told
    if limit not in {"line", "event"}:
        rebuilt_alike([b"".join(data)], limits=limits, strict=True)
    return told


@pytest.mark.parametrize("limit", ["line", "event"])
def test_a_bound_of_the_framing_in_strict_mode_has_the_response_so_far(limit):
    """As any other error of strict mode."""
    data = b"".join(events([say("a"), say("b"), say("c" * 300)]))
    for fast in (True, False):
        ((*_, partial),) = rebuilt([data], fast=fast, strict=True, limits=Limits(**{limit: 200}))
        assert partial["choices"][0]["message"]["content"] == "ab"


@pytest.mark.parametrize("bound", [1, 7, 49, 50, 51])
def test_the_bound_on_chunks(bound):
    """The chunk that is too much is not in the response."""
    chunks = [say("x") for _ in range(50)]
    told = told_at("chunks", bound, chunks)
    assert contents(told) == ["x" * min(bound, 50)]
    assert ("chunks" in told[0]["error"]) is (bound < 50)


@pytest.mark.parametrize("bound", [0, 1, 10, 99, 100])
@pytest.mark.parametrize("width", [1, 2], ids=["one choice", "two choices"])
def test_the_bound_on_text(bound, width):
    """It counts over all choices."""
    told = told_at("text", bound, [say("xy", number % width) for number in range(50)])
    assert ("text" in told[0]["error"]) is (bound < 100)


@pytest.mark.parametrize("bound", [0, 1, 20, 49, 50])
def test_the_bound_on_log_probabilities(bound):
    """The slow road reports the very entry."""
    chunks = [say(choice={"logprobs": logprobs()}) for _ in range(50)]
    told = told_at("logprobs", bound, chunks)
    assert ("logprobs" in told[0]["error"]) is (bound < 50)


@pytest.mark.parametrize("limit", ["line", "event"])
@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_the_bounds_on_lines_and_events(limit, extra):
    """An event that is too long ends the stream, though it matches."""
    size = len(event(say("x" * 30))) - 2 - (6 if limit == "event" else 0)
    chunks = [*[say("x")] * 9, say("y" * 30), *[say("z")] * 9]
    told = told_at(limit, size + extra, chunks)
    assert contents(told) == ["x" * 9 + ("" if extra < 0 else "y" * 30 + "z" * 9)]


def test_bounds_in_blocks_that_fit():
    """Where a block cannot cross a bound, runs go the fast road."""
    data = events([say("x") for _ in range(50)])
    limits = Limits(line=len(data[0]) * 3)
    assert slow_events(b"", data, limits=limits) <= 3
    assert slow_events(b"".join(data), limits=limits) == 50
    rebuilt_alike([b"".join(data[at : at + 2]) for at in range(0, 50, 2)], limits=limits)


def test_no_bounds():
    """Then none is checked."""
    none = Limits(line=None, event=None, chunks=None, text=None, logprobs=None)
    (told,) = rebuilt_alike([b"".join(events(TEXTS))], limits=none)
    assert told["chunks"] == 50


# -- Cumulative senders --------------------------------------------------------------


def test_a_cumulative_stream_has_no_runs():
    """Each piece replaces what it repeats."""
    (told,) = rebuilt(
        [b"".join(events([say("a"), say("ab"), say("abc")]))], fast=True, cumulative=True
    )
    assert contents([told]) == ["abc"]


def test_the_slow_twin_is_the_framer():
    """What the fast road is held against knows no templates."""
    road, splitter = road_of()
    assert isinstance(road._framer, Framer)
    assert splitter.target is None


def test_a_run_that_cannot_be_read_goes_the_slow_road():
    """The next scan reaches less far, so that most of it can go the fast road."""
    bad = event(say("@")).replace(b"@", b"\xff")
    data = b"".join([*events(TEXTS), bad, *events(TEXTS)])
    assert slow_events(data) < 60
    rebuilt_alike([data])


def test_text_behind_parts_has_no_place_for_a_run():
    """It becomes a part of its own, on the slow road."""
    chunks = [say([{"type": "image", "x": 1}]), *[say(str(n)) for n in range(9)]]
    assert slow_events(b"".join(events(chunks))) == 10
    rebuilt_alike([b"".join(events(chunks))])
