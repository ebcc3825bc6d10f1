"""The result of a suite from its events, its label, and what a run says of itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scoregate.kernel.types.amounts import AtLeast
from scoregate.kernel.types.evaluation import Assertion, Label, Threshold, Usage
from scoregate.kernel.types.event_values import (
    ErrorInfo,
    EvaluatorInfo,
    Fingerprint,
    HumanReviewField,
    HumanReviewFieldContentType,
    ListedTool,
    Origin,
    Setup,
    SuitePart,
)
from scoregate.kernel.types.events import (
    CaseFinished,
    CaseOutput,
    CaseStarted,
    Errored,
    Event,
    Labelled,
    ReviewRequested,
    Scored,
    SuiteFinished,
    SuiteStarted,
    ToolCalled,
)
from scoregate.kernel.types.runs.cases import CaseError, CaseResult, Status
from scoregate.kernel.types.runs.dependencies import CarriedFrom
from scoregate.kernel.types.runs.evidence import TrialRole, list_sources
from scoregate.kernel.types.runs.policy import Criteria, EvaluatorCriteria, Limits, Policy
from scoregate.kernel.types.runs.reducer import RunReducer, SuiteReducer
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, Script, SuiteResult, sum_costs, sum_tokens
from scoregate.kernel.types.runs.run_scope import RunScope, RunShard
from scoregate.kernel.types.runs.suite_labels import label_suites, suite_label

OF_CASE: dict[str, Any] = {"suite": "s", "case": "c"}
ERROR = ErrorInfo("E", "m")


def reduce(*events: Event, **fields: Any) -> tuple[SuiteResult, list[CaseResult]]:
    reducer = SuiteReducer(3, "s", **fields)
    cases = [case for event in events if (case := reducer.apply(event)) is not None]
    cases += reducer.close()
    return reducer.result("label"), cases


def reduce_case(*events: Event, **fields: Any) -> CaseResult:
    _, (case,) = reduce(*events, CaseFinished(**OF_CASE), **fields)
    return case


def test_a_suite_has_what_its_first_and_last_event_say() -> None:
    part, tool = SuitePart((1,), 2, 3, "d"), ListedTool("s", "t")
    setup, origin = Setup("e"), Origin("f.py", 7)
    started = SuiteStarted(
        suite="s",
        origin=origin,
        evaluators=(EvaluatorInfo("e"),),
        cases=1,
        params={"a": 1},
        sdk="x 1",
        setup=setup,
        part=part,
    )
    finished = SuiteFinished(suite="s", duration_s=2.5, assertion_failed=True, usage=Usage(1), tools=(tool,))
    suite, (case,) = reduce(started, CaseFinished(**OF_CASE), finished, script="f.py", counted=Usage(2))
    assert (suite.id, suite.label, suite.script, suite.origin, suite.planned) == ("s", "label", "f.py", origin, 1)
    assert (suite.params, suite.sdk, suite.setup, suite.part, suite.tools) == ({"a": 1}, "x 1", setup, part, (tool,))
    assert (suite.duration_s, suite.assertion_failed, suite.complete, suite.unfinished) == (2.5, True, True, 0)
    assert (suite.usage and suite.usage.input_tokens, list(suite.evaluators)) == (3, ["e"])
    assert case.suite == 3
    bare, _ = reduce()
    assert (bare.origin, bare.planned, bare.params, bare.sdk, bare.setup, bare.part) == (None,) * 6
    assert (bare.duration_s, bare.assertion_failed, bare.complete, bare.usage, bare.tools) == (
        None,
        False,
        False,
        None,
        (),
    )
    assert not reduce(started, finished)[0].complete
    assert reduce(replace(started, cases=None), finished)[0].complete


def test_a_case_has_what_its_events_say() -> None:
    field = HumanReviewField("i", "v", HumanReviewFieldContentType.TEXT)
    start = CaseStarted(
        **OF_CASE, name="n", input=1, digest="d", tags=("t",), cluster="k", origin=Origin("f", 1), reused="r",
        dataset_item_id="i", review_inputs=(field,),
    )  # fmt: skip
    output = CaseOutput(
        **OF_CASE,
        output=2,
        duration_ms=3.0,
        attempts=4,
        usage=Usage(5),
        truncated=True,
        review_outputs=(field,),
        trace={"a": 6},
    )
    case = reduce_case(start, output)
    assert (case.name, case.input, case.digest, case.tags, case.cluster) == ("n", 1, "d", ("t",), "k")
    assert (case.origin, case.reused, case.dataset_item_id) == (Origin("f", 1), "r", "i")
    assert (case.review_inputs, case.review_outputs) == ((field,), (field,))
    assert (case.output, case.duration_ms, case.attempts, case.usage) == (2, 3.0, 4, Usage(5))
    assert (case.truncated, case.trace) == (True, {"a": 6})
    assert reduce_case(CaseStarted(**OF_CASE)).name == "c"
    assert reduce_case(output, CaseOutput(**OF_CASE)).trace == {"a": 6}


def test_calls_of_tools_are_steps_in_seconds() -> None:
    call = ToolCalled(**OF_CASE, name="t", arguments={"a": 1}, result=2, duration_ms=500, tokens=3, agent="h")
    failed = ToolCalled(**OF_CASE, name="u", error="off")
    assert reduce_case(call, failed).trace["steps"] == [
        {"tool": "t", "arguments": {"a": 1}, "result": 2, "duration_s": 0.5, "tokens": 3, "agent": "h"},
        {"tool": "u", "arguments": {}, "error": "off"},
    ]


def test_results_keep_their_details() -> None:
    assertion = Assertion("a", True, True)
    scored = Scored(
        **OF_CASE,
        evaluator="e",
        score=0.5,
        threshold=Threshold(gte=0.5),
        metadata={"m": 1},
        assertions=(assertion,),
        usage=Usage(1),
    )
    labelled = Labelled(**OF_CASE, evaluator="l", label="x", metadata={"m": 2}, usage=Usage(2))
    case = reduce_case(scored, labelled)
    evaluation = case.evaluations["e"]
    assert (evaluation.score, evaluation.threshold, evaluation.metadata) == (0.5, Threshold(gte=0.5), {"m": 1})
    assert (evaluation.assertions, evaluation.usage) == ((assertion,), Usage(1))
    assert case.labels == {"l": Label("x", {"m": 2}, Usage(2))}
    for name in ("metadata", "assertions", "usage"):
        absent: dict[str, Any] = {other: None for other in ("metadata", "assertions", "usage") if other != name}
        one = reduce_case(replace(scored, **absent))
        assert getattr(one.evaluations["e"], name) == getattr(evaluation, name)


def test_evaluations_are_sorted_by_name() -> None:
    scores = [Scored(**OF_CASE, evaluator=name, score=1.0) for name in ("e 10", "e 2", "a")]
    assert list(reduce_case(*scores).evaluations) == ["a", "e 2", "e 10"]
    assert list(reduce_case(*scores[::-1]).evaluations) == ["a", "e 2", "e 10"]


def test_a_result_that_comes_twice_is_an_error_with_its_usage() -> None:
    first = Labelled(**OF_CASE, evaluator="e", label="x")
    again = Scored(**OF_CASE, evaluator="e", score=1.0, usage=Usage(5))
    case = reduce_case(first, again)
    assert [(error.error.type, error.evaluator, error.usage) for error in case.errors] == [
        ("EvaluatedTwice", "e", Usage(5))
    ]
    assert case.evaluations == {}


def test_errors_belong_to_a_case_or_to_the_suite() -> None:
    of_case = Errored(**OF_CASE, stage="evaluator", evaluator="e", error=ERROR, usage=Usage(1), trace={"a": 1})
    assert reduce_case(of_case).errors == [CaseError(ERROR, "e", Usage(1))]
    assert reduce_case(of_case).trace == {"a": 1}
    assert reduce_case(CaseOutput(**OF_CASE, trace={"b": 2}), of_case).trace == {"b": 2}
    for event in (Errored(suite="s", stage="task", error=ERROR), Errored(**OF_CASE, stage="suite", error=ERROR)):
        suite, cases = reduce(event)
        assert (suite.errors, cases) == ((ERROR,), [])


def test_reviews_are_of_a_case_or_of_the_suite() -> None:
    suite, (case,) = reduce(
        ReviewRequested(suite="s", name="look"),
        ReviewRequested(**OF_CASE, name="first", evaluator="human"),
        ReviewRequested(**OF_CASE, name="second"),
    )
    assert (suite.reviews, case.pending, case.contests) == (("look",), ("human", "second"), {})


def test_a_trial_is_known_by_case_and_repeat() -> None:
    reducer = SuiteReducer(0, "s")
    reducer.apply(CaseStarted(**OF_CASE, repeat=1))
    reducer.apply(CaseFinished(**OF_CASE))
    assert [reducer.has_trial("c", repeat) for repeat in (0, 1, 2)] == [True, True, False]
    reducer.apply(CaseFinished(**OF_CASE))
    reducer.apply(Scored(**OF_CASE, evaluator="e", score=1.0))
    assert len(reducer.errors) == 1
    assert reducer.errors[0].advice == "Give each trial its own hash and repeat."
    assert reducer.repeated is not None
    assert len(list(reducer.close())) == 1
    assert type(reducer.columns.hashes) is list


def test_verdicts_of_imported_suites_are_bools() -> None:
    scores = [Scored(**OF_CASE, evaluator="e", score=True)]
    imported, (case,) = reduce(SuiteStarted(suite="s", setup=Setup("e")), *scores, CaseFinished(**OF_CASE))
    assert case.evaluations["e"].score == 1.0
    assert not case.errors
    _, (case,) = reduce(SuiteStarted(suite="s"), *scores, CaseFinished(**OF_CASE))
    assert case.errors[0].error.type == "TypeError"
    assert imported.evaluators["e"].scale is None


def test_clusters_are_found_by_the_setting_of_their_suite() -> None:
    policy = Policy(suites={"s": Limits(cluster="document")})
    known = CaseStarted(**OF_CASE, input={"document": "a"}, cluster="own")
    unknown = replace(known, input={})
    assert reduce_case(known, policy=policy).cluster == "a"
    assert reduce_case(unknown, policy=policy).cluster == "own"
    assert reduce_case(known).cluster == "own"


def test_undeclared_evaluators_and_parts_are_described() -> None:
    mark = Fingerprint(source="a")
    declared = (EvaluatorInfo("e", mark, higher_is_better=False), EvaluatorInfo("f", mark))
    scores = [Scored(**OF_CASE, evaluator=name, score=1.0) for name in ("f", "e.part", "other", "f.x")]
    labels = [Labelled(**OF_CASE, evaluator="lab", label="x")]
    own, _ = reduce(
        SuiteStarted(suite="s", sdk="scoregate 1", evaluators=declared), *scores, *labels, CaseFinished(**OF_CASE)
    )
    assert list(own.evaluators) == ["e.part", "f", "f.x", "lab", "other"]
    assert own.evaluators["e.part"] == EvaluatorInfo("e.part", mark, higher_is_better=False)
    assert own.evaluators["other"] == EvaluatorInfo("other")
    foreign, _ = reduce(SuiteStarted(suite="s", sdk="other 1", evaluators=declared), *scores, CaseFinished(**OF_CASE))
    assert list(foreign.evaluators) == ["e", "e.part", "f", "f.x", "other"]
    assert foreign.evaluators["e.part"] == EvaluatorInfo("e.part")


def test_a_reducer_of_a_policy_applies_it() -> None:
    rules = Criteria(evaluators={"e": EvaluatorCriteria(scale=(0, 5))})
    reducer = RunReducer.for_policy(Policy(Limits(cluster="k"), criteria=rules))
    reducer.apply("log", "f.py", CaseStarted(**OF_CASE, input={"k": "x"}))
    reducer.apply("log", "f.py", Scored(**OF_CASE, evaluator="e", score=4))
    (case,) = list(reducer.close())
    assert (case.cluster, case.evaluations["e"].score) == ("x", 0.8)
    reducer.find_suite("log", None, "t")
    assert [suite.index for suite in reducer.suites.values()] == [0, 1]
    assert [suite.label for suite in reducer.results()] == ["s", "t"]


def test_a_suite_passes_with_results_and_without_failures() -> None:
    scored: Any = Scored(**OF_CASE, evaluator="e", score=1.0, threshold=Threshold(gte=1))
    good: list[Event] = [
        Scored(**OF_CASE, evaluator="e", score=1.0, threshold=Threshold(gte=1)),
        CaseFinished(**OF_CASE),
    ]
    end = SuiteFinished(suite="s")
    suite, _ = reduce(*good, end)
    assert (suite.passed, suite.evaluations, suite.pending) == (True, 1, 0)
    for events in (
        [CaseFinished(**OF_CASE), end],
        [*good],
        [*good, Errored(suite="s", stage="suite", error=ERROR), end],
        [Errored(**OF_CASE, stage="task", error=ERROR), *good, end],
        [replace(scored, score=0.5), good[1], end],
        [SuiteStarted(suite="s", cases=0), end],
    ):
        assert not reduce(*events)[0].passed
    assert reduce(Labelled(**OF_CASE, evaluator="e", label="x"), CaseFinished(**OF_CASE), end)[0].evaluations == 1
    assert reduce(ReviewRequested(suite="s", name="look"), end)[0].passed
    part = SuiteStarted(suite="s", cases=0, part=SuitePart((1,), 2, 1, "d"))
    assert reduce(part, end)[0].passed
    assert not reduce(replace(part, cases=None), end)[0].passed
    assert SuiteResult("s", "s", skipped=True).passed


def carried(suite: SuiteResult) -> SuiteResult:
    """The suite with the results of the base's run, which cost nothing again."""
    sources = list_sources(carried=CarriedFrom("b", "main"))
    return replace(suite, trials=replace(suite.trials, sources=sources))


def test_a_suite_sums_its_costs_and_selects_rows() -> None:
    events: list[Event] = []
    for case, cost in (("a", 0.5), ("b", None)):
        key: dict[str, Any] = {"suite": "s", "case": case}
        events += [CaseOutput(**key, usage=Usage(1, 2, cost=cost, model="m")), CaseFinished(**key)]
    suite, _ = reduce(*events, SuiteFinished(suite="s", usage=Usage(4, cost=1.0)))
    assert isinstance(suite.cost, AtLeast)
    assert (suite.cost.value, suite.tokens) == (1.5, 10.0)
    run = make_run(suites=(suite, carried(suite)))
    assert (sum_costs(run), sum_tokens(run)) == (1.5, 10.0)
    assert (sum_costs(make_run()), sum_tokens(make_run())) == (None, None)
    assert list(suite.without_rows([0]).columns.hashes) == ["b"]
    assert suite.without_rows([]) is suite
    assert [suite.columns.status(row) for row in range(2)] == [Status.UNSCORED] * 2


def make_run(**fields: Any) -> Run:
    return Run("id", 0, RunEnd(1.0, complete=True), fields.pop("code", RunCode("1")), **fields)


def test_a_run_is_named_by_branch_and_commit() -> None:
    for code, name in (
        (RunCode("1", commit="0123456789", branch="main"), "main@0123456"),
        (RunCode("1", commit="0123456789"), "0123456"),
        (RunCode("1", branch="main"), "id"),
    ):
        assert make_run(code=code).name == name


@pytest.mark.parametrize(
    ("scope", "is_whole"),
    [
        (RunScope(), True),
        (RunScope(filters=("a",), file_filters=("a",)), True),
        (RunScope(filters=("a",)), False),
        (RunScope(narrowed=True), False),
        (RunScope(selection="-k a"), False),
        (RunScope(shard=RunShard("p", 1, 2, "i")), False),
        (RunScope(skipped=("a",), left_out=("b",)), True),
    ],
)
def test_a_run_is_whole_if_nothing_was_left_out(scope: RunScope, is_whole: bool) -> None:
    run = make_run(scope=scope)
    assert (run.is_unselected, run.has_all_results) == (is_whole, is_whole)
    failed = replace(run, scripts=(Script("a"), Script("b", error=ERROR)))
    assert (failed.is_unselected, failed.has_all_results) == (is_whole, False)
    assert not replace(run, end=RunEnd(1.0)).is_unselected


def test_a_run_is_changed_by_copies() -> None:
    run = make_run(notices=("a",))
    assert run.add_notices("b").notices == ("a", "b")
    interrupted = run.interrupt("b")
    assert (interrupted.end.complete, interrupted.notices, run.end.complete) == (False, ("a", "b"), True)
    shard = RunShard("p", 1, 2, "i")
    assert run.with_shard(shard).scope.shard == shard
    with_one = run.add_companion(TrialRole.EXTRA, make_run()).add_companion(TrialRole.EXTRA, make_run(notices=("c",)))
    assert [each.notices for each in with_one.companions_of(TrialRole.EXTRA)] == [(), ("c",)]
    assert with_one.companions_of(TrialRole.CONTROL) == ()
    changed = with_one.change_companions(lambda each: each.add_notices("d"))
    assert [each.notices for each in changed[TrialRole.EXTRA]] == [("d",), ("c", "d")]
    assert list(run.cases) == []


@pytest.mark.parametrize(
    ("suites", "labels"),
    [
        ([("s", None, "a.py"), ("t", {"a": 1, "target": "x"}, "a.py")], ["s", "t [a=1]"]),
        ([("s", {"target": "x"}, "a.py"), ("s", {"target": "y"}, "a.py")], ["s [target=x]", "s [target=y]"]),
        ([("s", {"target": "x"}, "a.py"), ("s", {"target": "y"}, "b.py")], ["s (a.py)", "s (b.py)"]),
        ([("s", None, "a.py"), ("s", None, "a.py"), ("s", None, "a.py")], ["s", "s #2", "s #3"]),
        ([("s", None, "a.py"), ("s #2", None, "a.py"), ("s", None, "a.py")], ["s", "s #2", "s #3"]),
        ([("s", None, None), ("s", None, "a.py")], ["s (o.py)", "s (a.py)"]),
    ],
)
def test_labels_of_suites_are_unique(suites: list[tuple[str, Any, str | None]], labels: list[str]) -> None:
    made = [SuiteResult(name, "", Origin("o.py", 1), script, params=params) for name, params, script in suites]
    assert label_suites(made) == labels


def test_a_suite_without_a_file_has_a_question_mark() -> None:
    assert label_suites([SuiteResult("s", ""), SuiteResult("s", "", script="a.py")]) == ["s (?)", "s (a.py)"]
    assert suite_label("s", {"target": "x", "a": 1}, shows_target=True) == "s [target=x, a=1]"
    assert suite_label("s", {}) == suite_label("s", None) == "s"
