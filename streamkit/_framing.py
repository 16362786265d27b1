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

import enum
import re

from typing import Any, Final, Literal, NamedTuple

import attrs

from ._errors import quote
from ._issues import IssueLog
from ._json import BadJSON, Decoder, skip_space
from ._limits import Limits
from ._lines import BOM, LineSplitter
from ._scan import NestingScan


__all__ = ["DONE", "Frame", "Framer", "Sentinel"]


class Sentinel(enum.Enum):
    """The `[DONE]` that ends a stream."""

    DONE = "[DONE]"


DONE: Final = Sentinel.DONE

DONE_DATA = b"[DONE]"
BLANKS = b" \t"
FIELD = re.compile(
    rb"(\xef\xbb\xbf)?([ \t]*)"
    rb"(?:(data|event|id|retry|error)([ \t]*):[ ]?(.*)|(data|event|id|retry))",
    re.DOTALL,
)
UNKNOWN_FIELD = re.compile(rb"[A-Za-z_][\w.-]*:")
SURROGATE_ESCAPE = re.compile(rb"\\\\u[dD]")
# What the first bytes of something that is no stream look like.
COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"BZh", b"\xfd7zXZ")
MESSAGES = {
    "bad_number": "a number is no JSON number, or beyond its range; it became null",
    "control_character": "a raw control character in a string was kept",
    "invalid_utf8": "invalid UTF-8 became U+FFFD",
}

Origin = Literal["data", "bare", "error"]


class Frame(NamedTuple):
    """
    One payload, or `DONE`, and where it was found.

    A payload that is *clean* has no half surrogates in its strings.
    """

    value: Any
    event: int
    offset: int | None
    clean: bool = True


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
    suspended: bool = False  # a blank line came while it was open

    def append(self, line: bytes) -> None:
        self.parts.append(line)
        self.size += len(line) + 1

    def raw(self) -> bytes:
        return self.parts[0] if len(self.parts) == 1 else b"\n".join(self.parts)


class Framer:
    """
    The lenient state machine under `ChunkReader` and `rebuild`.

    Attributes:
        cut: The input ended inside a value.
    """

    def __init__(self, log: IssueLog, limits: Limits, decoder: Decoder) -> None:
        self._log = log
        self._limits = limits
        self._decoder = decoder
        self._lines = LineSplitter(limits)
        self._open: OpenValue | None = None
        self._type = ""
        self._events = 0
        self._frames: list[Frame] = []
        self._found = False
        self._first_text = b""
        self.cut = False

    def feed(self, data: bytes) -> list[Frame]:
        """Take *data* and return the payloads that it completes."""
        self._take(self._lines.feed(data))
        return self.drain()

    def finish(self) -> list[Frame]:
        """Return what the end of the input completes, and say what it cut."""
        rest = self._lines.rest()
        if rest:
            self._line(rest, self._lines.offset)
        if self._open is not None:
            self._end_of_input(self._open)
        if not self._found and self._first_text:
            self._explain_nothing()
        return self.drain()

    def drain(self) -> list[Frame]:
        """Return the payloads so far, and forget them; of use after an error."""
        frames, self._frames = self._frames, []
        self._found = self._found or bool(frames)
        return frames

    def salvage(self, lines: list[bytes]) -> None:
        """Take whole *lines* that stood before an error."""
        self._take(lines)

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
        elif line.startswith(b":"):
            pass  # a comment
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
            self._issue("late_bom", "a byte order mark inside the stream was dropped", offset)
        if before or after:
            self._issue("field_whitespace", "blanks around a field name were dropped", offset)
        name = name or bare_name
        if name == b"data":
            self._data(value or b"", offset)
        elif name == b"error":
            self._start(value, offset, "error")
        elif name == b"event":
            self._type = (value or b"").decode("utf-8", "replace")

    def _data(self, value: bytes, offset: int) -> None:
        content = value.strip(BLANKS)
        while content.startswith(b"data:"):
            self._issue("double_prefix", "`data:` stood twice before a payload", offset)
            value = content = content[5:].strip(BLANKS)
        value_open = self._open
        if value_open is not None and (value_open.suspended or value_open.origin != "data"):
            self._abandon(value_open)
            value_open = None
        if value_open is not None and not self._further_data(value_open, value, content):
            return
        if content == DONE_DATA:
            self._emit_done(offset)
        elif content.startswith(b":"):
            self._issue("comment_in_data", "a comment inside data was skipped", offset)
        elif content:
            self._start(value, offset, "data")

    def _further_data(self, value_open: OpenValue, value: bytes, content: bytes) -> bool:
        """
        Take a `data` line behind another of the same event.

        Returns:
            Whether the line is still to be read, as a payload of its own: the
            one before is dealt with.
        """
        if not self._is_open(value_open):
            if self._open is None:
                self._issue(
                    "missing_blank_line", "two payloads in one event were parted", value_open.offset
                )
                return True
        elif content == DONE_DATA or self._is_chunk(content):
            self._abandon(value_open)
            return True
        if content == DONE_DATA:
            self._settle(value_open)
            return True
        self._go_on(value_open, value)
        return False

    def _other(self, line: bytes, offset: int) -> None:
        """Take a line that is no field."""
        value_open = self._open
        if value_open is not None and self._is_open(value_open):
            if value_open.origin != "bare":
                self._issue("unprefixed_line", "a line without `data:` was joined", offset)
            self._go_on(value_open, line)
            return
        content = line.removeprefix(BOM).strip(BLANKS)
        if content == DONE_DATA:
            self._settle(self._open)
            self._emit_done(offset)
        elif content.startswith((b"{", b"[")):
            self._settle(self._open)
            self._start(content, offset, "bare")
            self._decode(self._open)
        else:
            self._skip_text(line, offset)

    def _blank(self) -> None:
        """End the event; an open value waits for the next line."""
        if self._open is not None:
            self._open.type = self._type or self._open.type
            if self._is_open(self._open):
                self._open.suspended = True
            else:
                self._settle(self._open)
        self._type = ""

    def _skip_text(self, line: bytes, offset: int) -> None:
        if not self._first_text:
            self._first_text = line[:64]
        # "Otherwise: the field is ignored", so an unknown field is no repair.
        if not UNKNOWN_FIELD.match(line):
            self._issue("unframed_text", f"text was skipped: {quote(line)}", offset)

    # -- The value that is being collected ---------------------------------------

    def _start(self, text: bytes, offset: int, origin: Origin) -> None:
        self._settle(self._open)
        self._limits.check("event", len(text), offset)
        self._open = OpenValue(self._events, offset, origin, self._type, [text], len(text))
        self._events += 1

    def _go_on(self, value_open: OpenValue, line: bytes) -> None:
        value_open.suspended = False
        value_open.append(line)
        self._limits.check("event", value_open.size, value_open.offset)
        if value_open.scan is not None and value_open.scan.feed(line):
            self._decode(value_open)

    def _is_open(self, value_open: OpenValue) -> bool:
        """Decode *value_open* if that was not tried yet; return whether it is open."""
        if value_open.scan is None and not value_open.is_text:
            self._decode(value_open)
        return value_open is self._open and value_open.scan is not None

    def _settle(self, value_open: OpenValue | None) -> None:
        """Make an end of *value_open*, whatever it is."""
        if value_open is None:
            return
        if value_open.scan is None and not value_open.is_text:
            self._decode(value_open)
        if value_open is self._open:
            if value_open.is_text:
                self._emit_text(value_open)
            else:
                self._abandon(value_open)

    def _abandon(self, value_open: OpenValue) -> None:
        """Drop *value_open*, reporting it unless it turns out to be whole."""
        if value_open.scan is None:
            self._settle(value_open)
            return
        self._open = None
        self._log.add(
            "cut_value",
            f"a JSON value ends too early: {quote(value_open.raw()[:200])}",
            value_open.event,
            value_open.offset,
        )

    def _end_of_input(self, value_open: OpenValue) -> None:
        value_open.type = self._type or value_open.type
        if self._is_open(value_open):
            self.cut = True
            self._abandon(value_open)
            return
        if value_open.origin != "bare" and not value_open.suspended:
            self._log.add(
                "unterminated_event",
                "the input ends without a blank line after the last event",
                value_open.event,
                value_open.offset,
            )
        self._settle(self._open)

    # -- Decoding ----------------------------------------------------------------

    def _decode(self, value_open: OpenValue | None) -> None:
        """Emit what is whole in *value_open*; keep it only if it is open, or is text."""
        if value_open is None:
            return
        raw = value_open.raw()
        if not value_open.in_array:
            try:
                value = self._decoder.whole(raw)
            except BadJSON:
                self._decoder.notes.clear()
            else:
                self._open = None
                self._emit(value, value_open)
                return
        self._decode_prefixes(value_open, self._decoder.text(raw))

    def _decode_prefixes(self, value_open: OpenValue, text: str) -> None:
        """Emit one whole value after another, then deal with what is left of *text*."""
        taken = 0
        at = self._next_value(value_open, text, 0, taken)
        while at < len(text):
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
                    self._note(value_open, "concatenated_json", "several values in one event")
                self._emit(value, value_open)
            at = self._next_value(value_open, text, end, taken)
        if value_open.in_array:
            self._keep_open(value_open, "")
        else:
            self._open = None

    def _next_value(self, value_open: OpenValue, text: str, at: int, taken: int) -> int:
        """Return where the next value starts, past blanks, commas and glued prefixes."""
        at = skip_space(text, at)
        while at < len(text):
            if value_open.in_array and text[at] in ",]":
                value_open.in_array = text[at] == ","
                at += 1
            elif taken and text.startswith("data:", at):
                self._note(value_open, "glued_events", "an event was glued to the one before")
                at += len("data:")
            elif text.startswith("[DONE]", at) and taken:
                self._emit_done(value_open.offset)
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
            self._open = None
            self._note(value_open, "trailing_garbage", f"after a whole value: {quote(rest)}")
        elif not rest.startswith(("{", "[", '"')) or value_open.origin == "bare":
            self._text_or_junk(value_open, rest, error)
        else:
            self._open = None
            self._note(value_open, error.code, f"{error.reason} in {quote(rest)}")

    def _text_or_junk(self, value_open: OpenValue, rest: str, error: BadJSON) -> None:
        if value_open.origin != "bare":
            value_open.is_text = True
            return
        self._open = None
        if error.code == "too_deep" or rest.startswith(("{", "[{")):
            self._note(value_open, error.code, f"{error.reason} in {quote(rest)}")
        else:
            self._skip_text(value_open.raw(), value_open.offset)

    def _keep_open(self, value_open: OpenValue, rest: str) -> None:
        kept = rest.encode("utf-8", "replace")
        value_open.parts = [kept]
        value_open.size = len(kept)
        value_open.scan = NestingScan()
        value_open.scan.feed(kept)

    def _is_chunk(self, content: bytes) -> bool:
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
        for code in self._decoder.notes:
            self._note(value_open, code, MESSAGES[code])
        self._decoder.notes.clear()
        if value_open.origin == "bare":
            self._note(value_open, "bare_json", "JSON without framing was taken as payloads")
        elif value_open.origin == "error":
            self._note(value_open, "error_field", "`error:` was taken as an error payload")
        if value_open.origin == "error" or value_open.type == "error":
            value = _as_error(value)
        clean = not any(SURROGATE_ESCAPE.search(part) for part in value_open.parts)
        for payload in value if type(value) is list else [value]:
            self._frames.append(Frame(payload, value_open.event, value_open.offset, clean))

    def _emit_text(self, value_open: OpenValue) -> None:
        self._open = None
        text = self._decoder.text(value_open.raw())
        self._decoder.notes.clear()
        if value_open.type == "error":
            self._note(value_open, "non_json_error", f"an error event: {quote(text)}")
            error = {"error": {"message": text}}
            self._frames.append(Frame(error, value_open.event, value_open.offset))
        else:
            self._note(value_open, "bad_json", f"not JSON: {quote(text)}")

    def _emit_done(self, offset: int) -> None:
        self._frames.append(Frame(DONE, self._events, offset))
        self._events += 1

    def _issue(self, code: str, message: str, offset: int) -> None:
        self._log.add(code, message, self._events, offset)

    def _note(self, value_open: OpenValue, code: str, message: str) -> None:
        self._log.add(code, message, value_open.event, value_open.offset)

    def _explain_nothing(self) -> None:
        """Say what an input that held no payload looks like."""
        head = self._first_text
        if head.startswith(COMPRESSED):
            self._log.add("compressed_body", "the input is compressed: decompress it first", 0, 0)
        elif head.lstrip().startswith(b"<"):
            self._log.add("html_body", f"the input is HTML or XML: {quote(head)}", 0, 0)
        else:
            self._log.add("no_events", f"the input has no events: {quote(head)}", 0, 0)


CHUNK_KEYS = frozenset({"choices", "object", "error", "usage"})


def _as_error(value: Any) -> Any:
    """Return *value*, the payload of an error event, as a chunk that carries an error."""
    if type(value) is not dict:
        return {"error": {"message": value}}
    return value if value.get("error") is not None else {"error": value}
