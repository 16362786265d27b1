"""Bodies in, rows out, and never an error for one of them: `rebuild_batch`."""

from __future__ import annotations

import os

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from numbers import Number
from typing import Any

import attrs

from streamkit._errors import EmptyStream
from streamkit._json import Backend
from streamkit._kinds import Kind
from streamkit._limits import Limits
from streamkit._outcome import Outcome
from streamkit._plain import as_plain
from streamkit._rebuild import Options, Source, beside, rebuild_all
from streamkit.recordings import ReadOptions, Recording, rebuild
from streamkit.recordings._read import outcomes_of
from streamkit.recordings._registry import form_named
from streamkit.recordings._row_values import as_bytes

from ._row import Row, error_cells, row_of, row_of_error
from ._values import value_of


__all__ = ["Reading", "rebuild_batch", "row_of_body", "row_of_recording", "rows_of"]

TEXT = (bytes, bytearray, memoryview, str)
# The types of the nulls of pandas, which is not loaded for them.
NULLS = ("NAType", "NaTType")


@attrs.frozen(kw_only=True)
class Reading:
    """
    How bodies are read, checked when it is made; it can be sent to other processes.

    Attributes:
        form: The form of each body, or `"auto"`.
        kind: `"chat"` or `"completion"`; None: the chunks tell.
        cumulative: Each piece of text repeats all before it.
        limits: Bounds on one body and its response.
        options: How rows inside of a recording are read.
        json: The library to decode JSON with; the result is the same with each.
    """

    form: str = "auto"
    kind: Kind | None = None
    cumulative: bool = False
    limits: Limits = Limits()
    options: ReadOptions = ReadOptions()
    json: Backend = "auto"

    def __attrs_post_init__(self) -> None:
        if self.form != "auto":
            form_named(self.form)
        self.merging()

    def merging(self) -> Options:
        """Return how chunks are merged."""
        return Options(
            kind=self.kind,
            strict=False,
            limits=self.limits,
            rules=None,
            cumulative=self.cumulative,
            json=self.json,
        )


def rebuild_batch(
    bodies: Iterable[Any],
    *,
    form: str = "auto",
    kind: Kind | None = None,
    cumulative: bool = False,
    limits: Limits = Limits(),
) -> list[Row]:
    """
    Return a row for each of *bodies*, in their order; whatever a body is, it is no error.

    A row is a dict with the same keys for each body, made of texts, integers, truth
    values and lists of texts, so that it fits a table:

    - `response`: the full response as JSON; null if there is none.
    - `text`: the text of the first choice; null if it has none, but tool calls.
    - `finish_reasons`: one for each choice; null where a choice has none.
    - `usage`: all that the server said of it, as JSON.
    - `prompt_tokens`, `completion_tokens`, `total_tokens`: integers, or null.
    - `chunks`: how many chunks there were; null if the body could not be read.
    - `complete`: whether nothing is missing; see `Outcome.complete`.
    - `error_code`, `error_message`: what ended the stream, or why there is no
      response; null if nothing did.  The codes are those of streamkit's errors;
      `wrong_type` if the body is none of what it may be.
    - `issue_codes`: each code of `ISSUES` that came.
    - `issues`: all issues as JSON: an array of objects with `code`, `message`,
      `event` and `offset`.

    Of a body with several streams it is the first, with the issue `several_streams`.

    The function and its rows can be pickled: any pool of processes can run it, and
    any engine that runs Python functions.

    Args:
        bodies: Each is bytes or text; a list of chunks, as dicts or as text; a
            chunk or a whole response as a dict or an object of openai or pydantic;
            or None.  So are the values of a column of Arrow, Polars or pandas.
        form: The form of each body, a key of `streamkit.recordings.FORMS`;
            `"auto"` looks at its first bytes.
        kind: As for `streamkit.rebuild_all`.
        cumulative: Likewise.
        limits: Likewise, for each body by itself.

    Raises:
        UnknownForm: If *form* is not known.
        TypeError: If another argument is wrong.

    >>> good = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}'
    >>> for row in rebuild_batch([good, b"PK", None]):
    ...     print(row["text"], row["complete"], row["error_code"])
    Hi True None
    None False empty_stream
    None False empty_stream
    """
    if isinstance(bodies, (*TEXT, dict)):
        raise TypeError(f"bodies must be a collection of bodies, not {type(bodies).__name__}")
    reading = Reading(form=form, kind=kind, cumulative=cumulative, limits=limits)
    return [row_of_body(body, reading) for body in bodies]


def rows_of(source: Source, reading: Reading) -> Iterator[Row]:
    """Yield a row for each stream in *source*, a recording; an error is the last of them."""
    return map(_row, _caught(partial(_recorded, source, reading)))


def row_of_body(body: Any, reading: Reading) -> Row:
    """Return the row of *body*."""
    return _first_row(_caught(partial(_of_body, body, reading)))


def row_of_recording(recording: Recording, reading: Reading) -> Row:
    """Return the row of the first stream in *recording*."""
    return _first_row(_caught(partial(outcomes_of, recording, reading.merging())))


# -- Reading -------------------------------------------------------------------------


def _of_body(body: Any, reading: Reading) -> Iterator[Outcome]:
    """
    Yield the outcomes of the streams in *body*.

    Raises:
        EmptyStream: If it is null.
        TypeError: If it is none of what a body may be.
    """
    if hasattr(body, "as_py"):  # a scalar of Arrow
        body = value_of(body)
    if _is_null(body):
        raise EmptyStream("the body is null")
    chunks = body if isinstance(body, TEXT) else _chunks(body)
    if isinstance(chunks, TEXT):
        return _recorded(as_bytes(chunks), reading)
    how = reading.merging()
    return rebuild_all(
        chunks, kind=how.kind, limits=how.limits, cumulative=how.cumulative, json=how.json
    )


def _is_null(body: Any) -> bool:
    if body is None or type(body).__name__ in NULLS:
        return True
    return isinstance(body, Number) and body != body  # noqa: PLR0124 -- NaN, of pandas too


def _chunks(body: Any) -> Any:
    """
    Return *body*, which is no text, as a dict, a list of chunks, or the text of those.

    Raises:
        TypeError: If it is none of what a body may be.
    """
    plain = as_plain(body)
    if isinstance(plain, dict):
        return plain
    if not isinstance(plain, Iterable) or isinstance(plain, os.PathLike) or hasattr(plain, "read"):
        raise TypeError(f"a body must be bytes, text or chunks, not {type(body).__name__}")
    return _joined([item for item in plain if item is not None])


def _joined(chunks: list[Any]) -> Any:
    """
    Return *chunks* as one text if they are texts.

    Lines have empty ones among them; pieces of a stream have line ends; else each is
    a chunk of its own.
    """
    if not chunks or not all(isinstance(chunk, TEXT) for chunk in chunks):
        return chunks
    data = [as_bytes(chunk) for chunk in chunks]
    if any(chunk.endswith((b"\n", b"\r")) for chunk in data):
        return b"".join(data)
    return (b"\n" if b"" in data else b"\n\n").join(data)


def _recorded(source: Source, reading: Reading) -> Iterator[Outcome]:
    return rebuild(
        source,
        form=reading.form,
        options=reading.options,
        kind=reading.kind,
        limits=reading.limits,
        cumulative=reading.cumulative,
        json=reading.json,
    )


def _caught(read: Callable[[], Iterator[Outcome]]) -> Iterator[Outcome | Exception]:
    """Yield what *read* gives, one at least; the error that ends it is the last."""
    is_empty = True
    try:
        for outcome in read():
            yield outcome
            is_empty = False
    except Exception as error:  # noqa: BLE001 -- a body may cost its own row, never the others
        yield error
    else:
        if is_empty:
            yield EmptyStream("the recording holds no exchange")


# -- Rows ----------------------------------------------------------------------------


def _row(found: Outcome | Exception) -> Row:
    try:
        return row_of(found) if isinstance(found, Outcome) else row_of_error(found)
    except Exception as error:  # noqa: BLE001 -- nested too deep to be written, say
        return row_of_error(error)


def _first_row(found: Iterator[Outcome | Exception]) -> Row:
    """Return the row of the first that is *found*, and how many others there are."""
    first = next(found)
    others, error = 0, None
    for other in found:
        if isinstance(other, Outcome):
            others += 1
        else:
            error = other
    row = _row(beside(first, others) if isinstance(first, Outcome) else first)
    return row if error is None else {**row, "complete": False, **error_cells(error)}
