"""How long the launches of a plan took in the baseline, and which of them can be divided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from scoregate.kernel.run.plan import Launch, Plan, SourceKind
from scoregate.kernel.types.runs.case_columns import known_values
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.sharding.packing import LaunchDuration, SuiteDuration

_OWN_SDK, _PYTEST = "scoregate ", " pytest"


def read_durations(plan: Plan, base: Run | None) -> dict[str, LaunchDuration]:
    """The durations of those launches of a plan that the baseline has."""
    suites = defaultdict[str, list[SuiteResult]](list)
    for suite in base.suites if base is not None else ():
        suites[suite.script or ""].append(suite)
    scripts = {script.name: script.duration_s for script in (base.scripts if base is not None else ())}
    return {
        launch.name: _read_launch(launch, suites[launch.name], scripts.get(launch.name, 0.0))
        for launch in plan.launches
        if suites[launch.name]
    }


def _read_launch(launch: Launch, suites: Sequence[SuiteResult], script_s: float) -> LaunchDuration:
    by_id: dict[str, SuiteDuration] = {}
    for suite in suites:  # the variants of a suite run at the same time
        before = by_id.get(suite.id, SuiteDuration(suite.id, 0.0, 0))
        seconds, cases = max(before.seconds, _seconds(suite)), max(before.cases, suite.columns.case_count)
        by_id[suite.id] = SuiteDuration(suite.id, seconds, cases)
    total = sum(suite.seconds for suite in by_id.values())
    overhead = max(0.0, script_s - total)
    if can_divide(launch, suites):
        return LaunchDuration(launch.name, overhead, tuple(by_id.values()))
    return LaunchDuration(launch.name, overhead, seconds=total)


def _seconds(suite: SuiteResult) -> float:
    if suite.duration_s is not None:
        return suite.duration_s
    return sum(known_values(suite.columns.durations_ms)) / 1000


def can_divide(launch: Launch, suites: Iterable[SuiteResult]) -> bool:
    """Whether the suites of a launch can run apart, in parts: their cases are known before the first one runs.

    So it is for suites of scoregate's own SDKs, except tests of pytest. Suites in other languages, of other frameworks
    and of result files report their cases only while they run.
    """
    names = [suite.sdk or "" for suite in suites]
    is_own = all(name.startswith(_OWN_SDK) and not name.endswith(_PYTEST) for name in names)
    return bool(names) and is_own and launch.kind is not SourceKind.PYTEST and not launch.source.imports
