"""One choice of a stream: `ChoiceAccumulator`, from deltas to the full choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._cells import Content, set_last
from ._errors import quote
from ._issues import Issue, IssueLog
from ._kinds import Kind
from ._limits import Limits, check_limits
from ._logprobs import Logprobs
from ._merge import merge_fields
from ._plain import as_plain
from ._rules import RULES, Rule, RuleSet
from ._spans import Path
from ._state import Context, State, Text, is_empty, plain_value, plain_values
from ._tools import ToolCalls
from ._views import copy_json


if TYPE_CHECKING:
    from ._models import Choice, CompletionChoice


__all__ = ["ChoiceAccumulator", "rules_of"]


def rules_of(kind: Kind, rules: Mapping[str, Rule] | None) -> RuleSet:
    """
    Return the rules of *kind*, with a caller's own *rules* added.

    Raises:
        TypeError: If *kind* is unknown, or a rule is none.
    """
    if kind not in RULES:
        raise TypeError(f"kind must be 'chat' or 'completion', not {kind!r}")
    return RULES[kind].extended(rules) if rules else RULES[kind]


class ChoiceAccumulator:
    """
    Merge what chunks carry for one choice.

    `Accumulator` keeps one for each index; it is of use alone for a caller who
    has sorted the choices already.

    Args:
        index: The choice's identity.
        kind: `"chat"` or `"completion"`.
        strict: Raise `InvalidChunk` where a value would be left out.
        limits: Bounds on what is kept.
        rules: Rules for a provider's own fields, see `RuleSet.extended`.
        cumulative: Each piece of text repeats all before it.

    >>> choice = ChoiceAccumulator()
    >>> choice.add({"delta": {"content": "Hel"}})
    >>> choice.add({"delta": {"content": "lo"}, "finish_reason": "stop"})
    >>> choice.snapshot().message.content, choice.finish_reason
    ('Hello', 'stop')
    """

    def __init__(
        self,
        index: int = 0,
        *,
        kind: Kind = "chat",
        strict: bool = False,
        limits: Limits = Limits(),
        rules: Mapping[str, Rule] | None = None,
        cumulative: bool = False,
    ) -> None:
        check_limits(limits)
        log = IssueLog(limits.issues)
        context = Context(log, limits, strict, cumulative)
        self._set_up(index, kind, rules_of(kind, rules), context)

    def _set_up(self, index: int, kind: Kind, rules: RuleSet, context: Context) -> None:
        self.index = index
        self._kind: Kind = kind
        self._rules = rules
        self._context = context
        self._fields: State = {}
        self._delta: State = {}
        self._message: State = {}

    @classmethod
    def within(cls, index: int, kind: Kind, rules: RuleSet, context: Context) -> ChoiceAccumulator:
        """Return an accumulator that shares *context* with the others of its stream."""
        choice = cls.__new__(cls)
        choice._set_up(index, kind, rules, context)
        return choice

    @property
    def finish_reason(self) -> Any:
        """Why the choice ended, or None: it goes on, or the stream was cut."""
        reason = plain_value(self._fields.get("finish_reason"), self._context)
        return None if is_empty(reason) else reason

    @property
    def issues(self) -> tuple[Issue, ...]:
        """What was left out or noticed so far."""
        return tuple(self._context.log.issues)

    def add(self, choice: Any) -> None:
        """
        Merge *choice*, one entry of a chunk's `choices`; it is not changed or kept.

        Raises:
            InvalidChunk: In strict mode, if a value has a type its field cannot have.
            LimitExceeded: If a bound is crossed.
            TypeError: If *choice* is no mapping and no model.
        """
        plain = as_plain(choice)
        if type(plain) is not dict:
            raise TypeError(f"choice must be a mapping or a model, not {type(choice).__name__}")
        try:
            self.merge(plain, self._rules)
        except RecursionError:
            self._context.refuse("too_deep", "nested too deep to be merged", "$")
        self._context.event += 1
        self._context.fed_alone += 1

    def merge(self, choice: dict[str, Any], rules: RuleSet) -> None:
        """Merge a plain *choice* by *rules*."""
        context = self._context
        merge_fields(self._fields, choice, rules.choice, context)
        delta = as_plain(choice.get("delta"))
        if type(delta) is dict:
            merge_fields(self._delta, delta, rules.delta, context)
        elif delta is not None:
            context.refuse("bad_type", f"expected an object, got {quote(delta)}", "$..delta")
        message = choice.get("message")
        if type(message) is dict:
            set_last(self._message, message, context)
        elif message is not None:
            context.refuse("bad_type", f"expected an object, got {quote(message)}", "$..message")

    def cell(self, name: str) -> Any:
        """Return what is kept for the field *name*: of the delta, the choice, or a message."""
        for state in (self._delta, self._fields, self._message):
            kept = state.get(name)
            if kept is not None:
                return kept
        return None

    # -- What the fast road writes to ---------------------------------------------

    def text_at(self, path: Path, chunk: dict[str, Any]) -> Text | None:
        """Return the text that the string at *path* of a choice is appended to."""
        if path[0] != "delta":
            kept = self._fields.get(str(path[0]))
        elif len(path) > len(("delta", "content")):
            calls = self._delta.get("tool_calls")
            entry = chunk["choices"][0]["delta"]["tool_calls"][0]
            return calls.arguments_at(entry["index"]) if isinstance(calls, ToolCalls) else None
        else:
            kept = self._delta.get(str(path[1]))
        if isinstance(kept, Content):
            return kept.text
        return kept if isinstance(kept, Text) else None

    def numbers_at(self, name: str) -> list[Any] | None:
        """Return the list that the number *name* is collected in."""
        kept = self._fields.get(f"{name}s")
        return kept if isinstance(kept, list) else None

    @property
    def logprobs(self) -> Logprobs | None:
        """The log probabilities so far."""
        kept = self._fields.get("logprobs")
        return kept if isinstance(kept, Logprobs) else None

    def snapshot(self) -> Choice | CompletionChoice:
        """Return the choice so far; it does not change later."""
        from ._converter import structure
        from ._models import Choice, CompletionChoice

        cls: type[Choice | CompletionChoice]
        cls = Choice if self._kind == "chat" else CompletionChoice
        return structure(self.plain(self._kind, self._context), cls)

    def plain(self, kind: Kind, context: Context) -> dict[str, Any]:
        """Return the full choice so far as JSON data."""
        fields = plain_values(self._fields, context)
        text = fields.pop("text", None)
        delta = plain_values(self._delta, context)
        message = copy_json(self._message)
        choice: dict[str, Any] = {"index": self.index}
        if kind == "chat":
            choice["message"] = _chat_message(delta, message, text)
        else:
            choice["text"] = text or _string(delta) or _string(message) or ""
        choice |= {"finish_reason": None, "logprobs": None, **fields}
        if kind == "completion":
            _keep_stray_fields(choice, delta)
        choice["finish_reason"] = self.finish_reason
        return choice


def _chat_message(
    delta: dict[str, Any], message: dict[str, Any], text: str | None
) -> dict[str, Any]:
    """Join what the deltas carried, what a `message` beside them fills, and defaults."""
    full: dict[str, Any] = {"role": None, "content": None, "refusal": None, **delta}
    for name, value in message.items():
        if is_empty(full.get(name)) and not (is_empty(value) and name in delta):
            full[name] = value
    calls = full.get("tool_calls")
    if not calls:
        full.pop("tool_calls", None)
    elif calls is message.get("tool_calls") and isinstance(calls, list):
        full["tool_calls"] = [_without_index(call) for call in calls]
    if not full["content"] and text:
        full["content"] = text
    full["role"] = full["role"] or "assistant"
    return full


def _without_index(call: Any) -> Any:
    if type(call) is not dict:
        return call
    return {name: value for name, value in call.items() if name != "index"}


def _string(fields: dict[str, Any]) -> str:
    content = fields.get("content")
    return content if isinstance(content, str) else ""


def _keep_stray_fields(choice: dict[str, Any], delta: dict[str, Any]) -> None:
    """Keep what a completion's delta carried besides its text, and the ids of its pieces."""
    for name, value in delta.items():
        if name not in {"role", "content"} and not name.endswith("_id") and not is_empty(value):
            choice.setdefault(name, value)
