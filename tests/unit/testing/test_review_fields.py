"""What a suite shows to reviewers, and the items of datasets that cases come from, are in the record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.testing.builders import Case, Judge, by_hash, only, passing, read_events, run

from scoregate.kernel.judge.archive.cases import dump_case
from scoregate.kernel.run.run_recorder import without_outputs
from scoregate.kernel.types.event_json import truncate_event
from scoregate.kernel.types.events import CaseOutput, CaseStarted
from scoregate.kernel.types.json_io import MAX_EVENT_BYTES, dump
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.testing.models import BaseTestCase, HumanReviewField, HumanReviewFieldContentType
from scoregate.testing.run import RunManager

MARKDOWN = HumanReviewFieldContentType.MARKDOWN
QUESTION = HumanReviewField("question", "**why?**", MARKDOWN)


@dataclass
class Shown(BaseTestCase):
    input: str
    fields: Any = (QUESTION,)
    item: Any = "item-1"

    def hash(self) -> str:
        return self.input

    def serialize(self) -> Any:
        return {"input": self.input}

    def serialize_for_human_review(self) -> Any:
        return None if self.fields is None else list(self.fields)

    def serialize_dataset_item_id(self) -> Any:
        return self.item


@dataclass
class Answer:
    text: str

    def serialize_for_human_review(self) -> list[HumanReviewField]:
        return [HumanReviewField(name="answer", value=self.text)]


def test_fields_and_item_are_recorded(events: Path) -> None:
    case = only(run(lambda _: Answer("so"), [Judge(passing)], [Shown("a")]))
    manager = RunManager("own")
    manager.start()
    manager.add_result(Shown("a"), Answer("so"))
    for kept in (case, only(manager.end())):
        assert (kept.input, kept.output, kept.dataset_item_id) == ({"input": "a"}, {"text": "so"}, "item-1")
        assert (kept.review_inputs, kept.review_outputs) == ((QUESTION,), (HumanReviewField("answer", "so"),))
    started = [event for event in read_events(events) if isinstance(event, CaseStarted)]
    assert [event.review_inputs for event in started] == [(QUESTION,)] * 2


def test_a_case_without_them_is_unchanged(events: Path) -> None:
    run(lambda _: 1, [], [Case("a"), Shown("b", None, None), {"q": "c"}], test_case_hash=str)
    lines = [line for path in events.glob("*.jsonl") for line in path.read_text().splitlines()]
    assert len(lines) > 6
    assert not any("review_inputs" in line or "review_outputs" in line or "dataset_item" in line for line in lines)


def test_a_field_of_another_type_is_an_error_of_its_own_case() -> None:
    def wrong_type() -> Any:
        yield HumanReviewField("n", 5)  # type: ignore[arg-type]

    def wrong_kind() -> Any:
        yield HumanReviewField("n", "5", "pdf")  # type: ignore[arg-type]

    cases = [Shown("a", ["text"]), Shown("b", wrong_type()), Shown("c", wrong_kind()), Shown("d", item=7), Shown("e")]
    words = {"a": "a list of HumanReviewField", "b": "must be strings", "c": "'pdf'", "d": "a string or None"}
    result = by_hash(run(lambda _: 1, [Judge(passing)], cases))
    assert {name: len(case.errors) for name, case in result.items()} == {"a": 1, "b": 1, "c": 1, "d": 1, "e": 0}
    assert all(word in result[name].errors[0].error.message for name, word in words.items())


def test_no_type_of_content_means_text() -> None:
    assert HumanReviewField("n", "v", None).content_type == "text"  # type: ignore[arg-type]


def test_too_large_fields_are_dropped(events: Path) -> None:
    huge = "x" * MAX_EVENT_BYTES
    case = only(run(lambda _: Answer(huge), [Judge(passing)], [Shown("a", [HumanReviewField("q", huge)])]))
    assert (case.review_inputs, case.review_outputs, case.status) == ((), (), "passed")
    assert [event.truncated for event in read_events(events) if isinstance(event, CaseOutput)] == [True]


def test_events_and_cases_drop_them_with_outputs() -> None:
    started = CaseStarted(suite="s", case="a", input="x", review_inputs=(QUESTION,))
    output = CaseOutput(suite="s", case="a", output="x", review_outputs=(QUESTION,))
    assert truncate_event(started, "too large") == replace(started, input='"x"… left out: too large', review_inputs=())
    assert truncate_event(output, "too large").review_outputs == ()  # type: ignore[union-attr]
    case = CaseResult(0, "a", output="x", review_inputs=(QUESTION,), review_outputs=(QUESTION,))
    assert without_outputs(case) == CaseResult(0, "a", review_inputs=(QUESTION,))


def test_reused_results_have_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = only(run(lambda _: Answer("so"), [], [Shown("a")]))
    head = {"run": "earlier", "suites": [{"id": "demo", "params": None, "evaluators": []}]}
    (tmp_path / "results.jsonl").write_bytes(dump(head) + b"\n" + dump_case(case) + b"\n")
    monkeypatch.setenv("SCOREGATE_REUSE", str(tmp_path / "results.jsonl"))
    reused = only(run(lambda _: 1, [], [Shown("a")]))
    assert (reused.reused, reused.output) == ("earlier", {"text": "so"})
    assert (reused.review_inputs, reused.review_outputs) == (case.review_inputs, case.review_outputs)


@pytest.mark.parametrize("error", [ValueError("no such order"), KeyError("k"), ExceptionGroup("two", [OSError("x")])])
def test_an_exception_that_fn_returns_is_recorded_as_its_text(error: Exception) -> None:
    seen: list[Any] = []
    case = only(run(lambda _: error, [Judge(lambda _, output: seen.append(output) or passing())], [Case("a")]))
    assert seen == [error]
    assert (case.status, case.errors) == ("passed", [])
    assert case.output.startswith(type(error).__name__)
    assert str(error) in case.output
