"""The fast road of `ChunkReader`."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from streamkit import ChunkReader, Limits
from streamkit import _reading_road as reading

from .helpers import SlowReader, event, events, logprobs, read_alike, say, tool, write
from .test_merging_road import BETWEEN, DONE, PLAIN, STREAMS


def learning(reader):
    """Note the events that *reader* learns from."""
    seen = []
    learn_from = reader._road.learn_from
    reader._road.learn_from = lambda event: seen.append(event) or learn_from(event)
    return seen


@pytest.mark.parametrize("name", ["text", "logprobs", "padding", "no text"])
def test_what_is_alike_goes_the_fast_road(name):
    """After the second event nothing is learned."""
    reader = ChunkReader()
    seen = learning(reader)
    chunks = STREAMS[name]
    assert reader.feed(b"".join(events(chunks))) == chunks
    assert len(seen) == 2


def test_what_comes_once_is_not_learned():
    """Two events in a row with the same fields are; the next may be of their shape."""
    opening, closing = say("", role="assistant"), say(None, choice={"finish_reason": "stop"})
    chunks = [opening, *STREAMS["text"], closing]
    with patch.object(reading, "learn", wraps=reading.learn) as learned:
        assert ChunkReader().feed(b"".join(events(chunks))) == chunks
    assert [call.args[0] for call in learned.call_args_list] == [event(chunks[2])]


def test_choices_that_interleave():
    """The index becomes a hole once it was seen to vary."""
    reader = ChunkReader()
    seen = learning(reader)
    chunks = STREAMS["choices"]
    assert reader.feed(b"".join(events(chunks))) == chunks
    assert len(seen) == 3


def test_created_that_varies():
    """Likewise."""
    reader = ChunkReader()
    seen = learning(reader)
    chunks = STREAMS["created"]
    assert reader.feed(b"".join(events(chunks))) == chunks
    assert len(seen) == 3


@pytest.mark.parametrize("framing", [("data: ", "\n\n"), ("data:", "\r\n\r\n"), ("", "\n")])
@pytest.mark.parametrize("chunks", STREAMS.values(), ids=STREAMS)
def test_both_roads(chunks, framing):
    """In one block, in events, and in pieces of them."""
    prefix, ending = framing
    pieces = [event(chunk, ending, prefix) for chunk in chunks]
    data = b"".join(pieces)
    told = read_alike([data])
    assert told[0] == chunks
    assert read_alike(pieces) == told
    assert read_alike([data[at : at + 100] for at in range(0, len(data), 100)]) == told


@pytest.mark.parametrize("way", ["block", "events", "runs"])
@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_what_stands_between_two_runs(between, way):
    """It goes the slow road, and what is behind it is read right."""
    whole = [b"".join(PLAIN), b"".join(between), b"".join(PLAIN)]
    pieces = {"block": [b"".join(whole)], "events": [*PLAIN, *between, *PLAIN], "runs": whole}
    read_alike(pieces[way])
    read_alike(pieces[way], strict=True)


@pytest.mark.parametrize("pieces", [[b"", b""], [b"\n"], [b"data"]], ids=repr)
def test_a_single_event_goes_the_shortest_way(pieces):
    """If nothing is pending; else as all data."""
    reader, slow = ChunkReader(), SlowReader()
    for piece in (*PLAIN[:2], *pieces, *PLAIN[2:], *PLAIN):
        reader.feed(piece)
        slow.feed(piece)
    assert (reader.finish(), reader.issues) == (slow.finish(), slow.issues)


def test_issues_behind_single_events_have_their_numbers():
    """What went the shortest way is counted before the next issue is made."""
    told = read_alike([*PLAIN, *PLAIN, b"data: {oops}\n\n"])
    (issue,) = told[2]
    assert (issue.event, issue.offset) == (6, sum(map(len, PLAIN)) * 2)


def test_bare_json_is_counted():
    """Each line is a repair, though only the first few are kept."""
    lines = [event(say(text), "\n", "") for text in "abcdef"]
    readers = ChunkReader(), SlowReader()
    for reader in readers:
        for line in lines:
            reader.feed(line)
        reader.finish()
    fast, slow = (reader._log.counts for reader in readers)
    assert fast == slow == {"bare_json": 6}


@pytest.mark.parametrize(
    "text",
    [
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
    ],
    ids=repr,
)
def test_invalid_utf_8_is_reported(text):
    """In a single event, and inside a run."""
    bad = PLAIN[0].replace(b'"a"', b'"' + text + b'"')
    assert [issue.code for issue in read_alike([*PLAIN, bad, *PLAIN])[2]] == ["invalid_utf8"]
    assert read_alike([b"".join([*PLAIN, bad, *PLAIN])])[2][0].event == 3


@pytest.mark.parametrize("text", [b"\xff", b"\xed\xa0\x80"], ids=repr)
def test_invalid_utf_8_in_log_probabilities_is_reported(text):
    """Whole entries are decoded as the slow road decodes them."""
    good = event(say("a", choice={"logprobs": logprobs("@")}))
    read_alike([*[good] * 3, good.replace(b"@", text), good])
    read_alike([b"".join([*[good] * 3, good.replace(b"@", text), good])])


def test_after_done_nothing_matches():
    """What comes behind it is reported, not given out."""
    told = read_alike([*PLAIN, DONE, *PLAIN])
    assert (len(told[0]), len(told[2])) == (3, 3)
    assert read_alike([b"".join([*PLAIN, DONE, *PLAIN])]) == told


@pytest.mark.parametrize("limit", ["line", "event"])
@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_bounds(limit, extra):
    """A line or an event that is too long raises, though it matches."""
    size = len(event(say("x" * 30))) - 2 - (6 if limit == "event" else 0)
    pieces = events([*[say("x")] * 9, say("y" * 30), *[say("z")] * 9])
    limits = Limits(**{limit: size + extra})
    for way in (pieces, [b"".join(pieces)]):
        told = read_alike(way, limits=limits)
        assert (told[-1] is not None) is (extra < 0)


def test_a_reset_reader_knows_nothing():
    """Neither the template nor what was pending."""
    reader = ChunkReader()
    for data in (*PLAIN, b"data: {"):
        reader.feed(data)
    reader.reset()
    seen = learning(reader)
    assert [chunk["choices"][0]["delta"] for chunk in reader.feed(PLAIN[1])] == [{"content": "b"}]
    assert seen == [PLAIN[1]]


@pytest.mark.parametrize("first", [tool("", id="call_1"), write(None), say(["a"])], ids=repr)
def test_shapes_that_have_no_text_are_read_as_well(first):
    """For reading, whatever is no hole is literal."""
    assert read_alike([event(first)] * 4)[0] == [first] * 4
