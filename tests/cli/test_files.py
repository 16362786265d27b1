"""Which files folders, patterns and standard input give."""

from __future__ import annotations

import gzip
import os
import sys

from pathlib import Path

import pytest

from streamkit.cli import main
from streamkit.cli._candidates import may_be_recording, may_be_table
from streamkit.cli._files import File, Files

from .helpers import CUT, WHOLE


POSIX = pytest.mark.skipif(os.name != "posix", reason="names and links of POSIX")


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A folder as people have them."""
    monkeypatch.chdir(tmp_path)
    for name in ("b.sse", "a.sse", "in/d.sse", "in/deep/e.sse", ".hidden.sse", ".git/x.sse"):
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(WHOLE)
    (tmp_path / "logs/notes.txt").write_text("Buy milk.\n")
    return tmp_path


def names(*arguments, own=()):
    """Return the names that *arguments* stand for, with slashes."""
    files = Files(arguments, own)
    return [Path(file.name).as_posix() for file in files.found() if files.takes(file)]


def test_folder(tree):
    """All that is in it, in order, without what is hidden or no recording."""
    files = Files(["logs"])
    found = [Path(file.name).as_posix() for file in files.found() if files.takes(file)]
    assert found == ["logs/a.sse", "logs/b.sse", "logs/in/d.sse", "logs/in/deep/e.sse"]
    assert files.note() == (
        "skipped in folders: 2 hidden, 1 no recordings; name a file to have it read"
    )


def test_named_files_are_never_skipped(tree):
    """Whatever they are; also those in a hidden folder that is named."""
    assert names("logs/notes.txt", "logs/.git", "gone") == [
        "logs/notes.txt",
        "logs/.git/x.sse",
        "gone",
    ]
    assert Files(["logs/notes.txt"]).note() is None


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("logs/*.sse", ["logs/a.sse", "logs/b.sse"]),
        ("l*s/?.sse", ["logs/a.sse", "logs/b.sse"]),
        ("logs/[a]*", ["logs/a.sse"]),
        ("./logs/a*", ["logs/a.sse"]),
        ("logs/**/*.sse", ["logs/a.sse", "logs/b.sse", "logs/in/d.sse", "logs/in/deep/e.sse"]),
        ("logs/**/**/d.sse", ["logs/in/d.sse"]),
        ("logs/in/**", ["logs/in/d.sse", "logs/in/deep/e.sse"]),
        ("logs/in*", ["logs/in/d.sse", "logs/in/deep/e.sse"]),
        ("logs/**e**/e.sse", []),
        ("logs/in/**e**/e.sse", ["logs/in/deep/e.sse"]),
        ("logs/.h*", ["logs/.hidden.sse"]),
        ("logs/n*.txt", ["logs/notes.txt"]),
    ],
)
def test_pattern(tree, pattern, found):
    """As in a shell: what it matches is named; `**` gives files only."""
    files = Files([pattern]).found()
    assert [Path(file.name).as_posix() for file in files if file.error is None] == found
    assert [file.error is not None for file in files] == [False] * len(found) or not found


def test_absolute_pattern(tree):
    """From the root of the file system."""
    assert names(str(tree / "logs" / "*.sse")) == [
        (tree / "logs" / name).as_posix() for name in ("a.sse", "b.sse")
    ]


def test_pattern_without_match(run, tree):
    """That is an error, like a file that is not there."""
    result = run("check", "nix*.sse", "logs/a.sse")
    assert (result.status, result.out.count("\n")) == (2, 1)
    assert result.err == "streamkit: nix*.sse: no file matches this pattern\n"


@POSIX
def test_a_file_with_stars_in_its_name(tree):
    """It is named, so it is no pattern."""
    (tree / "logs/[a]*").write_bytes(CUT)
    assert names("logs/[a]*") == ["logs/[a]*"]


def test_pattern_that_the_system_refuses(run, tree, monkeypatch):
    """As with any file that cannot be read."""

    def refuse(*args):
        raise OSError(13, "Permission denied")

    monkeypatch.setattr(Path, "glob", refuse)
    result = run("check", "logs/*.sse")
    assert (result.status, result.err) == (2, "streamkit: logs/*.sse: Permission denied\n")


@POSIX
def test_links(tree):
    """Those to files are followed; those to folders are not, so that loops are none."""
    (tree / "logs/in/loop").symlink_to(tree / "logs")
    (tree / "logs/in/self").symlink_to("self")
    (tree / "logs/in/file.sse").symlink_to(tree / "logs/a.sse")
    files = Files(["logs/in"])
    assert [file.name for file in files.found()] == [
        "logs/in/d.sse",
        "logs/in/file.sse",
        "logs/in/deep/e.sse",
    ]
    assert files.note().startswith("skipped in folders: 2 no files, or links to folders;")
    assert names("logs/**/e.sse") == ["logs/in/deep/e.sse"]


@POSIX
def test_special_files_of_a_folder(tree):
    """A pipe in a folder is not waited for."""
    os.mkfifo(tree / "logs/pipe")
    assert "logs/pipe" not in names("logs")


def test_folder_that_cannot_be_listed(run, tree, monkeypatch):
    """That is said, and the rest is read."""
    scandir = os.scandir

    def refuse(path):
        if Path(path).name == "deep":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = run("check", "logs")
    assert (result.status, result.out.count("\n")) == (2, 3)
    assert "deep: Permission denied" in result.err


def test_standard_input_twice(run):
    """It is read once."""
    result = run("check", "-", "-", stdin=WHOLE)
    assert (result.status, result.out.count("\n")) == (2, 1)
    assert result.err == "streamkit: <stdin>: standard input can be read only once\n"


def test_what_the_command_writes(run, tree):
    """Neither the output nor the folder of an earlier run is an input."""
    (tree / "logs/all.jsonl").write_bytes(CUT)
    result = run("rebuild", "logs", "-o", "logs/all.jsonl")
    assert result.status == 0
    assert "2 hidden, 1 no recordings, 1 written by this command;" in result.err
    result = run("split", "logs", "--into", "logs/parts")
    assert (result.status, result.out.count("\n")) == (0, 5)
    result = run("split", "logs/in", "--into", "logs/in")
    assert "0001-chatcmpl-1.sse" in result.out
    assert names("logs", own=["logs/in"]) == [
        "logs/a.sse",
        "logs/all.jsonl",
        "logs/b.sse",
        *[f"logs/parts/000{number}-chatcmpl-1.sse" for number in range(1, 6)],
    ]


WRITERS = [["rebuild"], ["convert", "--to", "jsonl"], ["report"], ["redact"]]


@pytest.mark.parametrize("command", WRITERS, ids=lambda command: command[0])
@pytest.mark.parametrize("output", ["a.sse", "./a.sse", "link.sse", "hard.sse"])
def test_output_that_is_an_input(run, tmp_path, command, output):
    """It is left as it is, whatever it is called."""
    (tmp_path / "a.sse").write_bytes(WHOLE)
    (tmp_path / "hard.sse").hardlink_to(tmp_path / "a.sse")
    if os.name == "posix":
        (tmp_path / "link.sse").symlink_to("a.sse")
    result = run(*command, "a.sse", "-o", output)
    assert (result.status, result.out) == (2, "")
    assert result.err == (
        "streamkit: a.sse would be read and written at once; write to another file\n"
    )
    assert (tmp_path / "a.sse").read_bytes() == WHOLE
    assert not [*tmp_path.glob(".streamkit*")]


def test_output_that_a_pattern_matches(run, tree):
    """The second run of such a command would read what the first one wrote."""
    (tree / "logs/all.sse").write_bytes(CUT)
    result = run("rebuild", "logs/*.sse", "-o", "logs/all.sse")
    assert (result.status, result.out) == (2, "")
    assert "all.sse would be read and written at once" in result.err


def test_standard_streams_that_are_one_file(tree, monkeypatch, capsys):
    """A shell can lead both ways."""
    log = tree / "logs/a.sse"
    with log.open() as source, log.open("a") as output:
        monkeypatch.setattr(sys, "stdin", source)
        assert main(["rebuild", "-o", str(log)]) == 2
        monkeypatch.setattr(sys, "stdout", output)
        assert main(["rebuild"]) == 2
        assert main(["check", "logs/in/d.sse", "logs/a.sse"]) == 2
        assert main(["check", "logs"]) == 0
    assert log.read_text().count("complete") == 3  # of the folder: all but itself
    told = capsys.readouterr().err
    assert "<stdin> would be read and written at once; write to another file" in told
    assert "logs/a.sse would be read" in told.replace("\\", "/")
    assert "1 written by this command" in told


def test_device_as_input_and_output(run):
    """Nothing is lost of it."""
    assert run("rebuild", os.devnull, "-o", os.devnull).status == 1


def test_skipped_are_told(run, tree):
    """At the end, once."""
    result = run("check", "logs")
    assert result.status == 0
    assert result.err.count("skipped in folders") == 1


READERS = ["rebuild", "show", "check", "inspect", "stats", "logprobs"]
OTHERS = [["convert", "--to", "sse"], ["split", "--into", "out"], ["report"], ["serve"]]


@pytest.mark.parametrize("command", [*([name] for name in READERS), *OTHERS], ids=" ".join)
def test_folder_without_recordings(run, tree, command):
    """There was nothing to do: that is said, and no success."""
    (tree / "none").mkdir()
    result = run(*command, "none")
    assert result.status == 1
    assert "streamkit: there is no recording in what was named\n" in result.err
    (tree / "none/notes.txt").write_text("Buy milk.\n")
    result = run(*command, "none")
    assert result.status == 1
    assert "1 no recordings; name a file to have it read\n" in result.err


@POSIX
def test_odd_names(run, tree):
    """Escapes and bytes that are no UTF-8 are shown as escapes, in text and in JSON."""
    name = b"a\xff\x1b[2J\n.sse"
    try:
        Path(os.fsdecode(name)).write_bytes(WHOLE)
    except OSError:
        pytest.skip("the file system takes UTF-8 only")
    shown = r"a\xff\x1b[2J\x0a.sse"
    for command in ("check", "show", "stats", "inspect", "logprobs"):
        result = run(command, os.fsdecode(name))
        assert result.out.startswith(shown), command
    assert run("rebuild", "--outcome", os.fsdecode(name)).values[0]["source"] == (
        "a\\xff\x1b[2J\n.sse"
    )
    assert run("report", os.fsdecode(name), "-o", "page.html").status == 0
    assert run("convert", "--to", "sse", os.fsdecode(name)).status == 0


@pytest.mark.parametrize("name", ["", "nul\0"])
def test_names_that_no_file_can_have(run, name):
    """As with any file that is not there."""
    result = run("check", name)
    assert (result.status, result.out) == (2, "")
    assert result.err.endswith(": No such file or directory\n")


def test_sizes(tree):
    """Unknown where there is none."""
    assert File("logs/a.sse").size == len(WHOLE)
    assert File("-").size is None
    assert File("logs").size is None
    assert File("gone").size == 0
    assert File("nul\0").size == 0


@pytest.mark.parametrize(
    ("data", "may"),
    [
        (b"", True),
        (WHOLE, True),
        (b": comment\n\n" + WHOLE, True),
        (gzip.compress(WHOLE), True),
        (gzip.compress(b"Buy milk.\n"), False),
        (gzip.compress(b"x" * 10_000_000), False),
        (b"\x28\xb5\x2f\xfd" + bytes(20), True),  # zstd: reading it says what to do
        (b'{"choices": []}', True),
        (b'[{"object": "chat.completion.chunk"}]', True),
        (b'{"error": {"message": "no"}}', True),
        (b'{"name": "package", "version": "1"}', False),
        (b"[build-system]\nrequires = []\n", False),
        (b"Buy milk.\n", False),
        (b"\x89PNG\r\n\x1a\n" + bytes(99), False),
        (b"\x80\x04\x95" + bytes(99), False),
        (b'event: message_start\ndata: {"type":"message_start"}\n\n', True),
        (b'{"log": {"entries": [{"response": {"content": {}}}], "version": "1.2"}}', True),
    ],
)
def test_candidates(tmp_path, data, may):
    """What may be a recording, by its first bytes."""
    (tmp_path / "file").write_bytes(data)
    assert may_be_recording(tmp_path / "file") is may


@pytest.mark.parametrize(
    ("name", "data", "may"),
    [
        ("a", b"PAR1 and more", True),
        ("a", b'{"id": 1, "payload": null}\n', True),
        ("a", gzip.compress(b'{"id": 1}\n'), True),
        ("a", b"", True),
        ("a", b'a line that was cut"}\n{"id": 1}\n', True),
        ("a.jsonl", b"a line that was cut, a long one", True),
        ("a", b"id,payload\n1,x\n", False),
        ("a", b"\x00\x01", False),
    ],
)
def test_tables_among_candidates(tmp_path, name, data, may):
    """What is in their columns does not count."""
    (tmp_path / name).write_bytes(data)
    assert may_be_table(tmp_path / name) is may
    assert may_be_table(tmp_path / "gone")


@pytest.mark.parametrize("pattern", ["logs/*", "logs/**", "l*/**/*.sse", "logs/in/*"])
def test_patterns_leave_out_what_is_written(tree, pattern):
    """A folder that is written, and what is in it: it is not there at the first time."""
    files = Files([pattern], ["logs/in/deep"])
    found = [Path(file.name).as_posix() for file in files.found()]
    assert "logs/in/d.sse" in found
    assert not [name for name in found if "deep" in name]
    assert files.skipped


def test_unreadable_candidate(tmp_path):
    """What cannot be opened may be one: to skip it would hide that."""
    assert may_be_recording(tmp_path / "gone")
