"""The notes that readers of recordings make: their codes, and what each means."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


__all__ = ["NOTES"]

NOTES: Mapping[str, str] = MappingProxyType(
    {
        # Wrappers.
        "utf16": "The text was UTF-16; it was read as such.",
        # curl.
        "http_status": "The server answered with an error status.",
        "no_body": "There are a response's headers, and no body.",
        "trace_ascii": "An ASCII trace shows each byte that is not printable as a dot.",
        # Pastes.
        "paste_curly": "Curly quotation marks were made straight.",
        "paste_fenced": "Only what stands inside code fences was read.",
        "paste_indented": "Indentation was taken off.",
        "paste_quoted": "Quotation marks (`>`) at the start of lines were taken off.",
        # Python text.
        "python_text": "Python text was read as the values that it shows.",
        # Bodies of recorded exchanges.
        "bad_base64": "A body says that it is base64, but is not; it was left out.",
        "cut_body": "A compressed body is cut or damaged; what came before that was kept.",
        "encoded_body": "A body is compressed in a way that is not read here.",
        "missing_body": "The recording has no body for a response.",
        "mojibake": "The text seems to be, or was, UTF-8 read as Latin-1.",
        "other_dialect": "The stream is of another API; it was named and left as it is.",
        "uneven_times": "There are more times than events; they were left out.",
        # Rows.
        "bad_row": "A line is no row.",
        "message_only": "A trace keeps the message, not the response it came in.",
        "rows_missing": "Numbers of rows are missing; chunks may be lost.",
        "rows_repeated": "Rows came twice; each was taken once.",
        "rows_sorted": "Rows were out of order; they were sorted.",
    }
)
"""Every code that a reader's note can have, beside those of `ISSUES`."""
