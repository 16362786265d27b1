"""The page on releases says what `pyproject.toml` and the workflow say."""

from __future__ import annotations

import re
import tomllib

from pathlib import Path

import pytest


ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "releasing.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"


def recipe():
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(PAGE.partition("```yaml\n")[2].partition("```")[0])


def test_the_recipe_requires_what_the_package_requires():
    """The same bounds, and the same Python."""
    project, found = PROJECT["project"], recipe()
    run = [line.replace(" ", "") for line in found["requirements"]["run"]]
    assert run == [f"python{project['requires-python']}", *project["dependencies"]]
    assert found["package"]["name"] == project["name"]
    assert found["about"]["summary"] == project["description"]
    assert found["about"]["license"] == project["license"]
    (build,) = PROJECT["build-system"]["requires"]
    assert build in [line.replace(" ", "") for line in found["requirements"]["host"]]
    scripts = [f"{name} = {target}" for name, target in project["scripts"].items()]
    assert found["build"]["python"]["entry_points"] == scripts


def test_extras_are_documented():
    """Each extra has a row, or is named as one for work on the project."""
    section = PAGE.partition("## Extras")[2].partition("\n## ")[0]
    rows = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    work = set(re.findall(r"`(\w+)`", section.partition("For work on")[2]))
    assert rows | work == {*PROJECT["project"]["optional-dependencies"]}
    assert not rows & work
    if (ROOT / ".ci").is_dir():
        script = (ROOT / ".ci" / "extras.py").read_text(encoding="utf-8")
        left_out = re.search(r"FOR_WORK = \{(.*)\}", script)[1]
        assert work == set(re.findall(r'"(\w+)"', left_out))


@pytest.mark.skipif(not WORKFLOW.is_file(), reason="the workflow is not here")
def test_the_workflow_keeps_no_secret_and_trusts_no_tag():
    """Each action is named by its commit; only the publishing job has an identity."""
    yaml = pytest.importorskip("yaml")
    text = WORKFLOW.read_text(encoding="utf-8")
    assert "secrets." not in text
    assert "password" not in text.partition("on:")[2]
    for used in re.findall(r"uses: (\S+)", text):
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", used), used
    jobs = yaml.safe_load(text)["jobs"]
    assert yaml.safe_load(text)["permissions"] == {}
    assert {name for name, job in jobs.items() if "id-token" in job["permissions"]} == {"publish"}
    assert jobs["publish"]["environment"] == "pypi"
    assert all("timeout-minutes" in job for job in jobs.values())
    assert ".ci/package dist" in text
    assert "`release.yml`" in PAGE
    assert "environment `pypi`" in PAGE
