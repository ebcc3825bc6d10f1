"""10,000 rows past an instant agent and two instant code judges: as an offline test, or as a test suite; alone."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from scoregate import Client
from scoregate.judges import BinaryResponse, Judge
from scoregate.testing.models import BaseTestCase, BaseTestEvaluator, Evaluation
from scoregate.testing.run import run_test_suite

ROWS = int(os.environ["BENCH_CASES"])


class Same(Judge[BinaryResponse]):
    """One judge."""

    def score(self, data: Any) -> BinaryResponse:
        """Compare."""
        return BinaryResponse(value=data["output"] == data["input"])


class Long(Judge[BinaryResponse]):
    """Another one."""

    def score(self, data: Any) -> BinaryResponse:
        """Count."""
        return BinaryResponse(value=len(data["output"]) > 3)


@dataclass
class Case(BaseTestCase):
    """The same row as a test case."""

    input: str
    expected: str

    def hash(self) -> str:
        """Its text."""
        return self.input


class IsSame(BaseTestEvaluator[Case, str]):
    """The same as a judge."""

    id = "same"

    def evaluate_test_case(self, test_case: Case, output: str) -> Evaluation:
        """Compare."""
        return Evaluation(score=float(output == test_case.input), metadata={"reason": ""})


class IsLong(BaseTestEvaluator[Case, str]):
    """The same as the other one."""

    id = "long"

    def evaluate_test_case(self, test_case: Case, output: str) -> Evaluation:  # noqa: ARG002
        """Count."""
        return Evaluation(score=float(len(output) > 3), metadata={"reason": ""})


def offline(rows: list[dict[str, str]]) -> tuple[float, int]:
    """Return the seconds of a run, and how many scores came of it."""
    with TemporaryDirectory() as folder:
        client = Client(store=folder)
        client.datasets.create("golden-set", examples=rows)
        for judge in (Same, Long):
            client.judges.register(judge)
        client.offline_tests.create_config("nightly", "golden-set", ["Same", "Long"])
        started = perf_counter()
        result = client.offline_tests.run("nightly", lambda **fields: fields["input"])
        assert result is not None
        return perf_counter() - started, sum(len(row.scorers_data) for row in result.results)


def suite(rows: list[dict[str, str]]) -> tuple[float, int]:
    """Return the same of a test suite."""
    started = perf_counter()
    cases = [Case(**row) for row in rows]
    result = run_test_suite("nightly", cases, lambda case: case.input, [IsSame(), IsLong()])
    return perf_counter() - started, result.evaluations


data = [{"input": f"question {number}", "expected": f"answer {number}"} for number in range(ROWS)]
with Path(os.devnull).open("w") as nowhere:
    out, sys.stdout = sys.stdout, nowhere
    seconds, scored = {"offline": offline, "suite": suite}[sys.argv[1]](data)
    sys.stdout = out
print(json.dumps({"seconds": seconds, "scored": scored}))
