"""A recording in a file, as a test wants it: its bytes, its outcomes, played again."""

from __future__ import annotations

import glob

from collections.abc import Iterator
from pathlib import Path

import attrs

from streamkit._outcome import Outcome
from streamkit.recordings import rebuild

from ._playback import Playback


__all__ = ["RecordingFile", "find_recordings"]

FOLDER = "recordings"


@attrs.frozen
class RecordingFile:
    """
    A recording, in any form that `streamkit.recordings` reads.

    Attributes:
        path: Where it is.
    """

    path: Path

    def __fspath__(self) -> str:
        return str(self.path)

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return self.path.read_bytes()

    @property
    def outcomes(self) -> list[Outcome]:
        """
        The outcome of each stream in it.

        Raises:
            StreamkitError: If it cannot be read; see `streamkit.recordings.rebuild`.
        """
        return list(rebuild(self.path))

    @property
    def outcome(self) -> Outcome:
        """
        The outcome of its first stream.

        Raises:
            StreamkitError: As `outcomes`.
        """
        return next(rebuild(self.path))

    def playback(self, *, speed: float = 1.0) -> Playback:
        """
        Return it to be played; 2 is twice as fast as recorded, infinity is at once.

        Raises:
            StreamkitError: As `Playback.from_recording`.
        """
        return Playback.from_recording(self.path, speed=speed)


def find_recordings(name: str, folder: Path) -> list[Path]:
    """
    Return the files that *name*, a path or a pattern, means for a test in *folder*.

    They are looked for in *folder*, and then in its folder `recordings`.
    """
    for base in (folder, folder / FOLDER):
        if found := sorted(_matching(name, base)):
            return found
    return []


def _matching(name: str, base: Path) -> Iterator[Path]:
    if (base / name).is_file():
        yield base / name
        return
    pattern = str(Path(glob.escape(str(base))) / name)
    for match in glob.iglob(pattern, recursive=True):  # noqa: PTH207 -- takes absolute ones too
        path = Path(match)
        if path.is_file():
            yield path
