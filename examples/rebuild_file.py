"""
Print what the recordings say: `python examples/rebuild_file.py FILE…`.

The whole job is one call; the rest is showing that the outcome tells the truth
about streams that were cut or failed.
"""

from __future__ import annotations

import sys

from pathlib import Path

import streamkit


def describe(outcome: streamkit.Outcome) -> str:
    """Return one line about *outcome*."""
    if outcome.error is not None:
        state = f"failed: {outcome.error}"
    else:
        state = "complete" if outcome.complete else "cut"
    response = outcome.response
    if response is None:
        return f"nothing ({state})"
    counts = f"{outcome.chunks} chunks, {len(response.choices)} choices"
    return f"{response.id}: {counts}, {state}"


def main(names: list[str]) -> int:
    """Describe each stream in each file, and print its response as JSON."""
    status = 0
    for name in names:
        for outcome in streamkit.rebuild_all(Path(name)):
            print(f"{name}: {describe(outcome)}", file=sys.stderr)
            print(streamkit.to_json(outcome.response) if outcome.response else "null")
            status = status or int(not outcome.complete)
    return status


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit("usage: rebuild_file.py RECORDING...")
    sys.exit(main(sys.argv[1:]))
