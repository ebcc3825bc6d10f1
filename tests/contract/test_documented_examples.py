"""A documented suite runs when its import root is changed, and needs no other change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.contract.examples import Example, RecordedRun, examples, run
from tests.fakes.openai import OpenAIServer

from scoregate.kernel.types.events import Errored, Scored, SuiteFinished, SuiteStarted

# By a model that answers with the first of its choices; the first run of a battle has nothing to compare with.
JUDGED = {
    "BaseCustomLLMJudge": [1, 1],
    "BaseAutomaticBattle": [],
    "BaseManualBattle": [],
    "BaseAccuracy": [1, 1],
    "BaseNSFW": [1, 1],
    "BaseToxicity": [1, 1],
}
OURS = list(examples(Path(__file__).parent / "documents" / "evaluators.txt"))
SCORES = {
    "BaseIsEquals": [1, 0, 1],
    "BaseIsValidJSON": [0, 1],
    "BaseHasAllSubstrings": [1, 0],
    "BaseAssertions": [1, 0],
    **JUDGED,
}
SEEDS = Path(__file__).parent.parent.parent.parent / "shared" / "seeds"
THEIRS = [example for path in sorted(SEEDS.glob("001_*.txt")) for example in examples(path)]
THEIR_SCORES = {
    "BaseIsEquals": [1, 0],
    "BaseIsValidJSON": [0, 1],
    "BaseHasAllSubstrings": [1],
    "BaseAssertions": [1],
    **{name: scores for name, scores in JUDGED.items() if name != "BaseAccuracy"},
}


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer.start() as running:
        yield running


def check(example: Example, scores: list[float], folder: Path, *, server: OpenAIServer) -> RecordedRun:
    ran = run(example.changed, folder, server.environment)
    assert (ran.code, ran.err) == (0, "")
    assert not any(isinstance(event, Errored) for event in ran.events)
    started, finished = ran.events[0], ran.events[-1]
    assert isinstance(started, SuiteStarted)
    assert isinstance(finished, SuiteFinished)
    assert started.suite == "my-test-suite"
    assert ran.scores == scores
    thresholds = {event.threshold is not None for event in ran.events if isinstance(event, Scored)}
    assert thresholds <= {example.name != "BaseCustomLLMJudge"}
    assert bool(server.requests) == (example.name in JUDGED and bool(scores))
    return ran


def test_the_document_has_an_example_of_every_kind() -> None:
    assert [example.name for example in OURS] == list(SCORES)


@pytest.mark.parametrize("example", OURS, ids=lambda example: example.name)
def test_an_example_runs(example: Example, tmp_path: Path, server: OpenAIServer) -> None:
    check(example, SCORES[example.name], tmp_path, server=server)


def test_only_the_import_root_was_changed() -> None:
    for example in [*OURS, *THEIRS]:
        pairs = zip(example.source.splitlines(), example.changed.splitlines(), strict=True)
        changed = [old for old, new in pairs if old != new]
        assert 4 <= len(changed) <= 5
        assert all(line.startswith("from autoblocks.testing.") for line in changed)


@pytest.mark.parametrize("name", THEIR_SCORES)
def test_an_example_of_the_real_documents_runs(name: str, tmp_path: Path, server: OpenAIServer) -> None:
    if not SEEDS.is_dir():
        pytest.skip("the real documents are not here: ../shared/seeds does not exist")
    (example,) = [example for example in THEIRS if example.name == name]
    check(example, THEIR_SCORES[name], tmp_path, server=server)


def test_the_accuracy_example_reports_its_duplicate_hash(tmp_path: Path, server: OpenAIServer) -> None:
    """They ask one question and expect different words, and the hash is the question's: which results are whose could
    not be told from one run to the next. The SDK of the documents refuses that too. The first runs, and the suite has
    an error that says what to do; done, both run."""
    if not SEEDS.is_dir():
        pytest.skip("the real documents are not here: ../shared/seeds does not exist")
    (example,) = [example for example in THEIRS if example.name == "BaseAccuracy"]
    ran = run(example.changed, tmp_path, server.environment)
    (error,) = [event for event in ran.events if isinstance(event, Errored)]
    assert (ran.code, ran.scores, error.stage) == (0, [1], "suite")
    assert "test case 2 is left out: duplicate hash" in error.error.message
    assert error.error.message.endswith("the hash leaves out expected_output, in which they differ")
    mended = replace(
        example, source=example.source.replace("md5(self.input)", "md5(self.input + self.expected_output)")
    )
    check(mended, [1, 1], tmp_path, server=server)


def changed_output(example: Example) -> str:
    return example.changed.replace(".upper()", ".lower()")


@pytest.mark.parametrize("name", ["BaseAutomaticBattle", "BaseManualBattle"])
def test_a_battle_example_compares_from_the_second_run(name: str, tmp_path: Path, server: OpenAIServer) -> None:
    (example,) = [example for example in OURS if example.name == name]
    first = run(example.changed, tmp_path, server.environment)
    assert [event.unscored != () for event in first.events_of("case_finished")] == [True, True]
    second = run(changed_output(example), tmp_path, server.environment)
    is_automatic = name == "BaseAutomaticBattle"
    assert second.scores == ([0.5, 0.5] if is_automatic else [])
    assert len(second.events_of("review_requested")) == (0 if is_automatic else 2)
    assert len(server.requests) == (4 if is_automatic else 0)


def test_the_metadata_has_why() -> None:
    """What the documents promise of a failed evaluation, on our own copy."""
    from scoregate.testing.evaluators import BaseIsEquals

    class Same(BaseIsEquals[dict[str, str], str]):
        id = "same"

        def test_case_mapper(self, test_case: dict[str, str]) -> str:
            return test_case["expected"]

        def output_mapper(self, output: str) -> str:
            return output

    evaluation = Same().evaluate_test_case({"expected": "a"}, "b")
    assert evaluation.metadata == {"expected_output": "a", "actual_output": "b"}
