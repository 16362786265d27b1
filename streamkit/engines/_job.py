"""What a job is asked to do: the same for all of its processes, and after a kill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import attrs

from streamkit import __version__

from ._batch import Reading


if TYPE_CHECKING:
    import pyarrow as pa


__all__ = ["LEAD", "Form", "Job"]

Form = Literal["jsonl", "parquet"]
LEAD = ("source", "position")
"""The columns before all others: the file, and where in it; see `Job.lead`."""


@attrs.frozen(kw_only=True)
class Job:
    """
    What is read, and what is written.

    Attributes:
        reading: How each body is read.
        to: The form of the output.
        part_size: About how many bytes are read for each file of the output.
        body: The column of the bodies, if the inputs are tables; None: they are
            recordings.
        keep: Columns of the tables that are kept.
        prefix: What stands before the names of the rows' own columns.
        kept: The types of the columns that are kept; None: texts.
    """

    reading: Reading = Reading()
    to: Form = "jsonl"
    part_size: int = 64 << 20
    body: str | None = None
    keep: tuple[str, ...] = ()
    prefix: str = ""
    kept: pa.Schema | None = None

    @property
    def lead(self) -> tuple[str, ...]:
        """What the columns of `LEAD` are called here: as one of *keep*, neither."""
        return tuple(self.prefix + name if name in self.keep else name for name in LEAD)

    def settings(self) -> dict[str, Any]:
        """Return as JSON data all that the output depends on, besides the inputs."""
        reading = attrs.asdict(self.reading)
        del reading["json"]  # the result is the same with each
        return {
            "streamkit": __version__,
            "reading": reading,
            "to": self.to,
            "part_size": self.part_size,
            "body": self.body,
            "keep": list(self.keep),
            "prefix": self.prefix,
        }
