"""
Secrets in a recording, found and covered.

The form of the recording stays: what is JSON is read as JSON and written again,
strings in it that hold JSON or a stream are looked into, and other text is
covered by pattern.  A secret that the model itself spelled over several chunks is
whole in none of them; only covering all text helps there.
"""

from __future__ import annotations

import base64
import io
import json
import re

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from streamkit._json import encode

from ._json_in_text import json_values


__all__ = ["COVER", "MASK", "Redactor"]

COVER = "[redacted]"

# Headers that say nothing of anybody; all others are covered.
SAFE_HEADERS = frozenset(
    {
        ":method",
        ":path",
        ":scheme",
        ":status",
        "accept",
        "accept-encoding",
        "cache-control",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "date",
        "keep-alive",
        "retry-after",
        "transfer-encoding",
        "vary",
    }
)
SECRET_NAME = re.compile(
    r"(?i)(?:.*[-_.])?(?:authorization|(?:set-)?cookies?|passw(?:or)?d|secret|credentials?|"
    r"api[-_]?keys?|(?:access|auth|refresh|session|id|bearer)[-_]?token|signature)(?:[-_]?\d*)"
)
KEYS = re.compile(
    r"(?P<secret>\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|github_pat|glpat|flp|r8|pplx|nvapi|tvly|key)[-_]"
    r"[A-Za-z0-9_-]{12,}"
    r"|\bAIza[A-Za-z0-9_-]{20,}|\bya29\.[A-Za-z0-9_.-]{20,}|\bAKIA[A-Z0-9]{12,}"
    r"|\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)"
)
BEARER = re.compile(r"(?i)\b(?:bearer|basic)[ \t]+(?P<secret>[A-Za-z0-9._~+/=-]{8,})")
QUERY = re.compile(
    r"(?i)[?&](?:[\w-]*(?:key|token|secret|password|signature)|sig|code)="
    r"(?P<secret>[^&\s\"'<>\\]+)"
)
USERINFO = re.compile(r"://(?P<secret>[^/@\s\"']{1,256})@")
# What curl remarks: the headers of HTTP/2 and 3, which user, which cookie.
STAMP = r"(?:\d\d:\d\d:\d\d\.\d{6} )?(?:\[\S{1,40}\] )?"
REMARK = re.compile(STAMP + r"(?:\* |== Info: ).*?\[(:?[A-Za-z0-9_.-]{1,64}): (.*)\]\s*", re.DOTALL)
USER = re.compile(r"\bauth using \S{1,40} with user '(?P<secret>[^']+)'")
COOKIE = re.compile(r"\b(?:Added|Replaced) cookie [^=\s]{1,256}=\"(?P<secret>[^\"]*)\"")
# A header in a log of curl, an HTTP message or a cassette.
HEADER = re.compile(
    r"([ \t]*)(" + STAMP + r"[<>] )?[\"']?([A-Za-z0-9_.-]{2,64})[\"']?[ \t]*:[ \t]*(.*)", re.DOTALL
)
# In the head of a message, where nothing else has a colon; one that begins with blanks
# goes on (RFC 9112, section 5.2).
FIELD_LINE = re.compile(r"([^\s:]*)(?:[ \t]*:[ \t]*|(?<!\S)[ \t]+)(.+)", re.DOTALL)
# A field of what cannot be read as JSON: cut, spread over lines, or Python's.
MEMBER = re.compile(
    r"(?:\b|(?<=[\"']))([A-Za-z_][\w-]{0,63})([\"']?\s{0,8}[:=]\s{0,8}([\"']))((?:(?!\3)[^\\]|\\.?)*)"
)
# The same in a string that holds JSON, and whose quotes are escaped so.
ESCAPED_MEMBER = re.compile(
    r"\b([A-Za-z_][\w-]{0,63})(\\{1,15}\"\s{0,8}:\s{0,8}(\\{1,15}\"))((?:(?!(?<!\\)\3).)*)",
    re.DOTALL,
)
# A variable of the environment, and an option of curl.
VARIABLE = re.compile(r"\b([A-Z][A-Z0-9_]{0,63})(=)(?P<secret>[^\s\"'$&;,]{4,})")
OPTION = re.compile(
    r"(?:-H|--header)[ =]?([\"'])([A-Za-z0-9_.-]{2,64}):[ \t]*(?P<secret>(?:(?!\1).)+)"
)
NUMBERS = re.compile(r"\b((?:bytes|tokens)[\"']?\s{0,8}[:=]\s{0,8}\[)[^\]]*")
# A token as a key, in the legacy shape of log probabilities.
LOGPROB = re.compile(r"(?<!\\)\"(?!logprob\")(?:[^\"\\]|\\.)*\"(\s{0,8}:\s{0,8}-\d)")
STREAM = re.compile(r"(?m)^data: ?[\[{]")
ITEM = re.compile(r"([ \t]*-[ \t]+)(.*)", re.DOTALL)

# What the model, or its caller, wrote; with text covered these go too.
TEXT_NAMES = frozenset(
    {
        "arguments",
        "bytes",
        "content",
        "delta",
        "input",
        "partial_json",
        "prompt",
        "reasoning",
        "reasoning_content",
        "refusal",
        "summary",
        "text",
        "thinking",
        "token",
        "tokens",
        "transcript",
    }
)
# What only there is text: `data` and `url` are other things elsewhere.
TEXT_PARTS = frozenset({("audio", "data"), ("url_citation", "title"), ("url_citation", "url")})
# Below these there is no body of HTTP, whatever a text looks like.
ANSWERS = frozenset({"choices", "delta", "message", "messages"})
BODY_NAMES = frozenset({"choices", "input", "messages", "model", "prompt", "type"})
WORD = re.compile(r"\S")
MASK = "x"
STARTS = ("{", "[")
DEPTH = 100
NO_BLOCK = -1


@attrs.define
class Redactor:
    """
    Covers secrets.

    Attributes:
        fields: Further fields to cover: names, or paths such as `message.content`.
        with_text: Cover what the model wrote too; its length stays.
        count: How many were covered so far.
    """

    fields: frozenset[str] = frozenset()
    with_text: bool = False
    count: int = 0
    _in_list: bool = False
    _block: int = NO_BLOCK

    def text(self, text: str, depth: int = 0) -> str:
        """Return *text*, a recording or a string in one, without its secrets."""
        if depth > DEPTH:
            return self._cover(text)
        parts, done = [], 0
        for start, end, value in json_values(text):
            before = text[done:start]
            parts.append(self._lines(before))
            is_header = self._in_list and not before.endswith("\n")  # whose value is JSON
            spelled = text[start:end]
            parts.append(
                self._cover(spelled) if is_header else self._spelled(value, spelled, depth)
            )
            done = end
        return "".join([*parts, self._lines(text[done:])])

    def _spelled(self, value: Any, text: str, depth: int) -> str:
        """Return the JSON *value* without its secrets; as it was spelled if it has none."""
        covered = self.value(value, depth=depth)
        if covered == value:
            return text
        return encode(covered, indent=2 if "\n" in text else None)

    def headers(self, text: str) -> str:
        """Return *text*, the head of a request or a response, without its secrets."""
        return "".join(map(self._field_line, _lines_of(text)))

    def _field_line(self, line: str) -> str:
        body = line.rstrip("\r\n")
        field = FIELD_LINE.fullmatch(body)
        if field is None or field[1].lower() in SAFE_HEADERS:
            return self._plain(line)
        return body[: field.start(2)] + self._cover(field[2]) + line[len(body) :]

    def _lines(self, text: str) -> str:
        return "".join(map(self._line, _lines_of(text)))

    def _line(self, line: str) -> str:
        body = line.rstrip("\r\n")
        return self._header(body) + line[len(body) :]

    def _header(self, line: str) -> str:
        remark = REMARK.fullmatch(line) if line.rstrip().endswith("]") else None
        if remark is not None and remark[1].lower() not in SAFE_HEADERS:
            return line[: remark.start(2)] + self._cover(remark[2]) + line[remark.end(2) :]
        header = HEADER.fullmatch(line)
        item = ITEM.fullmatch(line)
        self._leave(line)
        if header is not None and self._is_header(header):
            self._in_list = not header[4]
            return line[: header.start(4)] + (self._cover(header[4]) if header[4] else "")
        if item is not None and self._in_list:
            return item[1] + self._item(item[2])
        if item is None and line.strip():
            self._in_list = False
        if header is not None and header[3].lower() == "headers" and not header[4]:
            self._block = len(header[1])
        return self._plain(line)

    def _leave(self, line: str) -> None:
        """Take note of the end of a block of headers of a cassette."""
        indent = len(line) - len(line.lstrip(" \t"))
        if line.strip() and indent <= self._block and not ITEM.fullmatch(line):
            self._block = NO_BLOCK

    def _is_header(self, header: re.Match[str]) -> bool:
        """Tell whether a line is a header to be covered."""
        is_header = header[2] is not None or self._block != NO_BLOCK
        name = header[3].lower()
        return SECRET_NAME.fullmatch(name) is not None or (is_header and name not in SAFE_HEADERS)

    def _plain(self, text: str) -> str:
        text = ESCAPED_MEMBER.sub(self._member, MEMBER.sub(self._member, text))
        text = OPTION.sub(self._option, VARIABLE.sub(self._variable, text))
        if self.with_text:
            text = NUMBERS.sub(self._numbers, LOGPROB.sub(self._logprob, text))
        for pattern in PATTERNS:
            text = pattern.sub(self._found, text)
        return text

    def _found(self, found: re.Match[str]) -> str:
        """Return what a pattern *found* with the secret in it covered."""
        start, end = (place - found.start() for place in found.span("secret"))
        return found[0][:start] + self._cover(found["secret"]) + found[0][end:]

    def _variable(self, found: re.Match[str]) -> str:
        return self._found(found) if SECRET_NAME.fullmatch(found[1]) else found[0]

    def _option(self, found: re.Match[str]) -> str:
        return found[0] if found[2].lower() in SAFE_HEADERS else self._found(found)

    def _member(self, member: re.Match[str]) -> str:
        name, between, _, value = member.groups()
        if SECRET_NAME.fullmatch(name) or name in self.fields:
            value = value and self._cover(value)
        elif self.with_text and name in TEXT_NAMES and not STREAM.match(value):
            value = self._masked(value)
        return f"{name}{between}{value}"

    # -- What stands in the place of what ---------------------------------------------

    def _cover(self, text: str) -> str:
        self.count += 1
        return self._cover_of(text)

    def _cover_of(self, _text: str) -> str:
        return COVER

    def _cover_value(self, _value: Any) -> Any:
        """Return what stands for a number, or for what is nested too deep."""
        return self._cover("")

    def _item(self, text: str) -> str:
        return f"'{self._cover(text)}'"

    def _numbers(self, found: re.Match[str]) -> str:
        return found[1]

    def _logprob(self, found: re.Match[str]) -> str:
        return f'"{MASK}"{found[1]}'

    # -- JSON ------------------------------------------------------------------------

    def value(self, value: Any, path: tuple[str, ...] = (), depth: int = 0) -> Any:
        """Return JSON data without its secrets."""
        if depth > DEPTH:
            return self._cover_value(value)
        if isinstance(value, dict):
            return dict(self._members(value, path, depth + 1))
        if isinstance(value, list):
            return [
                [entry[0], self._covered(entry[1], depth)]
                if self._is_secret_pair(entry, path)
                else self.value(entry, path, depth + 1)
                for entry in value
            ]
        return self._string(value, depth) if isinstance(value, str) else value

    def _string(self, text: str, depth: int) -> str:
        has_inside = "data:" in text or text.lstrip().startswith(STARTS)
        return self.text(text, depth + 1) if has_inside else self._plain(text)

    def _members(
        self, value: Mapping[str, Any], path: tuple[str, ...], depth: int
    ) -> Iterator[tuple[str, Any]]:
        is_named = isinstance(value.get("name"), str) and "value" in value
        secret = is_named and self._is_secret(value["name"], path)
        is_base64 = value.get("encoding") == "base64"
        for name, member in value.items():
            below = (*path, name)
            if name == "value" if secret else self._is_chosen(name, below, is_named=is_named):
                yield name, self._covered(member, depth)
            elif is_base64 and name == "text" and isinstance(member, str):
                yield name, self._base64(member, depth)
            elif self.with_text and _is_text(name, member, path):
                yield name, self._masked(member)
            elif self.with_text and name == "top_logprobs" and isinstance(member, list):
                yield name, [self._masked_keys(entry, below, depth) for entry in member]
            else:
                yield name, self.value(member, below, depth)

    def _is_secret(self, name: str, path: tuple[str, ...]) -> bool:
        """Tell whether a header or a parameter called *name* is to be covered."""
        if "headers" in path[-1:]:
            return name.lower() not in SAFE_HEADERS
        return SECRET_NAME.fullmatch(name) is not None or name.lower() in ("key", "token")

    def _is_secret_pair(self, entry: Any, path: tuple[str, ...]) -> bool:
        """Tell whether *entry*, of a list of headers, is a name and a value to be covered."""
        is_pair = isinstance(entry, list) and list(map(type, entry)) == [str, str]
        return is_pair and "headers" in path[-1:] and self._is_secret(entry[0], path)

    def _is_chosen(self, name: str, path: tuple[str, ...], *, is_named: bool) -> bool:
        if path[-2:-1] == ("headers",) and not is_named:
            return name.lower() not in SAFE_HEADERS
        if SECRET_NAME.fullmatch(name):
            return True
        return any(path[-len(parts) :] == parts for parts in self._paths)

    @property
    def _paths(self) -> list[tuple[str, ...]]:
        return [tuple(field.split(".")) for field in self.fields]

    def _covered(self, value: Any, depth: int) -> Any:
        """Return what stands for *value*: null stays null, and a list a list."""
        if value is None or value == "":
            return value
        if isinstance(value, list) and depth < DEPTH:
            return [self._covered(entry, depth + 1) for entry in value]
        if isinstance(value, dict) and depth < DEPTH:
            return {name: self._covered(entry, depth + 1) for name, entry in value.items()}
        return self._cover(value) if isinstance(value, str) else self._cover_value(value)

    def _base64(self, text: str, depth: int) -> str:
        try:
            body = base64.b64decode(text, validate=True).decode()
        except ValueError:
            return text if not self.with_text else self._cover(text)
        return base64.b64encode(self.text(body, depth + 1).encode()).decode()

    # -- Text of the model -----------------------------------------------------------

    def _masked(self, value: Any) -> Any:
        """Return *value* with each character but blanks covered."""
        if isinstance(value, str):
            self.count += bool(value.strip())
            return WORD.sub(MASK, value)
        if isinstance(value, list):
            return [self._masked(entry) for entry in value]
        if isinstance(value, dict):
            return {
                name: entry if name in ("type", "role") else self._masked(entry)
                for name, entry in value.items()
            }
        return 0 if isinstance(value, int) and not isinstance(value, bool) else value

    def _masked_keys(self, entry: Any, path: tuple[str, ...], depth: int) -> Any:
        """Return an entry of `top_logprobs`; the legacy shape has tokens as keys."""
        if not isinstance(entry, dict) or "token" in entry:
            return self.value(entry, path, depth)
        return {f"{MASK}{number}": value for number, value in enumerate(entry.values())}


def _is_text(name: str, value: Any, path: tuple[str, ...]) -> bool:
    """Tell whether a field is text of the model or the caller, and no body of HTTP."""
    if (*path[-1:], name) in TEXT_PARTS:
        return True
    if name not in TEXT_NAMES or (name == "delta" and not isinstance(value, str)):
        return False
    return not ANSWERS.isdisjoint(path) or not _holds_stream(value)


def _holds_stream(value: Any) -> bool:
    """Tell whether *value* is a body, whose parts are looked at instead."""
    if isinstance(value, dict):
        return "mimeType" in value or not BODY_NAMES.isdisjoint(value)
    if not isinstance(value, str) or STREAM.search(value):
        return isinstance(value, str)
    try:
        body = json.loads(value) if value.lstrip().startswith(STARTS) else None
    except (ValueError, RecursionError):
        return False
    return isinstance(body, dict) and not BODY_NAMES.isdisjoint(body)


def _lines_of(text: str) -> Iterator[str]:
    """Return the lines of *text* with their ends; what else Python parts lines at ends none."""
    return iter(io.StringIO(text, newline=""))


PATTERNS = (BEARER, KEYS, QUERY, USERINFO, USER, COOKIE)
