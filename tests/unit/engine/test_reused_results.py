"""Results of an earlier run that a host offers: which of them count, and what the log has of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scoregate.engine.driver import Front, run_to_end
from scoregate.engine.event_log import EventLog
from scoregate.engine.results import make_result
from scoregate.engine.reuse import Replay
from scoregate.engine.trial import Trial, iterate_trials
from scoregate.kernel.types.event_values import EvaluatorInfo, Fingerprint
from scoregate.kernel.types.json_io import dump
from scoregate.kernel.types.suite import Case, Description, Scorer, Suite

RESULT = {
    "suite": 0,
    "hash": "a",
    "digest": "d-a",
    "tags": ["night"],
    "output": "nine",
    "duration_ms": 12.0,
    "evaluations": {"good": {"score": 0.5}},
    "labels": {"tone": {"label": "kind"}},
    "unscored": ["brief"],
}


def make_scorer(name: str, source: str = "s") -> Scorer:
    return Scorer(EvaluatorInfo(name, Fingerprint(source)), lambda *_: None)


def describe(case: Case) -> Description:
    return Description(f"name-{case.hash}", case.value, digest=f"d-{case.hash}", tags=("night",))


SCORERS = [make_scorer(name) for name in ("good", "tone", "brief")]
SUITE = Suite("demo", [Case("a", "A"), Case("b", "B")], str, describe, str, SCORERS)


class Offer:
    """Writes offers, each to a file of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, *results: dict[str, Any], suites: Sequence[dict[str, Any]] = ()) -> str:
        evaluators = [dump_evaluator(scorer.info) for scorer in SCORERS]
        head = {"run": "earlier", "suites": suites or [{"id": "demo", "params": None, "evaluators": evaluators}]}
        file = self._folder / f"offer-{len(list(self._folder.iterdir()))}.jsonl"
        file.write_bytes(b"".join(dump(line) + b"\n" for line in (head, *results)))
        return str(file)


def dump_evaluator(info: EvaluatorInfo) -> Any:
    return {"id": info.id, "fingerprint": {"source": info.fingerprint and info.fingerprint.source}, "choices": []}


@pytest.fixture
def offer(tmp_path: Path) -> Offer:
    return Offer(tmp_path)


def list_left(file: str, suite: Suite = SUITE) -> list[tuple[str, int]]:
    """The trials that run, as the offer has no valid result of them."""
    logs = [EventLog(suite.id, None) for _ in suite.variants]
    left = iterate_trials(suite, logs, is_done=Replay(suite, file))
    return [(trial.case.hash, trial.repeat) for trial in left]


def test_a_result_that_is_offered_is_not_measured_again(offer: Offer) -> None:
    assert list_left(offer.write(RESULT)) == [("b", 0)]
    assert list_left(offer.write(RESULT, {**RESULT, "hash": "b", "digest": "d-b"})) == []
    assert list_left(offer.write()) == [("a", 0), ("b", 0)]


def test_each_repeat_has_its_own_result(offer: Offer) -> None:
    suite = replace(SUITE, cases=[Case("a", "A", repeats=3)])
    assert list_left(offer.write(RESULT), suite) == [("a", 1), ("a", 2)]
    assert list_left(offer.write({**RESULT, "repeat": 2}), suite) == [("a", 0), ("a", 1)]


def test_the_log_has_what_was_measured(offer: Offer) -> None:
    log = EventLog("demo", None)
    log.emit("suite_started", cases=2, evaluators=tuple(scorer.info for scorer in SCORERS))
    assert Replay(SUITE, offer.write(RESULT))(Trial(SUITE.cases[0], 0, log, None))
    (case,) = make_result([log]).cases
    assert (case.name, case.input, case.output, case.duration_ms) == ("name-a", "A", "nine", 12.0)
    assert (case.reused, case.tags, case.digest) == ("earlier", ("night",), "d-a")
    assert {name: each.score for name, each in case.evaluations.items()} == {"good": 0.5}
    assert {name: each.label for name, each in case.labels.items()} == {"tone": "kind"}
    assert case.unscored == ("brief",)


def test_what_is_known_of_an_output_is_in_the_log_too(offer: Offer) -> None:
    known = {
        "output": "ni… left out",
        "duration_ms": 12.0,
        "attempts": 2,
        "usage": {"input_tokens": 3, "cost": 0.5},
        "truncated": True,
        "trace": {"spans": []},
        "review_outputs": [{"name": "answer", "value": "nine", "content_type": "text"}],
    }
    log = EventLog("demo", None)
    assert Replay(SUITE, offer.write({**RESULT, **known}))(Trial(SUITE.cases[0], 0, log, None))
    output = next(event for line in log.lines() if (event := json.loads(line))["type"] == "case_output")
    assert {name: output[name] for name in known} == known
    (case,) = make_result([log]).cases
    assert (case.suite, case.truncated, case.attempts) == (0, True, 2)


def test_the_first_run_of_a_result_is_remembered(offer: Offer) -> None:
    log = EventLog("demo", None)
    assert Replay(SUITE, offer.write({**RESULT, "reused": "first"}))(Trial(SUITE.cases[0], 0, log, None))
    assert make_result([log]).cases[0].reused == "first"


def test_a_result_of_another_case_is_not_reused(offer: Offer) -> None:
    for changed in ({"digest": "changed"}, {"tags": []}, {"tags": ["night", "more"]}):
        assert ("a", 0) in list_left(offer.write({**RESULT, **changed})), changed
    without = replace(SUITE, describe=lambda case: describe(case)._replace(digest=""))
    assert ("a", 0) in list_left(offer.write({**RESULT, "digest": ""}), without), "it can't be checked"
    untagged = {name: value for name, value in RESULT.items() if name != "tags"}
    assert ("a", 0) in list_left(offer.write(untagged))
    assert ("a", 0) not in list_left(
        offer.write(untagged), replace(SUITE, describe=lambda case: describe(case)._replace(tags=()))
    )


def test_a_case_that_cannot_be_described_runs(offer: Offer) -> None:
    def fail(case: Case) -> Description:
        raise ValueError(case.hash)

    assert list_left(offer.write(RESULT), replace(SUITE, describe=fail)) == [("a", 0), ("b", 0)]


def test_results_of_changed_evaluators_are_not_reused(offer: Offer) -> None:
    changed = replace(SUITE, scorers=[make_scorer("good", "changed"), *SCORERS[1:]])
    assert list_left(offer.write(RESULT), changed) == [("a", 0), ("b", 0)]


def test_a_result_belongs_to_a_suite_and_its_parameters(offer: Offer) -> None:
    evaluators = [dump_evaluator(scorer.info) for scorer in SCORERS]
    params: list[Any] = [{"k": 1, "tools": ["a", "b"]}, {"k": 2}]
    stored = [{"id": "other", "params": None, "evaluators": evaluators}]
    assert ("a", 0) in list_left(offer.write(RESULT, suites=stored))
    stored += [{"id": "demo", "params": dict(reversed(each.items())), "evaluators": evaluators} for each in params]
    results = {**RESULT, "suite": 1}, {**RESULT, "suite": 2, "hash": "b", "digest": "d-b"}
    variants = [{**params[0], "tools": {"b", "a"}}, params[1], {"k": 3}]
    left = list_left(offer.write(*results, suites=stored), replace(SUITE, variants=variants))
    assert left == [("b", 0), ("a", 0), ("a", 0), ("b", 0)]


def test_an_api_that_needs_more_than_the_log_reuses_nothing(
    offer: Offer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fresh(Front):
        reuses = False

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCOREGATE_EVENTS", raising=False)
    monkeypatch.setenv("SCOREGATE_REUSE", offer.write(RESULT))
    for front, reused in ((Front, ["earlier", None]), (Fresh, [None, None])):
        result = run_to_end("demo", front(lambda _: SUITE))
        assert [case.reused for case in sorted(result.cases, key=lambda case: case.hash)] == reused
