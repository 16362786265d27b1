"""What every reader makes of a recording: pieces of a stream's bytes, and when they came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import attrs

from streamkit._issues import Issue
from streamkit._limits import Limits, check_limits


__all__ = ["Form", "Piece", "ReadOptions", "Reader", "Recording"]


@attrs.frozen
class Piece:
    """
    Bytes of a stream, as they were recorded.

    Attributes:
        data: The bytes: server-sent events, or JSON.  A form that keeps chunks,
            not bytes, gives each as a line of JSON.
        time: When they came, in seconds: since the epoch, or since some moment
            of the recording's own; None if the form does not say.  That of a piece
            without bytes, before all others, is when the request was sent.
        place: Where in the recording: a line number, an entry; for messages.
    """

    data: bytes
    time: float | None = None
    place: str = ""


@attrs.frozen(kw_only=True)
class Recording:
    """
    One exchange of a recording: the pieces of one response body, in order.

    Attributes:
        name: What to call it: `"entry 3: POST /v1/chat/completions"`; no secrets.
        pieces: Its bytes.  Iterate once.
        notes: What is to be said about it: what a form lacks, and how to record
            it right.
        later: What came to light while its pieces were read, such as a cut; that
            of the file as a whole, once all its recordings were.  None if nothing
            can, as there is no compression.
    """

    name: str = ""
    pieces: Iterable[Piece] = ()
    notes: tuple[Issue, ...] = ()
    later: list[Issue] | None = None


@attrs.frozen(kw_only=True)
class ReadOptions:
    """
    How to read a recording.

    Attributes:
        limits: Bounds on input and result.
        field: For rows: the column that holds the body or the chunk; `a.b` goes into it.
        group_by: For rows of chunks: the column that tells streams apart.
        order_by: For rows of chunks: the column that they are sorted by.
        time_field: For rows: the column that holds the time; `a.b` goes into it.
        fix_mojibake: Undo UTF-8 read as Latin-1, in each line or body that shows it.
    """

    limits: Limits = Limits()
    field: str | None = None
    group_by: str | None = None
    order_by: str | None = None
    time_field: str | None = None
    fix_mojibake: bool = False

    def __attrs_post_init__(self) -> None:
        check_limits(self.limits)


Reader = Callable[[Iterator[bytes], ReadOptions], Iterator[Recording]]


@attrs.frozen(kw_only=True)
class Form:
    """
    A form in which people keep recorded streams.

    Attributes:
        name: Its name for `--from`.
        title: What it is, for people.
        looks: Tells from the first 64 KiB how sure it is, 0 (not at all) to 100.
        read: Turns blocks of bytes into recordings.
        extra: The optional dependency it needs, such as `"yaml"`, or "".
    """

    name: str
    title: str
    looks: Callable[[bytes], int]
    read: Reader
    extra: str = ""
