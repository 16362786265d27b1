"""
What was repaired, refused or merely noticed: `Issue`, and the catalogue of codes.

An issue is a report, not an error.  Each code says in the catalogue whether
strict mode turns it into an error.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import attrs

from ._errors import FramingError


__all__ = ["ISSUES", "Issue", "IssueLog", "StrictLog"]

# How many of the issues that were only counted are remembered: chunks that are held (1,024
# at most) may have an issue each, and belong to the next stream.
RECENT = 2048


@attrs.frozen
class Issue:
    """
    One thing that was repaired, refused or noticed in a stream.

    Attributes:
        code: Its name for programs, a key of `ISSUES`.
        message: One sentence for a person; text of the stream in it is escaped.
        event: Number of the event or chunk it was noticed in, counted from 0.
        offset: Where in the input, in bytes from its start; None if the input
            was not bytes.

    >>> str(Issue("id_changed", "the id changed from 'a' to 'b'", 3))
    "id_changed: the id changed from 'a' to 'b' (event 3)"
    """

    code: str
    message: str
    event: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        at = [f"event {self.event}"] if self.event is not None else []
        at += [f"byte {self.offset}"] if self.offset is not None else []
        return f"{self.code}: {self.message}" + (f" ({', '.join(at)})" if at else "")


@attrs.define
class IssueLog:
    """
    The issues of one stream: the first *keep* of them, and a count by code.

    A code in `ONCE` floods otherwise (a provider that changes the id changes it
    on every chunk): it is kept the first time and counted after that.

    Attributes:
        issues: What was kept.
        counts: How often each code came.
        repairs: How many issues ever came, but for those that each line of bare
            JSON has; `take` does not lower it.
    """

    keep: int | None = 100
    issues: list[Issue] = attrs.field(factory=list)
    counts: Counter[str] = attrs.field(factory=Counter)
    repairs: int = 0
    _counted: deque[Issue] = attrs.field(factory=lambda: deque(maxlen=RECENT))

    def add(
        self,
        code: str,
        message: str,
        event: int | None = None,
        offset: int | None = None,
    ) -> Issue:
        """Record an issue and return it."""
        self.repairs += code != "bare_json"
        issue = Issue(code, message, event, offset)
        self._record(issue)
        return issue

    def _record(self, issue: Issue) -> None:
        self.counts[issue.code] += 1
        repeated = issue.code in ONCE and self.counts[issue.code] > 1
        has_room = self.keep is None or len(self.issues) < self.keep
        (self.issues if has_room and not repeated else self._counted).append(issue)

    def part(self, event: int) -> list[Issue]:
        """Forget the issues of *event* and of later ones, and return them, in order."""
        later = [issue for issue in (*self.issues, *self._counted) if _is_from(issue, event)]
        self.issues = [issue for issue in self.issues if not _is_from(issue, event)]
        self.counts -= Counter(issue.code for issue in later)
        self._counted.clear()
        return sorted(later, key=lambda issue: issue.event or 0)

    def restore(self, issues: Iterable[Issue]) -> None:
        """Record *issues* again: those of another stream, of which the first are kept anew."""
        for issue in issues:
            self._record(issue)

    def take(self, before: int | None) -> IssueLog:
        """Return a log of the issues of events before number *before*, and forget those."""
        taken = IssueLog(self.keep)
        kept: list[Issue] = []
        for issue in self.issues:
            belongs = before is None or issue.event is None or issue.event < before
            (taken.issues if belongs else kept).append(issue)
        self.issues = kept
        taken.counts, self.counts = self.counts, Counter(issue.code for issue in kept)
        taken.counts -= self.counts
        return taken


def _is_from(issue: Issue, event: int) -> bool:
    """Tell whether *issue* was noticed in *event*, or in a later one."""
    return issue.event is not None and issue.event >= event


class StrictLog(IssueLog):
    """A log that raises what it would have recorded."""

    def add(
        self, code: str, message: str, event: int | None = None, offset: int | None = None
    ) -> Issue:
        """
        Raise the issue.

        Raises:
            FramingError: Always, with the issue.
        """
        issue = super().add(code, message, event, offset)
        raise FramingError(str(issue), issue=issue)


# Kept once a stream, counted always.
ONCE = frozenset(
    {
        "bare_json",
        "comment_in_data",
        "double_prefix",
        "field_whitespace",
        "id_changed",
        "late_bom",
        "missing_blank_line",
        "model_changed",
        "role_changed",
        "unframed_text",
        "unprefixed_line",
    }
)

ISSUES: Mapping[str, str] = MappingProxyType(
    {
        # Framing: strict mode raises FramingError for each of these.
        "bad_json": "A payload is not JSON; it was left out.",
        "bad_number": "NaN, Infinity or a number beyond its range; it became null.",
        "bare_json": "JSON without any framing; its values were taken as payloads.",
        "comment_in_data": "A comment inside data; it was skipped.",
        "compressed_body": "The bytes are compressed; decompress them first.",
        "concatenated_json": "Several JSON values in one event; each is a payload.",
        "control_character": "A raw control character inside a JSON string; it was kept.",
        "cut_value": "A JSON value was cut off; it was left out.",
        "data_after_done": "A payload after [DONE]; it was left out.",
        "double_prefix": "`data:` twice in front of a payload; one was dropped.",
        "error_field": "`error:` used as a field name; taken as an error payload.",
        "field_whitespace": "A blank before a field name or its colon; it was dropped.",
        "glued_events": "An event glued to the end of another; they were parted.",
        "html_body": "The input is an HTML page, not a stream.",
        "invalid_utf8": "Invalid UTF-8; each bad sequence became U+FFFD.",
        "late_bom": "A byte order mark after the start of the stream; it was dropped.",
        "missing_blank_line": "One newline instead of two between events; they were parted.",
        "no_events": "The input has no events; it is plain text or of another form.",
        "non_json_error": "An error event whose data is not JSON; kept as its message.",
        "not_a_chunk": "A payload that is no chunk of a known kind; it was skipped.",
        "too_deep": "JSON nested deeper than the limit; the payload was left out.",
        "trailing_garbage": "Bytes after a whole JSON value; the value was kept.",
        "unframed_text": "Text that is neither a field nor JSON; it was skipped.",
        "unprefixed_line": "A payload's further lines lack `data:`; they were joined.",
        "unterminated_event": "The input ended inside an event; it was whole and kept.",
        # Merging: strict mode raises InvalidChunk for the first four.
        "bad_type": "A value has a type its field cannot have; it was left out.",
        "bad_choice": "A choice is not an object; it was left out.",
        "index_range": "An index is no integer from 0 to the limit; its entry was left out.",
        "bad_chunk": "A chunk is not an object, or cannot be read; it was left out.",
        "arguments_encoded": "Tool arguments came as an object; they were encoded once.",
        "arguments_repeated": "A closing chunk repeated the whole arguments; it added nothing.",
        "id_changed": "The id changed inside one stream; the first was kept.",
        "index_reused": "A new tool call came under a used index; it was kept apart.",
        "logprobs_uneven": "Parallel logprob lists differ in length; short ones were padded.",
        "lone_surrogate": "Half a surrogate pair; it became U+FFFD.",
        "model_changed": "The model changed inside one stream; the last was kept.",
        "role_changed": "The role changed; the first was kept.",
        "text_offset_order": "text_offset goes backwards; it was kept as sent.",
        "value_changed": "A value changed that a caller's rule says should not.",
        "tool_call_id_changed": "A tool call's id changed without a name; the first was kept.",
        # The stream as a whole: information.
        "already_final": "A whole response, not a stream; it was passed through.",
        "bare_lines": "The blocks are lines without their ends; pass the bytes as they come.",
        "done_missing": "The recording has no [DONE].",
        "empty_stream": "There is no usable chunk.",
        "finish_missing": "A choice has no finish reason.",
        "other_form": "The input looks like a recording that streamkit.recordings reads.",
        "several_streams": "The recording holds further streams; use rebuild_all.",
        # Recordings, `streamkit.recordings`: information, in strict mode too.
        "after_compressed": "Something else stands behind compressed data; it was left out.",
        "utf16": "The text was UTF-16; it was read as such.",
        "http_status": "The server answered with an error status.",
        "no_body": "There are a response's headers, and no body.",
        "trace_ascii": "An ASCII trace shows each byte that is not printable as a dot.",
        "cut_file": "The file ends inside an exchange, or before another; what is there was read.",
        "paste_backslashes": "Backslashes of a string around the stream were undone.",
        "paste_curly": "Curly quotation marks were made straight.",
        "paste_escaped": "HTML's character references were made characters.",
        "paste_fenced": "Only what stands inside code fences was read.",
        "paste_indented": "Indentation was taken off.",
        "paste_quoted": "Quotation marks (`>`) at the start of lines were taken off.",
        "paste_wrapped": "Lines that a terminal had broken at its width were joined.",
        "python_text": "Python text was read as the values that it shows.",
        "bad_base64": "A body says that it is base64, but is not; it was left out.",
        "cut_body": "Compressed data are cut or damaged; what came before that was kept.",
        "encoded_body": "A body is compressed in a way that is not read here.",
        "missing_body": "The recording has no body for a response.",
        "mojibake": "The text seems to be, or was, UTF-8 read as Latin-1.",
        "other_dialect": "The stream is of another API; it was named and left as it is.",
        "uneven_times": "There are more times than events; they were left out.",
        "bad_row": "A line is no row.",
        "message_only": "A trace keeps the message, not the response it came in.",
        "rows_missing": "Numbers of rows are missing; chunks may be lost.",
        "rows_repeated": "Rows came twice; each was taken once.",
        "rows_sorted": "Rows were out of order; they were sorted.",
        # Times: likewise.
        "clock_backwards": "The recording's clock goes backwards; those gaps were left out.",
        "clock_bad": "A time is no number, or beyond the year 9999; it was left out.",
        "clock_jumps": "Over half an hour between two chunks: a clock was set, or zones mixed.",
        "clock_missing": "Some chunks have no time; what they would tell is unknown.",
        "clock_stands": "All chunks have one time: it was not kept as they came.",
    }
)
"""Every code an `Issue` can have, and what it means."""
