"""`streamkit logprobs`: how sure the model was of each token."""

from __future__ import annotations

import argparse

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from streamkit._converter import to_dict
from streamkit._errors import amount
from streamkit._json import encode

from ._columns import clip, fit, pad, terminal_width, width_of
from ._command import Command, integer
from ._each import add_jobs_argument, print_each, say_each
from ._escape import escape_line, escape_text
from ._inputs import Found, add_reading_arguments
from ._output import has_colour
from ._tokens import Token, least_sure, percent, perplexity, token_lists
from ._verdict import reasons


__all__ = ["COMMAND"]

DESCRIPTION = """\
Of each choice: its text, its perplexity, and the tokens that the model was least sure of,
each with its number, its probability and the likeliest others.  Each stream has a heading.

In a terminal the text is coloured by the probability of its tokens, from green
(sure) to red; NO_COLOR=1 switches that off, and the list of the least sure tokens
says the same without colour.
"""

EXAMPLES = """\
  streamkit logprobs recording.sse             # text, perplexity, ten tokens
  streamkit logprobs --least 30 recording.sse  # more of them
  NO_COLOR=1 streamkit logprobs logs           # of all in a folder, without colour
"""

# Down to which probability a token is painted how; the last is for the rest.
COLOURS = ((0.9, "\x1b[32m"), (0.6, ""), (0.3, "\x1b[33m"), (0.1, "\x1b[31m"))
WORST = "\x1b[1;7;31m"
UNKNOWN = "\x1b[2m"
RESET = "\x1b[0m"
INDENT = "    "
LEGEND = ("≥ 90 %", "≥ 60 %", "≥ 30 %", "≥ 10 %")
MOST_TOKEN = 24


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to *parser*."""
    add_reading_arguments(parser)
    add_jobs_argument(parser)
    parser.add_argument(
        "--least", type=_count, default=10, metavar="N", help="list the N least sure tokens (10)"
    )


def _count(value: str) -> int:
    count = integer(value)
    if count < 0:
        raise argparse.ArgumentTypeError(f"must be an integer from 0, not {value!r}")
    return count


def run(args: argparse.Namespace) -> int:
    """Print the log probabilities of each stream and return the exit status."""
    return print_each(args, partial(say_each, text_of=_told))


def _told(args: argparse.Namespace, found: Found) -> str:
    return "".join(line + "\n" for line in _lines(found, args.least))


def _lines(found: Found, least: int) -> Iterator[str]:
    width = terminal_width()
    response = found.outcome.response
    data = {} if response is None else to_dict(response)
    yield escape_line(f"{found.source} #{found.number} · {data.get('id') or '-'}")
    has_any = False
    for choice in data.get("choices", ()):
        for name, tokens in token_lists(choice):
            has_any = True
            yield from _list(f"choice {choice.get('index')} · {name}", tokens, least, width)
    if response is None:
        yield escape_line(f"  no response: {reasons(found.outcome)}")
    elif not has_any:
        yield "  no logprobs: ask the server for them (logprobs, top_logprobs)"


def _list(head: str, tokens: Sequence[Token], least: int, width: int | None) -> Iterator[str]:
    surprise = perplexity(tokens)
    known = sum(token.logprob is not None for token in tokens)
    facts = [head, amount(len(tokens), "token")]
    facts += [f"perplexity {surprise:.4g}" if surprise is not None else "perplexity unknown"]
    facts += [f"{len(tokens) - known} without a usable logprob"] if known < len(tokens) else []
    yield escape_line("  " + " · ".join(facts))
    if has_colour():
        yield INDENT + "".join(_legend())
    yield from _text(tokens, width)
    lowest = least_sure(tokens, least)
    if lowest:
        yield "  least sure:"
    for place, token in lowest:
        yield fit(_row(place, token), width)


def _legend() -> Iterator[str]:
    for (_, paint), words in zip(COLOURS, LEGEND, strict=True):
        yield f"{paint}{words}{RESET if paint else ''}  "
    yield f"{WORST}less{RESET}  {UNKNOWN}unknown{RESET}"


def _paint(token: Token) -> str:
    probability = token.probability
    if probability is None:
        return UNKNOWN
    return next((paint for bound, paint in COLOURS if probability >= bound), WORST)


# -- The text, wrapped between tokens ------------------------------------------------


def _text(tokens: Iterable[Token], width: int | None) -> Iterator[str]:
    """Yield the text of *tokens*, painted if that may be."""
    line, used = [INDENT], len(INDENT)
    for text, paint in _pieces(tokens):
        size = width_of(text)
        if text == "\n" or (width is not None and used + size > width > len(INDENT) < used):
            yield "".join(line).rstrip(" ")
            line, used = [INDENT], len(INDENT)
        if text != "\n":
            line.append(f"{paint}{text}{RESET}" if paint else text)
            used += size
    yield "".join(line)


def _pieces(tokens: Iterable[Token]) -> Iterator[tuple[str, str]]:
    """Yield what stands on one line of each token, and each newline on its own."""
    is_painted = has_colour()
    for token in tokens:
        paint = _paint(token) if is_painted else ""
        lines = escape_text(token.text).expandtabs(4).split("\n")
        for number, line in enumerate(lines):
            if number:
                yield "\n", ""
            if line:
                yield line, paint


def _row(place: int, token: Token) -> str:
    name = pad(clip(encode(token.text), MOST_TOKEN), MOST_TOKEN)
    others = [
        f"{encode(text)} {percent(logprob)}"
        for text, logprob in token.alternatives
        if text != token.text
    ]
    row = f"{INDENT}{place:>6}  {name}  {percent(token.logprob):>7}"
    return row + ("  else " + ", ".join(others) if others else "")


COMMAND = Command(
    name="logprobs",
    summary="show how sure the model was of each token, and what else it might have said",
    description=DESCRIPTION,
    examples=EXAMPLES,
    add_arguments=add_arguments,
    run=run,
)
