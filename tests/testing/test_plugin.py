"""The plugin for pytest, in runs of pytest of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
import tomllib

from pathlib import Path

import pytest

from streamkit.testing.faults import STREAM_FAULTS

from .streams import CHUNKS, RESPONSE, TEXT, sse


pytest_plugins = ["pytester"]

NAME = "streamkit.testing.plugin"
ROOT = Path(__file__).parents[2]
STREAM = sse(*map(json.dumps, CHUNKS), "[DONE]")


@pytest.fixture
def run(pytester, monkeypatch):
    """
    Run pytest on *code* and return its result; warnings and unknown markers are errors.

    No plugin is looked for, so that it makes no difference whether streamkit is
    installed; that its distribution names the plugin is a test of its own.  What
    this run has imported already could not have its assertions rewritten.
    """
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = --strict-markers\n")

    def run(code="", *arguments):
        if code:
            pytester.makepyfile(test_it=code)
        return pytester.runpytest_inprocess("-p", NAME, "-p", "no:cacheprovider", *arguments)

    return run


def test_entry_point():
    """The distribution names the plugin."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"streamkit": NAME}


def test_import_is_light():
    """Each run of pytest on the machine pays for it, so it loads nothing of ours but two doors."""
    code = "import sys, pytest; before = {*sys.modules}; "
    code += f"import {NAME}; print(*{{*sys.modules}} - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {*done.stdout.split()} == {"streamkit", "streamkit.testing", NAME}


def test_nothing_changes(run):
    """A run that uses nothing of it is as before."""
    run("def test_it(): pass").assert_outcomes(passed=1)


def test_help(run, pytester):
    """Fixtures and markers explain themselves."""
    markers = run("", "--markers").stdout.str()
    assert "@pytest.mark.recording(*names): the test runs once for each recording" in markers
    assert "@pytest.mark.stream_faults(*names): the test runs once for each fault" in markers
    fixtures = run("", "--fixtures").stdout.str()
    for name in ("stream_server", "sse", "assert_rebuilds", "recording", "stream_fault"):
        assert f"{name} -- " in fixtures


# -- Fixtures ------------------------------------------------------------------------


def test_stream_server_and_sse(run):
    """A server that runs, and streams to play on it; it is closed behind the test."""
    result = run(
        """
        import threading, urllib.request
        import pytest

        @pytest.fixture(autouse=True)
        def threads():
            before = {*threading.enumerate()}
            yield
            assert {*threading.enumerate()} == before

        def test_it(threads, stream_server, sse, assert_rebuilds):
            stream_server.play(sse("Hello"))
            with urllib.request.urlopen(stream_server.base_url + "/chat/completions") as response:
                assert_rebuilds(response, "Hello", issues=())
            assert stream_server.requests[0].path == "/v1/chat/completions"
        """
    )
    result.assert_outcomes(passed=1)


def test_sse(run):
    """Of text, of chunks, of a response, in any dialect."""
    result = run(
        f"""
        import pytest
        from streamkit import from_dict, rebuild

        chunks, response = {CHUNKS!r}, {RESPONSE!r}

        def text(data):
            return rebuild(data).response.choices[0].message.content

        def test_it(sse, assert_rebuilds):
            for source in ({TEXT!r}, chunks, iter(chunks), response, from_dict(response)):
                assert text(sse(source)) == {TEXT!r}
            assert_rebuilds(sse(response), response)
            assert text(sse(chunks[0])) == " one"
            assert sse("Hi", newline="\\r\\n").count(b"\\r\\n\\r\\n") > 2
            assert sse("Hi", dialect="vllm") != sse("Hi")
            assert sse(response, size=1) != sse(response, size=100)
            assert sse(response, seed=1) != sse(response, seed=2)
            assert b"[DONE]" not in sse("Hi", done=False)

        @pytest.mark.parametrize("wrong", [None, 5, b"data"])
        def test_wrong(sse, wrong):
            with pytest.raises(TypeError):
                sse(wrong)
        """
    )
    result.assert_outcomes(passed=4)


def test_failure_is_readable(run):
    """The difference, and no traceback through streamkit."""
    result = run(
        """
        def test_it(sse, assert_rebuilds):
            assert_rebuilds(sse("Hello"), "Hallo")
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E *AssertionError: the stream does not rebuild to what was expected",
            "E * choices?0?.message.content, from character 1 on",
            "E *   expected: 'Hallo'",
            "E *   got:      'Hello'",
        ]
    )
    assert "_rebuilds.py" not in result.stdout.str().partition("short test summary")[0]


# -- Recordings ----------------------------------------------------------------------


def test_recording(run, pytester):
    """Beside the test or in its folder `recordings`, in any form."""
    (pytester.path / "near.sse").write_bytes(STREAM)
    folder = pytester.mkdir("recordings")
    (folder / "far.sse").write_bytes(STREAM)
    lines = [json.dumps({"t": place / 10, "chunk": one}) for place, one in enumerate(CHUNKS)]
    (folder / "timed.jsonl").write_text("\n".join(lines))
    result = run(
        f"""
        import os
        import pytest

        @pytest.mark.recording("near.sse", "far.sse", "timed.jsonl")
        def test_it(recording, assert_rebuilds):
            assert_rebuilds(recording, {TEXT!r})
            assert [outcome.complete for outcome in recording.outcomes] == [True]
            assert recording.path.read_bytes() == recording.data
            assert os.fspath(recording) == str(recording.path)

        @pytest.mark.recording("timed.jsonl")
        def test_times(recording, stream_server):
            stream_server.play(recording.playback(speed=2))
            assert round(recording.playback(speed=2).duration, 3) == 0.5
        """,
        "-v",
    )
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        [
            "*::test_it?near.sse? PASSED*",
            "*::test_it?recordings/far.sse? PASSED*",
            "*::test_it?recordings/timed.jsonl? PASSED*",
        ]
    )


def test_recording_patterns(run, pytester):
    """All that match, in order; folders are none; a file of that very name comes first."""
    folder = pytester.mkdir("recordings")
    for name in ("b.sse", "a.sse", "c.jsonl", "[x].sse"):
        (folder / name).write_bytes(STREAM)
    (folder / "deep" / "d.sse").mkdir(parents=True)
    (folder / "deep" / "e.sse").write_bytes(STREAM)
    result = run(
        """
        import pytest

        @pytest.mark.recording("?.sse", "**/e.sse", "[x].sse")
        def test_it(recording):
            pass
        """,
        "-v",
    )
    result.assert_outcomes(passed=4)
    names = [
        line.partition("[")[2].partition("] PASSED")[0]
        for line in result.outlines
        if "PASSED" in line
    ]
    assert names == [f"recordings/{name}" for name in ("a.sse", "b.sse", "deep/e.sse", "[x].sse")]


def test_recording_elsewhere(run, pytester, tmp_path):
    """By an absolute path."""
    path = tmp_path / "other" / "x.sse"
    path.parent.mkdir()
    path.write_bytes(STREAM)
    result = run(
        f"""
        import pytest

        @pytest.mark.recording({str(path)!r})
        def test_it(recording):
            assert recording.outcome.complete
        """,
        "-v",
    )
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*::test_it?x.sse? PASSED*"])


def test_recording_missing(run):
    """The test fails, and says where was looked."""
    result = run(
        """
        import pytest

        @pytest.mark.recording("none.sse")
        def test_it(recording):
            pass
        """
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["no recording 'none.sse' in *, nor in its folder recordings"])


@pytest.mark.parametrize("fixture", ["recording", "stream_fault"])
def test_no_marker(run, fixture):
    """A fixture that needs a marker says so."""
    result = run(f"def test_it({fixture}): pass")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"the fixture '{fixture}' needs a marker: @pytest.mark.*"])


def test_marker_without_fixture(run):
    """A marker on a class is for those of its tests that want the fixture."""
    result = run(
        """
        import pytest

        @pytest.mark.recording("none.sse")
        @pytest.mark.stream_faults("reset", "stall")
        class TestIt:
            def test_it(self):
                pass

            def test_fault(self, stream_fault):
                assert stream_fault.breaks
        """
    )
    result.assert_outcomes(passed=3)


def test_page(run, pytester):
    """The example in the documentation, with a client that it leaves to the reader."""
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    block = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[-1]
    example = re.sub(r"^(>>>|\.\.\.) ?", "", block, flags=re.MULTILINE)
    client = """
        import contextlib, urllib.request
        import pytest
        from streamkit import Stream

        def ask_outcome(url):
            with urllib.request.urlopen(url, timeout=5) as answer:
                stream = Stream(iter(lambda: answer.read1(), b""))
                with contextlib.suppress(ConnectionResetError):
                    list(stream)
            return stream.outcome

        def ask(url):
            return ask_outcome(url).response
    """
    folder = pytester.mkdir("recordings")
    (folder / "chat.sse").write_bytes(STREAM)
    (folder / "azure").mkdir()
    (folder / "azure" / "a.jsonl").write_text("\n".join(map(json.dumps, CHUNKS)))
    run(textwrap.dedent(client) + example).assert_outcomes(passed=5)


# -- Faults --------------------------------------------------------------------------


def test_stream_faults(run):
    """All of them, or those that are named."""
    result = run(
        f"""
        import pytest

        @pytest.mark.stream_faults()
        def test_all(stream_fault):
            playback = stream_fault.playback({CHUNKS!r})
            assert playback.status == stream_fault.status

        @pytest.mark.stream_faults("reset", "late_bom")
        def test_two(stream_fault):
            assert stream_fault.complete is (stream_fault.name == "late_bom")
        """,
        "-v",
    )
    result.assert_outcomes(passed=len(STREAM_FAULTS) + 2)
    result.stdout.fnmatch_lines(["*::test_two?reset? PASSED*", "*::test_two?late_bom? PASSED*"])


def test_unknown_fault(run):
    """The test fails, and says which there are."""
    result = run(
        """
        import pytest

        @pytest.mark.stream_faults("earthquake")
        def test_it(stream_fault):
            pass
        """
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["no fault 'earthquake'; there are none, bom, *"])
