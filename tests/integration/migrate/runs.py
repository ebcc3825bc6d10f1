"""Two recorded runs, compared."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence, Set
from pathlib import Path
from xml.etree import ElementTree


def scores(run: Path) -> dict[str, dict[str, float]]:
    """The scores of a recorded run, by case and evaluator."""
    with gzip.open(run / "run" / "cases.jsonl.gz", "rt", encoding="utf-8") as lines:
        cases = map(json.loads, lines)
        return {
            case["name"]: {name: each["score"] for name, each in case.get("evaluations", {}).items()} for case in cases
        }


def failed_cases(run: Path) -> set[str]:
    """The cases of a run that failed or met an error, as its JUnit report names them."""
    tests = ElementTree.parse(run / "junit.xml").iter("testcase")
    cases = (test for test in tests if test.attrib["classname"] != "scoregate gates")
    return {each.attrib["name"] for each in cases if each.find("failure") is not None or each.find("error") is not None}


def check_same(before: Path, after: Path, evaluators: Sequence[str], *, failed: Set[str] = frozenset()) -> None:
    """Check that two runs have the same cases, failures and scores of these evaluators.

    Args:
        before: the folder of the run before the migration.
        after: the folder of the run after it.
        evaluators: the names that both runs have.
        failed: the cases that fail.
    """
    for run in (before, after):
        assert failed_cases(run) == failed, f"{run.name}: {failed_cases(run)}"

    def chosen(run: Path) -> dict[str, dict[str, float]]:
        return {case: {name: actual[name] for name in evaluators} for case, actual in scores(run).items()}

    assert chosen(before) == chosen(after), f"{chosen(before)}\n{chosen(after)}"
