"""
What is no recording of chat chunks, and is named rather than tried.

Other wire dialects give a recording that says so; a pickle, an image, an archive
or a database is an error that says what to do instead.
"""

from __future__ import annotations

import re

from collections.abc import Iterator

from streamkit._errors import UnknownForm

from ._binary import from_text, is_binary_text
from ._dialects import HEAD, dialect_of, is_stream_text, other_dialect
from ._pieces import Form, ReadOptions, Recording


__all__ = ["FORMS"]

# A pickle: its protocol and a first opcode; or, in protocols 0 and 1, an import,
# or a container that is put into the memo.
PICKLE = re.compile(
    rb"\x80[\x02-\x05](?:\x95.{7}\x00|[\]}(c\x8c\x8f\x94KXUCNGIMJ)lqh])"
    rb"|\(?[dl]p[0-9]+\n|c[a-zA-Z_][\w.]*\n\w+\n|\(c[a-zA-Z_][\w.]*\n\w+\n"
    rb"|[\]}]q\x00",
    re.DOTALL,
)
OTHERS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image; keep the text of the stream, not a picture of it"),
    (b"\xff\xd8\xff", "a JPEG image; keep the text of the stream, not a picture of it"),
    (b"GIF8", "a GIF image; keep the text of the stream, not a picture of it"),
    (b"%PDF-", "a PDF; save the stream as text"),
    (b"PK\x03\x04", "a zip archive (or a file made as one); unpack it, and read what is inside"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it, and read what is inside"),
    (b"SQLite format 3\0", "an SQLite database; export the table that has the bodies as CSV"),
    (b"\xd4\xc3\xb2\xa1", "a packet capture; `tshark -r FILE -z follow,http,ascii,0` has the body"),
    (b"\xa1\xb2\xc3\xd4", "a packet capture; `tshark -r FILE -z follow,http,ascii,0` has the body"),
    (b"\x4d\x3c\xb2\xa1", "a packet capture; `tshark -r FILE -z follow,http,ascii,0` has the body"),
    (b"\xa1\xb2\x3c\x4d", "a packet capture; `tshark -r FILE -z follow,http,ascii,0` has the body"),
    (b"\x0a\x0d\x0d\x0a", "a packet capture; `tshark -r FILE -z follow,http,ascii,0` has the body"),
    (b"Obj\x01", "an Avro file; convert it to Parquet or JSON lines"),
    (b"ORC", "an ORC file; convert it to Parquet or JSON lines"),
    (b"ARROW1\0\0", "an Arrow file; convert it to Parquet"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file; convert it to Parquet or JSON lines"),
    (b"\x93NUMPY", "a NumPy array; write its rows as JSON lines"),
    (b"\x7fELF", "a program"),
)
TAR_AT = 257
# Two rows: an offset, and bytes in hexadecimal.
HEX_DUMP = re.compile(
    rb"(?:[0-9a-f]{7,8}:?[ ]{1,2}(?:[0-9a-f]{2,4}[ ]{1,2}){8,16}[^\r\n]*\r?\n){2}"
)


def _looks_pickled(head: bytes) -> int:
    return 95 if PICKLE.match(head) else 0


def _refuse_pickle(_blocks: Iterator[bytes], _options: ReadOptions) -> Iterator[Recording]:
    raise UnknownForm(
        "this is a pickle, which can run code when it is loaded, so it is not read; where you "
        "trust it, load it yourself and write the chunks as JSON lines: "
        "`for chunk in chunks: file.write(json.dumps(chunk) + '\\n')` "
        "(for objects of an SDK, `chunk.model_dump_json()`)"
    )


def _other(head: bytes) -> str | None:
    if head[TAR_AT : TAR_AT + 5] == b"ustar":
        return "a tar archive; unpack it, and read what is inside"
    if _is_binary_text(head):
        return (
            "the base64 or the hexadecimal of a stream; `base64 -d FILE`, or `xxd -r -p FILE`, "
            "makes bytes of it"
        )
    if HEX_DUMP.match(head):
        return "a dump in hexadecimal; `xxd -r FILE` (of `hexdump`: `xxd -r -p`) makes bytes of it"
    return next((what for mark, what in OTHERS if head.startswith(mark)), None)


def _looks_other(head: bytes) -> int:
    if _is_binary_text(head):
        return 60
    return 90 if _other(head) else 0


def _is_binary_text(head: bytes) -> bool:
    """Tell whether the first line is base64 or hexadecimal, and begins as that of a stream."""
    line = head.lstrip().partition(b"\n")[0].decode("latin-1").strip()
    return is_binary_text(line) and from_text(line) is not None


def _refuse_other(blocks: Iterator[bytes], _options: ReadOptions) -> Iterator[Recording]:
    what = _other(_head(blocks))
    raise UnknownForm(f"this is {what or 'no recording that is known here'}")


def _looks_dialect(head: bytes) -> int:
    if dialect_of(head) is None:
        return 0
    return 88 if is_stream_text(head) else 82  # JSON may be rows, and those are surer of it


def _name_dialect(blocks: Iterator[bytes], _options: ReadOptions) -> Iterator[Recording]:
    name = dialect_of(_head(blocks))
    if name is None:
        raise UnknownForm("this is in no other dialect that is known here")
    yield Recording(notes=(other_dialect(name),))


def _head(blocks: Iterator[bytes]) -> bytes:
    head = b""
    while len(head) < HEAD and (block := next(blocks, None)) is not None:
        head += block[:HEAD]
    return head


FORMS = (
    Form(
        name="pickle", title="a Python pickle (refused)", looks=_looks_pickled, read=_refuse_pickle
    ),
    Form(
        name="other-dialect",
        title="a stream of another API (named, not read)",
        looks=_looks_dialect,
        read=_name_dialect,
    ),
    Form(
        name="other-file",
        title="an image, an archive, a database (refused)",
        looks=_looks_other,
        read=_refuse_other,
    ),
)
