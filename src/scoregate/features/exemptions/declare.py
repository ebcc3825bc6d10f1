"""What turns accepted regressions and the quarantine on: their files are in `.scoregate/`."""

from __future__ import annotations

import os

from scoregate.kernel.types.declarations.declaration import Feature, RunFacts


def _is_on(facts: RunFacts) -> bool:
    """Jobs read the files of other commits, too; and a folder that can't be read is an error, not an empty one."""
    has_folder = facts.root is not None and os.path.lexists(facts.root / ".scoregate")
    return facts.in_job or has_folder or facts.has_slot("exemptions")


FEATURE = Feature("exemptions", is_on=_is_on)
