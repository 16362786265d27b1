"""For all tests."""

from __future__ import annotations

import gc

from contextlib import suppress


with suppress(ImportError):  # the tests of engines do without it
    from hypothesis import settings

    # How long an example takes says how busy the machine is.
    settings.register_profile("untimed", deadline=None)
    settings.load_profile("untimed")


def pytest_collection_finish():
    """Let the garbage collector not look through thousands of tests each time."""
    gc.collect()
    gc.freeze()


def pytest_make_parametrize_id(val, argname):
    """
    Name binary values by their size.

    What gzip makes holds the time of day, and processes that share the tests must
    find the same names.
    """
    is_binary = isinstance(val, bytes) and not val.isascii()
    return f"{argname}-{len(val)}-bytes" if is_binary else None
