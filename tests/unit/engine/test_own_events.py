"""Events that are read again in the process that wrote them: each field has the type that it had."""

from __future__ import annotations

from typing import Any

from scoregate.engine.event_log import EventLog
from scoregate.engine.own_events import parse_own_event
from scoregate.engine.results import make_result
from scoregate.kernel.types.evaluation import Assertion, Threshold, Usage
from scoregate.kernel.types.event_values import (
    Choice,
    ErrorInfo,
    EvaluatorInfo,
    EventType,
    Fingerprint,
    HumanReviewField,
    Origin,
    SuitePart,
)

REVIEW = (HumanReviewField("answer", "nine"),)
EVALUATORS = (
    EvaluatorInfo("e", Fingerprint("s", "p", "a", "m"), higher_is_better=False, choices=(Choice(1.0, "good"),)),
    EvaluatorInfo("f"),
)
EVENTS: list[tuple[EventType, dict[str, Any]]] = [
    ("suite_started", {"origin": Origin("a.py", 3), "evaluators": EVALUATORS, "part": SuitePart((1, 2), 3, 9, "d")}),
    ("case_started", {"case": "a", "tags": ("t",), "origin": Origin("d.jsonl", 1), "review_inputs": REVIEW}),
    ("case_output", {"case": "a", "output": {"b": [1]}, "usage": Usage(3, cost=0.5), "review_outputs": REVIEW}),
    ("scored", {"case": "a", "evaluator": "e", "score": 0.5, "threshold": Threshold(gte=0.5),
                "assertions": (Assertion("kind", passed=True, required=False),)}),
    ("errored", {"case": "a", "stage": "evaluator", "evaluator": "f", "error": ErrorInfo("E", "no", "tb", "Try.")}),
    ("review_requested", {"name": "r", "assignees": ("ana", "ben")}),
    ("case_finished", {"case": "a", "unscored": ("f",)}),
]  # fmt: skip


def test_an_event_is_read_as_it_was_written() -> None:
    for kind, fields in EVENTS:
        log = EventLog("demo", None)
        log.emit(kind, **fields)
        (line,) = log.lines()
        event = parse_own_event(line)
        assert (event.type, event.suite, {name: getattr(event, name) for name in fields}) == (kind, "demo", fields)


def test_a_field_that_is_not_set_stays_none() -> None:
    log = EventLog("demo", None)
    log.emit("suite_started", cases=1, origin=None)
    log.emit("scored", case="a", evaluator="e", score=1.0, threshold=None, assertions=None)
    started, scored = (parse_own_event(line) for line in log.lines())
    assert (getattr(started, "origin", 0), getattr(scored, "threshold", 0)) == (None, None)


def test_variants_have_labels_and_one_result() -> None:
    logs = [EventLog("demo", None) for _ in range(2)]
    for number, log in enumerate(logs):
        log.emit("suite_started", cases=0, params={"k": number}, origin=Origin("a.py", 3))
    result = make_result(logs)
    assert [variant.label for variant in result.variants] == ["demo [k=0]", "demo [k=1]"]
    assert (result.id, result.label, result.origin, result.complete) == ("demo", "demo", Origin("a.py", 3), True)
    assert make_result(logs[:1]).variants == ()
