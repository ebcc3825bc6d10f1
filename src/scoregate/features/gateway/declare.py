"""The setting `cassettes`."""

from __future__ import annotations

from scoregate.kernel.types.declarations.declaration import TEXT, Feature, Option, RunFacts, Setting

CASSETTES = Setting(
    "cassettes",
    TEXT,
    ".scoregate/cassettes",
    """Where the gateway records calls and replays them from: a folder; `artifact`, to keep them with the run; or
    `none`.
    """,
    "Models",
    after="gateway",
    is_path=True,
    option=Option("model", "Where the gateway records calls and replays them from.", "[artifact|none|DIR]"),
)


def _is_on(facts: RunFacts) -> bool:
    return facts.settings.gateway.mode != "off" or any(run.model_calls for run in facts.runs)


FEATURE = Feature("gateway", settings=(CASSETTES,), is_on=_is_on)
