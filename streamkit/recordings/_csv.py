"""
Rows in CSV, in the dialects that spreadsheets, databases and Spark write.

The first lines tell which: what separates fields, whether there is a header, and
how a quotation mark stands inside a field: doubled (RFC 4180, section 2), or
behind a backslash.  PostgreSQL's `COPY` and `mysql --batch` quote nothing, and
write line ends and tabs behind a backslash.
"""

from __future__ import annotations

import csv
import io
import re

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import Any

import attrs

from streamkit._errors import UnknownForm
from streamkit._limits import Limits

from ._binary import is_binary_text
from ._bodies import BlockFile
from ._pieces import Form, ReadOptions, Recording
from ._row_streams import recordings
from ._row_values import find, json_of
from ._row_words import has_words


__all__ = ["FORMS"]

HEAD = 1 << 16
SAMPLE = 9
SEPARATORS = ",\t;|"
FIELD_SIZE = (1 << 31) - 1
# What Excel may put in front, to say what separates the fields.
SEP = re.compile(r"\Asep=[,\t;|](?:\r?\n|\r)")
LINE = re.compile(r"[^\r\n]*")
_NAME = r"[^\r\n{}<>\[\]:=\\,\t;|]{1,80}"
HEADER = re.compile(rf"{_NAME}(?:[,\t;|]{_NAME}){{0,200}}")
_STREAM = r'"(?:data|event|id|retry|): ?|"[{\[]+(?:""|\\")'
FIELD = re.compile(r'(?m)(?:^|[,\t;|])"\s*(?:(?:data|event|id|retry)?:|[{\[])|\t(?:data: ?)?\{')
QUOTED = re.compile(r'(?m)(?:^|\t)"(?:data|event|id|retry)?:')
STREAM = re.compile(rf"[\r\n]+(?:{_STREAM})")
# Without a header: some fields, then one that a stream begins in.
NO_HEADER = re.compile(
    rf'(?:(?:[^"\r\n{{}},\t;|]{{0,200}}|"[^"\r\n]{{0,200}}")([,\t;|])){{0,200}}(?:{_STREAM})'
)
# A line of a program: a literal that ends in an escaped line end, which no row does.
LITERAL = re.compile(r'\s*+"(?:[^"\\\r\n]|\\.)*+(?<=\\n)",?[ \t]*+(?:[\r\n]|\Z)')
QUOTE = re.compile(r'[{\[](?:(\\)"|"")')
UNQUOTED = re.compile(r"(?m)(?:^|\t)(?:data|event): ?[^\t\r\n]*\\n")
TABBED_JSON = re.compile(r"(?<=\t)[{\[][^\t\r\n]*")
# In JSON that would be a text about escapes.
TWICE = re.compile(r"\\\\u[0-9a-fA-F]{4}")
ESCAPE = re.compile(r"\\(.)")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v"}
NULL = r"\N"
# Of columns without a header.
NAMES = [str(number) for number in range(1, 1000)]


@attrs.frozen(kw_only=True)
class _Dialect:
    """
    How the fields are written.

    Attributes:
        separator: What stands between them.
        has_header: The first row has the names of the columns.
        escape: What a quotation mark stands behind, if it is not doubled.
        is_quoted: Fields may be quoted; else what would part them is escaped.
    """

    separator: str
    has_header: bool
    escape: str | None
    is_quoted: bool

    def rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Return the fields of each row in *lines*."""
        if not self.is_quoted:
            return (_unescaped(line.rstrip("\r\n").split(self.separator)) for line in lines)
        return csv.reader(
            lines,
            delimiter=self.separator,
            doublequote=self.escape is None,
            escapechar=self.escape,
        )


def _unescaped(fields: list[str]) -> list[str]:
    return [
        "" if field == NULL else ESCAPE.sub(lambda found: ESCAPES.get(found[1], found[1]), field)
        for field in fields
    ]


def _dialect(text: str) -> _Dialect | None:
    """Return the dialect of what begins with *text*, if that may be CSV."""
    line = LINE.match(text)
    first = line[0] if line else ""
    has_header = HEADER.fullmatch(first) is not None
    separator = max(SEPARATORS, key=first.count)
    if not has_header:
        found = NO_HEADER.match(text)
        if found is not None:
            separator = found[1] or SEPARATORS[0]
        elif _has_copied_json(text):
            separator = "\t"
        else:
            return None
    elif separator not in first and not STREAM.match(text, len(first)):
        return None  # a word, and not the name of the only column
    # Where no field is quoted, a backslash before a quotation mark is JSON's.
    has_quotes = text.startswith('"') or any(mark + '"' in text for mark in ("\n", separator))
    quote = QUOTE.search(text) if has_quotes else None
    return _Dialect(
        separator=separator,
        has_header=has_header,
        escape=quote[1] if quote else None,
        is_quoted=separator != "\t" or not _is_copied(text),
    )


def _is_copied(text: str) -> bool:
    """Tell whether *text* is as `COPY` and `mysql --batch` write it: nothing is quoted."""
    if UNQUOTED.search(text):
        return not QUOTED.search(text)
    return _has_copied_json(text)


def _has_copied_json(text: str) -> bool:
    return any(_is_copied_json(found[0]) for found in TABBED_JSON.finditer(text))


def _is_copied_json(field: str) -> bool:
    """Tell whether *field* is JSON once its backslashes are undone, and was none before."""
    if "\\\\" not in field or json_of(*_unescaped([field])) is None:
        return False
    return json_of(field) is None or TWICE.search(field) is not None


def _named(rows: Iterator[list[str]], dialect: _Dialect) -> Iterator[dict[str, str]]:
    """Return *rows* by the names of their columns, or by their numbers if they have none."""
    names = next(rows, []) if dialect.has_header else NAMES
    for row in rows:
        if row:
            yield {name: value for name, value in zip(names, row, strict=False) if name and value}


def _looks(head: bytes) -> int:
    text = SEP.sub("", head[:HEAD].decode("utf-8-sig", "replace"))
    dialect = _dialect(text)
    if dialect is None or LITERAL.match(text):
        return 0
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(islice(dialect.rows(io.StringIO(text, newline="")), SAMPLE))
    # Prose has commas too, but not as many in each line.
    least = len(rows[0]) if rows else 0
    found = [row[:least] for row in rows[dialect.has_header :] if len(row) >= least]
    return 87 if any(_holds_stream(row) for row in found) and _is_quoted(text, found) else 0


def _holds_stream(row: list[str]) -> bool:
    fields = dict(zip(NAMES, row, strict=False))
    return find(fields) is not None or has_words([fields])


def _is_quoted(text: str, rows: list[list[str]]) -> bool:
    """Tell whether streams stand in fields: in quotation marks, but for base64, and behind tabs."""
    if FIELD.search(text) or QUOTE.search(text):
        return True
    return any(is_binary_text(field) for row in rows for field in row)


def _read(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    return recordings(_rows(blocks, options.limits), options)


def _rows(blocks: Iterator[bytes], limits: Limits) -> Iterator[dict[str, Any]]:
    """
    Return the rows of a CSV.

    Raises:
        UnknownForm: If it is no CSV.
        LimitExceeded: If a row is too long.
    """
    # The bound of the csv module is 128 KiB a field, for all of its users; bodies are longer.
    csv.field_size_limit(max(csv.field_size_limit(), FIELD_SIZE))
    lines = _Lines(blocks, limits)
    dialect = _dialect(lines.head) or _Dialect(
        separator=",", has_header=True, escape=None, is_quoted=True
    )
    try:
        for row in _named(dialect.rows(lines), dialect):
            lines.held = 0
            yield row
    except csv.Error as error:
        raise UnknownForm(f"the CSV cannot be read at line {lines.number}: {error}") from None


class _Lines:
    """
    The lines of a CSV, from behind a `sep=`.

    Attributes:
        head: The first of the text.
        number: How many lines were taken.
        held: How many characters of them are held: those of one row.
    """

    def __init__(self, blocks: Iterator[bytes], limits: Limits) -> None:
        self._file = io.TextIOWrapper(
            BlockFile.buffered(blocks), "utf-8-sig", "replace", newline=""
        )
        self._limits = limits
        self._most = -1 if limits.line is None else limits.line + 2
        self.head = SEP.sub("", self._file.read(HEAD))
        self.number = self.held = 0

    def __iter__(self) -> Iterator[str]:
        *lines, last = list(io.StringIO(self.head, newline="")) or [""]
        rest = iter(lambda: self._file.readline(self._most), "")
        for line in chain(lines, [last + next(rest, "")], rest):
            self.number += 1
            self.held += len(line)
            self._limits.check("line", self.held)
            yield line


FORMS = (Form(name="csv", title="CSV rows with a body or a chunk each", looks=_looks, read=_read),)
