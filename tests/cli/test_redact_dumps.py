"""What curl wrote, without its secrets: traces and the log of -v."""

from __future__ import annotations

import gzip
import json
import re

from itertools import pairwise

import attrs
import pytest

from streamkit.cli import _redact
from streamkit.cli._dumps import masked_trace, masked_verbose
from streamkit.cli._masks import Masker
from streamkit.recordings import rebuild, sniff

from .helpers import chunk, sse
from .timed import add_command


KEY = "sk-" + "A1b2" * 6
SECRETS = ("hunter2horse", KEY, "org-of-mine", "c00kie")
REQUEST_HEAD = (
    b"POST /v1/chat/completions?api_key=hunter2horse HTTP/1.1\r\nHost: h\r\n"
    b"Authorization: Bearer " + KEY.encode() + b"\r\nX-Org:org-of-mine\r\n\r\n"
)
REQUEST = json.dumps({"model": "m", "password": "hunter2horse", "n": [1, {"é": KEY}]}).encode()
HEAD = [
    b"HTTP/1.1 200 OK\r\n",
    b"content-type: text/event-stream\r\n",
    b"Set-Cookie: a=c00kie\r\n",
    b"X-Fold: org-of-mine\r\n  c00kie\r\n",
    b"\r\n",
]
BODY = sse(
    chunk(content="Hel", api_key="hunter2horse"),
    chunk(content=f'lo "{KEY}" \u20ac', finish="stop"),
)
WIRE = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (BODY[:70], BODY[70:]))
CHUNKED = WIRE + b"0\r\nX-Trailer: c00kie\r\n\r\n"


@pytest.fixture(autouse=True)
def command(monkeypatch):
    add_command(monkeypatch, _redact.COMMAND)


def hex_rows(data):
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        pairs = b"".join(b"%02x " % byte for byte in row).ljust(48)
        shown = bytes(byte if 32 <= byte < 127 else 46 for byte in row)
        yield b"%04x: %s%s\n" % (at, pairs, shown)


def ascii_rows(data):
    """Rows as curl writes them: CRLF ends one, and is not shown."""
    at = 0
    while at < len(data):
        end = data.find(b"\r\n", at, at + 65)
        stop = min(at + 64, len(data)) if end < 0 else end
        shown = bytes(byte if 32 <= byte < 127 else 46 for byte in data[at:stop])
        yield b"%04x: %s\n" % (at, shown)
        at = stop if end < 0 else end + 2


def block(way, kind, data, *, is_hex, time=0, ids=b""):
    rows = b"".join((hex_rows if is_hex else ascii_rows)(data))
    stamp = b"04:20:%02d.000000 " % time
    head = b"%s%s %s %s, %d bytes (0x%x)\n" % (ids, *way, kind, len(data), len(data))
    return stamp + head + rows


SENT, RECEIVED = (b"=>", b"Send"), (b"<=", b"Recv")


def trace(body=BODY, cuts=(), *, is_hex, head=HEAD, request=REQUEST, ids=b""):
    how = {"is_hex": is_hex, "ids": ids}
    edges = [0, *cuts, len(body)]
    parts = [body[start:end] for start, end in pairwise(edges) if end > start]
    return b"".join(
        [
            b"04:20:00.000000 == Info: [HTTP/2] [1] [authorization: Bearer "
            + KEY.encode()
            + b"]\n",
            b'04:20:00.000000 == Info: Added cookie a="c00kie" for domain h\n',
            block(SENT, b"SSL data", b"org-of-mine", **how),
            block(SENT, b"header", REQUEST_HEAD, **how),
            block(SENT, b"data", request[:30], **how),
            block(SENT, b"data", request[30:], **how),
            *(block(RECEIVED, b"header", line, **how) for line in head),
            *(block(RECEIVED, b"data", part, time=at, **how) for at, part in enumerate(parts)),
        ]
    )


def masked(data, *fields, is_hex, with_text=False):
    found = masked_trace(data, Masker(frozenset(fields), with_text), is_hex=is_hex)
    assert len(found) == len(data)
    return found


def shown(data, *, is_hex):
    """Return all that a trace shows: the texts of its rows, glued; and what the pairs say."""
    rows = [line[6:] for line in data.decode().splitlines() if line[4:6] == ": "]
    if not is_hex:
        return data.decode() + "".join(rows)
    digits = re.findall(r"\b[0-9a-f]{2}(?= |\Z)", " ".join(row[:48] for row in rows))
    pairs = bytes.fromhex("".join(digits)).decode("latin-1")
    return data.decode() + pairs + "".join(row[48:] for row in rows)


def assert_covered(data, *, is_hex):
    text = shown(data, is_hex=is_hex)
    assert not [secret for secret in SECRETS if secret in text]


def assert_same(was, now):
    """All is as it was but what was covered: issues and timing too."""
    (before,), (after,) = list(rebuild(was)), list(rebuild(now))
    (old,), (new,) = before.response.choices, after.response.choices
    assert new.message.content == old.message.content.replace(KEY, "x" * len(KEY))
    assert new.finish_reason == old.finish_reason == "stop"
    assert (after.complete, after.timing, after.issue_counts) == (
        before.complete,
        before.timing,
        before.issue_counts,
    )
    assert attrs.evolve(after.response, choices=[]) == attrs.evolve(before.response, choices=[])


@pytest.mark.parametrize("is_hex", [True, False])
@pytest.mark.parametrize("body", [BODY, CHUNKED], ids=["plain", "chunked"])
def test_a_cut_at_each_place(body, is_hex):
    """Wherever a block ends, no part of a secret is left, and all else stays."""
    assert all(
        any(secret in str(part) for part in (BODY, HEAD, REQUEST_HEAD)) for secret in SECRETS
    )
    for cut in range(1, len(body)):
        data = trace(body, [cut], is_hex=is_hex)
        found = masked(data, is_hex=is_hex)
        assert_covered(found, is_hex=is_hex)
        if cut % 9 == 0 or not is_hex:
            assert_same(data, found)


@pytest.mark.parametrize("is_hex", [True, False])
def test_blocks_of_one_byte(is_hex):
    """So small are pieces at worst."""
    data = trace(CHUNKED, range(1, len(CHUNKED)), is_hex=is_hex)
    found = masked(data, is_hex=is_hex)
    assert_covered(found, is_hex=is_hex)
    if is_hex:
        assert_same(data, found)


@pytest.mark.parametrize("is_hex", [True, False])
def test_fields_and_text(is_hex):
    """Chosen fields, numbers too; and what the model wrote."""
    data = trace(CHUNKED, [50, 120], is_hex=is_hex)
    found = masked(data, "id", "index", is_hex=is_hex, with_text=True)
    (outcome,) = rebuild(found)
    assert outcome.response.id == "x" * len("chatcmpl-1")
    content = outcome.response.choices[0].message.content
    assert not set(content) - set("x ")
    assert outcome.complete


@pytest.mark.parametrize("is_hex", [True, False])
def test_connections_are_kept_apart(is_hex):
    """With --trace-ids a secret goes on in the next block of its own connection."""
    one, other = (
        [block(RECEIVED, b"data", part, is_hex=is_hex, ids=ids) for part in parts]
        for ids, parts in ((b"[0-0] ", (BODY[:80], BODY[80:])), (b"[1-1] ", (BODY[:90], BODY[90:])))
    )
    found = masked(one[0] + other[0] + one[1] + other[1], is_hex=is_hex)
    assert_covered(found, is_hex=is_hex)
    text = shown(found, is_hex=is_hex)
    assert "hunter2" not in text
    assert "horse" not in text


def test_a_cut_trace():
    """The end of a trace may be anywhere."""
    for is_hex in (True, False):
        data = trace(is_hex=is_hex)
        for end in range(0, len(data), 7):
            assert_covered(masked(data[:end], is_hex=is_hex), is_hex=is_hex)


@pytest.mark.parametrize("is_hex", [True, False])
def test_the_fields_of_a_form(is_hex):
    """A request of a token endpoint."""
    data = trace(is_hex=is_hex, request=b"client_secret=hunter2horse&token=c00kie&a=b")
    found = masked(data, is_hex=is_hex)
    assert_covered(found, is_hex=is_hex)
    assert "secret=xxxxxxxxxxxx&tok" in shown(found, is_hex=is_hex)


def test_trailing_blanks_were_taken_off():
    """As editors do: a row is then shorter than what it shows."""
    data = b"\n".join(line.rstrip() for line in trace(is_hex=False).split(b"\n"))
    assert_covered(masked(data, is_hex=False), is_hex=False)
    data = b"\n".join(
        line[:53] if line[4:6] == b": " else line for line in trace(is_hex=True).split(b"\n")
    )
    assert_covered(masked(data, is_hex=True), is_hex=True)


@pytest.mark.parametrize(
    "data",
    [
        trace(gzip.compress(BODY), is_hex=True),
        trace(is_hex=False, head=[b"HTTP/1.1 200 OK\r\n", b"Content-Encoding: br\r\n", b"\r\n"]),
    ],
)
def test_compressed(run, data):
    """What cannot be looked into is refused, with a way out."""
    result = run("redact", stdin=data)
    assert (result.status, result.out) == (2, "")
    assert "convert --to jsonl" in result.err


VERBOSE = (
    b"* Connected to h\n04:20:00.000000 * [HTTP/2] [1] [x-api-key: hunter2horse]\n"
    b"* Server auth using Basic with user 'hunter2horse'\n"
    b"> POST /v1?key=c00kie HTTP/1.1\r\n04:20:00.000000 > X-Org: org-of-mine\r\n>\r\n"
    b"< HTTP/1.1 200 OK\r\n< set-cookie: c00kie\r\n< content-type: text/event-stream\r\n< \r\n"
)


def test_verbose_at_each_cut():
    """What curl says may stand in the middle of a secret."""
    said = b"{ [5 bytes data]\n"
    for cut in range(1, len(BODY)):
        data = VERBOSE + BODY[:cut] + said + BODY[cut:] + b"* Connection #0 to host h left intact\n"
        assert sniff(data).name == "curl-v"
        found = masked_verbose(data, Masker())
        assert len(found) == len(data)
        text = found.decode().replace(said.decode(), "")
        assert not [secret for secret in SECRETS if secret in text], cut
        assert_same(data, found)


def test_verbose_with_headers():
    """With -i, they stand there twice; two responses are two bodies."""
    head = b"HTTP/1.1 200 OK\r\nX-Org: org-of-mine\r\n\r\n"
    meter = b"  5   100    5    5    0     0   5     0  0:00:01  0:00:01 --:--:--   5\r"
    data = VERBOSE + head + BODY + meter + VERBOSE + BODY
    found = masked_verbose(data, Masker())
    assert not [secret for secret in SECRETS if secret in found.decode()]
    assert found.count(b"Hel") == 2


@pytest.mark.parametrize("body", [BODY, CHUNKED], ids=["plain", "chunked"])
def test_responses(run, body):
    """With their headers, and as they came over the wire: sizes of chunks stay right."""
    head = b"".join(HEAD)
    for data, form in ((b"\n" + head + body + head + body, "curl-i"), (body, "curl-raw")):
        if sniff(data).name != form:  # a body alone that is not in chunks
            assert (form, body) == ("curl-raw", BODY)
            continue
        result = run("redact", stdin=data)
        found = result.out.encode()
        assert len(found) == len(data)
        text = "".join(re.sub(r"\r\n[0-9a-f]+\r\n", "", result.out))
        assert not [secret for secret in SECRETS if secret in text]
        assert_same(body, found[1 + len(head) :][: len(body)] if form == "curl-i" else found)


def test_command(run):
    """The dump is written again, as long as it was; what it covers is counted."""
    for is_hex in (True, False):
        data = trace(is_hex=is_hex)
        result = run("redact", stdin=data)
        assert result.status == 0
        assert len(result.out.encode()) == len(data)
        assert_covered(result.out.encode(), is_hex=is_hex)
        assert re.search(r": [1-9][0-9]* covered;", result.err)


# -- Covered in place ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r'{"password": "a\né\u20ac\ud83d\ude00"}', '{"password": "' + "x" * 22 + '"}'),
        ('{"secret": 12.5e3, "cookie": true}', '{"secret": 0     , "cookie": null}'),
        (
            '{"secret": null, "password": [1, {"a": "b"}]}',
            '{"secret": null, "password": [0, {"a": "x"}]}',
        ),
        (
            '{"a": {"b": "data: {\\"api_key\\": \\"k\\"}"}}',
            '{"a": {"b": "data: {\\"api_key\\": \\"x\\"}"}}',
        ),
        ('{"text": "aGk=", "encoding": "base64"}', '{"text": "aGk=", "encoding": "base64"}'),
        ("cookie:\n- me\n", "cookie:\n- xx\n"),
        ('> cookie: {"a": 1}\n', "> cookie: xxxxxxxx\n"),
        ("[" * 5000, "[" * 5000),
    ],
)
def test_in_place(text, shown):
    """Each value stays as long as it is written."""
    assert Masker().text(text) == shown


def test_text_in_place():
    """Log probabilities: numbers of bytes, and keys that stay apart."""
    value = {"top_logprobs": [{"Hi": -1, "Ho": -2, "": -3}, None, {"token": "Hi"}]}
    text = json.dumps(value)
    covered = Masker(with_text=True).text(text)
    assert len(covered) == len(text)
    assert list(json.loads(covered)["top_logprobs"][0]) == ["aa", "bb", ""]
    many = json.dumps({"top_logprobs": [{f"k{number}": -1 for number in range(63)}]})
    covered = Masker(with_text=True).text(many)
    assert "k1" not in covered
    assert len(covered) == len(many)
    for cut in ('{"bytes": [72, 101', '{"logprobs":{"secret":-1.5,"logprob":-1'):
        covered = Masker(with_text=True).text(cut)
        assert len(covered) == len(cut)
        assert "72" not in covered
        assert "secret" not in covered
    body = json.dumps({"text": "c2stQTFiMkExYjJBMWIyQTFiMg==", "encoding": "base64"})
    assert "c2st" not in Masker().text(body)


def test_deep_in_place():
    """What is nested too deep is covered whole."""
    for inner in (f'"{KEY}"', "12", "true", f'["{KEY}", -1.5]', "{}"):
        deep = "[" * 101 + inner + "]" * 101
        covered = Masker().text(deep)
        assert len(covered) == len(deep)
        assert KEY not in covered
        json.loads(covered)
    deep = "[" * 100 + f'"{KEY}",1,null,true,{{}}' + "]" * 100
    assert KEY not in Masker().text(deep)
    inside = KEY
    for _ in range(12):
        inside = json.dumps({"data:": inside})
    assert KEY not in Masker().text(inside)


def test_bytes_that_are_no_text():
    """They stay as they are, and count as they did."""
    data = b'\xff{"password": "\xe2\x82\xac\xc3\xa9"}\xfe'
    assert Masker().masked(data) == b'\xff{"password": "xxxxx"}\xfe'
