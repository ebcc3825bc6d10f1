"""The hook of the setup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scoregate.kernel.host.runner import in_container
from scoregate.kernel.job.steps import Step
from scoregate.kernel.run.interpreter import Interpreter, SuiteHost

if TYPE_CHECKING:
    from scoregate.kernel.judge.settings import Settings
    from scoregate.kernel.run.plan import SuiteSource


class SetupStep(Step):
    """Makes the environment that suites run in, or finds the project's own."""

    name = "setup"

    async def prepare(
        self, host: SuiteHost, settings: Settings, sources: Sequence[SuiteSource], *, dry: bool
    ) -> Interpreter:
        from scoregate.features.setup.environment import VenvSpec
        from scoregate.features.setup.preparation import prepare_suites

        host_python_is_fallback = in_container(host.environ)
        spec = VenvSpec(
            host.root,
            host.scratch,
            host.suite_environ,
            host.redact,
            host.print_line,
            host.identity,
            automatic=host_python_is_fallback or host.environ.get("SCOREGATE_ACTION") == "1",
            host_python_is_fallback=host_python_is_fallback,
        )
        return await prepare_suites(spec, settings, sources, dry=dry)


STEP = SetupStep()
