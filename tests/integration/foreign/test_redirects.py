"""Autoblocks' SDKs, unmodified: what they would tell its platform arrives here, and nowhere else."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.foreign import suites
from tests.integration.foreign.conftest import Place

from scoregate.core.override import EvaluationOverride, EvaluationOverrideField

SUITE, CASES = "a suite/of #1?", ("first case", "a/b")
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


def judged(server: OpenAIServer, *, winner: str) -> list[str]:
    """A model that says who won, and that everything is good; what it is asked, by the judge."""
    asked: list[str] = []
    server.answers(r"\[Challenger\]", {"reason": "so", "result": winner})
    server.answers(r"^judge", lambda question: asked.append(question.last) or {"reason": "so", "answer": "Good"})
    return asked


def ran(place: Place, command: Command) -> subprocess.CompletedProcess[str]:
    done = place.run(*command)
    assert (done.returncode, place.platform.said("/errors")) == (0, []), done.stderr
    return done


def test_every_call_arrives_here_and_none_leaves(place: Place, server: OpenAIServer, command: Command) -> None:
    asked = judged(server, winner="2")
    corrected = EvaluationOverride(0, 1, output_fields=[EvaluationOverrideField("o", "output", "fine")])
    place.platform.corrections.append(corrected)
    ran(place, command)
    assert place.platform.champions == {(SUITE, case): f"new {case}" for case in CASES}
    assert scores(place) == {(case, "is it good?"): 1 for case in CASES}
    assert {question.replace('"', "'") for question in asked} == {f"judge new {case} after ['fine']" for case in CASES}
    reviews = [told.review for told in place.platform.answers if told.review]
    (run,) = (f"{body['runId']}" for body in place.platform.said("/end"))
    assert sorted(review.assignees for review in reviews) == [("ann@example.com",), ("bob@example.com",)]
    assert {(review.run, review.name) for review in reviews} == {(run, "look")}
    paths = [path for _, path in place.platform.cloud]
    assert sum(path.endswith("/events") for path in paths) == len(CASES)
    assert sum(path.startswith("/ingest") for path in paths) == 1
    assert not [told for told in place.platform.answers if told.status != 200]
    assert place.hosts <= {"127.0.0.1", "localhost", "::1"}


@pytest.mark.parametrize(("winner", "score"), [("2", 1), ("1", 0), ("0", 0.5)])
def test_a_new_output_fights_the_champion(
    place: Place, server: OpenAIServer, command: Command, *, winner: str, score: float
) -> None:
    judged(server, winner=winner)
    place.platform.champions.update({(SUITE, case): f"old {case}" for case in CASES})
    ran(place, command)
    assert {case: scores(place)[case, "battle"] for case in CASES} == dict.fromkeys(CASES, score)
    texts = [question["messages"][-1]["content"] for question in server.asked() if "tools" not in question]
    assert all(f"old {case}" in "".join(texts) and f"new {case}" in "".join(texts) for case in CASES)
    kept = "new" if winner == "2" else "old"
    assert place.platform.champions == {(SUITE, case): f"{kept} {case}" for case in CASES}


def test_a_real_key_is_not_even_told_to_us(place: Place, server: OpenAIServer, command: Command) -> None:
    judged(server, winner="2")
    place.run(
        *command, AUTOBLOCKS_API_KEY="real-key", AUTOBLOCKS_INGESTION_KEY="real-key", AUTOBLOCKS_V2_API_KEY="real-key"
    )
    assert place.platform.keys - {None}
    assert not [key for key in place.platform.keys if key and "real-key" in key]


def test_a_proxy_is_not_asked(place: Place, server: OpenAIServer, command: Command) -> None:
    judged(server, winner="2")
    nowhere = "http://127.0.0.1:9"
    done = place.run(*command, HTTP_PROXY=nowhere, http_proxy=nowhere, HTTPS_PROXY=nowhere, NODE_USE_ENV_PROXY="1")
    assert (done.returncode, len(place.platform.champions), len(scores(place))) == (0, 2, 2), done.stderr
