"""
For the site: what is no page of `docs/`, and links that lead to it.

The changelog, with its fragments, the security policy and the guide for contributors
stand at the root of the repository, as people expect.  The reference has a page for
each part of the package, made by mkdocstrings from the docstrings; on GitHub,
`reference.md` names the same things.
"""

from __future__ import annotations

import importlib.util
import re

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page


DOCS = Path(__file__).parent
ROOT = DOCS.parent
AT_THE_ROOT = {
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
}
KINDS = ("added", "changed", "deprecated", "removed", "fixed", "security")


def _reference() -> Any:
    spec = importlib.util.spec_from_file_location("docs_reference", DOCS / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = _reference()


# -- Pages that are added ------------------------------------------------------------


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Name the pages of the reference, and those that nobody has put into the navigation."""
    text = str(config.nav)
    more = [path.name for path in sorted(DOCS.glob("*.md")) if f"'{path.name}'" not in text]
    assert config.nav is not None
    if more:
        config.nav.append({"More": more})
    for part in config.nav:
        if "Reference" in part:
            part["Reference"][1:1] = [{"API": [_page(name) for name in reference.parts()]}]
    return config


def _page(part: str) -> str:
    return f"api/{part}.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from the root of the repository, and a page for each part of the package."""
    for name, page in AT_THE_ROOT.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        text = _with_fragments(text) if name == "CHANGELOG.md" else text
        files.append(File.generated(config, page, content=text))
    for part, names in reference.parts().items():
        files.append(File.generated(config, _page(part), content=_api(part, names)))
    return files


def _api(part: str, names: list[str]) -> str:
    shown = "\n\n".join(f"::: {name}" for name in names)
    return f"# {reference.title(part)}\n\n{shown}\n"


def _with_fragments(text: str) -> str:
    """Return the changelog with what is not released yet on top."""
    head, mark, rest = text.partition("\n## ")
    found = [
        f"\n### {kind.capitalize()}\n\n"
        + "".join(f"- {_indented(path)}" for path in sorted(ROOT.glob(f"changelog.d/*.{kind}.md")))
        for kind in KINDS
        if any(ROOT.glob(f"changelog.d/*.{kind}.md"))
    ]
    return f"{head}\n## Not released yet\n{''.join(found)}{mark}{rest}"


def _indented(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip().replace("\n", "\n  ") + "\n"


# -- Links ---------------------------------------------------------------------------


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links lead to the site's own pages, and names of the reference to their docstrings."""
    name = page.file.src_uri
    for root, own in AT_THE_ROOT.items():
        markdown = markdown.replace(f"](../{root})", f"]({own})").replace(f"]({root})", f"]({own})")
    if name in AT_THE_ROOT.values():
        markdown = markdown.replace("](docs/", "](")
    markdown = _without_repository_links(markdown)
    if name == "reference.md":
        markdown = re.sub(r"^\| `([\w.]+)` \|", r"| [`\1`][\1] |", markdown, flags=re.MULTILINE)
    return markdown


def _without_repository_links(markdown: str) -> str:
    """Leave files of the repository, which are no part of the site, as their names."""
    return re.sub(r"\[([^\]]+)\]\(\.\./[^)]+\)", r"\1", markdown)
