"""What runs that are merged say of their code, their scope and their end, and what they store."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Sequence
from typing import TypeVar

from scoregate import __version__
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.confirmations import CONFIRMATIONS
from scoregate.kernel.types.runs.run import Conditions, Run, RunCode, RunEnd
from scoregate.kernel.types.slots import Slot, Slots

_T = TypeVar("_T")


@record
class ShardRun:
    """The run of a shard, and how many trials of each suite of the merged run it measured.

    The trials of a suite are in the order of the shards.
    """

    id: str
    trials: tuple[int, ...]


SHARD_RUNS: Slot[tuple[ShardRun, ...]] = Slot("shard_runs", tuple[ShardRun, ...])
"""In a run that was merged from shards."""


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


def merge_conditions(runs: Sequence[tuple[str, Run]]) -> Conditions | None:
    """The code and the settings that all runs have; a digest of them all where settings differ.

    Args:
        runs: the runs with their names.
    """
    known = [(name, run.conditions) for name, run in runs if run.conditions is not None]
    if not known or len(known) < len(runs):
        return None
    code, settings = find_common(own.code for _, own in known), find_common(own.settings for _, own in known)
    named = sorted((name, own.settings) for name, own in known)
    return Conditions(
        code, hashlib.blake2b(repr(named).encode(), digest_size=16).hexdigest() if settings is None else settings
    )


def find_common(values: Iterable[_T]) -> _T | None:
    """The value that all are; None if they differ."""
    first, *others = values
    return first if all(each == first for each in others) else None


def check_slots(slots: Slots) -> None:
    """Read what a merge needs of the slots of a run, so that a damaged run counts as missing.

    Raises:
        RecordError: stored data is not valid.
    """
    slots.get(CONFIRMATIONS)


def join_names(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The names in several runs, each once."""
    return tuple(dict.fromkeys(name for each in names for name in each))
