"""The comparison of a run with its baseline: a row for each suite and evaluator, and the cases that flipped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import TypeAlias

from scoregate.kernel.compare.agreeing_runs import select_agreeing
from scoregate.kernel.compare.case_names import rename_base_cases, rename_cases
from scoregate.kernel.compare.case_selection import add_kept_means, exclude_kept_cases
from scoregate.kernel.compare.compared_suites import (
    COMPARED,
    ComparedSuite,
    ComparedSuites,
    list_same_suites,
    pair_suites,
)
from scoregate.kernel.compare.comparison_rows import (
    Row,
    ScoredRow,
    carried_rows,
    new_rows,
    removed_rows,
    score_rows,
)
from scoregate.kernel.compare.earlier_runs import select_pool
from scoregate.kernel.compare.extra_trials import ExtraTrials
from scoregate.kernel.compare.flips import Flip, find_flips
from scoregate.kernel.compare.pairing import Side, score_side
from scoregate.kernel.compare.quantity_rows import quantity_rows
from scoregate.kernel.compare.quarantine import QuarantinedCase
from scoregate.kernel.compare.row_labels import AdjustRows, RowSides, label_adjusted, label_rows, mark_lost_scores
from scoregate.kernel.compare.run_movement import collect_run_means
from scoregate.kernel.compare.setups import describe_setup_change
from scoregate.kernel.compare.tool_changes import describe_tool_changes
from scoregate.kernel.types.exemptions import AcceptedRegression, Exemptions
from scoregate.kernel.types.identity import find_positional_names
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.evidence import TrialRole, Use, does_count
from scoregate.kernel.types.runs.policy import Criteria, matches_suite
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.runs.score_rules import without_rare_unscaled
from scoregate.kernel.types.runs.suite_states import digest_states
from scoregate.kernel.types.sharding.partition import lacks_shard
from scoregate.kernel.types.slots import NO_SLOTS, Slots
from scoregate.kernel.types.text import matches_filters, natural_sort_key, sort_by_name


def count_positional_cases(comparison: Comparison) -> dict[str, int]:
    """The number of cases that only their position identifies, by the label of suites whose cases changed.

    Such pairs may be wrong: with a row inserted at the start, each case has the place of the one before it.
    """
    counts: dict[str, int] = {}
    if comparison.base is None:
        return counts
    for index, base_index in comparison.pairs:
        suite, base = comparison.run.suites[index], comparison.base.suites[base_index]
        if suite.setup is None or set(suite.columns.hashes) == set(base.columns.hashes):
            continue
        unknown = dict(zip(suite.columns.hashes, suite.columns.digests, strict=True))
        names = find_positional_names(case for case, digest in unknown.items() if not digest)
        if names:
            counts[suite.label] = len(names)
    return counts


CriteriaOf: TypeAlias = Callable[[SuiteResult], Criteria]


@record
class Comparison:
    """A run, its baseline and their differences.

    Attributes:
        run: the run.
        base: the baseline; None without one.
        rows: the rows of scores.
        quantities: the rows of latency, cost and tokens.
        newly_failing: the cases that passed in the baseline and fail in the run.
        newly_passing: the cases that failed in the baseline and pass in the run.
        gone: the labels of suites that only the baseline has.
        base_note: what the baseline is, or why there is none.
        pairs: the indices of suites that belong together, in the run and in the baseline.
        pooled: the number of runs in the baseline that are of its commit.
        earlier_runs: runs of other commits whose scores count too, with only the suites that this is proven for.
        base_unreadable: whether a baseline, or a part of it, may exist that could not be read.
        exemptions: the accepted regressions, and the entries of the quarantine.
        quarantined: the cases in quarantine, which are left out of both runs.
        slots: what features add, such as comparisons with other runs.
    """

    run: Run
    base: Run | None = None
    rows: tuple[Row, ...] = ()
    quantities: tuple[Row, ...] = ()
    newly_failing: tuple[Flip, ...] = ()
    newly_passing: tuple[Flip, ...] = ()
    gone: tuple[str, ...] = ()
    base_note: str = ""
    pairs: tuple[tuple[int, int], ...] = ()
    pooled: int = 1
    earlier_runs: tuple[Run, ...] = ()
    base_unreadable: bool = False
    exemptions: Exemptions = field(default_factory=Exemptions)
    quarantined: tuple[QuarantinedCase, ...] = ()
    slots: Slots = NO_SLOTS

    @property
    def has_implicit_base(self) -> bool:
        """Whether no setting names the baseline: it is the previous run on a developer's machine."""
        known = self.run.compared_with
        return self.base is not None and known is not None and known.implicit and known.id == self.base.id

    @property
    def unexcused_missing_suites(self) -> tuple[str, ...]:
        """The labels of suites that are gone without a reason.

        Reasons are a missing requirement, such as a model's key, and a filter or a selection of cases of this run. A
        filter in a file of the project is no reason, since the change may have set it. A suite of the previous run on a
        developer's machine may be gone: no setting names that baseline. A suite may be in a missing shard, which
        another rule reports.
        """
        if self.base is None or self.run.scope.selection or self.has_implicit_base or lacks_shard(self.run):
            return ()
        globs = [glob for glob in self.run.scope.filters if glob not in self.run.scope.file_filters]
        missing = {suite.label for suite in self.base.suites
                   if suite.id not in self.run.scope.skipped and matches_filters(suite.id, globs)}  # fmt: skip
        return tuple(label for label in self.gone if label in missing)

    def pairs_for(self, use: Use) -> tuple[tuple[int, int], ...]:
        """The pairs of suites with trials that count, such as those that ran.

        Args:
            use: what they count for.
        """
        return tuple(pair for pair in self.pairs if self.run.suites[pair[0]].evidence.counts(use))

    def rows_of(self, suite: str) -> tuple[Row, ...]:
        """The rows of one suite, by its label."""
        return tuple(row for row in self.rows if row.suite == suite)


def compare(
    run: Run,
    base: Run | None,
    note: str = "",
    *,
    unreadable: bool = False,
    pool: Sequence[Run] = (),
    earlier: Sequence[Run] | None = None,
    criteria: Criteria | None = None,
    criteria_of: CriteriaOf | None = None,
    exemptions: Exemptions | None = None,
    adjusters: Sequence[AdjustRows] = (),
) -> Comparison:
    """Compare a run with its baseline.

    Args:
        run: the run.
        base: the baseline; None without one.
        note: what the baseline is, or why there is none.
        unreadable: whether a baseline, or a part of it, may exist that could not be read.
        pool: more runs of the baseline's commit, whose trials count as repeats; runs of other commits are ignored.
        earlier: earlier runs of the branch, with only suites for which nothing changed; their scores count as repeats.
            None if the past is not evidence. Else it also says how far whole runs move without any change.
        criteria: the level and the smallest effects that count.
        criteria_of: returns the criteria of one suite, if suites differ in the errors and lost scores they may have.
        exemptions: the accepted regressions; cases in quarantine are already left out.
        adjusters: adjust rows before they are labelled, by a control of the base.
    """
    criteria, exemptions = criteria or Criteria(), exemptions or Exemptions()
    suite_criteria = criteria_of or (lambda _: criteria)
    run = without_rare_unscaled(run if base is None else _add_silent_evaluators(run, base), suite_criteria)
    known = Comparison(run, base_note=note, base_unreadable=unreadable, exemptions=exemptions)
    if base is None:
        return _describe_alone(known, criteria, suite_criteria)
    base = without_rare_unscaled(base, suite_criteria)
    pool = [without_rare_unscaled(each, suite_criteria) for each in select_pool(pool, base)]
    pairs = _pair_suites(run, base)
    base, whole_suites = _collect_baselines(run, base, pairs, pool)
    part, baselines = exclude_kept_cases(run, whole_suites)
    measured = tuple(pair for pair in pairs if part.suites[pair[0]].evidence.counts(Use.TEST))
    flipping = tuple(pair for pair in pairs if run.suites[pair[0]].evidence.counts(Use.FAILURES))
    if adjusters and any(run.suites[index].evidence.counts_all(Use.CONTROL) for index in baselines):
        earlier = None  # a control measures how far a provider moved since the base, not since earlier runs
    evidence, counted = _add_earlier(run, baselines, _find_exchangeable(run, earlier, suite_criteria))
    part, evidence = exclude_kept_cases(run, evidence)
    quantities = quantity_rows((i for i, _ in measured), (part, baselines), (run, whole_suites), criteria)
    extras = _find_extras(run, base, baselines)
    uses_past = earlier is not None
    scored = _compare_scores(part, base, evidence, extras=extras, criteria_of=suite_criteria, uses_past=uses_past)
    compared = list(_with_accepted(mark_lost_scores(scored, criteria.alpha), run, exemptions))
    sides = list(_find_sides(compared, run, baselines, suite_criteria))
    rows = tuple(add_kept_means(label_adjusted(compared, sides, criteria, adjusters), run, base, measured))
    parts = tuple(_list_compared(run, whole_suites, evidence, extras, suite_criteria))
    return replace(
        known,
        base=base,
        rows=rows,
        quantities=tuple(label_rows(list(quantities), criteria)),
        newly_failing=tuple(find_flips(run, base, flipping, to=Status.FAILED)),
        newly_passing=tuple(find_flips(run, base, flipping, to=Status.PASSED)),
        gone=_list_gone(base, pairs),
        pairs=pairs,
        pooled=1 + len(pool),
        earlier_runs=counted,
        slots=NO_SLOTS.put(COMPARED, ComparedSuites(run, parts, criteria, adjusters)),
    )


def _add_silent_evaluators(run: Run, base: Run) -> Run:
    """The run with evaluators that are not declared, had scores in the baseline, and returned None for every case.

    Imported suites and those of other SDKs declare none. Nothing else shows that such an evaluator ran, so it would be
    gone.
    """
    suites = dict(enumerate(run.suites))
    for index, base_index in _pair_suites(run, base):
        suite, old = run.suites[index], base.suites[base_index]
        silent = suite.columns.unscored_counts.keys() & old.evaluators.keys() & old.columns.scores.keys()
        if missing := {name: old.evaluators[name] for name in silent - suite.evaluators.keys()}:
            suites[index] = replace(suite, evaluators=sort_by_name({**suite.evaluators, **missing}))
    return replace(run, suites=tuple(suites.values()))


def _describe_alone(known: Comparison, criteria: Criteria, criteria_of: CriteriaOf) -> Comparison:
    """The comparison of a run without a baseline."""
    run = known.run
    rows = tuple(
        row for suite in run.suites if suite.evidence.counts_all(Use.ROWS) for row in new_rows(suite, "no baseline yet")
    )
    compared = ComparedSuites(run, tuple(_list_compared(run, {}, {}, {}, criteria_of)), criteria)
    return replace(known, rows=rows, slots=NO_SLOTS.put(COMPARED, compared))


def _list_gone(base: Run, pairs: Iterable[tuple[int, int]]) -> tuple[str, ...]:
    paired = {base_index for _, base_index in pairs}
    return tuple(
        suite.label
        for index, suite in enumerate(base.suites)
        if index not in paired and suite.evidence.counts_all(Use.ROWS)
    )


def _find_exchangeable(run: Run, earlier: Sequence[Run] | None, criteria_of: CriteriaOf) -> list[Run]:
    """The earlier runs whose trials can be exchanged with those of the base.

    Extra trials were chosen by the results of both sides, so trials of other runs can't be exchanged with them.
    """
    has_extras = bool(run.companions_of(TrialRole.EXTRA))
    return [] if has_extras else [without_rare_unscaled(each, criteria_of) for each in earlier or ()]


def _pair_suites(run: Run, base: Run) -> tuple[tuple[int, int], ...]:
    """The suites of both runs that belong together, by name: suites finish in any order."""
    pairs = (pair for pair in pair_suites(run.suites, base.suites) if run.suites[pair[0]].evidence.counts_all(Use.ROWS))
    return tuple(sorted(pairs, key=lambda pair: natural_sort_key(run.suites[pair[0]].label)))


def _collect_baselines(
    run: Run, base: Run, pairs: Iterable[tuple[int, int]], pool: Sequence[Run]
) -> tuple[Run, dict[int, list[SuiteResult]]]:
    """The baseline with the names of the run's cases; and each paired suite in all runs of it, the newest first."""
    pooled_suites = {index: list_same_suites(base.suites[base_index], pool) for index, base_index in pairs}
    base = rename_base_cases(run, base, pairs)
    return base, {
        index: [base.suites[base_index], *(rename_cases(run.suites[index], other) for other in pooled_suites[index])]
        for index, base_index in pairs
    }


def _add_earlier(
    run: Run, baselines: Mapping[int, list[SuiteResult]], earlier: Iterable[Run]
) -> tuple[dict[int, list[SuiteResult]], tuple[Run, ...]]:
    """Each suite of the baseline and the same suite in earlier runs that agree; and these runs, the newest first."""
    newest_first = sorted(earlier, key=lambda each: each.end.finished, reverse=True)
    evidence, counted = dict[int, list[SuiteResult]](), [list[SuiteResult]() for _ in newest_first]
    for index, suites in baselines.items():
        known = (next(list_same_suites(suites[0], [each]), None) for each in newest_first)
        named = [None if suite is None else rename_cases(run.suites[index], suite) for suite in known]
        agreeing = select_agreeing(suites, named)
        evidence[index] = [*suites, *(suite for suite in agreeing if suite is not None)]
        for of_run, suite in zip(counted, agreeing, strict=True):
            of_run.extend([] if suite is None else [suite])
    pairs = zip(newest_first, counted, strict=True)
    return evidence, tuple(replace(each, suites=tuple(of_run)) for each, of_run in pairs if of_run)


def _list_compared(
    run: Run,
    baselines: Mapping[int, Sequence[SuiteResult]],
    evidence: Mapping[int, Sequence[SuiteResult]],
    extras: Mapping[int, ExtraTrials],
    criteria_of: CriteriaOf,
) -> Iterator[ComparedSuite]:
    """Each suite with what its parts are compared with: the evidence of its rows, or all cases of kept suites.

    Kept cases count as unchanged pairs, as they do in the means of rows: a limit holds for all cases of a part.
    """
    for index, suite in enumerate(run.suites):
        known = evidence if suite.evidence.counts_all(Use.TEST) else baselines
        yield ComparedSuite(suite, criteria_of(suite), known.get(index, ()), extras.get(index))


def _find_sides(
    rows: Iterable[Row], run: Run, baselines: Mapping[int, Sequence[SuiteResult]], criteria_of: CriteriaOf
) -> Iterator[RowSides | None]:
    """What each row compares; None for rows of suites without a baseline."""
    known = {run.suites[index].label: (run.suites[index], suites) for index, suites in baselines.items()}
    for row in rows:
        if row.suite not in known:
            yield None
            continue
        suite, suites = known[row.suite]
        yield RowSides(suite, suites, criteria_of(suite), partial(_read_scores, suite, suites, row.evaluator))


def _read_scores(suite: SuiteResult, baselines: Sequence[SuiteResult], evaluator: str) -> tuple[Side, Side]:
    return score_side([suite.columns], evaluator), score_side([each.columns for each in baselines], evaluator)


def _with_accepted(rows: Iterable[Row], run: Run, exemptions: Exemptions) -> Iterator[Row]:
    """The rows with the entries that accept a regression of them; of several entries, the one that accepts most."""
    entries, suites = exemptions.active_accepted, {suite.label: suite for suite in run.suites}
    for row in rows:
        suite = suites.get(row.suite)
        matching = [each for each in entries if suite is not None and accepts_row(each, suite, row)]
        yield replace(row, accepted=max(matching, key=lambda each: (each.at_most, each.until))) if matching else row


def accepts_row(entry: AcceptedRegression, suite: SuiteResult, row: Row) -> bool:
    """Whether an entry accepts a regression of a row."""
    is_of_scores = not entry.case and fnmatchcase(row.evaluator, entry.evaluator)
    return is_of_scores and matches_suite(suite, entry.suite)


def _find_extras(run: Run, base: Run, baselines: Mapping[int, Sequence[SuiteResult]]) -> dict[int, ExtraTrials]:
    """More trials of both sides of suites; extra trials of one side only were chosen for another comparison."""
    more, base_more = (side.companions_of(TrialRole.EXTRA) for side in (run, base))
    if not does_count(TrialRole.EXTRA, Use.TEST) or not more or len(more) != len(base_more):
        return {}
    return {
        index: ExtraTrials([*list_same_suites(suite, more)], [*list_same_suites(known[0], base_more)])
        for index, known in baselines.items()
        if (suite := run.suites[index]).evidence.counts_all(Use.TEST)
    }


def _compare_scores(
    run: Run,
    base: Run,
    baseline_suites: dict[int, list[SuiteResult]],
    *,
    extras: Mapping[int, ExtraTrials],
    criteria_of: CriteriaOf,
    uses_past: bool,
) -> Iterator[ScoredRow]:
    states = digest_states(base) if uses_past else {}
    for index, suite in enumerate(run.suites):
        if not suite.evidence.counts_all(Use.ROWS):
            continue
        if index not in baseline_suites:
            yield from map(ScoredRow, new_rows(suite, "no baseline of this suite yet"))
            continue
        if not suite.evidence.counts(Use.TEST):
            yield from map(ScoredRow, carried_rows(suite, baseline_suites[index][0]))
            continue
        base_suite = baseline_suites[index][0]
        tool_change = describe_tool_changes(suite.tools, base_suite.tools)
        change = ", ".join(filter(None, (describe_setup_change(suite, base_suite), tool_change)))
        means = collect_run_means(base, base_suite, states) if suite.evidence.counts_all(Use.TEST) else {}
        yield from score_rows(
            *(suite, baseline_suites[index], criteria_of(suite)),
            extras=extras.get(index),
            run_means=means,
            setup_change=change,
        )
    matched = {suites[0].label for suites in baseline_suites.values()}
    for suite in base.suites:
        if suite.label not in matched and suite.evidence.counts_all(Use.ROWS):
            yield from map(ScoredRow, removed_rows(suite))
