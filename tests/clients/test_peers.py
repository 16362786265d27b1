"""
What the openai package's streaming helper makes of streams, beside what streamkit does.

Where it is right, both must agree.  Where it is wrong, the test says how and why, so
that a release that mends it is noticed as just that.
"""

from __future__ import annotations

import json
import random

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import attrs
import pytest

from streamkit import rebuild
from streamkit._differences import differences
from streamkit.testing import Playback, StreamServer, assert_rebuilds, chunk_up, to_sse
from streamkit.testing._rebuilds import _comparable


try:
    VERSION = version("openai")
except PackageNotFoundError:
    VERSION = None

pytestmark = pytest.mark.skipif(VERSION is None, reason="openai is not installed")

# What the pins below were seen with.
SEEN = "3.57.0"


def helper_of(source):
    """Return what the helper gives for a stream: its final object as a dict, or the error."""
    import openai

    with (
        StreamServer(source) as server,
        openai.OpenAI(base_url=server.base_url, api_key="none", max_retries=0) as client,
    ):
        try:
            with client.chat.completions.stream(model="example-1", messages=[]) as stream:
                return stream.get_final_completion().to_dict()
        except Exception as error:  # noqa: BLE001 -- it is what is looked at
            return error


def differing(expected, got):
    """Return the paths at which *got* differs; it may keep a tool call's index, which is a pin."""
    for choice in got["choices"]:
        for call in choice["message"].get("tool_calls") or ():
            call.pop("index", None)
    return [one.path for one in differences(_comparable(expected), _comparable(got))]


# -- Responses -----------------------------------------------------------------------


def response(*choices, **more):
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_750_000_000,
        "model": "example-1",
        "choices": [{"index": place, **choice} for place, choice in enumerate(choices)],
        **more,
    }


def answer(content="Hello, world", *, finish="stop", logprobs=None, **message):
    said = {"role": "assistant", "content": content, "refusal": None, **message}
    return {"message": said, "finish_reason": finish, "logprobs": logprobs}


def call(number):
    function = {"name": f"tool_{number}", "arguments": json.dumps({"city": f"Paris {number}"})}
    return {"id": f"call-{number}", "type": "function", "function": function}


def token(text):
    entry = {"token": text, "logprob": -0.25, "bytes": list(text.encode())}
    return {**entry, "top_logprobs": [entry, {**entry, "logprob": -2.5}]}


USAGE = {"prompt_tokens": 9, "completion_tokens": 8, "total_tokens": 17}
WORDS = ["Sure", ", one", " two", " é", " 日本", " 🎉", '"quoted"', "\n", "\\", " <b>"]


def made(seed, *, most=3):
    """Return a response of the kind that the helper is right about: all sorts of fields."""
    dice = random.Random(seed)
    words = dice.choices(WORDS, k=dice.randint(1, 12))
    choices = []
    for _ in range(min(most, dice.choice([1, 1, 2, 3]))):
        logprobs = {"content": [token(word) for word in words], "refusal": None}
        choice = dice.choice(
            [
                answer("".join(words)),
                answer("".join(words), logprobs=logprobs),
                answer("".join(words), reasoning_content="Well, " + words[0]),
                answer(None, refusal="No" + words[0]),
                answer(None, finish="tool_calls", tool_calls=[call(1)]),
                answer(None, finish="tool_calls", tool_calls=[call(1), call(2)]),
            ]
        )
        choices.append(choice)
    more = dice.choice([{}, {"service_tier": "default"}, {"system_fingerprint": "fp_1"}])
    return response(*choices, **more, **dice.choice([{}, {"usage": USAGE}]))


@pytest.mark.parametrize("dialect", ["openai", "azure", "vllm", "plain"])
@pytest.mark.parametrize("seed", range(12))
def test_both_are_right(seed, dialect):
    """The helper's final object is ours, and ours is the response that was streamed."""
    # Without an opening chunk, log probabilities of a second choice are a pin, too.
    expected = made(seed, most=1 if dialect == "plain" else 3)
    # One choice after the other, one tool call after the other: see the pins.
    chunks = chunk_up(expected, seed=seed, dialect=dialect, interleave=False)
    assert_rebuilds(Playback.from_chunks(chunks), expected, issues=())
    got = helper_of(chunks)
    assert not isinstance(got, Exception), f"openai {VERSION}: {got!r}"
    assert not differing(expected, got), f"openai {VERSION}"


# -- Pins ----------------------------------------------------------------------------


def chunk(*choices, **more):
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "example-1"}
    return {**head, "created": 1_750_000_000, "choices": list(choices), **more}


def piece(content=None, *, index=0, finish=None, **delta):
    said = delta if content is None else {"content": content, **delta}
    return {"index": index, "delta": said, "finish_reason": finish}


def tool(number, **function):
    return {"index": number, "function": function}


LOGPROBS = {"content": [token("B")]}
START = piece("Hel", role="assistant")
END = piece("lo", finish="stop")
HELLO = response(answer("Hello"))
CALLS = {"tool_calls": [call(0), call(1)]}


def opened(number):
    return {
        **tool(number, name=f"tool_{number}", arguments=""),
        "id": f"call-{number}",
        "type": "function",
    }


def arguments(number):
    return tool(number, arguments=call(number)["function"]["arguments"])


@attrs.frozen(kw_only=True)
class Pin:
    """
    A stream that the helper gets wrong.

    Attributes:
        name: What it is about.
        source: The stream: chunks or bytes.
        expected: The right response.
        error: The name of the error that it raises instead.
        differs: The paths at which its final object differs instead.
        reason: Why it is wrong.
        complete: Whether the stream is.
    """

    name: str
    source: object
    expected: dict
    error: str = ""
    differs: tuple[str, ...] = ()
    reason: str
    complete: bool = True


PINS = [
    Pin(
        name="choice 1 comes before choice 0",
        source=[
            chunk(piece("B", index=1, role="assistant", finish="stop")),
            chunk(piece("A", role="assistant", finish="stop")),
        ],
        expected=response(answer("A"), answer("B")),
        error="IndexError",
        reason="it takes the index for a place in a list; choices may come in any order",
    ),
    Pin(
        name="choice 2 comes before choice 1",
        source=[
            chunk(piece("A", role="assistant", finish="stop")),
            chunk(piece("C", index=2, role="assistant", finish="stop")),
            chunk(piece("B", index=1, role="assistant", finish="stop")),
        ],
        expected=response(answer("A"), answer("B"), answer("C")),
        error="IndexError",
        reason="as with choice 1 before choice 0",
    ),
    Pin(
        name="tool call 1 comes before tool call 0",
        source=[
            chunk(piece(role="assistant", tool_calls=[opened(1)])),
            chunk(piece(tool_calls=[opened(0)])),
            chunk(piece(tool_calls=[arguments(0), arguments(1)])),
            chunk(piece(finish="tool_calls")),
        ],
        expected=response(answer(None, finish="tool_calls", **CALLS)),
        error="IndexError",
        reason="it takes the index for a place in a list; calls may come in any order",
    ),
    Pin(
        name="log probabilities in the first chunk of a second choice",
        source=[
            chunk({**piece("A", role="assistant", finish="stop"), "logprobs": {"content": []}}),
            chunk({**piece("B", index=1, role="assistant"), "logprobs": LOGPROBS}),
            chunk(piece(index=1, finish="stop")),
        ],
        expected=response(answer("A", logprobs={"content": []}), answer("B", logprobs=LOGPROBS)),
        differs=("choices.[1].logprobs.content[1]",),
        reason="it starts the choice with them, and then adds them to it",
    ),
    Pin(
        name="the role in each chunk",
        source=[chunk(START), chunk(piece("lo", role="assistant", finish="stop"))],
        expected=HELLO,
        differs=("choices.[0].message.role",),
        reason="it adds what is a name, not a text: assistantassistant; many servers repeat it",
    ),
    Pin(
        name="the id of a tool call in each chunk",
        source=[
            chunk(piece(role="assistant", tool_calls=[opened(0)])),
            chunk(piece(tool_calls=[{**arguments(0), "id": "call-0"}])),
            chunk(piece(finish="tool_calls")),
        ],
        expected=response(answer(None, finish="tool_calls", tool_calls=[call(0)])),
        differs=("choices.[0].message.tool_calls[0].id",),
        reason="it adds what is a name, not a text: call-0call-0",
    ),
    Pin(
        name="usage in the finishing chunk, and a chunk behind it",
        source=[chunk(START), chunk(END, usage=USAGE), chunk()],
        expected={**HELLO, "usage": USAGE},
        differs=("usage",),
        reason="the usage of the last chunk counts, also where that has none",
    ),
    Pin(
        name="usage inside the choice",
        source=[chunk(START), chunk({**END, "usage": USAGE})],
        expected={**HELLO, "usage": USAGE},
        differs=("usage",),
        reason="it looks for the usage in one place only; some servers have it in the choice",
    ),
    Pin(
        name="a stream that is cut",
        source=to_sse([chunk(START)], done=False),
        expected=response(answer("Hel", finish=None)),
        reason="it returns what came as if it were all: no finish reason, no [DONE], no error",
        complete=False,
    ),
    Pin(
        name="the length limit",
        source=[chunk(START), chunk(piece("lo", finish="length"))],
        expected=response(answer("Hello", finish="length")),
        error="LengthFinishReasonError",
        reason="a response that was cut by max_tokens is a response, with or without streaming",
    ),
    Pin(
        name="the content filter",
        source=[chunk(START), chunk(piece("lo", finish="content_filter"))],
        expected=response(answer("Hello", finish="content_filter")),
        error="ContentFilterFinishReasonError",
        reason="as with the length limit; what came before the filter is lost",
    ),
    Pin(
        name="a byte order mark",
        source=b"\xef\xbb\xbf" + to_sse([chunk(START), chunk(END)]),
        expected=HELLO,
        differs=("choices.[0].message.content", "choices.[0].message.role"),
        reason="the standard has one byte order mark dropped; it loses the event behind it",
    ),
    Pin(
        name="two blank lines behind an event with an id",
        source=to_sse([chunk(START), chunk(END)], ids=True).replace(b"\n\n", b"\n\n\n"),
        expected=HELLO,
        error="JSONDecodeError",
        reason="by the standard a blank line without data dispatches nothing; it gives an event",
    ),
]


@pytest.mark.parametrize("pin", PINS, ids=lambda pin: pin.name)
def test_pin(pin):
    """Ours is right; theirs is wrong as it was, or there is news."""
    source = to_sse(pin.source) if isinstance(pin.source, list) else pin.source
    assert_rebuilds(source, pin.expected, complete=pin.complete)
    got = helper_of(source)
    news = f"openai {VERSION}, {pin.name}: {{}}. In {SEEN} it was wrong ({pin.reason})"
    is_error = isinstance(got, Exception)
    seen = type(got).__name__ if is_error else tuple(differing(pin.expected, got))
    if not is_error and not seen and pin.complete:
        pytest.fail(
            news.format("it is right now") + "; take this pin away, and what README.md says"
        )
    if pin.error:
        assert seen == pin.error, news.format(f"it does something else now, {got!r}")
    else:
        assert seen == pin.differs, news.format(f"it differs elsewhere now, {seen}")


def test_tool_call_index_stays():
    """A pin of its own: `index` is of the delta, not of the full response."""
    got = helper_of(chunk_up(response(answer(None, finish="tool_calls", tool_calls=[call(0)]))))
    calls = got["choices"][0]["message"]["tool_calls"]
    assert [one.get("index") for one in calls] == [0], (
        f"openai {VERSION} drops the index of a tool call now, as it should; "
        f"in {SEEN} it did not: take this pin away"
    )


def test_pins_are_told_in_the_readme():
    """What README.md says of the helper is pinned here, with the same version."""
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert f"with {SEEN}: `IndexError` when choice 1 comes before choice 0" in readme


def test_outcome_of_the_cut_stream():
    """What the helper does not tell: that something is missing."""
    [cut] = [pin for pin in PINS if not pin.complete]
    assert {*rebuild(cut.source).issue_counts} == {"done_missing", "finish_missing"}
