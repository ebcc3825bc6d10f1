"""What a run measures, beside suites and evaluators: the code that is checked out, and settings that change outputs."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic_core import to_json

from scoregate.ci import git
from scoregate.ci.settings import Settings
from scoregate.core.record import Conditions

_SETTINGS = ("model", "model_base_url", "model_headers", "python", "python_version", "install")


async def conditions_of(root: Path, settings: Settings) -> Conditions:
    """Those of a run of the project, now; what runs leave in the folder of reports is none of them."""
    told = to_json({name: getattr(settings, name) for name in _SETTINGS}, serialize_unknown=True)
    code = await git.code_digest(root, left_out=root / settings.out)
    return Conditions(code, hashlib.blake2b(told, digest_size=8).hexdigest())
