"""From a random sample of a judge's scores to a judge that may fail a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from tests.integration.host.conftest import Project
from tests.integration.page.test_access import check_looks, needs_axe
from tests.integration.review.conftest import Reviewed
from tests.integration.review.test_page import opened

SUITE = """
from dataclasses import dataclass
from scoregate.testing.models import BaseTestCase, BaseTestEvaluator, Evaluation
from scoregate.testing.run import run_test_suite

@dataclass
class Case(BaseTestCase):
    input: str

    def hash(self):
        return self.input

class Polite(BaseTestEvaluator[Case, str]):
    id = "polite"
    model = "{model}"

    def evaluate_test_case(self, test_case, output):
        return Evaluation(float("please" in output), None, {{"reason": "it says " + output}})

class Short(BaseTestEvaluator[Case, str]):
    id = "short"

    def evaluate_test_case(self, test_case, output):
        return Evaluation(1.0)

run_test_suite(
    id="demo", test_cases=[Case(f"case {{at}}") for at in range(40)], evaluators=[Polite(), Short()],
    fn=lambda case: case.input + (" please" if int(case.input.split()[1]) % 2 else " now"),
)
"""
SETTINGS = """
min_score = {{ polite = 0.9, short = 0.5 }}
min_judge_agreement = {least}
min_overrides = 20
"""


@pytest.fixture
def judged(tmp_path: Path) -> Reviewed:
    """A project whose judge likes half of what it sees, which is too little, and is right about it."""
    project = Project(tmp_path)
    project.write("evals/demo.py", SUITE.format(model="house-model"))
    project.write("scoregate.toml", SETTINGS.format(least=0.7))
    project.commit()
    outcome = project.scoregate("run", "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    assert "judge not calibrated (0 of 20 reviews)" in outcome.output
    return Reviewed(project, tmp_path / "scoregate-out" / "run")


def export_sheets(run: Reviewed, size: int) -> list[dict[str, Any]]:
    outcome = run.project.scoregate("review", "--sample", str(size), "--export", "sheets.jsonl")
    assert outcome.exit_code == 0, outcome.output
    return [json.loads(line) for line in (run.project.root / "sheets.jsonl").read_text("utf-8").splitlines()]


def import_sheets(run: Reviewed, sheets: Sequence[dict[str, Any]], *arguments: str) -> tuple[int, str]:
    path = run.project.root / "sheets.jsonl"
    path.write_text("".join(json.dumps(sheet) + "\n" for sheet in sheets), encoding="utf-8")
    outcome = run.project.scoregate("review", "--import", "sheets.jsonl", "--by", "Ann", *arguments)
    return outcome.exit_code, outcome.output


def is_polite(sheet: dict[str, Any]) -> float:
    return float("please" in sheet["outputs"][0]["value"])


def result_of(run: Reviewed) -> dict[str, Any]:
    output = run.project.scoregate("gate", str(run.run), "--json", "--quiet").output
    document, _ = json.JSONDecoder().raw_decode(output, output.index('{\n  "schema_version"'))
    results: dict[str, Any] = document
    return results


def test_a_judge_fails_a_run_once_a_sample_agrees(judged: Reviewed) -> None:
    sheets = export_sheets(judged, 12)
    assert {(sheet["evaluator"], sheet["sampled"]) for sheet in sheets} == {("polite", True)}
    assert import_sheets(judged, [{**sheet, "decision": is_polite(sheet)} for sheet in sheets])[0] == 0
    code, output = judged.gate()
    assert code == 0, output
    assert "judge not calibrated (12 of 20 reviews)" in output
    result = result_of(judged)
    assert {row["evaluator"]: row["uncalibrated"] for row in result["rows"]} == {
        "polite": "judge not calibrated (12 of 20 reviews)",
        "short": "",
    }
    assert [each["rule"] for each in result["warnings"]] == ["judge agreement"]
    compared = judged.project.scoregate("gate", str(judged.run), "--baseline", str(judged.run)).output
    assert "unchanged (judge not calibrated (12 of 20 reviews))" in compared

    larger = export_sheets(judged, 40)
    assert {sheet["key"] for sheet in sheets} < {sheet["key"] for sheet in larger}
    assert import_sheets(judged, [{**sheet, "decision": is_polite(sheet)} for sheet in larger])[0] == 0
    code, output = judged.gate()
    assert code == 1, output
    (finding,) = [each for each in result_of(judged)["findings"] if each["rule"] == "judge agreement"]
    assert finding["value"] == "agrees with people in 40 of 40 reviews"
    assert judged.project.scoregate("run", "--baseline", "none").exit_code == 1


def test_a_contradicted_or_changed_judge_fails_nothing(judged: Reviewed) -> None:
    sheets = export_sheets(judged, 40)
    invalid = [
        {**sheet, "decision": is_polite(sheet) if index % 3 else 1 - is_polite(sheet)}
        for index, sheet in enumerate(sheets)
    ]
    assert import_sheets(judged, invalid)[0] == 0
    code, output = judged.gate()
    assert code == 0, output
    assert "in 40 reviews it finds" in output
    assert "next check at 80" in output

    assert import_sheets(judged, [{**sheet, "decision": is_polite(sheet)} for sheet in sheets])[0] == 0
    assert judged.gate()[0] == 1
    judged.project.write("evals/demo.py", SUITE.format(model="another-model"))
    outcome = judged.project.scoregate("run", "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    assert "judge not calibrated (0 of 20 reviews)" in outcome.output


def test_corrections_outside_the_sample_are_counted_apart(judged: Reviewed) -> None:
    assert judged.project.scoregate("review", "--export", "sheets.jsonl").exit_code == 0
    lines = (judged.project.root / "sheets.jsonl").read_text("utf-8").splitlines()
    chosen = [{**sheet, "decision": is_polite(sheet)} for sheet in map(json.loads, lines)]
    assert len(chosen) == 40
    assert import_sheets(judged, chosen)[0] == 0
    code, output = judged.gate()
    assert code == 0, output
    assert "judge not calibrated (0 of 20 reviews)" in output
    sheets = export_sheets(judged, 20)
    assert import_sheets(judged, [{**sheet, "decision": 1.0} for sheet in sheets])[0] == 0
    rows = json.loads(judged.project.scoregate("agreement", "--json").output)
    assert [(row["source"], row["n"], row["accuracy"] == 1, bool(row["fingerprint"])) for row in rows] == [
        ("chosen", 40, True, False),
        ("sample", 20, False, True),
    ]
    outcome = judged.project.scoregate("agreement", "--min-agreement", "0.9")
    assert outcome.exit_code == 1
    text = "failed: polite (random sample): below min_agreement 0.9 (--min-agreement): people fail none of 20 outputs"
    assert text in outcome.output
    assert "Only a random sample" in outcome.output


def test_a_file_without_choices_shows_the_score(judged: Reviewed) -> None:
    sheets = export_sheets(judged, 3)
    assert all(sheet["score"] is not None for sheet in sheets)
    code, output = import_sheets(judged, [{**sheets[0], "score": 0.3, "decision": 1}])
    assert (code, "these are not the exported values" in output) == (2, True)
    assert import_sheets(judged, sheets, "--sample", "3")[0] == 2


def test_a_run_without_a_judge_has_no_sample(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write(
        "evals/demo.py", SUITE.format(model="m").replace("evaluators=[Polite(), Short()]", "evaluators=[Short()]")
    )
    project.commit()
    assert project.scoregate("run", "--baseline", "none").exit_code == 0
    outcome = project.scoregate("review", "--sample", "50", "--no-open")
    assert outcome.exit_code == 2
    assert "no scorer of this run called a model" in outcome.output


def test_a_sample_is_reviewed_blind_with_one_key_a_score(judged: Reviewed, browser: Browser) -> None:
    with judged.reviewing("--sample", "3", "--by", "Ann") as address, opened(browser, address) as page:
        expect(page.locator(".progress")).to_contain_text("0 of 3 scores")
        for number in range(3):
            expect(page.get_by_text("Random sample. You see")).to_be_visible()
            expect(page.get_by_label("The judge")).to_have_count(0)
            title = page.locator("h1").inner_text()
            output = page.locator("pre[data-field=output]").inner_text()
            expect(page.get_by_role("main")).not_to_contain_text("it says")
            page.keyboard.press("y")
            page.keyboard.press("1" if "please" in output else "2")
            expect(page.locator("h1")).not_to_have_text(title)
            assert len(judged.words("overrides", "polite")) == number + 1
        expect(page.locator("h1")).to_have_text("All scores of judges are reviewed")
        page.keyboard.press("k")
        expect(page.get_by_label("The judge")).to_contain_text("it says")
        page.keyboard.press("u")
        expect(page.get_by_text("Random sample. You see")).to_be_visible()
        page.get_by_role("button", name="Agreement").click()
        expect(page.locator("tbody tr")).to_contain_text("random sample")
    overrides = judged.words("overrides", "polite")
    assert [(each["sampled"], len(each["fingerprint"])) for each in overrides] == [(True, 16)] * 2
    assert all(each["original_score"] == each["override_score"] for each in overrides)


@needs_axe
def test_axe_finds_nothing_in_a_sample(judged: Reviewed, browser: Browser) -> None:
    with judged.reviewing("--sample", "5") as address, opened(browser, address, bypass_csp=True) as page:
        page.click("summary")
        check_looks(page, "sample")
