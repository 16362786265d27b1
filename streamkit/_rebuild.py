"""Any source in, outcomes out: `rebuild` and `rebuild_all`, the main job in one call."""

from __future__ import annotations

import io
import os

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import attrs

from ._accumulator import Accumulator
from ._clock import Clock
from ._errors import (
    FramingError,
    InvalidChunk,
    LimitExceeded,
    StreamkitError,
    UnknownForm,
    UpstreamError,
)
from ._framing import Framer
from ._issues import Issue, IssueLog, StrictLog
from ._json import Backend, Decoder
from ._kinds import Kind
from ._limits import Limits
from ._merging_road import MergingRoad
from ._other_forms import HEAD, hint, other_form
from ._outcome import Outcome
from ._payloads import Frame
from ._plain import as_plain
from ._rules import Rule
from ._streams import StreamSplitter


__all__ = [
    "FORMS",
    "Options",
    "Source",
    "beside",
    "counted",
    "outcomes",
    "rebuild",
    "rebuild_all",
    "source_blocks",
]

Source: TypeAlias = (
    bytes | bytearray | memoryview | str | os.PathLike[str] | BinaryIO | Iterable[Any]
)

# Forms that the lenient framing reads without being told which it is.
FORMS = ("auto", "sse", "json", "jsonl")
BLOCK = 1 << 18


@attrs.frozen(kw_only=True)
class Options:
    """How to rebuild; see `rebuild_all`."""

    kind: Kind | None
    strict: bool
    limits: Limits
    rules: Mapping[str, Rule] | None
    cumulative: bool
    json: Backend

    def __attrs_post_init__(self) -> None:
        self.accumulator()  # wrong arguments are a TypeError here, not at the first outcome
        Decoder(self.json)

    def accumulator(self) -> Accumulator:
        return Accumulator(
            self.kind,
            strict=self.strict,
            limits=self.limits,
            rules=self.rules,
            cumulative=self.cumulative,
        )

    def log(self) -> IssueLog:
        return (StrictLog if self.strict else IssueLog)(self.limits.issues)


def rebuild(
    source: Source,
    *,
    form: str = "auto",
    kind: Kind | None = None,
    strict: bool = False,
    limits: Limits = Limits(),
    rules: Mapping[str, Rule] | None = None,
    cumulative: bool = False,
    json: Backend = "auto",
) -> Outcome:
    """
    Return the outcome of the stream in *source*: the full response, and the truth about it.

    Of several streams it is the first, with the issue `several_streams`; use
    `rebuild_all` for all.  Arguments and errors are those of `rebuild_all`.

    >>> outcome = rebuild('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}')
    >>> outcome.response.choices[0].message.content, outcome.complete
    ('Hi', False)
    """
    outcomes = rebuild_all(
        source,
        form=form,
        kind=kind,
        strict=strict,
        limits=limits,
        rules=rules,
        cumulative=cumulative,
        json=json,
    )
    first = next(outcomes)
    return beside(first, sum(1 for _ in outcomes))  # counted, not kept


def beside(first: Outcome, others: int) -> Outcome:
    """Return *first* with the issue that there are *others* besides it, if there are."""
    if not others:
        return first
    text = f"the recording holds {others} more; use rebuild_all"
    return _with_issue(first, Issue("several_streams", text))


def _with_issue(outcome: Outcome, issue: Issue) -> Outcome:
    counts = {**outcome.issue_counts, issue.code: 1}
    return attrs.evolve(outcome, issues=(*outcome.issues, issue), issue_counts=counts)


def rebuild_all(
    source: Source,
    *,
    form: str = "auto",
    kind: Kind | None = None,
    strict: bool = False,
    limits: Limits = Limits(),
    rules: Mapping[str, Rule] | None = None,
    cumulative: bool = False,
    json: Backend = "auto",
) -> Iterator[Outcome]:
    """
    Return the outcomes of all streams in *source*, in order of first appearance.

    A source without any stream has one outcome, with no response and an issue
    that says what the source looks like.

    Args:
        source: The recording: bytes, its text as str, a path (`pathlib.Path`), a
            binary file, or an iterable of bytes or of chunks.
        form: `"auto"`, or one of `"sse"`, `"json"`, `"jsonl"`; for all others
            there is `streamkit.recordings.rebuild`.
        kind: `"chat"` or `"completion"`; None: the chunks tell.
        strict: Raise at the first repair, and unless each stream is complete.
        limits: Bounds on input and result; crossing one ends the outcome with
            `LimitExceeded` as its error.
        rules: Merge rules for a provider's own fields.
        cumulative: Each piece of text repeats all before it.
        json: The library to decode JSON with; the result is the same with each.

    Raises:
        TypeError: If *source* is none of these.
        UnknownForm: If *form* is not known.
        OSError: If a path or a file cannot be read.
        StreamkitError: In strict mode, what is wrong with the stream.
    """
    if form not in FORMS:
        raise UnknownForm(
            f"form must be one of {', '.join(FORMS)}, not {form!r}; "
            f"other forms are read by streamkit.recordings.rebuild"
        )
    options = Options(
        kind=kind, strict=strict, limits=limits, rules=rules, cumulative=cumulative, json=json
    )
    blocks = _blocks(source)
    if blocks is not None:
        return _from_blocks(blocks, options)
    return _from_items(source, options)


# -- Sources -------------------------------------------------------------------------


def _blocks(source: Any) -> Iterator[bytes] | None:
    """Return the bytes of *source* in blocks, or None if it is some other iterable."""
    if isinstance(source, str):
        source = source.encode("utf-8", "surrogatepass")
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _slices(bytes(source))
    if isinstance(source, os.PathLike):
        return _file_blocks(Path(source))
    if isinstance(source, io.TextIOBase):
        raise TypeError("the file is open as text; open it with mode 'rb'")
    if hasattr(source, "read"):
        return _read_blocks(source)
    if not isinstance(source, Iterable) and as_plain(source) is source:
        raise TypeError(
            f"source must be bytes, str, a path, a binary file or an iterable of bytes "
            f"or chunks, not {type(source).__name__}"
        )
    return None


def source_blocks(source: Source) -> Iterator[bytes]:
    """
    Return the bytes of *source*, in blocks.

    Raises:
        TypeError: If it is none of bytes, text, a path, a binary file, or an
            iterable of bytes.
    """
    blocks = _blocks(source)
    items: Any = source
    return _encoded(iter(items)) if blocks is None else blocks


def counted(source: Source, add: Callable[[int], None]) -> Iterator[bytes]:
    """Yield the blocks of *source*, and tell *add* the size of each before it."""
    for block in source_blocks(source):
        add(len(block))
        yield block


def _slices(data: bytes) -> Iterator[bytes]:
    return (data[start : start + BLOCK] for start in range(0, len(data), BLOCK))


def _file_blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from _read_blocks(file)


def _read_blocks(file: BinaryIO) -> Iterator[bytes]:
    # read1 hands on what is there: a live pipe is not waited on for a whole block.
    read = getattr(file, "read1", file.read)
    while block := read(BLOCK):
        if isinstance(block, str):
            raise TypeError("the file is open as text; open it with mode 'rb'")
        yield block


def _from_items(source: Any, options: Options) -> Iterator[Outcome]:
    """Tell an iterable of bytes from one of chunks by its first item."""
    if isinstance(as_plain(source), dict):
        source = [source]  # one chunk, or one whole response
    items = iter(source)
    first = next(items, None)
    is_text = isinstance(first, (bytes, bytearray, memoryview, str))
    items = _rejoined([first], items)
    del first  # a block that is kept would add to the memory all along
    yield from _from_blocks(_encoded(items), options) if is_text else _from_chunks(items, options)


def _from_blocks(blocks: Iterator[bytes], options: Options) -> Iterator[Outcome]:
    """Return the outcomes of all streams in *blocks*; if there is none, say what it may be."""
    first: list[bytes] = []
    try:
        for outcome in outcomes(chain(_noted(blocks, first), blocks), options):
            yield _hinted(outcome, first)
    except StreamkitError as failure:  # of strict mode
        bare, form = hint(first, is_empty=False), other_form(b"".join(first), is_empty=False)
        if bare or (form and failure.partial is None):
            failure.add_note(bare[1] if bare else form)
        raise


def _noted(blocks: Iterator[bytes], first: list[bytes]) -> Iterator[bytes]:
    """Yield as many of *blocks* as have `HEAD` bytes, and keep the starts of them in *first*."""
    size = 0
    while size < HEAD and (block := next(blocks, None)) is not None:
        first.append(block[:HEAD])
        size += len(block)
        yield block
        del block  # so that no two are held


def _hinted(outcome: Outcome, first: list[bytes]) -> Outcome:
    """Return *outcome* with what is to be said of its source, whose *first* blocks are these."""
    found = hint(first, is_empty=outcome.response is None and outcome.error is None)
    return outcome if found is None else _with_issue(outcome, Issue(*found))


def _rejoined(first: list[Any], items: Iterator[Any]) -> Iterator[Any]:
    yield first.pop()
    yield from items


def _encoded(items: Iterator[Any]) -> Iterator[bytes]:
    for item in items:
        if isinstance(item, str):
            yield item.encode("utf-8", "surrogatepass")
        elif isinstance(item, (bytes, bytearray, memoryview)):
            yield bytes(item)
        else:
            raise TypeError(f"an iterable of bytes yielded {type(item).__name__}")
        del item


# -- The way from source to outcomes -------------------------------------------------


def _from_chunks(items: Iterator[Any], options: Options) -> Iterator[Outcome]:
    splitter = StreamSplitter(options.accumulator, options.log(), owned=False, framed=False)
    for event, item in enumerate(items):
        splitter.take(Frame(as_plain(item), event, None, clean=False))
        yield from _checked(splitter.drain(), options)
    yield from _checked(splitter.finish(), options)


def outcomes(
    blocks: Iterable[bytes], options: Options, clock: Clock | None = None
) -> Iterator[Outcome]:
    """Return the outcomes of all streams in *blocks*, with timing if *clock* knows their times."""
    log = options.log()
    splitter = StreamSplitter(options.accumulator, log, owned=True, framed=True, clock=clock)
    decoder = Decoder(options.json, options.limits)
    road: Framer | MergingRoad
    if options.cumulative:  # each piece replaces what it repeats: no run is alike
        road = Framer(log, options.limits, decoder, splitter.take)
    else:
        road = MergingRoad(splitter, log, options.limits, decoder, clock)
    error: StreamkitError | None = None
    try:
        for block in blocks:
            road.feed(block)
            del block  # so that no two are held while the next is read
            yield from _checked(splitter.drain(), options)
        road.finish()
    except (FramingError, InvalidChunk, UpstreamError, LimitExceeded) as failure:
        if options.strict or not isinstance(failure, LimitExceeded):
            yield from _checked(splitter.drain(), options)  # what ended before is whole
            failure.partial = splitter.snapshot()
            raise
        error = failure
    yield from _checked(splitter.finish(cut=road.cut, error=error), options)


def _checked(outcomes: list[Outcome], options: Options) -> list[Outcome]:
    """In strict mode, raise unless each of *outcomes* is complete."""
    if options.strict:
        for outcome in outcomes:
            outcome.raise_if_incomplete()
    return outcomes
