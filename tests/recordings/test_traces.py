"""Traces that keep the message alone: OpenTelemetry, OpenInference, LangChain."""

from __future__ import annotations

import json

import pytest

from streamkit.recordings import _langchain, _span_facts, _traces, rebuild, sniff


MESSAGE = {"role": "assistant", "content": "Hello"}
TOOL = {
    "id": "call-1",
    "type": "function",
    "function": {"name": "f", "arguments": '{"a":1}'},
}


def value_of(value):
    """Return an `AnyValue`, as OpenTelemetry's JSON has it."""
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs_of(value)}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [value_of(item) for item in value]}}
    if isinstance(value, bool):
        return {"boolValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def pairs_of(values):
    return [{"key": key, "value": value_of(value)} for key, value in values.items()]


CHOICE = {"index": 0, "finish_reason": "stop", "message": MESSAGE}
CHOICE_TEXT = CHOICE | {"message": json.dumps(MESSAGE)}
MODEL = {"gen_ai.response.model": "m-1", "gen_ai.usage.output_tokens": 2}
PHOENIX = {
    "llm.model_name": "m-1",
    "llm.token_count.completion": 2,
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "Hello",
}
NESTED = {
    "llm": {
        "model_name": "m-1",
        "token_count": {"completion": 2},
        "output_messages": [{"message": MESSAGE}],
    }
}
KWARGS = {
    "content": "Hello",
    "response_metadata": {"finish_reason": "stop", "model_name": "m-1"},
    "usage_metadata": {"output_tokens": 2},
}
GENERATION = {"text": "Hello", "message": {"lc": 1, "kwargs": KWARGS}}
OUTPUT = {"token_usage": {"completion_tokens": 2}, "model_name": "m-1"}
SPAN = {"traceId": "1", "spanId": "2"}
TRACES = {
    "events of a span": SPAN
    | {
        "attributes": pairs_of(MODEL),
        "events": [{"name": "gen_ai.choice", "attributes": pairs_of(CHOICE_TEXT)}],
    },
    "a span of Python's": {
        "start_time": "x",
        "attributes": MODEL,
        "events": [{"name": "gen_ai.choice", "attributes": CHOICE_TEXT}],
    },
    "an export of logs": {
        "resourceLogs": [
            {
                "scopeLogs": [
                    {
                        "logRecords": [
                            {
                                "eventName": "gen_ai.choice",
                                "attributes": pairs_of(MODEL),
                                "body": value_of(CHOICE),
                            }
                        ]
                    }
                ]
            }
        ]
    },
    "a record": {"attributes": MODEL | {"event.name": "gen_ai.choice"}, "body": CHOICE},
    "a record with text": {
        "event_name": "gen_ai.choice",
        "attributes": MODEL,
        "body": json.dumps(CHOICE | {"message": "Hello"}),
    },
    "flat": PHOENIX,
    "columns": {f"attributes.{name}": value for name, value in PHOENIX.items()},
    "nested": {"span_kind": "LLM", "attributes": NESTED},
    "a list in a column": {
        "attributes.llm.model_name": "m-1",
        "attributes.llm.token_count.completion": 2,
        "attributes.llm.output_messages": [
            {"message.role": "assistant", "message.content": "Hello"}
        ],
    },
    "generations": {"generations": [[GENERATION]], "llm_output": OUTPUT},
    "generations in outputs": {"run_type": "llm", "outputs": {"generations": [[GENERATION]]}},
    "generations of one prompt": {"generations": [GENERATION]},
    "a message as data": {"generations": [[{"message": {"type": "ai", "data": KWARGS}}]]},
    "a plain message": {"response": {"generations": [[{"message": KWARGS}]]}},
}


@pytest.mark.parametrize("name", TRACES)
@pytest.mark.parametrize("indent", [None, 2])
def test_messages(name, indent):
    """Each gives its message, and what else it knows."""
    data = json.dumps(TRACES[name], indent=indent).encode()
    assert sniff(data).name == "rows"
    (outcome,) = rebuild(data)
    (choice,) = outcome.response.choices
    assert (choice.message.role, choice.message.content) == ("assistant", "Hello")
    assert outcome.response.model == "m-1"
    assert outcome.response.usage.completion_tokens == 2
    assert "message_only" in outcome.issue_counts
    told = "finish_missing" not in outcome.issue_counts
    assert (choice.finish_reason == "stop") is told


def test_choices_in_order():
    """By their index, as numbers or as texts; what is no index is 0."""
    events = [
        {"name": "gen_ai.choice", "attributes": CHOICE | {"index": index}} for index in ("1", 0)
    ]
    response = _traces.final_of(SPAN | {"events": [*events, {"name": "other"}]})
    assert [choice["index"] for choice in response["choices"]] == [0, 1]
    assert _span_facts._index({"index": "x"}) == 0


def test_content_that_was_not_kept():
    """Instrumentation leaves contents out unless told: then there are none."""
    event = {"name": "gen_ai.choice", "attributes": {"finish_reason": "stop"}}
    response = _traces.final_of(SPAN | {"events": [event]})
    assert response["choices"] == [
        {"index": 0, "message": {"role": "assistant"}, "finish_reason": "stop"}
    ]
    event["attributes"]["content"] = "Hello"
    response = _traces.final_of(SPAN | {"events": [event]})
    assert response["choices"][0]["message"]["content"] == "Hello"


def test_tool_calls():
    """They are spread over attributes, or LangChain's own."""
    named = "llm.output_messages.0.message.tool_calls.0.tool_call."
    flat = {
        named + "id": "call-1",
        named + "function.name": "f",
        named + "function.arguments": '{"a":1}',
        "llm.output_messages.0.message.role": "assistant",
    }
    other = {
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.id": "call-1",
        "gen_ai.completion.0.tool_calls.0.name": "f",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"a":1}',
    }
    own = {"name": "f", "args": {"a": 1}, "id": "call-1", "type": "tool_call"}
    rows = [
        flat,
        other,
        {"generations": [[{"message": {"content": "", "tool_calls": [own]}}]]},
        {"generations": [[{"message": {"tool_calls": [own | {"args": '{"a":1}'}]}, "text": ""}]]},
        {"generations": [[{"message": {"additional_kwargs": {"tool_calls": [TOOL]}}}]]},
    ]
    for row in rows:
        (choice,) = _traces.final_of(row)["choices"]
        assert choice["message"]["tool_calls"] == [TOOL]
    bare = {"llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f"}
    bare["trace_id"] = "1"
    (choice,) = _traces.final_of(bare)["choices"]
    assert choice["message"]["tool_calls"] == [{"type": "function", "function": {"name": "f"}}]


def test_prompts_and_candidates():
    """Each prompt is a response; the usage, which is of all, is of none of them."""
    row = {"generations": [[GENERATION, GENERATION], [GENERATION]], "llm_output": OUTPUT}
    first, second = rebuild(json.dumps(row))
    assert [len(each.response.choices) for each in (first, second)] == [2, 1]
    assert [each.response.model for each in (first, second)] == ["m-1", "m-1"]
    assert first.response.choices[1].index == 1


def test_text():
    """Of a model that completes text, with its log probabilities."""
    logprobs = {"tokens": ["Hello"], "token_logprobs": [-1.0]}
    info = {"finish_reason": "length", "logprobs": logprobs}
    row = {"generations": [[{"text": "Hello", "generation_info": info}]], "llm_output": None}
    (outcome,) = rebuild(json.dumps(row))
    (choice,) = outcome.response.choices
    assert (choice.text, choice.finish_reason) == ("Hello", "length")
    assert outcome.response.object == "text_completion"


@pytest.mark.parametrize(
    "row",
    [
        {"generations": []},
        {"generations": [[]]},
        {"generations": [5]},
        {"generations": "x", "outputs": 5},
        {"generations": [[{"score": 1}]]},
        {"name": "gen_ai.user.message", "body": {"content": "Hi"}},
        {"llm.model_name": "m-1"},
        {"gen_ai": {"a": {"b": [1]}}},
    ],
)
def test_no_message(row):
    """What tells of none gives none."""
    assert _traces.final_of(row) is None
    assert list(_langchain.of_prompts(row)) == []


def test_strange_values():
    """Values of other kinds, and nesting without end."""
    deep = {"stringValue": "x"}
    for _ in range(40):
        deep = {"kvlistValue": {"values": [{"key": "a", "value": deep}]}}
    assert _span_facts.facts_of({"attributes": [{"key": "a", "value": deep}, {"key": 5}]})["a"]
    assert _span_facts._any_value({"intValue": "9" * 30}) == "9" * 30
    assert _span_facts._any_value({"intValue": "--5"}) == "--5"
    assert _span_facts._any_value({"a": 1}) == {"a": 1}
    assert _span_facts._any_value(value_of([1, True, {"a": -2}])) == [1, True, {"a": -2}]
    nested = "x"
    for _ in range(40):
        nested = {"a": nested}
    assert len(_span_facts.facts_of({"llm": nested})) < 20
