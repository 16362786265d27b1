"""`streamkit stats`: timing, sizes, finish reasons and issues of streams."""

from __future__ import annotations

import argparse

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from streamkit._converter import to_dict
from streamkit._errors import amount
from streamkit._json import encode
from streamkit._timing import Timing

from ._columns import seconds
from ._command import Command
from ._each import add_jobs_argument, said
from ._escape import escape_line
from ._files import File
from ._inputs import Failed, add_reading_arguments
from ._output import put
from ._said import Said
from ._trace import Traced, trace_file
from ._values import spelled
from ._verdict import kind_of, state


__all__ = ["COMMAND", "NOT_TOKENS", "stats_of", "timing_lines", "total_of"]

NOT_TOKENS = "A chunk is not a token: it may hold several tokens, or a part of one."

DESCRIPTION = f"""\
Of each stream: size in bytes, chunks, characters and tokens; time to the first chunk and
to the first content; duration; the gaps between chunks (median, 95 of 100, longest);
rates; finish reasons; issues.  Of several streams, the total too.

{NOT_TOKENS}
Tokens per second are given when the server counted the tokens (usage).

With --json one object: streams, a list whose items name their file as source, and total.
"""

EXAMPLES = """\
  streamkit stats timed.jsonl                     # of one recording
  streamkit stats --json *.jsonl > figures.json   # for programs
  streamkit stats --jobs auto logs | tail -n 7    # only the total
"""

ORIGINS = {
    "request": "since the request",
    "recording": "since the recording's zero",
    "first chunk": "since the first chunk; when the request was sent is not recorded",
}
SUMMED = ("bytes", "chunks", "characters", "completion_tokens")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to *parser*."""
    add_reading_arguments(parser)
    add_jobs_argument(parser)
    parser.add_argument("--json", action="store_true", help="print JSON: the streams, the total")


def run(args: argparse.Namespace) -> int:
    """Print figures on each stream, and on all, and return the exit status."""
    status, streams = 0, []
    for one in said(args, _say):
        put(one.text)
        streams += [] if one.data is None else [one.data]
        status = max(status, one.status)
    if args.json:
        put(encode({"streams": streams, "total": total_of(streams)}) + "\n")
    elif len(streams) > 1:
        put(_joined(_total_lines(total_of(streams))))
    return status


def _say(args: argparse.Namespace, file: File) -> Iterator[Said]:
    for source, item in trace_file(args, file):
        if isinstance(item, Failed):
            yield Said(status=item.tell())
        elif isinstance(item, Traced):
            stats = stats_of(source, item)
            lines = "" if args.json else _joined(_lines(stats, item.outcome.timing))
            yield Said(lines, item.status, stats)


def _joined(lines: Iterable[str]) -> str:
    return "".join(line + "\n" for line in lines)


# -- Figures -------------------------------------------------------------------------


def stats_of(source: str, traced: Traced) -> dict[str, Any]:
    """Return the figures on the stream *traced* of the recording *source*."""
    outcome = traced.outcome
    response = {} if outcome.response is None else to_dict(outcome.response)
    usage = response.get("usage")
    tokens = usage.get("completion_tokens") if isinstance(usage, dict) else None
    choices = list(response.get("choices") or [])
    return {
        "source": source,
        "stream": traced.number,
        "id": response.get("id"),
        "model": response.get("model"),
        "kind": kind_of(outcome),
        "state": state(outcome),
        "bytes": traced.size,
        "chunks": outcome.chunks,
        "characters": sum(map(_characters, choices)),
        "completion_tokens": tokens,
        "finish_reasons": [choice.get("finish_reason") for choice in choices],
        "issue_counts": dict(outcome.issue_counts),
        "timing": None if outcome.timing is None else attrs.asdict(outcome.timing),
    }


def _characters(value: Any) -> int:
    """Return how long the text of a choice is: contents, refusals, arguments."""
    if isinstance(value, list):
        return sum(map(_characters, value))
    if not isinstance(value, dict):
        return 0
    own = sum(len(text) for name in TEXTS if isinstance(text := value.get(name), str))
    parts = [part for name, part in value.items() if name != "logprobs"]
    return own + sum(map(_characters, parts))


TEXTS = (
    "arguments",
    "content",
    "input",
    "reasoning",
    "reasoning_content",
    "refusal",
    "text",
    "thinking",
)


def total_of(streams: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures on all *streams* together."""
    issues: Counter[str] = Counter()
    for stream in streams:
        issues.update(stream["issue_counts"])
    reasons = Counter(_reason(reason) for stream in streams for reason in stream["finish_reasons"])
    return {
        "streams": len(streams),
        "states": dict(Counter(stream["state"] for stream in streams)),
        **{name: sum(_number(stream[name]) for stream in streams) for name in SUMMED},
        "finish_reasons": dict(reasons),
        "issue_counts": dict(issues),
        "first_content": _spread(streams, "first_content"),
        "gap_max": _spread(streams, "gap_max"),
        "tokens_per_second": _spread(streams, "tokens_per_second"),
    }


def _number(value: Any) -> int:
    return value if type(value) is int else 0


def _spread(streams: Sequence[dict[str, Any]], name: str) -> dict[str, float] | None:
    """Return the least, the middle and the greatest of a timing over *streams*."""
    timings = [stream["timing"] for stream in streams if stream["timing"] is not None]
    values = sorted(timing[name] for timing in timings if timing[name] is not None)
    if not values:
        return None
    return {"min": values[0], "p50": values[(len(values) - 1) // 2], "max": values[-1]}


# -- Lines ---------------------------------------------------------------------------


def timing_lines(timing: Timing | None) -> Iterator[tuple[str, str]]:
    """Yield names and values of *timing*, for a person."""
    if timing is None:
        yield "timing", "none: the recording has no times"
        return
    since = ORIGINS[timing.origin]
    if timing.first_chunk is not None:
        yield "first chunk", f"{seconds(timing.first_chunk)} ({since})"
    yield "first content", f"{seconds(timing.first_content)} ({since})"
    yield "duration", f"{seconds(timing.duration)} ({since})"
    gaps = (timing.gap_p50, timing.gap_p95, timing.gap_max)
    yield "gaps between chunks", "p50 {} · p95 {} · max {}".format(*map(seconds, gaps))
    yield "chunks per second", _rate(timing.chunks_per_second)
    if timing.tokens_per_second is not None:
        yield "tokens per second", _rate(timing.tokens_per_second) + " (tokens counted by usage)"
    else:
        yield (
            "tokens per second",
            "unknown: needs a duration and the tokens from usage",
        )


def _rate(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _lines(stats: dict[str, Any], timing: Timing | None) -> Iterator[str]:
    head = [f"{stats['source']} #{stats['stream']}", stats["id"], stats["model"], stats["state"]]
    yield escape_line(" · ".join(spelled(part) for part in head if part))
    rows = [
        ("size", _size(stats)),
        *timing_lines(timing),
        ("finish reasons", ", ".join(map(_reason, stats["finish_reasons"])) or "-"),
        ("issues", _counts(stats["issue_counts"])),
    ]
    for name, value in rows:
        yield escape_line(f"  {name:20}  {value}")


def _total_lines(total: dict[str, Any]) -> Iterator[str]:
    yield escape_line(f"total · {amount(total['streams'], 'stream')} · {_counts(total['states'])}")
    rows = [
        ("size", _size(total)),
        *((name.replace("_", " "), _spread_text(total, name)) for name in SPREADS),
        ("finish reasons", _counts(total["finish_reasons"])),
        ("issues", _counts(total["issue_counts"])),
    ]
    for name, value in rows:
        yield escape_line(f"  {name:20}  {value}")


SPREADS = {"first_content": seconds, "gap_max": seconds, "tokens_per_second": _rate}


def _spread_text(total: dict[str, Any], name: str) -> str:
    spread = total[name]
    if spread is None:
        return "-"
    return " · ".join(f"{part} {SPREADS[name](value)}" for part, value in spread.items())


def _size(stats: dict[str, Any]) -> str:
    tokens = stats["completion_tokens"]
    parts = [amount(stats[what + "s"], what) for what in ("byte", "chunk", "character")]
    if tokens:
        word = "token" if tokens == 1 else "tokens"
        parts.append(f"{spelled(tokens)} completion {word}")
    return " · ".join(parts)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name}={count}" for name, count in counts.items()) or "-"


def _reason(value: Any) -> str:
    return "none" if value is None else spelled(value)


COMMAND = Command(
    name="stats",
    summary="print timing, sizes, finish reasons and issue counts of streams",
    description=DESCRIPTION,
    examples=EXAMPLES,
    add_arguments=add_arguments,
    run=run,
)
