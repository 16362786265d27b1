from __future__ import annotations

import math

import pytest

from streamkit import Timing, Usage
from streamkit._timing import LONGEST_GAP, LONGEST_WAIT, YEAR_10000, Stopwatch


def timing_of(times, contents, usage=None, *, started=None):
    """Return the timing of chunks, and what is wrong with their clock."""
    watch = Stopwatch()
    for event, (time, adds) in enumerate(zip(times, contents, strict=True)):
        watch.add(time, adds=adds, event=event, offset=10 * event)
    return watch.timing(usage, started=started), tuple(watch.issues())


def codes(issues):
    return [issue.code for issue in issues]


def test_since_the_request():
    """With a start that is known, all counts from it."""
    usage = Usage(completion_tokens=30)
    times = [100.0, 100.5, 101.0, 102.0]
    timing, issues = timing_of(times, [False, True, True, False], usage, started=99.0)
    assert issues == ()
    assert timing == Timing(
        origin="request",
        chunks=4,
        timed=4,
        first_chunk=1.0,
        first_content=1.5,
        duration=3.0,
        gap_p50=0.5,
        gap_p95=1.0,
        gap_max=1.0,
        chunks_per_second=1.5,
        tokens_per_second=10.0,
    )


def test_since_the_recording():
    """A small first time counts from the recording's own zero."""
    timing, _ = timing_of([0.25, 0.5], [True, True])
    assert (timing.origin, timing.first_chunk, timing.first_content) == ("recording", 0.25, 0.25)
    assert timing.tokens_per_second is None


@pytest.mark.parametrize(
    ("first", "started", "origin"),
    [
        (1.0, 1.0, "request"),
        (0.0, None, "recording"),
        (LONGEST_WAIT - 1, None, "recording"),
        (LONGEST_WAIT, None, "first chunk"),
    ],
)
def test_where_time_begins(first, started, origin):
    """At the request, at the recording's own zero, or at the first chunk."""
    timing, _ = timing_of([first, first + 1], [False, False], started=started)
    assert timing.origin == origin


@pytest.mark.parametrize(
    ("first", "started"), [(1.79e9, None), (5e4, None), (10.0, 11.0), (-1, None)]
)
def test_since_the_first_chunk(first, started):
    """A time of the wall, or a start after the first chunk, tells no time to it."""
    timing, _ = timing_of(
        [first, first + 1], [False, True], {"completion_tokens": 5}, started=started
    )
    assert timing.origin == "first chunk"
    assert timing.first_chunk is None
    assert timing.first_content == 1
    assert timing.tokens_per_second == 5


def test_chunks_of_one_time():
    """The gap between them is one of none."""
    assert timing_of([1.0, 1.0, 3.0], [True] * 3)[0].gap_p50 == 0


def test_no_content():
    """Then there is no first content."""
    watch = Stopwatch()
    watch.add(1.0)
    assert watch.timing().first_content is None
    timing, _ = timing_of([1.0], [False])
    assert timing.first_content is None
    assert (timing.gap_p50, timing.gap_max, timing.chunks_per_second) == (None, None, None)


@pytest.mark.parametrize("times", [[], [None], [None, None]])
def test_no_times(times):
    """No times are no timing, and no issue."""
    assert timing_of(times, [True] * len(times)) == (None, ())


@pytest.mark.parametrize(
    "bad",
    ["1", True, math.nan, math.inf, -math.inf, 10**400, 1e18, YEAR_10000, -YEAR_10000, [], {}],
)
def test_bad_times(bad):
    """What is no time is left out."""
    timing, issues = timing_of([1.0, bad, 2.0], [False, True, True])
    assert codes(issues) == ["clock_bad"]
    assert (issues[0].event, issues[0].offset) == (1, 10)
    assert issues[0].message == "1 time beyond the year 9999, or no number"
    assert (timing.chunks, timing.timed, timing.first_content) == (3, 2, 2.0)
    assert timing.gap_max is None
    only, issues = timing_of([bad], [True])
    assert (only, codes(issues)) == (None, ["clock_bad"])


def test_missing_times():
    """Gaps beside an unknown time are unknown."""
    timing, issues = timing_of([1.0, None, 2.0, 2.5], [True] * 4)
    assert codes(issues) == ["clock_missing"]
    assert timing.gap_max == 0.5
    assert timing_of([None, 2.0], [True] * 2)[0].first_content == 2.0


def test_backwards():
    """A clock that goes backwards makes an issue, and no negative gap."""
    timing, issues = timing_of([700.0, 699.0, None, 698.0, 701.0], [False, True, True, True, True])
    assert codes(issues) == ["clock_missing", "clock_backwards"]
    assert issues[1].event == 1
    assert issues[1].message == "the clock went backwards 2 times"
    assert timing.first_content == 0
    assert timing.gap_max == 3.0
    assert timing.duration == 1.0


def test_standing():
    """One time for all is the time of the recording, not of the chunks."""
    timing, issues = timing_of([5.0] * 3, [True] * 3, {"completion_tokens": 3})
    assert [(issue.code, issue.message) for issue in issues] == [
        ("clock_stands", "all 3 chunks have the same time")
    ]
    assert timing.chunks_per_second is None
    assert codes(timing_of([5.0] * 2, [True] * 2)[1]) == []


@pytest.mark.parametrize(
    ("usage", "rate"),
    [
        (None, None),
        ({}, None),
        ({"completion_tokens": "3"}, None),
        ({"completion_tokens": 0}, None),
        ({"completion_tokens": -1}, None),
        (7, None),
        ({"completion_tokens": 1}, 0.5),
    ],
)
def test_usage(usage, rate):
    """No count, no rate; nothing is estimated."""
    assert timing_of([1.0, 2.0], [True] * 2, usage)[0].tokens_per_second == rate


def test_rates_are_finite():
    """Also over no time to speak of."""
    timing, _ = timing_of([0.0, 5e-324], [True] * 2, {"completion_tokens": 10**300})
    assert timing.tokens_per_second is None
    assert timing.chunks_per_second is None


def test_jumps():
    """A clock that was set forward, or times of two zones, make a gap that is said."""
    timing, issues = timing_of([1e9, 1e9 + 1, 1e9 + 7202, 1e9 + 7203], [True] * 4)
    (issue,) = issues
    assert (issue.code, issue.event, issue.offset) == ("clock_jumps", 2, 20)
    assert issue.message == "1 gap longer than half an hour"
    assert timing.gap_max == 7201
    assert timing_of([1e9, 1e9 + LONGEST_GAP], [True] * 2)[1] == ()
    _, issues = timing_of([1e9, None, 1e9 + 7200], [True] * 3)
    assert codes(issues) == ["clock_missing", "clock_jumps"]


def test_the_year_9999():
    """It is a time yet; the year after is none."""
    timing, issues = timing_of([1e9, 253_402_300_799.0, 253_402_300_800.0], [True] * 3)
    assert codes(issues) == ["clock_bad", "clock_jumps"]
    assert timing.timed == 2


def test_chunks_without_times_all_at_once():
    """They count as chunks, and the gap to the next is unknown."""
    watch = Stopwatch()
    watch.miss(0)
    assert not list(watch.issues())
    watch.add(1.0)
    watch.miss(3, event=1)
    watch.add(2.0)
    timing = watch.timing()
    assert (timing.chunks, timing.timed, timing.gap_max) == (5, 2, None)
    [issue] = watch.issues()
    assert (issue.code, issue.event) == ("clock_missing", 1)
    assert issue.message == "3 chunks without a time"
