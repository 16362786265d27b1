"""Tests of `rebuild` and `rebuild_all`: any source in, outcomes out."""

from __future__ import annotations

import io
import json
import os
import tempfile

from types import MappingProxyType

import attrs
import pytest

from hypothesis import given, settings
from hypothesis import strategies as st

from streamkit import (
    ChatCompletion,
    Completion,
    EmptyStream,
    FramingError,
    IncompleteStream,
    InvalidChunk,
    LimitExceeded,
    Limits,
    Outcome,
    Rule,
    StreamkitError,
    UnknownForm,
    UpstreamError,
    finalize,
    from_dict,
    rebuild,
    rebuild_all,
    to_json,
)

from . import Dumped, chunk, codes, deltas, entries, sse, texts
from .strategies import hostile_chunks, split, streams


CHUNKS = entries({"delta": {"role": "assistant", "content": "Hé"}}, {"finish_reason": "stop"})
DATA = sse(CHUNKS)
RESPONSE = finalize(CHUNKS)
BACKENDS = ("json", "orjson", "msgspec")


class Unseekable(io.RawIOBase):
    """A binary file without `read1`, such as a raw socket's."""

    def __init__(self, data):
        self.pieces = io.BytesIO(data)

    def readable(self):
        return True

    def read(self, size=-1):
        return self.pieces.read(min(size, 7))


# -- Sources -------------------------------------------------------------------------


SOURCES = {
    "bytes": lambda _: DATA,
    "bytearray": lambda _: bytearray(DATA),
    "memoryview": lambda _: memoryview(DATA),
    "str": lambda _: DATA.decode(),
    "path": lambda path: path,
    "binary file": lambda path: path.open("rb"),
    "memory file": lambda _: io.BytesIO(DATA),
    "raw file": lambda _: Unseekable(DATA),
    "list of bytes": lambda _: [DATA[:20], DATA[20:]],
    "tiny blocks": lambda _: (DATA[at : at + 1] for at in range(len(DATA))),
    "empty blocks": lambda _: [b"", DATA, b""],
    "list of str": lambda _: [DATA.decode()[:20], DATA.decode()[20:]],
    "mixed blocks": lambda _: [bytearray(DATA[:9]), DATA[9:30].decode(), memoryview(DATA[30:])],
}
CHUNK_SOURCES = {
    "dicts": lambda: CHUNKS,
    "tuple": lambda: tuple(CHUNKS),
    "generator": lambda: (each for each in CHUNKS),
    "models": lambda: [from_dict(each) for each in CHUNKS],
    "dumps": lambda: [Dumped(each) for each in CHUNKS],
    "mappings": lambda: [MappingProxyType(each) for each in CHUNKS],
    "nulls between": lambda: [None, CHUNKS[0], None, CHUNKS[1]],
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "recording.sse"
    path.write_bytes(DATA)
    return path


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_sources_of_bytes(make, path):
    """Whatever holds the bytes, the outcome is the same."""
    source = make(path)
    outcome = rebuild(source)
    assert outcome == rebuild(DATA)
    assert outcome.response == RESPONSE
    assert (outcome.complete, outcome.done, outcome.chunks) == (True, True, 2)
    if hasattr(source, "close"):
        source.close()


@pytest.mark.parametrize("make", CHUNK_SOURCES.values(), ids=CHUNK_SOURCES)
def test_sources_of_chunks(make):
    """An iterable of chunks cannot have a `[DONE]`: `done` is None."""
    outcome = rebuild(make())
    assert outcome.response == RESPONSE
    assert (outcome.complete, outcome.done, outcome.chunks) == (True, None, 2)


class Iterable(Dumped):
    """Like pydantic's objects: iterating over it gives pairs of name and value."""

    def __iter__(self):
        return iter(self.fields.items())


@pytest.mark.parametrize(
    "wrap",
    [dict, MappingProxyType, Iterable, Dumped, from_dict],
    ids=lambda it: it.__name__,
)
def test_one_chunk_is_a_source(wrap):
    """A mapping, a model, or an object with `model_dump()` is not iterated over."""
    outcome = rebuild(wrap(CHUNKS[0]))
    assert outcome.response.choices[0].message.content == "Hé"


class Live(io.BytesIO):
    """A pipe that is written to: waiting for so many bytes would be waiting for its end."""

    def read(self, size=-1):
        raise AssertionError(f"{size} bytes are waited for")

    def read1(self, size=-1):
        return super().read(min(size, 7))


def test_a_live_file_is_not_waited_for():
    """What is there is taken."""
    assert rebuild(Live(DATA)).response == RESPONSE


@pytest.mark.parametrize("form", ["auto", "sse", "json", "jsonl"])
def test_forms_of_the_lenient_framing(form):
    """SSE, JSON lines, an array and one object are read without being told which it is."""
    for data in (
        DATA,
        "\n".join(map(json.dumps, CHUNKS)).encode(),
        json.dumps(CHUNKS).encode(),
        json.dumps(CHUNKS, indent=2).encode(),
    ):
        assert rebuild(data, form=form).response == RESPONSE


@pytest.mark.parametrize(
    "source",
    [
        *(b"", "", [], (), [b""], [None], b"\n\n", b": comment\n\n"),
        pytest.param(iter([]), id="iterator"),
        pytest.param(io.BytesIO(b""), id="file"),
    ],
    ids=repr,
)
def test_a_source_of_nothing(source):
    """One outcome, without a response."""
    (outcome,) = rebuild_all(source)
    assert (outcome.response, outcome.complete, outcome.chunks) == (None, False, 0)
    assert codes(outcome) == ["empty_stream"]
    with pytest.raises(EmptyStream):
        rebuild(b"", strict=True)


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (b"<html></html>", "html_body"),
        (b"\x1f\x8b\x08\x00", "compressed_body"),
        (b"plain text", "no_events"),
    ],
    ids=["html", "gzip", "text"],
)
def test_a_source_that_is_no_stream(source, code):
    """The outcome says what it looks like."""
    outcome = rebuild(source)
    assert outcome.response is None
    assert code in codes(outcome)


# -- Wrong arguments -----------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [None, 5, 1.5, object(), ChatCompletion],
    ids=["None", "int", "float", "object", "class"],
)
@pytest.mark.parametrize("call", [rebuild, rebuild_all])
def test_what_is_no_source_is_a_type_error_at_the_call(call, source):
    """`rebuild_all` raises when it is called, not when it is iterated."""
    told = "source must be bytes, str, a path, a binary file or an iterable of bytes or chunks"
    with pytest.raises(TypeError, match=f"^{told}, not {type(source).__name__}$"):
        call(source)


OPEN_AS_TEXT = "^the file is open as text; open it with mode 'rb'$"


@pytest.mark.parametrize("call", [rebuild, rebuild_all])
def test_a_text_file_is_a_type_error_at_the_call(call, path):
    """Text has been decoded already, and its line ends are lost."""
    with path.open(encoding="utf-8") as file, pytest.raises(TypeError, match=OPEN_AS_TEXT):
        call(file)
    with pytest.raises(TypeError, match=OPEN_AS_TEXT):
        call(io.StringIO("data: {}"))


def test_a_wrapped_text_file_is_the_same_type_error():
    """A temporary file is a text file as well, though of another class."""
    with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as file:
        file.write(DATA.decode())
        file.seek(0)
        with pytest.raises(TypeError, match=OPEN_AS_TEXT):
            rebuild(file)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"kind": "text"}, TypeError),
        ({"rules": {"choices.x.y": Rule.LAST}}, TypeError),
        ({"form": "har"}, UnknownForm),
        ({"form": None}, UnknownForm),
        ({"form": ""}, UnknownForm),
        ({"json": "simplejson"}, TypeError),
    ],
    ids=str,
)
@pytest.mark.parametrize("source", [DATA, CHUNKS], ids=["bytes", "chunks"])
@pytest.mark.parametrize("call", [rebuild, rebuild_all])
def test_a_wrong_argument_is_an_error_at_the_call(call, source, options, error):
    """Nothing is read before the arguments are known to be right."""
    with pytest.raises(error):
        call(source, **options)


def test_the_message_names_the_forms():
    """A form that is not known is told with those that are."""
    with pytest.raises(UnknownForm, match="auto, sse, json, jsonl, not 'har'") as caught:
        rebuild(b"", form="har")
    assert caught.value.code == "unknown_form"


@pytest.mark.parametrize("item", [5, None, {"choices": []}], ids=repr)
def test_a_block_that_is_no_bytes_is_a_type_error(item):
    """An iterable that begins with bytes goes on with bytes."""
    with pytest.raises(TypeError, match="an iterable of bytes yielded"):
        rebuild([DATA, item])


def test_a_path_that_is_not_there_is_an_os_error(tmp_path):
    """The file system's own error is handed on."""
    with pytest.raises(FileNotFoundError):
        rebuild(tmp_path / "nothing")


def test_any_path_like_object_is_a_path(path):
    """`os.PathLike` is enough."""

    class Where:
        def __fspath__(self):
            return os.fspath(path)

    assert rebuild(Where()).response == RESPONSE


@pytest.mark.parametrize("items", [CHUNKS[:1], [DATA[:40]]], ids=["chunks", "bytes"])
@pytest.mark.parametrize("error", [ConnectionError, FramingError])
def test_an_iterable_that_raises(items, error):
    """The caller's own error is the caller's, whatever came before it; so is one of ours."""

    def broken():
        yield from items
        raise error("reset by peer")

    with pytest.raises(error, match="reset by peer"):
        rebuild(broken())


def test_the_place_of_an_issue_among_chunks():
    """It is that of the item, whatever was passed over."""
    outcome = rebuild([None, CHUNKS[0], {"type": "ping"}, chunk("odd")])
    assert [(issue.code, issue.event) for issue in outcome.issues[:1]] == [("bad_choice", 3)]


def test_outcomes_before_an_iterable_raises_are_given_out():
    """What was whole before the connection broke is not lost."""

    def broken():
        yield DATA
        yield sse([chunk({"index": 0, "delta": {"content": "x"}}, id="chatcmpl-2")])
        raise ConnectionError("reset by peer")

    outcomes = rebuild_all(broken())
    assert next(outcomes).response == RESPONSE
    with pytest.raises(ConnectionError):
        next(outcomes)


# -- Options reach the accumulator ---------------------------------------------------


@pytest.mark.parametrize("form", [sse, list], ids=["bytes", "chunks"])
def test_options(form):
    """kind, rules, cumulative and limits mean the same as for `Accumulator`."""
    chunks = deltas({"content": "He", "x": "a"}, {"content": "Hello", "x": "b"})
    source = form(chunks)
    assert type(rebuild(source, kind="completion").response) is Completion
    assert type(rebuild(form([{"choices": []}]), kind="completion").response) is Completion
    message = rebuild(source, rules={"choices.delta.x": Rule.LAST}).response.choices[0].message
    assert message.extra == {"x": "b"}
    message = rebuild(source, cumulative=True).response.choices[0].message
    assert (message.content, message.extra) == ("Hello", {"x": "ab"})
    outcome = rebuild(source, limits=Limits(chunks=1))
    assert outcome.error.limit == "chunks"
    assert outcome.response.choices[0].message.content == "He"


def test_limits_of_json():
    """What is nested deeper is left out."""
    assert codes(rebuild(DATA, limits=Limits(depth=3)))[0] == "too_deep"


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_json_library_gives_the_same_outcome(backend):
    """The libraries differ on what is odd; the outcome does not."""
    data = (
        sse(CHUNKS[:1], done=False)
        + b'data: {"choices":[],"x":[NaN,1e400,18446744073709551616,"\\ud83d"]}\n\n'
        + b'data: {"choices":[],"y":"\xff"}\n\ndata: {"a":1,"a":2,"choices":[]}\n\n'
        + sse(CHUNKS[1:])
    )
    outcome = rebuild(data, json=backend)
    assert outcome.response.extra["x"] == [None, None, 2**64, "\ufffd"]
    assert outcome.response.extra["y"] == "\ufffd"
    assert outcome.response.extra["a"] == 2
    assert codes(outcome) == codes(rebuild(data, json="auto"))


# -- Strict --------------------------------------------------------------------------


@pytest.mark.parametrize("form", [sse, list], ids=["bytes", "chunks"])
def test_a_whole_stream_passes_strict_mode(form):
    """Nothing is wrong, so nothing is raised."""
    assert rebuild(form(CHUNKS), strict=True) == rebuild(form(CHUNKS))


CUT = sse(CHUNKS[:1], done=False)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        (CUT, IncompleteStream),
        (CHUNKS[:1], IncompleteStream),
        (CUT + b"data: {bad}\n\n", FramingError),
        (CUT + b'data: {"choices":[{"in', FramingError),
        (CUT + sse([{"error": "overloaded"}]), UpstreamError),
        ([*CHUNKS[:1], {"error": "overloaded"}], UpstreamError),
        (CUT + sse([chunk("odd")]), InvalidChunk),
        ([*CHUNKS[:1], chunk("odd")], InvalidChunk),
        (CUT + sse([{"type": "odd"}]), InvalidChunk),
        (b"", EmptyStream),
        ([], EmptyStream),
        (b'data: {"error":"overloaded"}\n\n', UpstreamError),
        (b"<html></html>", FramingError),
    ],
    ids=repr,
)
def test_strict_mode_raises(source, error):
    """At the first repair, and unless the stream is complete; the code says which it was."""
    with pytest.raises(error) as caught:
        rebuild(source, strict=True)
    assert caught.value.code == error.code
    if error in {IncompleteStream, InvalidChunk}:
        assert caught.value.partial.choices[0].message.content == "Hé"


@pytest.mark.parametrize(
    "limits", [{"line": 40}, {"event": 40}, {"chunks": 1}, {"text": 1}], ids=str
)
def test_a_bound_raises_in_strict_mode(limits):
    """And is the outcome's error otherwise."""
    with pytest.raises(LimitExceeded) as caught:
        rebuild(DATA, strict=True, limits=Limits(**limits))
    assert caught.value.limit == next(iter(limits))
    outcome = rebuild(DATA, limits=Limits(**limits))
    assert (outcome.error.limit, outcome.complete) == (caught.value.limit, False)


@pytest.mark.parametrize("limits", [{"line": 1000}, {"event": 1000}], ids=str)
def test_what_was_whole_before_a_bound_is_in_the_response(limits):
    """Lines before the one that is too long are merged, also in the same block."""
    data = CUT + b"data: " + b"x" * 2000 + b"\n\n"
    outcome = rebuild(data, limits=Limits(**limits))
    assert outcome.response.choices[0].message.content == "Hé"
    assert outcome.error.limit == next(iter(limits))


# -- Several streams -----------------------------------------------------------------


def other(number):
    return [{**each, "id": f"chatcmpl-{number}"} for each in CHUNKS]


def test_rebuild_returns_the_first_of_several():
    """With an issue that says how many more there are, and how to get them."""
    data = DATA + sse(other(2)) + sse(other(3))
    outcome = rebuild(data)
    assert outcome.response == RESPONSE
    assert codes(outcome) == ["several_streams"]
    assert "2 more" in outcome.issues[0].message
    assert outcome.issue_counts == {"several_streams": 1}
    assert [each.response.id for each in rebuild_all(data)] == [
        "chatcmpl-1",
        "chatcmpl-2",
        "chatcmpl-3",
    ]


def test_rebuild_all_is_lazy():
    """An outcome is given out as soon as its stream has ended."""
    taken = []

    def blocks():
        for number in range(1, 4):
            taken.append(number)
            yield sse(other(number))

    outcomes = rebuild_all(blocks())
    assert taken == []
    assert next(outcomes).response.id == "chatcmpl-1"
    assert taken == [1, 2]


def test_strict_mode_wants_each_stream_complete():
    """A whole one is given out before a cut one raises."""
    outcomes = rebuild_all([*other(1), *other(2)[:1], *other(2)[:1]], strict=True)
    assert next(outcomes).complete
    with pytest.raises(IncompleteStream):
        next(outcomes)


def test_strict_mode_gives_out_what_was_whole_before_a_bound():
    """Though both came in one block."""
    data = DATA + sse(other(2)[:1], done=False) + b"data: " + b"x" * 3000
    outcomes = rebuild_all(data, strict=True, limits=Limits(line=2000))
    assert next(outcomes).response == RESPONSE
    with pytest.raises(LimitExceeded):
        next(outcomes)


def test_the_bytes_of_a_file_are_read_in_blocks(tmp_path):
    """A recording larger than a block comes back whole."""
    chunks = [*deltas(*[{"content": "x" * 1000}] * 600), CHUNKS[1]]
    path = tmp_path / "large.sse"
    path.write_bytes(sse(chunks))
    assert path.stat().st_size > 1 << 18
    assert rebuild(path) == rebuild(sse(chunks)) == rebuild(path.read_bytes().decode())
    assert len(rebuild(path).response.choices[0].message.content) == 600_000


def test_half_surrogates_in_text_sources():
    """A str may hold what UTF-8 cannot: it becomes U+FFFD, and is reported."""
    source = 'data: {"choices":[{"index":0,"delta":{"content":"\ud83d"}}]}\n\n'
    outcome = rebuild(source)
    assert to_json(outcome.response).encode()
    assert "invalid_utf8" in codes(outcome)
    assert rebuild([source]) == outcome


# -- Properties ----------------------------------------------------------------------


def comparable(outcome):
    """Return an outcome with its error as text: errors equal only themselves."""
    return attrs.evolve(outcome, error=None), str(outcome.error)


@settings(deadline=None, max_examples=80)
@given(st.data(), streams(), st.booleans())
def test_bytes_split_anywhere_give_the_same_outcome(data, chunks, done):
    """Whole, byte by byte, or in any blocks: one outcome, that of the chunks."""
    raw = sse(chunks, done=done)
    whole = rebuild(raw)
    assert rebuild(data.draw(split(raw))) == whole
    assert rebuild([raw[at : at + 1] for at in range(len(raw))]) == whole
    assert whole.response == rebuild(chunks).response == finalize(chunks)
    assert whole.chunks == len(chunks)


SNIPPETS = [
    *(
        b"data: ",
        b"data:",
        b"\n",
        b"\n\n",
        b"\r\n\r\n",
        b"\r",
        b"[DONE]",
        b"event: error\n",
        b": x\n",
    ),
    *(b"{", b"}", b"[", b"]", b'"', b"\\", b"\xff", b"\xef\xbb\xbf", b"\x00", b"\\ud83d", b"NaN"),
    *(b'{"error":1}', b'{"choices":[', b'{"index":0,"delta":{"content":"', b'"}}]}', b"id: 1\n"),
    *(
        b'{"choices":[{"index":0,"text":"a"}]}',
        b'{"usage":{"x":1}}',
        b'{"object":"chat.completion"}',
    ),
]
messy = st.lists(st.sampled_from(SNIPPETS) | st.binary(max_size=4), max_size=25).map(b"".join)


@settings(deadline=None, max_examples=300)
@given(st.data(), messy, st.sampled_from(BACKENDS))
def test_any_bytes_raise_nothing_and_split_the_same(data, raw, backend):
    """Whatever the bytes are, the outcomes encode, and blocks and libraries do not matter."""
    outcomes = [comparable(outcome) for outcome in rebuild_all(raw)]
    blocks = rebuild_all(data.draw(split(raw)), json=backend)
    assert [comparable(outcome) for outcome in blocks] == outcomes
    for outcome, _ in outcomes:
        assert type(outcome) is Outcome
        if outcome.response is not None:
            assert to_json(outcome.response).encode()


@settings(deadline=None, max_examples=150)
@given(messy, st.sampled_from([Limits(), Limits(line=40, text=3, chunks=2, choices=1)]))
def test_any_bytes_raise_nothing_but_streamkits_errors_in_strict_mode(raw, limits):
    """The same in strict mode and under tight limits."""
    try:
        for outcome in rebuild_all(raw, strict=True, limits=limits):
            assert outcome.complete
    except StreamkitError as error:
        assert error.code
    for outcome in rebuild_all(raw, limits=limits):
        assert outcome.error is None or not outcome.complete


@settings(deadline=None, max_examples=150)
@given(st.lists(hostile_chunks, max_size=5))
def test_any_json_as_chunks_raises_nothing(chunks):
    """Whatever an iterable of chunks holds, the outcomes encode."""
    if chunks and isinstance(chunks[0], str):
        chunks = [None, *chunks]  # text first would be an iterable of text
    for outcome in rebuild_all(chunks):
        if outcome.response is not None:
            assert to_json(outcome.response).encode()


@pytest.mark.parametrize("make", [entries, texts], ids=["chat", "completion"])
def test_a_long_stream_with_many_alike_chunks(make):
    """Runs of chunks that differ in a word only come back word for word."""
    words = [f"w{n} " for n in range(3000)]
    chunks = make(
        *({"delta": {"content": word}, "text": word, "finish_reason": None} for word in words),
        {"finish_reason": "stop"},
    )
    answer = rebuild(sse(chunks)).response.choices[0]
    text = answer.message.content if make is entries else answer.text
    assert text == "".join(words)
    assert rebuild(sse(chunks)).response == finalize(chunks)
