"""The benchmarks that run in this environment start, and measure what they should."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@contextmanager
def import_benchmark(name: str) -> Iterator[Any]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.mark.parametrize(
    "script", ["calibration.py", "compare_speed.py", "interventions.py", "mutants.py", "redact_speed.py"]
)
def test_it_starts(script: str) -> None:
    process = subprocess.run(
        [sys.executable, str(BENCHMARKS / script), "--help"], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    assert "--check" in process.stdout


def test_each_framework_makes_the_same_five_mistakes() -> None:
    with import_benchmark("first_hour") as benchmark:
        frameworks = {benchmark.SUBJECT: benchmark.SCOREGATE, **benchmark.PEERS}
        assert len(frameworks) == 4
        for name, snippets in frameworks.items():
            assert len(snippets.wrong) == len(benchmark.MISTAKES) == len(benchmark.NAMED), name
            for suite in (snippets.right, *snippets.wrong):
                compile(snippets.prelude + suite, name, "exec")
        option = benchmark.NAMED[-1]
        assert benchmark.explains("TypeError: unexpected argument 'concurency'", option)
        assert not benchmark.explains("concurency: 1 case passed", option)
        assert not benchmark.explains("TypeError", option)


def test_mutants_of_a_module_are_killed_by_its_tests_and_change_no_file() -> None:
    module = BENCHMARKS.parent / "src/scoregate/kernel/types/backoff.py"
    source = module.read_bytes()
    # Two of these six have no test that fails.
    sample = ["--sample", "6", "--seed", "21"]
    arguments = [str(module), "--tests", "tests/unit/kernel/test_backoff.py", "--check", "1", *sample]
    process = subprocess.run(
        [sys.executable, str(BENCHMARKS / "mutants.py"), *arguments], capture_output=True, text=True, check=False
    )
    assert process.returncode == 1, process.stderr
    survivors = [line for line in process.stdout.splitlines() if line.startswith("survived")]
    # No delay that a test expects is as long, and without a header there is no date to read.
    path = "src/scoregate/kernel/types/backoff.py"
    assert sorted(survivors) == [
        f"survived: {path}:38 retry_after_s: if text is None: → if False:",
        f"survived: {path}:9 (module): 60 → 59",
    ]
    assert "6 of 35 mutants" in process.stdout
    assert "killed: 4" in process.stdout
    assert "score: 0.667" in process.stdout
    assert module.read_bytes() == source


SOURCE = '''
import os
__all__ = ["f", "g"]
TABLE: dict[str, int] = {"a": 1, "b": 2}
def f(x: int | None = 3) -> bool:
    """Text."""
    if x is None or x > 4:
        raise ValueError(f"{x + 1}")
    return not x
async def g(rows):
    for row in (each for each in rows if each):
        yield max(row - 1, 2000)
'''


def test_mutations_of_a_module() -> None:
    with import_benchmark("mutations") as mutations:
        found = mutations.find_mutations(SOURCE)
    assert [(each.line, each.function, each.on_import, each.change) for each in found] == [
        (4, "", True, "entry 'a' → dropped"),
        (4, "", True, "entry 'b' → dropped"),
        (4, "", True, "1 → 2"),
        (4, "", True, "1 → 0"),
        (4, "", True, "2 → 3"),
        (4, "", True, "2 → 1"),
        (5, "f", True, "3 → 4"),
        (5, "f", True, "3 → 2"),
        (7, "f", False, "if x is None or x > 4: → if True:"),
        (7, "f", False, "if x is None or x > 4: → if False:"),
        (7, "f", False, "x is None or x > 4 → x is None and x > 4"),
        (7, "f", False, "x is None or x > 4 → x > 4"),
        (7, "f", False, "x is None or x > 4 → x is None"),
        (7, "f", False, "x > 4 → x >= 4"),
        (7, "f", False, "4 → 5"),
        (7, "f", False, "4 → 3"),
        (8, "f", False, "raise ValueError(f'{x + 1}') → dropped"),
        (9, "f", False, "return not x → return None"),
        (9, "f", False, "not x → x"),
        (11, "g", False, "for each in rows if each → for each in rows"),
        (12, "g", False, "yield max(row - 1, 2000) → if False:"),
        (12, "g", False, "max(row - 1, 2000) → min(row - 1, 2000)"),
        (12, "g", False, "row - 1 → row + 1"),
        (12, "g", False, "1 → 2"),
        (12, "g", False, "1 → 0"),
    ]
    for each in found:
        changed = mutations.mutate(SOURCE, each.number)
        compile(changed, "module", "exec")
        assert ast.unparse(changed) != ast.unparse(ast.parse(SOURCE))


def test_the_answers_that_scorers_of_retrieval_are_compared_on() -> None:
    with import_benchmark("retrieval_agreement") as benchmark:
        rows = benchmark.read_rows()
    assert [row["id"] for row in rows] == [f"{number:02}" for number in range(1, 61)]
    assert Counter(row["fault"] for row in rows) == {
        "none": 20,
        "invented claim": 5,
        "contradiction": 6,
        "off the topic": 5,
        "refusal": 4,
        "missing passage": 5,
        "useless passage first": 5,
        "partly supported": 5,
        "several claims": 5,
    }
    assert len({(row["input"], row["answer"]) for row in rows}) == 60
    for row in rows:
        assert all(row[name].strip() for name in ("input", "answer", "expected"))
        assert all(passage["id"] and passage["text"] for passage in row["contexts"])
        assert len({passage["id"] for passage in row["contexts"]}) == len(row["contexts"])


def test_scoregate_scores_answers_by_the_scripted_model(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    with import_benchmark("retrieval_agreement") as benchmark:
        chosen = [row for row in benchmark.read_rows() if row["id"] in {"01", "21", "32", "37", "45", "48", "57"}]
        answers.write_text("".join(json.dumps(row) + "\n" for row in chosen), encoding="utf-8")
        scores = benchmark.measure({"scoregate": sys.executable}, answers)["scoregate"]["scores"]
    # Faithful, an invented claim, off the topic, a refusal, no passage, the third is useful, several claims.
    assert {name: [score and round(score, 2) for score, _ in each] for name, each in scores.items()} == {
        "faithfulness": [1.0, 0.5, 1.0, None, 0.0, 1.0, 0.67],
        "hallucination_free": [1.0, 0.0, 1.0, None, 0.0, 1.0, 0.0],
        "answer_relevancy": [1.0, 0.5, 0.0, 0.0, 1.0, 1.0, 0.67],
        "context_precision": [1.0, 1.0, 1.0, 1.0, 0.0, 0.33, 1.0],
        "context_recall": [1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.5],
    }


def test_two_scorers_are_compared_on_answers_with_two_scores() -> None:
    rows = [{"id": str(number), "fault": "none", "answer": "x", "expected": "y"} for number in range(5)]
    ours = [(1.0, ["yes"]), (0.5, ["yes", "no"]), (0.0, ["no"]), (None, "no claim"), (0.25, ["no"])]
    theirs = [(1.0, ["yes"]), (1.0, ["yes", "borderline"]), (0.0, ["no"]), (1.0, []), (0.75, ["yes"])]
    with import_benchmark("agreement") as agreement:
        found = agreement.compare(rows, ("ours", ours), ("theirs", theirs))
        constant = agreement.correlate_ranks([1.0, 1.0], [0.0, 1.0])
    assert (found.count, found.missing, found.same, found.difference) == (4, (1, 0), 0.75, 0.25)
    # Ranks 3, 2, 0, 1 against 2.5, 2.5, 0, 1.
    assert found.ranks == pytest.approx(0.9487, abs=1e-4)
    assert constant is None
    assert [line.partition(" (")[0] for line in found.largest] == ["1, none: 0.50 and 1.00", "4, none: 0.25 and 0.75"]


@pytest.mark.parametrize("kind", ["one", "some", "together", "either"])
def test_the_search_names_the_guilty_hunks_of_simulated_pull_requests(kind: str) -> None:
    with import_benchmark("interventions") as benchmark:
        found = benchmark.survey_causes(kind, 0.05, 10)
    (stratum,) = found.strata
    assert [answer.accused for answer in stratum.answers] == [False] * 10
    assert sum(answer.named for answer in stratum.answers) >= 9


def test_the_search_names_no_hunk_if_nothing_fell() -> None:
    with import_benchmark("interventions") as benchmark:
        found = benchmark.survey_causes("none", 0.05, 10)
    (stratum,) = found.strata
    assert not any(answer.accused or answer.named for answer in stratum.answers)
