"""What the launching of scripts needs to know of the host."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from scoregate.ci.identity import Identity
from scoregate.ci.launch.happenings import Tell
from scoregate.ci.launch.results import ReadResults
from scoregate.ci.plan import Launch
from scoregate.ci.secrets import Redactor

# A child's environment, with what leads another SDK to us.
Equip: TypeAlias = Callable[[Mapping[str, str]], dict[str, str]]
OpenLine: TypeAlias = Callable[[Launch, Tell], AbstractAsyncContextManager[Equip]]


def ourselves() -> None:
    """Nobody else."""


@dataclass(frozen=True, slots=True)
class Host:
    """The host's side of every launch.

    Args:
        root: the repository. environ: our environment, of which a child gets a part.
        redact: takes known secrets out of what we keep.
        new_identity: says who the next launch runs as; None for ourselves.
        timeout_s: seconds that a script may take; None for ever. max_scripts: how many run at once.
        read_results: reads the result files that a launch leaves behind.
        open_line: listens to what another SDK in a foreign launch reports over HTTP, for as long as it runs; None
            where no launch is foreign.
        suites: globs of which a suite in a result file must match one; none takes all.
    """

    root: Path
    environ: Mapping[str, str]
    redact: Redactor
    read_results: ReadResults
    new_identity: Callable[[], Identity | None] = ourselves
    timeout_s: float | None = None
    max_scripts: int = 1
    open_line: OpenLine | None = None
    suites: tuple[str, ...] = ()
