"""What was found, a line for each source of suites, and why."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from scoregate.ci.interpreter import Interpreter
from scoregate.ci.plan import Found, Kind, Source


def source_line(source: Source, name: str) -> str:
    """`evals/demo.py:12  [python] demo  below evals/, …`."""
    place = name if source.kind is Kind.COMMAND else f"{name}:{source.line}"
    return f"{place}  {_ids(source)}  {source.why}"


def left_lines(found: Found) -> Iterator[str]:
    """What was looked at and is not run, and what else is to be said."""
    yield from (f"skipped  {skipped.path}  {skipped.why}" for skipped in found.skipped)
    yield from (f"note: {notice}" for notice in found.notices)


def python_line(interpreter: Interpreter) -> str:
    """Which Python runs them."""
    return f"Python: {' '.join(interpreter.argv)}  ({interpreter.why})"


def _ids(source: Source) -> str:
    if source.kind is Kind.COMMAND:
        return f"[{source.kind}] {shlex.join(source.argv)}"
    if source.suite_ids is None:
        return f"[{source.kind}]"
    return f"[{source.kind}] {', '.join(source.suite_ids)}"
