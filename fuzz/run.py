"""
Fuzz the invariant of `roads` or of `readers`, guided by coverage.

    python -m fuzz.run roads -max_total_time=600 grown/ fuzz/corpus/
    python -m fuzz.run readers -max_total_time=600 grown/ fuzz/recordings/

New inputs go to the first folder; the rest of the options are libFuzzer's.
Mutation knows what a stream is made of: random bytes alone hardly ever give two
events of one shape, and without those no template is learned.
"""

from __future__ import annotations

import importlib
import random
import re
import sys

import atheris


TARGETS = ("roads", "readers")
EVENT = re.compile(rb".+?(?:\r\n\r\n|\n\n|\r\r|\n|\Z)", re.DOTALL)
TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*+"|-?[0-9][0-9.eE+-]*+|true|false|null|[{}\[\]]')
ENDINGS = [b"\n\n", b"\r\n\r\n", b"\r\r", b"\n", b"\r\n"]
VALUES = [
    b'""', b'"x"', b'"\\ud83d"', b'"\\ude00"', b'"\\u0000"', b'"a\\/b"', b'"stop"', b'"null"',
    b"null", b"true", b"0", b"1", b"-1", b"-0", b"1.0", b"1e400", b"NaN", b"12345678901234567890",
    b"{}", b"[]", b'[{"index":0}]', b'{"index":0,"delta":{"content":"z"}}', b'"chatcmpl-2"',
]  # fmt: skip
NAMES = [
    b"id", b"model", b"created", b"error", b"usage", b"choices", b"index", b"delta", b"text",
    b"message", b"role", b"content", b"finish_reason", b"logprobs", b"tool_calls", b"function",
    b"arguments", b"name", b"refusal", b"obfuscation", b"token", b"token_ids", b"x", b"type",
]  # fmt: skip
BYTES = [
    b"\n", b"\r", b"\n\n", b" ", b"\t", b"\x00", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\xed\xa0\xbd",
    b"data: ", b"data:", b"data: [DONE]\n\n", b"[DONE]", b": ping\n\n", b"event: error\n",
    b"id: 1\n", b"retry: 5\n", b'data: {"error":{"message":"no"}}\n\n', b"error: {}\n\n",
    b"\\", b'"', b"{", b"}",
]  # fmt: skip


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Return *data* mutated: by libFuzzer's own means, or in the terms of a stream."""
    draw = random.Random(seed)
    for _ in range(draw.choice([1, 1, 2, 4])):
        change = draw.choice(CHANGES)
        data = change(draw, data) if change else atheris.Mutate(data, max_size)
    return data[:max_size]


def cross(data: bytes, other: bytes, max_size: int, seed: int) -> bytes:
    """Return events of *data* and then of *other*."""
    draw = random.Random(seed)
    one, two = EVENT.findall(data), EVENT.findall(other)
    head = one[: draw.randrange(len(one) + 1)]
    return b"".join([*head, *two[draw.randrange(len(two) + 1) :]])[:max_size]


def repeat_event(draw: random.Random, data: bytes) -> bytes:
    """Repeat one event, or a row of them, each time with some value changed or none."""
    events = EVENT.findall(data)
    if not events:
        return data
    at = draw.randrange(len(events))
    row = events[at : at + draw.choice([1, 1, 2, 3])]
    made = [event if draw.random() < 0.5 else put_value(draw, event) for event in row * 3]
    return b"".join([*events[:at], *made, *events[at:]])


def drop_or_move_event(draw: random.Random, data: bytes) -> bytes:
    """Leave an event out, or put it elsewhere."""
    events = EVENT.findall(data)
    if not events:
        return data
    event = events.pop(draw.randrange(len(events)))
    if draw.random() < 0.5:
        events.insert(draw.randrange(len(events) + 1), event)
    return b"".join(events)


def put_value(draw: random.Random, data: bytes) -> bytes:
    """Replace a JSON token by another, of a list or of the data itself; here or everywhere."""
    tokens = list(TOKEN.finditer(data))
    if not tokens:
        return data
    token = draw.choice(tokens)
    new = draw.choice(VALUES) if draw.random() < 0.7 else draw.choice(tokens)[0]
    if draw.random() < 0.15:
        return data.replace(token[0], new)
    return data[: token.start()] + new + data[token.end() :]


def put_name(draw: random.Random, data: bytes) -> bytes:
    """Put a field into an object, or into all of a kind."""
    field = b'"' + draw.choice(NAMES) + b'":' + draw.choice(VALUES)
    ends = [match.start() for match in re.finditer(rb"[{}]", data)]
    if not ends:
        return data
    at = draw.choice(ends)
    if data[at : at + 1] == b"{":
        return data[: at + 1] + field + b"," + data[at + 1 :]
    if draw.random() < 0.2:
        return data.replace(data[at - 3 : at + 1], data[at - 3 : at] + b"," + field + b"}")
    return data[:at] + b"," + field + data[at:]


def put_bytes(draw: random.Random, data: bytes) -> bytes:
    """Put something in, anywhere or where an event starts."""
    at = draw.randrange(len(data) + 1)
    if draw.random() < 0.4:
        at = data.find(b"\n", at) + 1
    return data[:at] + draw.choice(BYTES) + data[at:]


def drop_line_end(draw: random.Random, data: bytes) -> bytes:
    """Leave out a line end, or the whole rest of a line and its end."""
    at = data.find(b"\n", draw.randrange(len(data) + 1))
    start = at if draw.random() < 0.7 else draw.randrange(max(0, at - 60), at + 1) if at > 0 else at
    return data if at < 0 else data[:start] + data[at + 1 :]


def change_endings(draw: random.Random, data: bytes) -> bytes:
    """Give all events from one on another ending."""
    old, new = draw.choice(ENDINGS), draw.choice(ENDINGS)
    at = draw.choice([0, draw.randrange(len(data) + 1)])
    return data[:at] + data[at:].replace(old, new)


CHANGES = [
    None, None, repeat_event, repeat_event, drop_or_move_event, put_value, put_value, put_name,
    put_bytes, drop_line_end, change_endings,
]  # fmt: skip


def main() -> None:
    """Run libFuzzer on the target that the first argument names."""
    program, target, *options = sys.argv
    if target not in TARGETS:
        sys.exit(f"the target must be {' or '.join(TARGETS)}, not {target!r}")
    with atheris.instrument_imports(include=["streamkit"]):
        check = importlib.import_module(f"fuzz.{target}").check
    atheris.Setup([program, *options], check, custom_mutator=mutate, custom_crossover=cross)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
