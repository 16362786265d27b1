"""
Server-Sent Events to the letter of the HTML Living Standard.

The clauses quoted below are of section "Server-sent events", *Interpreting an
event stream*.  Nothing here knows what the data means: repairs for recorded LLM
traffic live in `_framing`.

Most streams are nothing but events of one `data` line.  `_take_plain` takes all of
those in a block at once, and is held against the line by line way by a test.
"""

from __future__ import annotations

from itertools import repeat
from typing import NamedTuple

from ._errors import FramingError, InputRefused, LimitExceeded, StreamkitError
from ._issues import Issue
from ._limits import Limits, check_limits
from ._lines import Data, LineSplitter, as_bytes


__all__ = ["SSEParser", "ServerSentEvent", "reconnection_time"]

# "If the field value consists of only ASCII digits": longer ones than this are
# no reconnection time but an attack on int().
RETRY_DIGITS = 18
LONGEST_HELD = 1 << 16
LONGEST_BLOCK = 1 << 20
DIGITS = frozenset(b"0123456789")


def reconnection_time(value: bytes) -> int | None:
    """Return the time in milliseconds that a `retry` field sets; None if it sets none."""
    is_number = 0 < len(value) <= RETRY_DIGITS and DIGITS.issuperset(value)
    return int(value) if is_number else None


def _is_piece(data: bytes) -> bool:
    """Tell whether *data* is a piece of one line, and short enough to be held."""
    return (
        len(data) < LONGEST_HELD
        and data.startswith(b"data: ")
        and b"\n" not in data
        and b"\r" not in data
    )


class ServerSentEvent(NamedTuple):
    """
    One dispatched event.

    Attributes:
        event: The type; `"message"` if the stream named none.
        data: The data lines, joined by LF.
        id: The last event ID at dispatch; it stays from event to event.
        retry: The reconnection time in milliseconds that this event's block
            set, else None.
    """

    event: str = "message"
    data: str = ""
    id: str = ""
    retry: int | None = None


class SSEParser:
    r"""
    An incremental parser: bytes in, events out.

    After `finish`, or after an error, the parser refuses input until `reset`.

    Args:
        limits: Bounds on lines and events.
        strict_utf8: Raise at invalid UTF-8 instead of replacing it by U+FFFD.

    Attributes:
        last_event_id: The stream's last event ID, to reconnect with.
        retry: The last reconnection time in milliseconds, or None.
        comments: How many comment lines came; they are signs of life.
        last_comment: The text of the latest comment, or None.
        tail: After `finish`, the incomplete event that was discarded, or None.

    >>> parser = SSEParser()
    >>> parser.feed(b"data: a\nid: 1\n\nda")
    [ServerSentEvent(event='message', data='a', id='1', retry=None)]
    >>> parser.feed(b"ta: b\n")
    []
    >>> parser.finish(), parser.tail.data
    ([], 'b')
    """

    def __init__(self, *, limits: Limits = Limits(), strict_utf8: bool = False) -> None:
        check_limits(limits)
        self._limits = limits
        self._longest = min(limits.longest, LONGEST_BLOCK)
        self._errors = "strict" if strict_utf8 else "replace"
        self.reset()

    def reset(self) -> None:
        """Forget everything, as if newly made."""
        self._lines = LineSplitter(self._limits)
        self._refusal: StreamkitError | None = None
        self._retry: int | None = None
        self._id = ""
        self._clear_block()
        self._held = b""
        self._dispatched = 0
        self.last_event_id: str = ""
        self.retry: int | None = None
        self.comments: int = 0
        self.last_comment: str | None = None
        self.tail: ServerSentEvent | None = None

    def feed(self, data: Data) -> list[ServerSentEvent]:
        """
        Take *data* and return the events that it completes.

        Raises:
            TypeError: If *data* is not bytes.
            LimitExceeded: If a line or an event is longer than the limits allow;
                `partial` holds the whole events of this call.
            FramingError: At invalid UTF-8, if *strict_utf8*; `partial` likewise.
            InputRefused: After `finish` or an error.
        """
        data = as_bytes(data)
        self._refuse_if_over()
        events: list[ServerSentEvent] = []
        try:
            self._feed(data, events)
        except (LimitExceeded, FramingError) as error:
            self._refusal = error
            error.partial = events
            raise
        return events

    def _feed(self, data: bytes, events: list[ServerSentEvent]) -> None:
        data = self._held + data
        self._held = b""
        if len(data) > self._longest:
            self._take_lines(data, events)
            return
        stop = data.rfind(b"\n\n") + 2
        if stop > 1:
            if not self._take_plain(data, stop, events):
                self._take_lines(data[:stop], events)
            data = data[stop:]
        if self._is_at_start and _is_piece(data):
            self._held = data  # so that the event can go the short way when it is whole
        elif data:
            self._take_lines(data, events)

    @property
    def _is_at_start(self) -> bool:
        """Whether the next byte starts an event."""
        return self._is_fresh and self._lines.is_at_start_of_line

    def _take_plain(self, data: bytes, stop: int, events: list[ServerSentEvent]) -> bool:
        """Take the events before *stop* if each is one `data` line; return whether they are."""
        if not data.startswith(b"data: ") or not self._is_at_start:
            return False
        body = data[6 : stop - 2]
        parts = body.split(b"\n\ndata: ")
        # An LF besides those between events is of a line that is something else.
        if body.count(b"\n") != 2 * (len(parts) - 1) or b"\r" in body:
            return False
        try:
            texts = map(bytes.decode, parts)
            rows = zip(repeat("message"), texts, repeat(self._id), repeat(None), strict=False)
            events.extend(map(tuple.__new__, repeat(ServerSentEvent), rows))
        except UnicodeDecodeError:
            del events[:]  # line by line, with U+FFFD where it belongs
            return False
        self._lines.skip(stop)
        self._dispatched += len(parts)
        return True

    def _take_lines(self, data: bytes, events: list[ServerSentEvent]) -> None:
        try:
            lines = self._lines.feed(data)
        except LimitExceeded as error:
            self._take(error.partial or [], events)  # what stood before comes first
            raise
        self._take(lines, events)

    def finish(self) -> list[ServerSentEvent]:
        """
        Take note that the input has ended; return no event, ever.

        "Once the end of the file is reached, any pending data must be discarded":
        it is left in `tail`, so that a caller can tell.

        Raises:
            InputRefused: If called twice, or after an error.
        """
        self._refuse_if_over()
        last_id, retry = self._id, self.retry
        self._lines.feed(self._held)  # a piece of one line, so that no line is whole
        rest = self._lines.rest()
        try:
            if rest:
                self._field(rest, self._lines.offset)
        except (LimitExceeded, FramingError) as error:
            self._refusal = error
            raise
        if self._data or self._event:
            self.tail = self._event_so_far()
        self._id, self.retry = last_id, retry
        self._refusal = InputRefused("the stream has finished")
        return []

    def _refuse_if_over(self) -> None:
        if self._refusal is not None:
            raise InputRefused(f"no more input: {self._refusal}; call reset()")

    def _take(self, lines: list[bytes], events: list[ServerSentEvent]) -> None:
        offset = self._lines.offset
        for line in lines:
            content = line.rstrip(b"\r\n")
            if content:
                self._field(content, offset)
            else:
                self._dispatch(events)
            offset += len(line)

    def _field(self, line: bytes, offset: int) -> None:
        """'Process the field': split at the first colon, drop one leading space."""
        self._is_fresh = False
        if line.startswith(b"data:"):
            self._add_data(line[6:] if line[5:6] == b" " else line[5:], line, offset)
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not name:
            self.comments += 1
            self.last_comment = self._decode(value, line, offset)
        elif line == b"data":
            self._add_data(b"", line, offset)
        elif name == b"event":
            self._event = self._decode(value, line, offset)
        elif name == b"id":
            if b"\0" not in value:
                self._id = self._decode(value, line, offset)
        elif name == b"retry" and (time := reconnection_time(value)) is not None:
            self.retry = self._retry = time

    def _add_data(self, value: bytes, line: bytes, offset: int) -> None:
        self._size += len(value) + 1
        self._limits.check("event", self._size, offset)
        self._data.append(self._decode(value, line, offset))

    def _dispatch(self, events: list[ServerSentEvent]) -> None:
        """'If the line is empty': commit the ID; without data, reset and return."""
        self.last_event_id = self._id
        if self._data:
            events.append(self._event_so_far())
            self._dispatched += 1
        self._clear_block()

    def _event_so_far(self) -> ServerSentEvent:
        return ServerSentEvent(
            self._event or "message", "\n".join(self._data), self._id, self._retry
        )

    def _clear_block(self) -> None:
        self._is_fresh = True
        self._event = ""
        self._data: list[str] = []
        self._size = 0
        self._retry = None

    def _decode(self, value: bytes, line: bytes, offset: int) -> str:
        """Decode *value*, the end of *line*, which stands at *offset*."""
        # The WHATWG decoder and Python's "replace" make the same U+FFFDs.
        try:
            return value.decode(errors=self._errors)
        except UnicodeDecodeError as error:
            at = offset + len(line) - len(value) + error.start
            issue = Issue("invalid_utf8", f"invalid UTF-8 ({error.reason})", self._dispatched, at)
            raise FramingError(str(issue), issue=issue) from error
