"""Both sides of a suite's slices: scores that are read once, and the row of each slice from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

from scoregate.features.slices.case_table import CaseTable, make_case_table
from scoregate.features.slices.cases import SuiteSlices, list_cases
from scoregate.kernel.compare.agreeing_runs import suites_with_evaluator
from scoregate.kernel.compare.compared_suites import ComparedSuite
from scoregate.kernel.compare.comparison_rows import Row, RowLabel, with_estimate
from scoregate.kernel.compare.estimates import NoEstimate
from scoregate.kernel.compare.lost_scores import CaseSets, LostScores, find_lost_scores
from scoregate.kernel.compare.pairing import Pairs, Side, pair_sides, score_side
from scoregate.kernel.compare.row_labels import RowSides
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_means import TrialValue
from scoregate.kernel.types.runs.evidence import TrialRole, Use, does_count
from scoregate.kernel.types.runs.run import SuiteResult


@record
class SlicedSuite:
    """A suite with its slices.

    Attributes:
        compared: the suite, and what its parts are compared with.
        slices: the cases of its slices.
        rows: the rows of the whole suite.
        limited: globs of slices that limits name.
    """

    compared: ComparedSuite
    slices: SuiteSlices
    rows: tuple[Row, ...]
    limited: tuple[str, ...] = ()

    @property
    def baselines(self) -> Sequence[SuiteResult]:
        """The suite in the runs of the baseline, if its trials count; the newest first."""
        return self.compared.baselines if self.compared.suite.evidence.counts_all(Use.SLICES) else ()


@record
class SliceSides:
    """The scores of one evaluator, read once for all slices; the test may have more trials on both sides."""

    sliced: SlicedSuite
    new: _Scores
    baseline: _Scores
    test_new: _Scores | None = None
    test_baseline: _Scores | None = None

    @classmethod
    def read(cls, sliced: SlicedSuite, evaluator: str) -> SliceSides:
        """Read the scores of an evaluator."""
        new, baseline = [sliced.compared.suite], suites_with_evaluator(sliced.baselines, evaluator)
        pairs = [(new, baseline)]
        extras = sliced.compared.extras
        if extras is not None and does_count(TrialRole.EXTRA, Use.SLICES):
            pairs.append(([*new, *extras.new], [*baseline, *extras.baseline]))
        scores = [each for sides in pairs for each in _read_scores(evaluator, *sides)]
        test_new, test_baseline = scores[2:] or (None, None)
        return cls(sliced, scores[0], scores[1], test_new, test_baseline)

    def describe(self, row: Row, members: Sequence[str]) -> Row:
        """The means of a slice whose scores can't be compared, for the reason of the whole row."""
        mean = _mean(self.new.side.means, members)
        base = None if row.base is None else _mean(self.baseline.side.means, members)
        return Row(row.suite, row.evaluator, row.label, mean, base, NoEstimate(row.reason))

    def make_table(self, clusters: Mapping[str, str]) -> CaseTable | None:
        """The scores by row, which takes a tenth of the time for many slices; None if it can't hold them."""
        if self.test_new is not None or self.test_baseline is not None:
            return None
        return make_case_table(self.sliced.compared.suite.columns.hashes, self.new.side, self.baseline.side, clusters)

    def compare(
        self,
        row: Row,
        rows: Sequence[int],
        clusters: Mapping[str, str],
        *,
        cases: CaseSets,
        pairs: Pairs | None,
        is_limited: bool,
    ) -> Row:
        """The row of a slice.

        Args:
            row: the row of the whole suite.
            rows: the rows of the slice's cases.
            clusters: the clusters of cases.
            cases: the cases of both sides.
            pairs: its pairs, if the run has each score that the baseline has; else None.
            is_limited: whether a limit names the slice. Its gate needs a test, however few pairs there are.
        """
        if pairs is not None:
            return self._estimate(row, LostScores(), pairs, None, is_limited=is_limited)
        members = list_cases(self.sliced.compared.suite.columns.hashes, rows)
        new, baseline = self._select_scores(members)
        pairs = pair_sides(new, baseline, clusters)
        lost = LostScores()
        if pairs.n < len(baseline.means):  # looking for them takes as long as the rest
            lost = find_lost_scores(
                self.sliced.compared.suite.columns,
                [each.columns for each in suites_with_evaluator(self.sliced.baselines, row.evaluator)],
                row.evaluator,
                replace(cases, new=frozenset(members)),
                new=new,
                baseline=baseline,
            )
        if not pairs.n:
            pairs = replace(pairs, mean=_mean(new.means, members), base=_mean(baseline.means, members))
        pair_tests = partial(self._pair_tests, members, clusters)
        compared = self._estimate(row, lost, pairs, pair_tests, is_limited=is_limited)
        is_gone = compared.label is RowLabel.NEW and baseline.means
        return compared.reject("no case has a score any more") if is_gone else compared

    def _estimate(
        self,
        row: Row,
        lost: LostScores,
        pairs: Pairs,
        pair_tests: Callable[[], Pairs | None] | None,
        *,
        is_limited: bool,
    ) -> Row:
        criteria = self.sliced.compared.criteria
        compared = Row(
            *(row.suite, row.evaluator, RowLabel.NOISE, pairs.mean, pairs.base),
            lost=replace(lost, gained=0),  # the row of the whole suite says it
            higher_is_better=row.higher_is_better,
            checked=row.checked,
            accepted=row.accepted,
            base_runs=row.base_runs,
        )
        is_enough = is_limited or len(pairs.clusters) >= criteria.few
        test_pairs = pair_tests() if pair_tests is not None and is_enough else None
        compared = with_estimate(compared, pairs, criteria, scale=1.0, test_pairs=test_pairs, estimate=is_enough)
        if pairs.n and not is_enough:
            change = replace(compared.estimate, delta=(pairs.mean or 0.0) - (pairs.base or 0.0))
            counts = replace(compared.pairs, n=pairs.n, clusters=len(pairs.clusters))
            return replace(compared, estimate=change, pairs=counts)
        return compared

    def check_lost(self, compared: Row, count: int) -> Row:
        """The row, unmeasurable if too many cases lost their score; corrected for the number of slices (Bonferroni)."""
        criteria = self.sliced.compared.criteria
        too_many = compared.lost.is_too_many(criteria.max_lost, criteria.alpha / 2 / count)
        is_battle = self.sliced.compared.suite.evaluators[compared.evaluator].battles
        return compared.reject_lost() if too_many and not is_battle else compared

    def select(self, rows: Sequence[int]) -> RowSides:
        """What the row of a slice compares, by the rows of its cases."""
        return RowSides(
            self.sliced.compared.suite,
            self.sliced.baselines,
            self.sliced.compared.criteria,
            lambda: self._select_scores(list_cases(self.sliced.compared.suite.columns.hashes, rows)),
            is_part=True,
        )

    def _select_scores(self, members: Sequence[str]) -> tuple[Side, Side]:
        return self.new.select(members), self.baseline.select(members)

    def _pair_tests(self, members: Sequence[str], clusters: Mapping[str, str]) -> Pairs | None:
        if self.test_new is None or self.test_baseline is None:
            return None
        return pair_sides(self.test_new.select(members), self.test_baseline.select(members), clusters)


@record
class _Scores:
    """The scores of one side; `values` has every trial if a case was repeated on either side."""

    side: Side
    values: Mapping[str, Mapping[int, float]]

    def select(self, members: Sequence[str]) -> Side:
        return self.side.select(members, self.values)


def _read_scores(evaluator: str, *suites_of_sides: Sequence[SuiteResult]) -> Iterator[_Scores]:
    sides = [score_side([each.columns for each in suites], evaluator) for suites in suites_of_sides if suites]
    has_repeats = any(side.counts for side in sides)
    for side in sides:
        yield _Scores(side, side.values(side.means) if has_repeats else {})
    if len(sides) < len(suites_of_sides):  # without a baseline
        yield _Scores(Side(_read_nothing, {}, {}), {})


def _read_nothing() -> Iterator[TrialValue]:
    return iter(())


def _mean(means: Mapping[str, float], members: Iterable[str]) -> float | None:
    known = [means[case] for case in members if case in means]
    return fmean(known) if known else None
