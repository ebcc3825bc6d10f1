"""Rows of slices: each equals a suite of only these cases, corrected among slices, in a bounded number."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.runs import change_run
from tests.unit.stats.builders import SAME, run_of, suite_of

from scoregate.features.slices.cases import SuiteSlices
from scoregate.features.slices.declare import MAX_SLICE_DROP
from scoregate.features.slices.keys import TABLE, SliceRow, SliceTable
from scoregate.features.slices.rows import add_slices
from scoregate.features.slices.rule import CHECK
from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.estimates import NoEstimate
from scoregate.kernel.compare.row_labels import is_in_family
from scoregate.kernel.compare.statistics.significance import correct_by_direction
from scoregate.kernel.gate import Verdict, evaluate_gates
from scoregate.kernel.report.result_json import to_row_data
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.event_values import EvaluatorInfo, Fingerprint
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.policy import Criteria, Limits, Policy, Severity
from scoregate.kernel.types.runs.run import Run, SuiteResult

ONLY = (
    "mean",
    "base",
    "delta",
    "n",
    "better",
    "worse",
    "p",
    "low",
    "high",
    "smallest_p",
    "clusters",
    "dropped",
)


def slices_of(suite: SuiteResult, members: Mapping[str, Sequence[str]]) -> SuiteSlices:
    """Slices of one field `f` whose values have these cases."""
    rows = {case: row for row, case in reversed(list(enumerate(suite.columns.hashes)))}
    return {"f": {value: [rows[case] for case in cases] for value, cases in members.items()}}


def compare_slices(
    run: Run, base: Run | None, members: Mapping[str, Sequence[str]], *, limited: Sequence[str] = (), **more: Any
) -> Comparison:
    slices = slices_of(run.suites[0], members)
    return add_slices(compare(run, base, **more), lambda _: [slices], lambda _: limited)


def table_of(comparison: Comparison) -> SliceTable:
    table = comparison.slots.get(TABLE)
    assert table is not None
    return table


def sliced(
    new: SuiteResult, *olds: SuiteResult, members: Mapping[str, Sequence[str]], limited: Sequence[str] = (), **more: Any
) -> Comparison:
    base, *pool = (run_of(old, name="base") for old in olds)
    return compare_slices(run_of(new), base, members, limited=limited, pool=pool, **more)


def draw(
    seed: int, cases: int, *, repeats: Sequence[int], drop: float = 0.0, errors: float = 0.02
) -> dict[str, list[float | None]]:
    source = random.Random(seed)

    def value() -> float | None:
        return None if source.random() < errors else float(source.random() > 0.2 + drop)

    return {f"c{index}": [value() for _ in range(repeats[index % len(repeats)])] for index in range(cases)}


def select_cases(scores: Mapping[str, Any], cases: Sequence[str]) -> dict[str, Any]:
    return {case: scores[case] for case in cases if case in scores}


@pytest.mark.parametrize("repeats", [((1,), (1,)), ((1, 3), (2,)), ((3,), (3,))])
def test_a_slice_has_the_numbers_of_a_suite_with_only_its_cases(repeats: Any) -> None:
    new, old = draw(1, 90, repeats=repeats[0], drop=0.2), draw(2, 95, repeats=repeats[1])
    members = {"a": [f"c{index}" for index in range(0, 90, 2)], "b": [f"c{index}" for index in range(80, 90)]}
    for clusters in ({}, {f"c{index}": f"k{index // 3}" for index in range(60)}):
        slice_rows = sliced(
            suite_of({"e": new}, clusters=clusters), suite_of({"e": old}), suite_of({"e": old}), members=members
        )
        by_value = {each.value: each for each in table_of(slice_rows).rows}
        for value, cases in members.items():
            alone = compare(
                run_of(suite_of({"e": select_cases(new, cases)}, clusters=select_cases(clusters, cases))),
                run_of(suite_of({"e": select_cases(old, cases)})),
                pool=[run_of(suite_of({"e": select_cases(old, cases)}))],
            ).rows[0]
            row = by_value[value].row
            assert by_value[value].cases == len(cases)
            assert _numbers(row) == pytest.approx(_numbers(alone)), (value, clusters)
            assert (row.estimate.interval is None) == (row.pairs.clusters < 10)


def _numbers(row: Row) -> dict[str, Any]:
    few = row.pairs.clusters < Criteria().few
    left_out = ("p", "low", "high", "smallest_p", "better", "worse") if few else ()
    return to_row_data(row, [name for name in ONLY if name not in left_out])


def test_extra_trials_count_in_the_test_only() -> None:
    new, old = draw(3, 40, repeats=(1,), drop=0.3), draw(4, 40, repeats=(1,))
    more, base_more = draw(5, 40, repeats=(2,), drop=0.3), draw(6, 40, repeats=(2,))
    run, base = run_of(suite_of({"e": new})), run_of(suite_of({"e": old}), name="base")
    alone = run
    run = run.add_companion(TrialRole.EXTRA, run_of(suite_of({"e": more})))
    base = base.add_companion(TrialRole.EXTRA, run_of(suite_of({"e": base_more})))
    every = {"all": [f"c{index}" for index in range(40)]}
    comparison = compare_slices(run, base, every)
    [each] = table_of(comparison).rows
    assert _numbers(each.row) == pytest.approx(_numbers(comparison.rows[0]), abs=0.001)  # the test draws permutations
    [without] = table_of(compare_slices(alone, base, every)).rows
    assert without.row.estimate.p != each.row.estimate.p
    assert without.row.delta == each.row.delta


def test_slices_are_their_own_families() -> None:
    new, old = draw(7, 200, repeats=(1,), drop=0.15, errors=0.0), draw(8, 200, repeats=(1,), errors=0.0)
    members = {f"v{index}": [f"c{case}" for case in range(index, 200, 10)] for index in range(10)}
    free = sliced(suite_of({"e": new}), suite_of({"e": old}), members=members)
    alone = compare(run_of(suite_of({"e": new})), run_of(suite_of({"e": old})))
    assert free.rows == alone.rows
    rows = [each.row for each in table_of(free).rows]
    family = [row for row in rows if is_in_family(row, 0.05)]
    assert len(family) >= 5
    wanted = correct_by_direction([row.p_worse or 0.0 for row in family], [row.p_better or 0.0 for row in family])
    assert [row.correction.q for row in family] == pytest.approx(wanted)
    limited = sliced(suite_of({"e": new}), suite_of({"e": old}), members=members, limited=["f=v3"])
    by_value = {each.value: each for each in table_of(limited).rows}
    assert [value for value, each in by_value.items() if each.limited] == ["v3"]
    assert by_value["v3"].row.correction.q == by_value["v3"].row.estimate.p
    qs = {each.value: each.row.correction.q for each in table_of(free).rows}
    assert by_value["v4"].row.correction.q != pytest.approx(qs["v4"])


def test_rows_are_limited_and_dropped_ones_counted() -> None:
    new = {f"c{index}": [1.0] for index in range(12_000)}
    members = {f"v{index}": [f"c{index}"] for index in range(10_000)} | {
        "big": [f"c{index}" for index in range(10_000, 12_000)]
    }
    suite = suite_of({"e": new})
    found = table_of(sliced(suite, suite, members=members, limited=["f=v9999"]))
    assert len(found.rows) == 101
    assert {each.value for each in found.rows} >= {"big", "v9999"}
    [left_out] = found.left_out
    assert (left_out.field, left_out.values, left_out.limited) == ("f", 9_900, 0)
    found = table_of(sliced(suite, suite, members=members, limited=["f=*"]))
    assert (len(found.rows), found.left_out[0].limited) == (1_000, 9_001)


def test_lost_scores_make_a_slice_unmeasurable() -> None:
    base = {f"c{index}": [1.0] for index in range(60)}
    first, last = [f"c{index}" for index in range(20)], [f"c{index}" for index in range(40, 60)]
    new = {case: [None if case in first[:5] else 1.0] for case in base}
    [row, whole] = _labels(suite_of({"e": new}), suite_of({"e": base}), {"first": first, "last": last}, max_dropped=0.1)
    assert (row.row.label, row.row.reason) == (RowLabel.UNMEASURABLE, "5 of 20 pairs have an error in this run")
    assert whole.row.label is RowLabel.UNCHANGED
    lost = suite_of({"e": {case: scores for case, scores in base.items() if case not in first}, "f": base})
    [row, _] = _labels(lost, suite_of({"e": base}), {"first": first, "last": last}, evaluator="e")
    assert (row.row.label, row.row.reason) == (RowLabel.UNMEASURABLE, "no case has a score any more")
    added = {f"n{index}": [0.0] for index in range(20)}
    [_, row] = _labels(suite_of({"e": base | added}), suite_of({"e": base}), {"last": last, "new": list(added)})
    assert (row.row.label, row.row.mean, row.row.base) == (RowLabel.NEW, 0.0, None)


def _labels(
    new: SuiteResult, old: SuiteResult, members: Mapping[str, Sequence[str]], *, evaluator: str = "e", **more: Any
) -> list[SliceRow]:
    rows = table_of(sliced(new, old, members=members, criteria=Criteria(**more))).rows
    return [each for each in rows if each.row.evaluator == evaluator]


def test_without_a_baseline_slices_have_only_means() -> None:
    suite = suite_of({"e": {"a": [1.0], "b": [0.0], "c": [0.5]}})
    [row] = table_of(compare_slices(run_of(suite), None, {"x": ["a", "c"]})).rows
    assert (row.name, row.cases, row.row.mean, row.row.label, row.row.pairs.n) == ("f=x", 2, 0.75, RowLabel.NEW, 0)


def limit(max_slice_drop: Mapping[str, float], **more: Any) -> Limits:
    return Limits(more={"max_slice_drop": max_slice_drop}, **more)


def judge(
    new: Mapping[str, Any],
    old: Mapping[str, Any] | None,
    limits: Limits,
    *,
    members: Mapping[str, Sequence[str]],
    info: EvaluatorInfo | None = None,
) -> Verdict:
    policy = Policy(limits)
    suite = suite_of({"e": new}, infos=[info] if info else ())
    run: Run = change_run(run_of(suite), complete=True)
    base = None if old is None else change_run(run_of(suite_of({"e": old}), name="base"), complete=True)
    comparison = compare_slices(run, base, members, limited=tuple(MAX_SLICE_DROP.of(limits)))
    return evaluate_gates(comparison, policy, checks=(CHECK,))


def test_only_slices_that_a_limit_names_fail_a_run() -> None:
    old = {f"c{index}": [1.0] for index in range(60)}
    new = {case: [0.0 if index < 12 else 1.0] for index, case in enumerate(old)}
    cases = list(old)
    members = {"fr": cases[:20], "de": cases[20:40], "it": cases[40:]}
    limits = limit({"f=fr": 0.1}, origin={"max_slice_drop.f=fr": "scoregate.toml"})
    cast: list[tuple[Limits, Any, Conclusion]] = [
        (Limits(), old, Conclusion.PASSED),
        (limits, old, Conclusion.FAILED),
        (limits, None, Conclusion.PASSED),
        (limit({"f=fr": 0.7}), old, Conclusion.PASSED),
        (limit({"f=de": 0.1}), old, Conclusion.PASSED),
        (limit({"f=*": 0.1}), old, Conclusion.FAILED),
        (limit({"f=*": 0.1, "f=fr": 0.7}), old, Conclusion.PASSED),
        (limit({"f=es": 0.1}), old, Conclusion.UNMEASURABLE),
        (limit({"g=fr": 0.1}), None, Conclusion.UNMEASURABLE),
        (
            limit({"f=fr": 0.1}, severity={"slice_drop": Severity.WARN}),
            old,
            Conclusion.PASSED,
        ),
    ]
    for given, base, wanted in cast:
        verdict = judge(new, base, given, members=members)
        assert verdict.conclusion is wanted, (given, [each.value for each in verdict.failed])
    [finding] = judge(new, old, limits, members=members).failed
    assert (finding.rule, finding.part, finding.evaluator, finding.bound) == ("slice drop", "f=fr", "e", 0.1)
    assert finding.origin == "scoregate.toml"
    assert finding.value.startswith("f=fr: −0.600 [")
    assert judge(new, None, limits, members=members).not_applied == ("max_slice_drop",)


def test_a_limited_slice_that_cannot_be_compared_is_unmeasurable() -> None:
    old = {f"c{index}": [1.0] for index in range(40)}
    members = {"fr": list(old)[:20]}
    limits = limit({"f=fr": 0.1}, max_error_rate=0.5)
    errors = {case: [None if index < 10 else 1.0] for index, case in enumerate(old)}
    verdict = judge(errors, old, limits, members=members)
    assert [(each.rule, each.conclusion) for each in verdict.failed] == [("slice drop", Conclusion.UNMEASURABLE)]
    assert verdict.failed[0].value == "f=fr: 10 of 20 pairs have an error in this run"
    changed = EvaluatorInfo("e", replace(SAME, prompt="new"))
    verdict = judge(old, old, limits, members=members, info=changed)
    assert [each.rule for each in verdict.failed] == ["comparable"]
    assert isinstance(changed.fingerprint, Fingerprint)


def test_a_small_slice_with_a_limit_has_a_test() -> None:
    old = {f"c{index}": [1.0] for index in range(30)}
    new = {case: [float(index >= 9)] for index, case in enumerate(old)}
    limits = limit({"f=fr": 0.05}, min_pass_rate=0.0)
    (finding,) = judge(new, old, limits, members={"fr": list(old)[:9], "en": list(old)[9:]}).failed
    assert (finding.rule, finding.part) == ("slice drop", "f=fr")
    assert finding.value.endswith("corrected p = 0.0039")


def test_a_drop_above_the_limit_within_noise_is_marked() -> None:
    old = {f"c{index}": [1.0] for index in range(40)}
    new = {case: [0.0 if index < 3 else 1.0] for index, case in enumerate(old)}
    verdict = judge(new, old, limit({"f=fr": 0.1}), members={"fr": list(old)[:20]})
    [finding] = [each for each in verdict.findings if each.rule == "slice drop"]
    assert (finding.conclusion, finding.uncertain) == (Conclusion.PASSED, True)
    assert finding.value.endswith(": above the limit, within noise")


def test_too_many_limited_slices_are_unmeasurable() -> None:
    old = {f"c{index}": [1.0] for index in range(1_200)}
    verdict = judge(old, old, limit({"f=*": 0.1}), members={case: [case] for case in old})
    [finding] = verdict.failed
    assert (finding.rule, finding.conclusion) == ("limits apply", Conclusion.UNMEASURABLE)
    assert "200 of the slices" in finding.value


def test_a_slice_that_lost_its_scores_is_unmeasurable() -> None:
    """The cases that failed now return None, so the others look perfect."""
    old = {f"c{index}": [float(index >= 30)] for index in range(100)}
    new = {case: scores for case, scores in old.items() if scores != [0.0]}
    run = suite_of({"e": new, "other": old})
    members = {"lost": [f"c{index}" for index in range(50)], "kept": [f"c{index}" for index in range(50, 100)]}
    comparison = sliced(run, suite_of({"e": old, "other": old}), members=members)
    rows = {each.value: each.row for each in table_of(comparison).rows if each.row.evaluator == "e"}
    assert (rows["lost"].label, rows["lost"].lost.reasons) == (RowLabel.UNMEASURABLE, {"none": 30})
    assert rows["lost"].reason == "30 of 50 cases lost their score"
    assert (rows["kept"].label, rows["kept"].lost.reasons) == (RowLabel.UNCHANGED, {})


def test_an_evaluator_of_the_baseline_alone_has_no_slices() -> None:
    scores = {f"c{index}": [1.0] for index in range(20)}
    comparison = sliced(suite_of({"e": scores}), suite_of({"e": scores, "gone": scores}), members={"all": list(scores)})
    assert [row.label for row in comparison.rows] == [RowLabel.UNCHANGED, RowLabel.REMOVED]
    assert [each.row.evaluator for each in table_of(comparison).rows] == ["e"]


def test_a_slice_with_few_cases_has_its_change() -> None:
    new = {f"c{index}": [float(index > 1)] for index in range(20)}
    old = {f"c{index}": [1.0] for index in range(20)}
    members = {"few": ["c0", "c1", "c2", "c3"], "none": []}
    rows = {
        each.value: each.row
        for each in table_of(sliced(suite_of({"e": new}), suite_of({"e": old}), members=members)).rows
    }
    few = rows["few"]
    assert (few.label, few.pairs.n, few.pairs.clusters, few.delta) == (RowLabel.TOO_FEW, 4, 4, -0.5)
    assert (few.mean, few.base, few.estimate) == (0.5, 1.0, NoEstimate(delta=-0.5))


def test_labels_have_no_slices() -> None:
    def labelled() -> SuiteResult:
        suite = suite_of({"e": {f"c{index}": [1.0] for index in range(20)}})
        suite.columns.labels["kind"] = {"a": 20}
        return replace(suite, evaluators={**suite.evaluators, "kind": EvaluatorInfo("kind", SAME)})

    comparison = sliced(labelled(), labelled(), members={"all": [f"c{index}" for index in range(20)]})
    assert {row.evaluator: row.label for row in comparison.rows} == {"e": RowLabel.UNCHANGED, "kind": RowLabel.LABELS}
    assert [each.row.evaluator for each in table_of(comparison).rows] == ["e"]


def test_a_limit_without_a_slice_is_reported_for_the_suites_that_it_names() -> None:
    suite = suite_of({"e": {f"c{index}": [1.0] for index in range(12)}})
    run, given = change_run(run_of(suite), complete=True), limit({"f=es": 0.1})

    def list_values(of: Run, policy: Policy) -> list[str]:
        findings = evaluate_gates(compare_slices(of, None, {"fr": ["c0"]}), policy, checks=(CHECK,)).findings
        return [each.value for each in findings if each.rule == "limits apply"]

    narrowed, what = change_run(run, narrowed=True), ["f=es in max_slice_drop matches no slice with cases"]
    for policy in (Policy(given), Policy(suites={"*": given})):
        assert (list_values(run, policy), list_values(narrowed, policy)) == (what, [])
    exact = Policy(suites={suite.id: given})
    assert (list_values(run, exact), list_values(narrowed, exact)) == (what, what)
