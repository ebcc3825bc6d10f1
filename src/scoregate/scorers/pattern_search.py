"""Search regular expressions that others wrote, for a second at most.

Python's `re` can't be interrupted and blocks all threads, so a pattern such as `(a+)+$` would stop the suite. A child
process, which runs this file, searches instead. A search that takes longer ends the child, and the next search starts
another one. Simple patterns, which can't take long, are searched in this process.
"""

from __future__ import annotations

import atexit
import marshal
import os
import re
import signal
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subprocess import Popen

LIMIT_S = 1.0
# Of the clock, for machines so busy that a second of processor time takes much longer.
_LONGEST_S = 5.0
# Machines without this signal limit the time by the clock.
_CPU_SIGNAL = getattr(signal, "SIGPROF", None)
_LONGEST_PATTERN = 100
# Without groups, each repeat multiplies the steps by the length of the text at most.
_MOST_STEPS = 10_000_000
_REPEATS = frozenset("*+?{")


def search_pattern(pattern: str, text: str, *, flags: int = 0, full: bool = False) -> bool:
    """Whether a text has a match of a regular expression.

    Args:
        pattern: the expression.
        text: where to search.
        flags: flags of the module `re`.
        full: whether the whole text must match.

    Raises:
        ValueError: the search takes more than a second.
        re.error: the expression is invalid.
    """
    if is_fast(pattern, text):
        return _search(pattern, text, flags, full)
    re.compile(pattern, flags)
    flags &= ~re.DEBUG  # it would print into the result
    return _child.search(pattern, text, flags, full)


def is_fast(pattern: str, text: str) -> bool:
    """Whether a search surely ends within a fraction of a second. Doubling for each character needs a group."""
    repeats = sum(character in _REPEATS for character in pattern)
    return "(" not in pattern and (len(text) + 1) ** (repeats + 1) * (len(pattern) + 1) <= _MOST_STEPS


def _search(pattern: str, text: str, flags: int, full: bool) -> bool:
    expression = re.compile(pattern, flags)
    return (expression.fullmatch if full else expression.search)(text) is not None


class _Child:
    """The child process that searches. It starts with the first search, and is kept until one takes too long."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: Popen[bytes] | None = None

    def search(self, pattern: str, text: str, flags: int, full: bool) -> bool:
        with self._lock:
            process = self._process = self._process or _start()
            try:
                # Texts of a subclass, such as members of a StrEnum, can't be sent.
                found = _exchange(process, ("".join([pattern]), "".join([text]), int(flags), full))
            except BaseException:  # its result may come later, and is not that of the next search
                self._process = None
                process.kill()
                _end(process)
                raise
            if found is not None:
                return found
            self._process = None
            code = _end(process)
        if code not in ((-_CPU_SIGNAL, -signal.SIGALRM) if _CPU_SIGNAL else (1,)):
            raise ValueError(f"the pattern {_show(pattern)} can't be searched: the child process ended with {code}")
        raise ValueError(
            f"the search for {_show(pattern)} in {len(text):,} characters took more than {LIMIT_S:g} s and was "
            "stopped, so there is no result. A repeat within a repeat, such as (a+)+, doubles the time with each "
            "character. Write the pattern without one"
        )

    def forget(self) -> None:
        """Leave the child process to the parent of a forked process, which must not talk to it."""
        process = self._process
        self._lock, self._process = threading.Lock(), None
        if process is not None:
            process.returncode = 0  # no warning that it goes on
            _close_pipes(process)

    def close(self) -> None:
        """End the child process."""
        process, self._process = self._process, None
        if process is not None:
            _end(process)


def _start() -> Popen[bytes]:
    from subprocess import DEVNULL, PIPE, Popen

    # Isolated and without site packages it starts in 15 ms, and nothing of the project is imported.
    return Popen([sys.executable, "-I", "-S", __file__], stdin=PIPE, stdout=PIPE, stderr=DEVNULL)


def _exchange(process: Popen[bytes], request: tuple[str, str, int, bool]) -> bool | None:
    """The result of a search; None if the child process ended."""
    assert process.stdin is not None and process.stdout is not None  # noqa: PT018
    timer = None if _CPU_SIGNAL else threading.Timer(LIMIT_S, process.kill)
    if timer is not None:
        timer.start()
    try:
        process.stdin.write(marshal.dumps((LIMIT_S, request)))
        process.stdin.flush()
        found = process.stdout.read(1)
    except BrokenPipeError:
        return None
    finally:
        if timer is not None:
            timer.cancel()
    return found == b"1" if found else None


def _end(process: Popen[bytes]) -> int:
    """End a child process, and return its exit code."""
    _close_pipes(process)
    return process.wait()


def _close_pipes(process: Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()


def _show(pattern: str) -> str:
    return repr(pattern if len(pattern) <= _LONGEST_PATTERN else f"{pattern[:_LONGEST_PATTERN]}…")


def _serve() -> None:
    """Search for the parent process until it ends or the processor time of one search is used up."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    timer: Any = None
    if _CPU_SIGNAL is not None:
        # A process inherits which signals its parent ignores.
        for each in (_CPU_SIGNAL, signal.SIGALRM):
            signal.signal(each, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [_CPU_SIGNAL, signal.SIGALRM])
        timer = signal.setitimer
    with suppress(EOFError):
        while True:
            limit, request = marshal.load(source)
            # Processor time, so that a busy machine makes no errors.
            if timer is not None:
                timer(signal.ITIMER_PROF, limit)
                timer(signal.ITIMER_REAL, _LONGEST_S)
            found = _search(*request)
            if timer is not None:
                timer(signal.ITIMER_PROF, 0)
                timer(signal.ITIMER_REAL, 0)
            target.write(b"1" if found else b"0")
            target.flush()


_child = _Child()

if __name__ == "__main__":
    _serve()
else:
    atexit.register(_child.close)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_child.forget)
