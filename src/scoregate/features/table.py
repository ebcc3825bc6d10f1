"""All features, in the order in which their hooks are called.

Settings import this table, so a feature's module `declare` imports nothing heavy.
"""

from __future__ import annotations

from scoregate.core.declarations.declaration import Feature
from scoregate.features.decline.declare import FEATURE as DECLINE

# Failures are confirmed last: repeats and the control can change which cases fail newly.
FEATURES: tuple[Feature, ...] = (DECLINE, Feature("extras"), Feature("drift"), Feature("confirm"))
