"""mypy and pyright accept right suites, and find wrong ones before they run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PRELUDE = """
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypedDict
from pydantic import BaseModel
from scoregate import Case, Dataset, ScoreContext, evaluate
from scoregate.scorers import called, contains, equals, judge, length, scorer

@dataclass
class Question: text: str
class Order(BaseModel): size: str
class Pair(NamedTuple): input: str
class Row(TypedDict): input: str

def ask(question: str) -> str: return question
async def ask_later(question: str) -> str: return question
def count(question: str) -> int: return len(question)
def order(question: Question) -> Order: return Order(size=question.text)
def read(context: ScoreContext[str, str, str]) -> bool: return context.output == context.expected
def compare(output: str, expected: str) -> float: return float(output == expected)
def relate(input: str, output: str, expected: str) -> bool: return input in output + expected
def fits(context: ScoreContext[Question, Order, str]) -> dict[str, float]: return {"size": len(context.output.size)}
def is_large(output: int) -> bool: return output > 3
def is_near(output: str, expected: int) -> bool: return len(output) == expected
def read_number(context: ScoreContext[str, int, str]) -> bool: return context.output > 3
def traces(trace: Any) -> bool: return bool(trace)
async def score_later(output: str) -> bool: return bool(output)
def name_it(output: str) -> str: return output
def ask_number(number: int) -> str: return str(number)
@scorer(threshold=0.5)
def rate(output: str) -> float: return len(output) / 9
class Evaluator:
    id = "own"
    def evaluate_test_case(self, test_case: Any, output: Any) -> Any: ...
class PydanticEvaluator:
    def evaluate(self, ctx: Any) -> bool: return True
def ask_with(input: str, metadata: Any) -> str: return input + str(metadata)
def weigh(output: str, expected: str, metadata: Any) -> float: return 0.5
def list_rows() -> Iterator[dict[str, Any]]: yield {}
async def list_rows_later() -> AsyncIterator[dict[str, Any]]: yield {}

cases = [Case("a", "b"), Case("c", expected="d", id=3, tags=["critical"])]
rows: list[Row] = [{"input": "a"}]
"""
RIGHT = """
evaluate("a", data=cases, task=ask_with, scorers=[rate, weigh, Evaluator(), PydanticEvaluator()])
evaluate("a", data=cases, task=ask, scorers=[read, compare, relate, contains(), lambda output: len(output) < 9])
evaluate("a", data=cases, task=ask_later, scorers=[read, compare, score_later, traces, judge("Is it polite?")])
evaluate("a", data=cases, task=ask_later, scorers=read)
evaluate("a", data=cases, task=count, scorers=[is_large, equals(3)])
evaluate("a", data=cases, task={"small": ask, "large": ask}, scorers=[compare])
evaluate("a", data=cases, task=[ask_later, ask_later], scorers=[compare])
evaluate("a", data=[Case(Question("a"), "b")], task=order, scorers=[fits])
evaluate("a", data=[Case(3)], task=lambda number: number + 1, scorers=[is_large])
evaluate("a", data=Dataset(cases), task=ask, scorers=[compare])
evaluate("a", data=Dataset.from_file("cases.yaml", Question, str), task=order, scorers=[fits])
evaluate("a", data=cases, task=ask, scorers=[scorer(compare, threshold=0.5), called("search")], timeout=3, repeats=2)
evaluate("a", data=Path("cases.csv"), task=ask, scorers=[compare, read, is_large])
evaluate("a", data=[{"input": "a", "expected": 3}], task=ask, scorers=[contains(), length(max=3), lambda output: 0.5])
evaluate("a", data=[Question("a")], task=ask)
evaluate("a", data=[Order(size="a"), Pair("b"), "c", 4, None, [5]], task=ask)
evaluate("a", data=rows, task=ask_with, scorers=[contains(), rate, Evaluator(), PydanticEvaluator()])
evaluate("a", data=list_rows(), task=ask)
evaluate("a", data=list_rows_later(), task=ask_later)
evaluate(data="golden", task=ask, scorers=contains(), tags=["slow"], cluster="document", assert_test=True)
"""
WRONG = """
evaluate("a", data=cases, task=ask_number)
evaluate("a", data=cases, task={"small": ask_number})
evaluate("a", data=cases, task=3)
evaluate("a", data=cases, task=ask, scorers=[is_large, scorer(is_large, threshold=0.5)])
evaluate("a", data=cases, task=ask_later, scorers=[is_large])
evaluate("a", data=cases, task=ask, scorers=[read_number])
evaluate("a", data=cases, task=ask, scorers=[is_near])
evaluate("a", data=cases, task=ask_later, scorers=[is_near])
evaluate("a", data=cases, task=ask, scorers=[contains, 3])
evaluate("a", data=[{"input": "a"}], task=ask, scorers=[contains, 3])
evaluate("a", data=[{"input": "a"}], task=ask, scorers=[contains])
evaluate("a", data=cases, task=ask, scorers=[name_it])
evaluate("a", data=[{"input": "a"}], task=ask, scorers=[name_it])
wrong: list[Case[str, str]] = [Case("a", 3)]
Case("a", expectd="b")
evaluate("a", data=[{"input": "a"}], task=ask, timeot=3)
evaluate("a", data=cases, task=ask, concurrency="3")
evaluate("a", task=ask)
evaluate("a", data=Dataset.from_file("cases.yaml", Question, str), task=ask)
evaluate("a", data=cases, task=ask, scorers=[fits])
"""


# Without the packages that the snippets don't use, mypy takes a third of the time.
SETTINGS = """
[mypy]
strict = true
follow_imports = skip
[mypy-scoregate.*,pydantic.*]
follow_imports = normal
"""


def write_snippets(folder: Path) -> None:
    """Write the snippets, one in a line."""
    (folder / "snippets.py").write_text(PRELUDE + RIGHT + WRONG, encoding="utf-8")


def check_lines(found: set[int]) -> None:
    """Check that errors are found in the lines of the wrong snippets, and in no others."""
    assert (RIGHT.count("\n"), WRONG.count("\n")) == (21, 21)
    first = (PRELUDE + RIGHT).count("\n") + 2
    assert found == set(range(first, first + 20))


@pytest.mark.slow
def test_mypy_finds_the_wrong_snippets_alone(tmp_path: Path) -> None:
    write_snippets(tmp_path)
    (tmp_path / "mypy.ini").write_text(SETTINGS, encoding="utf-8")
    command = (sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "snippets.py")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    check_lines({int(line) for line in re.findall(r"^snippets\.py:(\d+): error", done.stdout, re.MULTILINE)})


@pytest.mark.slow
def test_pyright_finds_the_wrong_snippets_alone(tmp_path: Path) -> None:
    script = Path(__file__).parents[1] / "node_modules" / "pyright" / "index.js"
    if shutil.which("node") is None or not script.exists():
        pytest.skip("NOT TESTED, pyright: run `npm install --prefix tests`")
    write_snippets(tmp_path)
    command = ("node", str(script), "--pythonpath", sys.executable, "--outputjson", "snippets.py")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    check_lines({each["range"]["start"]["line"] + 1 for each in found if each["severity"] == "error"})
