"""From a source in any form to its recordings, and to the outcome of each stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from streamkit._clock import Clock
from streamkit._errors import StreamkitError
from streamkit._issues import Issue
from streamkit._json import Backend
from streamkit._kinds import Kind
from streamkit._limits import Limits
from streamkit._outcome import Outcome
from streamkit._rebuild import Options, Source, outcomes, source_blocks
from streamkit._rules import Rule

from ._joined import blocks_of
from ._mojibake import fixed_lines
from ._pieces import ReadOptions, Recording
from ._registry import HEAD, form_named, form_of
from ._wrapped import EVENT_LINE
from ._wrappers import Peeled, peel


__all__ = ["outcomes_of", "read", "rebuild"]

# Forms whose bytes are no text, or which look into their texts themselves.
NO_TEXT = frozenset({"har", "mitmproxy", "other-file", "parquet", "pickle"})


def read(
    source: Source, *, form: str = "auto", options: ReadOptions = ReadOptions()
) -> Iterator[Recording]:
    """
    Return the recordings in *source*, one for each exchange.

    Args:
        source: Bytes, text, a path, a binary file, or an iterable of bytes.
            Compression and UTF-16 come off first, one level.
        form: The name of a form, a key of `FORMS`; `"auto"` looks at the bytes.
        options: How to read rows, and the bounds.

    Raises:
        UnknownForm: If the form is not known, or cannot be read; the message
            says what can be done.
        LimitExceeded: If it expands to more than `Limits.decompressed`.
        OSError: If a path or a file cannot be read.

    >>> [recording] = read(b'data: {"choices": []}')
    >>> [piece.data for piece in recording.pieces]
    [b'data: {"choices": []}']
    """
    peeled, recordings = _opened(source, form, options)
    for recording in recordings:
        notes = (*peeled.notes, *recording.notes)
        own = recording.later
        yield attrs.evolve(recording, notes=notes, later=peeled.later if own is None else own)
        if own is not None:
            own += peeled.later or ()


def _opened(source: Source, form: str, options: ReadOptions) -> tuple[Peeled, Iterator[Recording]]:
    """Return what came off *source*, and the recordings in what is left."""
    peeled = peel(source_blocks(source), options.limits)
    head, blocks = _head_of(peeled.blocks)
    found = form_of(head) if form == "auto" else form_named(form)
    if options.fix_mojibake and found.name not in NO_TEXT:
        later = [] if peeled.later is None else peeled.later
        peeled = attrs.evolve(peeled, later=later)
        blocks = fixed_lines(blocks, options.limits, later)
    return peeled, found.read(blocks, options)


def _head_of(blocks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the start of *blocks*, and all of them; what streams live is not waited for."""
    taken: list[bytes] = []
    head = b""
    while len(head) < HEAD and (block := next(blocks, None)) is not None:
        taken.append(block)
        head += block[: HEAD - len(head)]
        if EVENT_LINE.match(head):
            break
    return head, _again(taken, blocks)


def _again(taken: list[bytes], blocks: Iterator[bytes]) -> Iterator[bytes]:
    taken.reverse()
    while taken:
        yield taken.pop()
    yield from blocks


def rebuild(
    source: Source,
    *,
    form: str = "auto",
    options: ReadOptions = ReadOptions(),
    kind: Kind | None = None,
    strict: bool = False,
    limits: Limits = Limits(),
    rules: Mapping[str, Rule] | None = None,
    cumulative: bool = False,
    json: Backend = "auto",
) -> Iterator[Outcome]:
    """
    Return the outcome of each stream in *source*, whatever form it is kept in.

    What a form lacks is an issue of the outcome.  An exchange without a body has
    an outcome without a response.

    Args:
        source: As for `read`.
        form: As for `read`.
        options: As for `read`; *limits* come first.
        kind: As for `streamkit.rebuild_all`.
        strict: Likewise.
        limits: Likewise.
        rules: Likewise.
        cumulative: Likewise.
        json: Likewise.

    Raises:
        UnknownForm: As `read`.
        LimitExceeded: As `read`.
        OSError: As `read`.
        StreamkitError: In strict mode, what is wrong with a stream.

    >>> [outcome] = rebuild(b'{"object": "chat.completion", "choices": []}')
    >>> outcome.response.object
    'chat.completion'
    """
    how = Options(
        kind=kind, strict=strict, limits=limits, rules=rules, cumulative=cumulative, json=json
    )
    options = attrs.evolve(options, limits=limits)
    peeled, recordings = _opened(source, form, options)
    found = (
        outcome for recording in recordings for outcome in outcomes_of(recording, how, peeled.notes)
    )
    yield from found if peeled.later is None else _with_later(found, peeled.later)


def outcomes_of(
    recording: Recording, how: Options, notes: tuple[Issue, ...] = ()
) -> Iterator[Outcome]:
    """Return the outcome of each stream in *recording*, with *notes* and its own."""
    notes = (*notes, *recording.notes)
    return (_noted(outcome, notes) for outcome in _streams_of(recording, how))


def _streams_of(recording: Recording, how: Options) -> Iterator[Outcome]:
    if recording.later is not None:
        return _with_later(_streams_of(attrs.evolve(recording, later=None), how), recording.later)
    if recording.pieces == ():
        nothing = Outcome(response=None, complete=False)
        if how.strict:
            nothing.raise_if_incomplete()
        return iter([nothing])
    clock = Clock()
    return outcomes(blocks_of(recording.pieces, clock), how, clock)


def _with_later(found: Iterator[Outcome], later: list[Issue]) -> Iterator[Outcome]:
    """
    Yield *found*; the last of them gets what came to light at the end of the file.

    An error waits for it.
    """
    last: list[Outcome] = []
    try:
        for outcome in found:
            yield from last
            last = [outcome]
    except (StreamkitError, OSError):
        yield from (_noted(outcome, tuple(later)) for outcome in last)
        raise
    yield from (_noted(outcome, tuple(later)) for outcome in last)


def _noted(outcome: Outcome, notes: tuple[Issue, ...]) -> Outcome:
    if not notes:
        return outcome
    counts = dict(outcome.issue_counts)
    for note in notes:
        counts[note.code] = counts.get(note.code, 0) + 1
    return attrs.evolve(outcome, issues=(*notes, *outcome.issues), issue_counts=counts)
