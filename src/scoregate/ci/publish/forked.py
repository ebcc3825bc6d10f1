"""Work in a second process that shares the memory of this one, so that two cores write reports."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NoReturn

Work = Callable[[], list[str]]
_LEAST_WAIT_S, _LONGEST_WAIT = 60.0, 10
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def start_work(work: Work) -> Work:
    """Start some work in a fork of this process. It must not start threads, print, or need an event loop.

    Args:
        work: returns texts.

    Returns:
        A function that waits for the texts. If the process can't start, ends early, or takes ten times as long as its
        caller needed until then, the function does the work itself.
    """
    if not _has_free_core():
        return work
    receive, send = os.pipe()
    started = time.monotonic()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        with warnings.catch_warnings():  # the other threads of this process wait for work, and hold no lock
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            _work_and_exit(work, send, blocked)
    except OSError:  # there are too many processes
        os.close(receive)
        os.close(send)
        return work
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    os.close(send)

    def collect() -> list[str]:
        with open(receive, "rb") as pipe:  # noqa: PTH123
            longest_s = max(_LEAST_WAIT_S, _LONGEST_WAIT * (time.monotonic() - started))
            is_done = bool(select.select([pipe], [], [], longest_s)[0])
            text = pipe.read() if is_done else b""
        with suppress(ProcessLookupError, ChildProcessError):
            if not is_done:
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        try:
            texts: list[str] = json.loads(text)
        except ValueError:
            return work()
        return texts

    return collect


def _has_free_core() -> bool:
    return sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1


def _work_and_exit(work: Work, send: int, blocked: set[int | signal.Signals]) -> NoReturn:
    """Do the work in the new process, which ends at a signal, without any of the exits of this program."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)  # it is the parent's, for which a second signal means more than the first
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        with open(send, "wb") as pipe:
            pipe.write(json.dumps(work()).encode())
        code = 0
    finally:
        os._exit(code)


def while_process_runs(pid: int, chunks: Iterable[str]) -> Iterator[str]:
    """The chunks of a report, in a process or in its fork, which must not outlive it.

    Raises:
        ProcessLookupError: this is a fork, and the process was killed.
    """
    for chunk in chunks:
        if pid not in (os.getpid(), os.getppid()):
            raise ProcessLookupError
        yield chunk
