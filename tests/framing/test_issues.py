"""Issues, their log, and the catalogue of codes."""

from __future__ import annotations

import ast

from pathlib import Path

import attrs
import pytest

import streamkit

from streamkit import ISSUES, FramingError, Issue
from streamkit._issues import ONCE, IssueLog, StrictLog

from .helpers import read


@pytest.mark.parametrize(
    ("issue", "text"),
    [
        pytest.param(Issue("bad_json", "no JSON"), "bad_json: no JSON", id="nowhere"),
        pytest.param(Issue("bad_json", "no JSON", 0), "bad_json: no JSON (event 0)", id="event"),
        pytest.param(
            Issue("bad_json", "no JSON", offset=0), "bad_json: no JSON (byte 0)", id="byte"
        ),
        pytest.param(
            Issue("bad_json", "no JSON", 2, 7), "bad_json: no JSON (event 2, byte 7)", id="both"
        ),
    ],
)
def test_str(issue, text):
    """An issue reads as one line that says where."""
    assert str(issue) == text


def test_frozen():
    """An issue is a value."""
    assert Issue("a", "b", 1, 2) == Issue("a", "b", 1, 2)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        Issue("a", "b").code = "c"


class TestLog:
    def test_add(self):
        """An issue is recorded, counted and returned."""
        log = IssueLog()
        issue = log.add("bad_json", "m", 1, 2)
        assert issue == Issue("bad_json", "m", 1, 2)
        assert (log.issues, log.counts) == ([issue], {"bad_json": 1})

    @pytest.mark.parametrize(("keep", "kept"), [(0, 0), (2, 2), (None, 5)])
    def test_keep(self, keep, kept):
        """The first issues are kept, all are counted."""
        log = IssueLog(keep)
        for number in range(5):
            log.add("bad_json", "m", number)
        assert [issue.event for issue in log.issues] == list(range(kept))
        assert log.counts["bad_json"] == 5

    def test_once(self):
        """A code that would flood is kept once, and counted always."""
        log = IssueLog()
        for number in range(5):
            log.add("id_changed", "m", number)
            log.add("bad_json", "m", number)
        assert [issue.code for issue in log.issues].count("id_changed") == 1
        assert log.counts == {"id_changed": 5, "bad_json": 5}

    def test_repairs(self):
        """All count, but not that each line of bare JSON is one."""
        log = IssueLog(0)
        for code in ("bad_json", "bare_json", "late_bom", "late_bom"):
            log.add(code, "m")
        log.take(None)
        assert log.repairs == 3

    @pytest.mark.parametrize(
        ("event", "parted", "left"),
        [(0, [0, 0, 1, 2, 3], []), (1, [1, 2, 3], [0]), (4, [], [0, 1, 3])],
    )
    def test_parted_in_order(self, event, parted, left):
        """Those that were only counted stand among the others; what came before stays."""
        log = IssueLog()
        for number, code in [(0, "late_bom"), (0, "late_bom"), (1, "bad_json"), (2, "late_bom")]:
            log.add(code, "m", number)
        log.add("bad_json", "m", 3)
        assert [issue.event for issue in log.part(event)] == parted
        assert [issue.event for issue in log.issues] == left

    def test_take(self):
        """The issues before an event go to another log; later ones stay."""
        log = IssueLog(7)
        for event in (0, 1, None, 2, 3):
            log.add("bad_json", "m", event)
        taken = log.take(2)
        assert [issue.event for issue in taken.issues] == [0, 1, None]
        assert [issue.event for issue in log.issues] == [2, 3]
        assert (taken.counts["bad_json"], log.counts["bad_json"], taken.keep) == (3, 2, 7)

    @pytest.mark.parametrize("keep", [1, 100])
    def test_part(self, keep):
        """What was only counted, as others were kept, is of its event too, and kept anew."""
        log = IssueLog(keep)
        for event in (0, 1, 2, None, 3):
            log.add("bare_json", "m", event)
        later = log.part(2)
        assert [issue.event for issue in later] == [2, 3]
        assert (log.take(None).counts, log.part(0)) == ({"bare_json": 3}, [])
        log.restore(later)
        assert ([issue.event for issue in log.issues], log.counts) == ([2], {"bare_json": 2})
        assert log.repairs == 0

    def test_part_is_in_order(self):
        """By event, whichever was kept and whichever only counted."""
        log = IssueLog(1)
        for event in (1, 0, 2):
            log.add("bad_json", "m", event)
        assert [issue.event for issue in log.part(0)] == [0, 1, 2]

    def test_take_all(self):
        """Without an event, all go, and nothing stays."""
        log = IssueLog()
        log.add("bad_json", "m", 5)
        taken = log.take(None)
        assert (len(taken.issues), taken.counts) == (1, {"bad_json": 1})
        assert (log.issues, +log.counts) == ([], {})


def test_strict_log():
    """A strict log raises what it records."""
    log = StrictLog()
    with pytest.raises(FramingError, match=r"^bad_json: m \(event 1, byte 2\)$") as caught:
        log.add("bad_json", "m", 1, 2)
    assert [caught.value.issue] == log.issues == [Issue("bad_json", "m", 1, 2)]


CHUNK = b'data: {"choices":[]}\n\n'
EMITTED = {
    "bad_json": b"data: {'a':1}\n\n",
    "bad_number": b'data: {"a":NaN}\n\n',
    "bare_json": b'{"choices":[]}',
    "comment_in_data": b"data: : hi\n\n",
    "compressed_body": b"\x1f\x8b\x08\0",
    "concatenated_json": b'data: {"a":1}{"a":2}\n\n',
    "control_character": b'data: {"a":"\t"}\n\n',
    "cut_value": b'data: {"a":',
    "data_after_done": b"data: [DONE]\n\n" + CHUNK,
    "double_prefix": b"data: " + CHUNK,
    "error_field": b'error: {"message":"m"}\n\n',
    "field_whitespace": b" " + CHUNK,
    "glued_events": b'data: {"a":1}data: {"a":2}\n\n',
    "html_body": b"<html>",
    "invalid_utf8": b'data: {"a":"\xff"}\n\n',
    "late_bom": CHUNK + b"\xef\xbb\xbf" + CHUNK,
    "missing_blank_line": b'data: {"a":1}\n' + CHUNK,
    "no_events": b"Service unavailable",
    "non_json_error": b"event: error\ndata: overloaded\n\n",
    "not_a_chunk": b"data: 1\n\n",
    "too_deep": b"data: " + b"[" * 65 + b"]" * 65 + b"\n\n",
    "trailing_garbage": b'data: {"a":1} x\n\n',
    "unframed_text": CHUNK + b"hello\n\n",
    "unprefixed_line": b'data: {\n"a":1}\n\n',
    "unterminated_event": b'data: {"a":1}',
}
PACKAGE = Path(streamkit.__file__).parent
ROOMS = ("_lines", "_sse", "_scan", "_json", "_payloads", "_framing", "_chunks")


@pytest.mark.parametrize("code", EMITTED)
def test_emitted(code):
    """Each code of this half is reported for a stream that deserves it, and is in the catalogue."""
    found = [issue for issue in read([EMITTED[code]]).issues if issue.code == code]
    assert len(found) == 1
    assert code in ISSUES
    assert found[0].message
    assert found[0].event is not None
    assert found[0].offset is not None


def test_no_other_codes():
    """The codes named in the source of this half are exactly those."""
    assert {code for room in ROOMS for code in codes_in(room)} == set(EMITTED)


def codes_in(room):
    """The codes that a room hands to a log, takes as notes, or raises."""
    return codes_of(PACKAGE / f"{room}.py")


# Which argument is the code.
PLACES = {"issue": 0, "issues": 0, "refuse": 0, "note": 1, "BadJSON": 0, "Issue": 0}


def codes_of(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            at = PLACES.get(name)
            if ast.unparse(node.func).endswith(("notes.append", "log.add")):
                at = 0
            if at is not None and len(node.args) > at and isinstance(node.args[at], ast.Constant):
                yield node.args[at].value


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_all_codes_are_in_the_catalogue(path):
    """Whatever room reports something, of framing, merging, recordings or times."""
    assert {*codes_of(path)} <= ISSUES.keys()


# Made of a field's name, of how a paste looks, and of what blocks look like that are none.
MADE = {"id_changed", "model_changed", "role_changed", "bare_lines", "other_form"}
MADE |= {"paste_curly", "paste_escaped", "paste_fenced", "paste_indented", "paste_quoted"}


def test_the_catalogue_has_no_others():
    """Each code in it is reported somewhere."""
    assert {code for path in PACKAGE.rglob("*.py") for code in codes_of(path)} | MADE == {*ISSUES}


def test_catalogue():
    """The catalogue cannot be changed, and each meaning is a sentence."""
    with pytest.raises(TypeError):
        ISSUES["new"] = "x"
    assert all(meaning.endswith(".") for meaning in ISSUES.values())
    assert set(ISSUES) >= ONCE
