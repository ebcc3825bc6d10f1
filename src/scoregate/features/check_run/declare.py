"""The setting `check_run`."""

from __future__ import annotations

from scoregate.kernel.types.declarations.declaration import FLAG, Feature, Option, Setting

CHECK_RUN = Setting(
    "check_run",
    FLAG,
    False,
    "Add a check run of its own to the head commit. It needs the permission `checks: write`.",
    "Reports",
    after="annotations",
    option=Option("publish", "Create a separate check on the head commit."),
)
FEATURE = Feature("check_run", settings=(CHECK_RUN,))
