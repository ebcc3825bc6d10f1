"""What the story is told with: the ports to the outside, each a function that wiring supplies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from scoregate.ci.baseline import Baseline
from scoregate.ci.interpreter import Interpreter
from scoregate.ci.plan import Found, Plan
from scoregate.ci.settings import Settings
from scoregate.core.compare import Comparison
from scoregate.core.gate import Verdict
from scoregate.core.record import Run

BaselineSource: TypeAlias = Callable[[Settings], Awaitable[Baseline | None]]


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything outside that the flow needs.

    `discover` finds suites; `baselines` are asked in turn; `record` runs a plan (the sequence holds notices for its
    record); `rerun` runs it in the base's tree; `publish` delivers reports.
    """

    root: Path
    interpreter: Interpreter
    discover: Callable[[Settings], Awaitable[Found]]
    baselines: Sequence[BaselineSource]
    record: Callable[[Plan, Settings, Sequence[str]], Awaitable[Run]]
    rerun: Callable[[Plan, Settings], Awaitable[Baseline]]
    publish: Callable[[Comparison, Verdict], Awaitable[None]]
