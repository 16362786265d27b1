"""`LiveAccumulator`: what comes, as events."""

from __future__ import annotations

import attrs
import pytest

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamkit import (
    Accumulator,
    ChunkReceived,
    ContentDelta,
    ContentDone,
    ErrorReported,
    FramingError,
    IncompleteStream,
    InputRefused,
    InvalidChunk,
    Issue,
    LimitExceeded,
    Limits,
    LiveAccumulator,
    LogprobsDelta,
    ReasoningDelta,
    RefusalDelta,
    Rule,
    TokenLogprob,
    ToolCallArgumentsDelta,
    ToolCallDone,
    UpstreamError,
    Usage,
    UsageReported,
    from_dict,
    rebuild,
    to_dict,
)
from tests.merging.strategies import hostile_chunks, split, streams

from . import call, chunk, event, happened, told


# Drawing streams takes long where others use the machine as well.
slow = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def live_events(*data, **options):
    return told(happened(LiveAccumulator(**options), *data))


# -- Text ----------------------------------------------------------------------------


def test_text():
    """Deltas, then the whole, then the reason."""
    assert live_events(chunk(content="He"), chunk(content="y"), chunk(finish="stop")) == [
        ("ContentDelta", 0, "He"),
        ("ContentDelta", 0, "y"),
        ("ContentDone", 0, "Hey"),
        ("ChoiceFinished", 0, "stop"),
    ]


def test_text_of_a_completion():
    """It is content as well."""
    assert live_events({"choices": [{"index": 0, "text": "Hi", "finish_reason": "stop"}]}) == [
        ("ContentDelta", 0, "Hi"),
        ("ContentDone", 0, "Hi"),
        ("ChoiceFinished", 0, "stop"),
    ]


def test_a_whole_message_is_content():
    """A server that does not stream answers in one piece."""
    message = {"role": "assistant", "content": "Hi"}
    whole = {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
    assert live_events(whole)[:3] == [
        ("ContentDelta", 0, "Hi"),
        ("ContentDone", 0, "Hi"),
        ("ChoiceFinished", 0, "stop"),
    ]


def test_all_of_a_whole_message():
    """Parts and calls too, once, though it comes twice."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hi"}],
        "tool_calls": [call, 5, {**call, "id": "d"}],
        "function_call": {"name": "g", "arguments": "1"},
    }
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    assert live_events(whole, whole) == [
        ("ReasoningDelta", 0, "hm", "thinking"),
        ("ContentDelta", 0, "Hi"),
        ("ToolCallStarted", 0, 0, "c", "f"),
        ("ToolCallArgumentsDelta", 0, 0, "c", "f", "{}"),
        ("ToolCallDone", 0, 0, "c", "f", "{}", {}, True),
        ("ToolCallStarted", 0, 1, "d", "f"),
        ("ToolCallArgumentsDelta", 0, 1, "d", "f", "{}"),
        ("ToolCallDone", 0, 1, "d", "f", "{}", {}, True),
        ("ToolCallStarted", 0, "g"),
        ("ToolCallArgumentsDelta", 0, "g", "1"),
        ("ReasoningDone", 0, "hm", "thinking"),
        ("ContentDone", 0, "Hi"),
        ("ToolCallDone", 0, "g", "1", 1, True),
        ("ChoiceFinished", 0, "tool_calls"),
    ]


def test_a_message_behind_its_deltas():
    """It says again what was told, and fills what was not."""
    message = {"content": "Hi", "reasoning": "hm", "tool_calls": [{"id": "c"}]}
    events = live_events(
        chunk(content="Hi", tool_calls=[{"index": 0, "id": "c", "function": {"name": "f"}}]),
        {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]},
    )
    assert [event[:3] for event in events] == [
        ("ContentDelta", 0, "Hi"),
        ("ToolCallStarted", 0, 0),
        ("ReasoningDelta", 0, "hm"),
        ("ContentDone", 0, "Hi"),
        ("ReasoningDone", 0, "hm"),
        ("ToolCallDone", 0, 0),
        ("ChoiceFinished", 0, "stop"),
    ]


@pytest.mark.parametrize("name", ["chat.completion.chunk", "text_completion"])
def test_a_text_under_two_names(name):
    """It is told once, as the response has it once."""
    twice = [
        {"object": name, "choices": [{"index": 0, "delta": {"content": text}, "text": text}]}
        for text in ("", "a", "b", "c")
    ]
    last = {"object": name, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    assert live_events(*twice, last) == [
        *(("ContentDelta", 0, text) for text in "abc"),
        ("ContentDone", 0, "abc"),
        ("ChoiceFinished", 0, "stop"),
    ]


@pytest.mark.parametrize(
    ("name", "told"), [("chat.completion.chunk", "x"), ("text_completion", "y"), (None, "y")]
)
def test_two_texts_under_two_names(name, told):
    """The kind's own counts, though the kind is not known from the start."""
    both = {"object": name, "choices": [{"index": 0, "delta": {"content": "x"}, "text": "y"}]}
    assert live_events(both)[:2] == [("ContentDelta", 0, told), ("ContentDone", 0, told)]
    assert live_events({"choices": [{"index": 0}]}, both)[0] == (
        "ContentDelta",
        0,
        "x",
    )


def test_a_text_beside_parts_that_are_no_text():
    """They are the content, and not that."""
    content = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]
    both = {"choices": [{"index": 0, "delta": {"content": content}, "text": "y"}]}
    events = live_events({**both, "object": "chat.completion.chunk"})
    assert [event[0] for event in events[:2]] == ["ReasoningDelta", "ReasoningDone"]


@pytest.mark.parametrize("odd", [{"content": {"a": 1}}, {"content": 5, "reasoning": {"a": 1}}])
def test_a_message_whose_texts_are_none(odd):
    """Nothing is told of them."""
    events = live_events({"choices": [{"index": 0, "message": odd, "finish_reason": "stop"}]})
    assert events == [("ChoiceFinished", 0, "stop")]


@pytest.mark.parametrize("other", [{"content": ""}, {}])
def test_a_text_under_the_name_of_the_other_kind(other):
    """It counts if there is none under the kind's own."""
    stray = {"object": "chat.completion.chunk", "choices": [{"delta": other, "text": "a"}]}
    assert live_events(stray)[:2] == [("ContentDelta", 0, "a"), ("ContentDone", 0, "a")]


def test_every_other_text():
    """Refusal and reasoning, each under the name that the server gave it."""
    events = live_events(
        chunk(refusal="No"),
        chunk(reasoning_content="a", reasoning="b"),
        chunk(finish="stop"),
    )
    assert events == [
        ("RefusalDelta", 0, "No"),
        ("ReasoningDelta", 0, "a", "reasoning_content"),
        ("ReasoningDelta", 0, "b", "reasoning"),
        ("RefusalDone", 0, "No"),
        ("ReasoningDone", 0, "a", "reasoning_content"),
        ("ReasoningDone", 0, "b", "reasoning"),
        ("ChoiceFinished", 0, "stop"),
    ]


def test_content_in_parts():
    """Thinking parts are reasoning; text goes on behind them."""
    thinking = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]
    more = [{"type": "thinking", "thinking": [{"type": "text", "text": "!"}]}]
    plain = [{"type": "thinking", "thinking": "so"}, {"type": "image", "url": "u"}, 5]
    events = live_events(
        chunk(content="A"),
        chunk(content=thinking),
        chunk(content=more),
        chunk(content=[{"type": "text", "text": "B"}]),
        chunk(content=plain),
        chunk(content="C", finish="stop"),
    )
    assert events == [
        ("ContentDelta", 0, "A"),
        ("ReasoningDelta", 0, "hm", "thinking"),
        ("ReasoningDelta", 0, "!", "thinking"),
        ("ContentDelta", 0, "B"),
        ("ReasoningDelta", 0, "so", "thinking"),
        ("ContentDelta", 0, "C"),
        ("ContentDone", 0, "ABC"),
        ("ReasoningDone", 0, "hm!so", "thinking"),
        ("ChoiceFinished", 0, "stop"),
    ]


def test_parts_go_on():
    """Only the last one grows; more may come with it, and one may be both."""
    text, image = {"type": "text", "text": "a"}, {"type": "image", "url": "u"}
    both = {"type": "odd", "text": [text], "thinking": [text]}
    events = live_events(
        chunk(content=[text, image, text]),
        chunk(content=[image, text, image, text, image]),
        chunk(content=[image, text, both]),
        chunk(content=[both]),
    )
    names = [event[0] for event in events if event[0].endswith("Delta")]
    assert names == ["ContentDelta"] * 6 + ["ReasoningDelta", "ContentDelta", "ReasoningDelta"]
    assert events[-3:-1] == [("ContentDone", 0, "a" * 7), ("ReasoningDone", 0, "aa", "thinking")]


def test_half_a_pair_waits_for_its_other_half():
    """And is U+FFFD if that never comes."""
    assert live_events(chunk(content="a\ud83d"), chunk(content="\ude00")) == [
        ("ContentDelta", 0, "a"),
        ("ContentDelta", 0, "😀"),
        ("ContentDone", 0, "a😀"),
        ("IssueReported", Issue("finish_missing", "no finish reason for choice 0")),
    ]
    assert live_events(chunk(content="a\ud83d"))[:3] == [
        ("ContentDelta", 0, "a"),
        ("ContentDelta", 0, "\ufffd"),
        ("ContentDone", 0, "a\ufffd"),
    ]


def test_half_a_pair_in_parts():
    """The same inside a thinking part."""
    part = {"type": "thinking", "thinking": [{"type": "text", "text": "a\ud83d"}]}
    assert live_events(chunk(content=[part]))[:3] == [
        ("ReasoningDelta", 0, "a", "thinking"),
        ("ReasoningDelta", 0, "\ufffd", "thinking"),
        ("ReasoningDone", 0, "a\ufffd", "thinking"),
    ]


def test_half_a_pair_before_another_part():
    """It waits for no other half: the part is whole."""
    thinking = [{"type": "thinking", "thinking": [{"type": "text", "text": "a\ud83d"}]}]
    text, more = [{"type": "text", "text": "b\ud83d"}], [{"type": "image", "url": "u"}]
    events = live_events(chunk(content=thinking), chunk(content=text), chunk(content=more))
    assert [event[2] for event in events[:4]] == ["a", "\ufffd", "b", "\ufffd"]


def test_half_a_pair_between_a_string_and_parts():
    """It goes on, and is joined, or stays alone, as in a string."""
    for first, text in (("\ude00b", "a😀b"), ("b", "a\ufffdb")):
        events = live_events(
            chunk(content="a\ud83d"), chunk(content=[{"type": "text", "text": first}])
        )
        assert "".join(event[2] for event in events if event[0] == "ContentDelta") == text
        assert ("ContentDone", 0, text) in events


def test_cumulative_text():
    """A sender that repeats all before it adds what is new."""
    events = live_events(chunk(content="a"), chunk(content="ab"), cumulative=True)
    assert events[:2] == [("ContentDelta", 0, "a"), ("ContentDelta", 0, "b")]


def test_text_after_the_end():
    """What grows after its end is done once more."""
    assert live_events(
        chunk(content="a", finish="stop"), chunk(content="b"), chunk(finish="stop")
    ) == [
        ("ContentDelta", 0, "a"),
        ("ContentDone", 0, "a"),
        ("ChoiceFinished", 0, "stop"),
        ("ContentDelta", 0, "b"),
        ("ContentDone", 0, "ab"),
    ]


def test_reasons_that_change_with_each_chunk():
    """What is done is done twice at most: its size would be told in quadratic time."""
    reasons = ["stop", "length"] * 5
    chunks = [
        {"choices": [{**call("1", id="c", name="f")["choices"][0], "finish_reason": reason}]}
        for reason in reasons
    ]
    texts = [chunk(content="a", finish=reason) for reason in reasons]
    for events, name in (
        (live_events(*chunks), "ToolCallDone"),
        (live_events(*texts), "ContentDone"),
    ):
        names = [event[0] for event in events]
        assert names.count("ChoiceFinished") == len(reasons)
        assert names.count(name) == 2
        assert names[-1] == name


def test_what_begins_behind_the_end():
    """It is done with the next reason; that may be anything."""
    assert live_events(chunk(content="a", finish="stop"), chunk(reasoning="b", finish=5)) == [
        ("ContentDelta", 0, "a"),
        ("ContentDone", 0, "a"),
        ("ChoiceFinished", 0, "stop"),
        ("ReasoningDelta", 0, "b", "reasoning"),
        ("ReasoningDone", 0, "b", "reasoning"),
        ("ChoiceFinished", 0, "5"),
    ]


def test_snapshots_of_issues():
    """Those that belong to no chunk have the response so far, too."""
    live = LiveAccumulator(snapshots=True)
    live.feed(chunk(content="a"))
    events = live.feed(5) + live.feed(b"data: {\n\n") + live.finish()
    assert {event.snapshot.choices[0].message.content for event in events} == {"a"}


def test_choices_interleave():
    """Each has its own index, position where it has none."""
    unnamed = {"choices": [{"delta": {"content": "a"}}, {"delta": {"content": "b"}}]}
    assert live_events(chunk(1, content="x"), unnamed, chunk(content="c"))[:4] == [
        ("ContentDelta", 1, "x"),
        ("ContentDelta", 0, "a"),
        ("ContentDelta", 1, "b"),
        ("ContentDelta", 0, "c"),
    ]


# -- Tool calls ----------------------------------------------------------------------


def test_tool_calls():
    """Begun, growing, done: the first as soon as the second begins, as it is whole."""
    events = live_events(
        call("", id="c1", name="f"),
        call('{"a":'),
        call("1}"),
        call('{"b', 1, id="c2", name="g"),
        chunk(finish="tool_calls"),
    )
    assert events == [
        ("ToolCallStarted", 0, 0, "c1", "f"),
        ("ToolCallArgumentsDelta", 0, 0, "c1", "f", '{"a":'),
        ("ToolCallArgumentsDelta", 0, 0, "c1", "f", "1}"),
        ("ToolCallDone", 0, 0, "c1", "f", '{"a":1}', {"a": 1}, True),
        ("ToolCallStarted", 0, 1, "c2", "g"),
        ("ToolCallArgumentsDelta", 0, 1, "c2", "g", '{"b'),
        ("ToolCallDone", 0, 1, "c2", "g", '{"b', False),
        ("ChoiceFinished", 0, "tool_calls"),
    ]


def test_tool_calls_that_interleave():
    """One that is not whole when another begins is done with its choice."""
    events = live_events(
        call("[", id="c1", name="f"),
        call("{}", 1, id="c2", name="g"),
        call("1]"),
        chunk(finish="tool_calls"),
    )
    assert [event[:3] for event in events if event[0] == "ToolCallDone"] == [
        ("ToolCallDone", 0, 0),
        ("ToolCallDone", 0, 1),
    ]
    assert events[-3] == ("ToolCallDone", 0, 0, "c1", "f", "[1]", [1], True)
    deltas = [(event[2], event[-1]) for event in events if event[0] == "ToolCallArgumentsDelta"]
    assert deltas == [(0, "["), (1, "{}"), (0, "1]")]


def test_calls_of_a_whole_message():
    """Each is one, whatever its id."""
    entry = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    events = live_events({"choices": [{"index": 0, "message": {"tool_calls": [entry] * 2}}]})
    assert [event[2] for event in events if event[0] == "ToolCallDone"] == [0, 1]


def test_several_calls_in_one_chunk():
    """Those without an id or an index too."""
    entries = [{"function": {"name": name, "arguments": "{}"}} for name in "fgh"]
    events = live_events(chunk(tool_calls=entries))
    assert [event[2:] for event in events if event[0] == "ToolCallStarted"] == [
        (0, "f"),
        (1, "g"),
        (2, "h"),
    ]


def test_custom_tools_and_function_calls():
    """Their text is told likewise; the legacy call has no position."""
    custom = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "f", "input": "x y"}}
    assert live_events(chunk(tool_calls=[custom]), chunk(finish="stop"))[:3] == [
        ("ToolCallStarted", 0, 0, "c", "f"),
        ("ToolCallArgumentsDelta", 0, 0, "c", "f", "x y"),
        ("ToolCallDone", 0, 0, "c", "f", "x y", False),
    ]
    legacy = {"name": "f", "arguments": "null"}
    assert live_events(chunk(function_call=legacy, finish="function_call")) == [
        ("ToolCallStarted", 0, "f"),
        ("ToolCallArgumentsDelta", 0, "f", "null"),
        ("ToolCallDone", 0, "f", "null", True),
        ("ChoiceFinished", 0, "function_call"),
    ]


def test_a_call_that_never_says_its_name():
    """It begins with its arguments, or ends at once."""
    events = live_events(call("{}"), chunk(tool_calls=[{"index": 1, "id": "c"}]))
    assert events[:5] == [
        ("ToolCallStarted", 0, 0),
        ("ToolCallArgumentsDelta", 0, 0, "{}"),
        ("ToolCallDone", 0, 0, "{}", {}, True),
        ("ToolCallStarted", 0, 1, "c"),
        ("ToolCallDone", 0, 1, "c", "", False),
    ]


@pytest.mark.parametrize(
    "delta", [{"tool_calls": 5}, {"function_call": 5}, {"content": 5}, {"tool_calls": [5]}]
)
def test_what_is_no_call(delta):
    """It is refused by the merge, and tells nothing but that."""
    assert [event[0] for event in live_events(chunk(**delta), chunk(finish="stop"))] == [
        "IssueReported",
        "ChoiceFinished",
    ]


# -- All else ------------------------------------------------------------------------


def test_logprobs():
    """In the shape of their kind, those of the chunk alone."""
    entry = {"token": "a", "logprob": -1.0}
    chat = {"choices": [{"index": 0, "delta": {}, "logprobs": {"content": [entry]}}]}
    legacy = {"tokens": ["a"], "token_logprobs": [-1.0]}
    completion = {"choices": [{"index": 0, "text": "a", "logprobs": legacy}]}
    (found, *_) = happened(LiveAccumulator(), chat)
    assert isinstance(found, LogprobsDelta)
    assert found.logprobs.content == [TokenLogprob(token="a", logprob=-1.0)]
    found = next(e for e in happened(LiveAccumulator(), completion) if type(e) is LogprobsDelta)
    assert found.logprobs.tokens == ("a",)
    assert [event[:2] for event in live_events(completion)][:2] == [
        ("ContentDelta", 0),
        ("LogprobsDelta", 0),
    ]


@pytest.mark.parametrize("odd", [{}, [1], "odd", None], ids=repr)
def test_no_logprobs(odd):
    """Nothing is told of them, but as an issue."""
    events = live_events({"choices": [{"index": 0, "delta": {}, "logprobs": odd}]})
    assert {event[0] for event in events} == {"IssueReported"}


def test_usage():
    """Told when it changes, wherever the server has it."""
    counted = {"total_tokens": 1}
    more = {"total_tokens": 2}
    events = happened(
        LiveAccumulator(),
        {"choices": [], "usage": counted},
        {"choices": [], "usage": counted},
        {"choices": [], "usage": more},
    )
    assert [event.usage for event in events if isinstance(event, UsageReported)] == [
        Usage(total_tokens=1),
        Usage(total_tokens=2),
    ]
    in_choice = {"choices": [{"index": 0, "delta": {}, "usage": counted}]}
    vendor = {"choices": [], "x_groq": {"usage": counted}}
    for data in (in_choice, vendor):
        assert UsageReported(usage=Usage(total_tokens=1)) in happened(LiveAccumulator(), data)


def test_no_usage_is_no_event():
    """A field that says nothing."""
    events = happened(LiveAccumulator(), {"choices": [{"index": 0, "delta": {}, "usage": None}]})
    assert not any(isinstance(event, UsageReported) for event in events)


def test_an_error_of_the_server():
    """It is told, and the stream goes on if it does."""
    live = LiveAccumulator()
    events = happened(live, {"error": {"message": "boo"}}, chunk(content="a"))
    assert isinstance(events[0], ErrorReported)
    assert isinstance(events[0].error, UpstreamError)
    assert ContentDelta(index=0, delta="a") in events
    assert live.failure is None
    assert live.outcome.error is events[0].error


def test_issues_of_framing_and_merging():
    """Each once, after what it came with."""
    events = live_events(b"data:  nonsense\n\n", event(chunk(content=5)), b"data: [DONE]\n\n")
    codes = [event[1].code for event in events if event[0] == "IssueReported"]
    assert codes == ["bad_json", "bad_type", "finish_missing"]


def test_the_chunk_comes_first():
    """From bytes as a dict, else as the very object."""
    given = chunk(content="a")
    live = LiveAccumulator()
    (received, _) = live.feed(given)
    assert received.chunk is given
    (received, _) = LiveAccumulator().feed(event(given))
    assert received == ChunkReceived(chunk=given)


def test_chunks_of_any_make():
    """Models, and text."""
    model = from_dict(chunk(content="a"))
    text = event(chunk(content="b")).decode()
    assert [e[2] for e in live_events(model, text) if e[0] == "ContentDelta"] == ["a", "b"]


def test_models_inside_dicts():
    """Entries may be objects too, if they say what they hold."""
    entry = from_dict(chunk(content="a")).choices[0]
    assert ("ContentDelta", 0, "a") in live_events({"choices": [entry, 5]})


@pytest.mark.parametrize(
    "odd",
    [None, 5, [], {"type": "ping"}, {"choices": None}, {"choices": [{"index": "x", "delta": {}}]}],
    ids=repr,
)
def test_what_is_no_chunk(odd):
    """It adds nothing, and does no harm."""
    live = LiveAccumulator()
    assert type(live.feed(odd)[0]) is ChunkReceived
    assert ("ContentDelta", 0, "a") in told(live.feed(chunk(content="a")))


def test_snapshots():
    """Each event has the response with its own chunk in it, and not the next."""
    live = LiveAccumulator(snapshots=True)
    events = live.feed(chunk(content="a")) + live.feed(chunk(content="b", finish="stop"))
    events += live.finish()
    texts = [event.snapshot.choices[0].message.content for event in events]
    assert texts == ["a", "a", "ab", "ab", "ab", "ab"]
    assert live.snapshot() == live.outcome.response


def test_snapshots_of_everything():
    """Every event has one, or none has; and they say the same."""
    entry = {"token": "a", "logprob": -1.0, "bytes": None, "top_logprobs": []}
    function = {"name": "f", "arguments": "1"}
    delta = {"content": "a", "refusal": "b", "reasoning": "c", "function_call": function}
    calls = [{"index": at, "id": f"{at}", "function": function} for at in range(2)]
    choice = {"index": 0, "delta": {**delta, "tool_calls": calls}}
    usage, failing = {"choices": [], "usage": {"total_tokens": 1}}, {"error": "boo"}
    late = chunk(tool_calls=[{"index": 2, "id": "c"}])
    for chunks, options in (
        ([{"choices": [{**choice, "logprobs": {"content": [entry]}}]}] * 3, {}),
        ([{"choices": [choice]}] * 5, {}),
        ([chunk(content="a")] * 5, {}),
        ([chunk(content="a\ud83d")], {}),
        ([call("", id="c", name="f"), *[call("1")] * 4], {}),
        ([call("{}", at, id=f"{at}", name="f") for at in range(2)], {}),
        ([{"choices": [{**choice, "finish_reason": "stop"}]}, usage, failing, late], {}),
        ([{"choices": [{"index": 0, "message": {"tool_calls": calls}}]}], {}),
        ([chunk(content="a")], {"strict": True}),
        ([chunk(content="a"), b"data: {\n\n"], {"strict": True}),
    ):
        with_snapshots = happened(LiveAccumulator(snapshots=True, **options), *chunks)
        without = happened(LiveAccumulator(**options), *chunks)
        assert all(event.snapshot is not None for event in with_snapshots)
        assert all(event.snapshot is None for event in without)
        assert repr(told(with_snapshots)) == repr(told(without))


# -- The end -------------------------------------------------------------------------


def test_the_outcome_waits_for_the_end():
    """Before, there is the snapshot."""
    live = LiveAccumulator()
    live.feed(chunk(content="a"))
    assert not live.has_ended
    with pytest.raises(InputRefused, match="has not ended"):
        _ = live.outcome
    live.finish()
    assert live.has_ended
    for use in (live.finish, lambda: live.feed(b"")):
        with pytest.raises(InputRefused, match=r"^the stream has finished$"):
            use()


A = event(chunk(content="a"))


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (b": hello\n" + A + b"data: {\n\n", {}),
        (event({"choices": 5}) + b"data: {\n\n", {"limits": Limits(issues=1)}),
        (event(chunk(content="a", finish="stop")) + b'data: {"choices": [\n\n', {}),
        (event({"choices": [], "model": "b"}), {"kind": "completion"}),
        (event(chunk(x="a")) + event(chunk(x="b")), {"rules": {"choices.delta.x": Rule.LAST}}),
    ],
    ids=["issues", "one issue", "cut", "kind", "rules"],
)
def test_the_outcome_is_that_of_rebuild(data, options):
    """Issues of framing and merging in order, and their counts; with all options."""
    for end in (b"", b"data: [DONE]\n\n"):
        live = LiveAccumulator(**options)
        happened(live, data + end)
        wanted = rebuild(data + end, **options)
        assert placeless(live.outcome) == placeless(wanted)
        assert live.done is live.outcome.done is bool(end)


def placeless(outcome):
    """Return *outcome* without the offsets of its issues: a chunk has lost its own."""
    issues = tuple(attrs.evolve(issue, offset=None) for issue in outcome.issues)
    return attrs.evolve(outcome, issues=issues)


def test_a_json_library_that_is_not_known():
    """It is told at once, as by `rebuild`."""
    with pytest.raises(TypeError, match="json must be"):
        LiveAccumulator(json="simplejson")


def test_text_with_half_a_pair():
    """A str may hold what UTF-8 cannot."""
    data = 'data: {"choices":[{"index":0,"delta":{"content":"\ud83d"}}]}\n\n'
    said = rebuild(data).response.choices[0].message.content
    assert live_events(data)[0] == ("ContentDelta", 0, said)


def test_alike_chunks_go_the_short_way(monkeypatch):
    """After a few that are alike, no rule is looked up for each field again."""
    merged = []
    add_plain = Accumulator.add_plain
    monkeypatch.setattr(
        Accumulator, "add_plain", lambda self, plain: merged.append(plain) or add_plain(self, plain)
    )
    live_events(*[chunk(content="a")] * 50)
    assert len(merged) < 10


def test_bytes_that_end_in_an_event():
    """The last chunk needs no blank line."""
    assert ("ContentDelta", 0, "a") in live_events(event(chunk(content="a")).rstrip())


def test_a_bound_of_the_framing():
    """What came before is told; then the failure; then nothing goes."""
    live = LiveAccumulator(limits=Limits(line=200))
    data = event(chunk(content="a")) + b"data: " + b"x" * 300
    (received, delta, failure) = live.feed(data)
    assert (type(received), delta) == (ChunkReceived, ContentDelta(index=0, delta="a"))
    assert failure.error is live.failure
    assert isinstance(live.failure, LimitExceeded)
    with pytest.raises(InputRefused, match="line: "):
        live.feed(b"")
    assert live.finish()[0] == ContentDone(index=0, content="a")
    assert live.outcome.error is live.failure
    assert live.outcome.response.choices[0].message.content == "a"


def test_a_bound_of_the_merging():
    """The chunks behind it are not merged."""
    live = LiveAccumulator(limits=Limits(text=2))
    events = live.feed(event(chunk(content="abc")) + event(chunk(content="d")))
    assert [type(event) for event in events][::2] == [ChunkReceived, ErrorReported]
    live.finish()
    assert isinstance(live.outcome.error, LimitExceeded)


def test_a_bound_at_the_end():
    """The end of the input may cross one, too."""
    live = LiveAccumulator(limits=Limits(event=30))
    data = b'data: {"choices":\n' + b"data: [ 1, 2, 3, 4, 5, 6, 7, 8, 9"
    events = live.feed(data) + live.finish()
    assert any(isinstance(event, ErrorReported) for event in events)
    assert isinstance(live.outcome.error, LimitExceeded)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"data: nonsense\n\n", FramingError),
        ({"choices": 5}, InvalidChunk),
        ({"error": "boo"}, UpstreamError),
        (chunk(content="a"), IncompleteStream),
    ],
    ids=["framing", "chunk", "upstream", "end"],
)
def test_strict(data, error):
    """The first fault ends the stream, and is the last event but for what is done."""
    live = LiveAccumulator(strict=True)
    events = live.feed(data) + live.finish()
    failures = [event.error for event in events if isinstance(event, ErrorReported)]
    assert failures == [live.failure]
    assert isinstance(live.failure, error)


def test_strict_and_whole():
    """There is nothing to complain of."""
    live = LiveAccumulator(strict=True)
    happened(live, event(chunk(content="a", finish="stop")), b"data: [DONE]\n\n")
    assert live.failure is None


def test_reconnection():
    """What the specification says of `id`, `retry` and comments."""
    live = LiveAccumulator()
    assert (live.last_event_id, live.retry, live.comments) == ("", None, 0)
    live.feed(b": alive\nid: 7\nretry: 50\n")
    assert (live.last_event_id, live.retry, live.comments) == ("", 50, 1)
    live.feed(b"\nid: 8\0\nretry: x\nid: 9\n")
    assert live.last_event_id == "7"


# -- For all streams -----------------------------------------------------------------


def sums(events, index):
    """Return what the deltas of choice *index* add up to: content, refusal, reasoning, calls."""
    mine = [event for event in events if getattr(event, "index", None) == index]
    content = "".join(e.delta for e in mine if type(e) is ContentDelta)
    refusal = "".join(e.delta for e in mine if type(e) is RefusalDelta)
    reasoning = {}
    for each in mine:
        if type(each) is ReasoningDelta:
            reasoning[each.field] = reasoning.get(each.field, "") + each.delta
    calls = {}
    for each in mine:
        if type(each) is ToolCallArgumentsDelta:
            calls[each.position] = calls.get(each.position, "") + each.delta
    return content, refusal, reasoning, calls


@slow
@given(streams())
def test_deltas_add_up_to_the_response(chunks):
    """Whatever the stream, what was told is what is there in the end."""
    live = LiveAccumulator()
    events = happened(live, *chunks)
    for choice in live.outcome.response.choices:
        content, refusal, reasoning, calls = sums(events, choice.index)
        if hasattr(choice, "text"):
            assert content == choice.text
            continue
        message = to_dict(choice.message)
        assert content == (message["content"] or "")
        assert refusal == (message["refusal"] or "")
        for field, text in reasoning.items():
            assert text == message[field]
        arguments = sorted(
            call["function"]["arguments"] or "" for call in message.get("tool_calls") or ()
        )
        assert sorted(calls.values()) == [text for text in arguments if text]
        done = [e for e in events if type(e) is ToolCallDone and e.index == choice.index]
        assert sorted({e.position: e.arguments for e in done}.values()) == arguments


@slow
@given(st.lists(hostile_chunks.filter(lambda chunk: type(chunk) is not str), max_size=5))
def test_any_chunks(chunks):
    """Nothing raises, and the outcome is that of the accumulator."""
    live = LiveAccumulator()
    happened(live, *chunks)
    accumulator = Accumulator()
    for each in chunks:
        accumulator.add(each)
    assert repr(live.outcome) == repr(accumulator.finish())


def by_the_rules(*chunks):
    """Return the events of *chunks*, each of which is merged as if it were like none before."""
    live = LiveAccumulator()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Accumulator, "add_alike", lambda self, chunk: None)
        return told(happened(live, *chunks))


@slow
@given(streams())
def test_chunks_that_are_alike(chunks):
    """What is told in short is what is told at length."""
    assert live_events(*chunks) == by_the_rules(*chunks)


ALIKE = {
    "texts": [chunk(content=text, refusal=text) for text in ("a", "", "b", "\ud83d", "\ude00")],
    "choices": [chunk(index % 2, content=str(index)) for index in range(8)],
    "reasoning": [chunk(reasoning=text, reasoning_content=text) for text in "abc"],
    "finished": [chunk(content="a", finish="stop") for _ in range(4)],
    "completion": [{"choices": [{"index": 0, "text": text}]} for text in "abc"],
    "numbers": [{"choices": [{"index": 0, "text": "a", "token": at}]} for at in range(4)],
    "parts, then text": [chunk(content=[{"type": "text", "text": "a"}])]
    + [chunk(content="b") for _ in range(3)],
    "calls": [call("", id="c", name="f"), *(call(text) for text in ('{"a"', ":", "1", "}"))],
    "calls and text": [
        call("", id="c", name="f"),
        *(
            chunk(content="a", tool_calls=[{"index": 0, "function": {"arguments": "1"}}])
            for _ in range(4)
        ),
    ],
    "calls in turns": [
        call("", id="c", name="f"),
        call("", 1, id="d", name="g"),
        *(call("1", index % 2) for index in range(6)),
        *(call("1", 1) for _ in range(3)),
    ],
    "a function": [
        chunk(function_call={"name": "f", "arguments": ""}),
        *(chunk(function_call={"arguments": text}) for text in ("{", "}", "")),
    ],
    "two fields, and two others": [
        chunk(content="a", reasoning="b\ud83d"),
        chunk(role="assistant", content="c"),
        chunk(content="d", reasoning="e"),
    ],
    "one field, and another": [
        *(chunk(refusal="a") for _ in range(3)),
        call("1", id="c", name="f"),
        chunk(refusal="b"),
        call("2"),
        chunk(refusal="c"),
        chunk(content="d"),
    ],
    "what is no string": [{"choices": [{1: 2}]}, *(chunk(content="a") for _ in range(3))],
}


@pytest.mark.parametrize("chunks", ALIKE.values(), ids=ALIKE)
def test_chunks_of_one_shape(chunks):
    """The same for each thing that a run of chunks can have."""
    assert live_events(*chunks) == by_the_rules(*chunks)


SHAPES = [
    *(chunk(index, content=text) for index in (0, 1) for text in ("a", "\ud83d")),
    chunk(content="a", reasoning="b"),
    chunk(role="assistant", content="a"),
    chunk(refusal="a"),
    chunk(content="a", finish="stop"),
    chunk(content=None),
    {"choices": [{"index": 0, "delta": {"content": "a"}, "text": "a"}]},
    {"choices": []},
    call("{", id="c", name="f"),
    call("}", 1),
    call("1"),
    chunk(function_call={"arguments": "1"}),
]


@slow
@given(st.lists(st.sampled_from(SHAPES), max_size=12))
def test_chunks_of_all_shapes(chunks):
    """Whatever comes after what."""
    assert live_events(*chunks) == by_the_rules(*chunks)


def test_what_only_a_caller_can_make():
    """A reason that is a huge number, log probabilities nested too deep: no error escapes."""
    deep = {}
    for _ in range(5000):
        deep = {"a": deep}
    logprobs = {"choices": [{"index": 0, "delta": {"content": "a"}, "logprobs": deep}]}
    (_, code) = [each[1].code for each in live_events(logprobs) if each[0] == "IssueReported"]
    assert code == "finish_missing"
    assert live_events(chunk(finish=1 << 20_000))[0][:2] == ("ChoiceFinished", 0)
    foreign = call(object(), id="c", name="f")
    assert live_events(foreign, chunk(content="a"))[-1][1].code == "finish_missing"


@slow
@given(st.data())
def test_any_split(data):
    """However bytes are cut, the same events come."""
    chunks = data.draw(streams())
    body = b"".join(map(event, chunks)) + b"data: [DONE]\n\n"
    pieces = data.draw(split(body))
    assert live_events(*pieces) == live_events(body)
