"""
Several files at once, in processes; what is printed is in the order of the files.

Each worker has a pipe of its own.  So it is known which file a worker died of, and
one that is ahead of its turn waits at its pipe once what it said fills the
memory that it may: what is held is bounded, whatever the files are.  Python's own
pools know neither.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import signal
import threading

from collections import deque
from collections.abc import Generator, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

import attrs

from ._escape import escape_line
from ._files import STDIN, File
from ._inputs import USAGE
from ._output import put_error
from ._said import Said, Say
from ._worker import END, ERR, READ, SAID, TOO_DEEP, work


__all__ = ["in_processes"]

# Files that are done or under way before their turn, for each worker.
AHEAD = 16
# Bytes that may be held of them.
MOST_HELD = 32 << 20
# How long to wait before the progress bar is drawn again.
BETWEEN = 0.1
# How long a dead process may take to say why.
GRACE = 5.0


@attrs.define(eq=False)
class _Task:
    """
    A file, and what was said of it so far.

    Attributes:
        file: It.
        worker: Who reads it; None: nobody yet, or nobody any more.
        messages: What was said, and is not printed yet.
        held: The bytes of that.
        is_over: Nothing more will be said.
    """

    file: File
    worker: _Worker | None = None
    messages: deque[bytes] = attrs.field(factory=deque)
    held: int = 0
    is_over: bool = False

    def keep(self, message: bytes) -> None:
        self.messages.append(message)
        self.held += len(message)

    def next(self) -> bytes:
        message = self.messages.popleft()
        self.held -= len(message)
        return message


@attrs.define(eq=False)
class _Worker:
    """A process, the pipe to it, and the file that it reads."""

    process: BaseProcess
    connection: Connection
    task: _Task | None = None

    def give(self, task: _Task) -> bool:
        """Let it read the file of *task*; return whether it still can."""
        try:
            self.connection.send(task.file)
        except OSError:  # it died while it had nothing to do
            return False
        self.task, task.worker = task, self
        return True

    def why_dead(self) -> str:
        """Return how the process ended, in words."""
        self.process.join(GRACE)
        code = self.process.exitcode
        if code is None or code >= 0:
            return f"status {code}"
        names = {number.value: number.name for number in signal.Signals}
        return names.get(-code, f"signal {-code}")


@attrs.define(eq=False)
class _Pool:
    """The workers, and the files that they are at, in order."""

    args: argparse.Namespace
    say: Say
    is_quiet: bool = False
    workers: list[_Worker] = attrs.field(factory=list)
    tasks: deque[_Task] = attrs.field(factory=deque)

    def run(self, files: Iterator[File]) -> Iterator[Said]:
        """Yield what is said of each of *files*, in order."""
        while self._hand_out(files):
            first = self.tasks[0]
            if first.worker is None and not first.is_over:  # nobody else can read it
                yield from self.say(self.args, first.file)
                first.is_over = True
            yield from _printed(first)
            if not first.is_over:
                self._listen(first)
            else:
                self.tasks.popleft()
                self._finish()

    def dismiss(self) -> None:
        """Let all workers end, as there is no more to do."""
        for worker in self.workers:
            worker.connection.close()
        for worker in self.workers:
            worker.process.join(GRACE)

    def stop(self) -> None:
        """End all workers at once, if they have not."""
        for worker in self.workers:
            worker.process.kill()
        for worker in self.workers:
            worker.process.join()
            worker.connection.close()

    # -- Handing out -----------------------------------------------------------------

    def _hand_out(self, files: Iterator[File]) -> bool:
        """Give files to those who have none; return whether any file is left."""
        while len(self.tasks) < AHEAD * self.args.jobs:
            worker = self._idle()
            if worker is None and self.tasks:
                break
            file = next(files, None)
            if file is None:
                break
            task = _Task(file)
            self.tasks.append(task)
            if worker is not None and file.name != STDIN and not worker.give(task):
                self._remove(worker)
        return bool(self.tasks)

    def _idle(self) -> _Worker | None:
        """Return a worker without a file, a new one if there may be more."""
        idle = next((worker for worker in self.workers if worker.task is None), None)
        if idle is None and len(self.workers) < self.args.jobs:
            return self._started()
        return idle

    def _started(self) -> _Worker | None:
        # Not a fork: it would take the locks of other threads, and all pipes, along.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        args = argparse.Namespace(**{**vars(self.args), "meter": None})
        process = context.Process(
            target=work,
            args=(theirs, args, self.say),
            kwargs={"is_watched": self.args.meter is not None},
            daemon=True,
        )
        try:
            with _without_interrupt():
                process.start()
        except OSError:  # there can be no more processes: fewer will do
            self.args.jobs = max(len(self.workers), 1)
            ours.close()
            return None
        finally:
            theirs.close()
        self.workers.append(_Worker(process, ours))
        return self.workers[-1]

    # -- Listening -------------------------------------------------------------------

    def _listen(self, first: _Task) -> None:
        """Wait until a worker says something; if much is held, only to the first."""
        is_full = sum(task.held for task in self.tasks) > MOST_HELD
        tasks = [first] if is_full else [task for task in self.tasks if not task.is_over]
        at: dict[Any, _Worker] = {
            task.worker.connection: task.worker for task in tasks if task.worker is not None
        }
        for connection in wait(list(at), BETWEEN if self.args.meter else None):
            self._receive(at[connection])
        if self.args.meter is not None:
            self.args.meter.start(first.file)
            self.args.meter.add(0)

    def _receive(self, worker: _Worker) -> None:
        task = worker.task
        assert task is not None
        try:
            message = worker.connection.recv_bytes()
        except (EOFError, OSError):
            self._bury(worker, task)
            return
        if message[:1] == READ:
            self.args.meter.add(int(message[1:]))
        elif message[:1] == END:
            task.is_over, worker.task, task.worker = True, None, None
        else:
            task.keep(message)

    def _bury(self, worker: _Worker, task: _Task) -> None:
        """Say that *worker* died of the file of *task*; the others go on."""
        how = worker.why_dead()
        message = f"{task.file.label}: the process that read it died ({how})"
        if not self.is_quiet:
            task.keep(ERR + f"streamkit: {escape_line(message)}\n".encode())
        task.keep(SAID + Said(status=USAGE, died=(task.file.name, how)).packed())
        task.is_over, task.worker = True, None
        self._remove(worker)

    def _remove(self, worker: _Worker) -> None:
        worker.connection.close()
        self.workers.remove(worker)

    def _finish(self) -> None:
        if self.args.meter is not None:
            self.args.meter.finish()


@contextlib.contextmanager
def _without_interrupt() -> Iterator[None]:
    """Start processes to which Ctrl-C means nothing: they would all complain of it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _printed(task: _Task) -> Iterator[Said]:
    """Yield what was said of the file of *task*; what is for standard error goes there."""
    while task.messages:
        message = task.next()
        kind = message[:1]
        if kind == TOO_DEEP:
            raise RecursionError
        if kind == SAID:
            yield Said.unpacked(message[1:])
        else:
            put_error(message[1:].decode("utf-8", "surrogatepass"))


def in_processes(
    args: argparse.Namespace, say: Say, files: Iterator[File], *, is_quiet: bool = False
) -> Generator[Said, None, None]:
    """
    Yield what *say* yields of each of *files*, in order; `jobs` of them are read at once.

    If *is_quiet*, a process that dies is told by `Said.died` alone.
    """
    pool = _Pool(argparse.Namespace(**vars(args)), say, is_quiet)
    try:
        yield from pool.run(files)
        pool.dismiss()
    finally:
        pool.stop()
