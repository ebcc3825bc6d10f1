"""Which cases of a suite a partial run takes: by name, by expression, and as a random sample."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from scoregate.core.keyword import Matches


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


@dataclass(frozen=True)
class CaseChoice:
    """Which cases to take.

    Attributes:
        keyword: an expression over the suite's id, the case's name and hash, and its tags; empty takes all.
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
        from scoregate.core.keyword import parse_keywords

        return parse_keywords(self.keyword)

    def takes_suite(self, suite: str) -> bool:
        """Whether any case of the suite may be taken."""
        return not self.named or any(suite == name for name, _ in self.named)

    def takes_case(self, suite: str, case: CaseLabels) -> bool:
        """Whether name and expression take a case."""
        if self.named and not any(suite == name and each in ("", case.hash, case.name) for name, each in self.named):
            return False
        return not self.keyword or self._matches((suite, case.hash, case.name, *case.tags))

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
        by_rest = sorted(strata, key=lambda tags: (counts[tags] - shares[tags], self._rank("\0".join(tags))))
        for tags in by_rest[: self.sample - sum(counts.values())]:
            counts[tags] += 1
        return {case.hash for tags, members in strata.items() for case in members[: counts[tags]]}

    def _rank(self, text: str) -> bytes:
        content = f"{self.seed}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(content, digest_size=8).digest()
