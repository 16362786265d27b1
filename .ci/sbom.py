"""
Hold a bill of materials against the wheel that it is of.

    python .ci/sbom.py sbom.json streamkit_llm-0.1.0-py3-none-any.whl

Each requirement of the wheel without an extra is in it, each component has a version and
a licence, and there is nothing that nobody asked for.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile

from email.parser import HeaderParser
from pathlib import Path


# What attrs and cattrs bring, and pip, which is in every environment.
ALSO = {"typing-extensions", "exceptiongroup", "pip", "streamkit-llm"}


def required(wheel: Path) -> set[str]:
    """Return the names of what *wheel* requires without an extra."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(archive.read(name).decode())
    lines = metadata.get_all("Requires-Dist") or []
    return {re.split(r"[^\w.-]", line)[0] for line in lines if "extra ==" not in line}


def main(bill: str, wheel: str) -> None:
    """Check, and say what is missing."""
    components = json.loads(Path(bill).read_text(encoding="utf-8"))["components"]
    names = {each["name"].lower().replace("_", "-") for each in components}
    needed = required(Path(wheel))
    if needed - names:
        sys.exit(f"not in the bill of materials: {sorted(needed - names)}")
    if names - needed - ALSO:
        sys.exit(f"nobody asked for {sorted(names - needed - ALSO)}")
    bare = sorted(each["name"] for each in components if not each.get("version"))
    bare += sorted(each["name"] for each in components if not each.get("licenses"))
    if bare:
        sys.exit(f"without a version or a licence: {bare}")


if __name__ == "__main__":
    main(*sys.argv[1:])
