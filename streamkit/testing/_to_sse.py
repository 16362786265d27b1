"""Chunks in, the bytes of an event stream out: `to_sse`."""

from __future__ import annotations

import json
import re

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from streamkit._errors import InvalidChunk, quote
from streamkit._plain import as_plain
from streamkit._sse import ServerSentEvent

from ._dialects import Dialect, dialect_of


__all__ = ["to_sse"]

BOM: Final = "\ufeff"
NEWLINES = ("\n", "\r\n", "\r")
LINE_ENDS = re.compile(r"\r\n|\r|\n")
HALF = re.compile("[\ud800-\udfff]")


def to_sse(
    chunks: Iterable[Any],
    *,
    newline: str = "\n",
    comments: str | Mapping[int, str] | None = None,
    ids: bool | Callable[[int], str] = False,
    event: str = "",
    retry: int | None = None,
    done: bool | None = None,
    bom: bool = False,
    space: bool = True,
    ascii: bool = False,
    dialect: str | Dialect = "openai",
) -> bytes:
    r"""
    Return *chunks* as the bytes of an event stream, UTF-8.

    Args:
        chunks: Chunks (dicts, models, objects with `model_dump()`), and
            `ServerSentEvent`s where an event of another shape is wanted.
        newline: What ends a line: `"\n"`, `"\r\n"` or `"\r"`.
        comments: Comments, as keep-alives are: one before each event, or by the
            number of the event that they come before, counted from 0; `[DONE]`
            counts.  None: those of the dialect.
        ids: Each event has an id: its number, or what is returned for the number.
        event: The type of each event; `""` for no `event` field.
        retry: Reconnection time in milliseconds, sent once, before all events.
        done: `[DONE]` is the last event.  None: as the dialect has it.
        bom: Begin with a byte order mark.
        space: A space follows each colon.
        ascii: Characters beyond ASCII are escaped in JSON.
        dialect: A `Dialect`, or the name of one in `DIALECTS`.

    Raises:
        InvalidChunk: If a chunk is no object, or no JSON: NaN, say.
        TypeError: If an argument is wrong.

    >>> to_sse([{"choices": []}], comments={1: "bye"})
    b'data: {"choices":[]}\n\n: bye\n\ndata: [DONE]\n\n'
    """
    way = dialect_of(dialect)
    write = _Writer(newline, ": " if space else ":")
    said = _comments(way.comments if comments is None else comments)
    events = [_as_event(chunk, number, event, ascii=ascii) for number, chunk in enumerate(chunks)]
    if way.done if done is None else done:
        events.append(ServerSentEvent(event, "[DONE]", "", None))
    blocks = [BOM] if bom else []
    if retry is not None:
        blocks.append(write.block([("retry", _reconnection(retry))]))
    for number, each in enumerate(events):
        blocks += [write.comment(said(number))] if said(number) else []
        blocks.append(write.event(each, _id(ids, number, each)))
    blocks += [write.comment(said(len(events)))] if said(len(events)) else []
    return "".join(blocks).encode()


class _Writer:
    """Lines of the format: field, colon, value, newline; a blank line ends a block."""

    def __init__(self, newline: str, colon: str) -> None:
        if newline not in NEWLINES:
            raise TypeError(f"newline must be one of {NEWLINES}, not {newline!r}")
        self._newline = newline
        self._colon = colon

    def block(self, fields: Iterable[tuple[str, str]]) -> str:
        lines = [
            f"{name}{self._colon}{line}"
            for name, value in fields
            for line in LINE_ENDS.split(value)
        ]
        return "".join(line + self._newline for line in [*lines, ""])

    def comment(self, text: str) -> str:
        return self.block([("", text)])

    def event(self, event: ServerSentEvent, identity: str) -> str:
        fields = [("id", identity)] if identity else []
        fields += [("event", _one_line(event.event))] if event.event not in {"", "message"} else []
        fields += [("retry", _reconnection(event.retry))] if event.retry is not None else []
        return self.block([*fields, ("data", event.data)])


def _comments(comments: str | Mapping[int, str]) -> Callable[[int], str]:
    if isinstance(comments, str):
        return lambda _: comments
    if isinstance(comments, Mapping):
        return lambda number: comments.get(number, "")
    raise TypeError(f"comments must be a string or a mapping, not {comments!r}")


def _reconnection(retry: int) -> str:
    if type(retry) is not int or retry < 0:
        raise TypeError(f"retry must be milliseconds, not {retry!r}")
    return str(retry)


def _id(ids: bool | Callable[[int], str], number: int, event: ServerSentEvent) -> str:
    return _one_line(ids(number) if callable(ids) else str(number) if ids else event.id)


def _one_line(value: str) -> str:
    if LINE_ENDS.search(value) or "\0" in value:  # "if the field value contains NULL, ignore"
        raise TypeError(f"ids and types have no newline and no NUL: {quote(value)}")
    return value


def _as_event(chunk: Any, number: int, event: str, *, ascii: bool) -> ServerSentEvent:
    if isinstance(chunk, ServerSentEvent):
        return chunk
    plain = as_plain(chunk)
    if type(plain) is not dict:
        raise InvalidChunk(f"chunk {number} is {quote(chunk)}", path=f"$[{number}]")
    try:
        data = json.dumps(plain, ensure_ascii=ascii, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidChunk(f"chunk {number} is no JSON: {error}", path=f"$[{number}]") from None
    return ServerSentEvent(event, HALF.sub(_escaped, data), "", None)


def _escaped(half: re.Match[str]) -> str:
    return f"\\u{ord(half[0]):04x}"
