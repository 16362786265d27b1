"""A full response in, the chunks that give it back out: `chunk_up`."""

from __future__ import annotations

from typing import Any

from streamkit._cells import is_index
from streamkit._errors import quote
from streamkit._kinds import Kind
from streamkit._outcome import class_name
from streamkit._plain import as_plain
from streamkit._rules import RULES, Rule, Table
from streamkit._views import copy_json

from ._assembly import Assembly
from ._deltas import Cutting
from ._dialects import Dialect, UsageForm, dialect_of
from ._dice import Dice, Size
from ._errors import Unstreamable
from ._lanes import lane_of
from ._text import TextCutter
from ._truth import check_comes_back, check_is_json, key_path


__all__ = ["chunk_up"]

# What a chunk has under the name of a field that merging drops, or in its stead.
PLACED = frozenset({"object", "choices", "index", "message"})


def chunk_up(
    response: Any,
    *,
    seed: int = 0,
    size: Size = (1, 8),
    interleave: bool = True,
    usage: UsageForm | None = None,
    dialect: str | Dialect = "openai",
    surrogates: bool = False,
    lossy: bool = False,
) -> list[dict[str, Any]]:
    """
    Return chunks that give *response* back: the inverse of `finalize`.

    The same arguments give the same chunks.  Null under a key is as absent, as in
    every merge; all else comes back as it is, or is refused.

    Args:
        response: A full chat completion or legacy completion: streamkit's own, a
            dict, or an object with `model_dump()` (openai, litellm, pydantic).
        seed: Where chance starts.
        size: Characters in a piece: a number, or the lowest and the highest.  With
            log probabilities, pieces are whole tokens and at least as long.
        interleave: Choices take turns, and so do parallel calls of tools; else one
            comes after the other.
        usage: Where usage comes, see `Dialect.usage`; None: as the dialect has it.
        dialect: A `Dialect`, or the name of one in `DIALECTS`.
        surrogates: Pieces may end between the halves of a surrogate pair.
        lossy: What no chunks can give back is no error: it comes back as merging
            makes it, or not at all.

    Raises:
        Unstreamable: If no sequence of chunks gives a value back, as with a role
            that is `""`, or two parts of text side by side; `path` says which.
        TypeError: If *response* is no response, or an argument is wrong.

    >>> from streamkit import finalize, from_dict
    >>> message = {"role": "assistant", "content": "Hello!"}
    >>> response = {
    ...     "object": "chat.completion",
    ...     "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    ... }
    >>> chunks = chunk_up(response, size=4, dialect="plain")
    >>> [chunk["choices"][0]["delta"] for chunk in chunks]
    [{'role': 'assistant', 'content': 'Hell'}, {'content': 'o!'}]
    >>> finalize(chunks) == from_dict(response)
    True
    """
    way = dialect_of(dialect)
    form = way.usage if usage is None else usage
    dice = Dice(seed, size)
    plain = _plain(response)
    kind = _kind_of(plain)
    try:
        check_is_json(plain)
        kept = _without_dropped(plain, kind, lossy=lossy)
        cutting = Cutting(way, TextCutter(dice, surrogates=surrogates), interleave)
        lanes = [lane_of(choice, kind, cutting) for choice in kept["choices"]]
        entries = dice.interleaved(lanes) if interleave else [e for lane in lanes for e in lane]
        chunks = Assembly(kept, kind, way, form, dice).chunks(entries)
        if not lossy:
            wanted = {name: value for name, value in kept.items() if name != "usage"}
            check_comes_back(wanted if form == "none" else kept, chunks, kind)
    except RecursionError:
        raise Unstreamable("nested too deep to be streamed") from None
    return chunks


def _plain(response: Any) -> dict[str, Any]:
    plain = as_plain(response)
    if type(plain) is not dict:
        raise TypeError(
            f"response must be a full response, a dict, or an object with model_dump(), "
            f"not {class_name(response)}"
        )
    try:
        copied: dict[str, Any] = copy_json(plain)
    except RecursionError:
        raise Unstreamable("nested too deep to be streamed") from None
    return copied


# -- What is in it -------------------------------------------------------------------


def _kind_of(plain: dict[str, Any]) -> Kind:
    """
    Return the kind of response *plain*, which has all that a stream of it needs.

    Raises:
        Unstreamable: If it is of neither kind, or a choice is not whole.
    """
    choices = plain.get("choices")
    if type(choices) is not list:
        raise Unstreamable(f"expected a list, got {quote(choices)}", path="$.choices")
    kind = _told_kind(plain, choices)
    body = "message" if kind == "chat" else "text"
    for number, choice in enumerate(choices):
        path = f"$.choices[{number}]"
        if type(choice) is not dict:
            raise Unstreamable(f"expected an object, got {quote(choice)}", path=path)
        if not is_index(choice.get("index"), None):
            raise Unstreamable(f"the index is {quote(choice.get('index'))}", path=f"{path}.index")
        if kind == "chat" and type(choice.get(body)) is not dict:
            raise Unstreamable(
                f"expected an object, got {quote(choice.get(body))}", path=f"{path}.{body}"
            )
    return kind


def _told_kind(plain: dict[str, Any], choices: list[Any]) -> Kind:
    name = plain.get("object")
    if name == "chat.completion":
        return "chat"
    if name == "text_completion":
        return "completion"
    first = choices[0] if choices and type(choices[0]) is dict else {}
    if name is None and "message" in first:
        return "chat"
    if name is None and "text" in first:
        return "completion"
    raise Unstreamable(
        f"expected chat.completion or text_completion, got {quote(name)}", path="$.object"
    )


def _without_dropped(plain: dict[str, Any], kind: Kind, *, lossy: bool) -> dict[str, Any]:
    """Return *plain* without the fields that merging drops; unless *lossy* there must be none."""
    rules = RULES[kind]
    kept = _kept(plain, rules.chunk, "$", lossy=lossy)
    kept["choices"] = []
    for number, choice in enumerate(plain["choices"]):
        path = f"$.choices[{number}]"
        left = _kept(choice, rules.choice, path, lossy=lossy)
        if kind == "chat":
            left["message"] = _kept(left["message"], rules.delta, f"{path}.message", lossy=lossy)
        kept["choices"].append(left)
    return kept


def _kept(fields: dict[str, Any], table: Table, path: str, *, lossy: bool) -> dict[str, Any]:
    dropped = [
        name
        for name, value in fields.items()
        if table.rule_for(name, value) is Rule.DROP and name not in PLACED and value is not None
    ]
    if dropped and not lossy:
        raise Unstreamable("merging drops this field", path=key_path(path, dropped[0]))
    return {name: value for name, value in fields.items() if name not in dropped}
