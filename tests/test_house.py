"""The house keeps its shape: directions of imports, the door, what an import costs."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import subprocess
import sys

from pathlib import Path

import pytest

import streamkit


PACKAGE = Path(streamkit.__file__).parent

# From the ground up.  A room may import rooms of lower floors only.
FLOORS = [
    {
        "_clock",
        "_closing",
        "_errors",
        "_kinds",
        "_models",
        "_other_forms",
        "_rules",
        "_scan",
        "_shapes",
        "_spans",
        "_views",
    },
    {"_chunk_models", "_content", "_issues", "_limits", "_template"},
    {"_events", "_json", "_learn", "_lines", "_mould", "_outcome", "_timing"},
    {"_converter", "_partial_scalars", "_payloads", "_sse", "_state"},
    {"_cells", "_differences", "_framing", "_partial_json", "_plain"},
    {"_logprobs", "_road", "_tools"},
    {"_merge", "_reading_road"},
    {"_choice", "_chunks"},
    {"_repeat", "_tool_growth"},
    {"_accumulator", "_growth"},
    {"_fast", "_finalize", "_intake", "_open_stream"},
    {"_streams"},
    {"_live", "_merging_road", "_tee"},
    {"_stream"},
    {"_rebuild"},
    {"__init__"},
    {"engines"},
    {"cli", "ray", "spark"},
    {"__main__"},
]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
ROOMS = sorted(path for path in PACKAGE.glob("*.py"))


def is_type_checking(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imports(tree):
    """Yield (module, level) of each import that runs, inside functions too."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.level
        children = node.orelse if is_type_checking(node) else ast.iter_child_nodes(node)
        stack.extend(children)


def parse(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", ROOMS, ids=lambda path: path.stem)
def test_imports_point_down(path):
    """A room is on the plan, and imports only from floors below its own."""
    own = FLOOR_OF[path.stem]
    for module, level in imports(parse(path)):
        if level:
            room = module.split(".")[0]
            assert FLOOR_OF[room] < own, f"{path.stem} imports {room}"


@pytest.mark.parametrize("path", ROOMS, ids=lambda path: path.stem)
def test_third_parties_stay_in_their_rooms(path):
    """The core imports attrs; cattrs and the JSON libraries live in one room each."""
    allowed = {"attrs"}
    allowed |= {"_converter": {"cattrs"}, "_json": {"msgspec", "orjson"}}.get(path.stem, set())
    found = {module.split(".")[0] for module, level in imports(parse(path)) if not level}
    assert found <= allowed | sys.stdlib_module_names


@pytest.mark.parametrize("path", ROOMS, ids=lambda path: path.stem)
def test_all_names_what_is_there(path):
    """Each room says what it offers, and offers what it says."""
    if path.stem == "__main__":
        return
    name = "streamkit" if path.stem == "__init__" else f"streamkit.{path.stem}"
    module = importlib.import_module(name)
    assert len(set(module.__all__)) == len(module.__all__)
    for public in module.__all__:
        assert hasattr(module, public), public


def test_the_door_matches_the_rooms():
    """Each name of the door comes from the one room that defines it, and is documented."""
    for name in set(streamkit.__all__) - {"__version__"}:
        value = getattr(streamkit, name)
        room = streamkit._ROOM_OF.get(name, "_models")
        assert name in importlib.import_module(f"streamkit.{room}").__all__
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name


def test_star_import_and_dir():
    """The lazy door still lists and hands out everything."""
    space = {}
    exec("from streamkit import *", space)
    assert set(streamkit.__all__) <= set(space)
    assert set(streamkit.__all__) <= set(dir(streamkit))


def test_unknown_name():
    """The door says no like any module."""
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = streamkit.nothing


def test_static_names_match_the_door():
    """What type checkers see through the door is what the door hands out."""
    tree = parse(PACKAGE / "__init__.py")
    seen = {
        alias.name
        for node in tree.body
        if is_type_checking(node)
        for statement in node.body
        for alias in statement.names
    }
    assert seen - {"Any"} == {*streamkit.__all__, *streamkit._PACKAGES} - {"__version__"}


@pytest.mark.parametrize("name", sorted(streamkit._PACKAGES))
def test_packages_are_reached_through_the_door(name):
    """`import streamkit` is enough for `streamkit.recordings.rebuild` and the like."""
    assert name in dir(streamkit)
    assert f"streamkit.{name}" in modules_after(f"import streamkit; streamkit.{name}")


def modules_after(code):
    """Return the names of the modules that a fresh interpreter has after *code*."""
    script = f"import sys\nbefore = set(sys.modules)\n{code}\nimport json\n"
    script += "print(json.dumps(sorted(set(sys.modules) - before)))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout))


def test_import_is_light():
    """Importing the package loads neither cattrs nor any room."""
    loaded = modules_after("import streamkit")
    rooms = {name for name in loaded if name.startswith("streamkit.")}
    assert not rooms
    assert not {"attr", "attrs", "cattr", "cattrs", "msgspec", "orjson", "asyncio"} & loaded


def test_parsing_loads_no_converter():
    """Reading chunks and merging them needs no cattrs; only a response does."""
    loaded = modules_after(
        "import streamkit\n"
        "a = streamkit.Accumulator()\n"
        "for c in streamkit.ChunkReader(json='json').feed(b'data: {\"choices\":[]}\\n\\n'):\n"
        "    a.add(c)\n"
    )
    assert "streamkit._accumulator" in loaded
    assert not {"cattrs", "msgspec", "orjson", "argparse", "asyncio"} & loaded


def test_package_is_typed():
    """The marker of PEP 561 is there."""
    assert (PACKAGE / "py.typed").is_file()


def test_no_eval_no_pickle():
    """Nothing in the package evaluates or unpickles."""
    for path in PACKAGE.rglob("*.py"):
        tree = parse(path)
        called = {
            node.func.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not {"eval", "exec", "compile", "__import__"} & called, path
        modules = {module.split(".")[0] for module, _ in imports(tree)}
        assert not {"pickle", "marshal", "shelve", "dill", "cloudpickle"} & modules, path
