"""Digests of everything that suites depend on: two runs with the same one measured the same thing."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

from scoregate.kernel.types.json_io import dump
from scoregate.kernel.types.runs.dependencies import UNKNOWN, RunDependencies, ScriptDependencies
from scoregate.kernel.types.runs.run import Run

LONGEST_STATE = 40


def digest_states(run: Run) -> dict[str, str]:
    """The digest of what each script of a run depends on, by the name of the script.

    A script has none if the run did not record all that it used, so equal digests prove that nothing changed.
    """
    known, conditions = run.dependencies, run.conditions
    if conditions is None or UNKNOWN in "".join(known.shared.values()):
        return {}
    common = (run.code.version, conditions.settings, sorted(known.shared.items()))
    digests = {}
    for name in {each.script for each in known.scripts}:
        parts = [_describe_uses(known, each) for each in known.find_scripts(name)]
        texts = sorted(dump(part) for part in parts if part is not None)
        if len(texts) == len(parts):
            digests[name] = blake2b(b"\n".join((dump(common), *texts)), digest_size=10).hexdigest()
    return digests


def _describe_uses(known: RunDependencies, script: ScriptDependencies) -> list[object] | None:
    """What a script used, in an order that does not depend on the run; None if a part of it is unknown."""
    if script.unknown:
        return None
    uses = sorted(known.table[place] for place in script.uses)
    data: Mapping[str, str] = known.data if script.native else {}
    if any(UNKNOWN in each.digest for each in uses) or UNKNOWN in "".join(data.values()):
        return None
    return [script.launch, [list(each) for each in uses], sorted(script.modules), script.native, sorted(data.items())]
