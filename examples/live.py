"""
Embed streamkit in a client: text while it streams, the full response at the end.

streamkit does no I/O.  Whatever yields blocks of bytes will do: httpx's
`response.iter_bytes()`, requests' `iter_content(None)` of a streamed response,
aiohttp's `content.iter_any()` (with `async for`), or, as here, a file read in
small blocks that stands for a connection.
"""

from __future__ import annotations

import sys

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import streamkit


def show_text(chunk: dict[str, Any]) -> None:
    """Print the new text of choice 0 as soon as it is here."""
    for choice in chunk.get("choices") or ():
        if choice.get("index") == 0 and choice.get("delta"):
            print(choice["delta"].get("content") or "", end="", flush=True)


def receive(
    blocks: Iterable[bytes], on_chunk: Callable[[dict[str, Any]], None]
) -> streamkit.Outcome:
    """Return the outcome of the stream in *blocks*, and call *on_chunk* with each chunk."""
    reader = streamkit.ChunkReader()
    chunks = streamkit.Accumulator()

    def take(new: list[dict[str, Any]]) -> None:
        for chunk in new:
            on_chunk(chunk)
            chunks.add(chunk)

    for block in blocks:
        take(reader.feed(block))
        if reader.done:
            break
    take(reader.finish())
    return chunks.finish(done=reader.done, cut=reader.cut)


def small_blocks(path: Path, size: int = 100) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks that respect nothing, like a network's."""
    with path.open("rb") as file:
        while block := file.read(size):
            yield block


def main(name: str) -> int:
    """Show the text of a recording as if it came over the network, then the usage."""
    outcome = receive(small_blocks(Path(name)), show_text)
    print()
    if outcome.response is not None and outcome.response.usage is not None:
        print(f"{outcome.response.usage.total_tokens} tokens")
    return int(not outcome.complete)


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit("usage: live.py RECORDING")
    sys.exit(main(sys.argv[1]))
