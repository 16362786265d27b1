"""Pastes: what a page, a mail or a forum did to a stream is undone, and said."""

from __future__ import annotations

import html
import json

import pytest

from streamkit.recordings import rebuild, sniff
from streamkit.recordings._paste import FORMS

from .samples import BODY, CHUNKS, EVENTS, TEXT, chunk, event, joined, misses, named, read, texts


(PASTE,) = FORMS
assert named(FORMS, "paste") is PASTE

PRETTY = b"".join(b"data: " + json.dumps(each, indent=2).encode() + b"\n\n" for each in CHUNKS)


def every_line(before, data=BODY):
    return b"".join(before + line for line in data.splitlines(keepends=True))


def curly(data):
    """Make marks curly as a forum does: by what stands before."""
    text = data.decode()
    for before in " {[:,":
        text = text.replace(before + '"', before + "“")
    return text.replace('"', "”").encode()


FENCED = b"Here it is:\n\n```\n" + BODY + b"```\n\nWhat is wrong?\n"
PASTES = {
    "quoted": (every_line(b"> "), ["paste_quoted"]),
    "quoted, tight": (every_line(b">"), ["paste_quoted"]),
    "quoted twice": (every_line(b"> > "), ["paste_quoted"]),
    "quoted, with a greeting": (b"> Hello,\n>\n" + every_line(b"> "), ["paste_quoted"]),
    "indented": (every_line(b"    "), ["paste_indented"]),
    "indented, blank lines bare": (BODY.replace(b"data", b"    data"), ["paste_indented"]),
    "tabs": (every_line(b"\t"), ["paste_indented"]),
    "no-break spaces": (every_line(b"\xc2\xa0\xc2\xa0"), ["paste_indented"]),
    "indented, pretty": (every_line(b"    ", PRETTY), ["paste_indented"]),
    "fenced": (FENCED, ["paste_fenced"]),
    "fenced with a language": (b"~~~ text\n" + BODY + b"~~~\n", ["paste_fenced"]),
    "fenced, not closed": (b"```json\n" + BODY, ["paste_fenced"]),
    "several fences": (b"```\n" + b"```\nthen\n```\n".join(EVENTS) + b"```", ["paste_fenced"]),
    "fenced, indented": (every_line(b"  ", FENCED), ["paste_fenced", "paste_indented"]),
    "fenced, quoted": (every_line(b"> ", FENCED), ["paste_quoted", "paste_fenced"]),
    "curly": (curly(BODY), ["paste_curly"]),
    "curly, pretty": (curly(PRETTY), ["paste_curly"]),
    "curly, closing only": (BODY.replace(b'"', "”".encode()), ["paste_curly"]),
    "curly, json lines": (
        b"".join(curly(json.dumps(each).encode()) + b"\n" for each in CHUNKS),
        ["paste_curly"],
    ),
    "curly, quoted, no-break": (
        every_line(b"> ", curly(BODY)).replace(b"data: ", b"data:\xc2\xa0"),
        ["paste_quoted", "paste_curly"],
    ),
    "html": (BODY.replace(b'"', b"&quot;"), ["paste_escaped"]),
    "html, by number": (BODY.replace(b'"', b"&#34;").replace(b".", b"&#46;"), ["paste_escaped"]),
    "colours": (BODY.replace(b"data:", b"\x1b[36mdata:\x1b[0m"), []),
    "colours of JSON": (
        b"".join(b"\x1b[1m%s\x1b[0m\n" % json.dumps(each).encode() for each in CHUNKS),
        [],
    ),
    "crlf": (every_line(b"> ").replace(b"\n", b"\r\n"), ["paste_quoted"]),
    "all at once": (
        every_line(b"> ", b"See:\n```\n" + every_line(b"  ", curly(BODY)) + b"```\n"),
        ["paste_quoted", "paste_fenced", "paste_indented", "paste_curly"],
    ),
}


@misses(FORMS)
def test_near_misses(form, head):
    """Nothing that merely contains such text is taken for a paste."""
    assert form.looks(head) == 0


@pytest.mark.parametrize("name", PASTES)
def test_pastes(name):
    """Each layer comes off, and is said."""
    data, codes = PASTES[name]
    assert PASTE.looks(data) >= 60
    assert texts(PASTE, data) == [TEXT]
    ((recording, pieces),) = read(PASTE, data)
    assert [note.code for note in recording.notes] == codes
    assert all(piece.place.startswith("line ") for piece in pieces)


@pytest.mark.parametrize("name", ["quoted", "quoted, tight", "indented", "fenced", "tabs"])
def test_lines_are_as_they_were(name):
    """What comes out of a paste of events is the events, to the byte."""
    assert joined(read(PASTE, PASTES[name][0])[0][1]) == BODY


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("say “yes” now", "say “yes” now"),
        ("“yes”, I say", "“yes”, I say"),
        ('an escaped "one"', 'an escaped "one"'),
        ("5″ wide", "5″ wide"),
    ],
)
def test_curly_text(text, kept):
    """Curly marks that are part of the text stay, where that can be told."""
    payload = chunk(content=text, finish="stop")
    data = curly(json.dumps(payload, ensure_ascii=False).encode())
    assert texts(PASTE, b"data: " + data + b"\n\n") == [kept]


def test_no_stream():
    """A quoted mail or an indented list without a stream is no paste of one."""
    assert PASTE.looks(b"> Hello\n> there\n") == 0
    assert PASTE.looks(b"  - a\n  - b\n") == 0
    assert read(PASTE, b"plain\n")[0][0].notes == ()
    assert read(PASTE, b"")[0][1] == []


PAGE = 'a < b & c > d &amp; "é" ```'
PAGE_STREAM = (
    event(chunk(content=PAGE)) + event(chunk(finish="stop"))
).decode() + "data: [DONE]\n\n"
PAGES = {
    "on its line": "<pre>{}</pre>\n",
    "on lines of their own": "<pre>\n{}</pre>\n<p>\n",
    "in code": '<p><pre class="x"><code class="language-text">{}</code></pre></p>\n',
    "a browser's": '<html><head><meta name="color-scheme" content="light dark"></head><body>'
    '<pre style="word-wrap: break-word;">{}</pre></body></html>',
    "behind a title": "<html>\n<title>Log</title>\n<body>\n<h1>Log</h1>\n<pre>{}</pre>\n",
}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("quote", [True, False])
def test_pages(page, quote):
    """Of a page of HTML, the stream in it; whether quotation marks were escaped or not."""
    data = PAGES[page].replace("{}", html.escape(PAGE_STREAM, quote=quote)).encode()
    assert sniff(data).name == "paste"
    (outcome,) = rebuild(data)
    assert outcome.complete
    assert outcome.response.choices[0].message.content == PAGE
    assert outcome.chunks == 2
    assert outcome.issue_counts["paste_escaped"] == 1
    assert "bad_json" not in outcome.issue_counts


def test_a_row_for_each():
    """A table, or paragraphs, of lines."""
    rows = "".join(f"<p>{html.escape(line)}<br></p>\n" for line in PAGE_STREAM.splitlines())
    (outcome,) = rebuild("<div>\n" + rows + "</div>\n")
    assert outcome.complete
    assert outcome.response.choices[0].message.content == PAGE


@pytest.mark.parametrize(
    "around", ["```{}```", "~~~{}~~~ \r\n", "He wrote:\n```{}```\nand no more.\n"]
)
def test_fences_on_lines_of_the_stream(around):
    """As chats take them; what stands behind is not read."""
    (outcome,) = rebuild(around.replace("{}", PAGE_STREAM.rstrip()))
    assert outcome.complete
    assert outcome.response.choices[0].message.content == PAGE
    assert set(outcome.issue_counts) <= {"paste_fenced", "unterminated_event"}


@pytest.mark.parametrize(
    "text", ["</p> " * 99_999 + "x", "<p>" * 99_999, "<p " * 99_999, "```" * 99_999]
)
def test_hostile_pages(text):
    """Marks that lead nowhere cost no more than others."""
    for data in (
        f"<pre>data: {{}}\n{text}\n",
        f"```data: {{}}\n{text}\n",
        text + 'data: {"choices"',
    ):
        assert list(rebuild('<pre>data: {"choices":[]}\n' + data))


@pytest.mark.parametrize("mark", ["> ", ">", ">> ", "| > "])
@pytest.mark.parametrize(
    "around", ["On Tuesday X wrote:\n{}", "Hi,\n\nX wrote:\n\n{}\nThanks\nY\n"]
)
def test_mail(mark, around):
    """Quoted behind an intro: whichever form that is taken for, nothing is lost."""
    quoted = "".join(f"{mark}{line}".rstrip() + "\n" for line in PAGE_STREAM.splitlines())
    (outcome,) = rebuild(around.replace("{}", quoted))
    assert outcome.complete
    assert outcome.chunks == 2
    assert outcome.response.choices[0].message.content == PAGE
