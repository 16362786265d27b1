"""
The parts of the reference, and the public names in each, from the package itself.

A name that is new in a known room comes to the room's part; one of a new room comes
under `more`, and a new public package is a part of its own.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil

from types import ModuleType

import streamkit


__all__ = ["parts", "summary", "title"]

# The rooms behind the door, by part; the rest of what a room is for says its docstring.
DOOR = {
    "rebuild": ("_rebuild", "_finalize", "_outcome", "_timing"),
    "live": ("_stream", "_tee", "_live", "_events"),
    "embedding": ("_sse", "_chunks", "_accumulator", "_choice", "_partial_json"),
    "models": ("_models", "_converter"),
    "chunks": ("_chunk_models",),
    "bounds": ("_limits", "_issues", "_rules", "_errors"),
    "more": (),
}
TITLES = {
    "rebuild": "Rebuild",
    "live": "While it streams",
    "embedding": "Bytes in, chunks out",
    "models": "Responses",
    "chunks": "Chunks",
    "bounds": "Limits, issues, rules, errors",
    "more": "Other names",
}
NO_REFERENCE = {"cli", "__main__"}


def title(part: str) -> str:
    """Return the heading of *part*."""
    return TITLES.get(part, f"`{part}`")


def parts() -> dict[str, list[str]]:
    """Return the full names of all that is public, by part."""
    found = {part: _of_rooms(rooms) for part, rooms in DOOR.items() if part != "more"}
    known = {name for names in found.values() for name in names}
    public = public_packages()
    here = {f"streamkit.{name}" for name in streamkit.__all__ if name != "__version__"}
    elsewhere = {name for name in here if _room(name) in public}
    found["more"] = sorted(here - known - elsewhere)
    for name, module in public.items():
        found[name] = sorted({f"{name}.{each}" for each in module.__all__} - known)
    return {part: names for part, names in found.items() if names}


def _of_rooms(rooms: tuple[str, ...]) -> list[str]:
    return sorted(
        f"streamkit.{name}"
        for name in streamkit.__all__
        if name != "__version__" and streamkit._ROOM_OF.get(name, "_models") in rooms
    )


def _room(name: str) -> str:
    return f"streamkit.{streamkit._ROOM_OF.get(name.rpartition('.')[2], '_models')}"


def public_packages() -> dict[str, ModuleType]:
    """Return the packages and modules that people may import, by name; missing extras apart."""
    found = {}
    for each in pkgutil.walk_packages(streamkit.__path__, "streamkit."):
        steps = each.name.split(".")[1:]
        if not any(step.startswith("_") or step in NO_REFERENCE for step in steps):
            found[each.name] = importlib.import_module(each.name)
    return {name: module for name, module in found.items() if hasattr(module, "__all__")}


def summary(name: str) -> str:
    """Return the first sentence of what *name* is documented with; of data, what they are."""
    owner, _, attribute = name.rpartition(".")
    value = getattr(importlib.import_module(owner), attribute)
    if not callable(value):
        return f"`{type(value).__name__}`"
    text = (inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " ")
    return text.replace("|", "\\|")
