"""The setting `allow_skip`."""

from __future__ import annotations

from scoregate.kernel.types.declarations.declaration import FLAG, Feature, Option, Setting

ALLOW_SKIP = Setting(
    "allow_skip",
    FLAG,
    False,
    """Whether the label `scoregate: skip` lets a pull request pass without a run. Without it, such a pull request is
    unmeasurable. On a pull request, only the base's file or the workflow can set it.
    """,
    "What runs",
    after="approved",
    option=Option("skip", "Let a pull request with the label `scoregate: skip` pass without a run."),
)
FEATURE = Feature("skip_label", settings=(ALLOW_SKIP,), in_runs=False)
