"""What the launching of scripts needs to know of the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scoregate.ci.identity import Identity
from scoregate.ci.secrets import Redactor


@dataclass(frozen=True, slots=True)
class Host:
    """The host's side of every launch.

    Args:
        root: the repository. environ: our environment, of which a child gets a part.
        redact: takes known secrets out of what we keep. identity: who children run as; None for ourselves.
        timeout_s: seconds that a script may take; None for ever. max_scripts: how many run at once.
    """

    root: Path
    environ: Mapping[str, str]
    redact: Redactor
    identity: Identity | None = None
    timeout_s: float | None = None
    max_scripts: int = 1
