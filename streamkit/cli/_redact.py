"""`streamkit redact`: a recording without its secrets, to be shared."""

from __future__ import annotations

import argparse

from pathlib import Path

from streamkit.recordings import sniff

from ._command import Command
from ._files import STDIN, File
from ._inputs import OK, USAGE, open_file
from ._output import add_output_argument, open_output, tell
from ._secrets import Redactor


__all__ = ["COMMAND"]

DESCRIPTION = """\
The form of the recording stays.  Covered are headers (but for a few that say nothing of
anybody), cookies, keys known by their name or their looks, and the fields you choose.
What the model wrote stays unless --text covers it; its lengths and times always stay.

Look at the result before you share it: a secret without a known look, or one that the
model spelled over several chunks, is not seen.  --text helps against the latter.
"""

EXAMPLES = """\
  streamkit redact recording.har -o shared.har             # headers and keys
  streamkit redact --field id recording.sse                # a field too
  streamkit redact --text recording.sse > shared.sse       # what the model wrote, too
"""

# It is read at once: a document may be one JSON value.
MOST_DOCUMENT = 64 << 20
TRACES = ("curl-trace", "curl-trace-ascii")
INSTEAD = "streamkit convert --to jsonl keeps only what the server streamed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to *parser*."""
    parser.add_argument(
        "file",
        nargs="?",
        default=STDIN,
        metavar="FILE",
        help="a recording; none, or -: standard input",
    )
    parser.add_argument(
        "--field",
        dest="fields",
        action="append",
        default=[],
        metavar="NAME",
        help="cover a field too: a name at any depth, or a path such as message.content",
    )
    parser.add_argument("--text", action="store_true", help="cover what the model wrote, too")
    add_output_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Write the recording without its secrets and return the exit status."""
    redactor = Redactor(frozenset(args.fields), args.text)
    try:
        data = _read(args.file)
    except OSError as error:
        tell(f"{args.file}: {error.strerror or error}")
        return USAGE
    if len(data) > MOST_DOCUMENT:
        tell(f"{args.file}: more than {MOST_DOCUMENT >> 20} MiB; split it first")
        return USAGE
    if sniff(data).name in TRACES:
        tell(f"{args.file}: a trace wraps its headers, which hides secrets; {INSTEAD}")
        return USAGE
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        tell(f"{args.file}: not UTF-8 text; decompress it, or streamkit convert it first")
        return USAGE
    with open_output(args.output) as output:
        output.write(redactor.text(text))
    tell(f"{redactor.count} covered; look at the result before you share it")
    return OK


def _read(name: str) -> bytes:
    source = open_file(File(name))
    if not isinstance(source, Path):
        return source.read(MOST_DOCUMENT + 1)
    with source.open("rb") as file:
        return file.read(MOST_DOCUMENT + 1)


COMMAND = Command(
    name="redact",
    summary="write a recording without keys, headers and chosen fields, to be shared",
    description=DESCRIPTION,
    examples=EXAMPLES,
    ok="the recording is written",
    incomplete="never",
    add_arguments=add_arguments,
    run=run,
)
