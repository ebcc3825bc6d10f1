"""Pack launches, suites and parts of suites into shards by their durations, the longest first."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from scoregate.kernel.types.records import record
from scoregate.kernel.types.sharding.partition import Assignment

MOST_MATRIX_JOBS = 256  # GitHub's limit
_BALANCED, _SMALL = 1.05, 0.05  # shares of the length of a shard
_PARTS_PER_SHARD = 4
Load = tuple[float, tuple[Assignment, ...]]


@record
class SuiteDuration:
    """A suite of the baseline.

    Attributes:
        id: the id of the suite.
        seconds: its duration.
        cases: the number of its cases; it has at most as many parts.
    """

    id: str
    seconds: float
    cases: int


@record
class LaunchDuration:
    """A launch of the plan, with its durations in the baseline.

    Attributes:
        name: the name of the launch.
        overhead: the seconds that the process takes besides its suites; every shard that starts it needs them.
        suites: the suites that can run apart; empty if the launch can't be divided.
        seconds: the duration of the suites that can't run apart.
    """

    name: str
    overhead: float
    suites: tuple[SuiteDuration, ...] = ()
    seconds: float = 0.0

    @property
    def total(self) -> float:
        """The seconds that one process takes for everything."""
        return self.overhead + self.seconds + sum(suite.seconds for suite in self.suites)


@record
class _Piece:
    """Work that goes to one shard."""

    seconds: float
    assignment: Assignment

    @property
    def order(self) -> tuple[float, str, str, int]:
        """The longest first, equal ones by name."""
        return -self.seconds, self.assignment.launch, self.assignment.suite, self.assignment.part


@dataclass(slots=True)
class _Division:
    """How launches and suites are divided so far: the number of parts by launch and suite."""

    launches: Mapping[str, LaunchDuration]
    parts: dict[str, dict[str, int]] = field(default_factory=dict)

    def pieces(self) -> Iterator[_Piece]:
        for launch in self.launches.values():
            if launch.name not in self.parts:
                yield _Piece(launch.total - launch.overhead, Assignment(launch.name))
                continue
            yield _Piece(launch.seconds, Assignment(launch.name))
            for suite in launch.suites:
                number = self.parts[launch.name][suite.id]
                for part in range(1, number + 1):
                    yield _Piece(suite.seconds / number, Assignment(launch.name, suite.id, part, number))

    def is_worth_dividing(self, piece: _Piece, share: float) -> bool:
        """Whether a division can shorten a shard by more than another process for the launch takes."""
        return piece.seconds > max(_SMALL * share, 2 * self.launches[piece.assignment.launch].overhead)

    def divide(self, assignment: Assignment, most: int, seconds: float) -> bool:
        """Divide a piece further; False if that is impossible.

        Args:
            assignment: the piece.
            most: the largest number of parts. There may be more than shards: one process runs several parts.
            seconds: the length that a part should have.
        """
        launch = self.launches[assignment.launch]
        if launch.name not in self.parts:
            if not launch.suites:
                return False
            self.parts[launch.name] = {suite.id: 1 for suite in launch.suites}
            return True
        suite = next((each for each in launch.suites if each.id == assignment.suite), None)
        if suite is None:
            return False
        number = self.parts[launch.name][suite.id]
        limit = min(most, suite.cases)
        if number >= limit:
            return False
        wanted = ceil(suite.seconds / seconds) if seconds > 0 else limit
        self.parts[launch.name][suite.id] = min(limit, wanted if number == 1 and wanted > 1 else 2 * number)
        return True


def pack_launches(launches: Sequence[LaunchDuration], shards: int, *, splits: bool = True) -> tuple[Load, ...]:
    """Divide launches among shards, so that the longest shard is short.

    Launches stay whole as long as the shards are balanced. Then the largest piece of the longest shard is divided: a
    launch into its suites, a suite into parts.

    Args:
        launches: the launches.
        shards: the number of shards.
        splits: whether suites may be split into parts.

    Returns:
        For each shard its seconds and what it runs. The same arguments always have the same result.
    """
    division = _Division({launch.name: launch for launch in launches})
    share = sum(launch.total for launch in launches) / shards
    most = _PARTS_PER_SHARD * shards if splits else 1
    best = loads = _pack(division, shards)
    for _ in range(4 * shards + 4 * len(launches)):
        longest = loads[0]
        if longest[0] <= _BALANCED * share:
            break
        pieces = {piece.assignment: piece for piece in division.pieces()}
        own = sorted((pieces[each] for each in longest[1]), key=lambda piece: piece.order)
        worth = (each for each in own if division.is_worth_dividing(each, share))
        if not any(division.divide(each.assignment, most, share) for each in worth):
            break
        loads = _pack(division, shards)
        best = min(best, loads, key=lambda each: each[0][0])
    return best


def _pack(division: _Division, shards: int) -> tuple[Load, ...]:
    """The longest piece first, each into the shard that is then the shortest."""
    heap = [(0.0, number) for number in range(shards)]
    work: list[list[Assignment]] = [[] for _ in range(shards)]
    started: list[set[str]] = [set() for _ in range(shards)]
    for piece in sorted(division.pieces(), key=lambda piece: piece.order):
        launch = piece.assignment.launch
        # The other suites of a launch that is divided take no time, but its process would.
        holder = (
            next((index for index, names in enumerate(started) if launch in names), None) if not piece.seconds else None
        )
        if holder is not None:
            work[holder].append(piece.assignment)
            continue
        seconds, number = heapq.heappop(heap)
        overhead = 0.0 if launch in started[number] else division.launches[launch].overhead
        started[number].add(launch)
        work[number].append(piece.assignment)
        heapq.heappush(heap, (seconds + piece.seconds + overhead, number))
    seconds_of = {number: seconds for seconds, number in heap}
    order = _assignment_order
    loads = ((seconds_of[number], tuple(sorted(each, key=order))) for number, each in enumerate(work))
    return tuple(sorted(loads, key=lambda load: (-load[0], list(map(order, load[1])))))


def _assignment_order(each: Assignment) -> tuple[str, str, int]:
    return each.launch, each.suite, each.part


def choose_shards(launches: Sequence[LaunchDuration], target_s: float, *, splits: bool = True) -> tuple[Load, ...]:
    """Pack launches into the fewest shards that take at most the target, as far as their pieces are short enough.

    Args:
        launches: the launches.
        target_s: the seconds that a shard may take.
        splits: whether suites may be split into parts.
    """
    number = min(MOST_MATRIX_JOBS, max(1, ceil(sum(launch.total for launch in launches) / target_s)))
    best = loads = pack_launches(launches, number, splits=splits)
    while loads[0][0] > target_s and number < MOST_MATRIX_JOBS:
        number = min(MOST_MATRIX_JOBS, number + max(1, number // 10))
        loads = pack_launches(launches, number, splits=splits)
        if loads[0][0] >= best[0][0]:  # more shards don't help: one piece is longer than the target
            break
        best = loads
    return tuple(load for load in best if load[1])
