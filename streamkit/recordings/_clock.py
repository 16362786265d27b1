"""The times that stand in front of lines, as seconds."""

from __future__ import annotations

import calendar
import re

from collections.abc import Callable


__all__ = ["TIME", "Clock"]

_DATED = (
    rb"(?P<year>\d{4})[-/](?P<month>\d\d)[-/](?P<day>\d\d)(?:[T ]|[ ]-[ ])"
    rb"(?P<clock>\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)[ ]?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?"
)
_DAILY = rb"(?P<relative>\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)"
_OTHERS = (
    rb"(?P<name>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[ ]{1,2}(?P<date>\d{1,2})[ ]"
    rb"(?P<syslog>\d\d:\d\d:\d\d(?:\.\d{1,9})?)"
    rb"|[+]?(?P<span>\d{1,4}:\d\d(?::\d\d)?(?:[.,]\d{1,9})?)"
    rb"|(?P<epoch>1\d{9}(?:\.\d{1,9})?|1\d{12}|1\d{18})"
    # Blanks may stand before it in brackets; elsewhere it may be a number in an array.
    rb"|(?:(?<=[\[(])[ ]{0,8})?[+]?(?P<seconds>\d{1,8}\.\d{1,9})[ ]?(?P<milli>m?)s?"
)
_END = rb"(?=[\s:|,\]\[\-]|\Z)"
# At the start of a line; the name of the last group that matched tells the way.
TIME = re.compile(rb"[\[(]?(?:" + _DATED + b"|" + _DAILY + b"|" + _OTHERS + rb")[\])]?" + _END)
# Further on, where a number may be anything, only what has a date or three parts.
LATER_TIME = re.compile(
    rb"(?<![\w.:\-])(?:" + _DATED + b"|" + _DAILY + rb")(?=[\])]?" + _END + b")"
)
MONTHS = (b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec").split()
DAY = 86_400
# What has no year is counted from the start of one that has a 29 February.
LEAP_YEAR = 1972
# By their digits: since the epoch in seconds, milliseconds, nanoseconds.
EPOCHS = {10: 1.0, 13: 1e3, 19: 1e9}


def _of_clock(text: bytes) -> float:
    """Return the seconds of `04:20:03.5`, or of `20:03.5`."""
    *before, last = text.split(b":")
    seconds = float(last.replace(b",", b"."))
    minutes = 0
    for part in before:
        minutes = minutes * 60 + int(part)
    return minutes * 60 + seconds


def _of_date(year: int, month: int, day: int) -> float | None:
    # timegm takes a day that the month does not have for one of the next.
    if not (year and 1 <= month <= len(MONTHS)):
        return None
    if not 1 <= day <= calendar.monthrange(year, month)[1]:
        return None
    return float(calendar.timegm((year, month, day, 0, 0, 0)))


def _of_zone(zone: bytes | None) -> float:
    if zone is None or zone in (b"Z", b"UTC"):
        return 0.0
    digits = zone[1:].replace(b":", b"")
    seconds = int(digits[:2]) * 3600.0 + int(digits[2:]) * 60
    return -seconds if zone.startswith(b"-") else seconds


class Clock:
    """
    Read the times of a recording, one after another.

    A time that names its day is in seconds since the epoch (UTC, if it names no
    zone); one that names none is in seconds since the midnight before the first.

    >>> clock = Clock()
    >>> clock.read(b"1970-01-01T00:01:00.5Z data: {}")
    (60.5, 22)
    >>> clock.read(b"23:59:59 data: {}"), clock.read(b"00:00:01 data: {}")
    ((86399.0, 8), (86401.0, 8))
    """

    def __init__(self) -> None:
        self._days = 0.0
        self._last = 0.0
        # The day of the time before, which most likely is that of the next.
        self._named: tuple[bytes, ...] = ()
        self._midnight: float | None = None

    def read(self, line: bytes) -> tuple[float | None, int]:
        """Return the time that *line* starts with, and where the line goes on: 0 if it has none."""
        found = TIME.match(line)
        if found is None:
            return None, 0
        return READERS[found.lastgroup or ""](self, found), found.end()

    def find(self, text: bytes) -> float | None:
        """Return the first time in *text*, what stands before a payload."""
        found = TIME.match(text.lstrip()) or LATER_TIME.search(text)
        return None if found is None else READERS[found.lastgroup or ""](self, found)

    def _absolute(self, found: re.Match[bytes]) -> float | None:
        named = found.group("year", "month", "day", "zone")
        if named != self._named:
            date = _of_date(int(named[0]), int(named[1]), int(named[2]))
            self._named = named
            self._midnight = None if date is None else date - _of_zone(named[3])
        if self._midnight is None:
            return None
        return self._midnight + _of_clock(found["clock"])

    def _syslog(self, found: re.Match[bytes]) -> float | None:
        date = _of_date(LEAP_YEAR, MONTHS.index(found["name"]) + 1, int(found["date"]))
        return None if date is None else date + _of_clock(found["syslog"])

    def _relative(self, found: re.Match[bytes]) -> float:
        seconds = _of_clock(found[found.lastgroup or 0])
        if seconds < self._last - DAY / 2:  # past midnight
            self._days += DAY
        self._last = seconds
        return self._days + seconds

    def _epoch(self, found: re.Match[bytes]) -> float:
        whole = found["epoch"].partition(b".")[0]
        return float(found["epoch"]) / EPOCHS[len(whole)]

    def _seconds(self, found: re.Match[bytes]) -> float:
        return float(found["seconds"]) / (1e3 if found["milli"] else 1)


READERS: dict[str, Callable[[Clock, re.Match[bytes]], float | None]] = {
    "clock": Clock._absolute,
    "zone": Clock._absolute,
    "syslog": Clock._syslog,
    "relative": Clock._relative,
    "span": Clock._relative,
    "epoch": Clock._epoch,
    "milli": Clock._seconds,
}
