"""Calls to Autoblocks' platform, answered from the baseline lookup."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.errors import StoreError
from scoregate.features.foreign.cloud import Answer, FirstBaseline, PlatformRequest, ReviewJob, answer
from scoregate.kernel.types.evaluation import EvaluationOverride, EvaluationOverrideComment, EvaluationOverrideField


@dataclass
class Shelf:
    """A baseline lookup in memory."""

    champions: dict[tuple[str, str], str] = field(default_factory=dict)
    corrections: dict[str, list[EvaluationOverride]] = field(default_factory=dict)

    def baseline_output(self, suite: str, case: str) -> str | None:
        return self.champions.get((suite, case))

    def save_baseline_output(self, suite: str, case: str, output: str) -> None:
        self.champions[suite, case] = output

    def overrides(self, evaluator: str, count: int) -> Sequence[EvaluationOverride]:
        return self.corrections.get(evaluator, [])[:count]


class Broken(Shelf):
    """A baseline lookup that cannot be read."""

    def baseline_output(self, suite: str, case: str) -> str | None:
        raise StoreError(f"cannot read {suite} {case}", advice="Repair it.")


def baseline(suite: str, case: str) -> str:
    return f"/test-suites/{suite}/test-cases/{case}/baseline"


def post(path: str, body: object) -> PlatformRequest:
    return PlatformRequest("POST", path, body=json.dumps(body).encode())


@given(st.text(min_size=1).filter(str.isprintable), st.text(min_size=1).filter(str.isprintable))
def test_a_baseline_of_any_name_round_trips(suite: str, case: str) -> None:
    lookup, path = Shelf(), baseline(quote(suite, safe=""), quote(case, safe=""))
    assert answer(PlatformRequest("GET", path), lookup).content == {}
    assert answer(post(path, {"baseline": "good"}), lookup) == Answer(
        content={}, first_baseline=FirstBaseline(suite, case)
    )
    assert answer(post(path, {"baseline": "best"}), lookup) == Answer(content={})
    assert lookup.champions == {(suite, case): "best"}
    assert answer(PlatformRequest("GET", path), lookup).content == {"baseline": "best"}


def test_names_without_url_encoding_are_found() -> None:
    lookup = Shelf({("a/b c", "x"): "best"})
    assert answer(PlatformRequest("GET", baseline("a/b%20c", "x")), lookup).content == {"baseline": "best"}


@pytest.mark.parametrize("body", [b"", b"[]", b'{"baseline": 1}', b"{", b'{"baseline": null}'])
def test_a_baseline_must_be_text(body: bytes) -> None:
    lookup = Shelf()
    assert answer(PlatformRequest("POST", baseline("s", "c"), body=body), lookup).status == 400
    assert lookup.champions == {}


def test_corrections_have_the_format_of_the_sdk() -> None:
    parts = [EvaluationOverrideField("1", "question", "why?")], [EvaluationOverrideField("2", "answer", "so.")]
    corrected = EvaluationOverride(0, 0.5, *parts, [EvaluationOverrideComment("2", "so", "too short")])
    lookup = Shelf(corrections={"is it/good?": [corrected] * 5})
    path = f"/test-suites/demo/evaluators/{quote('is it/good?', safe='')}/human-reviews"
    found = answer(PlatformRequest("GET", path, query="n=2"), lookup).content
    assert (
        found
        == [
            {
                "originalScore": 0,
                "overrideScore": 0.5,
                "inputFields": [{"id": "1", "name": "question", "value": "why?"}],
                "outputFields": [{"id": "2", "name": "answer", "value": "so."}],
                "comments": [{"fieldId": "2", "quotedText": "so", "commentText": "too short"}],
            }
        ]
        * 2
    )
    assert answer(PlatformRequest("GET", path), lookup).content == []
    assert answer(PlatformRequest("GET", path, query="n=many"), lookup).status == 400


@pytest.mark.parametrize("place", ["local", "ci"])
def test_a_review_job_names_the_run(place: str) -> None:
    path = f"/testing/{place}/runs/run%201/human-review-job"
    found = answer(post(path, {"assigneeEmailAddress": "ann@example.com", "name": "look"}), Shelf())
    assert found == Answer(review=ReviewJob("run 1", "look", ("ann@example.com",)))
    many = answer(post(path, {"assigneeEmailAddress": ["a", "b"], "name": None}), Shelf())
    assert many.review == ReviewJob("run 1", "human review", ("a", "b"))


def test_traces_are_accepted() -> None:
    for path in ("/testing/ci/runs/1/results/2/events", "/ingest", "/ingest/"):
        assert answer(post(path, {"testCaseEvents": []}), Shelf()) == Answer(content={})


@pytest.mark.parametrize(
    "call",
    [
        PlatformRequest("GET", "/prompts/greeting/major/1/minor/latest"),
        PlatformRequest("POST", "/v2/otel/v1/traces", body=b"\x00"),
        PlatformRequest("DELETE", baseline("s", "c")),
        PlatformRequest("GET", "/"),
        PlatformRequest("GET", ""),
    ],
)
def test_other_calls_are_unknown(call: PlatformRequest) -> None:
    found = answer(call, Shelf())
    assert (found.status, found.unknown) == (404, True)


def test_an_unreadable_store_fails_the_suite() -> None:
    found = answer(PlatformRequest("GET", baseline("demo", "c")), Broken())
    assert found.status == 500
    assert found.failure is not None
    assert found.failure.suite == "demo"
    assert (found.failure.error.type, found.failure.error.advice) == ("StoreError", "Repair it.")
