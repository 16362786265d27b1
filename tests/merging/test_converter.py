"""Tests of `from_dict`, `to_dict` and `to_json`, and of the lenient `structure`."""

from __future__ import annotations

import copy
import inspect
import json
import sys

from collections import OrderedDict
from collections.abc import Mapping
from types import MappingProxyType

import pytest

from hypothesis import given, settings

from streamkit import (
    ABSENT,
    ChatCompletion,
    ChatCompletionChunk,
    ChatLogprobs,
    Choice,
    Completion,
    CompletionChunk,
    CompletionLogprobs,
    Issue,
    Message,
    TokenLogprob,
    TopLogprob,
    Usage,
    finalize,
    from_dict,
    to_dict,
    to_json,
)
from streamkit._converter import structure
from streamkit._errors import InvalidChunk
from streamkit._views import ListView

from . import accumulate, chunk, deltas, entries, without_nulls
from .strategies import chat_streams, completion_streams


# -- from_dict: which model ----------------------------------------------------------


@pytest.mark.parametrize(
    ("plain", "cls"),
    [
        ({"object": "chat.completion"}, ChatCompletion),
        ({"object": "text_completion"}, Completion),
        ({"object": "chat.completion.chunk"}, ChatCompletionChunk),
        ({"object": "chat.completion.chunk", "choices": [{"message": {}}]}, ChatCompletionChunk),
        ({}, ChatCompletionChunk),
        ({"choices": []}, ChatCompletionChunk),
        ({"choices": None}, ChatCompletionChunk),
        ({"choices": [{"delta": {}}]}, ChatCompletionChunk),
        ({"choices": [{"index": 0, "text": "a"}]}, CompletionChunk),
        ({"choices": [{"index": 0, "message": {}}]}, ChatCompletion),
        ({"choices": [{"index": 0, "message": {}, "delta": {}}]}, ChatCompletionChunk),
    ],
    ids=str,
)
def test_the_model_is_chosen_by_object_then_by_the_first_choice(plain, cls):
    """`object` decides where it names a kind; else the first choice does."""
    assert type(from_dict(plain)) is cls


def test_the_caller_can_name_the_model():
    """A completion chunk shares its `object` with the full object; the caller says which."""
    plain = {"object": "text_completion", "choices": [{"index": 0, "text": "a"}]}
    assert type(from_dict(plain, CompletionChunk)) is CompletionChunk


@pytest.mark.parametrize("mapping", [OrderedDict, MappingProxyType], ids=lambda cls: cls.__name__)
def test_any_mapping_is_taken(mapping):
    """Of the outermost object, and within it."""
    usage, x = mapping({"total_tokens": 1}), mapping({"y": mapping({})})
    model = from_dict(mapping({"id": "a", "usage": usage, "x": x}))
    assert (model.id, model.usage, model.extra) == ("a", Usage(total_tokens=1), {"x": {"y": {}}})


@pytest.mark.parametrize("data", [None, [], "{}", 1, ChatCompletion()], ids=repr)
def test_what_is_no_mapping_is_a_type_error(data):
    """Only mappings are read."""
    with pytest.raises(TypeError, match=f"^data must be a mapping, not {type(data).__name__}$"):
        from_dict(data)


@pytest.mark.parametrize("cls", [dict, int, str])
def test_what_is_no_model_is_a_type_error(cls):
    """Only models are made."""
    with pytest.raises(TypeError, match="cls must be one of"):
        from_dict({}, cls)


# -- from_dict: paths of errors ------------------------------------------------------


CHUNK_WITH_LOGPROBS = {
    "choices": [{"logprobs": {"content": [{"token": "a", "logprob": -1, "top_logprobs": []}]}}]
}
ARGUMENTS = ".choices[0].delta.tool_calls[0].function.arguments"


@pytest.mark.parametrize(
    ("plain", "error"),
    [
        ({"id": 5}, "expected str, got int @ $.id"),
        ({"created": "now"}, "expected int, got str @ $.created"),
        ({"created": True}, "expected int, got bool @ $.created"),
        ({"created": 1.5}, "expected int, got float @ $.created"),
        ({"choices": {}}, "expected an array, got dict @ $.choices"),
        (
            {"object": "chat.completion", "choices": {}},
            "expected an array, got dict @ $.choices",
        ),
        ({"choices": ["a"]}, "expected an object, got str @ $.choices[0]"),
        (
            {"choices": [{"delta": {}}, {"delta": {"content": 5}}]},
            "expected str or an array, got int @ $.choices[1].delta.content",
        ),
        (
            {"choices": [{"delta": {"content": ["a"]}}]},
            "expected an object, got str @ $.choices[0].delta.content[0]",
        ),
        (
            {"choices": [{"delta": {"tool_calls": [{"function": {"arguments": []}}]}}]},
            "expected str or an object, got list @ $" + ARGUMENTS,
        ),
        (
            {"choices": [{"logprobs": {"content": [{"token": "a", "logprob": "-1"}]}}]},
            "expected float, got str @ $.choices[0].logprobs.content[0].logprob",
        ),
        (
            {"choices": [{"logprobs": {"content": [{"token": "a"}]}}]},
            "required field 'logprob' is missing @ $.choices[0].logprobs.content[0].logprob",
        ),
        (
            {"object": "chat.completion", "choices": [{"index": 0}]},
            "required field 'message' is missing @ $.choices[0].message",
        ),
        (
            {"object": "text_completion", "choices": [{"index": 0, "tokens": ["a"]}]},
            "expected int, got str @ $.choices[0].tokens[0]",
        ),
        (
            {"usage": {"prompt_tokens_details": 1}},
            "expected an object, got int @ $.usage.prompt_tokens_details",
        ),
    ],
    ids=lambda value: value.rpartition("@ ")[2] if isinstance(value, str) else "",
)
def test_errors_say_where_and_what(plain, error):
    """The message says what was wanted, what came, and where, as JSONPath."""
    with pytest.raises(InvalidChunk) as caught:
        from_dict(plain)
    assert str(caught.value) == error
    assert caught.value.errors == (error,)
    assert caught.value.path == error.rpartition(" @ ")[2]
    assert caught.value.code == "invalid_chunk"


def test_the_path_is_what_comes_last():
    """Whatever a caller's class is called."""
    with pytest.raises(InvalidChunk) as caught:
        from_dict({"id": type("a @ b", (), {})()})
    assert caught.value.path == "$.id"


def test_all_errors_are_listed_and_three_are_told():
    """`errors` has a line for each, the message the first three, `path` the first."""
    plain = {"id": 1, "object": 2, "model": 3, "created": "4"}
    with pytest.raises(InvalidChunk) as caught:
        from_dict(plain, ChatCompletionChunk)
    assert len(caught.value.errors) == 4
    assert str(caught.value) == "; ".join(caught.value.errors[:3])
    assert caught.value.path == "$.id"


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "plain",
    [{"x": nested(100_000)}, {"choices": [{"index": 0, "message": {"x": nested(100_000)}}]}],
    ids=["top", "message"],
)
def test_nesting_too_deep_is_an_invalid_chunk(plain):
    """The interpreter's recursion limit is met as an error of the data."""
    with pytest.raises(InvalidChunk, match=r"^nested too deep @ \$"):
        from_dict(plain, ChatCompletion)


def test_nesting_too_deep_names_a_path_of_the_wire():
    """`extra` is no key of the data, so no path may name it."""
    with pytest.raises(InvalidChunk) as caught:
        from_dict({"x": nested(100_000)}, ChatCompletion)
    assert "extra" not in caught.value.path


class Bottomless(Mapping):
    """A mapping that never comes to an end of itself."""

    def __getitem__(self, name):
        return self[name]

    def __iter__(self):
        return iter(["id"])

    def __len__(self):
        return 1


def test_a_mapping_without_a_bottom_is_an_invalid_chunk():
    """Where no path can be named, it is the whole."""
    with pytest.raises(InvalidChunk, match=r"^nested too deep @ \$$") as caught:
        from_dict(Bottomless(), ChatCompletion)
    assert caught.value.path == "$"


def with_headroom(frames, call):
    """Call *call* with about *frames* frames left before the recursion limit."""

    def descend(left):
        return descend(left - 1) if left > 0 else call()

    return descend(sys.getrecursionlimit() - len(inspect.stack()) - frames)


def test_a_caller_near_the_recursion_limit_gets_an_invalid_chunk():
    """The limit may as well be met by the caller's own frames: it is an error all the same."""
    paths = set()
    from_dict(CHUNK_WITH_LOGPROBS)  # what is made when first used is made
    for frames in range(3, 60):
        try:
            with_headroom(frames, lambda: from_dict(CHUNK_WITH_LOGPROBS))
        except InvalidChunk as error:
            paths.add(error.path)
        except RecursionError:
            continue
    assert all(path.startswith("$") for path in paths)
    assert paths


@pytest.mark.parametrize(
    ("logprobs", "cls"),
    [
        ({"content": []}, ChatLogprobs),
        ({"refusal": None}, ChatLogprobs),
        ({}, ChatLogprobs),
        ({"tokens": ["a"], "token_logprobs": [0]}, CompletionLogprobs),
        ({"text_offset": [0]}, CompletionLogprobs),
    ],
    ids=str,
)
@pytest.mark.parametrize("object_", ["chat.completion", "text_completion"])
def test_logprobs_of_either_shape_are_read_on_either_kind(object_, logprobs, cls):
    """The keys tell the shape, not the kind of response."""
    answer = {"index": 0, "message": {}, "logprobs": logprobs}
    response = from_dict({"object": object_, "choices": [answer]})
    assert type(response.choices[0].logprobs) is cls


def test_an_integer_is_a_number_and_stays_one():
    """A log probability of 0 is accepted, and written back as 0, not 0.0."""
    model = from_dict({"token": "a", "logprob": 0}, TokenLogprob)
    assert type(model.logprob) is int
    assert to_json(model) == '{"token":"a","logprob":0,"bytes":null}'


def test_a_field_named_extra_is_an_unknown_field():
    """The wire may use the name `extra`, too."""
    model = from_dict({"extra": {"a": 1}}, Usage)
    assert model.extra == {"extra": {"a": 1}}
    assert to_dict(model) == {"extra": {"a": 1}}


def test_absent_is_taken_as_a_value():
    """A dict built in Python may say ABSENT, which is the same as leaving the key out."""
    assert from_dict({"id": ABSENT}) == ChatCompletionChunk()


# -- Nothing is shared ---------------------------------------------------------------


PLAIN = {
    "object": "chat.completion",
    "choices": [
        {"index": 0, "message": {"content": [{"type": "text"}], "x": [1]}, "x": {"a": [1]}}
    ],
    "x": ({"a": 1},),
}


def spoil(value):
    """Change every container in *value*."""
    if isinstance(value, dict):
        for item in [*value.values()]:
            spoil(item)
        value["spoiled"] = True
    elif isinstance(value, list):
        for item in [*value]:
            spoil(item)
        value.append("spoiled")


def test_the_callers_data_is_neither_changed_nor_kept():
    """Changing the data afterwards changes nothing in the model."""
    plain = copy.deepcopy(PLAIN)
    model = from_dict(plain)
    assert plain == PLAIN
    before = to_json(model)
    spoil(plain)
    assert to_json(model) == before


def test_the_dict_shares_nothing_with_the_model():
    """Changing what `to_dict` returned changes nothing in the model."""
    model = from_dict(PLAIN)
    before = to_json(model)
    spoil(to_dict(model))
    assert to_json(model) == before


def test_the_dict_of_a_snapshot_shares_nothing_with_it():
    """The same holds for lists that are views of what is still accumulated."""
    entry = {"token": "a", "logprob": -1, "top_logprobs": [{"token": "a", "logprob": -1}]}
    rows = {"tokens": ["a"], "top_logprobs": [{"a": -1}]}
    chunks = entries({"logprobs": {"content": [entry]}}, {"index": 1, "logprobs": rows})
    accumulator = accumulate(chunks)
    before = to_json(accumulator.snapshot())
    spoil(to_dict(accumulator.snapshot()))
    assert to_json(accumulator.snapshot()) == before


# -- to_dict, to_json ----------------------------------------------------------------


@pytest.mark.parametrize("obj", [None, {}, 1, Issue("a", "b"), ChatCompletion], ids=repr)
def test_only_models_are_written(obj):
    """Whatever is no model is a TypeError, in both forms."""
    told = f"^obj must be one of streamkit's models, not {type(obj).__name__}$"
    with pytest.raises(TypeError, match=told):
        to_dict(obj)
    with pytest.raises(TypeError, match=told):
        to_json(obj)


def test_a_known_field_wins_over_the_same_name_in_extra():
    """`extra` never overwrites a field."""
    assert to_dict(Usage(prompt_tokens=1, extra={"prompt_tokens": 2})) == {"prompt_tokens": 1}


def test_json_is_strict_and_encodes():
    """NaN and Infinity are null, half a surrogate pair is U+FFFD, text is not escaped."""
    model = Usage(extra={"a": [float("nan"), (float("inf"), 1.5)], "é": "\ud83d", "z": "☃"})
    text = to_json(model)
    assert text == '{"a":[null,[null,1.5]],"é":"\ufffd","z":"☃"}'
    assert text.encode()


def test_json_can_be_indented():
    """`indent` spreads the text over lines; it says the same."""
    model = from_dict(PLAIN)
    text = to_json(model, indent=2)
    assert text.startswith('{\n  "id": ""')
    assert json.loads(text) == json.loads(to_json(model)) == to_dict(model)


def test_what_is_nested_too_deep_to_be_written():
    """A caller's own `extra` can be: that is an error of the data."""
    with pytest.raises(InvalidChunk, match=r"^nested too deep to be written$"):
        to_dict(Usage(extra={"x": nested(100_000)}))


def test_parts_made_by_hand_are_written():
    """Models of models, in lists or tuples, are written as dicts in lists."""
    response = ChatCompletion(
        choices=[Choice(index=0, message=Message(content=({"type": "text", "text": "a"},)))]
    )
    assert to_dict(response)["choices"][0]["message"]["content"] == [{"type": "text", "text": "a"}]


# -- structure: values of the wrong type stay ----------------------------------------


@pytest.mark.parametrize(
    "plain",
    [
        {"id": 5, "created": "now", "usage": 7},
        {"choices": "none"},
        {"choices": [{"index": 0, "message": "text"}, 5]},
        {"choices": [{"index": 0, "message": {"content": 5, "tool_calls": {"a": 1}}}]},
        {"choices": [{"index": 0, "message": {"content": ["a"], "audio": [1]}}]},
        {"choices": [{"index": 0, "message": {}, "logprobs": [1]}]},
        {"choices": [{"index": 0, "message": {}, "logprobs": {"content": "a"}}]},
        {"choices": [{"index": 0, "message": {}, "logprobs": {"content": [5, {"token": 1}]}}]},
    ],
    ids=str,
)
def test_structure_keeps_values_of_the_wrong_type(plain):
    """What a server sent is kept as it came, and written back."""
    response = structure(plain, ChatCompletion)
    written = to_dict(response)
    for name in plain.keys() - {"choices"}:
        assert written[name] == plain[name]
    if isinstance(plain.get("choices"), list):
        answer, *rest = plain["choices"]
        assert rest == written["choices"][1:]
        assert without_defaults(written["choices"][0]) == answer
    else:
        assert written["choices"] == plain.get("choices", [])
    assert response == structure(plain, ChatCompletion)


def without_defaults(value):
    """Return a choice without what the model adds: nulls, and the role."""
    if isinstance(value, dict):
        kept = {name: without_defaults(item) for name, item in value.items() if item is not None}
        return {name: item for name, item in kept.items() if (name, item) != ("role", "assistant")}
    return value


def test_structure_makes_log_probability_entries_when_they_are_read():
    """Entries are models where they can be, and what came where they cannot."""
    rows = [{"token": "a", "logprob": -1, "top_logprobs": [{"token": "b", "logprob": -2}]}, "odd"]
    made = structure({"content": rows}, ChatLogprobs)
    assert type(made.content) is ListView
    assert made.content[0].top_logprobs == (TopLogprob(token="b", logprob=-2),)
    assert made.content[1] == "odd"
    assert len(made.content) == len(rows)
    assert to_dict(made)["content"] == rows


BARE = {"token": "a", "logprob": -1}


@pytest.mark.parametrize(
    "top",
    [
        [{**BARE, "bytes": [97]}],
        [{**BARE, "bytes": "odd"}, {**BARE, "bytes": None}],
        [{"token": "a"}, {"logprob": -1}, "token and logprob"],
        "odd",
    ],
    ids=str,
)
def test_alternatives_are_kept(top):
    """Models where they can be; and what came, where they cannot."""
    rows = [{**BARE, "bytes": "odd", "top_logprobs": top}]
    made = structure({"content": rows}, ChatLogprobs)
    (entry,) = to_dict(made)["content"]
    assert made.content[0].bytes == "odd"
    assert without_nulls(to_dict(made.content[0])) == without_nulls(entry) == without_nulls(rows[0])


@pytest.mark.parametrize("content", [None, "odd"])
def test_structure_keeps_lists_that_are_none(content):
    """Where a list of entries should be and is not, the value stays."""
    assert structure({"content": content}, ChatLogprobs).content == content


LOGPROBS = {"content": [{"token": "a", "logprob": -1.0, "bytes": [97], "top_logprobs": []}]}


def test_the_entries_of_a_snapshot_are_models():
    """A rebuilt response has the same classes as one that was read by `from_dict`."""
    response = finalize(entries({"logprobs": LOGPROBS}))
    entry = response.choices[0].logprobs.content[0]
    assert type(entry) is TokenLogprob
    assert entry == from_dict(to_dict(response)).choices[0].logprobs.content[0]


def test_a_snapshot_with_log_probabilities_round_trips():
    """A rebuilt response equals what `from_dict` reads from its dict."""
    response = finalize(entries({"logprobs": LOGPROBS}))
    assert from_dict(to_dict(response)) == response


@pytest.mark.parametrize("logprobs", [{"x": [1]}, {"tokens": ["a"], "x": [1]}], ids=str)
def test_lists_that_are_unknown_are_written(logprobs):
    """An unknown list of log probabilities is a list in the dict, and can be encoded."""
    response = finalize(entries({"logprobs": logprobs}))
    assert '"x":[1]' in to_json(response)


def test_an_alternative_that_is_none_is_kept():
    """An entry of `top_logprobs` that cannot be a model stays as it came."""
    row = {"token": "a", "logprob": -1, "top_logprobs": [{}]}
    response = finalize(entries({"logprobs": {"content": [row]}}))
    assert response.choices[0].logprobs.content[0].top_logprobs == ({},)


def test_unknown_fields_of_log_probabilities_are_extra():
    """Of an entry, and of an alternative; and they are written back."""
    row = {"token": "a", "logprob": -1, "x": [1]}
    response = finalize(entries({"logprobs": {"content": [{**row, "top_logprobs": [row]}]}}))
    (entry,) = response.choices[0].logprobs.content
    assert (entry.extra, entry.top_logprobs[0].extra) == ({"x": [1]}, {"x": [1]})
    written = to_dict(response)["choices"][0]["logprobs"]["content"][0]
    assert (written["x"], written["top_logprobs"][0]["x"]) == ([1], [1])


def test_a_view_is_read_by_from_dict():
    """A list that is a view is a list."""
    response = finalize(deltas({"content": "a"}))
    view = ListView([to_dict(response.choices[0])], 1)
    assert to_dict(from_dict({"object": "chat.completion", "choices": view})) == {
        **to_dict(ChatCompletion()),
        "choices": [to_dict(response.choices[0])],
    }


# -- Properties ----------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(chat_streams())
def test_chat_models_round_trip(chunks):
    """from_dict(to_dict(x)) == x for chunks and for the response; chunks lose nothing."""
    for plain in chunks:
        model = from_dict(plain, ChatCompletionChunk)
        assert from_dict(to_dict(model), ChatCompletionChunk) == model
        assert json.loads(to_json(model)) == to_dict(model)
    response = from_dict(to_dict(finalize(chunks)))
    assert from_dict(to_dict(response)) == response


@settings(deadline=None, max_examples=50)
@given(completion_streams())
def test_completion_models_round_trip(chunks):
    """The same for legacy completions."""
    for plain in chunks:
        model = from_dict(plain, CompletionChunk)
        assert from_dict(to_dict(model), CompletionChunk) == model
    response = from_dict(to_dict(finalize(chunks)))
    assert from_dict(to_dict(response)) == response


def test_chunk_models_and_dicts_give_the_same_response():
    """Chunks may be handed in as models."""
    plain = [chunk({"index": 0, "delta": {"content": "a", "x": "b"}, "finish_reason": "stop"})]
    assert finalize([from_dict(each) for each in plain]) == finalize(plain)
