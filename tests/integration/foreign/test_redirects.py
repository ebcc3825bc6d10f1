"""Autoblocks' SDKs, unmodified: their requests for the platform arrive here, and nowhere else."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.foreign import suites
from tests.integration.foreign.conftest import Place

from scoregate.kernel.types.evaluation import EvaluationOverride, EvaluationOverrideField

SUITE, CASES = "a suite/of #1?", ("first case", "a/b", "third")
# What a user's shell may have: keys that are private, and a proxy that would not find this machine.
REAL_KEYS = dict.fromkeys(("AUTOBLOCKS_API_KEY", "AUTOBLOCKS_INGESTION_KEY", "AUTOBLOCKS_V2_API_KEY"), "real-key")
PROXIES = {
    **dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY"), "http://127.0.0.1:9"),
    "NODE_USE_ENV_PROXY": "1",
}
Command = list[str | Path]


@pytest.fixture(params=["python", "javascript"])
def command(request: pytest.FixtureRequest, place: Place) -> Command:
    """What runs the suite, in either language."""
    if request.param == "python":
        return [request.getfixturevalue("python"), place.write("suite.py", suites.PYTHON)]
    return [request.getfixturevalue("tsx"), place.write("suite.ts", suites.JAVASCRIPT)]


def scores(place: Place) -> dict[tuple[str, str], Any]:
    return {
        (each["testCaseHash"], each["evaluatorExternalId"]): each["score"] for each in place.platform.said("/evals")
    }


def set_judge_answers(server: OpenAIServer) -> list[str]:
    """Let the model accept everything; returns its questions, by the judge."""
    requests: list[str] = []
    server.answers(r"^judge", lambda question: requests.append(question.last) or {"reason": "so", "answer": "Good"})
    return requests


def run_command(place: Place, command: Command, **environ: str) -> subprocess.CompletedProcess[str]:
    outcome = place.run(*command, **environ)
    assert (outcome.returncode, place.platform.said("/errors")) == (0, []), outcome.stderr
    return outcome


def test_every_call_stays_local(place: Place, server: OpenAIServer, command: Command) -> None:
    questions = set_judge_answers(server)
    corrected = EvaluationOverride(0, 1, output_fields=[EvaluationOverrideField("o", "output", "fine")])
    place.platform.corrections.append(corrected)
    run_command(place, command, **REAL_KEYS, **PROXIES)
    assert place.platform.champions == {(SUITE, case): f"new {case}" for case in CASES}
    assert scores(place) == {(case, "is it good?"): 1 for case in CASES}
    assert {question.replace('"', "'") for question in questions} == {
        f"judge new {case} after ['fine']" for case in CASES
    }
    reviews = [call.review for call in place.platform.answers if call.review]
    (run,) = (f"{body['runId']}" for body in place.platform.said("/end"))
    assert sorted(review.assignees for review in reviews) == [("ann@example.com",), ("bob@example.com",)]
    assert {(review.run, review.name) for review in reviews} == {(run, "look")}
    paths = [path for _, path in place.platform.cloud]
    assert sum(path.endswith("/events") for path in paths) == len(CASES)
    assert sum(path.startswith("/ingest") for path in paths) == 1
    assert not [call for call in place.platform.answers if call.status != 200]
    assert place.platform.keys - {None}
    assert not [key for key in place.platform.keys if key and "real-key" in key]
    assert place.hosts <= {"127.0.0.1", "localhost", "::1"}


def test_battles_use_stored_output(place: Place, server: OpenAIServer, command: Command) -> None:
    set_judge_answers(server)
    for case, winner in zip(CASES, "210", strict=True):
        server.answers(rf"(?s)old {case}.*new {case}", {"reason": "so", "result": winner})
    place.platform.champions.update({(SUITE, case): f"old {case}" for case in CASES})
    run_command(place, command)
    assert [scores(place)[case, "battle"] for case in CASES] == [1, 0, 0.5]
    expected = zip(CASES, ("new", "old", "old"), strict=True)
    assert place.platform.champions == {(SUITE, case): f"{age} {case}" for case, age in expected}
