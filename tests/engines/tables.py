"""Bodies and chunks for the engines, and the processes that they run in."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time

from tests.cli.helpers import CUT, FAILED, WHOLE, chunk, sse


POISON = [None, b"", b"\0" * 50, b"[" * 100_000, b"PAR1 no", CUT, FAILED, WHOLE + CUT]


def bodies(count, chunks=3):
    """Return whole streams with a poisonous one at each tenth place."""
    middle = [chunk("chatcmpl", content="word ") for _ in range(chunks)]
    found = []
    for number in range(count):
        end = chunk("chatcmpl", content=str(number), finish="stop")
        found.append(sse(*middle, end) if number % 10 else POISON[number // 10 % len(POISON)])
    return found


def chunk_rows(streams):
    """Return rows with a chunk each, of several streams, shuffled; one chunk comes twice."""
    rows = []
    for stream in range(streams):
        for number in range(12):
            finish = "stop" if number == 11 else None
            part = chunk(f"chatcmpl-{stream}", content=f"{stream}.{number} ", finish=finish)
            rows.append((f"s{stream}", number, f"user{stream}", sse(part, done=False).decode()))
    rows.append(rows[5])
    random.Random(3).shuffle(rows)
    return rows


def text_of(stream):
    return "".join(f"{stream}.{number} " for number in range(12))


def descendants(mark):
    """Return the processes below this one whose command line has *mark*."""
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, text=True
    )
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    ours, found = {os.getpid()}, []
    while more := [row for row in rows if int(row[1]) in ours and int(row[0]) not in ours]:
        ours |= {int(row[0]) for row in more}
        found += [int(row[0]) for row in more if mark in row[2]]
    return found


def kill_one(mark, *, after):
    """Kill the youngest process with *mark* some seconds from now, and return its id."""
    time.sleep(after)
    until = time.monotonic() + 60
    while not (found := descendants(mark)) and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(max(found), signal.SIGKILL)
    return max(found)
