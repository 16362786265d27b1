"""Which road each event takes, and that learning does not cost too much."""

from __future__ import annotations

import json

from unittest.mock import patch

import pytest

from streamkit import ChunkReader, Limits, rebuild
from streamkit import _merging_road as merging
from streamkit import _reading_road as reading
from streamkit._road import (
    FIRST_PAUSE,
    FREE_LESSONS,
    LONGEST_PAUSE,
    LONGEST_TAIL,
    WORTH,
    Road,
    end_of_event,
    index_of,
)

from .helpers import event, events, say


@pytest.mark.parametrize(
    ("data", "at", "expected"),
    [
        (b"data: a\n\ndata: b\n\n", 0, 9),
        (b"data: a\n\ndata: b\n\n", 9, 18),
        (b"data: a\r\n\r\nx", 0, 11),
        (b"data: a\ndata: b\n\n", 0, 8),
        (b"data: a\n", 0, 0),
        (b"data: a\n\r", 0, 0),
        (b"data: a\n\rx", 0, 8),
        (b"data: a\n\r\n", 0, 10),
        (b"data: a", 0, 0),
        (b"data: a\r", 0, 0),
        (b'{"a":1}\n{"a":2}\n', 0, 8),
        (b'{"a":1}\n', 0, 8),
        (b'{"a":1}\n\n', 0, 8),
        (b'{"a":1}', 0, 0),
        (b"\ndata: a\n\n", 0, 1),
        (b"", 0, 0),
    ],
    ids=repr,
)
def test_end_of_event(data, at, expected):
    """The blank line belongs to the event; what is not whole yet has no end."""
    assert end_of_event(data, at) == expected


@pytest.mark.parametrize(
    ("choice", "expected"),
    [({"index": 3}, 3), ({}, 0), ({"index": None}, 0), ({"index": True}, 0), ({"index": "1"}, 0)],
    ids=repr,
)
def test_index_of(choice, expected):
    """A missing index is the position."""
    assert index_of({"choices": [choice]}) == expected


# -- Road ----------------------------------------------------------------------------


class Told:
    """A framer and a traffic that note what they are given."""

    def __init__(self, runs=0, learned=True):
        self.told = []
        self.is_between_events = True
        self.runs = runs
        self.learned = learned

    def feed(self, data):
        if data:
            self.told.append(("slow", data))

    def finish(self):
        self.told.append(("finish", b""))

    def learn_from(self, event):
        self.told.append(("learn", event))
        return self.learned

    def forget(self):
        self.told.append(("forget", b""))

    def run(self, data, at):
        size = min(self.runs, len(data) - at)
        if size:
            self.told.append(("run", data[at : at + size]))
        return size


def road_of(told, limits=Limits()):
    return Road(told, told, limits)


def test_events_one_by_one():
    """Each event is learned from, and what comes behind it is tried as a run."""
    told = Told(learned=False)
    road_of(told).feed(b"data: a\n\ndata: b\n\n: c\n\n")
    assert told.told == [
        ("learn", b"data: a\n\n"),
        ("learn", b"data: b\n\n"),
        ("learn", b": c\n\n"),
    ]


def test_a_run_may_take_all():
    """Then nothing goes the slow road."""
    told = Told(runs=100)
    road_of(told).feed(b"data: a\n\n")
    assert told.told == [("run", b"data: a\n\n")]


def test_a_piece_of_a_line_is_held_back():
    """It goes on with the next block, or to the slow road at the end."""
    told = Told(learned=False)
    road = road_of(told)
    road.feed(b"data: a\n\ndata")
    assert road.has_tail
    road.feed(b": b\n\nda")
    road.finish()
    assert told.told == [
        ("learn", b"data: a\n\n"),
        ("learn", b"data: b\n\n"),
        ("slow", b"da"),
        ("finish", b""),
    ]


@pytest.mark.parametrize("rest", [b"data: a\n", b"data: a\r", b"data: a\n\r"], ids=repr)
def test_a_whole_line_is_not_held_back(rest):
    """Its event may be whole: nobody must wait for the next byte."""
    told = Told()
    road = road_of(told)
    road.feed(rest)
    assert (told.told, road.has_tail) == ([("forget", b""), ("slow", rest)], False)


def test_a_piece_inside_an_event_is_not_held_back():
    """It cannot be the start of an event."""
    told = Told()
    told.is_between_events = False
    road_of(told).feed(b"data")
    assert told.told == [("forget", b""), ("slow", b"data")]


@pytest.mark.parametrize(
    ("limits", "bound"), [(Limits(), LONGEST_TAIL), (Limits(line=10), 10), (Limits(event=7), 7)]
)
def test_a_piece_that_may_cross_a_bound_is_not_held_back(limits, bound):
    """The slow road says where."""
    told = Told()
    road = road_of(told, limits)
    road.feed(b"x" * (bound - 1))
    assert road.has_tail
    road.feed(b"x")
    assert (told.told[1:], road.has_tail) == ([("slow", b"x" * bound)], False)


def test_pauses_grow_where_templates_fail():
    """More and more goes the slow road in one piece, and what is known is forgotten."""
    told = Told()
    line = b"data: " + b"x" * 90 + b"\n\n"
    road_of(told).feed(line * 6000)
    pauses = [len(data) for kind, data in told.told if kind == "slow"]
    expected = FIRST_PAUSE
    for pause in pauses[:-1]:
        assert expected <= pause <= expected + len(line)
        expected = min(expected * 2, LONGEST_PAUSE)
    assert expected == LONGEST_PAUSE
    lessons = FREE_LESSONS + 1
    kinds = [kind for kind, _ in told.told]
    assert kinds[: lessons + 3] == ["learn"] * lessons + ["forget", "slow", "learn"]
    assert b"".join(data for _, data in told.told) == line * 6000


def test_a_pause_goes_on_in_the_next_block():
    """However the input is cut, it is of so many bytes."""
    told = Told()
    line = b"data: " + b"x" * 90 + b"\n\n"
    road = road_of(told)
    for _ in range(FREE_LESSONS + 1 + FIRST_PAUSE // len(line) + 2):
        road.feed(line)
    kinds = [kind for kind, _ in told.told if kind != "forget"]
    passed = -(-FIRST_PAUSE // len(line))
    lessons = ["learn"] * (FREE_LESSONS + 1)
    assert kinds == [*lessons, *["slow"] * passed, "learn"]


def test_a_pause_may_end_inside_an_event():
    """Then the event goes the slow road as well, or what there is of it."""
    told = Told()
    road = road_of(told)
    line = b"data: x\n\n"
    road.feed(line * (FREE_LESSONS + 1) + b"data: y\ndata")
    assert told.told[-2:] == [("forget", b""), ("slow", b"data: y\ndata")]


@pytest.mark.parametrize(("events_", "kind"), [(WORTH - 1, "slow"), (WORTH, "learn")])
def test_a_run_that_was_worth_it_gives_new_lessons(events_, kind):
    """A few events are not worth a template."""
    told = Told()
    road = road_of(told)
    line = b"data: x\n\n"
    for _ in range(FREE_LESSONS):
        road.feed(line)
    road.worked(events_)
    road.feed(line * 2)
    assert told.told[-1][0] == kind


# -- What it costs -------------------------------------------------------------------


def alternating(count):
    """Return events of two shapes, in turn."""
    return b"".join(
        event(say("a", x="b") if number % 2 else say("a", role="assistant"))
        for number in range(count)
    )


class Counted:
    """Count the calls of *function*."""

    def __init__(self, function):
        self.function = function
        self.count = 0

    def __call__(self, *args, **options):
        self.count += 1
        return self.function(*args, **options)


def work_of(room, data, read):
    """Return how many templates are learned, and how many runs are tried, for *data*."""
    learned = Counted(room.learn)
    road = merging.MergingRoad if room is merging else reading.ReadingRoad
    run, tried = road.run, []
    with (
        patch.object(room, "learn", learned),
        patch.object(road, "run", lambda self, *args: tried.append(1) or run(self, *args)),
    ):
        read(data)
    return learned.count, len(tried)


@pytest.mark.parametrize(
    ("room", "read"),
    [(merging, rebuild), (reading, lambda data: ChunkReader().feed(data))],
    ids=["merging", "reading"],
)
def test_two_shapes_in_turn_cost_few_templates(room, read):
    """Twice the events are at most twice the work, and most of it is the slow road's."""
    count = 2000
    single, double = (work_of(room, alternating(n), read) for n in (count, 2 * count))
    assert single[0] < count / 20
    assert double[0] <= 2 * single[0] + 5
    assert double[1] <= 2 * single[1] + 2


def test_one_shape_costs_one_template():
    """All but the first few events go in runs."""
    data = b"".join(events([say(str(number)) for number in range(5000)]))
    learned, tried = work_of(merging, data, rebuild)
    assert learned == 1
    assert tried < len(data) / merging.REACH + 10
    assert json.loads(data[6:].split(b"\n")[0])["id"] == "chatcmpl-1"
