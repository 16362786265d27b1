"""
Bytes in, JSON payloads out, the way recorded LLM traffic needs it.

The specification's parser drops what real recordings are full of: an event glued
to the one before, one newline where two belong, pretty-printed JSON, a JSON error
body without any framing, `[DONE]` with no newline after it.  Here each of those
is one small, reported repair, and nothing that was whole is lost.

How a line is read, in this order:

1. A blank line ends the event.
2. A field (`data`, `event`, `id`, `retry`, and `error`, which servers send as if
   it were one) is that field; blanks or a BOM before its name are dropped.
3. Any other line goes on with the JSON value that is still open, if there is one.
4. Else, if it starts as JSON does, it starts a value without framing.
5. Else it is text, and skipped.

A value is *open* while its text so far ends before the value does.  An open value
outlives a blank line (a hop may have broken a string at two line ends), but not
the next `data` line behind it.  Values are told apart by decoding them, never by
counting brackets: a count only says when decoding is worth a try.
"""

from __future__ import annotations

import re

from collections.abc import Callable

from ._errors import LimitExceeded, quote
from ._issues import IssueLog
from ._json import Decoder
from ._limits import Limits
from ._lines import BOM, LineSplitter
from ._payloads import Frame, OpenValue, Payloads
from ._sse import reconnection_time


__all__ = ["Framer"]

PREFIX = re.compile(rb"(?:data:|\xef\xbb\xbf|[ \t]++)++")
DONE_DATA = b"[DONE]"
# One word with a dot or a slash in it: who gives a name as text wants the file.
FILE_NAME = re.compile(rb"[^\s<>{}]*[./\\][^\s<>{}]*\w")
BLANKS = b" \t"
FIELD = re.compile(
    rb"(\xef\xbb\xbf)?([ \t]*)"
    rb"(?:(data|event|id|retry|error)([ \t]*):[ ]?(.*)|(data|event|id|retry))",
    re.DOTALL,
)
# What the first bytes of something that is no stream look like.
COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"BZh", b"\xfd7zXZ")


class Framer:
    """
    The lenient state machine under `ChunkReader` and `rebuild`.

    Args:
        log: Takes the issues.
        limits: Bounds on lines, events and JSON.
        decoder: Decodes the payloads.
        give: Takes each payload the moment it is whole.

    Attributes:
        cut: The input ended inside a value.
        last_event_id: The stream's last event ID, to reconnect with.
        retry: The last reconnection time in milliseconds, or None.
        comments: How many comment lines came; they are signs of life.
    """

    def __init__(
        self,
        log: IssueLog,
        limits: Limits,
        decoder: Decoder,
        give: Callable[[Frame], None],
    ) -> None:
        self._log = log
        self._lines = LineSplitter(limits)
        self._payloads = Payloads(log, limits, decoder, give)
        self._id = ""
        self.cut = False
        self.last_event_id = ""
        self.retry: int | None = None
        self.comments = 0

    def feed(self, data: bytes) -> None:
        """
        Take *data*.

        Raises:
            LimitExceeded: If a bound is crossed; the whole lines before a line
                that is too long have been taken.
        """
        try:
            lines = self._lines.feed(data)
        except LimitExceeded as error:
            self._take(error.partial or [])
            raise
        self._take(lines)

    @property
    def is_between_events(self) -> bool:
        """Whether the next byte starts an event."""
        return self._lines.is_at_start_of_line and self._payloads.is_between_events

    @property
    def offset(self) -> int:
        """How many bytes were taken."""
        return self._lines.end

    def skip(self, size: int, events: int) -> int:
        """
        Take note of *events* that were read otherwise, *size* bytes in all.

        Returns:
            The number of the last of them.
        """
        self._lines.skip(size)
        return self._payloads.skip(events)

    def finish(self) -> None:
        """Take note of the end of the input, and say what it cut."""
        rest = self._lines.rest()
        if rest:
            self._line(rest, self._lines.offset)
        if self._payloads.open is not None:
            self.cut = self._payloads.end_of_input(self._payloads.open)
        if not self._payloads.has_found and self._payloads.first_text:
            self._explain_nothing()

    def _take(self, lines: list[bytes]) -> None:
        offset = self._lines.offset
        for line in lines:
            self._line(line.rstrip(b"\r\n"), offset)
            offset += len(line)

    # -- One line ----------------------------------------------------------------

    def _line(self, line: bytes, offset: int) -> None:
        if not line:
            self._blank()
        elif line.startswith(b"data:"):
            self._data(line[6:] if line[5:6] == b" " else line[5:], offset)
        elif self._payloads.is_in_string(line):
            self._other(line, offset)  # a string that was broken over lines may say anything
        elif line.startswith(b":"):
            self.comments += 1
        elif (field := FIELD.fullmatch(line)) is not None:
            self._field(field, line, offset)
        else:
            self._other(line, offset)

    def _field(self, field: re.Match[bytes], line: bytes, offset: int) -> None:
        bom, before, name, after, value, bare_name = field.groups()
        if name == b"error" and not value.lstrip().startswith(b"{"):
            self._other(line, offset)
            return
        if bom:
            self._payloads.issue(
                "late_bom", "a byte order mark inside the stream was dropped", offset
            )
        if before or after:
            self._payloads.issue(
                "field_whitespace", "blanks around a field name were dropped", offset
            )
        name = name or bare_name
        if name == b"data":
            self._data(value or b"", offset)
        elif name == b"error":
            self._payloads.start(value, offset, "error")
        elif name == b"event":
            self._payloads.set_type(value or b"", offset)
        else:
            self._note_connection(name, value or b"")

    def _note_connection(self, name: bytes, value: bytes) -> None:
        """Take `id` and `retry` as the specification does."""
        if name == b"id" and b"\0" not in value:
            self._id = value.decode(errors="replace")
        elif name == b"retry" and (time := reconnection_time(value)) is not None:
            self.retry = time

    def _data(self, value: bytes, offset: int) -> None:
        content = value.strip(BLANKS)
        if content.startswith((b"data:", BOM)):
            value = content = self._without_prefix(content, offset)
        value_open = self._payloads.open
        if value_open is not None and (value_open.suspended or value_open.origin != "data"):
            self._payloads.abandon(value_open)
            value_open = None
        if value_open is not None and not self._further_data(value_open, value, content):
            return
        if content == DONE_DATA:
            self._payloads.emit_done(offset)
        elif content.startswith(b":"):
            self._payloads.issue("comment_in_data", "a comment inside data was skipped", offset)
        elif content:
            self._payloads.start(value, offset, "data")

    def _without_prefix(self, content: bytes, offset: int) -> bytes:
        """Drop further prefixes, and a BOM, from the front of a payload."""
        prefix = PREFIX.match(content)
        assert prefix is not None
        if b"data:" in prefix[0]:
            self._payloads.issue("double_prefix", "`data:` stood twice before a payload", offset)
        if BOM in prefix[0]:
            self._payloads.issue("late_bom", "a byte order mark was dropped", offset)
        return content[prefix.end() :]

    def _further_data(self, value_open: OpenValue, value: bytes, content: bytes) -> bool:
        """
        Take a `data` line behind another of the same event.

        Returns:
            Whether the line is still to be read, as a payload of its own: the
            one before is dealt with.
        """
        is_error_text = not self._payloads.is_open(value_open) and value_open.type == "error"
        if self._payloads.open is None:
            self._payloads.note(
                value_open, "missing_blank_line", "two payloads in one event were parted"
            )
            return True
        if content == DONE_DATA or (not is_error_text and self._payloads.is_chunk(content)):
            self._payloads.abandon(value_open)
            return True
        self._payloads.go_on(value_open, value)
        return False

    def _other(self, line: bytes, offset: int) -> None:
        """Take a line that is no field."""
        value_open = self._payloads.open
        if value_open is not None and self._payloads.is_cut_by(value_open, line):
            self._payloads.abandon(value_open)
            value_open = None
        if value_open is not None and self._payloads.is_open(value_open):
            if value_open.origin != "bare":
                self._payloads.note(
                    value_open, "unprefixed_line", "a line without `data:` was joined"
                )
            self._payloads.go_on(value_open, line)
            return
        content = line.removeprefix(BOM).strip(BLANKS)
        if content == DONE_DATA:
            self._payloads.settle(self._payloads.open)
            self._payloads.emit_done(offset)
        elif content.startswith((b"{", b"[")):
            self._payloads.start(content, offset, "bare")
            self._payloads.decode(self._payloads.open)
        else:
            self._payloads.skip_text(line, offset)

    def _blank(self) -> None:
        """End the event; an open value waits for the next line."""
        self.last_event_id = self._id
        if self._payloads.open is not None:
            self._payloads.open.type = self._payloads.type or self._payloads.open.type
            if self._payloads.is_open(self._payloads.open):
                self._payloads.open.suspended += 1
            else:
                self._payloads.settle(self._payloads.open)
        self._payloads.type = ""

    def _explain_nothing(self) -> None:
        """Say what an input that held no payload looks like."""
        head = self._payloads.first_text
        if head.startswith(COMPRESSED):
            text = "the input is compressed: decompress it first, as streamkit.recordings does"
            self._log.add("compressed_body", text, 0, 0)
        elif head.lstrip().startswith(b"<"):
            self._log.add("html_body", f"the input is HTML or XML: {quote(head)}", 0, 0)
        else:
            hint = "; a file is given as a Path" if FILE_NAME.fullmatch(head) else ""
            self._log.add("no_events", f"the input has no events: {quote(head)}{hint}", 0, 0)
