"""One claim for the whole run: families of gates, small suites, gates that can't fail, entries that only forgive."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.unit.kernel.builders import ExampleSuite, compared_row, info, run_of, scored

from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.gate import Verdict, judge_comparison
from scoregate.kernel.gate.families import Shares, correct_ratios, correct_scores
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.evaluation import Evaluation
from scoregate.kernel.types.exemptions import AcceptedRegression, Exemptions
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.policy import Limits, Policy, Severity
from scoregate.kernel.types.runs.run import Run

REGRESSION = Limits(min_pass_rate=0.0, fail_on_regression=True)
GOOD, BAD = 1.0, 0.0


def judge(new: Run, base: Run, limits: Limits = REGRESSION, **compared: object) -> tuple[Comparison, Verdict]:
    return judge_comparison(compare(new, base, **compared), Policy(limits))  # type: ignore[arg-type]


def suites_of(count: int, *scores: float, first: Sequence[float] = ()) -> Run:
    return run_of(*(ExampleSuite(scored(*(first if not at and first else scores)), f"s{at}") for at in range(count)))


def list_values(findings: Sequence[Finding]) -> list[str]:
    return [each.value for each in findings]


def test_a_side_that_no_gate_watches_gives_its_share_to_the_other() -> None:
    both = Shares.divide(0.05, has_scores=True, has_ratios=True)
    assert (both.scores * 0.025, both.ratios * 0.025) == (pytest.approx(0.02), pytest.approx(0.005))
    for has_scores in (True, False):
        alone = Shares.divide(0.05, has_scores=has_scores, has_ratios=not has_scores)
        assert (alone.scores, alone.ratios) == (1.0, 1.0)


def test_the_shares_sharpen_the_corrected_p() -> None:
    shares = Shares(0.8, 0.2)
    assert correct_scores([compared_row(0.02), compared_row(0.5)], shares).worse == (
        pytest.approx(0.05),
        pytest.approx(0.625),
    )
    assert correct_ratios([0.001, 0.3], shares) == [pytest.approx(0.02), pytest.approx(1.0)]


def test_an_entry_only_forgives() -> None:
    entry = AcceptedRegression("*", "2026-12-31", "known", "ana", "*", at_most=1.0)
    rows = [compared_row(0.03), compared_row(0.2), compared_row(0.001)]
    plain = correct_scores(rows, Shares()).worse
    for accepted in ([2], [1], [0], [1, 2]):
        exempt = [replace(each, accepted=entry) if at in accepted else each for at, each in enumerate(rows)]
        found = correct_scores(exempt, Shares()).worse
        for at in {0, 1, 2}.difference(accepted):
            assert (found[at] or 0.0) >= (plain[at] or 0.0)


def test_twelve_small_suites_that_collapse_are_red_and_named() -> None:
    judged, verdict = judge(suites_of(12, *[BAD] * 8), suites_of(12, *[GOOD] * 8))
    assert verdict.exit_code == 1
    assert {each.label for each in judged.rows} == {RowLabel.WORSE}
    assert len(verdict.failed) == 12


def test_small_suites_that_fall_a_little_together_are_one_finding() -> None:
    """Two of eight cases of each of twelve suites fall: no suite is certain (p = 1/4), all of them are."""
    judged, verdict = judge(suites_of(12, BAD, BAD, *[GOOD] * 6), suites_of(12, *[GOOD] * 8))
    (finding,) = verdict.failed
    assert (finding.rule, finding.suite, finding.conclusion) == ("regression", None, Conclusion.FAILED)
    assert finding.value.startswith("12 rows with few pairs fell together: −0.250 on average of 96 pairs, corrected p")
    assert {each.label for each in judged.rows} == {RowLabel.TOO_FEW}
    limited = replace(REGRESSION, fail_on_regression=None, max_drop={"*": 0.3})
    assert judge(suites_of(12, BAD, BAD, *[GOOD] * 6), suites_of(12, *[GOOD] * 8), limited)[1].exit_code == 0
    stricter = replace(limited, max_drop={"*": 0.2})
    assert judge(suites_of(12, BAD, BAD, *[GOOD] * 6), suites_of(12, *[GOOD] * 8), stricter)[1].exit_code == 1


def test_one_collapsed_suite_of_twelve_is_named_alone() -> None:
    base = suites_of(12, *[GOOD] * 8)
    judged, verdict = judge(suites_of(12, *[GOOD] * 8, first=[BAD] * 8), base)
    (finding,) = verdict.failed
    assert (finding.rule, finding.suite) == ("regression", "s0")
    assert [each.suite for each in judged.rows if each.label is RowLabel.WORSE] == ["s0"]


def test_rises_of_other_suites_do_not_hide_a_fall() -> None:
    base = run_of(*(ExampleSuite(scored(*[0.5] * 8), f"s{at}") for at in range(4)))
    new = run_of(*(ExampleSuite(scored(*[1.0 if at % 2 else 0.2] * 8), f"s{at}") for at in range(4)))
    assert judge(new, base)[1].exit_code == 1


@pytest.mark.parametrize(
    ("fallen", "cases", "exit_code"), [(5, 5, 3), (4, 5, 0), (3, 3, 3), (2, 2, 0), (1, 5, 0), (0, 5, 0)]
)
def test_a_gate_that_cannot_fail_never_passes(fallen: int, cases: int, exit_code: int) -> None:
    new = suites_of(1, *[BAD] * fallen, *[GOOD] * (cases - fallen))
    _, verdict = judge(new, suites_of(1, *[GOOD] * cases))
    assert verdict.exit_code == exit_code
    assert not [each for each in verdict.findings if each.rule == "regression" and each.conclusion is Conclusion.PASSED]
    if exit_code:
        assert "every case fell, and " in verdict.failed[0].value
    else:
        assert list_values(verdict.left_out) == [f"can't fail with {cases} cases (6 are needed)"]


def test_a_collapsed_suite_of_five_among_others_is_not_green() -> None:
    base = suites_of(12, *[GOOD] * 5)
    assert judge(suites_of(12, *[GOOD] * 5, first=[BAD] * 5), base)[1].exit_code == 3
    assert judge(suites_of(12, *[GOOD] * 5, first=[0.6] * 5), base)[1].exit_code == 0
    assert judge(suites_of(12, *[GOOD] * 4, first=[BAD] * 4), suites_of(12, *[GOOD] * 4))[1].exit_code == 0


def test_several_evaluators_of_few_cases_are_unmeasurable_only_by_a_large_fall() -> None:
    def run(*scores: float) -> Run:
        cases = {f"c{at}": dict.fromkeys(("a", "b"), score) for at, score in enumerate(scores)}
        return run_of(ExampleSuite(cases, evaluators=[info("a"), info("b")]))

    for score, exit_code in ((0.8, 0), (0.5, 3), (0.0, 3)):
        assert judge(run(*[score] * 3), run(*[GOOD] * 3))[1].exit_code == exit_code


def test_a_small_fall_of_every_case_stops_no_run() -> None:
    _, verdict = judge(suites_of(1, *[0.95] * 5), suites_of(1, *[GOOD] * 5))
    assert verdict.exit_code == 0
    assert list_values(verdict.left_out) == ["can't fail with 5 cases (6 are needed)"]


def test_cases_that_cannot_get_worse_do_not_count() -> None:
    """Twenty cases, of which five score above 0 in the baseline: all of these may fall, and it would prove nothing."""
    scores = [*[GOOD] * 5, *[BAD] * 15]
    _, verdict = judge(suites_of(1, *scores), suites_of(1, *scores))
    assert list_values(verdict.left_out) == ["can't fail, as only 5 of 20 pairs can get worse (6 are needed)"]
    _, verdict = judge(suites_of(1, *[BAD] * 20), suites_of(1, *[BAD] * 20))
    assert list_values(verdict.left_out) == ["can't fail, as no score can get worse (6 are needed)"]
    _, verdict = judge(suites_of(1, *[BAD] * 20), suites_of(1, *[*[GOOD] * 6, *[BAD] * 14]))
    assert verdict.exit_code == 1


def test_small_suites_count_their_cases_together() -> None:
    _, verdict = judge(suites_of(2, GOOD, GOOD), suites_of(2, GOOD, GOOD))
    text = "can't fail with 4 cases in all small suites together (6 are needed)"
    assert list_values(verdict.left_out) == [text, text]
    _, verdict = judge(suites_of(3, GOOD, GOOD), suites_of(3, GOOD, GOOD))
    assert verdict.left_out == ()


def test_an_entry_for_a_small_suite_makes_nothing_else_red() -> None:
    entry = AcceptedRegression("s1", "2026-12-31", "known", "ana", "*", at_most=1.0)
    exemptions = Exemptions((entry,), today="2026-11-23")
    base = suites_of(2, *[0.5] * 8)
    rising = run_of(ExampleSuite(scored(*[0.4] * 4, *[0.5] * 4), "s0"), ExampleSuite(scored(*[0.9] * 8), "s1"))
    for exempt in (Exemptions(), exemptions):
        assert judge(rising, base, exemptions=exempt)[1].exit_code == 0
    falling = run_of(ExampleSuite(scored(*[0.5] * 8), "s0"), ExampleSuite(scored(*[0.1] * 8), "s1"))
    assert judge(falling, base)[1].exit_code == 1
    assert judge(falling, base, exemptions=exemptions)[1].exit_code == 0


def test_a_gate_that_only_warns_takes_no_share() -> None:
    warning = replace(REGRESSION, severity={"regression": Severity.WARN})
    base = run_of(ExampleSuite(scored(*[GOOD] * 20), evaluators=[info("e")]))
    judged, verdict = judge(run_of(ExampleSuite(scored(*[BAD] * 20))), base, warning)
    assert (judged.rows[0].label, verdict.exit_code) == (RowLabel.WORSE, 0)
    assert [each.rule for each in verdict.warnings] == ["regression"]


def test_small_suites_are_red_by_the_severity_of_their_own_suites() -> None:
    base, new = suites_of(12, *[GOOD] * 8), suites_of(12, BAD, BAD, *[GOOD] * 6)
    warning = Limits(min_pass_rate=0.0, fail_on_regression=True, severity={"regression": Severity.WARN})
    strict = {"s*": Limits(severity={"regression": Severity.FAIL})}
    assert judge_comparison(compare(new, base), Policy(warning, strict))[1].exit_code == 1
    _, verdict = judge_comparison(compare(new, base), Policy(warning))
    assert (verdict.exit_code, verdict.left_out) == (0, ())


def costly(cases: int, factor: float) -> Run:
    run = suites_of(1, *[GOOD] * cases)
    columns = run.suites[0].columns
    columns.costs[:] = array("d", [factor * (1 + at / cases) for at in range(cases)])
    return run


def test_a_row_of_costs_has_the_p_of_its_gate() -> None:
    limits = Limits(max_cost_ratio=1.2)
    judged, verdict = judge(costly(12, 1.5), costly(12, 1.0), limits)
    (found,) = judged.quantities
    assert (found.label, verdict.exit_code) == (RowLabel.WORSE, 1)
    assert found.correction.q == pytest.approx(2 * found.p_worse)
    judged, verdict = judge(costly(12, 1.1), costly(12, 1.0), limits)
    assert (judged.quantities[0].label, verdict.exit_code) == (RowLabel.WORSE, 0)  # certain, and below the limit


def test_a_limit_on_a_ratio_that_only_warns_still_warns() -> None:
    severity = {"cost_ratio": Severity.WARN}
    judged, verdict = judge(costly(12, 1.5), costly(12, 1.0), Limits(max_cost_ratio=1.2, severity=severity))
    assert (verdict.exit_code, [each.rule for each in verdict.warnings]) == (0, ["cost ratio"])
    plain = judge(costly(12, 1.5), costly(12, 1.0), Limits())[0]
    assert judged.quantities == plain.quantities  # no gate watches the row


def test_a_ratio_of_few_cases_says_that_it_cannot_fail() -> None:
    _, verdict = judge(costly(5, 1.0), costly(5, 1.0), Limits(max_cost_ratio=1.2))
    assert [each.rsplit(": ", 1)[1] for each in list_values(verdict.left_out)] == [
        "can't fail with 5 cases (6 are needed)"
    ]
    both = Limits(max_cost_ratio=1.2, fail_on_regression=True)
    _, verdict = judge(costly(7, 1.5), costly(7, 1.0), both)
    assert verdict.exit_code == 3
    assert "can't fail with 7 cases (8 are needed)" in verdict.failed[0].value
    assert judge(costly(8, 1.5), costly(8, 1.0), both)[1].exit_code == 1


def test_a_large_ratio_of_few_cases_is_no_worse_row() -> None:
    """Both are needed: that chance explains it in few runs, and that it matters."""
    limits = Limits(max_cost_ratio=1.2)
    assert judge(costly(4, 3.0), costly(4, 1.0), limits)[0].quantities[0].label is not RowLabel.WORSE
    assert judge(costly(12, 1.02), costly(12, 1.0), limits)[0].quantities[0].label is not RowLabel.WORSE
    assert judge(costly(12, 3.0), costly(12, 1.0), limits)[0].quantities[0].label is RowLabel.WORSE


def repeat(run: Run, times: int) -> Run:
    """The run with more trials of each case, which have the same scores."""
    for suite in run.suites:
        columns = suite.columns
        names, scores = list(columns.hashes), list(columns.scores["e"])
        for number in range(1, times):
            for name, score in zip(names, scores, strict=True):
                columns.add(CaseResult(0, name, number, evaluations={"e": Evaluation(score)}))
    return run


def test_small_suites_with_unequal_trials_are_as_certain_as_their_best_row() -> None:
    """Random signs alone would give p = 2^-20; the trials of each row by itself allow for their numbers."""
    base, new = repeat(suites_of(5, *[GOOD] * 4), 3), suites_of(5, *[BAD] * 4)
    rows = compare(new, base).rows
    assert all(each.pairs.is_unequal for each in rows)
    joint = correct_scores(rows, Shares()).q
    assert joint is not None
    assert joint == pytest.approx(2 * min(each.p_worse for each in rows), rel=0.2)
    assert joint > 0.001
