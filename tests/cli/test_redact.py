from __future__ import annotations

import base64
import io
import json
import sys
import time

import pytest

from streamkit import rebuild
from streamkit.cli import _redact
from streamkit.cli._json_in_text import json_values
from streamkit.cli._secrets import COVER, Redactor

from .helpers import WHOLE, chunk, sse
from .timed import add_command


KEY = "sk-" + "A1b2" * 6


@pytest.fixture(autouse=True)
def command(monkeypatch):
    add_command(monkeypatch, _redact.COMMAND)


def redacted(text, *fields, with_text=False):
    return Redactor(frozenset(fields), with_text).text(text)


def test_nothing_to_cover(run):
    """Then nothing changes, byte by byte."""
    data = WHOLE.replace(b": ", b" :  ", 1).replace(b"\n\n", b"\r\n\r\n")
    result = run("redact", stdin=data)
    assert result.status == 0
    assert result.out.encode() == data
    assert result.err == "streamkit: 0 covered; look at the result before you share it\n"


def test_files(run, tmp_path):
    """From a file, to a file."""
    (tmp_path / "a.sse").write_bytes(sse(chunk(content=f"my key is {KEY}.", finish="stop")))
    result = run("redact", "a.sse", "-o", "b.sse")
    assert result.status == 0
    assert rebuild(tmp_path / "b.sse").response.choices[0].message.content == f"my key is {COVER}."


def test_what_cannot_be_read(run, tmp_path, monkeypatch):
    """No file, no text, too much."""
    assert run("redact", "missing.sse").status == 2
    result = run("redact", stdin=b"\x1f\x8b\xff")
    assert (result.status, result.out) == (2, "")
    assert "not UTF-8" in result.err
    monkeypatch.setattr(_redact, "MOST_DOCUMENT", 3)
    assert run("redact", stdin=b"abcd").status == 2
    monkeypatch.setattr(sys, "stdin", None)
    from streamkit.cli import main

    assert main(["redact"]) == 2


@pytest.mark.parametrize(
    "secret",
    [
        KEY,
        "sk-proj-" + "x_Y-" * 8,
        "AIza" + "B" * 30,
        "AKIA" + "C" * 16,
        "ghp_" + "d" * 36,
        "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln",
    ],
)
def test_keys_by_their_looks(secret):
    """Wherever they stand."""
    for text in (secret, f"a {secret}, b", json.dumps({"note": [f"x={secret}"]}), f"# {secret}\n"):
        assert secret not in redacted(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abc", f"Authorization: {COVER}"),
        ("> authorization: Basic abc\r\n", f"> authorization: {COVER}\r\n"),
        ("< Set-Cookie: a=b", f"< Set-Cookie: {COVER}"),
        ("< x-request-id: 5", f"< x-request-id: {COVER}"),
        ("< content-type: text/event-stream", "< content-type: text/event-stream"),
        ('> cookie: {"a": 1}\n{"b": 2}', f'> cookie: {COVER}\n{{"b": 2}}'),
        ("x-api-key: 1", f"x-api-key: {COVER}"),
        ("data: hello", "data: hello"),
        ("curl -H 'x: Bearer abcdefgh1' u", f"curl -H 'x: Bearer {COVER}' u"),
        ("GET /a?key=123&b=1", f"GET /a?key={COVER}&b=1"),
        ("see https://me:pw@host/", f"see https://{COVER}@host/"),
        ("{'api_key': 'abc', 'a': 'b'}", f"{{'api_key': '{COVER}', 'a': 'b'}}"),
        ("Client(api_key='abc', password='')", f"Client(api_key='{COVER}', password='')"),
        ('{"password": "abc', f'{{"password": "{COVER}'),
        ("risk-averse desk-based-workflows", "risk-averse desk-based-workflows"),
    ],
)
def test_lines(text, shown):
    """Headers of a log, addresses, Python, JSON that was cut."""
    assert redacted(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        # JSON in a string, in a line that is no JSON itself
        (r"got={\"api_key\": \"a\\\"b\", \"n\": 1} x", r"got={\"api_key\": \"[]\", \"n\": 1} x"),
        (r"{\\\"api_key\\\":\\\"a\\\"}", r"{\\\"api_key\\\":\\\"[]\\\"}"),
        # what a shell is told
        ("curl -H 'x-api-key: a' -H \"Accept: b\"", "curl -H 'x-api-key: []' -H \"Accept: b\""),
        ("MY_API_KEY=abcd curl $MY_API_KEY", "MY_API_KEY=[] curl $MY_API_KEY"),
        ("API_KEY=$MINE KEYS=abcd", "API_KEY=$MINE KEYS=abcd"),
        # only LF, CR and both end a line
        ("Cookie: a=1\u2028b\x0bc\x85d\x1ce\rDate: x", "Cookie: []\rDate: x"),
        # pairs of names and values
        (
            '{"headers": [["x-own","a"],["Accept","b"],["c"]]}',
            '{"headers":[["x-own","[]"],["Accept","b"],["c"]]}',
        ),
    ],
)
def test_further_places(text, shown):
    """Where people keep keys, too."""
    assert redacted(text) == shown.replace("[]", COVER)


def test_escaped_text():
    """Also behind a quote within it."""
    text = r"got={\"content\": \"He \\\"said\\\" it\"}"
    shown = r"got={\"content\": \"He MARK it\"}".replace("He", "xx").replace("it", "xx")
    assert redacted(text, with_text=True) == shown.replace("MARK", "x" * 12)


@pytest.mark.parametrize(
    "text",
    [
        "* " + "[a: " * 20_000 + "x",
        "* " + "[a: b] " * 20_000 + "x",
        'x "' + r"\"" * 40_000,
        'data: [{"a"\n' * 20_000,
        r"a\":\"" * 20_000,
        '-H "a: ' * 20_000,
        "A=" * 40_000,
    ],
    ids=["remark", "closed remarks", "quotes", "broken JSON", "escaped", "options", "variables"],
)
def test_time_is_linear(text):
    """No text makes a pattern begin again and again."""
    began = time.process_time()
    redacted(text, with_text=True)
    assert time.process_time() - began < 5


def test_json_over_a_window():
    """Where what is decoded at first cuts it, more is."""
    long = {"a": ["é" * 5000, {"b": [1.5, True, None]}] * 9, "api_key": "made-up"}
    text = f"got {json.dumps(long)}\nand {json.dumps(long, indent=1, ensure_ascii=False)} so"
    found = [value for _, _, value in json_values(text)]
    assert found == [long, long]
    assert "made-up" not in redacted(text)
    cut = json.dumps(long)[:-2]
    assert [*json_values(cut)] == []
    for size in range(4080, 4100):  # the window ends in any part of what follows
        value = {"a": "x" * size, "b": [-1.25, False, '\u00e9"', {}]}
        assert [found for _, _, found in json_values(json.dumps(value) + "\n{")] == [value]


def test_several_files(run, files):
    """What is written is one recording; who names two is told what to do."""
    for names in (["whole.sse", "cut.sse"], ["whole.sse", "--text", "cut.sse"], ["."], ["*.sse"]):
        result = run("redact", *names)
        assert (result.status, result.out) == (2, "")
        assert result.err == (
            "streamkit: redact writes one recording, so it takes one: "
            "run it for each file, with -o\n"
        )
    assert run("redact", "who*.sse").status == 0
    assert "[FILE]" in run("redact", "--help").out


def test_flow_file(run):
    """It has the size of each part in front of it: that would become wrong."""
    flow = b"61:8:response;46:7:headers;31:28:9:x-api-key,11:made-up-key,]]}}"
    result = run("redact", stdin=flow)
    assert (result.status, result.out) == (2, "")
    assert "<stdin>: the sizes in a flow file would become wrong; " in result.err


def test_cassette():
    """Headers are lists below their names."""
    text = (
        "- request:\n    headers:\n      accept:\n      - '*/*'\n      x-org:\n      - me\n\n"
        "      - you\n      authorization:\n      - Bearer a\n    method: POST\n    note: me\n"
        "    list:\n    - a\n"
        "cookie:\n- me\nother:\n- me\n"
    )
    assert redacted(text) == text.replace("- me\n\n", f"- '{COVER}'\n\n").replace(
        "- you", f"- '{COVER}'"
    ).replace("- Bearer a", f"- '{COVER}'").replace("cookie:\n- me", f"cookie:\n- '{COVER}'")


def har(text, **content):
    headers = [{"name": "Content-Type", "value": "a/b"}, {"name": "X-Org", "value": "me"}]
    request = {
        "url": "https://host/?token=abc",
        "headers": headers,
        "cookies": [{"name": "a", "value": "b"}],
        "queryString": [{"name": "key", "value": "abc"}, {"name": "a", "value": "b"}],
        "postData": {"mimeType": "application/json", "text": '{"messages":[{"content":"Hi"}]}'},
    }
    response = {
        "headers": [],
        "content": {"mimeType": "text/event-stream", "text": text, **content},
    }
    return json.dumps({"log": {"entries": [{"request": request, "response": response}]}}, indent=1)


def test_har():
    """Headers but for the safe ones, cookies, parameters; streams inside are looked into."""
    entry = json.loads(redacted(har(f'data: {{"a":"{KEY}"}}\n\n')))["log"]["entries"][0]
    request = entry["request"]
    assert request["headers"] == [
        {"name": "Content-Type", "value": "a/b"},
        {"name": "X-Org", "value": COVER},
    ]
    assert request["cookies"] == [{"name": COVER, "value": COVER}]
    assert request["queryString"] == [{"name": "key", "value": COVER}, {"name": "a", "value": "b"}]
    assert request["url"] == f"https://host/?token={COVER}"
    assert entry["response"]["content"]["text"] == f'data: {{"a":"{COVER}"}}\n\n'


def test_base64():
    """Bodies in base64 are looked into; what is no text is covered with the text."""
    body = base64.b64encode(KEY.encode()).decode()
    found = json.loads(redacted(har(body, encoding="base64")))
    text = found["log"]["entries"][0]["response"]["content"]["text"]
    assert base64.b64decode(text).decode() == COVER
    for bad in ("????", base64.b64encode(b"\xff").decode()):
        one = json.dumps({"encoding": "base64", "text": bad})
        assert json.loads(redacted(one))["text"] == bad
        assert json.loads(redacted(one, with_text=True))["text"] == COVER


def test_headers_as_an_object():
    """Names to values, or to lists."""
    text = json.dumps({"headers": {"X-Org": ["me"], "Accept": "*/*", "x": "", "y": None}})
    assert json.loads(redacted(text))["headers"] == {
        "X-Org": [COVER],
        "Accept": "*/*",
        "x": "",
        "y": None,
    }


def test_a_key_given_twice():
    """The one that is hidden is not forgotten."""
    assert KEY not in redacted(f'{{"api_key":"{KEY}","api_key":null}}')
    assert (
        redacted('{"password":"a","password":null}') == f'{{"password":"{COVER}","password":null}}'
    )


def test_chosen_fields():
    """By name, or by path."""
    data = {
        "id": "a",
        "user": {"id": 5, "name": "b"},
        "name": "c",
        "api_key": "d",
        "n": [{"id": "e"}],
    }
    assert json.loads(redacted(json.dumps(data), "user.id", "name")) == {
        "id": "a",
        "user": {"id": COVER, "name": COVER},
        "name": COVER,
        "api_key": COVER,
        "n": [{"id": "e"}],
    }
    assert json.loads(redacted('{"id":"a","n":[{"id":"e"}]}', "n.id")) == {
        "id": "a",
        "n": [{"id": COVER}],
    }
    assert redacted("Chunk(id='a', x='b')", "id") == f"Chunk(id='{COVER}', x='b')"


def test_text():
    """With text covered, its length stays, and what is no text."""
    logprobs = {
        "content": [
            {"token": "Hi", "logprob": -1, "bytes": [72], "top_logprobs": [{"token": "Ho"}]}
        ],
        "top_logprobs": [{"Hi": -1, "Ho": -2}, None],
    }
    call = {
        "index": 0,
        "id": "call-1",
        "type": "function",
        "function": {"name": "f", "arguments": '{"a'},
    }
    part = chunk(role="assistant", content="Hi you\n", tool_calls=[call])
    part["choices"][0]["logprobs"] = logprobs
    (line,) = redacted(sse(part, done=False).decode(), with_text=True).strip().splitlines()
    choice = json.loads(line[6:])["choices"][0]
    assert choice["delta"]["role"] == "assistant"
    assert choice["delta"]["content"] == "xx xxx\n"
    assert choice["delta"]["tool_calls"][0]["function"] == {"name": "f", "arguments": "xxx"}
    assert choice["logprobs"]["content"][0]["token"] == "xx"
    assert choice["logprobs"]["content"][0]["bytes"] == [0]
    assert choice["logprobs"]["top_logprobs"] == [{"x0": -1, "x1": -2}, None]


@pytest.mark.parametrize(
    "text",
    [
        'data: {"choices":[{"delta":{"content":"{\\"model\\":\\"secret\\"}"}}]}\n',
        'data: {"choices":[{"delta":{"content":[{"type":"text","text":"secret"}]}}]}\n',
        '{"content":"{secret"}',
        '{"type":"content_block_delta","delta":{"type":"text_delta","text":"secret"}}',
        '{"type":"response.output_text.delta","delta":"secret"}',
        '{"choices":[{"delta":{"audio":{"data":"secret"}}}]}',
        '{"choices":[{"delta":{"annotations":[{"url_citation":{"title":"secret","url":"secret"}}]}}]}',
        'data: {"choices":[{"delta":{"content":"secret',
        '  "content": "secret",',
        "ChoiceDelta(content='secret', bytes=[115, 101])",
        '[04:20:03] DEBUG data: {"choices":[{"text":"secret"}]} [end]',
        '[[[[[[[[[[ data: {"text":"secret"}\n{"text":"secret"}',
        'data: {"choices": [{\n  "text": "secret",\n  "tokens": [\n    115\n  ]\n}]}\n',
        'data: {"choices":[{"logprobs":{"top_logprobs":[{"secret":-1.5,"logprob":-1}',
        '{"choices":[{"delta":{"content":"secret\n{"choices":[{"text":"secret"}]}',
        '{"log":"data: {\\"choices\\":[{\\"text\\":\\"secret\\"}]}\\n"}',
        '{"body":{"messages":[{"content":"secret"}]}}',
        '{"input":"{\\"messages\\":[{\\"content\\":\\"secret\\"}]}"}',
        '{"text":"data: {\\"choices\\":[{\\"text\\":\\"secret\\"}]}"}',
        '{"content":{"mimeType":"a","text":"{\\"messages\\":[{\\"content\\":\\"secret\\"}]}"}}',
    ],
)
def test_text_wherever_it_is(text):
    """Chunks, other dialects, requests, logs, what was cut."""
    covered = redacted(text, with_text=True)
    assert "secret" not in covered
    assert "115" not in covered


def test_deep():
    """What is nested too deep is covered, not a crash."""
    assert redacted("[" * 5000) == "[" * 5000
    deep = "[" * 200 + f'"{KEY}"' + "]" * 200
    assert KEY not in redacted(deep)
    text = KEY
    for _ in range(12):
        text = json.dumps({"data:": text})
    assert KEY not in redacted(text)
    assert Redactor().text(KEY, 101) == COVER


def test_a_stream_in_pieces(run):
    """Standard input is read as bytes, whatever its encoding."""
    sys.stdin = io.TextIOWrapper(io.BytesIO(b""), encoding="ascii")
    assert run("redact", stdin="é\n".encode()).out == "é\n"
