"""From the names of files to the parts of a job, with all that can be wrong told at once."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ._arrow import arrow, check_columns
from ._job import Job
from ._plan import Input, Part, in_parts
from ._tables import columns_of, kept_fields, table_slices, whole_slice


__all__ = ["parts_of"]


def parts_of(job: Job, inputs: Sequence[Input]) -> tuple[Job, list[Part]]:
    """
    Return *job*, with what the inputs tell of it, and its parts.

    Raises:
        ValueError: If the columns of the output would not be different ones, or the
            first Parquet file lacks one.
        NotInstalled: If pyarrow is needed and not there.
    """
    if job.to == "parquet":
        arrow()
    named = {job.body or "", *job.keep}
    check_columns(named, job.body or "", job.keep, job.prefix, job.lead)
    if job.body is None:
        return job, list(in_parts(map(whole_slice, inputs), job.part_size))
    slices = [one for file in inputs for one in table_slices(file, job.body, job.part_size)]
    first = next((one for one in slices if one.kind == "groups" and one.stop), None)
    fields = None if first is None else columns_of(first.input)
    if fields is not None:
        check_columns(fields.names, job.body, job.keep, job.prefix, job.lead)
    if job.to == "parquet":
        is_pure = all(one.kind == "groups" for one in slices)
        files = dict.fromkeys(one.input for one in slices if one.stop) if is_pure else {}
        job = attrs.evolve(job, kept=kept_fields(map(columns_of, files), job.keep))
    return job, list(in_parts(slices, job.part_size))
