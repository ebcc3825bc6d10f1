"""The range of user ids that processes of suites get one each of."""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from scoregate.errors import ScoregateError

ACCOUNTS = "SCOREGATE_ACCOUNTS"
# Containers on one machine must not use the same ids, which share one limit of processes: each draws one of the blocks.
_FIRST, _COUNT, _BLOCKS = 200_000, 65_536, 32_000
# A user namespace without that range still has enough ids for one run; the last one below is that of the user `nobody`.
_FEWEST, _NOBODY = 1_024, 65_534
_used: list[int] = []


@dataclass(frozen=True, slots=True)
class Accounts:
    """User ids from `first` to `last`. The group `first` belongs to all of them, and to no other user."""

    first: int
    last: int

    @property
    def group(self) -> int:
        """The group that all of them share."""
        return self.first

    def __contains__(self, uid: int) -> bool:
        return self.first <= uid <= self.last

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"

    def new_uid(self) -> int:
        """A user id that no process of this run has had.

        Raises:
            ScoregateError: there are no more.
        """
        if (uid := self.first + 1 + len(_used)) > self.last:
            raise ScoregateError(f"this run has used all {self.last - self.first:,} user ids that it has for suites")
        _used.append(uid)
        return uid

    def used(self) -> tuple[int, ...]:
        """The user ids that processes of this run have had."""
        return tuple(uid for uid in _used if uid in self)


def current_accounts(environ: Mapping[str, str]) -> Accounts | None:
    """The range that this process uses; None where suites do not get accounts of their own."""
    first, _, last = environ.get(ACCOUNTS, "").partition("-")
    return Accounts(int(first), int(last)) if first.isdigit() and last.isdigit() else None


def find_accounts() -> Accounts | None:
    """A range of ids that this process may start others with; None where it may not."""
    block = _FIRST + secrets.randbelow(_BLOCKS) * _COUNT
    ranges = [_range_of(Path(f"/proc/self/{name}_map"), block) for name in ("uid", "gid")]
    first, last = max(each[0] for each in ranges), min(each[1] for each in ranges)
    accounts = Accounts(first, last)
    if last - first < _FEWEST - 1 or not _can_become(accounts.first + 1, accounts.group):
        return None
    return accounts


def _range_of(path: Path, block: int) -> tuple[int, int]:
    """The first and the last id of the range to use, by a map of the kernel's: lines of inside, outside, count.

    Args:
        block: the first id of the range to use where the map has it.
    """
    try:
        lines = [tuple(map(int, line.split())) for line in path.read_text().splitlines()]
    except OSError:
        return block, block - 1
    return _widest(((inside, inside + count - 1) for inside, _, count in lines), block)


def _widest(mapped: Iterable[tuple[int, int]], block: int) -> tuple[int, int]:
    found = block, block - 1
    for first, last in mapped:
        if first <= block and last >= block + _COUNT - 1:
            return block, block + _COUNT - 1
        if last - first + 1 >= 2 * _FEWEST:
            highest = _NOBODY - 1 if first < _NOBODY <= last else last
            found = highest - _FEWEST + 1, highest
    return found


def _can_become(uid: int, gid: int) -> bool:
    """Try it."""
    environ = {"PATH": os.defpath}
    try:
        done = subprocess.run(["true"], cwd="/", env=environ, user=uid, group=gid, extra_groups=(), check=False)
    except (OSError, ValueError):
        return False
    return done.returncode == 0 and os.geteuid() == 0
