"""The conditions of a run: its code, and the settings that change results."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic_core import to_json

from scoregate.kernel.host import git
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.judge.settings.limit_fields import FEATURE_SETTINGS
from scoregate.kernel.run.code_digest import read_code
from scoregate.kernel.types.runs.run import Conditions

_SETTINGS = ("model", "model_base_url", "model_headers")


async def read_conditions(root: Path, settings: Settings, tree: git.WorkTree | None) -> Conditions:
    """The conditions of a run of the project now; the folder of reports is not one of them.

    Args:
        root: the project.
        settings: the settings of the project.
        tree: what is checked out; None outside a repository.
    """
    chosen = {name: getattr(settings, name) for name in _SETTINGS}
    chosen |= {each.name: each.of(settings) for each in FEATURE_SETTINGS if each.decides_results}
    if rules := settings.criteria().score_settings:
        chosen["evaluators"] = rules
    if clusters := settings.policy().cluster_settings:
        chosen["cluster"] = clusters
    for each in sorted(FEATURE_SETTINGS, key=lambda each: each.name):  # whatever the order of features
        if each.condition is not None and (condition := each.condition(each.of(settings))):
            chosen[each.name] = condition
    values = to_json(chosen, serialize_unknown=True)
    digest, left_out = hashlib.blake2b(values, digest_size=8).hexdigest(), root / settings.out
    if tree is None:
        return Conditions(None, digest)
    code = await read_code(root, tree, left_out=left_out)
    return Conditions(code.whole, digest, code.tracked, code.untracked)
