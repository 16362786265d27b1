"""
The objects of a JSON text, one after another, without loading the text whole.

A HAR of 500 MB is one JSON value: here its entries come out one by one, each as
the bytes of one object.  Strings and brackets are told apart at C speed;
what an object means is left to the decoder.
"""

from __future__ import annotations

import codecs
import re

from collections.abc import Iterator
from typing import Any

import attrs

from streamkit._errors import LimitExceeded, UnknownForm
from streamkit._issues import Issue
from streamkit._json import BadJSON, Decoder
from streamkit._limits import Limits

from ._pieces import Recording


__all__ = [
    "MEMORY",
    "CutShort",
    "after",
    "bound_of",
    "cut_recording",
    "decoded",
    "objects",
    "of_cut",
]

CUT_INSIDE = Issue("cut_file", "the file ends inside this exchange; what of it is there was read")
CUT_BETWEEN = Issue("cut_file", "the file ends before the list of exchanges does; more may be lost")
# What is held at once of a form that cannot be read piece by piece.
MEMORY = 64 << 20
# A whole string, the start of one that the block cuts, or a bracket; see `_masked`.
TOKEN = re.compile(rb'"[^"]*+"|["{}\[\]]')
# At the end of what was cut: an escape, in a string; a comma, a word or a number elsewhere.
HALF_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?\Z")
HALF_VALUE = re.compile(r"(?:,\s*|[-+.\w]+)\Z")
OPENING, CLOSING = (b"{", b"["), (b"}", b"]")


def bound_of(limits: Limits) -> int | None:
    """Return how many bytes of one recording may be held: 64 MiB, or `Limits.line` if more."""
    return None if limits.line is None else max(MEMORY, limits.line)


def after(blocks: Iterator[bytes], mark: re.Pattern[bytes], limits: Limits) -> tuple[bytes, bytes]:
    """
    Read up to *mark*.

    Returns:
        What came before it, and what of its block comes after it.

    Raises:
        UnknownForm: If it does not come.
        LimitExceeded: If too much comes before it.
    """
    bound = bound_of(limits)
    head, searched = bytearray(), 0
    for block in blocks:
        head += block
        found = mark.search(head, searched)
        if found:
            return bytes(head[: found.start()]), bytes(head[found.end() :])
        searched = max(0, len(head) - 256)  # the mark may lie across two blocks
        _check(len(head), bound)
    raise UnknownForm("the JSON lacks the list of exchanges that this form has")


def objects(
    blocks: Iterator[bytes], limits: Limits, *, rest: bytes = b"", in_list: bool = False
) -> Iterator[bytes]:
    """
    Return the outermost objects in *rest* and *blocks*: listed, or one behind another.

    They end with the input, or, if it began *in_list*, with that list.

    Raises:
        CutShort: If the input ends inside an object, or before the list does.
        LimitExceeded: If one object is too large to be held.
    """
    scan = _Scan(bound_of(limits), in_list=in_list)
    yield from scan.feed(rest)
    for block in blocks:
        if scan.is_over:
            return
        yield from scan.feed(block)
    if scan.depth or (in_list and not scan.is_over):
        raise CutShort(scan.rest() if scan.depth else b"")


class _Scan:
    """Where in the text we are."""

    def __init__(self, bound: int | None, *, in_list: bool) -> None:
        self._bound = bound
        self._in_list = in_list
        self._parts: list[bytes] = []
        self._size = 0
        self._in_string = False
        self._held = b""
        self.depth = 0
        self.is_over = False

    def feed(self, block: bytes) -> Iterator[bytes]:
        """Return the objects that *block* ends."""
        block = self._without_half_escape(self._held + block)
        masked = _masked(block)
        start = 0
        for token in TOKEN.finditer(masked, self._end_of_string(masked)):
            mark = token[0]
            if mark == b'"':
                self._in_string = True
                break
            if mark in OPENING:
                start = start if self.depth else token.start()
                self.depth += self.depth > 0 or mark == b"{"
            elif mark in CLOSING:
                if self.depth == 1:
                    yield self._taken(block[start : token.end()])
                self.is_over = self._in_list and self.depth == 0
                if self.is_over:
                    return
                self.depth = max(0, self.depth - 1)
        if self.depth:
            self._keep(block[start:])

    def rest(self) -> bytes:
        """Return what there is of an object that has no end."""
        return b"".join([*self._parts, self._held])

    def _end_of_string(self, masked: bytes) -> int:
        """Return where in *masked* the string ends that was open before it."""
        if not self._in_string:
            return 0
        end = masked.find(b'"')
        self._in_string = end < 0
        return len(masked) if self._in_string else end + 1

    def _without_half_escape(self, block: bytes) -> bytes:
        """Hold back a backslash at the end whose other half is in the next block."""
        slashes = len(block) - len(block.rstrip(b"\\"))
        self._held = b"\\" if slashes % 2 else b""
        return block[:-1] if self._held else block

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        _check(self._size, self._bound)
        self._parts.append(part)

    def _taken(self, part: bytes) -> bytes:
        whole = b"".join([*self._parts, part])
        self._parts.clear()
        self._size = 0
        return whole


def _masked(block: bytes) -> bytes:
    """Return *block* with escaped quotes made letters, so that each quote bounds a string."""
    return block.replace(b"\\\\", b"__").replace(b'\\"', b"__") if b"\\" in block else block


def _check(size: int, bound: int | None) -> None:
    if bound is not None and size > bound:
        raise LimitExceeded("line", size, bound=bound)


class CutShort(UnknownForm):
    """
    The input ends inside an object, or between two.

    Attributes:
        rest: What of it is there.
    """

    def __init__(self, rest: bytes) -> None:
        where = "inside an object" if rest else "before its list of exchanges does"
        super().__init__(f"the JSON ends {where}; the recording was cut")
        self.rest = rest


def of_cut(raw: bytes, decoder: Decoder) -> Any:
    """Return the value of *raw*, an object that was cut, with what is open closed; or None."""
    for text in _closed(raw):
        try:
            return decoder.whole(text.encode())
        except BadJSON:
            continue
        finally:
            decoder.notes.clear()
    return None


def _closed(raw: bytes) -> Iterator[str]:
    """Yield *raw* ended in each of the ways it may have gone on."""
    is_in_string = False
    open_ones: list[bytes] = []
    for mark in (token[0] for token in TOKEN.finditer(_masked(raw))):
        is_in_string = mark == b'"'
        if is_in_string:
            break  # what follows is text
        if mark in OPENING:
            open_ones.append(mark)
        elif mark in CLOSING and open_ones:
            open_ones.pop()
    end = "".join("}" if mark == b"{" else "]" for mark in reversed(open_ones))
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(raw)  # not half a character
    if is_in_string:
        text = HALF_ESCAPE.sub(r"\1", text)
        yield from (text + '"' + end, text + '":null' + end)
        return
    whole = HALF_VALUE.sub("", text)
    yield from (text + end, whole + end, whole + "null" + end, whole + ":null" + end)


def cut_recording(found: Recording | None, name: str, cut: CutShort) -> Recording:
    """Return the recording of an exchange that the file ends in: *found*, or one of that fact."""
    found = found or Recording(name=name)
    note = CUT_INSIDE if cut.rest else CUT_BETWEEN
    return attrs.evolve(found, notes=(*found.notes, note))


def decoded(raw: bytes, decoder: Decoder, place: str) -> Any:
    """
    Return the value of *raw*.

    Raises:
        UnknownForm: If it is no JSON; the message names *place*.
        LimitExceeded: If an object has too many keys.
    """
    try:
        return decoder.whole(raw)
    except BadJSON as error:
        raise UnknownForm(f"{place} cannot be read: {error.reason}") from None
    finally:
        decoder.notes.clear()
