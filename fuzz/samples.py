"""One small stream in each form that a recording may have: the seeds of `readers`."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import zlib

from collections.abc import Callable, Iterator
from functools import partial


__all__ = ["samples"]

CHOICES = (
    {"index": 0, "delta": {"role": "assistant", "content": "Hé"}, "finish_reason": None},
    {"index": 0, "delta": {"content": "l“l”\n"}, "finish_reason": None},
    {"index": 0, "delta": {}, "finish_reason": "stop"},
)
CHUNKS = [
    {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "choices": [choice]}
    for choice in CHOICES
]
PAYLOADS = [*(json.dumps(chunk, ensure_ascii=False) for chunk in CHUNKS), "[DONE]"]
BODY = "".join(f"data: {payload}\n\n" for payload in PAYLOADS)
HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
TIME = "2026-01-01T12:00:00.4{}0Z"


def samples() -> Iterator[bytes]:
    """Yield each, then some with a wrapper around them."""
    made = [form() for form in FORMS]
    yield from made
    plain = BODY.encode()
    for wrap in (partial(gzip.compress, mtime=0), zlib.compress, bz2.compress, lzma.compress):
        yield wrap(plain)
    yield BODY.encode("utf-16")
    yield gzip.compress(made[0], mtime=0)[:-9]


def _rows(*rows: object) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def sse() -> bytes:
    return BODY.encode()


def array() -> bytes:
    return json.dumps(CHUNKS, indent=1).encode()


def timed() -> bytes:
    return _rows(*({"t": n / 8, "chunk": chunk} for n, chunk in enumerate(CHUNKS)))


def prefixed() -> bytes:
    return "".join(f"{TIME.format(n)} INFO data: {p}\n" for n, p in enumerate(PAYLOADS)).encode()


def docker() -> bytes:
    lines = [line for payload in PAYLOADS for line in (f"data: {payload}\n", "\n")]
    rows = ({"log": x, "stream": "stdout", "time": TIME.format(n)} for n, x in enumerate(lines))
    return _rows(*rows)


def cri() -> bytes:
    lines = (f"{TIME.format(n)} stdout F data: {p}\n" for n, p in enumerate(PAYLOADS))
    return "".join(lines).encode()


def journal() -> bytes:
    stamps = (("data: " + p, str(10**15 + n)) for n, p in enumerate(PAYLOADS))
    return _rows(*({"MESSAGE": m, "__REALTIME_TIMESTAMP": t} for m, t in stamps))


def curl_i() -> bytes:
    return (HEAD + BODY).encode()


def curl_raw() -> bytes:
    pieces = [BODY[at : at + 90].encode() for at in range(0, len(BODY), 90)]
    return b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


def curl_v() -> bytes:
    head = "".join(f"< {line}\n" for line in HEAD.splitlines())
    return f"* Connected to host\n> POST /v1 HTTP/1.1\n{head}{{ [9 bytes data]\n{BODY}".encode()


def curl_trace() -> bytes:
    data = BODY.encode()
    rows = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        rows.append(f"{at:04x}: {row.hex(' '):<48} {shown}\n")
    head = "<= Recv header, 17 bytes (0x11)\n0000: 48 54 54 50 2f 31 2e 31 20 32 30 30 20 4f 4b 0d "
    return f"{head}\n0010: 0a\n<= Recv data, {len(data)} bytes (0x0)\n{''.join(rows)}".encode()


def curl_trace_ascii() -> bytes:
    rows = (f"{at:04x}: {BODY[at : at + 64]}\n" for at in range(0, len(BODY), 64))
    text = "".join(row.replace("\n\n", "\n") for row in rows)
    return f"<= Recv data, {len(BODY)} bytes (0x0)\n{text}".encode("ascii", "replace")


def har() -> bytes:
    packed = base64.b64encode(BODY.encode()).decode()
    contents = (
        {"mimeType": "text/event-stream", "text": BODY},
        {"mimeType": "text/event-stream", "text": packed, "encoding": "base64"},
        {"mimeType": "text/event-stream", "size": 9},
    )
    entries = [
        {
            "startedDateTime": TIME.format(0),
            "request": {"method": "POST", "url": "https://host/v1/chat/completions"},
            "response": {"status": 200, "headers": [], "content": content},
        }
        for content in contents
    ]
    return json.dumps({"log": {"version": "1.2", "entries": entries}}).encode()


def vcr_json() -> bytes:
    one = {
        "request": {"method": "POST", "uri": "https://host/v1/chat/completions"},
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"content-type": ["text/event-stream"]},
            "body": {"string": BODY},
        },
    }
    return json.dumps({"interactions": [one], "version": 1}).encode()


def vcr() -> bytes:
    return (
        "interactions:\n- request:\n    method: POST\n    uri: https://host/v1/chat/completions\n"
        "  response:\n    status: {code: 200, message: OK}\n"
        "    headers: {content-type: [text/event-stream]}\n"
        f"    body: {{string: {json.dumps(BODY)}}}\nversion: 1\n"
    ).encode()


def mitmproxy() -> bytes:
    def net(value: object) -> bytes:
        if isinstance(value, dict):
            data, mark = b"".join(net(each) for pair in value.items() for each in pair), b"}"
        elif isinstance(value, list):
            data, mark = b"".join(map(net, value)), b"]"
        elif isinstance(value, bytes):
            data, mark = value, b","
        elif isinstance(value, str):
            data, mark = value.encode(), b";"
        else:
            data, mark = str(value).encode(), b"#"
        return b"%d:%b%b" % (len(data), data, mark)

    headers = [[b"content-type", b"text/event-stream"]]
    request = {"method": b"POST", "path": b"/v1/chat/completions", "headers": [], "content": b""}
    response = {"status_code": 200, "headers": headers, "content": BODY.encode()}
    return net({"type": "http", "version": 20, "request": request, "response": response})


def rows_of_bodies() -> bytes:
    return _rows(*({"ts": TIME.format(n), "body": BODY} for n in range(2)))


def rows_of_chunks() -> bytes:
    return _rows(*({"request_id": "a", "seq": n, "chunk": c} for n, c in enumerate(CHUNKS)))


def trace() -> bytes:
    message = {"role": "assistant", "content": "Hello"}
    return _rows(*[{"type": "GENERATION", "model": "m-1", "output": message}] * 2)


def csv() -> bytes:
    quoted = BODY.replace('"', '""')
    return f'time,body\n{TIME.format(1)},"{quoted}"\n{TIME.format(2)},"{quoted}"\n'.encode()


def quoted() -> bytes:
    return "".join(f"> {line}\n" for line in BODY.splitlines()).encode()


def fenced() -> bytes:
    return f"I got this:\n\n```\n{BODY}```\n".encode()


def curly() -> bytes:
    return BODY.replace("“l”", "").replace('"', "”").encode()


def html() -> bytes:
    text = BODY.replace('"', "&quot;")
    return f"<pre>{text}</pre>\n".encode()


def python() -> bytes:
    return "".join(f"{chunk!r}\n" for chunk in CHUNKS).encode()


def python_bytes() -> bytes:
    return "".join(f"b{f'data: {p}'!r}\n" for p in map(json.dumps, CHUNKS)).encode()


def pickle() -> bytes:
    return b"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00]\x94."


def escaped() -> bytes:
    return f"const body = {json.dumps(BODY)};\n".encode()


def other_file() -> bytes:
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


def parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    columns = {"seq": [*range(4)], "request_id": ["a"] * 4, "chunk": PAYLOADS}
    pq.write_table(pa.table(columns), sink, compression="none")
    return sink.getvalue()


def other_dialect() -> bytes:
    return b'event: message_start\ndata: {"type":"message_start","message":{}}\n\n'


def final() -> bytes:
    message = {"role": "assistant", "content": "Hello"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"id": "a", "object": "chat.completion", "choices": [choice]}).encode()


FORMS: tuple[Callable[[], bytes], ...] = (
    sse, array, timed, prefixed, docker, cri, journal, curl_i, curl_raw, curl_v, curl_trace,
    curl_trace_ascii, har, vcr_json, vcr, mitmproxy, rows_of_bodies, rows_of_chunks, trace, csv,
    quoted, fenced, curly, html, python, python_bytes, escaped, pickle, other_file, parquet,
    other_dialect, final,
)  # fmt: skip
