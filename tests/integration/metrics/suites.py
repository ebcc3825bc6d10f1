"""Suites whose outputs metrics judge, as short as they can be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import perf_counter
from typing import Any

from scoregate.engine.results import make_result
from scoregate.engine.run import finish_suite, run_suite
from scoregate.engine.sync import run_sync
from scoregate.kernel.types.conversation import Conversation, Turn
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.kernel.types.suite import Case, Description, Suite
from scoregate.metrics import Subject, build_scorers

SINGLE = Subject("When do you open?", "At nine.", "At nine o'clock.", behavior="Tells the hours")
TALK = Conversation((Turn("When do you open?", "At nine."), Turn("On Sundays too?", "On Sundays too.")))
MULTI = Subject(conversation=TALK, goal="Learn the hours", behavior="Tells the hours", restrictions="No small talk")


def run(metrics: Iterable[Any], subjects: Mapping[str, Subject] | None = None, *, limit: int = 10) -> SuiteResult:
    """Run a suite whose outputs are judged as these subjects, by default one output."""
    values = subjects or {"a": SINGLE}
    suite = Suite(
        "demo",
        [Case(name, subject) for name, subject in values.items()],
        lambda subject: subject.output,
        lambda case: Description(case.hash, case.hash),
        lambda output: output,
        build_scorers(metrics, lambda subject, _output: subject, max_concurrency=limit),
    )
    started = perf_counter()

    async def whole() -> Any:
        return await run_suite(suite, None)

    (log,) = run_sync(whole)
    finish_suite(log, started)
    return make_result([log])
