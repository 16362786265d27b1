"""
The merge rules, as tables: which rule holds for which field.

This file is `docs/merge-rules.md` in code, row by row; what each rule does is in
`_merge` and the rooms below it.  The measure is the object that the same API
returns without streaming.
"""

from __future__ import annotations

import enum

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs


__all__ = ["CHUNK", "DELTA", "PARALLEL", "REASONING", "RULES", "Rule", "RuleSet", "Table"]


class Rule(enum.Enum):
    """
    How the values of one field become one value.

    Null equals absent in every rule, and an empty value (null, `""`, `[]`, `{}`)
    never erases one that came before.
    """

    FIRST = "the first non-empty value"
    FIRST_REPORTED = "the first non-empty value; a change is an issue"
    FIRST_NONZERO = "the first value that is not 0"
    LAST = "the last non-empty value, whole"
    LAST_REPORTED = "the last non-empty value; a change is an issue"
    MERGE = "objects merge key by key, the last value of a key wins"
    MERGE_CATEGORIES = "objects merge key by key, each value taken whole"
    CONCAT = "strings are concatenated"
    EXTEND = "lists are extended"
    EXTEND_DISTINCT = "lists are extended, exact repeats dropped; objects merge"
    BY_INDEX = "entries merge by their index, later keys overwrite; others are appended"
    COLLECT = "values are collected into a list, under the plural name"
    DROP = "not part of the response"
    FINISH_REASON = "the last non-empty string; 'null' is empty"
    USAGE = "the last report replaces the whole; {} is none, zeros replace no numbers"
    LOGPROBS = "lists are extended; parallel lists stay in step"
    CONTENT = "strings are concatenated; parts stay parts, neighbours of a type merge"
    TOOL_CALLS = "fragments merge by call"
    FUNCTION_CALL = "the name as in tool calls, arguments concatenated"
    AUDIO = "transcript and data are concatenated"
    REASONING_DETAILS = "entries merge by index and type"

    # Members are looked up for each field of each chunk; enum's own hash is Python.
    if TYPE_CHECKING:

        def __hash__(self) -> int: ...

    else:
        __hash__ = object.__hash__


@attrs.frozen
class Table:
    """
    The rules of one object: by field name, and by JSON type for all other fields.

    A string whose name is in *identities*, or ends in `_id`, says what something
    is: it is set, not concatenated.
    """

    fields: Mapping[str, Rule]
    string: Rule
    array: Rule
    object: Rule
    scalar: Rule
    identities: frozenset[str] = frozenset()

    def rule_for(self, name: str, value: Any) -> Rule:
        """Return the rule for the field *name*, whose non-null value is *value*."""
        rule = self.fields.get(name)
        if rule is not None:
            return rule
        if isinstance(value, str):
            is_identity = name in self.identities or name.endswith("_id")
            return Rule.LAST if is_identity else self.string
        if isinstance(value, list):
            return self.array
        return self.object if isinstance(value, dict) else self.scalar

    def extended(self, fields: Mapping[str, Rule]) -> Table:
        """Return a table in which *fields* come first."""
        return attrs.evolve(self, fields={**self.fields, **fields})


# -- Chunk level ---------------------------------------------------------------------

CHUNK: Final = Table(
    {
        "id": Rule.FIRST_REPORTED,
        "created": Rule.FIRST_NONZERO,
        "model": Rule.LAST_REPORTED,  # a router names the real model later
        "object": Rule.DROP,  # fixed by the kind, whatever the chunks said
        "system_fingerprint": Rule.LAST,
        "service_tier": Rule.LAST,
        "usage": Rule.USAGE,
        "choices": Rule.DROP,  # merged choice by choice
        "error": Rule.DROP,  # the outcome's error
        "obfuscation": Rule.DROP,  # padding
        "p": Rule.DROP,  # padding
        "stream_options": Rule.DROP,  # an echo of the request
    },
    string=Rule.LAST,
    array=Rule.LAST,
    object=Rule.MERGE,
    scalar=Rule.LAST,
)

# -- Choice level --------------------------------------------------------------------

CHAT_CHOICE: Final = Table(
    {
        "index": Rule.DROP,  # the choice's identity
        "delta": Rule.DROP,  # merged field by field
        "message": Rule.DROP,  # fills what no delta carried
        "usage": Rule.DROP,  # lifted to the response
        "text": Rule.CONCAT,  # used if no content came
        "finish_reason": Rule.FINISH_REASON,
        "logprobs": Rule.LOGPROBS,
        "token_ids": Rule.EXTEND,
        "content_filter_results": Rule.MERGE_CATEGORIES,
    },
    string=Rule.LAST,
    array=Rule.LAST,
    object=Rule.MERGE,
    scalar=Rule.LAST,
)

COMPLETION_CHOICE: Final = CHAT_CHOICE.extended(
    {
        "token": Rule.COLLECT,  # Friendli: the full object has tokens
        "tokens": Rule.EXTEND,
    }
)

# The log probabilities of a legacy completion: lists with an entry for each token.
PARALLEL: Final = frozenset({"tokens", "token_logprobs", "top_logprobs", "text_offset"})

# -- Delta → message -----------------------------------------------------------------

# Where servers put what the model thinks before it answers.
REASONING: Final = ("reasoning_content", "reasoning")

DELTA: Final = Table(
    {
        "role": Rule.FIRST_REPORTED,
        "content": Rule.CONTENT,
        "refusal": Rule.CONCAT,
        "reasoning_content": Rule.CONCAT,
        "reasoning": Rule.CONCAT,
        "tool_calls": Rule.TOOL_CALLS,
        "function_call": Rule.FUNCTION_CALL,
        "audio": Rule.AUDIO,
        "annotations": Rule.EXTEND_DISTINCT,
        "executed_tools": Rule.BY_INDEX,
        "reasoning_details": Rule.REASONING_DETAILS,
        "index": Rule.DROP,  # a message has no index
    },
    string=Rule.CONCAT,
    array=Rule.BY_INDEX,  # extends where entries carry no index
    object=Rule.MERGE,
    scalar=Rule.LAST,
    identities=frozenset(
        {
            "channel",
            "format",
            "id",
            "name",
            "object",
            "phase",
            "role",
            "signature",
            "status",
            "type",
        }
    ),
)


@attrs.frozen
class RuleSet:
    """The tables of one kind of stream."""

    chunk: Table
    choice: Table
    delta: Table

    def extended(self, rules: Mapping[str, Rule]) -> RuleSet:
        """
        Return the set with *rules* added, for a provider's own fields.

        Args:
            rules: Rule by path: `"x"` for a field of the chunk, `"choices.x"` of
                the choice, `"choices.delta.x"` of the delta.

        Raises:
            TypeError: If a path or a rule is none.
        """
        levels: dict[str, dict[str, Rule]] = {"": {}, "choices.": {}, "choices.delta.": {}}
        try:
            pairs: list[tuple[Any, Any]] = list(dict(rules).items())
        except ValueError:
            raise TypeError(f"rules must be a mapping from path to Rule, not {rules!r}") from None
        for path, rule in pairs:
            prefix, dot, name = str(path).rpartition(".")
            level = levels.get(prefix + dot)
            if level is None or not (name and isinstance(path, str) and isinstance(rule, Rule)):
                raise TypeError(
                    f"rules take paths like 'x', 'choices.x', 'choices.delta.x' "
                    f"and members of Rule, not {path!r}: {rule!r}"
                )
            level[name] = rule
        return RuleSet(
            self.chunk.extended(levels[""]),
            self.choice.extended(levels["choices."]),
            self.delta.extended(levels["choices.delta."]),
        )


RULES: Final[Mapping[str, RuleSet]] = {
    "chat": RuleSet(CHUNK, CHAT_CHOICE, DELTA),
    "completion": RuleSet(CHUNK, COMPLETION_CHOICE, DELTA),
}
"""The rules by kind of stream: `"chat"` and `"completion"`."""
