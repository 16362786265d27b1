from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import math
import re

import pytest

from streamkit.cli import _report_html

from .helpers import CUT, FAILED, chunk, sse
from .timed import add_command, event, give, start


HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>\x1b\u202e\0'
VOID = {"meta", "br"}


class Page(html.parser.HTMLParser):
    """A page, checked while it is read: elements nest, ids are unique, links lead somewhere."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.links, self.words, self.attributes = [], [], [], [], []
        self._open = []
        self.feed(text)
        self.close()
        assert not self._open
        assert len(set(self.ids)) == len(self.ids)
        assert {link[1:] for link in self.links} <= set(self.ids)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID and self.get_starttag_text()[-2:] != "/>":
            self._open.append(tag)
        for name, value in attrs:
            self.attributes.append(name)
            {"id": self.ids, "href": self.links}.get(name, []).append(value)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return "".join(self.words)


@pytest.fixture(autouse=True)
def command(monkeypatch):
    add_command(monkeypatch, _report_html.COMMAND)


def token(text, logprob):
    top = [{"token": text, "logprob": logprob}, {"token": "other", "logprob": -1}]
    return {"token": text, "logprob": logprob, "top_logprobs": top}


def full(text="Hello", id="chatcmpl-1"):
    levels = [-0.01, -0.3, -1, -2, -9, None]
    call = {"index": 0, "id": id, "function": {"name": text, "arguments": '{"a":1}'}}
    parts = [
        chunk(id, role="assistant"),
        chunk(id, reasoning_content=text, content=text, refusal=text),
        chunk(id, tool_calls=[call, {"index": 1, "custom": {"input": text}}]),
        chunk(id, function_call={"name": text, "arguments": ""}, finish="stop"),
        {
            "id": id,
            "choices": [],
            "usage": {"completion_tokens": 4, "details": {"a": 1}, "b": None},
        },
    ]
    parts[1]["choices"][0]["logprobs"] = {"content": [token(text, level) for level in levels]}
    return parts


def test_everything(run, tmp_path):
    """Response, tools, log probabilities, events; a page that holds together."""
    (tmp_path / "a.sse").write_bytes(sse(*full()))
    assert run("report", "a.sse", "-o", "page.html").status == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = Page(text)
    for words in ("Streams of a.sse", "complete", "chatcmpl-1", "perplexity", "details.a"):
        assert words in page.text
    assert "The least sure tokens of content" in page.text
    assert "none: the recording has no times" in page.text
    assert page.text.count("<0.1 %") == 1
    assert 'title="&quot;Hello&quot; 99.0 % · &quot;other&quot; 36.8 %"' in text
    assert all(f'" class="{shade}" title=' in text for shade in ("p4", "p3", "p2", "p1", "p0"))
    assert '<span class="pu" title=' in text


def test_tables(run):
    """Numbers stand right, a token is shaded alone, and issues that go on are said once."""
    parts = [{**part, "created": 1_750_000_000} for part in full()]
    text = run("report", stdin="\n".join(map(json.dumps, parts)).encode()).out
    assert '<th scope="col" class="n">position</th><th scope="col">token</th>' in text
    assert '<td class="x"><span class="p0">&quot;Hello&quot;</span></td>' in text
    assert '<span class="whole">&quot;other&quot; 36.8 %</span>' in text
    assert text.count('<tr class="bad">') == 1
    assert "created</dt><dd>2025-06-15 15:06:40 UTC</dd>" in text


def test_policy(run):
    """Nothing is allowed but the style sheet; nothing else is there."""
    text = run("report", stdin=sse(*full())).out
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
    page = Page(text)
    assert not {"script", "img", "link", "iframe", "object"} & set(page.tags)
    assert not {"style", "src"} & set(page.attributes)
    assert not any(name.startswith("on") for name in page.attributes)
    assert "http" not in re.sub(r"http-equiv", "", text)


def test_hostile_text(run, monkeypatch):
    """It is text, wherever it comes from."""
    pieces = [event(part, 1e9 + n) for n, part in enumerate(full(HOSTILE, HOSTILE))]
    give(monkeypatch, [*pieces, event("{" + HOSTILE, 1e9 + 9)])
    result = run("report", HOSTILE.replace("/", "").replace("\0", ""))
    page = Page(result.out)
    assert not {"script", "img"} & set(page.tags)
    assert not set("\x1b\u202e\0") & set(result.out)
    assert "<script>alert(1)</script>" in page.text


def test_timeline(run, monkeypatch):
    """First chunk, first content, gaps, in words and as a picture."""
    parts = full()
    give(monkeypatch, [start(1e9), *(event(part, 1e9 + 1 + n) for n, part in enumerate(parts))])
    text = run("report").out
    page = Page(text)
    assert "first chunk 1.000 s" in page.text
    assert "first content 2.000 s" in page.text
    assert (
        "5 chunks in 5.000 s; the first content after 2.000 s; the longest gap 1.000 s" in page.text
    )
    assert page.tags.count("svg") == 1
    assert text.count('class="chunk"') == 5
    assert text.count('class="gap"') == 4
    assert "A chunk is not a token" in page.text


@pytest.mark.parametrize(
    ("times", "chunks"),
    [
        ([1e9], 1),
        ([1e9] * 5, 1),
        ([1e9 + 5, 1e9, None, 1e9 + 7, 1e9 + 9], 3),
        ([1e9 + 1e-3 * n for n in range(3000)], 911),
    ],
)
def test_odd_clocks(run, monkeypatch, times, chunks):
    """One moment, a clock that goes backwards, more chunks than there is room for."""
    give(monkeypatch, [event(chunk(role="assistant"), time) for time in times])
    text = run("report").out
    Page(text)
    assert text.count('class="chunk"') == chunks
    assert "first content" in text


def test_late_content(run, monkeypatch):
    """A label near the right end is written to its left."""
    give(monkeypatch, [event(chunk(), 1e9), event(chunk(content="a"), 1e9 + 9)])
    assert 'text-anchor="end">first content 9.000 s' in run("report").out


def test_incomplete(run, files):
    """What is missing is said, for each of several files."""
    result = run("report", "cut.sse", "failed.sse", "missing.sse", "empty.sse")
    assert result.status == 2
    page = Page(result.out)
    assert "Streams of cut.sse and 3 more" in page.text
    assert "cut: finish_missing, done_missing" in page.text
    assert "error: upstream_error, finish_missing: the server sent an error" in page.text
    assert "No such file or directory" in page.text
    assert "empty_stream" in page.text
    assert page.text.count("Events of ") == 2


def test_many_events(run, monkeypatch):
    """The table has a bound, the issues too."""
    monkeypatch.setattr(_report_html, "MOST_ROWS", 3)
    text = run("report", stdin=sse(*(chunk(f"chatcmpl-{n}", content="a") for n in range(9)))).out
    page = Page(text)
    assert "The first 3 of 10 events; streamkit inspect has all." in page.text
    assert "id_changed: 8 in all" in page.text


def test_completion(run):
    """The text of a legacy completion."""
    choice = {"index": 0, "text": "Hello", "finish_reason": "length", "logprobs": None}
    page = Page(run("report", stdin=sse({"id": "cmpl-1", "choices": [choice]})).out)
    assert "Choice 0 · finish reason length" in page.text
    assert "Hello" in page.text


def test_message_of_many_parts(run):
    """Parts, a transcript and sources as text; what is none as JSON, its strings shortened."""
    parts = [{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": "A" * 3000}, 7]
    message = {
        "role": "assistant",
        "content": parts,
        "audio": {"transcript": "hi", "data": "B" * 3000},
        "annotations": [{"url_citation": {"title": "T", "url": "u"}}, {"type": "file"}],
        "tool_calls": [{"id": "call-1", "function": {"name": "f", "arguments": ""}}],
    }
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    text = run("report", stdin=sse({"object": "chat.completion", "choices": [choice]})).out
    page = Page(text)
    assert 'content text</h4><pre dir="auto">Look:</pre>' in text
    assert 'content part</h4><pre dir="auto">7</pre>' in text
    assert 'audio transcript</h4><pre dir="auto">hi</pre>' in text
    assert "annotation · T · u" in page.text
    assert 'annotation · {"type":"file"}' in page.text
    assert "tool call · call-1 · f</h4>\n" in text
    assert page.text.count("… (3000 characters)") == 2
    assert "B" * 2001 not in text


def test_no_logprob_is_known(run):
    """Then the perplexity is unknown too."""
    part = chunk(content="a", finish="stop")
    part["choices"][0]["logprobs"] = {"content": [token("a", -math.inf), {"token": "b"}]}
    text = run("report", stdin=sse(part).replace(b"-Infinity", b"null")).out
    assert "perplexity unknown" in Page(text).text


def test_readable_without_sight_or_mouse(run):
    """Language, title, a way to the streams, headed tables, names on what scrolls."""
    text = run("report", stdin=sse(*full()) + CUT + FAILED).out
    assert '<html lang="en">' in text
    assert 'class="skip" href="#main"' in text
    assert 'scope="col"' in text
    assert re.search(r'role="region" aria-label="[^"]+" tabindex="0"', text)
    assert "prefers-color-scheme: dark" in text
    assert "focus-visible" in text
