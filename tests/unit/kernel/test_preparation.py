"""The Python that runs suites, as features prepare it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import anyio

from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.job.steps import Step, prepare
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.interpreter import Interpreter, SuiteHost
from scoregate.kernel.run.plan import SuiteSource


class PreparingStep(Step):
    def __init__(self, name: str, found: Interpreter | None) -> None:
        self.name, self._found = name, found

    async def prepare(
        self, host: SuiteHost, settings: Settings, sources: Sequence[SuiteSource], *, dry: bool
    ) -> Interpreter | None:
        del host, settings, sources, dry
        return self._found


def find_python(*steps: Step) -> tuple[str, ...]:
    host = SuiteHost(Path(), Path(), {}, {}, Redactor(()), print)
    return anyio.run(prepare, lambda _: steps, host, Settings(), ()).argv


def test_the_first_step_that_has_a_python_wins() -> None:
    one, two = (PreparingStep(name, Interpreter((name,), "")) for name in ("one", "two"))
    assert find_python(PreparingStep("none", None), one, two) == ("one",)
    assert find_python() == (sys.executable,)
