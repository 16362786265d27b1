"""Streams of made-up answers, and a way to talk to a server byte by byte."""

from __future__ import annotations

import contextlib
import socket


WORDS = [" one", " two", " three", " four", " five", " six", " seven", " eight", " nine", " ten"]
TEXT = "".join(WORDS)


def chunk(content, *, index=0, finish=None, **more):
    choice = {"index": index, "delta": {"content": content}, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_750_000_000,
        "model": "example-1",
        "choices": [choice],
        **more,
    }


CHUNKS = [*map(chunk, WORDS), chunk("", finish="stop")]

RESPONSE = {
    "id": "chatcmpl-2",
    "object": "chat.completion",
    "created": 1_750_000_000,
    "model": "example-2",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": TEXT, "refusal": None},
            "finish_reason": "stop",
            "logprobs": None,
        }
    ],
}


def sse(*payloads: str) -> bytes:
    return "".join(f"data: {payload}\n\n" for payload in payloads).encode()


def talk(server, data: bytes, *, half_close: bool = False) -> bytes:
    """Return all that *server* says to *data* until it ends the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(data)
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        said = b""
        with contextlib.suppress(ConnectionResetError):
            while block := connection.recv(1 << 16):
                said += block
    return said


def get(path="/", *headers: str, method="GET", version="HTTP/1.1", body=b"") -> bytes:
    """Return a request that ends its connection."""
    lines = [f"{method} {path} {version}", "Host: test", *headers]
    if not any(line.lower().startswith("connection:") for line in lines):
        lines.append("Connection: close")
    return "\r\n".join([*lines, "", ""]).encode() + body
