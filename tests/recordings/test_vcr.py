"""VCR cassettes, in YAML and JSON, of several libraries."""

from __future__ import annotations

import base64
import gzip
import json
import sys
import zlib

import pytest

from streamkit import LimitExceeded, Limits, UnknownForm
from streamkit.recordings import _vcr
from tests.recordings.making import (
    BODY,
    FINAL,
    MESSAGES_STREAM,
    codes,
    form_of,
    read,
    text,
    without_libraries,
)


YAML = form_of(_vcr.FORMS, "vcr")
JSON = form_of(_vcr.FORMS, "vcr-json")
TYPE = {"content-type": ["text/event-stream"], "authorization": ["secret"]}
URI = "https://api.example/v1/chat/completions?key=secret"


def interaction(body, headers=None, **request):
    request = {"method": "POST", "uri": URI, "body": "secret"} | request
    response = {"body": body, "headers": TYPE | (headers or {}), "status": {"code": 200}}
    return {"request": request, "response": response}


def cassette(*interactions, key="interactions", **more):
    return json.dumps({"version": 1, key: list(interactions), **more}).encode()


def dumped(*interactions, key="interactions", **more):
    yaml = pytest.importorskip("yaml")
    return yaml.safe_dump({key: list(interactions), **more}).encode()


STRING = {"string": BODY}


@pytest.mark.parametrize(
    "each",
    [
        interaction(STRING),
        interaction(BODY),
        interaction({"base64_string": base64.b64encode(BODY.encode()).decode()}),
        interaction({"encoding": "UTF-8", "string": BODY}, method="post", url=URI),
        interaction(FINAL),
        interaction({"string": json.dumps(FINAL)}, {"content-type": ["application/json"]}),
        {"request": {}, "response": {"parsed_body": FINAL, "headers": {"Content-Type": "a/b"}}},
        {"request": {}, "response": {"content": BODY, "status_code": 200}},
    ],
    ids=["vcrpy", "go-vcr", "betamax", "ruby", "parsed", "final", "parsed_body", "httpx"],
)
def test_bodies(each):
    """A body is found wherever the library keeps it, in JSON as in YAML."""
    for form, data in ((JSON, cassette(each)), (YAML, dumped(each))):
        (recording,) = read(form, data)
        assert text(recording) == "Hello"
        assert "secret" not in repr(recording)


@pytest.mark.parametrize("key", ["interactions", "http_interactions"])
def test_names(key):
    """Interactions of other kinds are left out, and numbers go on."""
    page = interaction({"string": "<html>"}, {"content-type": ["text/html"]})
    for form, data in (
        (JSON, cassette(page, interaction(STRING), key=key)),
        (YAML, dumped(page, interaction(STRING), key=key)),
    ):
        (recording,) = read(form, data)
        assert recording.name == "interaction 2: POST /v1/chat/completions"


def test_responses():
    """The recorder of `responses` keeps a request and its response as one, without headers."""
    one = {"body": BODY, "content_type": "text/event-stream", "method": "POST", "url": URI}
    page = {"body": "<html>", "content_type": "text/html", "method": "GET", "url": URI}
    data = dumped({"response": page}, {"response": one | {"status": 200}}, key="responses")
    (recording,) = read(YAML, data.partition(b"version")[0])
    assert recording.name == "interaction 2: POST /v1/chat/completions"
    assert text(recording) == "Hello"
    assert YAML.looks(data) == 95


def deflated(body):
    squeeze = zlib.compressobj(wbits=-15)
    return squeeze.compress(body) + squeeze.flush()


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (gzip.compress(BODY.encode()), "gzip"),
        (gzip.compress(BODY.encode()), ""),
        (gzip.compress(BODY[:90].encode()) + gzip.compress(BODY[90:].encode()), "gzip"),
        (zlib.compress(BODY.encode()), "deflate"),
        (deflated(BODY.encode()), "deflate"),
        (BODY.encode(), "gzip"),
        (BODY.encode(), "identity"),
    ],
    ids=["gzip", "by its mark", "members", "zlib", "deflate", "undone", "identity"],
)
def test_encodings(body, encoding):
    """Encodings are undone, unless the library did so and left the header."""
    headers = {"content-encoding": [encoding]}
    (recording,) = read(YAML, dumped(interaction({"string": body}, headers)))
    assert text(recording) == "Hello"
    assert codes(recording) == []


@pytest.mark.parametrize(
    ("body", "encoding", "code"),
    [
        (gzip.compress(BODY.encode())[:-12], "gzip", "cut_body"),
        (gzip.compress(BODY.encode()) + b"\x1f\x8bjunk", "gzip", "after_compressed"),
        (b"\x8b\x02\x80", "br", "encoded_body"),
        (b"\x28\xb5\x2f\xfd", "gzip, zstd", "encoded_body"),
        (b"\x0c\x80", "deflate", "cut_body"),
        (b"", "gzip", "missing_body"),
        ("", "", "missing_body"),
        (None, "", "missing_body"),
        (5, "", "missing_body"),
    ],
)
def test_what_cannot_be_undone(body, encoding, code, monkeypatch):
    """It is said, and what could be read is kept."""
    without_libraries(monkeypatch)
    headers = {"content-encoding": [encoding]}
    (recording,) = read(YAML, dumped(interaction({"string": body}, headers)))
    assert codes(recording) == [code]


def test_unknown_encoding():
    """A body in an encoding that nobody names is left as it is."""
    headers = {"content-encoding": ["other"]}
    (recording,) = read(YAML, dumped(interaction({"string": b"\x00abc"}, headers)))
    assert recording.pieces[0].data == b"\x00abc"


def test_bomb_in_a_body():
    """A body that expands too far is refused before it is built."""
    body = gzip.compress(bytes(9_000_000))
    with pytest.raises(LimitExceeded) as error:
        read(
            YAML,
            dumped(interaction({"string": body})),
            block=1000,
            limits=Limits(decompressed=1 << 20),
        )
    assert error.value.limit == "decompressed"
    assert error.value.value < 1 << 22


def test_ruby_binary_and_old_python():
    """Ruby's binary tag, and Python 2's text, are read."""
    pytest.importorskip("yaml")
    start = (
        "---\nhttp_interactions:\n- response:\n    headers: {Content-Type: [text/event-stream]}\n"
    )
    coded = base64.b64encode(BODY.encode()).decode()
    data = f"{start}    body:\n      string: !binary |-\n        {coded}\n".encode()
    assert text(read(YAML, data)[0]) == "Hello"
    data = f"{start}    body:\n      string: !!python/unicode {json.dumps(BODY)}\n".encode()
    assert text(read(YAML, data)[0]) == "Hello"


def test_aliases():
    """Aliases that an honest cassette has are fine."""
    data = b"interactions:\n" + b"".join(
        b"- response:\n    headers: %s\n    body: %s\n" % pair
        for pair in (
            (b"&h {content-type: &t [text/event-stream]}", b"&b {string: &s 'data: {}'}"),
            (b"*h", b"*b"),
        )
    )
    first, second = read(YAML, data)
    assert first.pieces[0].data == second.pieces[0].data == b"data: {}"


def bomb(levels=9, width=9):
    rows = ["a0: &a0 [x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, levels)]
    return ("interactions: []\n" + "\n".join(rows)).encode()


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (bomb(), "aliases written out"),
        (b"interactions:\n- &a [*a]\n", "contains itself"),
        (b"interactions:\n- *a\n", "contains itself|undefined"),
        (b"interactions:\n- " + b"[" * 100 + b"]" * 100, "deeper"),
        (b"interactions:\n- " + b"[" * 500_000, "nest"),
        (b"interactions:\n- !!python/object/apply:os.system [ls]\n", "cannot be read at line 2"),
        (b"interactions:\n- !!python/object:os.x {}\n", "cannot be read"),
        (b"interactions:\n- a: [b\n", "cannot be read"),
        (b"interactions:\n- 2026-99-99\n", "none of its type"),
        (b"interactions:\n- \xff\n", "cannot be read"),
        (b"interactions:\n- {[a]: b}\n", "cannot be read"),
        (b"- a\n", "the cassette has 0 interactions"),
        (b"interactions: 5\n", "the cassette has 0 interactions"),
        (b"interactions: [5]\n", "the cassette has 1 interaction, and no"),
        (b"", "the cassette has 0 interactions"),
    ],
)
def test_hostile_yaml(data, match):
    """Bombs, objects and broken YAML are refused, with a reason."""
    pytest.importorskip("yaml")
    with pytest.raises(UnknownForm, match=match):
        read(YAML, data, block=1 << 16)


def test_too_large():
    """YAML is read whole, so its size is bounded."""
    with pytest.raises(LimitExceeded, match="line"):
        read(YAML, b"interactions:\n" + b"#" * (65 << 20), block=1 << 20)


def test_without_pyyaml(monkeypatch):
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(UnknownForm, match=r"install streamkit-llm\[yaml\]"):
        read(YAML, b"interactions: []", block=9)


def test_without_the_c_loader(monkeypatch):
    """PyYAML without libyaml reads the same."""
    yaml = pytest.importorskip("yaml")
    data = dumped(interaction({"string": gzip.compress(BODY.encode())}))
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert text(read(YAML, data)[0]) == "Hello"
    with pytest.raises(UnknownForm, match="cannot be read"):
        read(YAML, b"interactions: [\xff]", block=99)


def test_other_dialect():
    """A cassette of another API is named."""
    (recording,) = read(JSON, cassette(interaction({"string": MESSAGES_STREAM})))
    assert codes(recording) == ["other_dialect"]


def test_bad_json():
    """JSON that is none is an error that says where."""
    with pytest.raises(UnknownForm, match="interaction 2 cannot be read"):
        read(JSON, cassette(interaction(BODY))[:-2] + b", {5}]}", block=99)


@pytest.mark.parametrize(
    ("head", "scores"),
    [
        (b"interactions:\n- request:\n", (95, 0)),
        (b"---\nhttp_interactions:\r\n- request:\n", (95, 0)),
        (b"# a cassette\nversion: 2\ninteractions:\n", (95, 0)),
        (cassette(interaction(BODY)), (0, 92)),
        (cassette(interaction(BODY), key="http_interactions"), (0, 92)),
        (b"interactions: see below", (0, 0)),
        (b"responses:\n- response:\n", (95, 0)),
        (b"responses:\n  '200':\n", (0, 0)),
        (b"data: interactions:\n", (0, 0)),
        (BODY.encode(), (0, 0)),
        (b'{"text": "\\"interactions\\": ["}', (0, 0)),
        (b'data: {"interactions": []}', (0, 0)),
        (b"", (0, 0)),
    ],
)
def test_looks(head, scores):
    """A cassette is told from what merely contains such text."""
    assert (YAML.looks(head), JSON.looks(head)) == scores


def test_cut_json():
    """A cassette that is cut gives what is whole, and what there is of the rest."""
    data = cassette(interaction(STRING), interaction(STRING))
    first, last = read(JSON, data[: data.rindex(b"[DONE]")], block=1000)
    assert [text(each) for each in (first, last)] == ["Hello", "Hello"]
    assert (codes(first), codes(last)) == ([], ["cut_file"])
    first, last = read(JSON, data[: data.rindex(b'"response"')], block=1000)
    assert (codes(last), last.pieces) == (["cut_file"], ())
    with pytest.raises(UnknownForm, match="cut"):
        read(JSON, data[: data.index(b'"response"')], block=1000)


def test_cut_between_interactions():
    """The list has no end: that is said."""
    data = cassette(interaction(STRING), interaction(STRING))
    end = len(cassette(interaction(STRING))) - len(b"]}")
    first, last = read(JSON, data[:end], block=1000)
    assert (text(first), codes(last), last.pieces) == ("Hello", ["cut_file"], ())
