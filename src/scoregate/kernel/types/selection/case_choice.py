"""Which cases of a suite a run takes: by name, by expression, as a random sample, and as the part of a shard."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from scoregate.kernel.types.event_values import SuitePart

if TYPE_CHECKING:
    from scoregate.kernel.types.selection.keyword import Matches
    from scoregate.kernel.types.suite import Case


class CaseLabels(NamedTuple):
    """The names by which a case can be chosen."""

    hash: str
    name: str = ""
    tags: tuple[str, ...] = ()


class CaseInput(NamedTuple):
    """The input of one trial: the fields of `CaseResult` that don't depend on an output."""

    suite: int
    hash: str
    tags: tuple[str, ...]
    input: Any
    name: str = ""


@dataclass(frozen=True)
class CaseChoice:
    """Which cases to take.

    Attributes:
        keyword: an expression over the suite's label, the case's name and hash, and its tags; empty takes all.
        named: ids of suites, each with the name or hash of a case; an empty case takes all of the suite. Without any,
            all suites are taken.
        sample: the number of cases in the random sample of each suite; None takes all.
        seed: the seed of the sample.
    """

    keyword: str = ""
    named: tuple[tuple[str, str], ...] = ()
    sample: int | None = None
    seed: int = 0

    @cached_property
    def _matches(self) -> Matches:
        from scoregate.kernel.types.selection.keyword import parse_keywords

        return parse_keywords(self.keyword)

    def takes_suite(self, suite: str) -> bool:
        """Whether any case of the suite may be taken."""
        return not self.named or any(suite == name for name, _ in self.named)

    def takes_case(self, suite: str, case: CaseLabels, label: str = "") -> bool:
        """Whether name and expression take a case.

        Args:
            suite: the id of the suite.
            case: the case.
            label: the id with the parameters of the suite's variant; without it, the id.
        """
        if self.named and not any(suite == name and each in ("", case.hash, case.name) for name, each in self.named):
            return False
        return not self.keyword or self._matches((label or suite, case.hash, case.name, *case.tags))

    def draw_sample(self, cases: Sequence[CaseLabels]) -> set[str]:
        """The hashes of a random sample, in which every set of tags has its share.

        A case's place in the order depends only on the seed and its hash, so a case that is added to a suite replaces
        at most one other.
        """
        if self.sample is None or self.sample >= len(cases):
            return {case.hash for case in cases}
        strata: dict[tuple[str, ...], list[CaseLabels]] = {}
        for case in sorted(cases, key=lambda case: self._rank(case.hash)):
            strata.setdefault(tuple(sorted(set(case.tags))), []).append(case)
        shares = {tags: self.sample * len(members) / len(cases) for tags, members in strata.items()}
        counts = {tags: int(share) for tags, share in shares.items()}
        # Equal rests are taken in the order of digests, so that the order of the cases doesn't matter.
        by_rest = sorted(strata, key=lambda tags: (counts[tags] - shares[tags], self._rank("\0".join(tags))))
        for tags in by_rest[: self.sample - sum(counts.values())]:
            counts[tags] += 1
        return {case.hash for tags, members in strata.items() for case in members[: counts[tags]]}

    def _rank(self, text: str) -> bytes:
        content = f"{self.seed}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(content, digest_size=8).digest()


class PartChoice(NamedTuple):
    """The suites of a process that one shard runs, and the parts of them.

    Attributes:
        take: the numbers of the parts, from 1, and the number of parts in all, by the id of a suite.
        leave: the ids of suites that other shards run.
        others: whether suites that are in neither run.
    """

    take: Mapping[str, tuple[tuple[int, ...], int]] = {}
    leave: tuple[str, ...] = ()
    others: bool = True

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> PartChoice:
        """Parse the JSON object that the host writes.

        Raises:
            KeyError, TypeError, ValueError: it is not valid.
        """
        take = {str(suite): (tuple(map(int, numbers)), int(of)) for suite, (numbers, of) in dict(data["take"]).items()}
        return cls(take, tuple(map(str, data["leave"])), data["others"] is True)

    def takes_suite(self, suite: str) -> bool:
        """Whether any case of the suite runs."""
        return suite in self.take or (self.others and suite not in self.leave)

    def take_cases(self, suite: str, cases: Sequence[Case]) -> tuple[Sequence[Case], SuitePart | None]:
        """The cases of a suite that run, and which part of it they are; None for the whole suite.

        The cases are dealt out in the order of digests of their hashes. So parts differ by at most one case, and the
        part of a case doesn't depend on the order of the cases.
        """
        numbers, of = self.take.get(suite, ((1,), 1))
        if of == 1:
            return cases, None
        hashes = sorted({case.hash for case in cases}, key=lambda each: (_digest(suite, each), each))
        part_of = {each: index % of + 1 for index, each in enumerate(hashes)}
        chosen = [case for case in cases if part_of[case.hash] in numbers]
        repeats = (f"{case.hash}\0{case.repeats}" for case in sorted(cases, key=lambda case: case.hash))
        return chosen, SuitePart(numbers, of, len(cases), _digest(suite, *repeats).hex())


def _digest(*texts: str) -> bytes:
    content = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=8).digest()
