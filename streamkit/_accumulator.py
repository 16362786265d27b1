"""
Chunks in, the full response out: `Accumulator`, keyed by choice index.

`index` is identity, never a position: choices interleave, come late, out of
order, several in one chunk, and with gaps.
"""

from __future__ import annotations

import math

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ._cells import is_index
from ._choice import ChoiceAccumulator, rules_of
from ._errors import InputRefused, InvalidChunk, LimitExceeded, StreamkitError, UpstreamError, quote
from ._issues import Issue, IssueLog
from ._kinds import Kind, is_chunk, is_ping, kind_of
from ._limits import Limits, check_limits
from ._merge import has_number, merge_fields
from ._outcome import Outcome
from ._plain import Unreadable, as_plain, parts_of
from ._repeat import Repeater
from ._rules import Rule, RuleSet
from ._state import Context, State, is_empty, plain_values


if TYPE_CHECKING:
    from ._models import ChatCompletion, Completion


__all__ = ["Accumulator"]


class Accumulator:
    """
    Merge the chunks of one stream into the full response.

    Args:
        kind: `"chat"` or `"completion"`; None lets the first chunk that tells
            decide.
        strict: Raise where a value would be left out, and at an error chunk.
        limits: Bounds on what is kept.
        rules: Rules for a provider's own fields, by path: `{"choices.delta.x":
            Rule.LAST}`.
        cumulative: Each piece of text repeats all before it.

    >>> chunks = Accumulator()
    >>> chunks.add({"id": "a", "choices": [{"index": 0, "delta": {"content": "Hi"}}]})
    >>> chunks.snapshot().choices[0].message.content
    'Hi'
    >>> chunks.add({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    >>> chunks.finish().complete
    True
    """

    def __init__(
        self,
        kind: Kind | None = None,
        *,
        strict: bool = False,
        limits: Limits = Limits(),
        rules: Mapping[str, Rule] | None = None,
        cumulative: bool = False,
    ) -> None:
        check_limits(limits)
        self._kind: Kind | None = kind
        self._custom_rules = rules
        self._rules: RuleSet = rules_of("chat" if kind is None else kind, rules)
        self._context = Context(IssueLog(limits.issues), limits, strict, cumulative)
        self._fields: State = {}
        self._choices: dict[int, ChoiceAccumulator] = {}
        self._choice_usage: State = {}
        self._chunks = 0
        self._error: StreamkitError | None = None
        self._refusal: StreamkitError | None = None
        self._outcome: Outcome | None = None
        self._repeater = Repeater(self._choices, self._context)
        self._most_chunks: float = math.inf if limits.chunks is None else limits.chunks

    @property
    def choices(self) -> Mapping[int, ChoiceAccumulator]:
        """The choices so far, by index, in order of arrival."""
        return MappingProxyType(self._choices)

    @property
    def kind(self) -> Kind | None:
        """What kind of stream this is, once it is known."""
        return self._kind

    @property
    def error(self) -> StreamkitError | None:
        """The first error chunk, or the bound that was crossed, or None."""
        return self._error

    @property
    def context(self) -> Context:
        """What its choices share."""
        return self._context

    @property
    def rules(self) -> RuleSet:
        """The rules of its kind of stream."""
        return self._rules

    def count_run(self, chunks: int, event: int) -> None:
        """Take note of *chunks* merged otherwise, the last of them number *event*."""
        self._chunks += chunks
        self._context.event = event + 1

    @property
    def chunks(self) -> int:
        """How many chunks came so far."""
        return self._chunks

    @property
    def is_strict(self) -> bool:
        """Whether what cannot be used raises."""
        return self._context.strict

    @property
    def has_failed(self) -> bool:
        """Whether further chunks are refused."""
        return self._refusal is not None

    @property
    def has_finished(self) -> bool:
        """Whether there are choices, and each has a finish reason."""
        choices = self._choices.values()
        return bool(choices) and all(choice.finish_reason is not None for choice in choices)

    @property
    def issues(self) -> tuple[Issue, ...]:
        """What was left out or noticed so far, in order."""
        return tuple(self._context.log.issues)

    def add(self, chunk: Any) -> None:
        """
        Merge *chunk*; it is neither changed nor kept.

        Args:
            chunk: A dict, one of streamkit's chunk models, or an object with
                `model_dump()` (openai, litellm, pydantic).  None, and a payload
                that is no chunk (a keep-alive), is skipped.

        Raises:
            LimitExceeded: If a bound is crossed; what came so far stays readable.
            InvalidChunk: In strict mode, if *chunk* is no chunk or a value was
                left out.
            UpstreamError: In strict mode, if *chunk* carries an error.
            InputRefused: After `finish` or one of these.
        """
        if self.add_alike(chunk) is None:
            self.add_and_learn(as_plain(chunk))

    def add_alike(self, chunk: Any) -> ChoiceAccumulator | None:
        """
        Merge *chunk* if it is like the one before, but for texts of one choice.

        Returns:
            That choice; or None: the chunk is still to be merged.

        Raises:
            LimitExceeded: As `add`.
        """
        parts = parts_of(chunk)
        if parts is None or self._refusal is not None or self._chunks >= self._most_chunks:
            return None
        try:
            choice = self._repeater.add(*parts)
        except LimitExceeded as error:
            self._chunks += 1
            self.fail(error)
            raise
        if choice is not None:
            self._chunks += 1
            self._context.event += 1
        return choice

    def add_and_learn(self, chunk: Any) -> None:
        """Merge *chunk*, plain data, by the rules, and take note of what others may be like."""
        log = self._context.log
        before = log.repairs
        self.add_plain(chunk)
        is_clean = type(chunk) is dict and log.repairs == before
        if is_clean and not self._context.cumulative:
            self._repeater.learn(chunk, self._rules)
        else:
            self._repeater.forget()

    def add_plain(
        self,
        payload: Any,
        *,
        owned: bool = False,
        event: int | None = None,
        offset: int | None = None,
    ) -> None:
        """
        Merge *payload*, which is plain JSON data.

        Args:
            payload: The chunk.
            owned: It belongs to the accumulator: nothing of it need be copied.
            event: The number to report issues with; None counts chunks.
            offset: Where it starts in the input, in bytes.
        """
        if self._refusal is not None:
            raise InputRefused(f"no more chunks: {self._refusal}")
        context = self._context
        context.owned = owned
        context.offset = offset
        if event is not None:
            context.event = event
        try:
            self._merge(payload)
        except (LimitExceeded, InvalidChunk, UpstreamError) as error:
            self.fail(error)
            raise
        except RecursionError as error:
            self._refuse("too_deep", "nested too deep to be merged", error)
        except Exception as error:  # noqa: BLE001 - a caller's own objects may raise anything
            self._refuse("bad_chunk", f"it cannot be read: {type(error).__name__}", error)
        context.event += 1

    def _merge(self, payload: Any) -> None:
        if payload is None:
            return
        if type(payload) is not dict:
            cause = payload.error if isinstance(payload, Unreadable) else None
            self._refuse("bad_chunk", f"expected an object, got {quote(payload)}", cause)
        elif is_chunk(payload):
            self._merge_chunk(payload)
        elif not is_ping(payload):
            self._context.refuse("not_a_chunk", f"no choices, no usage: {quote(payload)}", "$")

    def _merge_chunk(self, chunk: dict[str, Any]) -> None:
        self._chunks += 1
        bound = self._context.limits.chunks
        if bound is not None and self._chunks > bound:
            self._context.limits.check("chunks", self._chunks, self._context.offset)
        if self._kind is None:
            self._decide_kind(chunk)
        if chunk.get("error") is None or is_chunk({**chunk, "error": None}):
            merge_fields(self._fields, chunk, self._rules.chunk, self._context)
        choices = chunk.get("choices")
        if isinstance(choices, list):
            self._merge_choices(choices)
        elif choices is not None:
            self._context.refuse("bad_type", f"got {quote(choices)}", "$.choices")
        if chunk.get("object") == "chat.completion":
            self._context.issue("already_final", "a whole response was passed through")
        if chunk.get("error") is not None:
            self._note_error(chunk)

    def _decide_kind(self, chunk: dict[str, Any]) -> None:
        self._kind = kind_of(chunk)
        if self._kind is not None:
            self._rules = rules_of(self._kind, self._custom_rules)

    def _merge_choices(self, entries: list[Any]) -> None:
        for position, entry in enumerate(map(as_plain, entries)):
            if type(entry) is not dict:
                path = f"$.choices[{position}]"
                self._context.refuse("bad_choice", f"got {quote(entry)}", path)
                continue
            index = entry.get("index")
            if index is None:
                index = position
            choice = self._choices.get(index) if type(index) is int else None
            if choice is None:
                if not is_index(index, self._context.limits.index):
                    path = f"$.choices[{position}]"
                    self._context.refuse("index_range", f"the index is {quote(index)}", path)
                    continue
                choice = self._open_choice(index)
            choice.merge(entry, self._rules)
            usage = entry.get("usage")
            if usage is not None:
                merge_fields(self._choice_usage, {"usage": usage}, self._rules.chunk, self._context)

    def _open_choice(self, index: int) -> ChoiceAccumulator:
        limits = self._context.limits
        limits.check("choices", len(self._choices) + 1, self._context.offset)
        kind = self._kind or "chat"
        choice = ChoiceAccumulator.within(index, kind, self._rules, self._context)
        self._choices[index] = choice
        return choice

    def _note_error(self, chunk: dict[str, Any]) -> None:
        body = self._context.keep(chunk)
        error = UpstreamError.of(body["error"], body)
        self._error = self._error or error
        if self._context.strict:
            raise error

    def fail(self, error: StreamkitError) -> None:
        """Take note that the stream ended with *error*: refuse further chunks."""
        self._refusal = error
        if not isinstance(error, InvalidChunk):
            self._error = self._error or error
        error.partial = self.snapshot()

    def _refuse(self, code: str, message: str, cause: Exception | None) -> None:
        try:
            self._context.refuse(code, message, "$")
        except InvalidChunk as error:
            self.fail(error)
            raise error from cause

    # -- The response ------------------------------------------------------------

    def snapshot(self) -> ChatCompletion | Completion | None:
        """
        Return the response so far; never raise.

        It is None if there is none yet: no chunk came, or nothing but an error.
        The snapshot does not change when more chunks are added.
        """
        replaced = self._context.has_lone_surrogate
        response = self._build()
        self._context.has_lone_surrogate = replaced  # its other half may come yet
        return response

    def _build(self) -> ChatCompletion | Completion | None:
        if not self._chunks or (self._error is not None and self._is_only_error()):
            return None
        from ._converter import structure
        from ._models import ChatCompletion, Completion

        cls: type[ChatCompletion | Completion]
        cls = Completion if self._kind == "completion" else ChatCompletion
        return structure(self._plain(), cls)

    def _is_only_error(self) -> bool:
        """Tell whether there is nothing but an error: no response was ever begun."""
        return not self._choices and all(map(is_empty, self._fields.values()))

    def _plain(self) -> dict[str, Any]:
        kind: Kind = self._kind or "chat"
        fields = plain_values(self._fields, self._context)
        usage = self._usage(fields)
        response: dict[str, Any] = {
            "id": fields.pop("id", None) or "",
            "object": "chat.completion" if kind == "chat" else "text_completion",
            "created": fields.pop("created", None) or 0,
            "model": fields.pop("model", None) or "",
            "choices": [
                self._choices[index].plain(kind, self._context) for index in sorted(self._choices)
            ],
            **fields,
        }
        if usage is not None:
            response["usage"] = usage
        return response

    @property
    def usage(self) -> Any:
        """The usage so far as JSON data, not to be changed: another object when it was merged."""
        return self._usage(dict(self._fields))

    def _usage(self, fields: dict[str, Any]) -> Any:
        """Return the usage: the response's own, else a choice's, else `x_groq`'s."""
        usage = fields.pop("usage", None)
        if usage is None:
            usage = plain_values(self._choice_usage, self._context).get("usage")
        vendor = fields.get("x_groq")
        if usage is None and type(vendor) is dict and has_number(vendor.get("usage")):
            usage = vendor["usage"]
        return usage

    def finish(self, *, done: bool | None = None, cut: bool = False) -> Outcome:
        """
        Return the outcome: the full response, and what is to be said about it.

        Args:
            done: Whether `[DONE]` was seen; None if the source cannot have one.
            cut: Whether the input ended inside a value.
        """
        if self._outcome is None:
            self._outcome = self._finish(done, cut)
            self._refusal = self._refusal or InputRefused("the stream has finished")
        return self._outcome

    def _finish(self, done: bool | None, cut: bool) -> Outcome:
        response = self._build()
        context, log = self._context, self._context.log
        if context.has_lone_surrogate:
            log.add("lone_surrogate", "half a surrogate pair became U+FFFD")
        unfinished = self._unfinished()
        if response is None:
            log.add("empty_stream", "there is no usable chunk")
        elif unfinished:
            names = ", ".join(map(str, unfinished[:10]))
            log.add("finish_missing", f"no finish reason for choice {names}")
        if done is False and response is not None:
            log.add("done_missing", "the recording has no [DONE]")
        return Outcome(
            response=response,
            complete=(
                response is not None
                and self._error is None
                and not cut
                and (bool(done) or self.has_finished)
            ),
            error=self._error,
            issues=self.issues,
            issue_counts=dict(context.log.counts),
            chunks=self._chunks,
            done=done,
        )

    def _unfinished(self) -> list[int]:
        return [i for i, choice in sorted(self._choices.items()) if choice.finish_reason is None]
