"""What makes the site needs the site's libraries; without them its examples are left out."""

from __future__ import annotations

from importlib.util import find_spec


collect_ignore = [] if find_spec("mkdocs") and find_spec("griffe") else ["hooks.py", "doctests.py"]
