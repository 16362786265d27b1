"""
The one strict JSON decoder, over json, orjson or msgspec, and the encoder.

The libraries differ on NaN, Infinity, 1e400, lone surrogates, 2**64, depth,
BOM and control characters.  So the library only gets the first word: a payload
it accepts and whose reading all libraries share is done; every other payload is
decoded by the standard library, under the rules below.  The result is the same
with each, and a test runs every case with each.

- NaN, Infinity and numbers that overflow become null (RFC 8259, section 6: they
  are no JSON); a note says so.
- Integers are exact, up to 4,300 digits; longer ones become null.
- A control character inside a string is kept, with a note: recorded streams
  have strings that a hop broke over lines.
- Half a surrogate pair is kept: its other half may come in the next chunk.
- Of duplicate keys the last wins.
- Nesting deeper than the limit is refused; the interpreter's own recursion
  limit is never met.
"""

from __future__ import annotations

import json
import math
import re
import sys

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal

import attrs

from ._errors import NotInstalled
from ._limits import Limits


__all__ = [
    "HIGH_SURROGATES",
    "MAX_DEPTH",
    "MAX_DIGITS",
    "NO_VALUE",
    "Backend",
    "BadJSON",
    "Decoder",
    "encode",
    "is_whole_object",
    "join_surrogates",
    "mend_surrogates",
    "skip_space",
    "whole_value",
]

NO_VALUE: Final = object()
"""What `whole_value` returns where there is none: null is a value."""

Backend = Literal["auto", "json", "orjson", "msgspec"]

# What nests deeper could meet the interpreter's recursion limit further on.
MAX_DEPTH = 128
# CPython's own default for str -> int, beyond which the time is quadratic.
MAX_DIGITS = 4300
# Below this many digits every library reads an integer exactly.
MANY_DIGITS = re.compile(rb"[0-9]{19}")
SPACE = " \t\r\n"
SURROGATE = re.compile("[\ud800-\udfff]")
HIGH_SURROGATES = ("\ud800", "\udbff")
CUT_ESCAPE = re.compile(r"\\?u?[0-9a-fA-F]{0,4}")
# A number that ends in its point, or in its exponent's sign.
CUT_NUMBER = re.compile(r"(?<![0-9.eE+-])-?[0-9]+(?:\.|(?:\.[0-9]+)?[eE][+-]?)\Z")
MARKS: dict[type, tuple[Any, Any, Any]] = {bytes: (b"{", b"[", b":"), str: ("{", "[", ":")}
LITERALS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")


@attrs.define
class BadJSON(Exception):
    """
    Not JSON, or JSON that the limits refuse; it never leaves the package.

    Attributes:
        code: The issue that it stands for: `"bad_json"` or `"too_deep"`.
        reason: What is wrong, in a few words.
        cut: The text ends inside the value: more of it could make it whole.
    """

    code: str
    reason: str
    cut: bool = False


RawDecode = Callable[[str, int], tuple[Any, int]]


class Decoder:
    """
    Decode payloads, and note what had to be mended in them.

    Attributes:
        notes: Issue codes of the repairs since they were last taken.
    """

    __slots__ = ("_decoders", "_depth", "_fast", "_hooks", "_limits", "notes")

    def __init__(self, backend: Backend = "auto", limits: Limits = Limits()) -> None:
        self._fast = _load_fast(backend)
        self._limits = limits
        self._hooks: dict[str, Any] = {"parse_float": self._float, "parse_constant": self._constant}
        if (sys.get_int_max_str_digits() or math.inf) > MAX_DIGITS:
            self._hooks["parse_int"] = self._integer  # the interpreter's own bound was lifted
        self._decoders: dict[tuple[bool, bool], RawDecode] = {}  # to make all takes 10 us
        self._depth = MAX_DEPTH if limits.depth is None else min(limits.depth, MAX_DEPTH)
        self.notes: list[str] = []

    @property
    def trusting(self) -> Callable[[bytes], Any]:
        """What decodes JSON that needs no repair, and that no limit can refuse."""
        return json.loads if self._fast is None else self.whole

    def whole(self, raw: bytes) -> Any:
        """
        Return the value of *raw*, which must be one JSON value and nothing else.

        Raises:
            BadJSON: If it is not, or if it is nested too deep.
            LimitExceeded: If an object has too many keys.
        """
        if self._fast is not None:
            try:
                value = self._fast(raw)
            except Exception:  # noqa: BLE001, S110 -- whatever it dislikes is decided below
                pass
            else:
                self._check(value, raw)
                return value
        text = self.text(raw)
        value, end = self.prefix(text, 0)
        if text[end:].strip(SPACE):
            raise BadJSON("bad_json", f"extra data at character {end}")
        return value

    def text(self, raw: bytes) -> str:
        """Return *raw* decoded as UTF-8, bad sequences replaced and noted."""
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.notes.append("invalid_utf8")
            return raw.decode(errors="replace")

    def prefix(self, text: str, start: int) -> tuple[Any, int]:
        """
        Return the JSON value at *start* of *text*, and where it ends.

        Raises:
            BadJSON: If there is no whole value.
            LimitExceeded: If an object has too many keys.
        """
        start = skip_space(text, start)
        try:
            value, end = self._decode(text, start)
        except json.JSONDecodeError as error:
            raise BadJSON("bad_json", error.msg, cut=_is_cut(error, text)) from None
        except RecursionError:
            raise BadJSON("too_deep", "nested too deep") from None
        self._check(value, text[start:end])
        return value, end

    def _decode(self, text: str, start: int) -> tuple[Any, int]:
        """Decode strictly; give way only where the text makes it necessary."""
        strict, bounded = True, False
        noted = len(self.notes)
        while True:
            try:
                decode = self._decoders.get((strict, bounded)) or self._decoder(strict, bounded)
                found = decode(text, start)
            except json.JSONDecodeError as error:
                if not (strict and error.msg.startswith("Invalid control character")):
                    raise
                strict = False
            except ValueError:  # an integer of more digits than int() takes
                bounded = True
            else:
                if not strict:
                    self.notes.append("control_character")
                return found
            del self.notes[noted:]

    def _decoder(self, strict: bool, bounded: bool) -> RawDecode:
        """Make the standard library's decoder of one value in a text."""
        hooks = {**self._hooks, "parse_int": self._integer} if bounded else self._hooks
        made = json.JSONDecoder(strict=strict, **hooks).raw_decode
        self._decoders[strict, bounded] = made
        return made

    def _float(self, digits: str) -> float | None:
        number = float(digits)
        if math.isinf(number):
            self.notes.append("bad_number")
            return None
        return number

    def _integer(self, digits: str) -> int | None:
        try:
            if len(digits.removeprefix("-")) <= MAX_DIGITS:
                return int(digits)
        except ValueError:  # the interpreter's bound is lower still
            pass
        self.notes.append("bad_number")
        return None

    def _constant(self, _name: str) -> None:
        self.notes.append("bad_number")

    def _check(self, value: Any, raw: bytes | str) -> None:
        """Refuse what is too deep or too wide, if a count of marks says that it could be."""
        curly, square, colon = MARKS[type(raw)]
        depth, keys = self._depth, self._limits.keys
        if raw.count(curly) + raw.count(square) > depth:
            _refuse_deeper(value, depth)
        if keys is not None and raw.count(colon) > keys:
            self._limits.check("keys", max(map(len, _objects(value)), default=0))


def _load_fast(backend: Backend) -> Callable[[bytes], Any] | None:
    """Return the decoding function of *backend*; None stands for the standard library."""
    if backend == "json":
        return None
    if backend in ("orjson", "msgspec"):
        return _load_named(backend)
    if backend != "auto":
        raise TypeError(f"json must be auto, json, orjson or msgspec, not {backend!r}")
    for load in (_load_msgspec, _load_orjson):
        try:
            return load()
        except ImportError:
            continue
    return None


def _load_named(backend: Backend) -> Callable[[bytes], Any]:
    try:
        return _load_orjson() if backend == "orjson" else _load_msgspec()
    except ImportError:
        raise NotInstalled(
            f"json={backend!r} needs {backend}, which is not installed: install {backend}, "
            f"or leave json out"
        ) from None


def _load_msgspec() -> Callable[[bytes], Any]:
    import msgspec.json

    return msgspec.json.Decoder().decode


def _load_orjson() -> Callable[[bytes], Any]:
    import orjson

    def loads(raw: bytes) -> Any:
        # orjson turns integers beyond 64 bits into floats: not exact.
        if MANY_DIGITS.search(raw):
            raise ValueError("an integer may be inexact")
        return orjson.loads(raw)

    return loads


def _is_cut(error: json.JSONDecodeError, text: str) -> bool:
    """Tell whether *text* ends before its value does, rather than breaks the grammar."""
    rest = text[error.pos :]
    if error.msg.startswith("Unterminated string") or not rest.strip(SPACE):
        return True
    if error.msg.startswith("Invalid \\uXXXX"):
        return CUT_ESCAPE.fullmatch(rest) is not None
    if error.msg == "Expecting value":
        return any(name.startswith(rest) for name in LITERALS)
    if error.msg == "Expecting ',' delimiter":
        return CUT_NUMBER.search(text) is not None and len(rest) <= len("e+")
    return False


def skip_space(text: str, start: int) -> int:
    """Return the first place in *text*, from *start* on, that is not JSON's white space."""
    while start < len(text) and text[start] in SPACE:
        start += 1
    return start


def _children(nodes: Iterable[Any]) -> list[Any]:
    return [
        child
        for node in nodes
        for child in (node.values() if type(node) is dict else node)
        if type(child) is dict or type(child) is list
    ]


def _refuse_deeper(value: Any, depth: int) -> None:
    """Raise if containers nest deeper than *depth*; level by level, without recursion."""
    level = _children([[value]])
    for _ in range(depth):
        if not level:
            return
        level = _children(level)
    if level:
        raise BadJSON("too_deep", f"nested deeper than {depth} levels")


def _objects(value: Any) -> Iterable[dict[str, Any]]:
    level = _children([[value]])
    while level:
        yield from (node for node in level if type(node) is dict)
        level = _children(level)


def encode(value: Any, *, indent: int | None = None) -> str:
    """
    Return *value* as strict JSON: no NaN, no half surrogate pairs.

    Text stays as it is (no ASCII escapes), so that the result can always be
    encoded as UTF-8.
    """
    write = COMPACT.encode if indent is None else _encoder(indent).encode
    try:
        text = write(value)
    except ValueError:  # NaN, Infinity or a huge integer: a caller's chunks may hold them
        text = write(_writable(value))
    return mend_surrogates(text)[0]


def _encoder(indent: int | None) -> json.JSONEncoder:
    separators = (",", ":") if indent is None else (",", ": ")
    return json.JSONEncoder(
        ensure_ascii=False, allow_nan=False, indent=indent, separators=separators
    )


# Making one for each value takes longer than writing a chunk.
COMPACT = _encoder(None)


def _writable(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and not _has_digits(value):
        return None
    if isinstance(value, dict):
        return {key: _writable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_writable(item) for item in value]
    return value


def _has_digits(value: int) -> bool:
    """Tell whether the interpreter writes *value*: it bounds the number of digits."""
    try:
        int.__repr__(value)
    except ValueError:
        return False
    return True


def mend_surrogates(text: str) -> tuple[str, bool]:
    r"""
    Join surrogate pairs in *text* and replace halves by U+FFFD.

    Returns:
        The text, and whether a half had to be replaced.

    >>> mend_surrogates("\ud83d\ude00") == ("\U0001f600", False)
    True
    >>> mend_surrogates("a\ud83d") == ("a\ufffd", True)
    True
    """
    if text.isascii() or not SURROGATE.search(text):
        return text, False
    joined = join_surrogates(text)
    mended = SURROGATE.sub("\ufffd", joined)
    return mended, mended != joined


def join_surrogates(text: str) -> str:
    """Return *text* with surrogate pairs joined, and halves as they are."""
    if not SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def is_whole_object(text: str) -> bool:
    """Tell whether *text* is one JSON object and nothing else."""
    return type(whole_value(text)) is dict


def whole_value(text: str) -> Any:
    """Return the JSON value that *text* is; `NO_VALUE` if it is not just one value."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return NO_VALUE
