"""What goes on behind a run, for whoever wants to know: what was found and by what, which Python, which base."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import ParamSpec, TypeVar

from rich.text import Text

from scoregate.ci.archive import BASE_FOLDER
from scoregate.ci.baseline import Baseline
from scoregate.ci.interpreter import Interpreter
from scoregate.ci.parts import Ports
from scoregate.ci.plan import Found, Plan
from scoregate.ci.report.text import one_line
from scoregate.ci.settings import Settings
from scoregate.cli.found_lines import left_lines, python_line, source_line
from scoregate.cli.watching import Say

_LONGEST = 1_000
_P = ParamSpec("_P")
_T = TypeVar("_T")


def telling(ports: Ports, say: Say) -> Ports:
    """The same ports, which tell what comes of them."""

    def tell(line: str) -> None:
        say(Text(one_line(line, _LONGEST), style="dim"))

    def found(what: Found) -> None:
        for source in what.sources:
            tell(
                f"found  {source_line(source, source.path)}" if source.error is None else f"cannot run  {source.error}"
            )
        for line in left_lines(what):
            tell(line)

    def python(what: Interpreter) -> None:
        tell(python_line(what))

    def base(what: Baseline | None) -> None:
        if what is not None:
            tell(f"{'no base' if what.run is None else 'base'}: {what.note or 'none was asked for'}")

    async def rerun(plan: Plan, settings: Settings, *, folder: str = BASE_FOLDER) -> Baseline:
        made = await ports.rerun(plan, settings, folder=folder)
        base(made)
        return made

    baselines = tuple(_told(source, base) for source in ports.reporting.baselines)
    return replace(
        ports,
        discover=_told(ports.discover, found),
        prepare=_told(ports.prepare, python),
        rerun=rerun,
        reporting=replace(ports.reporting, baselines=baselines),
    )


def _told(function: Callable[_P, Awaitable[_T]], tell: Callable[[_T], None]) -> Callable[_P, Awaitable[_T]]:
    async def told(*args: _P.args, **named: _P.kwargs) -> _T:
        result = await function(*args, **named)
        tell(result)
        return result

    return told
