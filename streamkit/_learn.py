r"""
How a template is learned: from one event, the chunk it was decoded to, and the merge rules.

A hole is only where a value may differ without changing anything else:

- a string that is concatenated (content, reasoning, arguments, text);
- a string that is dropped (padding), or a number that is (a later `created`);
- the index of the choice;
- a number that is collected (Friendli's token);
- one log probability entry of chat, or a list of those that legacy completions keep
  in parallel: raw JSON until it is read.

Everything else must be *still*: its rule adds nothing when the same value comes
again.  That is a property of each rule, listed in `STILL`; a chunk with any
other value has no template and goes the slow road.

What a hole accepts is stricter than JSON, never looser: no control characters,
no invalid escapes, numbers in plain range.  Where the decoder would have to
repair something, the event does not match, and the slow road reports it.
"""

from __future__ import annotations

import re

from typing import Any, Final

from ._rules import PARALLEL, Rule, RuleSet, Table
from ._shapes import BODY, INTEGER, column_pattern, entry_pattern, offsets_pattern
from ._spans import Path, spans_of
from ._template import Hole, HoleKind, Template


__all__ = ["RAW", "Plan", "learn"]

# A value that comes again under one of these rules adds nothing.
STILL: Final = frozenset(
    {
        Rule.DROP,
        Rule.EXTEND_DISTINCT,
        Rule.FINISH_REASON,
        Rule.FIRST,
        Rule.FIRST_NONZERO,
        Rule.FIRST_REPORTED,
        Rule.LAST,
        Rule.LAST_REPORTED,
        Rule.MERGE,
        Rule.MERGE_CATEGORIES,
        Rule.USAGE,
    }
)

TEXTS: Final = frozenset({Rule.CONCAT, Rule.CONTENT})
CALLS: Final = ("delta", "tool_calls")
LOGPROBS: Final = ("logprobs",)

INDEX = b"(" + INTEGER + b")"
POSITIVE = rb"[1-9][0-9]{0,17}+"
PADDING = rb"[ !#-\[\]-~]*+"
PATTERNS: Final[dict[HoleKind, bytes]] = {
    "text": b'"(' + BODY + b')"',
    "index": INDEX,
    "number": INDEX,
}
# What is taken without a look at what is in it.
RAW: Final = frozenset({"logprob", "column", "offsets"})


def learn(
    event: bytes, chunk: dict[str, Any], rules: RuleSet, *, many: bool, still: bool
) -> Template | None:
    """
    Return the template of *event*, or None if it has none.

    Args:
        event: The bytes of one event, its ending included: one `data` line, or
            one line of bare JSON.
        chunk: What its JSON was decoded to.
        rules: The rules that its values are merged by.
        many: Choices interleave: the index is a hole; for reading, so are other
            numbers that may vary.
        still: For merging: refuse where the event, merged again, would add
            anything beside what is in the holes, and skip what is dropped.  Else
            for reading: whatever is no hole is literal.
    """
    start, end = event.find(b"{"), event.rfind(b"}") + 1
    ending = event[end:]
    if event[:start] not in PREFIXES or ending not in ENDINGS:
        return None
    plan = Plan(rules, many=many, still=still)
    if not plan.chunk(chunk):
        return None
    raw = {hole.path for hole in plan.holes if hole.kind in RAW}
    spans = spans_of(event[start:end], raw)
    if spans is None:
        return None
    holes = sorted(plan.holes, key=lambda hole: spans[hole.path])
    edges = [(start + left, start + right) for left, right in (spans[it.path] for it in holes)]
    template = Template(
        *_cut(event, holes, edges),
        holes=tuple(hole for hole in holes if hole.kind != "skip"),
        chunk=chunk,
        ending=ending,
        is_bare=start == 0,
    )
    return template if template.fullmatch(event) else None


def _cut(
    event: bytes, holes: list[Hole], edges: list[tuple[int, int]]
) -> tuple[bytes, bytes, bytes]:
    """Return what is before *holes* in *event*, the expression of what is between, and the rest."""
    first, last = (edges[0][0], edges[-1][1]) if edges else (0, 0)
    between, at = [], first
    for hole, (left, right) in zip(holes, edges, strict=True):
        between += [re.escape(event[at:left]), hole.pattern or entry_pattern(event[left:right])]
        at = right
    return event[:first], b"".join(between), event[last:]


PREFIXES = frozenset({b"data: ", b"data:", b""})
ENDINGS = frozenset({b"\n\n", b"\r\n\r\n", b"\n", b"\r\n"})


def _kind_of_hole(level: Path, value: Any, rule: Rule) -> HoleKind | None:
    """Return what hole *value*, at *level* below a choice, is as a whole; None if it is none."""
    if rule in TEXTS and type(value) is str and level:
        return "text"
    is_count = type(value) is int and value >= 0
    return "number" if rule is Rule.COLLECT and is_count and len(level) == 1 else None


class Plan:
    """Find the holes of a chunk, and whether the rest of it is still."""

    def __init__(self, rules: RuleSet, *, many: bool, still: bool) -> None:
        self._rules = rules
        self._many = many
        self._still = still
        self.holes: list[Hole] = []

    def chunk(self, chunk: dict[str, Any]) -> bool:
        """Find the holes of *chunk*; return whether it has a template at all."""
        choices = chunk.get("choices")
        if type(choices) is not list or len(choices) != 1 or type(choices[0]) is not dict:
            return False
        if chunk.get("error") is not None:
            return False
        return self._fields((), chunk, self._rules.chunk) and self._choice(choices[0])

    def _choice(self, choice: dict[str, Any]) -> bool:
        path: Path = ("choices", 0)
        if self._many and type(choice.get("index")) is int:
            self._add((*path, "index"), "index")
        delta = choice.get("delta")
        if delta is not None and type(delta) is not dict:
            return not self._still
        return self._fields(path, choice, self._rules.choice) and (
            delta is None or self._fields((*path, "delta"), delta, self._rules.delta)
        )

    def _fields(self, path: Path, fields: dict[str, Any], table: Table) -> bool:
        return all(
            self._field((*path, name), value, table.rule_for(name, value))
            for name, value in fields.items()
            if value is not None
        )

    def _field(self, path: Path, value: Any, rule: Rule) -> bool:
        """Make a hole of a value, or tell whether it is still."""
        kind = _kind_of_hole(path[2:], value, rule)
        if kind is not None:
            self._add(path, kind)
            return True
        if rule is Rule.DROP or (rule is Rule.FIRST_NONZERO and value):
            self._skip(path, value)
            return True
        return self._is_still(path, value, rule) or not self._still

    def _is_still(self, path: Path, value: Any, rule: Rule) -> bool:
        """Make holes inside a value, or tell whether it is still."""
        if value and (rule, path[2:]) == (Rule.TOOL_CALLS, CALLS):
            return self._tool_call(path, value)
        if (rule, path[2:]) == (Rule.LOGPROBS, LOGPROBS):
            return self._logprobs(path, value)
        return rule in STILL or value == []

    def _skip(self, path: Path, value: Any) -> None:
        """Make a hole of a value that changes nothing; a reader still wants to see it."""
        if type(value) is str and path[-1] != "object":
            pattern = PADDING if self._still else b"(" + PADDING + b")"
            self.holes.append(
                Hole(path, "skip" if self._still else "padding", b'"' + pattern + b'"')
            )
        elif type(value) is int and value > 0 and path[-1] != "index":
            if self._still:
                self.holes.append(Hole(path, "skip", POSITIVE))
            elif self._many:
                self.holes.append(Hole(path, "number", b"(" + POSITIVE + b")"))

    def _tool_call(self, path: Path, entries: Any) -> bool:
        """Make a hole of the arguments of a fragment that goes on with a known call."""
        if type(entries) is not list or len(entries) != 1 or type(entries[0]) is not dict:
            return False
        entry = entries[0]
        function = entry.get("function")
        if type(function) is not dict or type(function.get("arguments")) is not str:
            return False
        others = {name: value for name, value in function.items() if name != "arguments" and value}
        named = {name: value for name, value in entry.items() if name not in CALL_FIELDS and value}
        if others or named or type(entry.get("index")) is not int:
            return False
        self._add((*path, 0, "function", "arguments"), "text")
        return True

    def _logprobs(self, path: Path, logprobs: Any) -> bool:
        """Make holes of the entries of log probabilities, in either shape."""
        if type(logprobs) is not dict:
            return False
        if PARALLEL.isdisjoint(logprobs):
            return self._entry(path, logprobs)
        return self._columns(path, logprobs)

    def _columns(self, path: Path, logprobs: dict[str, Any]) -> bool:
        """Make holes of the parallel lists of a legacy completion, if they are in step."""
        lists = {
            name: value for name, value in logprobs.items() if value is not None and value != []
        }
        if not all(type(value) is list for value in lists.values()):
            return False
        if len(set(map(len, lists.values()))) > 1:
            return False
        for name, entries in lists.items():
            if name == "text_offset":
                hole = Hole((*path, name), "offsets", offsets_pattern(len(entries)))
            else:
                hole = Hole((*path, name), "column", column_pattern(entries))
            self.holes.append(hole)
        return True

    def _entry(self, path: Path, logprobs: dict[str, Any]) -> bool:
        """Make a hole of the one entry of chat's `content`."""
        others = [value for name, value in logprobs.items() if name != "content"]
        entries = logprobs.get("content")
        if any(value is not None for value in others) or type(entries) is not list:
            return False
        if not entries:
            return True
        if len(entries) != 1 or type(entries[0]) is not dict:
            return False
        self._add((*path, "content", 0), "logprob")
        return True

    def _add(self, path: Path, kind: HoleKind) -> None:
        self.holes.append(Hole(path, kind, PATTERNS.get(kind, b"")))


CALL_FIELDS = frozenset({"index", "type", "function"})
