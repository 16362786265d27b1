"""
The floors: what anybody has to do at least who wants the contents of a stream.

None of them builds a response.  They decode each payload, already cut out of its
event.  Most drop the result at once, which is the least that can be done; those
called "kept" put it into a list, as a program does that decodes first and merges
then.  The difference is the cost of the memory, and of the garbage collector.
"""

from __future__ import annotations

import json

from collections.abc import Callable, Sequence
from typing import Any

from .streams import Stream
from .timing import Run


__all__ = ["all_floors", "decoders", "if_installed", "json_floor", "split"]


def if_installed(make: Callable[..., Run], *args: Any) -> Run | None:
    """Return what *make* makes, or None if it cannot import what it needs."""
    try:
        return make(*args)
    except ImportError:
        return None


def split(stream: Stream) -> Run:
    """Cut the bytes at blank lines."""
    data = stream.data
    return lambda: data.split(b"\n\n")


def json_floor(payloads: Sequence[bytes]) -> Run:
    """Decode with the standard library."""
    return _each(json.loads, payloads)


def decoders(stream: Stream, *, kept: bool = False) -> dict[str, Run | None]:
    """Return the decoders without a type, by name; if *kept*, also those that keep all."""
    payloads = stream.payloads
    floors = {
        "json.loads": json_floor(payloads),
        "orjson.loads": if_installed(_orjson, payloads),
    }
    if kept:
        floors["json.loads, kept"] = lambda: list(map(json.loads, payloads))
        floors["orjson.loads, kept"] = if_installed(_orjson_kept, payloads)
    return floors


def all_floors(stream: Stream) -> dict[str, Run | None]:
    """Return every floor by name."""
    return {
        "bytes.split": split(stream),
        **decoders(stream, kept=True),
        "msgspec untyped": if_installed(_msgspec, stream.payloads),
        "msgspec typed": if_installed(_msgspec_typed, stream.payloads),
    }


def _each(loads: Callable[[bytes], object], payloads: Sequence[bytes]) -> Run:
    def run() -> None:
        for payload in payloads:
            loads(payload)

    return run


def _orjson(payloads: Sequence[bytes]) -> Run:
    import orjson

    return _each(orjson.loads, payloads)


def _orjson_kept(payloads: Sequence[bytes]) -> Run:
    import orjson

    return lambda: list(map(orjson.loads, payloads))


def _msgspec(payloads: Sequence[bytes]) -> Run:
    import msgspec

    return _each(msgspec.json.Decoder().decode, payloads)


def _msgspec_typed(payloads: Sequence[bytes]) -> Run:
    """Decode to structs that know a chat chunk's fields, log probabilities left out."""
    import msgspec

    text = str | None
    struct = msgspec.defstruct
    delta = struct("Delta", [("role", text, None), ("content", text, None)])
    choice = struct("Choice", [("index", int), ("delta", delta), ("finish_reason", text, None)])
    names = ("service_tier", "system_fingerprint", "obfuscation")
    chunk = struct(
        "Chunk",
        [
            *((name, str) for name in ("id", "object", "model")),
            ("created", int),
            ("choices", list[choice]),
            *((name, text, None) for name in names),
        ],
    )
    return _each(msgspec.json.Decoder(chunk).decode, payloads)
