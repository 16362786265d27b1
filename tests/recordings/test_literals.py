"""Streams in the string literals of a program: fixtures, mocks, inserts, what a log quotes."""

from __future__ import annotations

import json
import shlex

import pytest

from streamkit.recordings import rebuild
from streamkit.recordings._literals import Literals, leading_literal, unescaped

from .making import chunk, sse


TEXT = 'It\'s `${x}` \\ "{}"\n\né 😀 \t'
EVENTS = [
    "event: message\nid: 1\n" + sse(chunk(role="assistant", content=TEXT), done=False),
    ": a comment\n\n",
    sse(chunk(content="'", finish="stop"), done=False),
    "data: [DONE]\n\n",
]


def single(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def double(text):
    return json.dumps(text, ensure_ascii=False)


def template(text):
    text = text.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")
    return "`" + text.replace("\n", "\\n") + "`"


def over_lines(text):
    """Return a template literal over several lines, as fixtures are written."""
    text = text.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")
    return "`\n" + text + "`"


def sql(text):
    return "'" + text.replace("'", "''") + "'"


LAYOUTS = {
    "an array": lambda texts: "[\n" + "".join(f"  {text},\n" for text in texts) + "]\n",
    "assigned": lambda texts: "const chunks = [\n  " + ",\n  ".join(texts) + "\n];\n",
    "a sum": lambda texts: "const body =\n  " + " +\n  ".join(texts) + ";\n",
    "calls": lambda texts: "".join(f"res.write({text});\n" for text in texts),
    "a line each": lambda texts: "\n".join(f"{text}," for text in texts),
    "tests": lambda texts: (
        "import { it } from 'vitest';\n// don't run this\nit('reads', () => {\n  const parts = ["
        + ", ".join(texts)
        + ", ''];\n  expect(f(parts)).toBe('ok');\n});\n"
    ),
}


def check(outcome, text=TEXT + "'"):
    assert outcome.complete
    assert outcome.response.choices[0].message.content == text
    assert outcome.chunks == 2
    assert set(outcome.issue_counts) <= {"paste_backslashes", "python_text"}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("quoted", [single, double, template])
@pytest.mark.parametrize("size", [1, 1 << 16])
def test_an_event_each(quoted, layout, size):
    """Nothing else of the program is read, whatever the blocks."""
    data = LAYOUTS[layout]([quoted(text) for text in EVENTS]).encode()
    (outcome,) = rebuild([data[at : at + size] for at in range(0, len(data), size)])
    check(outcome)


@pytest.mark.parametrize("quoted", [single, double, template, over_lines])
def test_one_for_all(quoted):
    """All of the stream in one, on a line or over several."""
    (outcome,) = rebuild(f"const body = {quoted(''.join(EVENTS))};\n")
    check(outcome)


@pytest.mark.parametrize(
    ("source", "count"),
    [
        pytest.param("('data: {0}', 'data: {0}', 'data: [DONE]')", 2, id="lines without ends"),
        pytest.param("f('data: {0}', '', 'data: {0}', '', 'data: [DONE]', '')", 2, id="and blank"),
        pytest.param("f('{0}', '{0}', '[DONE]')", 2, id="json"),
        pytest.param("x = ['''data: {0}\n\n''', r'''data: [DONE]''']", 1, id="three marks"),
        pytest.param('x = """\n  data: {1}\n\n  data: [DONE]\n"""', 1, id="three, over lines"),
        pytest.param("x = 'data: {0}", 1, id="cut behind a value"),
        pytest.param("x = 'data: {0}\\n\\", 1, id="cut in an escape"),
        pytest.param("x = 'data: {0}\\n\\n\\\ndata: {0}\\n'", 2, id="a line that goes on"),
        pytest.param("f('{0}', 'x', '{0}')", 2, id="json, and what is none"),
        pytest.param("nock('https://x').reply(200, 'data: {0}\\n')", 1, id="other texts"),
        pytest.param("x = 'a\nf('data: {0}\\n')", 1, id="an apostrophe"),
    ],
)
def test_of(source, count):
    """Of lines, of JSON, of what is cut."""
    text = json.dumps(chunk(content="x"))
    source = source.replace("{0}", text).replace("{1}", text.replace('"', '\\"'))
    (outcome,) = rebuild("// x\n" + source)
    assert outcome.chunks == count
    assert not {"bad_json", "unframed_text", "trailing_garbage"} & outcome.issue_counts.keys()


def test_reads_that_end_anywhere():
    """What a literal ends in the middle of goes on in the next."""
    text = "".join(EVENTS)
    reads = [text[at : at + 50] for at in range(0, len(text), 50)]
    (outcome,) = rebuild("const reads = [" + ", ".join(map(template, reads)) + "];")
    check(outcome)


def test_bytes():
    """Python's bytes show UTF-8 byte by byte."""
    shown = ",\n    ".join(repr(text.encode()) for text in EVENTS)
    (outcome,) = rebuild(f"READS = [\n    {shown},\n]\n")
    check(outcome)
    assert unescaped(rb"\xc3\xa9\n", is_bytes=True) == "é\n".encode()


def test_sql():
    """A mark inside is written twice; backslashes are JSON's."""
    texts = [line for text in EVENTS for line in text.splitlines() if line.startswith("data")]
    (outcome,) = rebuild("".join(f"INSERT INTO x VALUES (1, {sql(text)});\n" for text in texts))
    assert outcome.complete
    assert outcome.response.choices[0].message.content == TEXT + "'"


def shell(text):
    return "'" + text.replace("'", "'\\''") + "'"


def here_string(text):
    return f"@'\n{text}\n'@"


def raw_rust(text):
    return f'r#"{text}"#'


OVER_LINES = [shell, shlex.quote, sql, here_string, raw_rust]
PROGRAMS = {
    "a variable": '#!/bin/sh\n# don\'t\nSTREAM={}\necho "$STREAM"\n',
    "printf": "set -e\nprintf '%s' {}\n",
    "curl": "curl -X POST http://x/mock -H 'content-type: text/event-stream' --data-binary {}\n",
    "an insert": "INSERT INTO logs (id, at, body) VALUES (1, '2026-12-01', {});\n-- it's done\n",
    "Rust": "const BODY: &str = {};\n",
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("quoted", OVER_LINES)
def test_over_lines(quoted, program):
    """Where no backslash means anything, the stream is between two marks as it came."""
    (outcome,) = rebuild(PROGRAMS[program].replace("{}", quoted("".join(EVENTS))))
    check(outcome)


@pytest.mark.parametrize("quoted", [shell, shlex.quote])
@pytest.mark.parametrize(
    "line", ["echo {}\n", "printf '%s\\n\\n' {}\n", "  {} \\\n", "sleep 0.1; send {} | nc x 1\n"]
)
def test_shell_lines(quoted, line):
    """A chunk a line, in a script."""
    lines = [line for text in EVENTS for line in text.splitlines() if line.startswith("data")]
    (outcome,) = rebuild("#!/bin/sh\n" + "".join(line.replace("{}", quoted(x)) for x in lines))
    assert outcome.complete
    assert outcome.response.choices[0].message.content == TEXT + "'"


def test_cut_before_the_mark():
    """A line that was cut takes nothing of the next."""
    rows = [f"x 'data: {json.dumps(chunk(content=str(n)))}'\n" for n in range(4)]
    rows[1] = rows[1][:60] + "\n"
    outcome = next(rebuild("// x\n" + "".join(rows), form="escaped"))
    assert outcome.response.choices[0].message.content == "023"


def test_behind_a_line_that_goes_on():
    """Python's `\'\'\'\\`: the line end is none."""
    text = "".join(EVENTS).replace("\\", "\\\\").replace("'", "\\'")
    (outcome,) = rebuild(f"import x\n\nBODY = '''\\\n{text}'''\n")
    check(outcome)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_json_in_json(depth):
    """A logger that writes JSON was given JSON."""
    lines = [line for text in EVENTS for line in text.splitlines() if line.startswith("data")]
    for _ in range(depth):
        lines = [json.dumps(line) for line in lines]
    (outcome,) = rebuild("".join(f"2026-12-01 00:00:01 INFO relay line={x}\n" for x in lines))
    assert outcome.complete
    assert outcome.response.choices[0].message.content == TEXT + "'"


@pytest.mark.parametrize("start", ["", ": a comment\n\n"])
def test_nginx(start):
    """Its logs have each byte that is special as a number (`log_format`, `escape=default`)."""
    body = (start + "".join(EVENTS)).encode()
    shown = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\x{byte:02X}"
        for byte in body
    )
    line = '::1 - - [01/Dec/2026:00:00:01 +0000] "POST /v1 HTTP/1.1" 200 9 "-" resp:"{}"\n'
    other = line.replace("{}", "-")
    (outcome,) = rebuild(other + line.replace("{}", shown) + other)
    check(outcome)


def test_inline_code():
    """Between backticks JSON may stand as it is."""
    lines = [f"`{line}`\n" for text in EVENTS for line in text.splitlines() if "`" not in line]
    (outcome,) = rebuild("".join(lines))
    assert outcome.response.choices[0].message.content == "'"
    assert outcome.done


def test_escapes():
    """JavaScript's and Python's own, beside those of JSON."""
    shown = b"\\u{1F600}\\U0001F600\\xe9\\v\\'\\`\\$\\\nend\\u{110000}"
    assert unescaped(shown) == "😀😀é\v'`$end\\u{110000}".encode()


def test_scanner():
    """What begins and what goes on is told apart."""
    literals = Literals()
    found = [
        tuple(each) for line in (b"f(`\n", b"x\n", b"y`, rb'z')") for each in literals.feed(line)
    ]
    assert found == [
        (b"\n", False, True, False),
        (b"x\n", False, True, False),
        (b"y", False, False, False),
        (b"z", True, True, True),
    ]
    assert leading_literal(b"x") is leading_literal(b"'x") is None
