"""Which scores are drawn, and what a reviewer sees of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scoregate.errors import UsageError
from scoregate.kernel.compare.agreement import digest_fingerprint
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.event_values import Choice, EvaluatorInfo, Fingerprint
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult
from scoregate.store import OVERRIDES, Override, open_store
from scoregate.web.review_export import format_lines, parse_lines, save_import, select_for_export
from scoregate.web.review_queue import Queue, build_queue, count_scores, draw_sample
from scoregate.web.review_session import ReviewSession

JUDGE = Fingerprint(prompt="p", model="gpt-4o")
CHOICES = (Choice(0, "No"), Choice(1, "Yes"))


def run_of(cases: int = 40, repeats: int = 1, run: str = "1", choices: tuple[Choice, ...] = CHOICES) -> Run:
    """A run of cases with scores of a judge and of a function with a reason; repeats of a case are equal."""

    def read() -> Iterator[CaseResult]:
        for index in range(cases):
            for repeat in range(repeats):
                case = CaseResult(
                    0, f"case {index}", repeat, name=f"case {index}", input="ask", output=f"answer {index}"
                )
                score = float(index % 2) if choices else index / cases
                case.evaluations["polite"] = Evaluation(score, None, {"reason": "so"})
                case.evaluations["short"] = Evaluation(1, None, {"reason": "counted"})
                yield case

    infos = {"polite": EvaluatorInfo("polite", JUDGE, choices=choices), "short": EvaluatorInfo("short")}
    return Run(run, 1.0, RunEnd(2.0), RunCode("1"), suites=(SuiteResult("s", "s", evaluators=infos),), read=read)


def names(queue: Queue) -> set[str]:
    return {row.name for row in queue.judged.rows.values()}


def test_a_sample_is_always_the_same_and_grows() -> None:
    samples = [names(draw_sample(run_of(), size)) for size in (5, 20, None)]
    assert [len(found) for found in samples] == [5, 20, 40]
    assert samples[0] < samples[1] < samples[2]
    assert names(draw_sample(run_of(), 5)) == samples[0]
    assert names(draw_sample(run_of(run="2"), 20)) != samples[1]


def test_every_score_is_equally_likely() -> None:
    drawn = [name for run in range(400) for name in names(draw_sample(run_of(10, run=str(run)), 3))]
    counts = [drawn.count(f"case {index}") for index in range(10)]
    assert sum(counts) == 1200
    assert all(80 < count < 160 for count in counts), counts  # 120 ± 4 standard errors


def rare_run(failing: int, cases: int, run: str = "1", **given: Any) -> Run:
    """A run whose judge fails the first cases; `given` is for its evaluator."""
    info = EvaluatorInfo("polite", JUDGE, **given)

    def read() -> Iterator[CaseResult]:
        for index in range(cases):
            case = CaseResult(0, f"{index}", 0, name=f"{index}", input="ask", output=f"answer {index}")
            case.evaluations["polite"] = Evaluation(float(index >= failing), Threshold(gte=1) if index % 2 else None)
            yield case

    return Run(
        run, 1.0, RunEnd(2.0), RunCode("1"), suites=(SuiteResult("s", "s", evaluators={"polite": info}),), read=read
    )


@pytest.mark.parametrize(
    ("failing", "expected"), [(0, 0), (3, 3), (20, 10), (60, 15), (100, 25), (190, 40), (198, 48), (200, 50)]
)
def test_a_fifth_of_a_sample_has_the_rarer_verdict(failing: int, expected: int) -> None:
    queue = draw_sample(rare_run(failing, 200), 50)
    assert count_scores(queue) == {"polite": (expected, 50 - expected)}
    assert {queue.judged[key].failing_share for key in queue.judged} == {failing / 200}


def test_every_beginning_of_a_sample_has_its_verdicts() -> None:
    """So people who review only a part of it have a sample, too."""
    queue = draw_sample(rare_run(20, 200), 100)
    failing = [row.fails for row in queue.judged.rows.values()]
    assert [sum(failing[:size]) for size in (5, 10, 50, 100)] == [1, 2, 10, 20]
    assert [row.name for row in queue.judged.rows.values()] != sorted(row.name for row in queue.judged.rows.values())


def test_within_a_verdict_every_score_is_equally_likely() -> None:
    drawn = [name for run in range(300) for name in names(draw_sample(rare_run(4, 20, str(run)), 10))]
    counts = [drawn.count(str(index)) for index in range(20)]
    assert all(120 <= count <= 180 for count in counts[:4]), counts  # 2 of 4 in each of 300 samples, ± 3.5 errors
    assert all(115 <= count <= 185 for count in counts[4:]), counts  # 8 of 16


def test_the_sample_of_several_judges_has_each_ones_share() -> None:
    def read() -> Iterator[CaseResult]:
        for index in range(90):
            case = CaseResult(0, f"{index}", 0, name=f"{index}", input="ask", output=f"answer {index}")
            case.evaluations["polite"] = Evaluation(float(index % 10 > 0))
            if index < 30:
                case.evaluations["brief"] = Evaluation(1.0)
            yield case

    infos = {name: EvaluatorInfo(name, JUDGE) for name in ("polite", "brief")}
    queue = draw_sample(
        Run("1", 1.0, RunEnd(2.0), RunCode("1"), suites=(SuiteResult("s", "s", evaluators=infos),), read=read), 40
    )
    assert count_scores(queue) == {"brief": (0, 10), "polite": (6, 24)}


def test_a_review_of_a_sample_stores_threshold_and_share(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    session = ReviewSession(draw_sample(rare_run(1, 4, higher_is_better=False), 4), store, "Ann")
    for row in state(session)["judges"]:
        session.correct(row["key"], 1, [])
    overrides: list[Override] = list(store.read(OVERRIDES, ("polite",)))
    # Without a threshold, a lower score passes here: 0 of one case; the other cases have a 1.
    found = {(each.original_score, str(each.threshold), each.failing_share) for each in overrides}
    assert found == {(0.0, "≤ 0.5", 0.25), (1.0, "≤ 0.5", 0.25), (1.0, "≥ 1", 0.25)}


def test_only_scores_of_judges_are_drawn_and_equal_repeats_once() -> None:
    queue = draw_sample(run_of(10, repeats=3))
    assert count_scores(queue) == {"polite": (5, 5)}
    assert set(build_queue(run_of(10)).judged.evaluators) == {"polite", "short"}


def state(session: ReviewSession) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(session.state() or b"")
    return data


def test_the_judges_score_is_shown_after_the_review(tmp_path: Path) -> None:
    session = ReviewSession(draw_sample(run_of(), 5), open_store(tmp_path), "Ann")
    row, *_ = state(session)["judges"]
    shown = session.score_details(row["key"])
    assert (row["score"], row["sampled"]) == (None, True)
    assert (shown["score"], shown["reason"], [each["value"] for each in shown["choices"]]) == (None, "", [1, 0])
    data = session.correct(row["key"], 1, [])
    assert (data["decision"], data["score"] in (0, 1), data["reason"]) == (1, True, "so")
    assert session.remove_correction(row["key"])["score"] is None


def test_numeric_scores_are_reviewed_as_right_or_wrong(tmp_path: Path) -> None:
    session = ReviewSession(draw_sample(run_of(choices=()), 40), open_store(tmp_path), "Ann")
    assert all(row["score"] is not None for row in state(session)["judges"])


def test_a_sampled_override_names_its_judge_and_keeps_a_chosen_one(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    freely = ReviewSession(build_queue(run_of(2)), store, "Ann")
    sample = ReviewSession(draw_sample(run_of(2)), store, "Ann")
    for row in state(freely)["judges"]:
        if row["evaluator"] == "polite":
            freely.correct(row["key"], 0, [])
    assert [row["decision"] for row in state(sample)["judges"]] == [None, None]
    for row in state(sample)["judges"]:
        sample.correct(row["key"], 1, [])
    overrides: list[Override] = list(store.read(OVERRIDES, ("polite",)))
    assert {each.fingerprint for each in overrides} == {digest_fingerprint(JUDGE)}
    assert sorted((each.sampled, each.override_score) for each in overrides) == [
        (False, 0),
        (False, 0),
        (True, 1),
        (True, 1),
    ]
    figures = [(each["source"], each["n"], each["matching"]) for each in state(sample)["agreement"]]
    assert figures == [("chosen", 2, 1), ("sample", 2, 1)]
    assert figures == [(each["source"], each["n"], each["matching"]) for each in state(freely)["agreement"]]


def test_a_file_hides_the_judges_choice_and_is_imported_as_a_sample(tmp_path: Path) -> None:
    store, run = open_store(tmp_path), run_of(4)
    queue = draw_sample(run, 2)
    sheets = [json.loads(line) for line in format_lines(queue, *select_for_export(queue, store, ""))]
    assert {(sheet["score"], sheet["reason"], sheet["sampled"], len(sheet["choices"])) for sheet in sheets} == {
        (None, "", True, 2)
    }
    filled = "".join(json.dumps({**sheet, "decision": 1}) + "\n" for sheet in sheets).encode()
    save_import(store, parse_lines(filled, build_queue(run), draw_sample(run), origin="file", by="Ann"))
    assert [each.sampled for each in store.read(OVERRIDES, ("polite",))] == [True, True]
    guessed = json.dumps({**sheets[0], "score": 1, "decision": 1}).encode()
    with pytest.raises(UsageError, match="not the exported values"):
        parse_lines(guessed, build_queue(run), draw_sample(run), origin="file", by="Ann")


@pytest.mark.parametrize("size", [1, 3])
def test_judges_are_needed(size: int) -> None:
    assert len(draw_sample(run_of(0), size).judged) == 0
