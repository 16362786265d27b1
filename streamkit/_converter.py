"""
Dict ↔ model, by cattrs; this is the one room that imports it.

Two converters over the same classes: the *strict* one checks every type and
names the path of what is wrong; the *lenient* one builds the response of a
stream, where a value of the wrong type is kept as it came.

Fields that a class does not know go to its `extra`, and come back from there.
"""

from __future__ import annotations

import functools
import types
import typing

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

import attrs
import cattrs

from cattrs.gen import make_dict_structure_fn
from cattrs.v import transform_error

from ._chunk_models import ABSENT, ChatCompletionChunk, CompletionChunk
from ._errors import InvalidChunk
from ._json import encode
from ._models import ChatCompletion, Completion, TokenLogprob, TopLogprob
from ._outcome import class_name
from ._views import ListView, copy_json


__all__ = ["from_dict", "structure", "to_dict", "to_json"]

T = TypeVar("T")
Hook = Callable[[Any, Any], Any]

SPELLED: Mapping[type, str] = {list: "an array", dict: "an object"}
ATOMS = (str, int, float, bool, type(None))
NONE_TYPE = type(None)


# -- Structuring -----------------------------------------------------------------


def _field_names(cls: type) -> frozenset[str]:
    return frozenset(field.name for field in attrs.fields(cls)) - {"extra"}


def _mismatch(value: Any, wanted: str) -> TypeError:
    return TypeError(f"expected {wanted}, got {type(value).__name__}")


class Structurer:
    """
    The hooks of one converter.

    Args:
        lenient: Keep a value of the wrong type instead of raising.
    """

    def __init__(self, *, lenient: bool) -> None:
        self.lenient = lenient
        self.converter = cattrs.Converter(detailed_validation=not lenient)
        register = self.converter.register_structure_hook_factory
        register(_is_sequence, self._sequence)
        register(_is_mapping, self._mapping)
        register(_is_union, self._union)
        register(attrs.has, self._model)
        for atom in (str, int, float):
            self.converter.register_structure_hook(atom, self._atom(atom))

    def _refuse(self, value: Any, wanted: str) -> Any:
        if self.lenient:
            return value
        raise _mismatch(value, wanted)

    def _atom(self, atom: type) -> Hook:
        accepted = (int, float) if atom is float else (atom,)

        def structure(value: Any, _: Any) -> Any:
            return value if type(value) in accepted else self._refuse(value, atom.__name__)

        return structure

    def _mapping(self, _: Any) -> Hook:
        def structure(value: Any, _: Any) -> Any:
            is_object = isinstance(value, Mapping)
            return copy_json(value) if is_object else self._refuse(value, "an object")

        return structure

    def _sequence(self, annotation: Any) -> Hook:
        (entry,) = typing.get_args(annotation)
        if self.lenient and entry is TokenLogprob:
            return _view
        whole = self.converter.get_structure_hook(types.GenericAlias(list, (entry,)))

        def structure(value: Any, _: Any) -> Any:
            if self.lenient and type(value) is ListView:
                return value
            if type(value) in (list, tuple, ListView):
                return tuple(whole(value, list))
            return self._refuse(value, "an array")

        return structure

    def _union(self, annotation: Any) -> Hook:
        """Choose the arm by the JSON type of the value, as the wire does."""
        arms = [arm for arm in typing.get_args(annotation) if arm is not NONE_TYPE]
        arms = [arm for arm in arms if typing.get_origin(arm) is not typing.Literal]
        hooks = {_json_type(arm): self.converter.get_structure_hook(arm) for arm in arms}
        hooks[NONE_TYPE] = _same
        if list in hooks:
            hooks[tuple] = hooks[ListView] = hooks[list]
        if float in hooks:
            hooks[int] = hooks[float]
        objects = [arm for arm in arms if attrs.has(arm)]
        if len(objects) > 1:
            hooks[dict] = self._nearest(objects)
        wanted = " or ".join(_spell(arm) for arm in arms)

        def structure(value: Any, _: Any) -> Any:
            if value is ABSENT:
                return value
            hook = hooks.get(type(value))
            if hook is None and isinstance(value, Mapping):
                hook = hooks.get(dict)
            return self._refuse(value, wanted) if hook is None else hook(value, None)

        return structure

    def _nearest(self, classes: list[Any]) -> Hook:
        """Choose the class that knows most of the keys."""
        hooks = {cls: self.converter.get_structure_hook(cls) for cls in classes}
        names = {cls: _field_names(cls) for cls in classes}

        def structure(value: Any, _: Any) -> Any:
            cls = max(classes, key=lambda cls: len(names[cls] & value.keys()))
            return hooks[cls](value, cls)

        return structure

    def _model(self, cls: Any) -> Hook:
        names = _field_names(cls)
        make = make_dict_structure_fn(cls, self.converter)

        def structure(value: Any, _: Any) -> Any:
            if not isinstance(value, Mapping):
                return self._refuse(value, "an object")
            if value.keys() <= names:
                return make(value, cls)
            known = {key: item for key, item in value.items() if key in names}
            known["extra"] = {key: item for key, item in value.items() if key not in names}
            return make(known, cls)

        return structure


def _same(value: Any, _: Any) -> Any:
    return value


def _view(value: Any, _: Any) -> Any:
    if type(value) is ListView:
        return value.made_by(_make_entry)
    return ListView(value, len(value), _make_entry)


# Log probabilities are read by the thousand, so their two classes are made here
# and not by a general hook; a test holds both ways equal.
ENTRY_FIELDS = frozenset({"token", "logprob", "bytes", "top_logprobs"})
TOP_FIELDS = ENTRY_FIELDS - {"top_logprobs"}


def _make_entry(entry: Any) -> Any:
    """Make a log probability entry; what is none stays what it is."""
    if type(entry) is not dict or "token" not in entry or "logprob" not in entry:
        return copy_json(entry)
    top = entry.get("top_logprobs")
    return TokenLogprob(
        token=entry["token"],
        logprob=entry["logprob"],
        bytes=_as_tuple(entry.get("bytes")),
        top_logprobs=tuple(map(_make_top, top)) if type(top) is list else copy_json(top),
        extra=_extra_of(entry, ENTRY_FIELDS),
    )


def _make_top(top: Any) -> Any:
    if type(top) is not dict or "token" not in top or "logprob" not in top:
        return copy_json(top)
    return TopLogprob(
        token=top["token"],
        logprob=top["logprob"],
        bytes=_as_tuple(top.get("bytes")),
        extra=_extra_of(top, TOP_FIELDS),
    )


def _as_tuple(value: Any) -> Any:
    return tuple(value) if type(value) is list else copy_json(value)


def _extra_of(entry: dict[str, Any], fields: frozenset[str]) -> dict[str, Any]:
    if entry.keys() <= fields:
        return {}
    return {name: copy_json(value) for name, value in entry.items() if name not in fields}


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


def _is_sequence(annotation: Any) -> bool:
    return typing.get_origin(annotation) is Sequence


def _is_mapping(annotation: Any) -> bool:
    return typing.get_origin(annotation) is Mapping


def _json_type(arm: Any) -> type:
    if _is_sequence(arm):
        return list
    if _is_mapping(arm) or attrs.has(arm):
        return dict
    atom: type = arm
    return atom


def _spell(arm: Any) -> str:
    kind = _json_type(arm)
    return SPELLED.get(kind) or kind.__name__


# -- Unstructuring ---------------------------------------------------------------


def _unstructure_model(cls: Any) -> Callable[[Any], dict[str, Any]]:
    names = [field.name for field in attrs.fields(cls) if field.name != "extra"]
    omitted = {field.name for field in attrs.fields(cls) if field.metadata.get("omit_none")}

    def unstructure(model: Any) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for name in names:
            value = getattr(model, name)
            if value is not ABSENT and not (value is None and name in omitted):
                plain[name] = value if type(value) in ATOMS else _plain(value)
        for name, value in model.extra.items():
            plain.setdefault(name, copy_json(value))
        return plain

    return unstructure


def _unstructure_list(entries: Sequence[Any]) -> list[Any]:
    return [entry if type(entry) in ATOMS else _plain(entry) for entry in entries]


def _plain(value: Any) -> Any:
    return _converters()[0].unstructure(value)


@functools.cache
def _converters() -> tuple[cattrs.Converter, cattrs.Converter]:
    """Return the strict and the lenient converter, made when first used."""
    strict, lenient = (Structurer(lenient=lenient).converter for lenient in (False, True))
    strict.register_unstructure_hook_factory(attrs.has, _unstructure_model)
    for sequence in (list, tuple):
        strict.register_unstructure_hook(sequence, _unstructure_list)
    for plain in (dict, ListView):
        strict.register_unstructure_hook(plain, copy_json)
    return strict, lenient


# -- The functions ---------------------------------------------------------------


def structure(plain: dict[str, Any], cls: type[T]) -> T:
    """Build the model *cls* of *plain*, keeping values of the wrong type as they are."""
    return _converters()[1].structure(plain, cls)


def _class_for(data: Mapping[str, Any]) -> Any:
    kind = data.get("object")
    if kind == "chat.completion.chunk":
        return ChatCompletionChunk
    if kind == "chat.completion":
        return ChatCompletion
    if kind == "text_completion":
        return Completion
    choices = data.get("choices")
    first = choices[0] if isinstance(choices, (list, tuple)) and choices else None
    if isinstance(first, Mapping) and "text" in first:
        return CompletionChunk
    if isinstance(first, Mapping) and "message" in first and "delta" not in first:
        return ChatCompletion
    return ChatCompletionChunk


@overload
def from_dict(data: Mapping[str, Any], cls: type[T]) -> T: ...


@overload
def from_dict(data: Mapping[str, Any], cls: None = None) -> Any: ...


def from_dict(data: Mapping[str, Any], cls: type[Any] | None = None) -> Any:
    """
    Return the model of *data*, the wire's own form of a response or a chunk.

    Args:
        data: JSON data; it is copied, not kept.
        cls: The model to make.  None: by `object`.  Legacy completions and their
            chunks share one `object`; None takes `Completion`, so ask for
            `CompletionChunk` where you mean it.

    Raises:
        InvalidChunk: If a value has the wrong type; `path` says where and
            `errors` has a line for each.
        TypeError: If *data* is no mapping or *cls* no model.

    >>> from_dict({"object": "chat.completion", "id": "a", "choices": []}).id
    'a'
    >>> from_dict({"choices": [{"index": 0, "delta": {"content": 5}}]})
    Traceback (most recent call last):
    ...
    streamkit.InvalidChunk: expected str or an array, got int @ $.choices[0].delta.content
    """
    if not isinstance(data, Mapping):
        raise TypeError(f"data must be a mapping, not {type(data).__name__}")
    wanted: Any = _class_for(data) if cls is None else cls
    if not (
        isinstance(wanted, type) and attrs.has(wanted) and "extra" in attrs.fields_dict(wanted)
    ):
        raise TypeError(f"cls must be one of streamkit's models, not {wanted!r}")
    try:
        return _converters()[0].structure(dict(data), wanted)
    except cattrs.BaseValidationError as error:
        errors = tuple(transform_error(error, format_exception=_describe))
    except RecursionError:
        errors = ("nested too deep @ $",)
    path = errors[0].rpartition(" @ ")[2].removesuffix(".extra")
    raise InvalidChunk("; ".join(errors[:3]), path=path, errors=errors)


def _describe(error: BaseException, _: type | None) -> str:
    if isinstance(error, RecursionError):
        return "nested too deep"
    if isinstance(error, KeyError):
        return f"required field {error} is missing"
    return str(error)


def to_dict(obj: Any) -> dict[str, Any]:
    """
    Return the wire's own form of *obj*, a response or a chunk or a part of one.

    Nothing in the result is shared with *obj*.

    Raises:
        InvalidChunk: If a caller's own `extra` is nested too deep.
        TypeError: If *obj* is none of streamkit's models.

    >>> to_dict(ChatCompletionChunk(id="a", choices=[]))
    {'id': 'a', 'choices': []}
    """
    if not attrs.has(type(obj)) or not hasattr(obj, "extra"):
        raise TypeError(f"obj must be one of streamkit's models, not {class_name(obj)}")
    try:
        plain: dict[str, Any] = _plain(obj)
    except RecursionError:
        raise InvalidChunk("nested too deep to be written") from None
    return plain


def to_json(obj: Any, *, indent: int | None = None) -> str:
    """
    Return *obj* as strict JSON: NaN is null, and the text always encodes as UTF-8.

    Args:
        obj: A response or a chunk or a part of one.
        indent: Spaces per level; None puts all on one line.

    Raises:
        InvalidChunk: If a caller's own `extra` is nested too deep.
        TypeError: If *obj* is none of streamkit's models, or a caller's own `extra`
            holds what is no JSON.

    >>> to_json(ChatCompletionChunk(id="a"))
    '{"id":"a"}'
    """
    return encode(to_dict(obj), indent=indent)
