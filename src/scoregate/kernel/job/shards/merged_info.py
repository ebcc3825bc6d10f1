"""What runs that are merged say of their code, their scope and their end, and what they store."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Sequence

from scoregate import __version__
from scoregate.kernel.types.runs.confirmations import CONFIRMATIONS
from scoregate.kernel.types.runs.run import Conditions, Run, RunCode, RunEnd
from scoregate.kernel.types.slots import Slots


def merge_code(runs: Sequence[Run], message: str | None) -> RunCode:
    """The code of runs of one commit.

    Args:
        runs: the runs.
        message: the title of the merged run; None for that of the first run that has one.
    """
    return RunCode(
        __version__,
        message or next((run.code.message for run in runs if run.code.message), None),
        commit=runs[0].code.commit if runs else None,
        branch=runs[0].code.branch if runs else None,
        dirty=any(run.code.dirty for run in runs),
    )


def merge_ends(runs: Sequence[Run]) -> RunEnd:
    """How several runs ended together."""
    return RunEnd(
        max((run.end.finished for run in runs), default=time.time()),
        complete=all(run.end.complete for run in runs),
        stopped="; ".join(dict.fromkeys(run.end.stopped for run in runs if run.end.stopped)),
        attempt=max((run.end.attempt for run in runs), default=1),
    )


def merge_conditions(runs: Sequence[Run]) -> Conditions | None:
    """The conditions that all shards have. What differs between them is unknown, and settings have one digest."""
    known = [run.conditions for run in runs]
    conditions = [each for each in known if each is not None]
    if not conditions or len(conditions) < len(known):
        return None
    first = conditions[0]
    settings = sorted({each.settings for each in conditions})
    digest = hashlib.blake2b(repr(settings).encode(), digest_size=16).hexdigest()
    return Conditions(
        first.code if all(each.code == first.code for each in conditions) else None,
        first.settings if len(settings) == 1 else digest,
        first.tracked if all(each.tracked == first.tracked for each in conditions) else None,
        first.untracked if all(each.untracked == first.untracked for each in conditions) else None,
    )


def check_slots(slots: Slots) -> None:
    """Read what a merge needs of the slots of a run, so that a damaged run counts as missing.

    Raises:
        RecordError: stored data is not valid.
    """
    slots.get(CONFIRMATIONS)


def join_names(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The names in several runs, each once."""
    return tuple(dict.fromkeys(name for each in names for name in each))
