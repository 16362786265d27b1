"""
Make the seeds: small streams of every shape in `corpus/`, of every form in `recordings/`.

    python -m fuzz.make_corpus

Each is named by its hash.  Files that are there already stay: what a fuzzer once
broke is kept beside the seeds.
"""

from __future__ import annotations

import hashlib
import itertools
import random

from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.roads import streams

from .samples import samples


CORPUS = Path(__file__).parent / "corpus"
RECORDINGS = Path(__file__).parent / "recordings"
COUNT = 60
LONGEST = 4000


def seeds() -> Iterator[bytes]:
    """Yield streams without end: chat and completion by turns, every other one mutated."""
    for number in itertools.count():
        draw = random.Random(number)
        make = streams.completion_chunks if number % 4 == 3 else streams.chat_chunks
        data = streams.framed(draw, make(draw))
        if number % 3 == 2:
            chunks = [{**chunk, "id": "chatcmpl-2"} for chunk in make(draw)]
            data += streams.framed(draw, chunks)
        yield streams.mutated(draw, data) if number % 2 else data


def main() -> None:
    """Write the seeds."""
    short = (data for data in seeds() if 200 < len(data) <= LONGEST)
    write(CORPUS, itertools.islice(short, COUNT))
    write(RECORDINGS, samples())


def write(folder: Path, inputs: Iterable[bytes]) -> None:
    """Write each of *inputs* into *folder*, under its hash."""
    folder.mkdir(exist_ok=True)
    for data in inputs:
        name = hashlib.sha256(data).hexdigest()[:16]
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
