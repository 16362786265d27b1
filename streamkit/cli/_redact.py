"""`streamkit redact`: a recording without its secrets, to be shared."""

from __future__ import annotations

import argparse
import contextlib

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from streamkit.recordings import sniff

from ._command import Command
from ._dumps import Unseen, masked_body, masked_response, masked_trace, masked_verbose
from ._files import File
from ._inputs import OK, Stop, files_of, open_file
from ._masks import Masker
from ._output import add_output_argument, open_output, tell
from ._secrets import Redactor


__all__ = ["COMMAND"]

DESCRIPTION = """\
The form of the recording stays.  Covered are headers (but for a few that say nothing of
anybody), cookies, keys known by their name or their looks, and the fields you choose.
What the model wrote stays unless --text covers it; its lengths and times always stay.
In what curl wrote, with -i, -v, --raw or --trace, secrets are covered by as many x, and
numbers by 0, so that all sizes and offsets stay right: how long a secret was can be seen.

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
INSTEAD = "streamkit convert --to jsonl keeps only what the server streamed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to *parser*."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="a recording; none, or -: standard input",
    )
    # What is too much is taken, so that what is wrong with it can be said.
    parser.add_argument("more", nargs="*", help=argparse.SUPPRESS)
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
    file = _file(args)
    data = _read(file)
    try:
        covered, count = _covered(data, args)
    except UnicodeDecodeError:
        raise Stop(
            f"{file.label}: not UTF-8 text; decompress it, or streamkit convert it first"
        ) from None
    except Unseen as unseen:
        raise Stop(f"{file.label}: {unseen}; {INSTEAD}") from None
    with open_output(args.output) as output:
        output.write(covered)
    tell(f"{count} covered; look at the result before you share it")
    return OK


def _file(args: argparse.Namespace) -> File:
    """Return the file to read; there must be just one, as what is written is one."""
    named = [name for name in (args.file, *args.more) if name is not None]
    files = files_of(argparse.Namespace(files=named, output=args.output)).found()
    if len(named) > 1 or [file.is_named for file in files] != [True]:
        raise Stop("redact writes one recording, so it takes one: run it for each file, with -o")
    return files[0]


def _covered(data: bytes, args: argparse.Namespace) -> tuple[str, int]:
    """Return *data* without its secrets, and how many were covered."""
    fields = frozenset(args.fields)
    form = sniff(data).name
    if form == "mitmproxy":
        raise Unseen("the sizes in a flow file would become wrong")
    text = data.decode("utf-8-sig")
    cover = DUMPS.get(form)
    if cover is None:
        redactor = Redactor(fields, args.text)
        return redactor.text(text), redactor.count
    masker = Masker(fields, args.text)
    return cover(text.encode(), masker).decode(), masker.count


DUMPS: Mapping[str, Callable[[bytes, Masker], bytes]] = {
    "curl-i": masked_response,
    "curl-raw": masked_body,
    "curl-trace": partial(masked_trace, is_hex=True),
    "curl-trace-ascii": partial(masked_trace, is_hex=False),
    "curl-v": masked_verbose,
}


def _read(file: File) -> bytes:
    try:
        source = open_file(file)
        opened = source.open("rb") if isinstance(source, Path) else contextlib.nullcontext(source)
        with opened as stream:
            data = stream.read(MOST_DOCUMENT + 1)
    except OSError as error:
        raise Stop(f"{file.label}: {error.strerror or error}") from None
    if len(data) > MOST_DOCUMENT:
        raise Stop(f"{file.label}: more than {MOST_DOCUMENT >> 20} MiB; split it first")
    return data


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
