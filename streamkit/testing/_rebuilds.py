"""`assert_rebuilds`: a stream gives the response that it should, or the test says where not."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from streamkit._differences import MISSING, Difference, differences
from streamkit._errors import amount, quote
from streamkit._outcome import Outcome
from streamkit._plain import as_plain
from streamkit._rebuild import rebuild


__all__ = ["assert_rebuilds"]

# How many differences are shown, and how many characters before one in a text.
MOST = 20
AROUND = 24


def assert_rebuilds(
    source: Any,
    expected: Any,
    *,
    complete: bool | None = True,
    issues: Collection[str] | None = None,
) -> Outcome:
    r"""
    Assert that *source* gives the response *expected*, and return its outcome.

    Args:
        source: Whatever `streamkit.rebuild` takes; an `Outcome`; or what has one as
            its attribute `outcome`: a `Playback`, the fixture `recording`.
        expected: The full response, as a model, a dict or an object of the openai
            package: a field that is null is the same as one that is absent, and
            choices are told by their `index`.  A `str` is the text of choice 0.
            None: there is no response.
        complete: Whether it is to be complete; None: either will do.
        issues: The codes of all issues that are to be reported; None: any will do.

    Raises:
        AssertionError: If something differs; the message says what.
        OSError: If a path cannot be read; StreamkitError: if it has no stream.

    >>> stream = 'data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n'
    >>> assert_rebuilds(stream, "Hello", complete=False).chunks
    1
    >>> assert_rebuilds(stream, "Hallo", complete=False)
    Traceback (most recent call last):
    ...
    AssertionError: the stream does not rebuild to what was expected
      choices[0].message.content, from character 1 on
        expected: 'Hallo'
        got:      'Hello'
    """
    __tracebackhide__ = True
    outcome = _outcome_of(source)
    found = [*_state_lines(outcome, complete, issues), *_response_lines(outcome, expected)]
    if found:
        raise AssertionError(
            "\n  ".join(["the stream does not rebuild to what was expected", *found])
        )
    return outcome


def _outcome_of(source: Any) -> Outcome:
    if isinstance(source, Outcome):
        return source
    outcome = getattr(source, "outcome", None)  # of a playback, of a recording
    return outcome if isinstance(outcome, Outcome) else rebuild(source)


def _state_lines(
    outcome: Outcome, complete: bool | None, issues: Collection[str] | None
) -> Iterator[str]:
    if complete is not None and outcome.complete is not complete:
        yield f"complete, expected: {complete}"
        yield f"          got:      {outcome.complete}{_why(outcome)}"
    if issues is not None and {*issues} != {*outcome.issue_counts}:
        yield f"issues, expected: {', '.join(sorted({*issues})) or 'none'}"
        yield f"        got:      {', '.join(sorted(outcome.issue_counts)) or 'none'}"


def _why(outcome: Outcome) -> str:
    reasons = [] if outcome.error is None else [f"{outcome.error.code}: {outcome.error}"]
    reasons += [f"{issue.code}: {issue.message}" for issue in outcome.issues]
    return "".join(f"\n            {reason}" for reason in reasons[:MOST])


def _response_lines(outcome: Outcome, expected: Any) -> Iterator[str]:
    got = as_plain(outcome.response)
    if isinstance(expected, str):
        found = _text_differences(expected, got)
    else:
        found = differences(_comparable(as_plain(expected)), _comparable(got))
    for difference in found[:MOST]:
        yield from _lines(difference)
    if len(found) > MOST:
        yield f"… and {amount(len(found) - MOST, 'more difference')}"


# -- What is compared ----------------------------------------------------------------


def _text_differences(expected: str, response: Any) -> list[Difference]:
    choices = () if response is None else response["choices"]
    for choice in choices:
        if choice.get("index") == 0:
            is_chat = "message" in choice
            text = choice["message"].get("content") if is_chat else choice.get("text")
            path = "choices[0].message.content" if is_chat else "choices[0].text"
            return [] if text == expected else [Difference("text", path, expected, text)]
    return [Difference("text", "choices[0]", expected, MISSING)]


def _comparable(response: Any) -> Any:
    """Return *response* without nulls, its choices by their index."""
    plain = _without_nulls(response)
    choices = plain.get("choices") if isinstance(plain, dict) else None
    if not isinstance(choices, list) or not all(isinstance(one, dict) for one in choices):
        return plain
    by_index = {f"[{one.get('index', place)}]": one for place, one in enumerate(choices)}
    # Two of one index are wrong, and stay as they are.
    return {**plain, "choices": by_index} if len(by_index) == len(choices) else plain


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [_without_nulls(item) for item in value]
    return value


# -- What is said --------------------------------------------------------------------


def _lines(difference: Difference) -> Iterator[str]:
    path = difference.path.replace(".[", "[") or "response"
    old, new = difference.old, difference.new
    if not (isinstance(old, str) and isinstance(new, str)):
        yield path
        yield f"  expected: {_shown(old)}"
        yield f"  got:      {_shown(new)}"
        return
    place = _first_difference(old, new)
    yield f"{path}, from character {place} on"
    yield f"  expected: {_window(old, place)}"
    yield f"  got:      {_window(new, place)}"


def _shown(value: Any) -> str:
    return "nothing" if value is MISSING else quote(value)


def _first_difference(old: str, new: str) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(old), len(new)))


def _window(text: str, place: int) -> str:
    """Return what is around *place*, as an escaped literal."""
    start = max(0, place - AROUND)
    end = place + 2 * AROUND
    return "…" * (start > 0) + repr(text[start:end]) + "…" * (end < len(text))
