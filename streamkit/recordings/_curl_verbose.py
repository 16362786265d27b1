"""
What `curl -v` writes, with standard error and standard output in one file:
lines of its own, marked `*`, `<`, `>`, `{` and `}`, in between those of the body.

Both come unbuffered, so that a line of curl's may stand in the middle of one of
the body, and the progress meter anywhere.
"""

from __future__ import annotations

import re

from collections.abc import Iterator

import attrs

from streamkit._limits import Limits

from ._clock import Clock
from ._curl import STATUS_LINE, Part, recordings_of
from ._pieces import Form, ReadOptions, Recording
from ._text import head_lines, lines


__all__ = ["FORMS", "Demixer"]

# With --trace-time a time stands in front, with --trace-ids the numbers of a
# connection and a transfer.
STAMP = rb"(?:(?P<time>\d\d:\d\d:\d\d\.\d{6}) )?(?:\[\S{1,40}\] )?"
MARKED = re.compile(
    STAMP + rb"(?:(?P<mark>[*<>])(?: (?P<text>[^\n]*))?|[{}] \[\d+ bytes data\])\r?\n?\Z"
)
# What curl says while data come; at the end of a line, it is glued to those.
GLUED = re.compile(
    STAMP + rb"(?:[{}] \[\d+ bytes data\]|\* (?:TLSv1\.\d \((?:IN|OUT)\), [^\n]{1,80}:"
    rb"|Connection #\d+ to host [^\n]{1,300} left intact"
    rb"|[Cc]losing connection[^\n]{0,40}|shutting down connection #\d+))\r?\n\Z"
)
GLUED_ENDS = (b"]\n", b":\n", b"t\n", b"n\n", b"\r\n", *(b"%d\n" % digit for digit in range(10)))
# Twelve columns; the last is five wide.  Possessive, so as not to try again.
METER = re.compile(
    rb"(?:\A|\r) *+\d{1,3}(?: ++[\d.]++[kMGTP]?+){7}"
    rb"(?: ++[\d:dh\-]++(?: \d\dh)?+){3} [ \d.kMGTP]{5}"
)
STREAM = re.compile(rb"(?:data|event|id|retry)?:|[{\[]")
# How such lines begin: most are of the body, and a search of each costs.
MARKED_STARTS = frozenset(b"%c" % char for char in b"*<>{}[0123456789")
METER_STARTS = frozenset(b"%c" % char for char in b" 0123456789")
METER_HEAD = re.compile(rb"  % Total    % Received|                                 Dload")


def _parts(blocks: Iterator[bytes], limits: Limits) -> Iterator[Part]:
    demixer = Demixer()
    for number, line in enumerate(lines(blocks, limits), 1):
        yield from demixer.take(line, f"line {number}")


@attrs.define
class Demixer:
    """Part what curl says from what it received."""

    clock: Clock = attrs.field(factory=Clock)
    time: float | None = None
    in_body: bool = False
    in_headers: bool = False  # in those of the standard output: with -i they are there, too
    has_begun: bool = False  # what stands before the first status, a command, was not received

    def take(self, line: bytes, place: str) -> Iterator[Part]:
        if line[:1] in METER_STARTS or b"\r" in line:
            if METER_HEAD.match(line):
                return
            line = METER.sub(b"", line)
        said = MARKED.match(line) if line[:1] in MARKED_STARTS else None
        if said is None and line.endswith(GLUED_ENDS):  # a search of each line costs
            said = GLUED.search(line)
        data = line if said is None else line[: said.start()]
        if data and (part := self._received(data, place)) is not None:
            yield part
        if said is not None and said["time"] is not None:
            self.time = self.clock.read(said["time"])[0]
        if said is not None and said.groupdict().get("mark") == b"<":
            self.in_body = False
            self.has_begun = True
            header = (said["text"] or b"").rstrip(b"\r") + b"\r\n"
            yield Part(header, is_header=True, time=self.time, place=place)

    def _received(self, data: bytes, place: str) -> Part | None:
        if not self.in_body:
            if self.in_headers or STATUS_LINE.fullmatch(data):
                self.in_headers = bool(data.strip())
                return Part(data, is_header=True, time=self.time, place=place)
            # The end of the progress meter's line, or the command that was given.
            if not data.strip() or not (self.has_begun or STREAM.match(data)):
                return None
            self.in_body = True
        return Part(data, is_header=False, time=self.time, place=place)


def _read(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    return recordings_of(_parts(blocks, options.limits), options)


def _looks(head: bytes) -> int:
    """Ask for the status, and for the request or a remark of curl's, each marked."""
    found = [MARKED.match(METER.sub(b"", line)) for line in head_lines(head)]
    said = [(match["mark"], match["text"] or b"") for match in found if match is not None]
    has_status = any(mark == b"<" and text.startswith(b"HTTP/") for mark, text in said)
    has_more = any(mark == b"*" or (mark == b">" and b" HTTP/" in text) for mark, text in said)
    return 95 if has_status and has_more else 0


FORMS = (
    Form(
        name="curl-v",
        title="a body and what curl says about it, as `curl -v` writes them",
        looks=_looks,
        read=_read,
    ),
)
