"""The pages in `docs/` are in step with the code, and their links lead somewhere."""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import inspect
import io
import re
import shlex
import shutil
import threading
import time

from pathlib import Path
from urllib.request import urlopen

import attrs
import pytest

import streamkit

from streamkit import ISSUES, RULES, Limits, Rule, StreamkitError
from streamkit.cli._main import COMMANDS
from streamkit.recordings import FORMS, ReadOptions


ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *ROOT.glob("*.md"), *ROOT.glob("changelog.d/README.md")])


def ids(path):
    return path.relative_to(ROOT).as_posix()


def read(name):
    return (DOCS / name).read_text(encoding="utf-8")


def load_tables():
    spec = importlib.util.spec_from_file_location("docs_tables", DOCS / "tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tables = load_tables()


def section(text, heading):
    """Return what stands under *heading*, up to the next heading of any level."""
    _, _, rest = text.partition(f"\n{heading}\n")
    assert rest, heading
    return re.split(r"^#+ ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def rows(text):
    """Return the cells of the rows of the tables in *text*, heads left out."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    rules = [number for number, row in enumerate(cells) if set("".join(row)) <= set("-| ")]
    heads = {number - 1 for number in rules} | {*rules}
    return [row for number, row in enumerate(cells) if number not in heads]


# -- Generated tables ----------------------------------------------------------------


@pytest.mark.parametrize("page", ["issues.md", "limits.md", "reference.md"])
def test_generated_tables(page):
    """`python docs/tables.py` would change nothing."""
    text = read(page)
    assert tables.with_tables(text, page) == text


def test_each_issue_has_a_row():
    """Each code stands in the table of exactly one section, those of recordings too."""
    found = re.findall(r"^\| `(\w+)` ", read("issues.md"), re.MULTILINE)
    assert sorted(found) == sorted(ISSUES)


def test_each_limit_has_a_row():
    """Each limit stands in the table, with what it bounds."""
    found = re.findall(r"^\| `(\w+)` \| [\d,]+", read("limits.md"), re.MULTILINE)
    assert found == [field.name for field in attrs.fields(Limits)]


CHOICE = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}
REFUSED = {
    "bad_type": {"choices": [{"delta": {"content": 5}}]},
    "bad_choice": {"choices": [5]},
    "index_range": {"choices": [{"index": -1}]},
    "bad_chunk": 5,
    "not_a_chunk": {"x": 1},
}


@pytest.mark.parametrize("code", REFUSED)
def test_strict_column_refusals(code):
    """What the page calls an `InvalidChunk` raises one, and is an issue otherwise."""
    lenient = streamkit.Accumulator()
    lenient.add(REFUSED[code])
    assert [issue.code for issue in lenient.issues] == [code]
    with pytest.raises(streamkit.InvalidChunk, match=f"^{code}: "):
        streamkit.Accumulator(strict=True).add(REFUSED[code])
    assert "InvalidChunk" in tables.strict_of(code, tables.section_of(ISSUES)[code])


REPORTED = {
    "id_changed": [{"id": "a", "choices": [CHOICE]}, {"id": "b", "choices": []}],
    "model_changed": [{"model": "a", "choices": [CHOICE]}, {"model": "b", "choices": []}],
    "role_changed": [{"choices": [CHOICE | {"delta": {"role": role}}]} for role in ("a", "b")],
    "already_final": [{"object": "chat.completion", "choices": [CHOICE]}],
    "lone_surrogate": [{"choices": [CHOICE | {"delta": {"content": "\ud83d"}}]}],
    "text_offset_order": [
        {"choices": [CHOICE | {"logprobs": {"tokens": ["a"], "text_offset": [offset]}}]}
        for offset in (5, 4)
    ],
}


@pytest.mark.parametrize("code", REPORTED)
def test_strict_column_reports(code):
    """What the page calls reported only raises nothing, even if strict."""
    accumulator = streamkit.Accumulator(strict=True)
    for chunk in REPORTED[code]:
        accumulator.add(chunk)
    assert code in accumulator.finish().issue_counts
    assert tables.strict_of(code, tables.section_of(ISSUES)[code]) == "reported only"


CHUNK = '{"id":"a","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}'
REPAIRED = {
    "bad_json": "data: {x}\n\n",
    "bad_number": 'data: {"choices":[],"cost":NaN}\n\n',
    "bare_json": CHUNK,
    "comment_in_data": "data: : ping\n\n",
    "compressed_body": b"\x1f\x8b\x08",
    "concatenated_json": f"data: {CHUNK}{CHUNK}\n\n",
    "control_character": 'data: {"choices":[],"x":"\t"}\n\n',
    "cut_value": f"data: {CHUNK[:30]}",
    "data_after_done": f"data: {CHUNK}\n\ndata: [DONE]\n\ndata: {CHUNK}\n\n",
    "double_prefix": f"data: data: {CHUNK}\n\n",
    "error_field": 'error: {"message":"no"}\n\n',
    "field_whitespace": f" data : {CHUNK}\n\n",
    "glued_events": f"data: {CHUNK}data: {CHUNK}\n\n",
    "html_body": "<html>",
    "invalid_utf8": b'data: {"choices":[],"x":"\xff"}\n\n',
    "late_bom": f"data: {CHUNK}\n\n\ufeffdata: {CHUNK}\n\n",
    "missing_blank_line": f"data: {CHUNK}\ndata: {CHUNK}\n\n",
    "no_events": "Hello",
    "non_json_error": "event: error\ndata: Too many\n\n",
    "not_a_chunk": "data: 5\n\n",
    "too_deep": "data: " + "[" * 99 + "]" * 99 + "\n\n",
    "trailing_garbage": f"data: {CHUNK} x\n\n",
    "unframed_text": f"A chunk:\n\ndata: {CHUNK}\n\n",
    "unprefixed_line": 'data: {"choices":\n[]}\n\n',
    "unterminated_event": f"data: {CHUNK}",
}


def test_each_framing_code_has_an_input():
    """A new repair comes with an input that shows it."""
    framing = {code for code, its in tables.section_of(ISSUES).items() if its == "framing"}
    assert {*REPAIRED} == framing


@pytest.mark.parametrize("code", REPAIRED)
def test_strict_column_repairs(code):
    """What the page calls a `FramingError` raises one, and is an issue otherwise."""
    assert code in streamkit.rebuild(REPAIRED[code]).issue_counts
    with pytest.raises(streamkit.FramingError):
        streamkit.rebuild(REPAIRED[code], strict=True)
    assert "FramingError" in tables.strict_of(code, "framing")


# -- Merge rules ---------------------------------------------------------------------

CHAT, COMPLETION = RULES["chat"], RULES["completion"]
TYPES = {
    "any other string": "string",
    "any other list": "array",
    "any other object": "object",
    "any other value": "scalar",
}


def documented(heading):
    """Return the rules in the table under *heading*: by field, and by type."""
    found = {row[0]: row[1].strip("`") for row in rows(section(read("merge-rules.md"), heading))}
    by_type = {TYPES[name]: rule for name, rule in found.items() if name in TYPES}
    fields = {name.strip("`"): rule for name, rule in found.items() if name not in TYPES}
    return fields, by_type


@pytest.mark.parametrize(
    ("heading", "table"),
    [("## Chunk", CHAT.chunk), ("## Choice", CHAT.choice), ("## Delta → message", CHAT.delta)],
)
def test_merge_rules(heading, table):
    """A page's table is the code's table, row by row."""
    fields, by_type = documented(heading)
    assert fields == {name: rule.name for name, rule in table.fields.items()}
    assert by_type == {name: getattr(table, name).name for name in TYPES.values()}


def test_merge_rules_of_completions():
    """Completions differ from chats in the choice's further rows, and in nothing else."""
    fields, by_type = documented("### Completion choice, in addition")
    added = COMPLETION.choice.fields.items() - CHAT.choice.fields.items()
    assert fields == {name: rule.name for name, rule in added}
    assert not by_type
    assert (COMPLETION.chunk, COMPLETION.delta) == (CHAT.chunk, CHAT.delta)


def test_identities_are_named():
    """Each name that is set, not concatenated, stands on the page."""
    text = section(read("merge-rules.md"), "## Delta → message")
    sentence = text.partition("Strings that say what something is")[2].partition("```")[0]
    assert {*re.findall(r"`(\w+)`", sentence)} - {"_id"} == CHAT.delta.identities


def test_all_rules_are_explained():
    """Each member of `Rule` is in the list of rules."""
    text = section(read("merge-rules.md"), "## All rules")
    assert {*re.findall(r"`([A-Z_]+)`", text)} == {rule.name for rule in Rule}


# -- Framing, errors -----------------------------------------------------------------


def test_framing_codes_are_documented():
    """Each framing issue has a row among the repairs, and each code there exists."""
    codes = {
        code
        for row in rows(section(read("framing.md"), "## Repairs"))
        for code in re.findall(r"`(\w+)`", row[-1])
    }
    framing = {code for code, its in tables.section_of(ISSUES).items() if its == "framing"}
    assert codes == framing


def error_classes():
    found = [getattr(streamkit, name) for name in streamkit.__all__]
    return [cls for cls in found if inspect.isclass(cls) and issubclass(cls, StreamkitError)]


def test_errors_are_documented():
    """Each error class has a row, with its code and its attributes."""
    found = {row[0].strip("`"): row for row in rows(read("errors.md").partition("\n## ")[0])}
    assert {cls.__name__: cls.code for cls in error_classes()} == {
        name: row[1].strip("`") for name, row in found.items()
    }
    for cls in error_classes():
        own = {*re.findall(r"`(\w+)`", found[cls.__name__][-1])}
        missing = {name for name in own if not hasattr(cls(), name)}
        assert not missing


# -- Forms ---------------------------------------------------------------------------


def form_rows():
    """Return the rows of the table of forms."""
    return rows(section(read("forms.md"), "## By what it looks like"))


def test_forms_are_documented():
    """Each form has one row, with something in each of its cells."""
    assert sorted(row[1].strip("`") for row in form_rows()) == sorted(FORMS)
    assert all(len(row) == 4 and all(row) for row in form_rows())


@pytest.mark.parametrize("name", FORMS)
def test_extras_are_documented(name):
    """The row of a form names the extra that it needs, and no other does."""
    (row,) = (row for row in form_rows() if row[1] == f"`{name}`")
    extra = FORMS[name].extra
    assert re.findall(r"extra `(\w+)`", " ".join(row)) == ([extra] if extra else [])


def test_notes_are_explained():
    """Each note that a reader makes is named where its form is."""
    text = re.sub(r"^```.*?^```", "", read("forms.md"), flags=re.MULTILINE | re.DOTALL)
    notes = {code for code, its in tables.section_of(ISSUES).items() if its == "recordings"}
    assert notes <= {*re.findall(r"`(\w+)`", text)}


def test_reading_options_are_documented():
    """Each way to read rows is on the page of forms or on the command's, by both names."""
    names = {field.name for field in attrs.fields(ReadOptions)} - {"limits"}
    options = {"--" + name.replace("_", "-") for name in names}
    of_rows = rows(section(read("forms.md"), "## Rows"))
    assert {row[1].strip("`") for row in of_rows} == names - {"fix_mojibake"}
    assert not options - {*re.findall(r"`(--[a-z-]+)", read("command.md"))}


def test_commands_are_documented():
    """Each command has a section, a row that leads there, and an example that runs."""
    text = read("command.md")
    names = [command.name for command in COMMANDS]
    assert re.findall(r"^## `streamkit (\w+)`$", text, re.MULTILINE) == names
    assert re.findall(r"\| \[`(\w+)`\]\(#streamkit-\1\) \|", text) == names
    assert not {*names} - {*re.findall(r"^\$ streamkit (\w+)", text, re.MULTILINE)}


# -- Links, text ---------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES, ids=ids)
def test_links_lead_somewhere(path):
    """Each relative link names a file, inside the checkout."""
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        if not link.startswith("http"):
            assert (path.parent / link).is_file(), link


@pytest.mark.parametrize("path", PAGES, ids=ids)
def test_doctests_are_fenced(path):
    """A snippet ends in a blank line: else the fence would count as its output."""
    text = path.read_text(encoding="utf-8")
    if path.name == "sdk.md":
        return  # whole programs, with a test of their own
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        assert ">>>" in block
        assert block.endswith("\n\n")


def test_all_pages_are_in_the_index():
    """Each page is linked from the index and from the README."""
    for name in (path.name for path in DOCS.glob("*.md") if path.name != "index.md"):
        assert f"({name})" in read("index.md")
        assert f"(docs/{name})" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_all_names_are_in_the_reference():
    """Each name of the door stands there once: by its own name, or by that of its room."""
    found = [
        name.rpartition(".")[2]
        for name in re.findall(r"^\| `([\w.]+)` ", read("reference.md"), re.MULTILINE)
    ]
    missing = {*streamkit.__all__} - {*found, "__version__"}
    assert not missing, "python docs/tables.py"


def test_the_site_has_each_page():
    """No page of the navigation is missing here, nor from the root of the repository."""
    config = ROOT / "mkdocs.yml"
    if not config.is_file():
        pytest.skip("the configuration of the site is not here")
    pages = re.findall(r"([\w-]+\.md)$", config.read_text(encoding="utf-8"), re.MULTILINE)
    rest = {page.upper().replace("MD", "md") for page in pages if not (DOCS / page).is_file()}
    assert rest == {"CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md"}


def test_public_names_are_real():
    """What the changelog calls streamkit's is a public name, or a public room."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for name in re.findall(r"`streamkit\.(\w+)", text):
        assert name in streamkit.__all__ or importlib.util.find_spec(f"streamkit.{name}")


# -- Commands ------------------------------------------------------------------------


def console(path):
    """Return each command in the console blocks of *path*, with the output shown for it."""
    text = path.read_text(encoding="utf-8")
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = piece.partition("\n")
            yield command, output


def commands():
    """Return each `$ streamkit …` shown, with its output and the files that the page shows."""
    found = []
    for path in PAGES:
        shown = list(console(path))
        files = {
            command.removeprefix("cat "): output
            for command, output in shown
            if command.startswith("cat ")
        }
        for command, output in shown:
            if command.startswith("streamkit "):
                case = pytest.param(command, output, files, id=f"{ids(path)}: {command}")
                found.append(case)
    return found


@contextlib.contextmanager
def asking(out):
    """Send one request to the base URL that is printed on *out*."""

    def ask():
        while not out.buffer.getvalue().endswith(b"\n"):
            time.sleep(0.01)
        url = out.buffer.getvalue().decode().strip()
        with urlopen(f"{url}/chat/completions", b'{"stream": true}') as answer:
            answer.read()

    client = threading.Thread(target=ask, daemon=True)
    client.start()
    yield
    client.join()


def run(command):
    """Return what *command* prints; a message on stderr comes after the output."""
    main = pytest.importorskip("streamkit.cli").main
    _, *arguments = shlex.split(command)
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    client = asking(out) if arguments[0] == "serve" else contextlib.nullcontext()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), client:
        main(arguments)
    for stream in (out, err):
        stream.flush()
    return (out.buffer.getvalue() + err.buffer.getvalue()).decode().replace("\r\n", "\n")


@pytest.mark.parametrize(("command", "output", "files"), commands())
def test_commands_print_what_the_page_says(command, output, files, tmp_path, monkeypatch):
    """Each command prints what is shown, of the files shown; `...` stands for anything."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="\n")
    monkeypatch.chdir(tmp_path)
    got = run(command).replace("\\", "/") if " --into " in command else run(command)
    assert doctest.OutputChecker().check_output(output, got, doctest.ELLIPSIS), got
