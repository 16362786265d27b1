"""Responses as the openai package's own objects."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hypothesis import given, settings

import streamkit

from streamkit import Completion, InvalidChunk, NotInstalled, Outcome, from_dict, to_dict, to_openai

from . import odd_responses, response_of, responses, same


relaxed = settings(deadline=None)  # the package's classes are slow when first used


@pytest.fixture
def openai():
    return pytest.importorskip("openai")


@relaxed
@given(responses)
def test_round_trip(response):
    """The object holds what the response holds, and comes back from there."""
    pytest.importorskip("openai")
    dumped = to_openai(response).model_dump(exclude_unset=True, warnings=False)
    assert same(dumped) == same(to_dict(response))
    assert from_dict(dumped, type(response)) == from_dict(to_dict(response), type(response))


@relaxed
@given(odd_responses)
def test_odd_values(response):
    """Values of the wrong type are kept as they are, as the package's client keeps them."""
    pytest.importorskip("openai")
    dumped = to_openai(response).model_dump(exclude_unset=True, warnings=False)
    assert same(dumped) == same(to_dict(response))


def test_chat(openai):
    """A chat completion, and all in it, are objects of the package's classes."""
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    custom = {"id": "call_2", "type": "custom", "custom": {"name": "g", "input": "x"}}
    response = response_of(
        {"content": "Hi", "tool_calls": [call, custom], "reasoning": "why"},
        logprobs={"content": [{"token": "Hi", "logprob": -0.5, "bytes": [72], "top_logprobs": []}]},
    )
    found = to_openai(response)
    assert type(found) is openai.types.chat.ChatCompletion
    choice = found.choices[0]
    assert type(choice.message) is openai.types.chat.ChatCompletionMessage
    assert choice.message.content == "Hi"
    assert choice.message.tool_calls[0].function.name == "f"
    assert choice.message.tool_calls[1].custom.input == "x"
    assert choice.logprobs.content[0].logprob == -0.5
    assert choice.message.reasoning == "why"
    assert choice.message.model_extra == {"reasoning": "why"}


def test_completion(openai):
    """A legacy completion likewise."""
    response = Completion(id="cmpl-1", choices=[], usage=streamkit.Usage(total_tokens=3))
    found = to_openai(response)
    assert type(found) is openai.types.Completion
    assert (found.id, found.usage.total_tokens) == ("cmpl-1", 3)


def test_nothing_is_shared(openai):
    """What is done to the object leaves the response alone."""
    response = from_dict({"object": "chat.completion", "choices": [], "x": {"y": []}})
    to_openai(response).x["y"].append(1)
    assert response.extra == {"x": {"y": []}}


def test_a_field_the_package_cannot_hold(openai):
    """A field that has the name of an argument of its own is refused with an error of ours."""
    response = from_dict({"object": "chat.completion", "choices": [], "_fields_set": 5})
    with pytest.raises(InvalidChunk, match="the openai package cannot hold it"):
        to_openai(response)


@pytest.mark.parametrize("wrong", [None, {}, Outcome(response=None, complete=False)])
def test_wrong_type(wrong):
    """Only responses have such an object."""
    with pytest.raises(TypeError, match="must be a ChatCompletion or a Completion"):
        to_openai(wrong)


def test_not_installed(monkeypatch):
    """Without the package it is said what to install; both kinds of handlers catch it."""
    monkeypatch.setitem(sys.modules, "openai.types", None)
    with pytest.raises(NotInstalled, match=r"install streamkit-llm\[openai\]") as caught:
        to_openai(Completion())
    assert isinstance(caught.value, ImportError)


def test_imported_when_called():
    """The package is not loaded before it is needed, nor is anything of OpenTelemetry ever."""
    script = (
        "import sys, streamkit\n"
        "streamkit.to_message({'role': 'assistant', 'content': 'a'})\n"
        "from streamkit.interchange import to_otel_event\n"
        "to_otel_event(streamkit.Completion())\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'openai', 'pydantic', 'opentelemetry'}, loaded\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
