"""
Write the generated tables of `issues.md`, `limits.md` and `reference.md`: `python docs/tables.py`.

Each stands between two marks in its page; a test compares the pages with what
this makes from the code.
"""

from __future__ import annotations

import importlib.util
import re

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs

from streamkit import ISSUES, Limits


DOCS = Path(__file__).parent
MIB = 1 << 20

# Codes before the first name are the framing's, and so on.
SECTIONS = {
    "framing": "bad_json",
    "merging": "bad_type",
    "stream": "already_final",
    "recordings": "after_compressed",
    "times": "clock_backwards",
}
REFUSALS = {"bad_chunk", "bad_choice", "bad_type", "index_range"}
STRICT = {
    "not_a_chunk": "`FramingError`, or `InvalidChunk` for an object",
    "too_deep": "`FramingError`, or `InvalidChunk` for a chunk handed in as an object",
    "empty_stream": "`EmptyStream`",
    "finish_missing": "`IncompleteStream`, unless `[DONE]` came",
    "done_missing": "`IncompleteStream`, unless every choice has a finish reason",
}


def section_of(codes: Iterable[str]) -> dict[str, str]:
    """Return the section that each of *codes* belongs to."""
    starts = {code: section for section, code in SECTIONS.items()}
    section = ""
    sections = {}
    for code in codes:
        section = starts.get(code, section)
        sections[code] = section
    return sections


def strict_of(code: str, section: str) -> str:
    """Return what strict mode does about *code*."""
    if code in STRICT:
        return STRICT[code]
    if section == "framing":
        return "`FramingError`"
    return "`InvalidChunk`" if code in REFUSALS else "reported only"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def issues_table(section: str) -> str:
    """Return the table of one section's issue codes."""
    rows = [
        (f"`{code}`", ISSUES[code], strict_of(code, section))
        for code, its_section in section_of(ISSUES).items()
        if its_section == section
    ]
    return table(("code", "what it means", "in strict mode"), rows)


def amount(value: int | None) -> str:
    """Return *value* as a person reads it."""
    assert value is not None
    if value >= MIB and value % MIB == 0:
        return f"{value // MIB:,} Mi"
    return f"{value:,}"


def limits_table() -> str:
    """Return the table of all limits; what they bound stands in the docstring of `Limits`."""
    bounded = dict(re.findall(r"^ +(\w+): (.+)$", Limits.__doc__ or "", re.MULTILINE))
    defaults = attrs.asdict(Limits())
    rows = [(f"`{name}`", amount(value), bounded[name]) for name, value in defaults.items()]
    return table(("limit", "default", "what it bounds"), rows)


def reference_tables() -> str:
    """Return a table of the public names for each part of the package, under a heading."""
    reference = _neighbour("reference")
    return "\n\n".join(
        f"## {reference.title(part)}\n\n"
        + table(("name", ""), ((f"`{name}`", reference.summary(name)) for name in names))
        for part, names in reference.parts().items()
    )


def _neighbour(name: str) -> Any:
    """Return the module *name* of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tables() -> dict[str, dict[str, str]]:
    """Return all generated tables, by page and mark."""
    issues = {section: issues_table(section) for section in SECTIONS}
    return {
        "issues.md": issues,
        "limits.md": {"limits": limits_table()},
        "reference.md": {"names": reference_tables()},
    }


def with_tables(text: str, page: str) -> str:
    """Return the *text* of *page* with its tables made anew."""
    for mark, new in tables()[page].items():
        begin, end = f"<!-- table: {mark} -->", f"<!-- end: {mark} -->"
        head, _, rest = text.partition(begin)
        _, _, tail = rest.partition(end)
        text = f"{head}{begin}\n\n{new}\n\n{end}{tail}"
    return text


if __name__ == "__main__":
    for page in tables():
        path = DOCS / page
        text = with_tables(path.read_text(encoding="utf-8"), page)
        path.write_text(text, encoding="utf-8", newline="\n")
