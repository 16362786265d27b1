"""
The line ends of a stream, found again in an ASCII trace of curl's.

Such a trace shows every byte that is not printable ASCII as a dot: line ends
too, unless they are CRLF.  Inside a JSON string a dot stays one: a line end
cannot stand there.  Elsewhere in JSON it is a line end, unless digits stand on
both sides; between values it is one before another, before a field and at the
end of what was received.
"""

from __future__ import annotations

import re


__all__ = ["DotMender"]

STRING_END = re.compile(rb'(?:[^"\\]++|\\.)*+"', re.DOTALL)
IN_JSON = re.compile(rb'["{}\[\]]|\.')
BETWEEN = re.compile(rb"[{\[]|\.")
VALUE_START = re.compile(rb"(?:\n|data:[ ]?|\A)\Z")
FIELD_START = re.compile(rb"\.|\Z|(?:data|event|id|retry)?:")
STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"')
# Nothing in it is in doubt: outside of strings it has no dot but those at the end.
EVENT = re.compile(rb'(data: \{(?:[^".\n]++|"(?:[^"\\\n]++|\\.)*+")*+(?<=\}))\.\.')
# The start of a field's name, whose rest may be in the next piece.
CUT_FIELD = re.compile(rb"(?:d(?:at?)?|data|e(?:v(?:en?)?)?|event|id?|r(?:e(?:tr?)?)?|retry)\Z")


class DotMender:
    r"""
    Put line ends back in the place of dots, piece by piece.

    >>> DotMender().feed(b'event: a.data: {"x":"e.g.","y":0.5}..data: [DONE]..')
    b'event: a\ndata: {"x":"e.g.","y":0.5}\n\ndata: [DONE]\n\n'
    """

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._held = b""  # what could not be judged without what follows
        self._before = b""  # the end of what was handed on
        self._has_closed = False  # that ends in the end of a value

    def feed(self, data: bytes) -> bytes:
        """Return *data*, a piece as it was received, with line ends."""
        data = self._held + data
        self._held = b""
        mended: list[bytes] = []
        at = 0
        while at < len(data):
            step = self._string if self._in_string else self._json if self._depth else self._between
            piece, at = step(data, at)
            mended.append(piece)
            self._before = (self._before + piece[-8:])[-8:]
        return b"".join(mended)

    def _event(self, data: bytes, at: int) -> bytes:
        """Return the event on a line of its own that is at *at*, as most are, or nothing."""
        found = EVENT.match(data, at) if self._before[-1:] in (b"", b"\n") else None
        if found is None:
            return b""
        bare = STRING.sub(b"", found[1])
        is_whole = bare.count(b"{") == bare.count(b"}") and bare.count(b"[") == bare.count(b"]")
        return found[1] if is_whole else b""

    def finish(self) -> bytes:
        """Return what could not be judged, since nothing follows."""
        held, self._held = self._held, b""
        return held

    def _string(self, data: bytes, at: int) -> tuple[bytes, int]:
        end = STRING_END.match(data, at)
        if end is not None:
            self._in_string = False
            return end[0], end.end()
        slashes = len(data) - max(len(data.rstrip(b"\\")), at)
        size = len(data) - slashes % 2  # an escape may go on in the next piece
        self._held = data[size:]
        return data[at:size], len(data)

    def _json(self, data: bytes, at: int) -> tuple[bytes, int]:
        mark = IN_JSON.search(data, at)
        if mark is None:
            return data[at:], len(data)
        text = data[at : mark.start()]
        if mark[0] != b".":
            self._in_string = mark[0] == b'"'
            self._depth += (mark[0] in b"{[") - (mark[0] in b"}]")
            self._has_closed = not self._depth
            return text + mark[0], mark.end()
        before = (self._before + text)[-1:]
        if before.isdigit() and mark.end() == len(data):
            self._held = b"."
            return text, len(data)
        is_point = before.isdigit() and data[mark.end() : mark.end() + 1].isdigit()
        return text + (b"." if is_point else b"\n"), mark.end()

    def _between(self, data: bytes, at: int) -> tuple[bytes, int]:
        if event := self._event(data, at):  # sooner than step by step
            self._has_closed = True
            return event + b"\n\n", at + len(event) + 2
        mark = BETWEEN.search(data, at)
        if mark is None:
            return data[at:], len(data)
        text = data[at : mark.start()]
        has_closed, self._has_closed = self._has_closed and not text, False
        if mark[0] == b"." and CUT_FIELD.match(data, mark.end()):
            self._held, self._has_closed = data[mark.start() :], has_closed
            return text, len(data)
        if mark[0] != b".":
            self._depth = int(VALUE_START.search(self._before + text) is not None)
            return text + mark[0], mark.end()
        is_end = has_closed or FIELD_START.match(data, mark.end()) is not None
        self._has_closed = has_closed  # further line ends may follow
        return text + (b"\n" if is_end else b"."), mark.end()
