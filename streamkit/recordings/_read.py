"""From a source in any form to its recordings, and to the outcome of each stream."""

from __future__ import annotations

import re

from collections.abc import Iterator, Mapping

import attrs

from streamkit._clock import Clock
from streamkit._issues import Issue
from streamkit._json import Backend
from streamkit._kinds import Kind
from streamkit._limits import Limits
from streamkit._outcome import Outcome
from streamkit._rebuild import Options, Source, outcomes, source_blocks
from streamkit._rules import Rule

from ._pieces import ReadOptions, Recording
from ._registry import HEAD, form_named, sniff
from ._wrappers import peel


__all__ = ["read", "rebuild"]

# A whole line that only server-sent events start with.
EVENT_LINE = re.compile(rb"(?:\xef\xbb\xbf)?(?:(?:data|event|id|retry)[ \t]*:|:)[^\n]*\n")


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
    blocks, notes = peel(source_blocks(source), options.limits)
    head, blocks = _head_of(blocks)
    found = sniff(head) if form == "auto" else form_named(form)
    for recording in found.read(blocks, options):
        yield attrs.evolve(recording, notes=(*notes, *recording.notes))


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
    for recording in read(source, form=form, options=options):
        if recording.pieces == ():
            nothing = _noted(Outcome(response=None, complete=False), recording.notes)
            if strict:
                nothing.raise_if_incomplete()
            yield nothing
            continue
        clock = Clock()
        for outcome in outcomes(_blocks_of(recording, clock), how, clock):
            yield _noted(outcome, recording.notes)


def _blocks_of(recording: Recording, clock: Clock) -> Iterator[bytes]:
    for piece in recording.pieces:
        clock.feed(piece.data, piece.time)
        yield piece.data


def _noted(outcome: Outcome, notes: tuple[Issue, ...]) -> Outcome:
    if not notes:
        return outcome
    counts = dict(outcome.issue_counts)
    for note in notes:
        counts[note.code] = counts.get(note.code, 0) + 1
    return attrs.evolve(outcome, issues=(*notes, *outcome.issues), issue_counts=counts)
