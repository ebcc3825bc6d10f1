"""Accepted regressions leave the family and pass within their limit; cases in quarantine leave both sides."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from xml.etree.ElementTree import fromstring

import pytest
from rich.console import Console
from tests.runs import change_run
from tests.unit.kernel.builders import compared_row, mark_source
from tests.unit.report.hostile import HOSTILE
from tests.unit.report.runs import CONTEXT, ExampleSuite, Score, Trial, make_base, make_run, make_view

from scoregate.features.exemptions.stable_cases import bound_failure_rate, list_stable_cases, record_quarantine
from scoregate.features.exemptions.step import STEP
from scoregate.features.exemptions.view import ExemptionView, QuarantinedView, build_exemptions
from scoregate.features.steps import load_steps
from scoregate.kernel.compare.comparison import accepts_row
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.quarantine import Quarantine, leave_out_quarantine
from scoregate.kernel.compare.row_labels import label_rows
from scoregate.kernel.job.publish.comment import is_wanted
from scoregate.kernel.judge.judge import judge
from scoregate.kernel.judge.judgement import Baseline, ComparedSides, Judged
from scoregate.kernel.judge.settings import CommentMode, Settings
from scoregate.kernel.report import console, html, junit, markdown, result_json
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo
from scoregate.kernel.types.exemptions import (
    EXEMPTIONS,
    STABLE_CASES,
    STABLE_RUNS,
    AcceptedRegression,
    Exemptions,
    ExemptionState,
    QuarantinedCases,
    StableCase,
)
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.dependencies import CarriedFrom
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import Run, SuiteResult, sum_costs, sum_tokens
from scoregate.kernel.types.slots import NO_SLOTS, Place, Slots

TODAY = "2026-11-23"
DROP = AcceptedRegression("demo", "2026-12-31", "the new parser", "ana", "accuracy", at_most=0.3, place="a.toml:1")
FLAKY = QuarantinedCases("bo", "the clock", "2026-12-31", case="flaky*", place="q.toml:1")
INFO = (EvaluatorInfo("accuracy"), EvaluatorInfo("tone"))


def suite(low: range, *more: Trial, threshold: bool = False) -> ExampleSuite:
    """Forty cases; those in `low` have a low accuracy."""
    limits = {} if threshold else {"threshold": None}
    trials = [
        Trial(f"c{at}", [Score("accuracy", float(at not in low), **limits), Score("tone", 1.0, **limits)])  # type: ignore[arg-type]
        for at in range(40)
    ]
    return ExampleSuite("demo", [*trials, *more], INFO)


def judge_with(exemptions: Exemptions, run: Run, baseline: Baseline, settings: Settings) -> Judged:
    return judge(ComparedSides(run, baseline, settings, NO_SLOTS.put(EXEMPTIONS, exemptions)), load_steps)


def gate_result(
    now: ExampleSuite,
    before: ExampleSuite | None,
    *,
    settings: Settings | None = None,
    is_younger: bool = False,
    **exempt: object,
) -> Judged:
    """The result of a run; entries of the quarantine are older than the base, or younger."""
    exemptions = Exemptions(today=TODAY, **exempt)  # type: ignore[arg-type]
    base = None if before is None else make_base(before)
    if base is not None and not is_younger:
        base = record_quarantine(base, exemptions)
    settings = settings or Settings(fail_on_regression=True)
    return judge_with(exemptions, make_run(now), Baseline(base, ""), settings)


def entries_of(result: Judged) -> tuple[ExemptionView, ...]:
    return build_exemptions(result.comparison)


def quarantined_of(view: ReportView) -> tuple[QuarantinedView, ...]:
    (section,) = view.sections_at(Place.CASES)
    cases: tuple[QuarantinedView, ...] = section.content["quarantined"]
    return cases


def stable_cases_of(run: Run) -> tuple[StableCase, ...]:
    return run.slots.get(STABLE_CASES) or ()


def view_of(result: Judged) -> ReportView:
    return make_view(result.comparison, result.verdict, CONTEXT)


def list_states(result: Judged) -> list[ExemptionState]:
    return [each.state for each in entries_of(result)]


def test_a_drop_within_the_limit_passes_and_a_larger_one_fails() -> None:
    small, large = suite(range(10)), suite(range(30))
    assert gate_result(small, suite(range(0))).exit_code == 1
    accepted = gate_result(small, suite(range(0)), accepted=(DROP,))
    assert accepted.exit_code == 0
    assert list_states(accepted) == [ExemptionState.ACCEPTED]
    (finding,) = (each for each in accepted.verdict.findings if each.evaluator == "accuracy")
    assert finding.conclusion is Conclusion.PASSED
    assert finding.value.startswith("−0.250 [")
    assert "until 2026-12-31 by ana: the new parser" in finding.value
    assert "corrected p" in finding.value
    assert view_of(accepted).title.endswith("; 1 regression accepted")
    exceeded = gate_result(large, suite(range(0)), accepted=(DROP,))
    assert (exceeded.exit_code, list_states(exceeded)) == (1, [ExemptionState.EXCEEDED])
    assert "more than the 0.300 that is accepted until 2026-12-31" in exceeded.verdict.failed[0].value
    slightly = gate_result(small, suite(range(0)), accepted=(replace(DROP, at_most=0.24999),))
    assert slightly.exit_code == 0  # the drop that an entry was written for would otherwise be red in every second run
    (held,) = (each.value for each in slightly.verdict.findings if each.evaluator == "accuracy")
    assert "a drop of up to 0.24999 is accepted" in held
    assert held.endswith("and this one isn't certainly larger")


def test_the_limits_of_drops_and_of_slices_follow_the_entry() -> None:
    settings = Settings(max_drop={"*": 0.1}, max_slice_drop={"lang=*": 0.1})

    def spoken(low: range) -> ExampleSuite:
        new = suite(low)
        return replace(new, trials=[replace(each, input={"lang": "fr"}) for each in new.trials])

    failed = gate_result(spoken(range(10)), spoken(range(0)), settings=settings)
    assert {each.rule for each in failed.verdict.failed} == {"drop", "slice drop"}
    accepted = gate_result(spoken(range(10)), spoken(range(0)), settings=settings, accepted=(DROP,))
    assert accepted.exit_code == 0, accepted.verdict.failed
    assert not [each for each in accepted.verdict.findings if each.uncertain]


def test_the_last_day_counts_and_the_day_after_does_not() -> None:
    for until, exit_code, state in (
        (TODAY, 0, ExemptionState.ACCEPTED),
        ("2026-11-22", 1, ExemptionState.EXPIRED),
    ):
        result = gate_result(suite(range(10)), suite(range(0)), accepted=(replace(DROP, until=until),))
        assert (result.exit_code, list_states(result)) == (exit_code, [state])
    assert "expired on 2026-11-22" in "".join(markdown.render(view_of(result)))
    brief = StringIO()
    Console(width=200, file=brief).print(*console.render_brief(view_of(result)))
    assert "expired on 2026-11-22" in brief.getvalue()


def test_entries_that_match_nothing_are_listed_and_those_not_needed_are_in_the_data() -> None:
    other = replace(DROP, evaluator="accuracies")
    result = gate_result(suite(range(0)), suite(range(0)), accepted=(DROP, other))
    assert list_states(result) == [ExemptionState.UNMATCHED, ExemptionState.NOT_NEEDED]
    assert [each.state for each in entries_of(result) if each.needs_attention] == [ExemptionState.UNMATCHED]
    assert gate_result(suite(range(9)), suite(range(0)), accepted=(other,)).exit_code == 1
    filtered = change_run(make_run(suite(range(0))), filters=("demo",))
    again = judge_with(Exemptions((other,), today=TODAY), filtered, Baseline(None, ""), Settings())
    assert list_states(again) == []


def test_an_entry_changes_no_other_row() -> None:
    criteria = Criteria()
    rows = [compared_row(0.03), compared_row(0.5), compared_row(0.9)]
    without = label_rows(rows, criteria)
    exempt = label_rows([*rows[:2], compared_row(0.9, DROP)], criteria)
    exempt_qs = [each.correction.q for each in exempt]
    assert exempt_qs == [each.correction.q for each in without]  # not 0.06, as if the row were not there
    strong = label_rows([*rows[:2], compared_row(0.0001)], criteria)  # a significant row helps the others
    forgiven = label_rows([*rows[:2], compared_row(0.0001, DROP)], criteria)
    assert strong[0].correction.q == pytest.approx(0.045)
    assert forgiven[0].correction.q == pytest.approx(0.09)
    assert forgiven[2].correction.q == strong[2].correction.q


def test_the_entry_that_accepts_most_covers_a_row() -> None:
    less = replace(DROP, at_most=0.05, suite="d*", until="2027-12-31")
    for entries in ((less, DROP), (DROP, less)):
        assert gate_result(suite(range(10)), suite(range(0)), accepted=entries).exit_code == 0


def critical_case(name: str, score: float) -> Trial:
    return Trial(name, [Score("accuracy", score)], tags=("critical",), name=f"the {name}")


def test_an_entry_for_a_case_accepts_only_that_critical_case() -> None:
    case = AcceptedRegression("demo", "2026-12-31", "known", "ana", case="t[1]", place="a.toml:1")
    settings = Settings(fail_on_critical=True, min_pass_rate=0)
    before = suite(range(0), critical_case("t[1]", 1), critical_case("t2", 1))
    now = suite(range(0), critical_case("t[1]", 0), critical_case("t2", 1))
    assert gate_result(now, before, settings=settings).exit_code == 1
    accepted = gate_result(now, before, settings=settings, accepted=(case,))
    assert (accepted.exit_code, list_states(accepted)) == (0, [ExemptionState.ACCEPTED])
    both = suite(range(0), critical_case("t[1]", 0), critical_case("t2", 0))
    result = gate_result(both, before, settings=settings, accepted=(case,))
    assert [each.value.split(" newly fails")[0] for each in result.verdict.failed] == ["the t2 (t2)"]
    assert list_states(gate_result(before, before, settings=settings, accepted=(case,))) == [ExemptionState.NOT_NEEDED]
    gone = gate_result(suite(range(0)), suite(range(0)), accepted=(case,))
    assert list_states(gone) == [ExemptionState.UNMATCHED]


def flaky_case(score: float | None, **fields: object) -> Trial:
    """A critical case; without a score it has an error."""
    error = ErrorInfo("ValueError", "broken") if score is None else None
    scores = [] if score is None else [Score("accuracy", score)]
    exemptions = Trial(
        "flaky 1", scores, name="a flaky one", tags=("critical", "slow"), error=error, usage=Usage(9, 1, 0, 0.5)
    )
    return replace(exemptions, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("is_younger", [False, True])
def test_cases_in_quarantine_count_on_neither_side(is_younger: bool) -> None:
    settings = Settings(min_pass_rate=1, fail_on_critical=True, max_error_rate=0, max_drop={"*": 0})
    before = suite(range(0), flaky_case(1), threshold=True)
    for score, status in ((0.0, Status.FAILED), (None, Status.ERRORED)):
        now = suite(range(0), flaky_case(score), threshold=True)
        assert gate_result(now, before, settings=settings).exit_code != 0
        result = gate_result(now, before, settings=settings, is_younger=is_younger, quarantined=(FLAKY,))
        assert result.exit_code == 0, result.verdict.failed
        view = view_of(result)
        assert (view.totals.counts.trials, view.totals.flips.newly_failing, view.totals.with_errors) == (40, 0, 0)
        assert view.totals.cost == (None if score is None else 0.5)  # the calls still cost money
        (case,) = quarantined_of(view)
        assert (case.name, case.status, case.base_status, case.stable) == ("a flaky one", str(status), "passed", False)
        assert [each.hash for each in view.trials.read()] == [f"c{at}" for at in range(40)]
        assert view.title.endswith("; 1 case in quarantine")


@pytest.mark.parametrize(
    ("used", "limit", "failed"),
    [
        (Usage(900, 100, model="new"), {"max_tokens": 999}, "tokens"),
        (Usage(900, 100, model="new"), {"max_cost": 1.0}, "cost"),
        (Usage(900, 100, cost=0.1, model="a, new", unpriced="new"), {"max_cost": 1.0}, "cost"),
        (Usage(900, 100, cost=2.0), {"max_cost": 1.0}, "cost"),
    ],
)
def test_calls_of_cases_in_quarantine_count_for_limits_of_the_suite(
    used: Usage, limit: dict[str, float], failed: str
) -> None:
    now = suite(range(0), replace(flaky_case(1), usage=used), Trial("priced", usage=Usage(0, 0, cost=0.1)))
    verdicts = [
        gate_result(now, None, settings=Settings(**limit), quarantined=entries).verdict  # type: ignore[arg-type]
        for entries in ((), (FLAKY,))
    ]
    assert [[each.rule for each in verdict.failed] for verdict in verdicts] == [[failed], [failed]]
    assert verdicts[0].failed == verdicts[1].failed


def test_a_kept_case_in_quarantine_counts_for_limits_and_is_not_paid_again() -> None:
    trials = replace(flaky_case(1), usage=Usage(100, cost=10.0)), Trial("own", usage=Usage(9, cost=1.0))
    run = make_run(suite(range(0), *trials))
    cases = [replace(case, reused="base" if case.hash.startswith("flaky") else None) for case in run.cases]
    (only,) = run.suites
    run = replace(run, suites=(mark_source(only, kept=CarriedFrom("base", "main")),), read=lambda: cases)
    exemptions = Exemptions(quarantined=(FLAKY,), today=TODAY)
    for max_cost, failed in ((10.5, ["cost"]), (11.5, [])):
        result = judge_with(exemptions, run, Baseline(None, ""), Settings(max_cost=max_cost))
        assert [each.rule for each in result.verdict.failed] == failed
        assert (sum_costs(result.comparison.run), sum_tokens(result.comparison.run)) == (1, 9)


def test_stored_answers_of_cases_in_quarantine_are_no_fall_of_the_cost() -> None:
    """The base paid for its case in quarantine, so all of them would look cheaper."""
    dear, free = (replace(flaky_case(1), usage=each) for each in (Usage(9, cost=50.0), Usage(cost=0.0, cached=True)))
    others = suite(range(0))
    now, before = (
        replace(others, trials=[*(replace(each, usage=Usage(9, cost=cost)) for each in others.trials), flaky])
        for cost, flaky in ((2.0, free), (1.0, dear))
    )
    for quarantined in ((), (FLAKY,)):
        result = gate_result(now, before, settings=Settings(max_cost_ratio=1.5), quarantined=quarantined)
        assert [each.rule for each in result.verdict.failed] == ["cost ratio"]


def test_a_case_is_found_by_its_hash_its_name_or_its_tags() -> None:
    before = suite(range(0), flaky_case(1))
    for entry, found in (
        (FLAKY, 1),
        (replace(FLAKY, case="a flaky one"), 1),
        (replace(FLAKY, case="", tags=("sl*",)), 1),
        (replace(FLAKY, tags=("fast",)), 0),
        (replace(FLAKY, suite="other"), 0),
        (replace(FLAKY, until="2026-11-22"), 0),
    ):
        result = gate_result(suite(range(0), flaky_case(1)), before, quarantined=(entry,))
        assert len(result.comparison.quarantined) == found
        if found:
            assert result.comparison.quarantined[0].stable_runs == 2
        else:
            assert list_states(result) in ([ExemptionState.UNMATCHED], [ExemptionState.EXPIRED])


def test_a_damaged_record_of_the_quarantine_weakens_no_gate() -> None:
    base = make_base(suite(range(0), flaky_case(1)))
    run = make_run(suite(range(0), flaky_case(0)))
    exemptions = Exemptions(quarantined=(FLAKY,), today=TODAY)
    damaged = replace(base, slots=Slots({"stable_cases": [{"suite": 3}]}))
    for each, compared in ((record_quarantine(base, exemptions), False), (base, True), (damaged, True)):
        result = judge_with(exemptions, run, Baseline(each, ""), Settings())
        assert [case.is_compared for case in result.comparison.quarantined] == [compared]


def test_stable_runs_of_the_base_count() -> None:
    def count(
        score: float | None, before: Run | None, *, carried: bool = False, reused: str | None = None
    ) -> tuple[Run, QuarantinedView]:
        run = make_run(suite(range(0), flaky_case(score), threshold=True))
        cases = [replace(case, reused=reused) for case in run.cases]
        run = replace(run, read=lambda: cases)
        if carried:
            run = replace(run, suites=tuple(mark_source(each, carried=CarriedFrom("1", "main")) for each in run.suites))
        exemptions = Exemptions(quarantined=(replace(FLAKY, stable_runs=3),), today=TODAY)
        result = judge_with(exemptions, run, Baseline(before, ""), Settings())
        (case,) = quarantined_of(view_of(result))
        return STEP.after_judge(run, result.comparison), case

    first, case = count(1, None)
    assert (case.stable_runs, case.stable, case.stability) == (1, False, "")
    second, _ = count(1, first)
    kept, case = count(1, second, carried=True)
    assert (case.stable_runs, case.stable) == (2, False)  # what a run keeps is no further evidence
    assert count(1, kept, reused="1")[1].stable_runs == 3  # an attempt of the same run measured it
    third, case = count(1, kept)
    assert (case.stable_runs, case.stability) == (
        3,
        "passed 3 runs in a row, so it can leave the quarantine: it fails in at most 63.2% of runs (95% confidence)",
    )
    failed, case = count(0, third)
    assert (case.stable_runs, case.stable, stable_cases_of(failed)) == (0, False, (StableCase("demo", "flaky 1", 0),))
    assert count(None, third)[1].stable_runs == 0
    assert count(1, failed)[1].stable_runs == 1


def test_a_case_that_often_fails_is_rarely_called_stable() -> None:
    """A case that fails in a fifth of its runs passed five runs in a row within 20 runs with a probability of 92 %."""
    assert [round(bound_failure_rate(passes), 3) for passes in (1, 5, STABLE_RUNS)] == [0.95, 0.451, 0.113]
    assert chance_of_passes(5, 0.2, runs=20) == pytest.approx(0.920, abs=0.001)
    assert chance_of_passes(STABLE_RUNS, 0.2, runs=20) == 0
    assert chance_of_passes(STABLE_RUNS, 0.2, runs=100) < 0.061
    assert chance_of_passes(STABLE_RUNS, 0.02, runs=50) > 0.9


def chance_of_passes(most: int, failure_rate: float, *, runs: int) -> float:
    """The chance that a case passes so many runs in a row."""
    by_streak, reached = [1.0] + [0.0] * (most - 1), 0.0
    for _ in range(runs):
        reached += by_streak[-1] * (1 - failure_rate)
        passed = [chance * (1 - failure_rate) for chance in by_streak[:-1]]
        by_streak = [sum(by_streak) * failure_rate, *passed]
    return reached


def test_a_case_whose_entry_is_younger_than_the_base_stays_in_the_comparison() -> None:
    before, now = (suite(range(0), flaky_case(score), threshold=True) for score in (1, 0))
    settings = Settings(min_pass_rate=1, fail_on_critical=True)
    result = gate_result(now, before, settings=settings, is_younger=True, quarantined=(FLAKY,))
    assert result.exit_code == 0, result.verdict.failed
    view, (row, _) = view_of(result), result.comparison.rows
    assert (row.pairs.n, row.pairs.worse) == (41, 1)
    assert (view.totals.counts.trials, view.totals.flips.newly_failing, view.totals.change.delta) == (40, 0, None)
    (sentence,) = (each for each in view.notices if "in quarantine" in each)
    assert sentence.startswith(
        "demo: the comparison of scores still counts 1 case in quarantine. The baseline may have"
    )
    comment = "".join(markdown.render(view))
    assert "<b>1 case in quarantine</b>, left out of the gates, but gates that compare scores still count it" in (
        comment
    )
    assert result_json.to_data(view)["quarantined"][0]["compared"] is True
    older = gate_result(now, before, settings=settings, quarantined=(FLAKY,))
    view, (row, _) = view_of(older), older.comparison.rows
    assert (row.pairs.n, row.pairs.worse, view.totals.change.delta) == (40, 0, 0)
    assert not [each for each in view.notices if "in quarantine" in each]


def test_an_entry_that_is_younger_than_the_base_hides_no_regression() -> None:
    """Ten cases fall. Whoever puts them into quarantine in the pull request can't make the comparison green."""
    entry = replace(FLAKY, case="c?")
    for is_younger, exit_code in ((True, 1), (False, 0)):
        result = gate_result(suite(range(10)), suite(range(0)), is_younger=is_younger, quarantined=(entry,))
        assert result.exit_code == exit_code
    alone = gate_result(suite(range(10)), None, quarantined=(entry,))
    assert not [each for each in alone.comparison.quarantined if each.is_compared]


def test_runs_record_the_cases_that_were_in_quarantine_when_they_were_measured() -> None:
    exemptions = Exemptions(quarantined=(FLAKY,), today=TODAY)
    (known,) = stable_cases_of(record_quarantine(make_base(suite(range(0), flaky_case(1))), exemptions))
    assert known == StableCase("demo", "flaky 1", 1)
    repeated = suite(range(0), flaky_case(1), flaky_case(0, repeat=1))
    assert stable_cases_of(record_quarantine(make_base(repeated), exemptions)) == (StableCase("demo", "flaky 1", 0),)
    # What a run keeps of a base that was measured before the entry is not recorded.
    run, base = make_run(suite(range(0), flaky_case(1))), make_base(suite(range(0), flaky_case(1)))
    kept = replace(run, suites=tuple(mark_source(each, carried=CarriedFrom("1", "main")) for each in run.suites))
    for now, before, recorded in ((kept, base, 0), (kept, record_quarantine(base, exemptions), 1), (run, base, 1)):
        assert len(list_stable_cases(leave_out_quarantine(now, before, (), exemptions).cases)) == recorded


def test_runs_of_the_base_from_before_the_entry_are_no_evidence() -> None:
    exemptions = Exemptions(quarantined=(FLAKY,), today=TODAY)
    run, old = make_run(suite(range(0), flaky_case(1))), make_base(suite(range(0), flaky_case(1)))
    base, without = record_quarantine(old, exemptions), make_base(suite(range(0)))
    earlier = (replace(old, id="old"), replace(base, id="new"), replace(without, id="without the case"))
    sides = leave_out_quarantine(run, base, earlier, exemptions, earlier=earlier)
    assert sides.earlier is not None
    for runs in (sides.pool, sides.earlier):
        assert [each.id for each in runs] == ["new", "without the case"]
        assert {len(each.suites[0].columns) for each in runs} == {40}


def test_the_base_decides_about_the_cases_that_it_has() -> None:
    now = suite(range(1), flaky_case(0, name="a stable one", hash="x"))
    now = replace(now, trials=[replace(now.trials[0], tags=("slow",)), *now.trials[1:]])
    entry = replace(FLAKY, case="", tags=("slow",))
    for base_decides, left_out in ((True, ["x"]), (False, ["c0", "x"])):
        result = gate_result(now, suite(range(0)), quarantined=(entry,), base_decides=base_decides)
        assert [each.case for each in result.comparison.quarantined] == left_out
    new, base = suite(range(0), flaky_case(0, tags=(), name="x")), suite(range(0), flaky_case(1))
    kept = gate_result(new, base, quarantined=(entry,), base_decides=True)
    assert [each.case for each in kept.comparison.quarantined] == ["flaky 1"]


def test_the_cases_that_stop_no_run_are_those_that_no_gate_counts() -> None:
    entries = (replace(FLAKY, case="", tags=("slow",)), replace(FLAKY, suite="demo (evals/a.py)", case="c1"))
    tagged = suite(range(1), flaky_case(0, name="a stable one", hash="x", tags=("slow",)))
    tagged = replace(tagged, trials=[replace(tagged.trials[0], tags=("slow",)), *tagged.trials[1:]])
    renamed = suite(range(1), flaky_case(0, name="a stable one", hash="x", tags=()))
    for base_decides in (True, False):
        exemptions = Exemptions(quarantined=entries, today=TODAY, base_decides=base_decides)
        for now, base in ((tagged, renamed), (renamed, tagged), (tagged, suite(range(0))), (tagged, None)):
            run = make_run(now)
            run = replace(run, suites=(replace(run.suites[0], script="evals/a.py", label="demo"),))
            stored = None if base is None else make_base(base)
            quarantine = Quarantine(exemptions, stored)
            covered = {case.hash for case in run.cases if quarantine.covers(run.suites[0], case)}
            same_files = replace(run, suites=(replace(run.suites[0], label="demo (evals/a.py)"),))
            sides = leave_out_quarantine(same_files, stored, (), exemptions)
            assert covered == {each.case for each in sides.cases if each.statuses}


def test_a_suite_without_any_other_case_is_unmeasurable() -> None:
    everything = replace(FLAKY, case="*")
    result = gate_result(suite(range(0)), suite(range(0)), quarantined=(everything,))
    assert result.exit_code == 3
    assert "every case of the suite is quarantined" in [each.value for each in result.verdict.failed]


def test_assertions_broken_only_in_quarantine_pass() -> None:
    for low, exit_code in ((range(0), 0), (range(1), 1)):
        run = make_run(suite(low, flaky_case(0), threshold=True))
        run = replace(run, suites=(replace(run.suites[0], assertion_failed=True),))
        exemptions = Exemptions(quarantined=(FLAKY,), today=TODAY)
        settings = Settings(min_pass_rate=0)
        assert judge_with(exemptions, run, Baseline(None, ""), settings).exit_code == exit_code


def test_every_report_has_both() -> None:
    result = gate_result(
        suite(range(10), flaky_case(0)), suite(range(0), flaky_case(1)), accepted=(DROP,), quarantined=(FLAKY,)
    )  # fmt: skip
    view = view_of(result)
    comment, page, xml = ("".join(each.render(view)) for each in (markdown, html, junit))
    assert "🔸 **Accepted regression**: <code>demo</code> · <code>accuracy</code>: −0.250" in comment
    assert "<b>1 case in quarantine</b>, left out of every gate" in comment
    assert "passed → failed" in comment
    for text in ("Accepted regression", "1 case in quarantine", "the clock", "q.toml:1"):
        assert text in page
    (demo,) = (line for line in xml.splitlines() if line.startswith("<testsuite ") and 'name="demo"' in line)
    assert 'tests="41"' in demo
    assert 'failures="0"' in demo
    assert 'skipped="1"' in demo
    assert '<skipped type="skipped" message="in quarantine until 2026-12-31, owner bo: the clock">' in xml
    data = result_json.to_data(view)
    assert data["exemptions"][0]["state"] == "accepted"
    assert data["quarantined"][0]["status"] == "failed"
    assert {row["evaluator"]: row["state"] for row in data["rows"]} == {"accuracy": "accepted", "tone": "held"}


def test_no_text_of_an_entry_changes_the_format_of_a_report() -> None:
    for text in (each[:500] for each in HOSTILE if each.strip()):
        drop = replace(DROP, by=text, reason=text, issue=text, place=text)
        flaky_cases = replace(FLAKY, owner=text, reason=text, place=text)
        expired = replace(drop, suite=text, evaluator=text, until="2026-11-22")
        result = gate_result(
            *(suite(range(10), flaky_case(0, name=text)), suite(range(0), flaky_case(1, name=text))),
            accepted=(drop, expired),
            quarantined=(flaky_cases, replace(flaky_cases, case=text, tags=(text,))),
        )
        view = view_of(result)
        comment, page = "".join(markdown.render(view)), "".join(html.render(view))
        assert comment.count("<!--") == 1
        assert comment.count("<details>") == comment.count("</details>")
        assert not {"<img", "<h1>out", "javascript:alert(1))"} & set(comment.split())
        assert "<img src=x" not in page
        assert fromstring("".join(junit.render(view))).tag == "testsuites"
        "".join(result_json.render(view)).encode()
        lines = console_text(view)
        assert "\x1b" not in lines
        assert "1 case in quarantine" in lines


def console_text(view: ReportView) -> str:
    with Console(file=StringIO(), width=100) as screen, screen.capture() as printed:
        for part in console.render(view):
            screen.print(part)
    return printed.get()


def test_the_terminal_lists_both() -> None:
    result = gate_result(
        suite(range(10), flaky_case(0)), suite(range(0), flaky_case(1)), accepted=(DROP,), quarantined=(FLAKY,)
    )
    text = " ".join(console_text(view_of(result)).split())
    assert "≈ Accepted regression: demo · accuracy: −0.250" in text
    assert "1 case in quarantine, left out of every gate:" in text
    assert "demo · a flaky one: passed → failed until 2026-12-31, owner bo: the clock" in text


def test_the_comment_counts_them_as_changes() -> None:
    drop, quiet = suite(range(10)), suite(range(0))
    for result, wanted in (
        (gate_result(drop, quiet, accepted=(DROP,)), True),
        (gate_result(quiet, quiet, accepted=(DROP,)), False),
        (gate_result(quiet, quiet, accepted=(replace(DROP, until="2026-11-22"),)), True),
        (gate_result(suite(range(0), flaky_case(0)), suite(range(0), flaky_case(1)), quarantined=(FLAKY,)), True),
        (gate_result(suite(range(0), flaky_case(1)), suite(range(0), flaky_case(1)), quarantined=(FLAKY,)), False),
    ):
        assert is_wanted(view_of(result), CommentMode.CHANGES) is wanted
        assert not is_wanted(view_of(result), CommentMode.FAILURES)


def test_an_entry_for_one_variant_leaves_the_others_in_the_gate() -> None:
    """Variants have one id and the same cases."""

    def run(*scores: float) -> Run:
        variants = [suite(range(0), flaky_case(score), threshold=True) for score in scores]
        made = make_run(*(replace(each, id=f"t={at}") for at, each in enumerate(variants)))
        named = (
            replace(each, id="demo", params={"t": at}, label=f"demo [t={at}]") for at, each in enumerate(made.suites)
        )
        return replace(made, suites=tuple(named))

    entry = replace(FLAKY, suite="demo*t=1*")
    exemptions, settings = Exemptions(quarantined=(entry,), today=TODAY), Settings(min_pass_rate=1)
    for now, exit_code in (((1, 0), 0), ((0, 1), 1)):
        result = judge_with(exemptions, run(*now), Baseline(run(1, 1), ""), settings)
        assert [(case.suite, case.case) for case in result.comparison.quarantined] == [("demo [t=1]", "flaky 1")]
        assert [len(each.columns) for each in result.comparison.run.suites] == [41, 40]
        assert result.comparison.base is not None
        assert [len(each.columns) for each in result.comparison.base.suites] == [41, 40]
        assert result.exit_code == exit_code


def test_an_entry_accepts_only_rows_of_its_suites_and_evaluators() -> None:
    suite = SuiteResult("bot", "bot [m=1]")
    row = Row("bot [m=1]", "accuracy", RowLabel.WORSE)
    about = {"until": "2999-12-31", "reason": "new", "by": "ana"}
    for glob, evaluator, case, accepts in (
        ("bot", "accuracy", "", True),
        ("b*", "acc*", "", True),
        ("bot [[]m=1]", "*", "", True),
        ("other", "accuracy", "", False),
        ("bot", "other", "", False),
        ("bot", "", "c1", False),
        ("bot", "accuracy", "c1", False),
    ):
        entry = AcceptedRegression(glob, evaluator=evaluator, case=case, **about)
        assert accepts_row(entry, suite, row) is accepts, entry
