"""The tree of errors: what they carry, and that they travel."""

from __future__ import annotations

import copy
import pickle

import pytest

import streamkit

from streamkit import _errors
from streamkit._errors import (
    QUOTE_LIMIT,
    EmptyStream,
    FramingError,
    IncompleteStream,
    InputRefused,
    InvalidChunk,
    LimitExceeded,
    NotInstalled,
    StreamkitError,
    UnknownForm,
    UpstreamError,
    quote,
)
from streamkit._issues import Issue


ISSUE = Issue("bad_json", "no JSON", 2, 7)
ERRORS = [
    pytest.param(StreamkitError("m", partial=[1]), "streamkit_error", id="root"),
    pytest.param(FramingError("m", issue=ISSUE, partial=[{}]), "framing_error", id="framing"),
    pytest.param(
        InvalidChunk("m", path="$.a", errors=("x", "y"), partial=3), "invalid_chunk", id="invalid"
    ),
    pytest.param(
        UpstreamError.of({"message": "m"}, {"error": {}}), "upstream_error", id="upstream"
    ),
    pytest.param(IncompleteStream("m", partial={"id": "a"}), "incomplete_stream", id="incomplete"),
    pytest.param(EmptyStream("m"), "empty_stream", id="empty"),
    pytest.param(LimitExceeded("line", 9, 4, bound=8, partial=[]), "limit_exceeded", id="limit"),
    pytest.param(InputRefused("m"), "input_refused", id="refused"),
    pytest.param(UnknownForm("m"), "unknown_form", id="form"),
    pytest.param(NotInstalled("m"), "not_installed", id="package"),
]


@pytest.mark.parametrize(("error", "code"), ERRORS)
class TestEveryError:
    def test_code(self, error, code):
        """Each error has its stable name."""
        assert error.code == code

    def test_is_a_streamkit_error(self, error, code):
        """One except clause catches all."""
        assert isinstance(error, StreamkitError)

    def test_public_path(self, error, code):
        """A traceback names the path under which a caller imports the class."""
        assert type(error).__module__ == "streamkit"
        assert getattr(streamkit, type(error).__name__) is type(error)

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_pickles(self, error, code, protocol):
        """An error crosses a process boundary with its message and all its data."""
        assert_same(pickle.loads(pickle.dumps(error, protocol)), error)

    @pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy])
    def test_copies(self, error, code, copier):
        """A copy has the same message and data."""
        assert_same(copier(error), error)


@pytest.mark.parametrize(
    ("cls", "arguments", "text", "attributes"),
    [
        (StreamkitError, {}, "", {}),
        (FramingError, {}, "", {"issue": None}),
        (FramingError, {"message": "m", "issue": ISSUE, "partial": 1}, "m", {}),
        (InvalidChunk, {}, "", {"path": "$", "errors": ()}),
        (InvalidChunk, {"message": "m", "path": "$.a", "errors": ("x",), "partial": 1}, "m", {}),
        (UpstreamError, {}, "", {"payload": None, "body": None}),
        (UpstreamError, {"message": "m", "payload": 1, "body": 2, "partial": 3}, "m", {}),
        (
            LimitExceeded,
            {},
            ": 0; pass Limits(=…) to allow more",
            {"limit": "", "value": 0, "offset": None, "bound": None},
        ),
        (
            LimitExceeded,
            {"limit": "line", "value": 9, "offset": 4, "bound": 8, "partial": []},
            "line: 9, the limit is 8 at byte 4; pass Limits(line=…) to allow more",
            {},
        ),
    ],
)
def test_what_an_error_carries(cls, arguments, text, attributes):
    """All that it is given, and else what stands for nothing; its message is its argument."""
    error = cls(**arguments)
    assert str(error) == text
    assert error.args == (arguments.get("limit", arguments.get("message", "")),)
    given = {name: value for name, value in arguments.items() if name != "message"}
    assert vars(error) == {"partial": None, **attributes, **given}


def assert_same(got, error):
    assert type(got) is type(error)
    assert (str(got), got.args, vars(got)) == (str(error), error.args, vars(error))


def test_all_errors_are_exported():
    """`__all__` lists every error class of the room, and what messages are made with."""
    classes = {
        value.__name__
        for value in vars(_errors).values()
        if isinstance(value, type) and issubclass(value, StreamkitError)
    }
    assert set(_errors.__all__) == classes | {"amount", "quote"}


def test_every_code_is_its_own():
    """No two classes share a code."""
    codes = [error.values[0].code for error in ERRORS]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        pytest.param(
            LimitExceeded("line", 9, 4, bound=8),
            "line: 9, the limit is 8 at byte 4; pass Limits(line=…) to allow more",
            id="all",
        ),
        pytest.param(
            LimitExceeded("depth", 70), "depth: 70; pass Limits(depth=…) to allow more", id="least"
        ),
        pytest.param(
            LimitExceeded("keys", 5, 0),
            "keys: 5 at byte 0; pass Limits(keys=…) to allow more",
            id="offset-zero",
        ),
    ],
)
def test_limit_message(error, message):
    """The message says which bound, by how much, where, and what to do."""
    assert str(error) == message


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        pytest.param({"message": "slow down"}, "'slow down'", id="message"),
        pytest.param({"message": None, "code": 1}, "{'message': None, 'code': 1}", id="null"),
        pytest.param({"code": 1}, "{'code': 1}", id="no-message"),
        pytest.param("overloaded", "'overloaded'", id="text"),
        pytest.param({"message": ""}, "''", id="empty-message"),
    ],
)
def test_upstream_error_of(payload, message):
    """The server's own words are quoted; the payload and its body are kept."""
    error = UpstreamError.of(payload, {"error": payload})
    assert str(error) == f"the server sent an error: {message}"
    assert (error.payload, error.body) == (payload, {"error": payload})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("plain", "'plain'", id="text"),
        pytest.param(b"\x00\xff", "b'\\x00\\xff'", id="bytes"),
        pytest.param("a\nERROR forged\x1b[2J", "'a\\nERROR forged\\x1b[2J'", id="control"),
        pytest.param("\u202e\ud83d", "'\\u202e\\ud83d'", id="bidi-and-surrogate"),
        pytest.param({"a": 1}, "{'a': 1}", id="object"),
        pytest.param("é", "'\\xe9'", id="letter"),
        pytest.param({"a": "é"}, "{'a': 'é'}", id="letter-in-an-object"),
        pytest.param(b"x" * 117, "b'" + "x" * 117 + "'", id="bytes-that-just-fit"),
        pytest.param("x" * 118, "'" + "x" * 118 + "'", id="just-fits"),
        pytest.param("x" * 119, "'" + "x" * 118 + "…", id="one-too-many"),
        pytest.param("\n" * 200, "'" + "\\n" * 59 + "…", id="escapes-count"),
    ],
)
def test_quote(value, text):
    """A quote is the value's repr with escapes, at most 120 characters."""
    assert quote(value) == text


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("x" * 10_000, id="text"),
        pytest.param(b"\xff" * 10_000, id="bytes"),
        pytest.param("\U0001f600" * 10_000, id="astral"),
        pytest.param(list(range(10_000)), id="list"),
    ],
)
def test_quote_is_short(value):
    """Whatever the value, at most 120 characters of it reach a message."""
    assert len(quote(value)) == QUOTE_LIMIT == 120


def bottomless():
    """Return a list nested too deep to be shown."""
    value = []
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "name"), [(10**5000, "int"), (bottomless(), "list")], ids=["digits", "depth"]
)
def test_quote_of_what_cannot_be_shown(value, name):
    """A message is made of anything."""
    assert _errors.quote(value) == f"a {name} too large to show"
