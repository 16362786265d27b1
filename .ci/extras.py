"""
Let pip resolve each extra of a wheel alone, without installing anything.

    python .ci/extras.py streamkit_llm-0.1.0-py3-none-any.whl

An extra must bring what it names, on this Python, and none may bring the package
itself twice or fail because of another.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile

from pathlib import Path


# What is for work on the project itself; CI installs most of it anyhow.
FOR_WORK = {"bench", "clients", "docs", "lint", "test"}
# Too large to be asked for its requirements; installed by CI for its tests.
INSTALLED = {"ray", "spark"}


def resolved(wheel: str, extra: str) -> dict[str, list[str]]:
    """Return what pip would install for *extra*: the requirements of each, by name."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run"]
        command += ["--ignore-installed", "--report", str(report)]
        command += [f"{wheel}[{extra}]" if extra else wheel]
        subprocess.run(command, check=True)
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    return {named(each["metadata"]["name"]): each["metadata"] for each in found}


def named(requirement: str) -> str:
    """Return the normal name of what *requirement* is on."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()


def main(wheel: str) -> None:
    """Resolve each extra, and say what it brings."""
    extras = resolved(wheel, "")["streamkit-llm"].get("provides_extra", [])
    for extra in sorted({*extras} - FOR_WORK - INSTALLED):
        found = resolved(wheel, extra)
        own = found["streamkit-llm"]["requires_dist"]
        asked = {
            named(line)
            for line in own
            if re.search(rf"extra == ['\"]{extra}['\"]", line)
            and not (
                "python_version < '3.14'" in line.replace('"', "'") and sys.version_info >= (3, 14)
            )
        }
        if asked - found.keys():
            sys.exit(f"{extra} does not bring {sorted(asked - found.keys())}")
        print(f"{extra}: {len(found) - 1} packages")
    if not extras:
        sys.exit("the wheel has no extras")


if __name__ == "__main__":
    main(*sys.argv[1:])
