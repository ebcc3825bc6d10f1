"""Reviews after a run count wherever that run is read: gated itself, or as a base."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.integration.review.conftest import Maker, Reviewed

READERS = (
    ("gate", "RUN"),
    ("gate", "RUN", "--baseline", "BASE"),
    ("report", "RUN", "--baseline", "BASE"),
    ("compare", "RUN", "--baseline", "BASE"),
    ("merge", "RUN", "--baseline", "none"),
    ("run", "--baseline", "BASE"),
)


def add_reviews(run: Reviewed, winner: str, *cases: str) -> None:
    """People's word on what was put before them for these cases."""
    for case in cases:
        pair = ("--baseline", f"old {case}", "--challenger", f"new {case}")
        outcome = run.project.scoregate("verdicts", "add", "better", "--case", case, *pair, "--winner", winner)
        assert outcome.exit_code == 0, outcome.output


def copy_run(run: Reviewed) -> Path:
    """The run under another name, for a base."""
    return Path(shutil.copytree(run.run, run.project.root / "base" / "run"))


def row(result: dict[str, Any]) -> tuple[float | None, float | None]:
    """The mean of the base's battles, and of the run's."""
    entry = next(each for each in result["rows"] if each["evaluator"] == "better")
    return entry["base"], entry["mean"]


def test_a_base_has_later_review_scores(reviewed: Maker) -> None:
    run = reviewed("a", "b", "c")
    base = copy_run(run)
    add_reviews(run, "challenger", "a", "b")
    add_reviews(run, "baseline", "c")
    outcome = run.project.scoregate("report", str(run.run), "--format", "json", "--baseline", str(base))
    assert row(json.loads(outcome.output)) == pytest.approx((2 / 3, 2 / 3))
    run_outcome = run.project.scoregate("run", "--baseline", str(base))
    assert row(run_outcome.result) == pytest.approx((2 / 3, 2 / 3))
    assert "waiting" not in run_outcome.output


def test_reviews_apply_to_shards_without_changing_them(reviewed: Maker) -> None:
    run = reviewed("a", "b", "c")
    leg = copy_run(run)
    add_reviews(run, "challenger", "a", "b", "c")
    merged = run.project.scoregate("merge", str(leg), "--baseline", "none")
    assert "waiting" not in merged.output
    assert merged.result["totals"]["pending"] == 0
    add_reviews(run, "baseline", "a", "b", "c")
    code, output = run.gate(SCOREGATE_MIN_PASS_RATE="0.9")
    assert (code, "waiting" in output) == (1, False), output


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_a_damaged_store_has_one_error_everywhere(reviewed: Maker, words: tuple[str, ...]) -> None:
    run = reviewed("a", "b", "c")
    paths = {"RUN": str(run.run), "BASE": str(copy_run(run))}
    run.project.write(".scoregate/verdicts/better.jsonl", "no verdict\n")
    outcome = run.project.scoregate(*(paths.get(word, word) for word in words))
    assert outcome.exit_code == 2, outcome.output
    assert ".scoregate/verdicts/better.jsonl:1: " in outcome.output.replace("\n", "")
