"""The setting `drift_control`."""

from __future__ import annotations

from scoregate.kernel.types.declarations.declaration import RATE, Effect, Feature, RunFacts, Setting

DRIFT_CONTROL = Setting(
    "drift_control",
    RATE,
    0.0,
    """Ask this share of the base's cases again, at the base's commit, to measure how far the providers of models moved
    since the base was measured: `0.1` asks a random tenth. Changes of scores are corrected by it if it has enough
    cases, usually about 250 for each scorer. `0` asks none.
    """,
    "The comparison",
    after="approved",
    effects=(Effect.SHARED, Effect.DOUBTS_BASE),  # its results may be those of an older version of a provider's model
)


def _is_on(facts: RunFacts) -> bool:
    has_control = any("control" in run.companions for run in facts.runs)
    return DRIFT_CONTROL.is_set(facts.settings) or has_control or facts.merges_shards


FEATURE = Feature("drift", settings=(DRIFT_CONTROL,), is_on=_is_on)
