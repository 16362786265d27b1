"""
Rows whose text has the stream behind other words, as loggers that write JSON keep
it: `{"message": "read chunk: data: {…}"}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ._pieces import Piece
from ._prefix import mode_of_stream, without_prefixes
from ._row_values import find, is_skipped


__all__ = ["has_words", "without_words"]

DEPTH = 7
LONGEST = 1 << 20


def has_words(rows: Iterable[Any]) -> bool:
    """Tell whether any of *rows*, which have no stream of their own, has one behind words."""
    return any(find(_opened(row)) is not None for row in rows)


def without_words(rows: Iterable[Any]) -> Iterator[Any]:
    """Yield *rows* with the streams in their texts alone; what else was logged is left out."""
    for row in rows:
        opened = _opened(row)
        if not isinstance(row, Mapping) or find(opened) is not None:
            yield opened


def _opened(value: Any, depth: int = DEPTH) -> Any:
    """Return *value* with each text in it that has a stream made that stream."""
    if isinstance(value, str) and len(value) <= LONGEST:
        return _payload(value)
    if isinstance(value, Mapping) and depth:
        return {
            key: item if is_skipped(key) else _opened(item, depth - 1)
            for key, item in value.items()
        }
    return (
        [_opened(item, depth - 1) for item in value] if isinstance(value, list) and depth else value
    )


def _payload(text: str) -> str:
    lines = text.encode("utf-8", "surrogatepass").splitlines(keepends=True)
    mode = next(filter(None, map(mode_of_stream, lines)), None)
    if mode is None:
        return text
    found = b"".join(piece.data for piece in without_prefixes(map(Piece, lines), mode))
    return found.decode("utf-8", "surrogatepass")
