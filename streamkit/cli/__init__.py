"""
The command `streamkit`: recordings in, full responses out.

A command is one file here and one line in the table of `_main`.  What is said of
an outcome is computed in `_verdict`, `_report` and `_page`; only the commands print.
"""

from __future__ import annotations

from ._main import main


__all__ = ["main"]
