"""`streamkit serve`: recordings, played again over HTTP."""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
import itertools
import math
import threading

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from streamkit._errors import StreamkitError

from ._command import Command, integer
from ._each import each
from ._files import File
from ._inputs import (
    INCOMPLETE,
    OK,
    USAGE,
    Stop,
    add_files_argument,
    add_recording_arguments,
    reading_options,
    source_of,
)
from ._output import put, tell


if TYPE_CHECKING:
    from streamkit.testing import Playback, Request, StreamServer


__all__ = ["COMMAND"]

DESCRIPTION = """\
Answers requests as the API does, with the streams of the recordings in turn, at the
speed at which they were recorded.  A request for a chat or a completion without
"stream": true gets the full response.  The base URL for clients is printed on standard
output, what is asked for on standard error.  Ctrl-C ends it.
"""

EXAMPLES = """\
  streamkit serve recording.sse                       # at http://127.0.0.1:8000/v1
  streamkit serve --speed 2 timed.jsonl               # twice as fast as recorded
  streamkit serve --rate 20 recording.sse             # 20 chunks a second
  streamkit serve --fault reset recording.sse         # break the connection half-way
  streamkit serve --requests 1 before.sse after.sse   # end after one request
"""

PORT = 8000
MOST = 65_535
# Until a wait looks whether Ctrl-C was pressed: Windows does not wake it.
LOOK = 0.2
FAULTS = (
    "cut_transfer",
    "keep_alives",
    "rate_limited",
    "reset",
    "server_error",
    "slow_drip",
    "stall",
    "wrong_content_type",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to *parser*."""
    add_files_argument(parser)
    group = parser.add_argument_group("serving")
    group.add_argument(
        "--host", default="127.0.0.1", help="the address to listen at (127.0.0.1: this machine)"
    )
    group.add_argument(
        "--port",
        type=_port,
        default=PORT,
        metavar="N",
        help=f"the port to listen at; 0: a free one ({PORT})",
    )
    pace = group.add_mutually_exclusive_group()
    pace.add_argument(
        "--speed",
        type=_above_zero,
        default=1.0,
        metavar="N",
        help="play N times as fast as recorded; inf: at once (1)",
    )
    pace.add_argument(
        "--rate", type=_above_zero, metavar="N", help="play N chunks a second, however recorded"
    )
    group.add_argument("--gzip", action="store_true", help="compress, for clients that accept it")
    group.add_argument("--fault", choices=FAULTS, help="break each answer in this way")
    group.add_argument(
        "--requests", type=_count, metavar="N", help="end after N requests; else Ctrl-C ends it"
    )
    add_recording_arguments(parser)


def _port(value: str) -> int:
    port = integer(value)
    if not 0 <= port <= MOST:
        raise argparse.ArgumentTypeError(f"must be 0 to {MOST}, not {value!r}")
    return port


def _count(value: str) -> int:
    count = integer(value)
    if count <= 0:
        raise argparse.ArgumentTypeError(f"must be an integer above 0, not {value!r}")
    return count


def _above_zero(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not number > 0:
        raise argparse.ArgumentTypeError(f"must be a number above 0, or inf, not {value!r}")
    return number


def run(args: argparse.Namespace) -> int:
    """Serve the recordings until it is told to end, and return the exit status."""
    parts = [part for file in each(args) for part in _played(args, file)]
    if not parts:
        tell("there is no stream to serve")
        return INCOMPLETE
    return _serve(args, parts)


# -- What is played ------------------------------------------------------------------


def _played(args: argparse.Namespace, file: File) -> Iterator[tuple[str, Playback]]:
    """
    Yield the name and the playback of each exchange in *file*.

    Raises:
        Stop: If it cannot be read: nothing is served then.
    """
    from streamkit.testing import Playback
    from streamkit.testing._recorded import recorded

    try:
        bodies = recorded(source_of(args, file), args.form, reading_options(args))
        for number, body in enumerate(bodies, 1):
            label = file.label if number == 1 else f"{file.label}#{number}"
            for note in body.notes:
                tell(f"{label}: {note.code}: {note.message}")
            if body.pieces:
                yield label, _as_asked(args, Playback.of_body(body))
    except StreamkitError as error:
        raise Stop(f"{file.label}: {error.code}: {error}", INCOMPLETE) from None
    except OSError as error:
        raise Stop(f"{file.label}: {error.strerror or error}") from None


def _as_asked(args: argparse.Namespace, playback: Playback) -> Playback:
    """Return *playback* at the speed and with the fault that *args* name."""
    from streamkit.testing.faults import TRANSPORT_FAULTS, gzipped

    timed = playback.at_speed(args.speed) if args.rate is None else playback.at_rate(args.rate)
    packed = gzipped(timed) if args.gzip else timed
    return packed if args.fault is None else TRANSPORT_FAULTS[args.fault].apply(packed)


# -- Serving -------------------------------------------------------------------------


def _serve(args: argparse.Namespace, parts: list[tuple[str, Playback]]) -> int:
    from streamkit.testing import StreamServer

    labels = {id(playback): label for label, playback in parts}
    over = threading.Event()
    server = StreamServer(
        *(playback for _, playback in parts),
        host=args.host,
        port=args.port,
        cycle=True,
        log=_log(labels, args.requests, over),
    )
    try:
        server.start()
    except OSError as error:
        where = f"{args.host}, port {args.port}"
        tell(f"cannot listen at {where}: {error.strerror or error}; --port 0 takes a free port")
        return USAGE
    with contextlib.closing(server):
        _announce(args, server, len(parts))
        while not over.wait(LOOK):
            pass
    return OK


def _announce(args: argparse.Namespace, server: StreamServer, count: int) -> None:
    if not _is_loopback(args.host):
        tell(f"{args.host} is open to others: who reaches it can read what is recorded")
    tell(f"{count} {'stream' if count == 1 else 'streams'} at this base URL; Ctrl-C ends it")
    put(f"{server.base_url}\n")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _log(
    labels: dict[int, str], most: int | None, over: threading.Event
) -> Callable[[Request], None]:
    """Return what says one line about each request, and ends all after *most* of them."""
    count = itertools.count(1)

    def log(request: Request) -> None:
        label = labels.get(id(request.playback), "")
        what = f"{request.method} {request.path} {request.status}"
        tell(f"{what} {label}{' ' * bool(label)}{_blocks(request.sent)}, {request.ended}")
        if next(count) == most:
            over.set()

    return log


def _blocks(count: int) -> str:
    return "1 block" if count == 1 else f"{count} blocks"


COMMAND = Command(
    name="serve",
    summary="play recordings again, as the API would: over HTTP, in time",
    description=DESCRIPTION,
    examples=EXAMPLES,
    ok="it ended after --requests N",
    incomplete="there was no stream, or a recording was refused",
    add_arguments=add_arguments,
    run=run,
)
