"""Recordings of made-up streams, and the result of a command."""

from __future__ import annotations

import json


def sse(*payloads: object, done: bool = True) -> bytes:
    """Return *payloads* as events, and `[DONE]`."""
    texts = [json.dumps(payload) for payload in payloads]
    return "".join(f"data: {text}\n\n" for text in [*texts, *["[DONE]"] * done]).encode()


def chunk(id: str = "chatcmpl-1", *, finish: str | None = None, **delta: object) -> dict:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": id, "object": "chat.completion.chunk", "model": "m-1", "choices": [choice]}


WHOLE = sse(chunk(role="assistant", content="Hel"), chunk(content="lo", finish="stop"))
CUT = sse(chunk("chatcmpl-2", content="Hel"), done=False)
FAILED = sse(chunk("chatcmpl-3", content="Hel"), {"error": {"message": "over\x1bload", "code": 5}})
GLUED = WHOLE.replace(b"\n\n", b"", 1)


class Result:
    def __init__(self, status: int, out: bytes, err: bytes) -> None:
        self.status = status
        self.out = out.decode()
        self.err = err.decode()

    @property
    def values(self) -> list:
        return [json.loads(line) for line in self.out.splitlines()]
