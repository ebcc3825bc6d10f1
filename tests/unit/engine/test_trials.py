"""Trials: their order, and what the log has of the results of evaluators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scoregate.engine.baseline_outputs import current_trial, recorded_baseline
from scoregate.engine.event_log import EventLog
from scoregate.engine.results import make_result
from scoregate.engine.trial import (
    CURRENT,
    Trial,
    emit_case_started,
    emit_result,
    enter_trial,
    iterate_trials,
    record_tools,
    report_budget_stop,
    serialize_output,
    set_partial_output,
)
from scoregate.errors import InvalidSuite
from scoregate.kernel.types.evaluation import Evaluation, Label, Scores, Threshold, Usage
from scoregate.kernel.types.event_values import ListedTool, Origin, Pending
from scoregate.kernel.types.json_io import dump
from scoregate.kernel.types.runs.baseline_outputs import BASELINE_OUTPUTS_VARIABLE, battle_key
from scoregate.kernel.types.suite import Case, Description, Suite
from scoregate.kernel.types.usage import METER, UsageMeter

SPENT = Usage(10, 5, cost=0.25, model="m", answer="one")


def make_trial(log: EventLog | None = None, **params: Any) -> Trial:
    log = EventLog("demo", None) if log is None else log
    trial = Trial(Case("a", "A"), 0, log, params or None)
    emit_case_started(log, trial.key, Description("name", "A"))
    log.emit("case_output", output="nine", **trial.key)
    return trial


def finish(trial: Trial) -> Any:
    """The recorded case."""
    trial.log.emit("case_finished", unscored=trial.unscored, **trial.key)
    (case,) = make_result([trial.log]).cases
    return case


def use_model(meter: UsageMeter, usage: Usage = SPENT) -> UsageMeter:
    meter.add(usage)
    return meter


def test_all_cases_run_once_before_any_runs_again() -> None:
    suite = Suite(
        "demo", [Case("a", 1, repeats=2), Case("b", 2), Case("c", 3, repeats=3)], str, lambda _: Description("", 1), str
    )
    logs = [EventLog("demo", None)]
    order = [(trial.case.hash, trial.repeat) for trial in iterate_trials(suite, logs)]
    assert order == [("a", 0), ("b", 0), ("c", 0), ("a", 1), ("c", 1), ("c", 2)]
    left = iterate_trials(suite, logs, is_done=lambda trial: trial.case.hash != "b")
    assert [(trial.case.hash, trial.repeat) for trial in left] == [("b", 0)]
    assert list(iterate_trials(Suite("none", [], str, lambda _: Description("", 1), str), logs)) == []


def test_an_evaluation_has_the_fields_that_are_set() -> None:
    trial = make_trial()
    evaluation = Evaluation(0.5, Threshold(gte=1), {"why": "late"})
    emit_result(trial, "e", evaluation, UsageMeter())
    emit_result(trial, "plain", Evaluation(1.0), UsageMeter())
    case = finish(trial)
    assert (case.evaluations["e"], case.evaluations["plain"]) == (evaluation, Evaluation(1.0))


def test_the_log_names_only_what_is_known() -> None:
    """Most events have no usage, no threshold and no metadata: a log of a million has no room for them."""
    trial = make_trial()
    emit_result(trial, "e", Evaluation(1.0), UsageMeter())
    emit_result(trial, "broken", ValueError("no"), UsageMeter())
    text = b"".join(trial.log.lines())
    for field in (b"usage", b"threshold", b"metadata", b"origin", b"reused", b"dataset_item_id", b"review_inputs"):
        assert b'"%s"' % field not in text


def test_an_evaluator_without_a_result_is_named() -> None:
    trial = make_trial()
    for name in ("e", "f"):
        emit_result(trial, name, None, UsageMeter())
    assert finish(trial).unscored == ("e", "f")


def test_a_label_an_error_and_a_review_are_results() -> None:
    trial = make_trial()
    emit_result(trial, "tone", Label("kind", {"why": "thanks"}), use_model(UsageMeter()))
    emit_result(trial, "broken", ValueError("no"), use_model(UsageMeter()))
    emit_result(trial, "people", Pending("Is it polite?"), UsageMeter())
    case = finish(trial)
    assert (case.labels["tone"].label, case.labels["tone"].metadata, case.labels["tone"].usage) == (
        "kind", {"why": "thanks"}, SPENT,
    )  # fmt: skip
    ((name, error),) = [(each.evaluator, each.error) for each in case.errors]
    assert (name, error.type, error.message) == ("broken", "ValueError", "no")
    assert make_result([trial.log]).pending == 1


def test_another_result_is_an_error_of_its_author() -> None:
    for result, shown in ((0.5, "float: 0.5"), ("x" * 300, f"str: '{'x' * 199}")):
        with pytest.raises(TypeError, match="must return an Evaluation or None, not ") as raised:
            emit_result(make_trial(), "e", result, UsageMeter())
        assert str(raised.value).endswith(shown)


def test_usage_that_a_result_states_counts_once() -> None:
    """An evaluator may state the usage that the client counted for the suite, in another thread."""
    for meter, left in ((UsageMeter(), None), (use_model(UsageMeter()), SPENT)):
        log = EventLog("demo", None, unattributed := UsageMeter())
        unattributed.add(SPENT)
        trial = make_trial(log)
        emit_result(trial, "e", Evaluation(1.0, usage=SPENT), meter)
        assert finish(trial).evaluations["e"].usage == SPENT
        assert unattributed.take() == left


def test_the_first_part_has_the_usage_and_others_its_answer() -> None:
    trial = make_trial()
    own = Usage(1, model="other")
    parts = Scores({"none": None, "first": Evaluation(1.0), "own": Evaluation(0.5, usage=own), "last": Label("kind")})
    emit_result(trial, "e", parts, use_model(UsageMeter()))
    case = finish(trial)
    assert case.unscored == ("e.none",)
    assert case.evaluations["e.first"].usage == SPENT
    assert case.evaluations["e.own"].usage == own
    assert case.labels["e.last"].usage == Usage(model="m", answer="one", calls=0)


def test_the_current_trial_keeps_what_the_function_has_so_far() -> None:
    set_partial_output("lost")  # no trial runs
    trial, meter = make_trial(), UsageMeter()
    tokens = CURRENT.set(None), METER.set(None)
    try:
        enter_trial(trial, meter)
        set_partial_output("so far")
        tools = [ListedTool("server", "search"), ListedTool("server", "open")]
        record_tools(tools)
        record_tools(tools[:1])
        assert (trial.output, list(trial.log.tools)) == ("so far", tools)
        assert (current_trial(), METER.get()) == (trial, meter)
    finally:
        CURRENT.reset(tokens[0])
        METER.reset(tokens[1])
    with pytest.raises(InvalidSuite, match="needs the suite that it is a part of"):
        current_trial()


def test_a_spent_budget_is_reported_once_for_a_suite() -> None:
    log, meter = EventLog("demo", None), UsageMeter()
    report_budget_stop(log, meter)
    assert make_result([log]).errors == ()
    meter.stop()
    for _ in range(2):
        report_budget_stop(log, meter)
    assert [error.type for error in make_result([log]).errors] == ["BudgetSpent"]


def test_the_start_of_a_case_has_what_is_known() -> None:
    log = EventLog("demo", None)
    description = Description("name", {"q": 1}, "digest", ("t",), "cluster", Origin("d.jsonl", 3), "item")
    emit_case_started(log, {"case": "a", "repeat": 1}, description, reused="earlier")
    (case,) = make_result([log]).cases
    assert (case.name, case.input, case.digest, case.tags, case.cluster) == (
        "name",
        {"q": 1},
        "digest",
        ("t",),
        "cluster",
    )
    assert (case.repeat, case.reused, case.origin, case.dataset_item_id) == (1, "earlier", Origin("d.jsonl", 3), "item")


def test_an_output_is_recorded_in_its_own_form() -> None:
    class Answer:
        def serialize(self) -> dict[str, int]:
            return {"text": 1}

    assert serialize_output(Answer()) == {"text": 1}
    assert serialize_output({"a": 1}) == {"a": 1}
    assert serialize_output(ValueError("no")) == "ValueError: no"
    with pytest.raises(TypeError, match="an output of type list iterator can be read only once; collect its items"):
        serialize_output(iter([1]))


def test_a_battle_reads_the_output_of_its_suite_and_its_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(BASELINE_OUTPUTS_VARIABLE, raising=False)
    assert recorded_baseline(make_trial()) is None
    file = tmp_path / "outputs.jsonl"
    outputs = (["demo", "b", "other case"], ["demo", "a", "eight"], [battle_key("demo", {"k": 2}), "a", "of k"])
    file.write_bytes(b"".join(dump(line) + b"\n" for line in outputs))
    monkeypatch.setenv(BASELINE_OUTPUTS_VARIABLE, str(file))
    assert recorded_baseline(make_trial()) == "eight"
    assert recorded_baseline(make_trial(k=2)) == "of k"
    assert recorded_baseline(make_trial(k=3)) is None
