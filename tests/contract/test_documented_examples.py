"""A documented suite runs when its import root is changed, and needs no other change."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contract.examples import Example, logic_based, run

from scoregate.core.events import Errored, Scored, SuiteFinished, SuiteStarted

OURS = list(logic_based(Path(__file__).parent / "documents" / "evaluators.txt"))
SCORES = {
    "BaseIsEquals": [1, 0, 1],
    "BaseIsValidJSON": [0, 1],
    "BaseHasAllSubstrings": [1, 0],
    "BaseAssertions": [1, 0],
}
SEEDS = Path(__file__).parent.parent.parent.parent / "shared" / "seeds"
THEIRS = [example for path in sorted(SEEDS.glob("001_*.txt")) for example in logic_based(path)]
THEIR_SCORES = {
    "BaseIsEquals": [1, 0],
    "BaseIsValidJSON": [0, 1],
    "BaseHasAllSubstrings": [1],
    "BaseAssertions": [1],
}


def check(example: Example, scores: list[float], folder: Path) -> None:
    ran = run(example.changed, folder)
    assert (ran.code, ran.err) == (0, "")
    assert not any(isinstance(event, Errored) for event in ran.events)
    started, finished = ran.events[0], ran.events[-1]
    assert isinstance(started, SuiteStarted)
    assert isinstance(finished, SuiteFinished)
    assert started.suite == "my-test-suite"
    assert ran.scores == scores
    assert all(event.threshold is not None for event in ran.events if isinstance(event, Scored))


def test_the_document_has_an_example_of_every_kind() -> None:
    assert [example.name for example in OURS] == list(SCORES)


@pytest.mark.parametrize("example", OURS, ids=lambda example: example.name)
def test_an_example_runs(example: Example, tmp_path: Path) -> None:
    check(example, SCORES[example.name], tmp_path)


def test_only_the_import_root_was_changed() -> None:
    for example in [*OURS, *THEIRS]:
        pairs = zip(example.source.splitlines(), example.changed.splitlines(), strict=True)
        changed = [old for old, new in pairs if old != new]
        assert 4 <= len(changed) <= 5
        assert all(line.startswith("from autoblocks.testing.") for line in changed)


@pytest.mark.parametrize("name", THEIR_SCORES)
def test_an_example_of_the_real_documents_runs(name: str, tmp_path: Path) -> None:
    if not SEEDS.is_dir():
        pytest.skip("the real documents are not here: ../shared/seeds does not exist")
    (example,) = [example for example in THEIRS if example.name == name]
    check(example, THEIR_SCORES[name], tmp_path)


def test_the_metadata_says_why() -> None:
    """What the documents promise of a failed evaluation, on our own copy."""
    from scoregate.testing.evaluators import BaseIsEquals

    class Same(BaseIsEquals[dict[str, str], str]):
        id = "same"

        def test_case_mapper(self, test_case: dict[str, str]) -> str:
            return test_case["expected"]

        def output_mapper(self, output: str) -> str:
            return output

    found = Same().evaluate_test_case({"expected": "a"}, "b")
    assert found.metadata == {"expected_output": "a", "actual_output": "b"}
