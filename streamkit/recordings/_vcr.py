"""
VCR cassettes: vcrpy's and Betamax's, in YAML and JSON; ruby-vcr's and go-vcr's; and
the recordings of `responses`.

YAML is read with PyYAML's safe loader, and only after its events were counted:
how deep it nests, and how large it would be with every alias written out.
Headers are looked at for the type and the encoding of the body, and never shown.
"""

from __future__ import annotations

import re

from collections.abc import Iterator
from itertools import chain
from typing import Any

from streamkit._errors import UnknownForm, amount
from streamkit._issues import Issue
from streamkit._json import Decoder, encode

from ._bodies import (
    as_dict,
    base64_bytes,
    body_recording,
    exchange_name,
    fits,
    header,
    undone,
    whole,
)
from ._elements import CutShort, after, bound_of, cut_recording, decoded, objects, of_cut
from ._pieces import Form, Piece, ReadOptions, Recording


__all__ = ["FORMS"]

JSON_LIST = re.compile(rb'"(?:http_)?interactions"\s*:\s*\[')
JSON_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")
YAML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:(?:#|---|%|version:|recorded_with:)[^\n]*\n|[ \t\r]*\n)*"
    rb"(?:(?:http_)?interactions:[ \t]*[\r\n\[&]|responses:[ \t]*\r?\n[ \t]*-[ \t]+response:)"
)
LISTS = ("interactions", "http_interactions", "responses")
DEPTH = 64
# How many nodes a cassette may have, aliases written out: 64 MiB of small ones.
NODES = 4_000_000
SURROGATES = "surrogatepass"
# ruby-vcr's for JSON, and that of vcrpy's stubs for httpx, beside the usual.
BODIES = ("body", "parsed_body", "content")


def _looks_yaml(head: bytes) -> int:
    return 95 if YAML_START.match(head) else 0


def _looks_json(head: bytes) -> int:
    return 92 if JSON_START.match(head) and JSON_LIST.search(head) else 0


def _read_json(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    _, rest = after(blocks, JSON_LIST, options.limits)
    decoder = Decoder(limits=options.limits)
    elements = enumerate(objects(blocks, options.limits, rest=rest, in_list=True), 1)
    values = (decoded(raw, decoder, f"interaction {number}") for number, raw in elements)
    return _recordings(values, options, decoder)


def _read_yaml(blocks: Iterator[bytes], options: ReadOptions) -> Iterator[Recording]:
    document = _load(whole(blocks, bound_of(options.limits)))
    found = [document.get(key) for key in LISTS]
    lists = [value for value in found if isinstance(value, list)]
    return _recordings(chain.from_iterable(lists), options, Decoder(limits=options.limits))


def _recordings(
    interactions: Iterator[Any], options: ReadOptions, decoder: Decoder
) -> Iterator[Recording]:
    number = found = 0
    try:
        for number, interaction in enumerate(interactions, 1):
            recording = _recording(interaction, number, options)
            if recording is not None:
                found += 1
                yield recording
    except CutShort as cut:
        last = _recording(of_cut(cut.rest, decoder), number + 1, options)
        if last is None and not found:
            raise
        yield cut_recording(last, f"interaction {number + 1}", cut)
        return
    if not found:
        raise UnknownForm(
            f"the cassette has {amount(number, 'interaction')}, and no event stream or completion"
        )


def _recording(interaction: Any, number: int, options: ReadOptions) -> Recording | None:
    """Return the recording of *interaction*, or None if its response is of another kind."""
    interaction = as_dict(interaction)
    response = as_dict(interaction.get("response"))
    request = as_dict(interaction.get("request")) or response  # `responses` has one object
    name, path = exchange_name(
        number,
        "interaction",
        str(request.get("method", "")).upper(),
        request.get("uri", request.get("url")),
    )
    headers = response.get("headers")
    raw, notes = _raw(response)
    body, more = undone(raw, header(headers, "content-encoding"), options.limits)
    kind = header(headers, "content-type") or str(response.get("content_type", ""))
    if not fits(kind, body, path):
        return None
    notes = (*notes, *more)
    if not body and not notes:
        notes = (
            Issue(
                "missing_body",
                "the cassette has no body for this response; a filter may have dropped it, or it "
                "was not read to its end while it was recorded",
            ),
        )
    pieces = [Piece(body, None, f"interaction {number}")] if body else []
    return body_recording(name, pieces, notes=notes)


def _raw(response: dict[str, Any]) -> tuple[bytes, tuple[Issue, ...]]:
    """Return the body of *response* as the cassette has it."""
    body = next((response[key] for key in BODIES if response.get(key) is not None), None)
    if isinstance(body, dict):
        if body.get("base64_string") is not None:
            return base64_bytes(body["base64_string"])
        body = body.get("string", body if "choices" in body else None)
    if isinstance(body, str):
        return body.encode("utf-8", SURROGATES), ()
    if isinstance(body, bytes):
        return body, ()
    return (encode(body).encode() if isinstance(body, (dict, list)) else b""), ()


# -- YAML --------------------------------------------------------------------------------


def _load(data: bytes) -> dict[str, Any]:
    """
    Return the document in *data*.

    Raises:
        UnknownForm: If PyYAML is not installed, or the YAML is not a cassette's.
        LimitExceeded: If its aliases would make it huge.
    """
    try:
        import yaml
    except ImportError:
        raise UnknownForm("reading YAML needs PyYAML: install streamkit-llm[yaml]") from None
    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_events(yaml, yaml.parse(data, Loader=base))
        document = yaml.load(data, Loader=_loader(yaml, base))  # noqa: S506 -- a safe loader's child
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" at line {mark.line + 1}"
        raise UnknownForm(f"the cassette's YAML cannot be read{where}: {_problem(error)}") from None
    except (ValueError, TypeError, OverflowError):
        raise UnknownForm("the cassette's YAML has a value that is none of its type") from None
    return as_dict(document)


def _problem(error: Exception) -> str:
    """Return what is wrong in PyYAML's words, which quote a tag but no text of the cassette."""
    problem = str(getattr(error, "problem", None) or "it is no YAML")
    return ascii(problem[:120])[1:-1]


def _loader(yaml: Any, base: Any) -> Any:
    """Return a safe loader that also knows Ruby's `!binary`, and Python 2's text."""
    loader: Any = type("CassetteLoader", (base,), {})
    loader.add_constructor("!binary", yaml.constructor.SafeConstructor.construct_yaml_binary)
    for tag in ("python/unicode", "python/str"):
        loader.add_constructor(
            f"tag:yaml.org,2002:{tag}", yaml.constructor.SafeConstructor.construct_scalar
        )
    return loader


def _check_events(yaml: Any, events: Iterator[Any]) -> None:
    """
    Refuse YAML whose aliases would make it huge, and YAML that nests too deep.

    An alias counts as much as what it stands for, so that aliases of aliases
    are counted out, without building anything.
    """
    sizes: dict[str, int] = {}  # by anchor; an open one is not there yet
    open_nodes: list[tuple[str | None, int]] = []  # anchor, nodes before it
    total = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise UnknownForm(
                    "an alias in the cassette's YAML contains itself, or has no anchor"
                )
            total += sizes[event.anchor]
        elif isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor, total))
            total += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_nodes.pop()
            sizes |= {} if anchor is None else {anchor: total - before}
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            sizes |= {} if event.anchor is None else {event.anchor: 1}
        if len(open_nodes) > DEPTH:
            raise UnknownForm(f"the cassette's YAML nests deeper than {DEPTH} levels")
        if total > NODES:
            raise UnknownForm(
                f"the cassette's YAML has more than {NODES} values, its aliases written out"
            )


FORMS = (
    Form(
        name="vcr",
        title="a VCR cassette in YAML",
        looks=_looks_yaml,
        read=_read_yaml,
        extra="yaml",
    ),
    Form(name="vcr-json", title="a VCR cassette in JSON", looks=_looks_json, read=_read_json),
)
