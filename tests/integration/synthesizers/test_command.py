"""`scoregate synthesize`, as child processes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from subprocess import CompletedProcess

import pytest
from tests.fakes import writer as fake
from tests.fakes.openai import OpenAIServer, Question
from tests.integration.store.conftest import Project
from tests.integration.synthesizers.batches import batches, questions

from scoregate.entities import TestSet

Synthesize = Callable[..., CompletedProcess[str]]


@pytest.fixture
def synthesize(project: Project, openai_server: OpenAIServer) -> Synthesize:
    fake.answer_with_tests(openai_server)
    return partial(project.scoregate, "synthesize", **openai_server.environment)


def test_a_table_to_review_is_written_and_can_be_imported(
    synthesize: Synthesize, project: Project, openai_server: OpenAIServer
) -> None:
    outcome = synthesize("refunds", "--num-tests", "25", "--batch-size", "10", "--out", "tests.csv")
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert batches(openai_server) == [(1, 10), (2, 10), (3, 5)]
    cost, *output = outcome.stdout.splitlines()
    assert cost.startswith("gpt-4o: $0.0")
    assert cost.endswith("0 of 4 answers from the cache)")
    assert output[:2] == ["tests.csv: 25 of 25 tests, Single-Turn", "behaviors: Refunds by the rules (25)"]
    assert "Review them before you use them" in output[2]
    assert output[3] == "scoregate testset import tests.csv --name Refunds"
    test_set = TestSet.from_csv(project.root / "tests.csv")
    assert test_set.test_count == 25
    assert {test.metadata["generated_by"] for test in test_set.tests or ()} == {"ConfigSynthesizer"}
    assert project.scoregate("testset", "import", "tests.csv", "--name", "Refunds").returncode == 0
    assert sorted(path.name for path in project.root.iterdir() if "tests" in path.name) == ["tests.csv"]


def test_conversations_from_sources_with_names(
    synthesize: Synthesize, project: Project, openai_server: OpenAIServer
) -> None:
    (project.root / "rules.md").write_text("Refunds within thirty days.")
    arguments = (
        "--multi-turn",
        "--source",
        "rules.md",
        "--behavior",
        "Pays",
        "--behavior",
        "Explains",
        "--model",
        "mine",
    )
    outcome = synthesize("refunds", "--num-tests", "2", "--out", "talks.csv", *arguments)
    assert outcome.returncode == 0, outcome.stderr
    test_set = TestSet.from_csv(project.root / "talks.csv")
    assert [test.test_configuration.goal for test in test_set.tests or () if test.test_configuration] == [
        "Get refund 1-1",
        "Get refund 1-2",
    ]
    (prompts,) = questions(openai_server)
    assert "- Pays\n- Explains\n" in prompts.last
    assert "Refunds within thirty days." in prompts.last
    assert (prompts.model, "mine: unknown cost" in outcome.stdout) == ("mine", True)


def test_existing_files_are_kept_without_force(
    synthesize: Synthesize, project: Project, openai_server: OpenAIServer
) -> None:
    table = project.root / "tests.csv"
    table.write_text("mine")
    outcome = synthesize("refunds", "--num-tests", "1", "--out", "tests.csv")
    assert (outcome.returncode, table.read_text()) == (2, "mine")
    assert "--force" in outcome.stderr
    assert not openai_server.asked(), "and nothing is paid for"
    openai_server.answers(fake.BATCH, {"tests": []})
    assert synthesize("refunds", "--num-tests", "1", "--out", "tests.csv", "--force").returncode == 3
    assert table.read_text() == "mine"
    openai_server.answers(fake.BATCH, fake.write_tests)
    assert synthesize("refund", "--num-tests", "1", "--out", "tests.csv", "--force").returncode == 0
    assert TestSet.from_csv(table).test_count == 1


@pytest.mark.parametrize(
    "words",
    [
        ("refunds", "--out", "tests.txt"),
        ("refunds", "--out", "none/tests.csv"),
        ("refunds", "--out", "tests.csv", "--source", "none.md"),
        ("refunds", "--out", "tests.csv", "--behavior", ""),
        (" ", "--out", "tests.csv"),
        ("refunds",),
    ],
)
def test_invalid_usage_fails_before_any_request(
    words: tuple[str, ...], synthesize: Synthesize, openai_server: OpenAIServer
) -> None:
    outcome = synthesize(*words)
    assert (outcome.returncode, outcome.stdout, "Traceback" in outcome.stderr) == (2, "", False)
    assert not openai_server.asked()


def test_a_budget_is_kept_and_its_tests_are_written(synthesize: Synthesize, project: Project) -> None:
    arguments = ("--batch-size", "1", "--num-tests", "40", "--out", "tests.csv")
    outcome = synthesize("refunds", *arguments, "--max-cost", "0.02")
    assert outcome.returncode == 0
    assert "of 40 tests were generated; BudgetSpent: the budget is spent" in " ".join(outcome.stderr.split())
    count = TestSet.from_csv(project.root / "tests.csv").test_count
    assert 1 <= count < 40
    assert f"tests.csv: {count} of 40 tests" in outcome.stdout


def test_formulas_and_hostile_names_are_escaped(synthesize: Synthesize, openai_server: OpenAIServer) -> None:
    def hostile(question: Question) -> dict[str, object]:
        return {
            "tests": [{**fake.make_test("1", question), "prompt_content": '=HYPERLINK("x")', "behavior": "\x1b[2Jb"}]
        }

    openai_server.answers(fake.BATCH, hostile)
    openai_server.answers("Title Case", {**fake.NAMED, "name": "$(touch x); \x1b]0;b\n"})
    outcome = synthesize("refunds", "--num-tests", "1", "--out", "tests.csv")
    assert outcome.returncode == 0
    assert "1 of the tests look like formulas" in outcome.stderr
    assert "\x1b" not in outcome.stdout + outcome.stderr
    assert "--name '$(touch x);" in outcome.stdout
