"""
Lists that only grow, and read-only views of their first entries.

A snapshot taken at each chunk must neither copy all log probabilities so far
nor change when more come.  The list under a view is appended to and never
changed in place, so its first *n* entries stay what they are.

`Entries` also takes entries as raw JSON, and decodes them when they are first
read: most readers of a response never look at its log probabilities, and bytes
cost the garbage collector nothing.
"""

from __future__ import annotations

import json

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, overload


__all__ = ["Entries", "ListView", "copy_json"]

T = TypeVar("T")

# Keeps the place of an entry whose JSON stands in the bytes before it.
IN_RAW = b""


def copy_json(value: Any) -> Any:
    """Return a deep copy of JSON data; atoms are shared, containers are not."""
    kind = type(value)
    if kind is str or kind is int or kind is float:
        return value
    if isinstance(value, Mapping):
        return {key: copy_json(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [copy_json(item) for item in value]
    if kind is ListView:
        return [copy_json(item) for item in value.raw()]
    return value


class Entries:
    """
    A list that only grows, some of its entries still raw JSON.

    >>> entries = Entries()
    >>> entries.extend([{"token": "a"}])
    >>> entries.extend_raw(b'{"token": "b"}, {"token": "c"}', 2)
    >>> len(entries), entries.first(2)
    (3, [{'token': 'a'}, {'token': 'b'}])
    """

    __slots__ = ("_entries", "_has_raw")

    def __init__(self) -> None:
        self._entries: list[Any] = []
        self._has_raw = False

    def __len__(self) -> int:
        return len(self._entries)

    def extend(self, entries: Sequence[Any]) -> None:
        """Append decoded *entries*."""
        self._entries.extend(entries)

    def extend_raw(self, raw: bytes, count: int) -> None:
        """Append *count* entries, at least one, as valid JSON values parted by commas."""
        self._entries.append(raw)
        self._entries += [IN_RAW] * (count - 1)
        self._has_raw = True

    def first(self, count: int) -> list[Any]:
        """Return the first *count* entries, decoded."""
        if self._has_raw:
            self._decode()
        return self._entries[:count]

    def _decode(self) -> None:
        raw = [entry for entry in self._entries if type(entry) is bytes and entry]
        decoded = iter(json.loads(b"[" + b",".join(raw) + b"]"))
        self._entries = [
            next(decoded) if type(entry) is bytes else entry for entry in self._entries
        ]
        self._has_raw = False


class ListView(Sequence[T], Generic[T]):
    """
    The first *length* entries of *entries*, each made by *make* when first read.

    Equal to any list, tuple or view of equal entries.

    >>> grows = [1, 2]
    >>> view = ListView(grows, len(grows))
    >>> grows.append(3)
    >>> view, view == (1, 2), view[-1]
    (ListView([1, 2]), True, 2)
    """

    __slots__ = ("_entries", "_length", "_made", "_make")

    def __init__(
        self, entries: Sequence[Any] | Entries, length: int, make: Callable[[Any], T] | None = None
    ) -> None:
        self._entries = entries
        self._length = length
        self._make = make
        self._made: tuple[T, ...] | None = None

    def made_by(self, make: Callable[[Any], Any]) -> ListView[Any]:
        """Return a view of the same entries, each made by *make*."""
        return ListView(self._entries, self._length, make)

    def raw(self) -> Sequence[Any]:
        """Return the entries as they are, not made."""
        if isinstance(self._entries, Entries):
            return self._entries.first(self._length)
        return self._entries[: self._length]

    def _all(self) -> tuple[T, ...]:
        if self._made is None:
            entries = self.raw()
            self._made = tuple(entries if self._make is None else map(self._make, entries))
        return self._made

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...

    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self._all()[index]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (list, tuple, ListView)):
            return self._all() == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return f"ListView({list(self._all())!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (list(self.raw()), self._all())


def _restored(raw: list[Any], made: tuple[Any, ...]) -> ListView[Any]:
    """Return the copy of a view, as pickle and copy make it: *make* stays behind."""
    view: ListView[Any] = ListView(raw, len(raw))
    view._made = made
    return view
