"""
The JSON of payloads: collecting the text of a value, decoding it, giving it out.

A value is *open* while its text so far ends before the value does.  Values are
told apart by decoding them, never by counting brackets: `NestingScan` only says
when decoding is worth a try.
"""

from __future__ import annotations

import enum
import re

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

import attrs

from ._errors import LimitExceeded, quote
from ._issues import IssueLog
from ._json import BadJSON, Decoder, skip_space
from ._limits import Limits
from ._scan import NestingScan


__all__ = ["DONE", "Frame", "OpenValue", "Payloads", "Sentinel"]


class Sentinel(enum.Enum):
    """The `[DONE]` that ends a stream."""

    DONE = "[DONE]"


DONE: Final = Sentinel.DONE

UNKNOWN_FIELD = re.compile(rb"[A-Za-z_][\w.-]*:")
SURROGATE_ESCAPE = re.compile(rb"\\u[dD]")
# What only a chunk has; see `Payloads.is_chunk`.
CHUNK_KEYS = frozenset({"choices", "object", "error", "usage"})
MESSAGES = {
    "bad_number": "a number is no JSON number, or beyond its range; it became null",
    "control_character": "a raw control character in a string was kept",
    "invalid_utf8": "invalid UTF-8 became U+FFFD",
}

Origin = Literal["data", "bare", "error"]


class Frame(NamedTuple):
    """
    One payload, or `DONE`, and where it was found.

    A payload that is *clean* has no half surrogates in its strings.  Its *time* is
    known if the recording has times.
    """

    value: Any
    event: int
    offset: int | None
    clean: bool = True
    time: float | None = None


@attrs.define
class OpenValue:
    """The text of a payload that is being collected."""

    event: int
    offset: int
    origin: Origin
    type: str
    parts: list[bytes]
    size: int
    scan: NestingScan | None = None  # set once the value is known to be open
    is_text: bool = False
    in_array: bool = False
    suspended: int = 0  # how many blank lines came while it was open
    mended: bool = False  # invalid UTF-8 in it was replaced
    clean: bool = True  # no half surrogates can be in it
    _in_string: bool | None = None  # as it started, once that was asked

    def append(self, line: bytes) -> None:
        self.parts.append(line)
        self.size += len(line) + 1

    def raw(self) -> bytes:
        return b"\n".join(self.parts)

    def ends_in_string(self) -> bool:
        """Tell whether its first line, if it is JSON, ends inside a string."""
        if self._in_string is None:
            scan, line = NestingScan(), self.parts[0]
            if line.lstrip().startswith((b"{", b"[")):
                scan.feed(line)
            self._in_string = scan.in_string
        return self._in_string


class Payloads:
    """
    Collect, decode and give out payloads.

    Args:
        give: Takes each payload the moment it is whole, so that what it reports
            stands in order among the issues of the framing.

    Attributes:
        open: The value that is being collected, or None.
        type: The type of the event so far.
        first_text: The start of the first text that was skipped.
        has_found: Whether any payload was given out.
    """

    def __init__(
        self,
        log: IssueLog,
        limits: Limits,
        decoder: Decoder,
        give: Callable[[Frame], None],
    ) -> None:
        self._log = log
        self._give_out = give
        self._limits = limits
        self._decoder = decoder
        self._events = 0
        self.open: OpenValue | None = None
        self.type = ""
        self.first_text = b""
        self.has_found = False

    def set_type(self, value: bytes, offset: int) -> None:
        """Set the type of the event that has begun."""
        try:
            self.type = value.decode()
        except UnicodeDecodeError:
            self.type = value.decode(errors="replace")
            self.issue("invalid_utf8", "invalid UTF-8 in an event's type", offset)
        if self.open is not None and self.open.scan is None:
            self.open.type = self.type  # its data came first

    def start(self, text: bytes, offset: int, origin: Origin) -> None:
        self.settle(self.open)
        self._limits.check("event", len(text), offset)
        self.open = OpenValue(self._events, offset, origin, self.type, [text], len(text))
        self._events += 1

    def go_on(self, value_open: OpenValue, line: bytes) -> None:
        for _ in range(value_open.suspended):
            value_open.append(b"")  # they were in the string that goes on
        value_open.suspended = 0
        value_open.append(line)
        self._limits.check("event", value_open.size, value_open.offset)
        if value_open.scan is not None and value_open.scan.feed(line):
            self.decode(value_open)

    def is_open(self, value_open: OpenValue) -> bool:
        """Decode *value_open* if that was not tried yet; return whether it is open."""
        if value_open.scan is None and not value_open.is_text:
            self.decode(value_open)
        return value_open is self.open and value_open.scan is not None

    def settle(self, value_open: OpenValue | None) -> None:
        """Make an end of *value_open*, whatever it is."""
        if value_open is None:
            return
        if self.is_open(value_open):
            self.abandon(value_open)
        elif value_open is self.open:
            self._emit_text(value_open)

    def abandon(self, value_open: OpenValue) -> None:
        """Drop *value_open*, reporting it unless it turns out to be whole."""
        if value_open.scan is None:
            self.settle(value_open)
            return
        self.open = None
        self._log.add(
            "cut_value",
            f"a JSON value ends too early: {quote(value_open.raw())}",
            value_open.event,
            value_open.offset,
        )

    def end_of_input(self, value_open: OpenValue) -> bool:
        """Make an end of *value_open*, the input's last; return whether it was cut."""
        if self.is_open(value_open):
            self.abandon(value_open)
            return True
        self.note(value_open, "unterminated_event", "no blank line after the last event")
        self.settle(self.open)
        return False

    # -- Decoding ----------------------------------------------------------------

    def decode(self, value_open: OpenValue | None) -> None:
        """Give out what is whole in *value_open*; keep it only if it is open, or is text."""
        if value_open is None:
            return
        try:
            self._decode(value_open, value_open.raw())
        except LimitExceeded as error:
            error.offset = value_open.offset if error.offset is None else error.offset
            raise

    def _decode(self, value_open: OpenValue, raw: bytes) -> None:
        value_open.clean = not SURROGATE_ESCAPE.search(raw)
        if not value_open.in_array:
            try:
                value = self._decoder.whole(raw)
            except BadJSON:
                self._decoder.notes.clear()
            else:
                self.open = None
                self._emit(value, value_open)
                return
            if not raw.lstrip().startswith((b"{", b"[")):
                value_open.is_text = True
                return
        text = self._decoder.text(raw)
        value_open.mended = value_open.mended or "invalid_utf8" in self._decoder.notes
        self._decoder.notes.clear()
        self._decode_prefixes(value_open, text)

    def _decode_prefixes(self, value_open: OpenValue, text: str) -> None:
        """Emit one whole value after another, then deal with what is left of *text*."""
        taken = end = 0
        while (at := self._next_value(value_open, text, end, taken)) < len(text):
            try:
                value, end = self._decoder.prefix(text, at)
            except BadJSON as error:
                self._decoder.notes.clear()
                if error.cut and text[at] == "[" and value_open.origin == "bare":
                    value_open.in_array = True
                    end = at + 1
                else:
                    self._end_of_values(value_open, text[at:], error, taken)
                    return
            else:
                taken += 1
                if taken > 1 and value_open.origin == "data":
                    self.note(value_open, "concatenated_json", "several values in one event")
                self._emit(value, value_open)
        if value_open.in_array:
            self._keep_open(value_open, "")
        else:
            self.open = None

    def _next_value(self, value_open: OpenValue, text: str, at: int, taken: int) -> int:
        """Return where the next value starts, past blanks, commas and glued prefixes."""
        at = skip_space(text, at)
        while at < len(text):
            if value_open.in_array and text[at] in ",]":
                value_open.in_array = text[at] == ","
                at += 1
            elif taken and text.startswith("data:", at):
                self.note(value_open, "glued_events", "an event was glued to the one before")
                at += len("data:")
            elif text.startswith("[DONE]", at) and taken:
                self.emit_done(value_open.offset)
                at += len("[DONE]")
            else:
                break
            at = skip_space(text, at)
        return at

    def _end_of_values(self, value_open: OpenValue, rest: str, error: BadJSON, taken: int) -> None:
        """Keep *rest* if it is open or may be text; else report it."""
        if error.cut:
            self._keep_open(value_open, rest)
        elif taken:
            self.open = None
            self.note(value_open, "trailing_garbage", f"after a whole value: {quote(rest)}")
        elif value_open.origin == "bare" and not rest.startswith(("{", "[{", "[[")):
            self.open = None  # text in brackets, such as a link in Markdown
            self.skip_text(value_open.raw(), value_open.offset)
        else:
            self.open = None
            self.note(value_open, error.code, f"{error.reason} in {quote(rest)}")

    def _keep_open(self, value_open: OpenValue, rest: str) -> None:
        kept = rest.encode()
        value_open.parts = [kept]
        value_open.size = len(kept)
        value_open.scan = NestingScan()
        value_open.scan.feed(kept)

    def is_in_string(self, line: bytes) -> bool:
        """Tell whether the open value ends inside a string that may go on with *line*."""
        value_open = self.open
        if value_open is None or value_open.suspended:
            return False
        if value_open.scan is None and line.startswith(b"event:"):
            return value_open.ends_in_string()  # and is not decoded: its type may be here
        if not self.is_open(value_open):
            return False
        return value_open.scan is not None and value_open.scan.in_string

    def is_cut_by(self, value_open: OpenValue, line: bytes) -> bool:
        """Tell whether *line*, which has no framing, is a chunk and no part of *value_open*."""
        return not value_open.in_array and self.is_open(value_open) and self.is_chunk(line.strip())

    def is_chunk(self, content: bytes) -> bool:
        """Tell whether a line is a whole chunk, so that what is open before it was cut."""
        if not content.startswith(b'{"') or not content.endswith(b"}"):
            return False
        try:
            value = self._decoder.whole(content)
        except BadJSON:
            return False
        finally:
            self._decoder.notes.clear()
        return type(value) is dict and not CHUNK_KEYS.isdisjoint(value)

    # -- Emitting ----------------------------------------------------------------

    def _emit(self, value: Any, value_open: OpenValue) -> None:
        if value_open.mended:
            self._decoder.notes.append("invalid_utf8")
            value_open.mended = False
        for code in self._decoder.notes:
            self.note(value_open, code, MESSAGES[code])
        self._decoder.notes.clear()
        if value_open.origin == "bare":
            self.note(value_open, "bare_json", "JSON without framing was taken as payloads")
        elif value_open.origin == "error":
            self.note(value_open, "error_field", "`error:` was taken as an error payload")
        if value_open.origin == "error" or value_open.type == "error":
            value = _as_error(value)
        for payload in value if type(value) is list else [value]:
            self._give(Frame(payload, value_open.event, value_open.offset, value_open.clean))

    def _emit_text(self, value_open: OpenValue) -> None:
        self.open = None
        text = self._decoder.text(value_open.raw())
        self._decoder.notes.clear()
        if value_open.type == "error":
            self.note(value_open, "non_json_error", f"an error event: {quote(text)}")
            error = {"error": {"message": text}}
            self._give(Frame(error, value_open.event, value_open.offset))
        else:
            self.note(value_open, "bad_json", f"not JSON: {quote(text)}")

    def _give(self, frame: Frame) -> None:
        self.has_found = True
        self._give_out(frame)

    @property
    def is_between_events(self) -> bool:
        """Whether no event has begun: no value is open, and no type is set."""
        return self.open is None and self.type == ""

    def skip(self, events: int) -> int:
        """Take note of *events* that were read otherwise; return the number of the last."""
        self._events += events
        self.has_found = True
        return self._events - 1

    def emit_done(self, offset: int) -> None:
        self._give(Frame(DONE, self._events, offset))
        self._events += 1

    def issue(self, code: str, message: str, offset: int) -> None:
        """Report an oddity between values, under the number of the next one."""
        self._log.add(code, message, self._events, offset)

    def note(self, value_open: OpenValue, code: str, message: str) -> None:
        self._log.add(code, message, value_open.event, value_open.offset)

    def skip_text(self, line: bytes, offset: int) -> None:
        if not self.first_text:
            self.first_text = line[:64]
        # "Otherwise: the field is ignored", so an unknown field is no repair.
        if not UNKNOWN_FIELD.match(line):
            self.issue("unframed_text", f"text was skipped: {quote(line)}", offset)


def _as_error(value: Any) -> Any:
    """Return *value*, the payload of an error event, as a chunk that carries an error."""
    if type(value) is not dict:
        return {"error": {"message": value}}
    return value if value.get("error") is not None else {"error": value}
