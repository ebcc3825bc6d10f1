"""Partitions: the suites of a plan divided among shards, each of which is one job."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.run import Run

PARTITION_VERSION = 1
MOST_SHARDS = 1_000
# The error in the place of a shard whose run is missing in a merge.
MISSING_SHARD = "MissingShard"


@record
class Assignment:
    """What one shard runs of a launch.

    Attributes:
        launch: the name of the launch, which is the path of its script in most cases.
        suite: the id of the suite; empty for all suites of the launch that no other assignment names.
        part: the number of the part of the suite's cases, from 1.
        parts: the number of parts that the suite is split into; 1 is the whole suite.
    """

    launch: str
    suite: str = ""
    part: int = 1
    parts: int = 1


@record
class Shard:
    """The work of one job.

    Attributes:
        number: from 1.
        id: the digest of the commit, of the settings and of what the shard runs.
        seconds: the duration by the baseline's record; 0 if that is unknown.
        assignments: what it runs.
    """

    number: int
    id: str
    seconds: float
    assignments: tuple[Assignment, ...]


@record
class Partition:
    """What all shards of a run are.

    Attributes:
        fingerprint: the digest of everything below, without the durations.
        commit: the commit that is measured; None outside git.
        code: the digest of the commit and of the uncommitted changes; None if unknown.
        settings: the digests of the settings that decide what runs and with what results, by name.
        shards: the shards, by number.
    """

    fingerprint: str
    commit: str | None
    code: str | None
    settings: Mapping[str, str]
    shards: tuple[Shard, ...]
    schema_version: int = PARTITION_VERSION

    def shard(self, number: int) -> Shard:
        """The shard of this number, from 1."""
        return self.shards[number - 1]

    def budget_share(self, number: int) -> float:
        """The share of the run's budget that a shard may spend: that of the run's duration."""
        total = sum(shard.seconds for shard in self.shards)
        return self.shard(number).seconds / total if total else 1 / len(self.shards)


def make_partition(
    shards: Iterable[tuple[float, tuple[Assignment, ...]]],
    *,
    commit: str | None,
    code: str | None,
    settings: Mapping[str, str],
) -> Partition:
    """Make a partition, with its digests.

    Args:
        shards: the seconds and the assignments of each shard.
        commit: the commit that is measured.
        code: the digest of the code.
        settings: the digests of the settings, by name.
    """
    conditions = (commit, code, sorted(settings.items()))
    made = tuple(
        Shard(number, _digest(*conditions, *_plain(work)), round(seconds, 3), work)
        for number, (seconds, work) in enumerate(shards, 1)
    )
    fingerprint = _digest(PARTITION_VERSION, *(shard.id for shard in made))
    return Partition(fingerprint, commit, code, dict(settings), made)


def _plain(assignments: Iterable[Assignment]) -> Iterator[list[str | int]]:
    for each in assignments:
        yield [each.launch, each.suite, each.part, each.parts]


def _digest(*values: object) -> str:
    return hashlib.blake2b(json.dumps(values).encode("utf-8"), digest_size=8).hexdigest()


def list_work(assignments: Iterable[Assignment]) -> Iterator[str]:
    """The files and suites of a shard; a suite with its share, if it is split."""
    parts = Counter((each.launch, each.suite, each.parts) for each in assignments)
    with_suites = {launch for launch, suite, _ in parts if suite}
    for (launch, suite, of), number in parts.items():
        if suite:
            yield f"{launch}::{suite}" + (f" {number}/{of}" if of > 1 else "")
        elif launch not in with_suites:
            yield launch


def find_partition_problem(partition: Partition) -> str:
    """Why a partition that was read is not valid; empty if it is."""
    shards = partition.shards
    if not 1 <= len(shards) <= MOST_SHARDS:
        return f"it has {len(shards):,} shards; there must be 1 to {MOST_SHARDS:,}"
    if [shard.number for shard in shards] != list(range(1, len(shards) + 1)):
        return "its shards are not numbered from 1"
    if not all(0 <= shard.seconds < 1e9 for shard in shards):
        return "a duration is not valid"
    again = make_partition(
        ((shard.seconds, shard.assignments) for shard in shards),
        commit=partition.commit,
        code=partition.code,
        settings=partition.settings,
    )
    if again.fingerprint != partition.fingerprint or [s.id for s in again.shards] != [s.id for s in shards]:
        return "its content does not match its fingerprint, so it was changed after it was made"
    return _find_assignment_problem([each for shard in shards for each in shard.assignments])


def _find_assignment_problem(assignments: list[Assignment]) -> str:
    """Every part of every suite, and the rest of every launch, has one shard."""
    if twice := next((each for each, number in Counter(assignments).items() if number > 1), None):
        return f"two shards run the same part of {twice.launch!r:.200}"
    parts = Counter((each.launch, each.suite, each.parts) for each in assignments)
    suites = Counter((launch, suite) for launch, suite, _ in parts)
    for (launch, suite, number), count in parts.items():
        if suites[launch, suite] > 1 or count != number or (number > 1 and not suite):
            return f"the parts of {suite or launch!r:.200} are not complete"
    for each in assignments:
        if not 1 <= each.part <= each.parts:
            return f"{each.launch!r:.200} has no part {each.part} of {each.parts}"
        if (each.launch, "", 1) not in parts:
            return f"no shard runs the other suites of {each.launch!r:.200}"
    return ""


def lacks_shard(run: Run) -> bool:
    """Whether a run was merged without a shard of its partition, whose suites may be those that it lacks."""
    return any(script.error is not None and script.error.type == MISSING_SHARD for script in run.scripts)
