"""
How recordings begin that the core does not read, but `streamkit.recordings` does;
and what blocks look like that are none.

No more than a guess, for a message to whom it would otherwise tell only that there
was no chunk; `streamkit.recordings.sniff` looks closer.
"""

from __future__ import annotations

import re

from collections.abc import Collection


__all__ = ["HEAD", "hint", "other_form"]

HEAD = 4096
"""How many bytes of a recording's start are looked at."""

# Streams, which were cut, begin so.
CHUNK = rb'"(?:id"\s*:\s*"[^"]*"\s*,\s*")?(?:choices|object|created|model|provider|error|usage)"'
EVENT = rb"(?:data|event|id|retry)?:"
FORMS = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (rb'\{\s*"log"\s*:\s*\{', "a HAR file"),
        (rb'\{[^{}\[\]]{0,200}"(?:http_)?interactions"\s*:', "a cassette"),
        (rb"(?:[^\n:]{1,40}:[^\n]{0,80}\n)?(?:http_)?interactions:", "a cassette"),
        (rb'\{"log"\s*:\s*"|\d{4}-\d\d-\d\dT\S{8,24} std(?:out|err) [PF]', "a container's log"),
        (rb'\{[^\n]{0,900}"__REALTIME_TIMESTAMP"', "an export of the journal"),
        (rb"PAR1", "a Parquet file"),
        (rb"\d{1,9}:\d{1,9}:[a-z]", "a flow file of mitmproxy"),
        (rb"\xff\xfe|\xfe\xff", "text in UTF-16"),
        (rb"HTTP/[\d.]{1,3} \d{3}|\* [^\n]{1,200}\n[*><{} ]", "what curl writes"),
        (rb"(?:[\d:.]{8,20} )?(?:== Info:|[=<]. (?:Send|Recv) )", "a trace of curl's"),
        (rb"(?:ChatCompletionChunk|Completion)\(|\[?\{'|b['\"]|id='", "Python text"),
        (rb"\W?\d{4}[/-]\d\d[/-]\d\d[T ]\d\d:\d\d", "a log with times"),
        (rb"data: ?\{\\+\"", "the inside of a string"),
        (rb"[\w .\"-]{1,80}(?:[,;\t|][\w .\"-]{1,80}){1,100}\r?\n", "a table (CSV)"),
        (rb"\[?\s*\{\s*(?!" + CHUNK + rb')"', "rows of JSON"),
    )
)
# What no form was told from: read leniently, the core finds streams in much of it, too.
OTHER = re.compile(rb"(?!" + EVENT + rb"|[\[{])(?s:.*)\bchoices\\*['\"=]")
MARK = b"\xef\xbb\xbf"


def other_form(head: bytes, *, is_empty: bool = True) -> str:
    """
    Return what *head*, the start of a recording, may be, and what reads that; or `""`.

    Args:
        head: As many as `HEAD` of its bytes.
        is_empty: Nothing was found in it; else it is not known whether there would be.

    >>> other_form(b'{"log": {"version": "1.2"')
    'this looks like a HAR file; streamkit.recordings.rebuild reads it'
    """
    head = head[:HEAD].removeprefix(MARK).lstrip()
    found = next((name for pattern, name in FORMS if pattern.match(head)), "")
    if not found and is_empty and OTHER.match(head):
        found = "a stream inside of other text"
    return found and f"this looks like {found}; streamkit.recordings.rebuild reads it"


BARE_LINES = (
    "the blocks are lines without line ends: pass the bytes as they come, such as "
    "iter_bytes() in place of iter_lines()"
)
LINE = re.compile(rb"(?:data|event|id|retry)?:[^\r\n]*+\Z")
FEWEST_LINES, FEWEST_BLANKS = 3, 2


def hint(blocks: Collection[bytes], *, is_empty: bool) -> tuple[str, str] | None:
    """
    Return the code and the message of the issue that *blocks* should be told of, if any.

    Args:
        blocks: The first of the input, as many as have `HEAD` bytes.
        is_empty: No chunk was found.

    >>> hint([b": ok", b"", b"event: message", b"data: {}", b""], is_empty=False)[0]
    'bare_lines'
    """
    if _are_bare_lines(blocks):
        return "bare_lines", BARE_LINES
    form = other_form(b"".join(blocks)) if is_empty else ""
    return ("other_form", form) if form else None


def _are_bare_lines(blocks: Collection[bytes]) -> bool:
    found = [block for block in blocks if block]
    enough = len(found) >= FEWEST_LINES and len(blocks) - len(found) >= FEWEST_BLANKS
    return enough and all(map(LINE.match, found))
