"""The output of `--verbose` before a run: found suites, the Python interpreter, the baseline."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from scoregate.kernel.job.ports import Ports
from scoregate.kernel.judge.archive import BASE_FOLDER
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.report.text import one_line
from scoregate.kernel.run.interpreter import Interpreter
from scoregate.kernel.run.plan import DiscoveredSuites, Plan, SourceKind, SuiteSource
from scoregate.kernel.types.slots import NO_SLOTS, Slots

if TYPE_CHECKING:
    from scoregate.cli.progress_state import PrintLine


def format_source(source: SuiteSource, name: str) -> str:
    """`evals/demo.py:12 [python] demo (in evals/, …)`."""
    if source.kind is SourceKind.COMMAND:
        return f"{name} [{source.kind}] {shlex.join(source.argv)} ({source.why})"
    ids = "" if source.suite_ids is None else f" {', '.join(source.suite_ids)}"
    return f"{name}:{source.line} [{source.kind}]{ids} ({source.why})"


def format_skipped(suites: DiscoveredSuites) -> Iterator[str]:
    """Skipped files and notices."""
    yield from (f"skipped {skipped.path}: {skipped.why}" for skipped in suites.skipped)
    yield from (f"note: {notice}" for notice in suites.notices)


def format_notices(suites: DiscoveredSuites, command: str) -> Iterator[str]:
    """Notices, and the number of skipped files; `command` lists these."""
    if suites.skipped:
        yield f"{len(suites.skipped):,} skipped: `{command}` lists them with the reasons"
    yield from (f"note: {notice}" for notice in suites.notices)


def format_python(interpreter: Interpreter) -> str:
    """The Python interpreter of the suites."""
    return f"Python: {' '.join(interpreter.argv)}  ({interpreter.why})"


_LONGEST = 1_000
_P = ParamSpec("_P")
_T = TypeVar("_T")


def log_results(ports: Ports, print_line: PrintLine) -> Ports:
    """Wrap ports so that they print their results."""
    from rich.text import Text

    def log(line: str) -> None:
        print_line(Text(one_line(line, _LONGEST), style="dim"))

    def log_sources(suites: DiscoveredSuites) -> None:
        for source in suites.sources:
            log(
                f"found  {format_source(source, source.path)}"
                if source.error is None
                else f"cannot run  {source.error}"
            )
        for line in format_skipped(suites):
            log(line)

    def log_python(interpreter: Interpreter) -> None:
        log(format_python(interpreter))

    def log_baseline(baseline: Baseline | None) -> None:
        if baseline is not None:
            log(f"{'no baseline' if baseline.run is None else 'baseline'}: {baseline.note or 'none was requested'}")

    async def rerun(plan: Plan, settings: Settings, *, folder: str = BASE_FOLDER, slots: Slots = NO_SLOTS) -> Baseline:
        baseline = await ports.rerun(plan, settings, folder=folder, slots=slots)
        log_baseline(baseline)
        return baseline

    baselines = tuple(_with_log(source, log_baseline) for source in ports.reporting.baselines)
    return replace(
        ports,
        discover=_with_log(ports.discover, log_sources),
        prepare=_with_log(ports.prepare, log_python),
        rerun=rerun,
        reporting=replace(ports.reporting, baselines=baselines),
    )


def _with_log(function: Callable[_P, Awaitable[_T]], log: Callable[[_T], None]) -> Callable[_P, Awaitable[_T]]:
    async def logged(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        result = await function(*args, **kwargs)
        log(result)
        return result

    return logged
