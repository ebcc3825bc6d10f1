"""The settings of clusters."""

from __future__ import annotations

from enum import StrEnum

from scoregate.kernel.types.declarations.declaration import (
    TEXT,
    WHOLE_NUMBER,
    Effect,
    Feature,
    Option,
    Owner,
    RunFacts,
    Setting,
    choose_from,
)


class ExecutorKind(StrEnum):
    """Where scripts run."""

    LOCAL = "local"
    DASK = "dask"


_REASON = ", but a change must not choose where code runs"
EXECUTOR = Setting(
    "executor",
    choose_from(ExecutorKind),
    ExecutorKind.LOCAL,
    """Where scripts run. `local`: on this machine. `dask`: in parts on the workers of a Dask cluster, which the extra
    `scoregate[dask]` needs. No settings file can set it.
    """,
    "What runs",
    owner=Owner.WORKFLOW,
    refusal=(_REASON, "Remove it. Use --executor or SCOREGATE_EXECUTOR."),
    after="max_suites",
    effects=(Effect.MOVES_SUITES,),
    option=Option("place", "Where scripts run: on this machine, or in parts on the workers of a Dask cluster."),
)
# A scheduler can send code to the host.
SCHEDULER = Setting[str | None](
    "scheduler",
    TEXT,
    None,
    """The address of Dask's scheduler, such as `tls://dask.example.com:8786`. Without it, `executor = "dask"` starts
    `max_suites` workers on this machine. No settings file can set it: who controls the scheduler controls this process.
    """,
    "What runs",
    owner=Owner.WORKFLOW,
    refusal=(_REASON, "Remove it. Use --scheduler or SCOREGATE_SCHEDULER."),
    after="max_suites",
    option=Option("place", "Dask's scheduler; without it, workers start on this machine.", "ADDRESS"),
)
RETRIES = Setting(
    "retries",
    WHOLE_NUMBER,
    3,
    """How often a part of a run on a cluster runs again after its worker is lost. An attempt that finished results
    doesn't count, because these are kept.
    """,
    "What runs",
    owner=Owner.HEAD,
    after="max_suites",
    option=Option("place", "How often a part runs again after its worker is lost.", "N"),
)


def _is_on(facts: RunFacts) -> bool:
    return EXECUTOR.is_set(facts.settings) or SCHEDULER.is_set(facts.settings)


FEATURE = Feature("cluster", settings=(EXECUTOR, SCHEDULER, RETRIES), is_on=_is_on)
