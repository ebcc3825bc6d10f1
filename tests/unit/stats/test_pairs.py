"""How the trials of a run and its baseline become one difference per case."""

from __future__ import annotations

import random
from array import array
from math import log

import pytest
from tests.unit.stats.builders import SAME, cases, columns_of, compared, row_of, run_of, suite_of
from tests.unit.stats.references import clustered_error

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import Measure, RowLabel
from scoregate.kernel.compare.estimates import PairSummary
from scoregate.kernel.compare.lost_scores import CaseChanges, LostScores
from scoregate.kernel.compare.pairing import (
    Pairs,
    Values,
    case_clusters,
    log_side,
    pair_scores,
    pair_sides,
    quantity_side,
)
from scoregate.kernel.compare.statistics.intervals import measure_spread
from scoregate.kernel.compare.statistics.significance import sign_flip_test
from scoregate.kernel.types.evaluation import Evaluation, Label, Threshold, Usage
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.case_means import count_evaluator_passes
from scoregate.kernel.types.runs.cases import CaseError, CaseResult
from scoregate.kernel.types.runs.evidence import TrialRole, Trials
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.runs.text_column import TextColumn


def test_repeats_are_averaged_by_case() -> None:
    new = {"a": [1.0, 0.0, 1.0], "b": [1.0, 1.0, 1.0]}
    old = {"a": [0.0, 0.0, 1.0], "b": [1.0, 0.0, 0.0]}
    pairs = pair_scores(columns_of({"s": new}), [columns_of({"s": old})], "s")
    assert pairs.sums == pytest.approx([1 / 3, 2 / 3])
    assert (pairs.n, pairs.rose, pairs.fell, pairs.trials) == (2, 2, 0, ())


def test_sides_can_differ_in_repeats() -> None:
    pairs = pair_scores(columns_of({"s": {"a": [0.5]}}), [columns_of({"s": {"a": [0.0, 1.0, 1.0, 1.0]}})], "s")
    assert pairs.sums == pytest.approx([-0.25])
    assert pairs.trials == (([0.5], [0.0, 1.0, 1.0, 1.0]),)


def test_a_repeat_is_no_case() -> None:
    """Five equal repeats count as one."""
    source = random.Random(1)
    new, old = ([source.random() < 0.7 for _ in range(40)] for _ in range(2))
    once = row_of(cases([float(x) for x in new]), cases([float(x) for x in old]))
    often = row_of(
        {f"case-{index}": [float(x)] * 5 for index, x in enumerate(new)},
        {f"case-{index}": [float(x)] * 5 for index, x in enumerate(old)},
    )
    assert (often.estimate.p, often.pairs.n, often.delta) == (once.estimate.p, once.pairs.n, once.delta)
    assert often.estimate.detectable == pytest.approx(once.estimate.detectable)


def test_more_runs_of_the_base_are_more_repeats_of_it() -> None:
    new, first, second = cases([1.0, 0.0] * 6), cases([1.0, 1.0] * 6), cases([0.0, 1.0] * 6)
    together = {case: [*first[case], *second[case]] for case in first}
    pooled, repeated = row_of(new, first, second), row_of(new, together)
    assert (pooled.delta, pooled.estimate.p, pooled.base) == (repeated.delta, repeated.estimate.p, repeated.base)
    assert (pooled.estimate.low, pooled.estimate.high) == (repeated.estimate.low, repeated.estimate.high)


def test_a_base_run_of_another_evaluator_is_not_pooled() -> None:
    new, old = ({"score": cases([score] * 12)} for score in (1.0, 0.0))
    unrelated = suite_of({"score": cases([1.0] * 12)}, script="another.py")
    assert compared(suite_of(new), suite_of(old), unrelated).rows[0].delta == 1.0


def test_a_step_is_the_effect_of_one_trial() -> None:
    """Where most cases have one value only: one failure of one trial weighs 1, one of five weighs 0.2."""
    new, old = {f"c{index}": [1.0] for index in range(9)}, {f"c{index}": [1.0] * 5 for index in range(9)}
    assert pair_scores(columns_of({"s": new}), [columns_of({"s": old})], "s").step == 0.0
    old["c0"] = [1.0, 1.0, 1.0, 0.0, 1.0]
    assert pair_scores(columns_of({"s": new}), [columns_of({"s": old})], "s").step == 1.0
    varied = {f"c{index}": [1.0, 0.9, 0.8, 0.7, 0.6] for index in range(9)}
    assert pair_scores(columns_of({"s": new}), [columns_of({"s": varied})], "s").step == 0.0


def test_clusters_are_the_unit() -> None:
    source = random.Random(2)
    scores = [[source.random() for _ in range(60)] for _ in range(2)]
    clusters = {f"case-{index}": f"talk-{index // 4}" for index in range(60) if index >= 8}
    row = row_of(cases(scores[0]), cases(scores[1]), clusters=clusters)
    differences = [a - b for a, b in zip(*scores, strict=True)]
    names = [clusters.get(f"case-{index}", f"alone-{index}") for index in range(60)]
    sums = [sum(d for d, n in zip(differences, names, strict=True) if n == name) for name in dict.fromkeys(names)]
    assert (row.pairs.n, row.pairs.clusters) == (60, 8 + 13)
    assert row.delta == pytest.approx(sum(differences) / 60)
    assert row.estimate.p == pytest.approx(sign_flip_test(sums))
    around = measure_spread(
        [(total, names.count(name)) for total, name in zip(sums, dict.fromkeys(names), strict=True)]
    )
    assert around.error == pytest.approx(clustered_error(differences, names))
    assert (row.estimate.low, row.estimate.high) == pytest.approx(around.interval())
    assert row.estimate.detectable == pytest.approx(around.detectable())


def test_a_cluster_can_have_the_name_of_a_case() -> None:
    clusters = {"case-1": "case-0", "case-2": "case-0"}
    new = columns_of({"s": cases([1.0, 1.0, 1.0])}, clusters)
    old = columns_of({"s": cases([0.0, 0.0, 0.0])}, clusters)
    assert pair_scores(new, [old], "s").clusters == ((1.0, 1), (2.0, 2))


def test_pairs_with_an_error_on_either_side_are_dropped_and_counted() -> None:
    new = cases([None, 1.0, None, 1.0] + [1.0] * 96)
    old = cases([1.0, None, None, 1.0] + [0.0] * 96)
    row = row_of(new, old)
    assert (row.pairs.dropped, row.pairs.n, row.pairs.better, row.label) == (3, 97, 96, RowLabel.BETTER)
    assert row.delta == pytest.approx(96 / 97), "an error is not a zero"


def test_a_failing_repeat_keeps_the_others() -> None:
    new, old = {f"c{index}": [None, 1.0, 0.0] for index in range(12)}, {f"c{index}": [1.0] for index in range(12)}
    row = row_of(new, old)
    assert (row.pairs.dropped, row.pairs.n, row.delta) == (0, 12, -0.5)


def test_an_error_of_an_unpaired_case_drops_no_pair() -> None:
    row = row_of(cases([1.0] * 20) | {"new": [None]}, cases([1.0] * 20) | {"gone": [None]})
    assert (row.pairs.dropped, row.pairs.n, row.cases.added, row.cases.removed) == (0, 20, 1, 1)


def test_an_error_of_one_evaluator_is_no_error_of_another() -> None:
    def side() -> SuiteResult:
        return suite_of({"shaky": cases([None] * 6 + [1.0] * 14), "firm": cases([1.0] * 20)})

    found = {row.evaluator: row for row in compared(side(), side()).rows}
    assert (found["firm"].pairs.dropped, found["firm"].label) == (0, RowLabel.UNCHANGED)
    assert (found["shaky"].pairs.dropped, found["shaky"].label) == (6, RowLabel.UNMEASURABLE)


def trial(case: str, error: CaseError | None, **scores: float) -> CaseResult:
    evaluations = {name: Evaluation(score) for name, score in scores.items()}
    return CaseResult(0, case, evaluations=evaluations, errors=[error] if error else [])


def test_only_an_error_of_the_case_drops_unscored_evaluators() -> None:
    """An evaluator that returned None where another raised has given no score, but has not failed either."""
    error = ErrorInfo("ValueError", "no")
    new, old = Columns(), Columns()
    for index in range(20):
        old.add(trial(f"c{index}", None, quiet=1.0, shaky=1.0))
    new.add(trial("c0", CaseError(error, "shaky")))
    new.add(trial("c1", CaseError(error)))
    for index in range(2, 20):
        new.add(trial(f"c{index}", None, quiet=1.0, shaky=1.0))
    assert pair_scores(new, [old], "quiet").errored == 1
    assert pair_scores(new, [old], "shaky").errored == 2


def test_cases_of_only_one_side_are_excluded_and_counted() -> None:
    row = row_of(cases([1.0] * 15), cases([0.0] * 12) | {"old-1": [1.0], "old-2": [1.0]})
    assert (row.pairs.n, row.cases.added, row.cases.removed, row.delta) == (12, 3, 2, 1.0)


def test_a_case_with_another_definition_is_counted() -> None:
    new, old = suite_of({"score": cases([1.0] * 12)}), suite_of({"score": cases([1.0] * 12)})
    digests = list(new.columns.digests)
    new.columns.digests = TextColumn([*digests[:3], "another", "", *digests[5:]])
    row = compared(new, old).rows[0]
    assert (row.cases.changed, row.pairs.n) == (1, 12)


def make_used_suite(cost: float, tokens: int, milliseconds: float, count: int = 12) -> SuiteResult:
    columns = Columns()
    for index in range(count):
        spent = Usage(tokens, 0, cost=cost * (1 + index % 3))
        columns.add(CaseResult(0, f"c{index}", duration_ms=milliseconds * (1 + index % 5), usage=spent))
    return SuiteResult("bot", "bot", trials=Trials(columns), complete=True)


def pair_amounts(new: Columns, olds: list[Columns], values: Values, *, raw: bool = False) -> Pairs:
    here, there = (quantity_side(each, values, is_paid=True) for each in ([new], olds))
    clusters = case_clusters(new)
    return pair_sides(here, there, clusters) if raw else pair_sides(log_side(here), log_side(there), clusters)


def test_usage_is_compared_as_ratios_and_less_is_better() -> None:
    rows = {
        row.measure: row
        for row in compared(make_used_suite(0.02, 90, 500.0), make_used_suite(0.01, 90, 1000.0)).quantities
    }
    assert rows[Measure.COST].delta == pytest.approx(log(2))
    assert rows[Measure.LATENCY].delta == pytest.approx(-log(2))
    labels = {measure: row.label for measure, row in rows.items()}
    assert labels == {
        Measure.COST: RowLabel.WORSE,
        Measure.LATENCY: RowLabel.BETTER,
        Measure.TOKENS: RowLabel.UNCHANGED,
    }


def test_four_percent_more_is_ignored_and_six_is_not() -> None:
    four = {
        row.measure: row for row in compared(make_used_suite(0.0104, 90, 1), make_used_suite(0.01, 90, 1)).quantities
    }
    six = {
        row.measure: row for row in compared(make_used_suite(0.0106, 90, 1), make_used_suite(0.01, 90, 1)).quantities
    }
    assert four[Measure.COST].label is RowLabel.EQUIVALENT
    assert six[Measure.COST].label is RowLabel.WORSE


def test_zero_or_unknown_values_have_no_ratio() -> None:
    def values(columns: Columns) -> list[float]:
        return list(columns.durations_ms)

    new, old = (columns_of({"s": cases([1.0] * 4)}) for _ in range(2))
    for row, values_of in enumerate([(1.0, 2.0), (0.0, 2.0), (float("nan"), 2.0), (1.0, float("inf"))]):
        new.durations_ms[row], old.durations_ms[row] = values_of
    assert pair_amounts(new, [old], values).sums == pytest.approx([-log(2)])
    assert pair_amounts(new, [old], values, raw=True).sums == pytest.approx([-1.0])


def test_the_mean_of_logarithms_is_used() -> None:
    """The mean of five trials that scatter is above their geometric mean: more trials would look slower."""

    def values(columns: Columns) -> list[float]:
        return list(columns.durations_ms)

    one, five = columns_of({"s": {"a": [1.0]}}), columns_of({"s": {"a": [1.0] * 5}})
    one.durations_ms[:], five.durations_ms[:] = array("d", [4.0]), array("d", [1.0, 2.0, 4.0, 8.0, 16.0])
    assert pair_amounts(five, [one], values).sums == pytest.approx([0.0])


ASKED = Usage(10, 5, answer="first")
READ = Usage(answer="first", cached=True)


def stored(*trials: tuple[float, Usage | None, Usage | None]) -> Columns:
    """The trials of each of twelve cases: score, usage of the output, usage of the judge."""
    columns = Columns()
    for case in range(12):
        for repeat, (score, output, judgement) in enumerate(trials):
            evaluations = {"s": Evaluation(score, usage=judgement)}
            columns.add(CaseResult(0, f"case-{case}", repeat, duration_ms=5.0, usage=output, evaluations=evaluations))
    return columns


@pytest.mark.parametrize(
    ("trials", "mean"),
    [
        ([(1.0, ASKED, None), (1.0, READ, None), (0.0, Usage(10, 5, answer="second"), None)], 0.5),
        ([(1.0, READ, None), (1.0, READ, None), (0.0, None, None)], 0.5),
        ([(1.0, READ, READ), (1.0, READ, READ), (0.0, READ, Usage(3, 1))], 0.5),
        ([(1.0, None, READ), (1.0, None, READ), (0.0, None, READ)], 2 / 3),
        ([(1.0, ASKED, None), (1.0, READ, None), (1.0, READ, None)], 1.0),
    ],
    ids=["copies of one", "copies alone", "a judge asked anew", "outputs asked anew", "nothing else"],
)
def test_trials_of_the_same_cached_answers_count_once(
    trials: list[tuple[float, Usage | None, Usage | None]], mean: float
) -> None:
    base = columns_of({"s": cases([0.0] * 12)})
    repeated = pair_scores(stored(*trials), [base], "s")
    pooled = pair_scores(base, [stored(trial) for trial in trials], "s")
    assert (repeated.mean, pooled.base) == (pytest.approx(mean), pytest.approx(mean))
    assert repeated.sums == pytest.approx([mean] * 12)


def test_cached_trials_have_no_time() -> None:
    fresh, read = stored((1.0, ASKED, None)), stored((1.0, READ, None))
    assert pair_amounts(read, [fresh], lambda columns: columns.durations_ms).n == 0


def test_a_trial_ended_by_an_error_is_no_saving() -> None:
    broken = columns_of({"s": cases([1.0] * 10 + [None, None])})
    whole = columns_of({"s": cases([1.0] * 12)})
    for columns in (broken, whole):
        columns.costs[:] = array("d", [1.0] * 12)
    pairs = pair_amounts(broken, [whole], lambda columns: columns.costs)
    assert (pairs.n, pairs.errored) == (10, 2)


def test_shown_means_are_of_cases_with_any_number_of_trials() -> None:
    """More trials of the cases in which two runs differ must not move the mean towards those."""
    new = suite_of({"score": cases([1.0] * 10 + [0.0] * 10)})
    more = suite_of({"score": {f"case-{index}": [0.0] * 4 for index in range(10, 20)}})
    run = run_of(new).add_companion(TrialRole.EXTRA, run_of(more))
    row = compare(run, run_of(new)).rows[0]
    assert (row.mean, row.base, row.delta) == (0.5, 0.5, 0.0)


def test_the_step_of_one_trial_counts_if_most_cases_have_one_value() -> None:
    """One failure of a single trial weighs more than one of two."""
    for constant, step in ((6, 1.0), (5, 0.0), (4, 0.0)):
        new = {f"c{index}": [1.0] for index in range(10)}
        old = {f"c{index}": [1.0, float(index < constant)] for index in range(10)}
        pairs = pair_scores(columns_of({"s": new}), [columns_of({"s": old})], "s")
        assert pairs.step == step, constant
    half = {f"c{index}": [1.0, 0.5 if index else 1.0] for index in range(1, 3)} | {f"d{i}": [1.0] * 2 for i in range(9)}
    ones = {case: [1.0] * 3 for case in half}
    assert pair_scores(columns_of({"s": ones}), [columns_of({"s": half})], "s").step == 0.25


def test_a_pool_has_the_mean_of_its_newest_run_where_nothing_is_compared() -> None:
    new, old, older = (suite_of({"score": cases([value] * 12)}) for value in (0.9, 0.5, 1.0))
    new.columns.unscaled["score"] = set(range(12))
    comparison = compared(new, old, older)
    (row,) = comparison.rows
    assert (row.label, row.base, row.mean) == (RowLabel.UNMEASURABLE, 0.5, None)
    assert comparison.pooled == 2
    assert compared(old, older, old, old).pooled == 3


def test_a_row_without_a_comparison_counts_nothing() -> None:
    suite = suite_of({"score": cases([1.0] * 12)})
    comparison = compare(run_of(suite), run_of(suite, suite_of({"score": cases([1.0])}, id="gone", label="gone")))
    (row,) = comparison.rows_of("gone")
    assert row.label is RowLabel.REMOVED
    assert (row.pairs, row.cases, row.lost) == (PairSummary(), CaseChanges(), LostScores())


def test_labels_of_either_side_are_in_the_row() -> None:
    def labelled(*labels: str) -> SuiteResult:
        columns = Columns()
        for index in range(12):
            given = {"kind": Label(labels[index % len(labels)])} if labels else {}
            columns.add(CaseResult(0, f"c{index}", evaluations={"score": Evaluation(1.0)}, labels=given))
        infos = {name: EvaluatorInfo(name, SAME) for name in ("score", "kind")}
        return SuiteResult("bot", "bot", evaluators=infos, trials=Trials(columns), complete=True)

    with_labels, without = labelled("a", "a", "b"), labelled()
    for new, old, counts, base_counts in (
        (with_labels, with_labels, {"a": 8, "b": 4}, {"a": 8, "b": 4}),
        (with_labels, without, {"a": 8, "b": 4}, {}),
        (without, with_labels, {}, {"a": 8, "b": 4}),
    ):
        row = next(each for each in compared(new, old).rows if each.evaluator == "kind")
        assert (row.labels.run, row.labels.base) == (counts, base_counts)


def test_a_loss_at_the_level_is_too_many() -> None:
    loss = LostScores({"none": 5}, total=20, share=0.25, p=0.025)
    assert loss.is_too_many(0.2, 0.025)
    assert not loss.is_too_many(0.25, 0.025), "it is not more than the limit"
    assert not loss.is_too_many(0.2, 0.0249)
    assert not LostScores(share=0.5).is_too_many(0.2, 0.025)


def test_some_rows_of_columns_keep_what_is_known_of_them() -> None:
    columns = columns_of({"s": cases([1.0, None, 0.5]), "t": cases([0.0, 0.0, 1.0])}, clusters={"case-2": "k"})
    columns.tags.update({0: ("x",), 2: ("y",)})
    columns.failed["t"] = {0, 2}
    columns.unscaled["s"] = {2}
    columns.cached.update({1, 2})
    columns.partly_paid.add(0)
    columns.other_thresholds["s"] = {2: Threshold(gte=0.5)}
    columns.deferred["s"] = array("l", [1, 2])
    columns.costs[:] = array("d", [1.0, 2.0, 3.0])
    found = columns.select([2, 1])
    assert (found.hashes, list(found.costs), list(found.scores["t"])) == (["case-2", "case-1"], [3.0, 2.0], [1.0, 0.0])
    assert [found.status(row) for row in (0, 1)] == [columns.status(2), columns.status(1)]
    assert (found.tags, found.clusters) == ({0: ("y",)}, {0: "k"})
    assert (found.failed["t"], found.errored["s"], found.unscaled["s"]) == ({0}, {1}, {0})
    assert (found.cached, found.partly_paid, list(found.deferred["s"])) == ({0, 1}, set(), [0, 1])
    assert found.other_thresholds["s"] == {0: Threshold(gte=0.5)}


def test_evaluators_that_gave_no_score_are_counted() -> None:
    columns = Columns()
    for index in range(3):
        columns.add(CaseResult(0, f"c{index}", unscored=("a", "b") if index else ("a",)))
    assert (columns.unscored_counts, columns.unscored) == ({"a": 3, "b": 2}, 5)


@pytest.mark.parametrize("repeats", [1, 2])
def test_the_pass_rate_of_an_evaluator_counts_each_case_once(repeats: int) -> None:
    columns = Columns()
    limit = Threshold(gte=0.5)
    scores = {"a": (1.0, 0.0), "b": (1.0, 1.0), "c": (0.0, 0.0)}
    for case, values in scores.items():
        for repeat, value in enumerate(values[:repeats]):
            evaluations = {"e": Evaluation(value, limit), "other": Evaluation(0.0)}
            columns.add(CaseResult(0, case, repeat, evaluations=evaluations))
    columns.add(CaseResult(0, "free", evaluations={"e": Evaluation(0.0)}))
    columns.add(CaseResult(0, "unscored"))
    found = count_evaluator_passes(columns, "e")
    assert (found.rate, found.case_count) == (pytest.approx(2 / 3 if repeats == 1 else 0.5), 3)
    assert (found.passed, found.judged) == ((2, 3) if repeats == 1 else (3, 6))
    assert count_evaluator_passes(columns, "other").rate is None


def test_few_scores_outside_are_errors_in_each_suite_that_has_them() -> None:
    def run(*outside: int) -> Run:
        one, two = (suite_of({"score": cases([1.0] * 40)}, id=name, label=name) for name in "ab")
        two.columns.unscaled["score"] = set(outside)
        return run_of(one, two)

    comparison = compare(run(3), run(3), criteria=Criteria(max_dropped=0.05))
    assert [suite.columns.errored.get("score", set()) for suite in comparison.run.suites] == [set(), {3}]
    assert [suite.columns.unscaled for suite in comparison.run.suites] == [{}, {}]
