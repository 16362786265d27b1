"""
The plugin for pytest: fixtures, and markers that run a test for many streams.

Every run of pytest loads it where streamkit is installed, so it imports nothing of
streamkit until a test asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest


if TYPE_CHECKING:
    from ._fault_matrix import StreamFault
    from ._recording_file import RecordingFile
    from ._server import StreamServer


__all__ = ["assert_rebuilds", "recording", "sse", "stream_fault", "stream_server"]

MARKERS = {
    "recording(*names)": "the test runs once for each recording that is named, as its fixture "
    "`recording`: files beside the test or in its folder `recordings`, or patterns for them",
    "stream_faults(*names)": "the test runs once for each fault of streamkit.testing.faults that "
    "is named, or for all, as its fixture `stream_fault`",
}


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known."""
    for marker, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{marker}: {meaning}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each recording, and each fault, that its markers name."""
    _run_for_each(metafunc, "recording", "recording", _recordings)
    _run_for_each(metafunc, "stream_faults", "stream_fault", _faults)


Found = Sequence[tuple[str, Any]]


def _run_for_each(
    metafunc: pytest.Metafunc,
    marker: str,
    fixture: str,
    find: Callable[[tuple[str, ...], Path], Found],
) -> None:
    mark = metafunc.definition.get_closest_marker(marker)
    if mark is None or fixture not in metafunc.fixturenames:
        return
    found = find(mark.args, metafunc.definition.path.parent)
    names, values = [name for name, _ in found], [value for _, value in found]
    metafunc.parametrize(fixture, values, ids=names, indirect=True)


def _recordings(names: tuple[str, ...], folder: Path) -> Found:
    """Return the recordings called *names*; of what is not there, the name: the test fails."""
    from ._recording_file import find_recordings

    found: list[tuple[str, Any]] = []
    for name in names:
        paths = find_recordings(name, folder)
        found += [(_label(path, folder), path) for path in paths] or [(name, name)]
    return found


def _label(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name


def _faults(names: tuple[str, ...], _: Path) -> Found:
    from ._fault_matrix import STREAM_FAULTS

    return [(name, STREAM_FAULTS.get(name, name)) for name in names or STREAM_FAULTS]


# -- Fixtures ------------------------------------------------------------------------


@pytest.fixture
def stream_server() -> Iterator[StreamServer]:
    """
    Return a server that is running: `streamkit.testing.StreamServer`.

    Tell it what to play: `stream_server.play(chunks)`; give a client its `base_url`.
    """
    from ._server import StreamServer

    with StreamServer() as server:
        yield server


@pytest.fixture
def sse() -> Callable[..., bytes]:
    """Return a function that makes an event stream of text, chunks or a response."""
    from ._sse_of import sse_of

    return sse_of


@pytest.fixture
def assert_rebuilds() -> Callable[..., Any]:
    """Return `streamkit.testing.assert_rebuilds`."""
    from ._rebuilds import assert_rebuilds

    return assert_rebuilds


@pytest.fixture
def recording(request: pytest.FixtureRequest) -> RecordingFile:
    """Return the recording that the marker names: `@pytest.mark.recording("chat.sse")`."""
    found = _param(request, '@pytest.mark.recording("chat.sse")')
    if isinstance(found, str):
        folder = request.path.parent
        pytest.fail(
            f"no recording {found!r} in {folder}, nor in its folder recordings", pytrace=False
        )
    from ._recording_file import RecordingFile

    return RecordingFile(found)


@pytest.fixture
def stream_fault(request: pytest.FixtureRequest) -> StreamFault:
    """Return the fault that the marker names: `@pytest.mark.stream_faults("reset", "stall")`."""
    found: Any = _param(request, "@pytest.mark.stream_faults()")
    if isinstance(found, str):
        from ._fault_matrix import STREAM_FAULTS

        names = ", ".join(STREAM_FAULTS)
        pytest.fail(f"no fault {found!r}; there are {names}", pytrace=False)
    fault: StreamFault = found
    return fault


def _param(request: pytest.FixtureRequest, marker: str) -> Any:
    if not hasattr(request, "param"):
        pytest.fail(f"the fixture {request.fixturename!r} needs a marker: {marker}", pytrace=False)
    return request.param
