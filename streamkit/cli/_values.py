"""Values of a response, which are of any type: they are shown as the server sent them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from streamkit._json import encode


__all__ = ["EPOCH", "flat", "moment", "object_of", "shortened", "spelled"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# What is no text for a person, such as an image in Base64, is shown up to here.
MOST_TEXT = 2000


def spelled(value: Any) -> str:
    """
    Return *value* as text: a string as it is, all else as JSON.

    >>> spelled("a"), spelled(1.5), spelled(None)
    ('a', '1.5', 'null')
    """
    return value if isinstance(value, str) else encode(value)


def object_of(value: Any) -> dict[str, Any]:
    """Return *value* if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def moment(value: Any) -> str:
    """
    Return a Unix time in words; one beyond the calendar, or none at all, as it is.

    >>> moment(1750000000), moment(1e99), moment("now")
    ('2025-06-15 15:06:40 UTC', '1e+99', 'now')
    """
    if type(value) not in (int, float):
        return spelled(value)
    try:
        return f"{EPOCH + timedelta(seconds=value):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError):
        return spelled(value)


def flat(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """
    Yield the names and the values of an object and of those in it, without nulls.

    >>> [*flat({"tokens": 5, "details": {"cached": 0, "audio": None}})]
    [('tokens', '5'), ('details.cached', '0')]
    """
    for name, member in object_of(value).items():
        if isinstance(member, dict):
            yield from flat(member, f"{prefix}{name}.")
        elif member is not None:
            yield f"{prefix}{name}", spelled(member)


def shortened(value: Any) -> Any:
    """Return JSON data in which each long string has only its beginning, and says so."""
    if isinstance(value, dict):
        return {name: shortened(member) for name, member in value.items()}
    if isinstance(value, list):
        return [shortened(entry) for entry in value]
    if isinstance(value, str) and len(value) > MOST_TEXT:
        return f"{value[:MOST_TEXT]}… ({len(value)} characters)"
    return value
