"""
What every live reader does with what comes: bytes into chunks, chunks into one
accumulator, and one outcome of both.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Mapping
from os import PathLike
from typing import Any, TypedDict

from ._accumulator import Accumulator
from ._choice import ChoiceAccumulator
from ._chunks import ChunkReader
from ._errors import FramingError, InvalidChunk, LimitExceeded, StreamkitError, UpstreamError
from ._issues import Issue, IssueLog
from ._json import Backend
from ._kinds import Kind
from ._limits import Limits
from ._other_forms import HEAD, hint
from ._outcome import Outcome
from ._plain import as_plain
from ._rules import Rule


__all__ = ["BLOCKS", "Intake", "IntakeOptions", "iterable"]

BLOCKS = (bytes, bytearray, memoryview, str)
FAILURES = (FramingError, InvalidChunk, LimitExceeded, UpstreamError)


class IntakeOptions(TypedDict, total=False):
    """
    How to take a stream; all of it may be left out.

    Attributes:
        kind: `"chat"` or `"completion"`; None: the chunks tell.
        strict: End at the first repair, and unless the stream is complete.
        limits: Bounds on input and result.
        rules: Merge rules for a provider's own fields.
        cumulative: Each piece of text repeats all before it.
        json: The library to decode JSON with; the result is the same with each.
    """

    kind: Kind | None
    strict: bool
    limits: Limits
    rules: Mapping[str, Rule] | None
    cumulative: bool
    json: Backend


class Intake:
    """
    Take a stream as bytes, text or chunk objects.

    Attributes:
        accumulator: The response so far.
        failure: What ended the stream before its end, or None.
        outcome: The outcome, after `finish`; None before.
    """

    def __init__(
        self,
        *,
        kind: Kind | None = None,
        strict: bool = False,
        limits: Limits = Limits(),
        rules: Mapping[str, Rule] | None = None,
        cumulative: bool = False,
        json: Backend = "auto",
    ) -> None:
        self.accumulator = Accumulator(
            kind, strict=strict, limits=limits, rules=rules, cumulative=cumulative
        )
        self.reader = ChunkReader(strict=strict, limits=limits, json=json)
        self.failure: StreamkitError | None = None
        self.outcome: Outcome | None = None
        self._keep = limits.issues
        self._is_bytes = False
        self._first: list[bytes] = []  # blocks, as many as have HEAD bytes
        self._to_note = HEAD  # bytes that are still wanted

    def chunks_of(self, item: Any) -> list[Any]:
        """
        Return the chunks that *item* completes: a block of bytes or text, or a chunk.

        An error of the framing is not raised but kept as `failure`; the chunks before
        it are returned.
        """
        if not isinstance(item, BLOCKS):
            return [item]
        if isinstance(item, str):
            item = item.encode("utf-8", "surrogatepass")
        data = bytes(item)
        if self._to_note > 0:
            self._note(data)
        try:
            return self.reader.feed(data)
        except (FramingError, LimitExceeded) as error:
            return self._before(error)

    def _note(self, data: bytes) -> None:
        self._is_bytes = True
        self._first.append(data[:HEAD])
        self._to_note -= len(data)

    def rest(self) -> list[Any]:
        """Return the chunks that the end of the input completes."""
        if not self._is_bytes or self.failure is not None:
            return []
        try:
            return self.reader.finish()
        except (FramingError, LimitExceeded) as error:
            return self._before(error)

    def _before(self, error: StreamkitError) -> list[Any]:
        """Take note of the *error*; return the chunks before it, which come first."""
        chunks: list[Any] = error.partial
        self.failure = error
        return chunks

    def merge(self, chunk: Any) -> tuple[ChoiceAccumulator | None, Any]:
        """
        Merge *chunk*; what it raises is not raised, but kept as `failure`.

        Returns:
            The choice whose texts grew, if the chunk has nothing else that the choice's
            last chunk had not; or None, and the chunk as JSON data.
        """
        plain = None
        try:
            choice = self.accumulator.add_alike(chunk)
            if choice is not None:
                return choice, None
            plain = as_plain(chunk)
            self.accumulator.add_and_learn(plain)
        except FAILURES as error:
            self.failure = error
        return None, plain

    @property
    def logs(self) -> tuple[list[Issue], list[Issue]]:
        """The issues so far, of the framing and of the merging; the lists grow."""
        return self.reader.log.issues, self.accumulator.context.log.issues

    def finish(self) -> Outcome:
        """Take note of the end of the stream; return the outcome."""
        if self.failure is not None and not self.accumulator.has_failed:
            self.accumulator.fail(self.failure)
        reader = self.reader
        outcome = self.accumulator.finish(
            done=reader.done if self._is_bytes else None, cut=reader.cut
        )
        is_empty = outcome.response is None and outcome.error is None
        if found := hint(self._first, is_empty=is_empty):
            IssueLog.add(reader.log, *found)  # told only, in strict mode too
        self.outcome = outcome.among(reader.issues, reader.log.counts, self._keep)
        return self.outcome


def iterable(source: Any) -> Iterable[Any]:
    """
    Return *source*, an iterable of blocks or of chunks.

    Raises:
        TypeError: If it is one block, a path, an async iterable, or no iterable at all.
    """
    name = type(source).__name__
    wanted = f"source must be an iterable of blocks or chunks, not {name}"
    if isinstance(source, (*BLOCKS, dict, PathLike)):
        raise TypeError(f"{wanted}; for what is whole there is rebuild()")
    if not isinstance(source, Iterable):
        if isinstance(source, AsyncIterable):
            raise TypeError(f"source is async ({name}): AsyncStream and atee read it")
        if not hasattr(source, "__getitem__"):  # iter() takes a sequence of the old kind, too
            raise TypeError(wanted)
    items: Iterable[Any] = source
    return items
