"""What is drawn comes back: through chunks, bytes, blocks, and each way of reading."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamkit import (
    Accumulator,
    ChatCompletion,
    ChunkReader,
    Completion,
    finalize,
    from_dict,
    rebuild,
    to_dict,
)
from streamkit.testing import DIALECTS, chunk_up, split_bytes, to_sse
from streamkit.testing.strategies import (
    chat_completions,
    chunk_streams,
    completions,
    interleavings,
    responses,
    splits,
)


slow = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
seeds = st.integers(0, 2**32)
sizes = st.integers(1, 20) | st.tuples(st.integers(1, 3), st.integers(3, 9))
ways = st.fixed_dictionaries(
    {},
    optional={
        "newline": st.sampled_from(["\n", "\r\n", "\r"]),
        "comments": st.just("life"),
        "ids": st.just(True),
        "event": st.sampled_from(["", "message", "chunk"]),
        "bom": st.booleans(),
        "space": st.booleans(),
        "ascii": st.booleans(),
        "retry": st.integers(0, 99),
    },
)


@slow
@given(responses(finished=False), st.data())
def test_finalize_is_the_inverse(response, data):
    """`finalize(chunk_up(r)) == r`, in each dialect and whatever else is asked for."""
    chunks = data.draw(chunk_streams(response))
    assert finalize(chunks) == response
    assert finalize(json.loads(json.dumps(chunks))) == response


@slow
@given(responses(), seeds, sizes, st.sampled_from([*DIALECTS]), ways)
def test_through_bytes(response, seed, size, dialect, way):
    """Written and cut anywhere it comes back: complete, with nothing to report."""
    chunks = chunk_up(response, seed=seed, size=size, dialect=dialect)
    data = to_sse(chunks, dialect=dialect, **way)
    outcome = rebuild(split_bytes(data, seed, size=(1, 200)))
    assert outcome.response == response
    assert outcome.complete
    assert {*outcome.issue_counts} == (set() if DIALECTS[dialect].done else {"done_missing"})


@slow
@given(responses(), st.data(), ways, st.booleans())
def test_through_the_reader(response, data, way, surrogates):
    """So it does through `ChunkReader` and `Accumulator`, live."""
    chunks = chunk_up(
        response, dialect=data.draw(st.sampled_from([*DIALECTS])), surrogates=surrogates
    )
    blocks = data.draw(splits(to_sse(chunks, **way)))
    reader, merged = ChunkReader(), Accumulator()
    for block in blocks:
        for chunk in reader.feed(block):
            merged.add(chunk)
    for chunk in reader.finish():
        merged.add(chunk)
    outcome = merged.finish(done=reader.done, cut=reader.cut)
    assert (outcome.response, outcome.complete, outcome.issues) == (response, True, ())
    assert (reader.done, reader.issues, reader.error) == (True, (), None)


@slow
@given(responses())
def test_dicts_and_models(response):
    """The dict of a response gives the chunks that the model gives."""
    assert chunk_up(to_dict(response)) == chunk_up(response)
    assert from_dict(to_dict(response), type(response)) == response


@slow
@given(chunk_streams(kind="chat"), chunk_streams(kind="completion", dialects=["vllm"]))
def test_kinds(chat, text):
    """A kind that is asked for is what is drawn."""
    assert isinstance(finalize(chat), ChatCompletion)
    assert isinstance(finalize(text), Completion)


@slow
@given(st.tuples(chat_completions(), completions(), responses("chat"), responses("completion")))
def test_finished(drawn):
    """Unless something else is asked for, each choice has a finish reason."""
    kinds = [ChatCompletion, Completion] * 2
    assert [type(each) for each in drawn] == kinds
    assert all(choice.finish_reason for each in drawn for choice in each.choices)


@given(st.lists(st.lists(st.integers(), max_size=5), max_size=4), st.data())
def test_interleavings(lanes, data):
    """Each item is there once, in the order of its lane."""
    numbered = [[(number, item) for item in lane] for number, lane in enumerate(lanes)]
    order = data.draw(interleavings(numbered))
    assert [
        [item for item in order if item[0] == number] for number in range(len(lanes))
    ] == numbered


@given(st.binary(max_size=99), st.data())
def test_splits(data, draws):
    """The blocks joined are the data."""
    assert b"".join(draws.draw(splits(data))) == data
