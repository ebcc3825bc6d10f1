"""The setting `cassettes`."""

from __future__ import annotations

from scoregate.kernel.types.declarations.declaration import TEXT, Feature, Option, Setting

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
FEATURE = Feature("gateway", settings=(CASSETTES,))
